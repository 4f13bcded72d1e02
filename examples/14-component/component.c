/*
 * component - a source and a sink of the program's own, without a file: the source reads an array
 * as if it were a log, the sink writes in batches, and the source hears how far all that it read is
 * safely written. The engine runs both through their life: init, start, start_complete, rounds,
 * stop, tear_down.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <weir/weir.h>

enum { LINES = 1000, BATCH = 10 };

typedef struct line {
    uint32_t number;
} line;
WEIR_EVENT_TYPE(line, "component.line");

/* ---- the source: its duty cycle reads a batch, publishes it, and marks where it ends ---- */

struct reader {
    uint32_t next;      /* position: lines read so far */
    uint64_t committed; /* position: lines that are done */
};
static uint64_t resume_at; /* what a real one would keep on disk */

static weir_status reader_start(void *state, weir_component *self, weir_error *error)
{
    struct reader *r = state;
    (void)error;
    r->next = (uint32_t)resume_at;
    return weir_feed_track(weir_component_engine(self), weir_component_feed(self));
}

static int32_t reader_work(void *state, weir_component *self, weir_ns *next)
{
    struct reader *r = state;
    weir_engine *engine = weir_component_engine(self);
    const weir_feed feed = weir_component_feed(self);
    int32_t read = 0;
    *next = r->next < LINES ? 0 : WEIR_FOREVER; /* when to be called again, at the latest */
    while (read < BATCH && r->next < LINES) {
        const weir_status status = weir_feed_publish(engine, feed, WEIR_EVENT(line, r->next));
        if (status != WEIR_OK) {
            return status < 0 ? status : read; /* no room: the same line again, next time */
        }
        r->next++;
        read++;
    }
    const weir_status status = read > 0 ? weir_feed_mark(engine, feed, r->next) : WEIR_OK;
    return status < 0 ? status : read;
}

/* Everything up to `position` was handled, and flushed by the sink. */
static void reader_commit(void *state, weir_component *self, uint64_t position)
{
    (void)self;
    ((struct reader *)state)->committed = position;
    resume_at = position;
}

static void reader_stop(void *state, weir_component *self)
{
    const struct reader *r = state;
    printf("%s stops, %u lines read\n", weir_component_name(self), r->next);
}

static void reader_tear_down(void *state, weir_component *self)
{
    const struct reader *r = state;
    printf("%s ends, %u lines committed\n", weir_component_name(self), (unsigned)r->committed);
}

static const weir_component_type reader_type = {
    .struct_size = sizeof(reader_type),
    .kind = WEIR_KIND_SOURCE,
    .name = "reader",
    .help = "Reads lines that are not there.",
    .state_size = sizeof(struct reader),
    .start = reader_start,
    .do_work = reader_work,
    .commit = reader_commit,
    .stop = reader_stop,
    .tear_down = reader_tear_down,
};

/* ---- the sink: its handler collects, its flush writes ---- */

struct writer_config {
    const char *title;
};
static const weir_option writer_options[] = {
    WEIR_KEY(STRING, struct writer_config, title, "title", .fallback = "lines"),
};

struct writer {
    const struct writer_config *config;
    uint32_t collected, written, disorder;
};

static weir_status writer_init(void *state, weir_component *self, const void *config,
                               weir_error *error)
{
    (void)self;
    (void)error;
    ((struct writer *)state)->config = config;
    return WEIR_OK;
}

static weir_status writer_handle(void *state, weir_turn *turn, const weir_event *event)
{
    struct writer *w = state;
    const line *l = weir_event_as(event, &line_type);
    (void)turn;
    w->disorder += l->number != w->written + w->collected;
    w->collected++;
    return WEIR_OK;
}

/* Called when nothing more waits, every flush_max events, and before the end. */
static weir_status writer_flush(void *state, weir_component *self)
{
    struct writer *w = state;
    (void)self;
    w->written += w->collected;
    w->collected = 0;
    return WEIR_OK; /* from now on they count as done */
}

static void writer_stop(void *state, weir_component *self)
{
    const struct writer *w = state;
    printf("%s stops, %u %s written, %u out of order\n", weir_component_name(self), w->written,
           w->config->title, w->disorder);
}

static const weir_component_type writer_type = {
    .struct_size = sizeof(writer_type),
    .kind = WEIR_KIND_SINK,
    .name = "writer",
    .state_size = sizeof(struct writer),
    .config_size = sizeof(struct writer_config),
    .options = writer_options,
    .option_count = 1,
    .init = writer_init,
    .handler = writer_handle,
    .flush = writer_flush,
    .flush_max = 100,
    .stop = writer_stop,
};

int main(void)
{
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = weir_engine_create(NULL, &error);
    weir_thread_add(engine, WEIR_THREAD(.name = "in", .dispatchers = WEIR_NAMES("in")), &error);
    weir_thread_add(engine, WEIR_THREAD(.name = "out", .dispatchers = WEIR_NAMES("out")), &error);

    /* In any order: who refers to whom decides. */
    weir_component_add(
        engine, &reader_type,
        WEIR_COMPONENT(.name = "log", .thread = "in", .feed = WEIR_FEED(.slow = WEIR_SLOW_BLOCK)),
        NULL, &error);
    weir_component_add(
        engine, &writer_type,
        WEIR_COMPONENT(.name = "archive", .thread = "out", .feeds = WEIR_NAMES("log")), NULL,
        &error);
    weir_components_start(engine, &error);

    /* A real program would wait for a signal; this one waits for the last line. */
    uint64_t done = 0;
    while (error.status == 0 &&
           !(weir_feed_committed(engine, weir_feed_find(engine, "log"), &done) && done == LINES)) {
    }

    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    weir_components_stop(engine, 0, &report);
    const int failed = weir_error_print(&error) + weir_stop_report_print(&report);
    weir_engine_destroy(engine);
    return failed;
}
