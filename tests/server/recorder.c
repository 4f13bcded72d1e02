/*
 * recorder.c - a plugin for the tests of `weir run`: components of every kind that write into a
 * file what happens to them, one line each, and fail or dawdle where they are told to.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <weir/weir.h>

static const char *const moments[] = { "never",   "init",  "start", "start-complete",
                                       "handler", "flush", NULL };
enum { NEVER, INIT, START, START_COMPLETE, HANDLER, FLUSH };

typedef struct recorder_config {
    const char *log;
    int64_t fail, dawdle; /* at which moment */
    weir_ns for_long;
    int64_t count;
    bool threads; /* write which thread it is, too */
    weir_target to;
    weir_targets also;
    struct {
        int64_t depth;
    } nested;
} recorder_config;

typedef struct recorder {
    const recorder_config *config;
    const char *name;
    int64_t published;
} recorder;

static void record(const recorder *r, const char *what)
{
    char line[200];
    const int length = r->config->threads ? snprintf(line, sizeof(line), "%s %s %d\n", r->name,
                                                     what, (int)gettid())
                                          : snprintf(line, sizeof(line), "%s %s\n", r->name, what);
    const int file = open(r->config->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file >= 0) {
        (void)!write(file, line, (size_t)length);
        close(file);
    }
}

/* The test wants it held up here: that is no synchronisation. */
static void dawdle(const recorder *r, int64_t moment)
{
    if (r->config->dawdle == moment) {
        const struct timespec time = { (time_t)(r->config->for_long / WEIR_S),
                                       (long)(r->config->for_long % WEIR_S) };
        nanosleep(&time, NULL);
    }
}

static weir_status pass(const recorder *r, int64_t moment, weir_error *error)
{
    record(r, moments[moment]);
    dawdle(r, moment);
    return r->config->fail == moment ? weir_error_set(error, WEIR_E_FAILED, r->name, "told to fail")
                                     : WEIR_OK;
}

static weir_status on_init(void *state, weir_component *self, const void *config, weir_error *error)
{
    recorder *r = state;
    r->config = config;
    r->name = weir_component_name(self);
    return pass(r, INIT, error);
}

static weir_status on_start(void *state, weir_component *self, weir_error *error)
{
    (void)self;
    return pass(state, START, error);
}

static weir_status on_start_complete(void *state, weir_component *self, weir_error *error)
{
    (void)self;
    return pass(state, START_COMPLETE, error);
}

static void on_stop(void *state, weir_component *self)
{
    (void)self;
    record(state, "stop");
}

static void on_tear_down(void *state, weir_component *self)
{
    (void)self;
    record(state, "tear-down");
}

static int32_t on_work(void *state, weir_component *self, weir_ns *next)
{
    recorder *r = state;
    if (r->published >= r->config->count) {
        return 0;
    }
    const weir_event event = { .type = &weir_text_type, .data = "line", .size = 4 };
    if (weir_feed_publish(weir_component_engine(self), weir_component_feed(self), &event) !=
        WEIR_OK) {
        *next = 0;
        return 0;
    }
    if (++r->published == r->config->count) {
        record(r, "published");
    }
    return 1;
}

static weir_status on_event(void *state, weir_turn *turn, const weir_event *event)
{
    recorder *r = state;
    if (event->type != &weir_text_type) {
        return WEIR_OK;
    }
    if (r->config->fail == FLUSH) {
        record(r, "event");
    }
    dawdle(r, HANDLER);
    if (r->config->fail == HANDLER) {
        return weir_turn_fail(turn, WEIR_E_FAILED, "told to fail");
    }
    return weir_turn_send(turn, &r->config->to, event);
}

static weir_status on_flush(void *state, weir_component *self)
{
    const recorder *r = state;
    (void)self;
    return r->config->fail == FLUSH ? WEIR_E_FAILED : WEIR_OK;
}

static const weir_option nested[] = {
    WEIR_KEY(INT, recorder_config, nested.depth, "depth", .fallback = "1", .min = 1, .max = 9,
             .help = "A key in a group."),
};

static const weir_option options[] = {
    WEIR_KEY(STRING, recorder_config, log, "log", .required = true, .help = "Where it is written."),
    WEIR_KEY(ENUM, recorder_config, fail, "fail", .fallback = "never", .words = moments,
             .help = "When it fails."),
    WEIR_KEY(ENUM, recorder_config, dawdle, "dawdle", .fallback = "never", .words = moments,
             .help = "When it takes its time."),
    WEIR_KEY(DURATION, recorder_config, for_long, "for", .fallback = "100ms",
             .help = "How much of it."),
    WEIR_KEY(INT, recorder_config, count, "count", .fallback = "0", .min = 0, .max = 1e9,
             .help = "Events of a source."),
    WEIR_KEY(BOOL, recorder_config, threads, "threads", .help = "Writes the thread, too."),
    WEIR_KEY(TARGET, recorder_config, to, "to", .help = "Who gets what it gets."),
    WEIR_KEY(TARGETS, recorder_config, also, "also", .help = "Who else is there first."),
    WEIR_KEY(GROUP, recorder_config, nested, "nested", .rows = nested, .row_count = 1),
};

#define TYPE(its_kind, its_name, ...)                                                              \
    {                                                                                              \
        .struct_size = sizeof(weir_component_type), .kind = (its_kind), .name = (its_name),        \
        .help = "records what happens to it", .state_size = sizeof(recorder),                      \
        .config_size = sizeof(recorder_config), .options = options,                                \
        .option_count = sizeof(options) / sizeof(options[0]), .init = on_init, .start = on_start,  \
        .start_complete = on_start_complete, .stop = on_stop, .tear_down = on_tear_down,           \
        __VA_ARGS__                                                                                \
    }

static const weir_component_type source =
    TYPE(WEIR_KIND_SOURCE, "recorder-source", .do_work = on_work);
static const weir_component_type processor =
    TYPE(WEIR_KIND_PROCESSOR, "recorder-processor", .handler = on_event);
static const weir_component_type sink =
    TYPE(WEIR_KIND_SINK, "recorder-sink", .handler = on_event, .flush = on_flush);
static const weir_component_type service =
    TYPE(WEIR_KIND_SERVICE, "recorder-service", .handler = on_event);
static const weir_component_type *const types[] = { &source, &processor, &sink, &service };

WEIR_PLUGIN = {
    WEIR_PLUGIN_HEAD,    .name = "recorder", .version = "1.0.0",
    .help = "for tests", .types = types,     .type_count = 4,
};
