/*
 * connect/stdio.c - the source `stdin` and the sink `stdout`.
 *
 * The descriptors are shared with whoever started the process, so they are not made non-blocking:
 * that would be so for the others, too. They are asked whether they are ready, and given or asked
 * for no more than they can take or give at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* strerror_r that answers the text */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "connect/files.h"
#include "connect/lineage.h"
#include "connect/payload.h"
#include "connect/publish.h"
#include "connect/writer.h"
#include "weir/turn.h"

/* ---- stdin ---- */

typedef struct stdin_config {
    weir__frame_config frame;
    uint64_t read_size;
    int64_t publish_batch;
} stdin_config;

static const weir_option stdin_options[] = {
    WEIR__FRAME_ROWS(stdin_config, frame),
    WEIR_KEY(BYTES, stdin_config, read_size, "read-size", .fallback = "64 KiB", .min = 512,
             .max = 67108864.0, .help = "Bytes of one read."),
    WEIR_KEY(INT, stdin_config, publish_batch, "publish-batch", .fallback = "1024", .min = 1,
             .max = 65536, .help = "Events of one round."),
};

enum { EVENTS, BYTES, BAD, FAILED, PAUSES, DONE };
static const char *const stdin_figures[] = { "events", "bytes", "bad", "failed",
                                             "pauses", "done",  NULL };

typedef struct stdin_source {
    weir_component *self;
    const stdin_config *config;
    weir__framer framer;
    weir__publisher publisher;
    weir__lineage_in lineage;
    weir__meter meter;
    bool polled;  /* the thread is told when it is readable */
    bool is_file; /* which is always readable */
    bool ended, done;
    uint64_t bytes;
    weir__complaint trouble;
} stdin_source;

static weir_status stdin_init(void *state, weir_component *self, const void *config,
                              weir_error *error)
{
    stdin_source *s = state;
    struct stat about;
    s->self = self;
    s->config = config;
    if (fstat(STDIN_FILENO, &about) != 0) {
        return weir__error_system(error, errno, weir_component_name(self),
                                  "the standard input is closed");
    }
    s->is_file = S_ISREG(about.st_mode);
    const weir_status status =
        weir__lineage_in_open(&s->lineage, self, s->config->frame.traceparent, error);
    if (status != WEIR_OK) {
        return status;
    }
    if (!weir__framer_open(&s->framer, &s->config->frame, (size_t)s->config->read_size, 0)) {
        weir__lineage_in_close(&s->lineage);
        return weir__error_memory(error, weir_component_name(self));
    }
    weir__meter_open(&s->meter, self, "stdin", stdin_figures);
    return WEIR_OK;
}

/* While nothing can be published it is not asked: it would be ready all the time. */
static void listen(stdin_source *s, bool wanted)
{
    if (s->is_file || s->polled == wanted) {
        return;
    }
    const weir_status status = weir_component_poll(s->self, STDIN_FILENO, wanted, false);
    if (status == WEIR_OK) {
        s->polled = wanted;
    } else if (wanted) {
        s->is_file = true; /* epoll refuses what is always ready: /dev/null, a file system's own */
    }
}

static weir_status stdin_start(void *state, weir_component *self, weir_error *error)
{
    stdin_source *s = state;
    (void)error;
    weir__publisher_open(&s->publisher, self, s->config->frame.format, &s->lineage);
    return WEIR_OK;
}

/* False: nothing now. */
static bool read_some(stdin_source *s)
{
    struct pollfd ready = { .fd = STDIN_FILENO, .events = POLLIN };
    size_t room;
    if (s->ended || (!s->is_file && poll(&ready, 1, 0) <= 0)) {
        return false;
    }
    char *at = weir__framer_room(&s->framer, &room);
    if (at == NULL) {
        return false;
    }
    const ssize_t got = read(STDIN_FILENO, at, room);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) {
        return false;
    }
    if (got < 0) {
        char text[128];
        weir__complain(&s->trouble, s->self, WEIR_E_SYSTEM, "cannot be read: %s; it ends here",
                       strerror_r(errno, text, sizeof(text)));
    }
    if (got <= 0) {
        s->ended = true;
        weir__framer_end(&s->framer);
        return true;
    }
    weir__framer_fed(&s->framer, (size_t)got);
    s->bytes += (uint64_t)got;
    return true;
}

static weir_status publish_some(stdin_source *s, int32_t *count)
{
    while (*count < s->config->publish_batch) {
        weir__frame frame;
        const weir__frame_what what = weir__framer_next(&s->framer, &frame);
        if (what == WEIR__FRAME_NONE) {
            if (read_some(s)) {
                continue;
            }
            s->done = s->ended;
            return WEIR_OK;
        }
        if (!weir__publish(&s->publisher, what, &frame)) {
            return WEIR_FULL;
        }
        weir__framer_take(&s->framer);
        ++*count;
    }
    return WEIR_ALREADY; /* there is more */
}

static int32_t stdin_work(void *state, weir_component *self, weir_ns *next)
{
    stdin_source *s = state;
    int32_t count = 0;
    if (s->done) {
        return 0;
    }
    const weir_ns now = weir_time_now(weir_component_engine(self));
    const weir_status status = publish_some(s, &count);
    listen(s, !s->done && status == WEIR_OK);
    if (!s->done && status == WEIR_OK) {
        *next = s->is_file ? now : WEIR_FOREVER;
    } else if (!s->done) {
        *next = status == WEIR_FULL ? 0 : now;
    }
    weir__meter_set(&s->meter, EVENTS, s->publisher.events);
    weir__meter_set(&s->meter, BYTES, s->bytes);
    weir__meter_set(&s->meter, BAD, s->publisher.bad);
    weir__meter_set(&s->meter, FAILED, s->publisher.lost);
    weir__meter_set(&s->meter, PAUSES, s->publisher.pauses);
    weir__meter_set(&s->meter, DONE, s->done);
    if (s->done) {
        weir_component_done(s->self);
    }
    return count;
}

static void stdin_stop(void *state, weir_component *self)
{
    (void)self;
    listen(state, false);
}

static void stdin_tear_down(void *state, weir_component *self)
{
    stdin_source *s = state;
    (void)self;
    weir__framer_close(&s->framer);
    weir__lineage_in_close(&s->lineage);
    weir__meter_close(&s->meter);
}

const weir_component_type weir__stdin_type = {
    .struct_size = sizeof(weir_component_type),
    .kind = WEIR_KIND_SOURCE,
    .name = "stdin",
    .help = "reads the standard input: lines or frames",
    .state_size = sizeof(stdin_source),
    .config_size = sizeof(stdin_config),
    .options = stdin_options,
    .option_count = sizeof(stdin_options) / sizeof(stdin_options[0]),
    .init = stdin_init,
    .start = stdin_start,
    .do_work = stdin_work,
    .stop = stdin_stop,
    .tear_down = stdin_tear_down,
    .slow = WEIR_SLOW_BLOCK,
};

/* ---- stdout ---- */

typedef struct stdout_config {
    int64_t format;
    uint64_t buffer_max;
    const char *traceparent;
} stdout_config;

static const weir_option stdout_options[] = {
    WEIR_KEY(ENUM, stdout_config, format, "format", .fallback = "lines",
             .words = weir__write_format_words,
             .help = "lines: a newline behind each event. length-prefixed: four bytes of length "
                     "before it, the highest first."),
    WEIR_KEY(BYTES, stdout_config, buffer_max, "buffer-max", .fallback = "1 MiB", .min = 4096,
             .max = 1073741824.0,
             .help = "Bytes that are kept while the reader is slow; also the largest event."),
    WEIR__LINEAGE_OUT_ROW(stdout_config, traceparent),
};

enum { OUT_EVENTS, OUT_BYTES, OUT_WAITS };
static const char *const stdout_figures[] = { "events", "bytes", "waits", NULL };

typedef struct stdout_sink {
    weir_component *self;
    weir__lineage_out lineage;
    weir__writer writer;
    weir__meter meter;
    weir__complaint trouble;
} stdout_sink;

static weir_status stdout_init(void *state, weir_component *self, const void *config,
                               weir_error *error)
{
    stdout_sink *s = state;
    const stdout_config *c = config;
    struct stat about;
    s->self = self;
    if (fstat(STDOUT_FILENO, &about) != 0) {
        return weir__error_system(error, errno, weir_component_name(self),
                                  "the standard output is closed");
    }
    const weir_status status =
        weir__lineage_out_open(&s->lineage, c->traceparent, weir_component_name(self), error);
    if (status != WEIR_OK) {
        return status;
    }
    if (!weir__writer_open(&s->writer, c->format, 4096, (size_t)c->buffer_max)) {
        return weir__error_memory(error, weir_component_name(self));
    }
    weir__meter_open(&s->meter, self, "stdout", stdout_figures);
    s->writer.fd = STDOUT_FILENO;
    s->writer.streams = !S_ISREG(about.st_mode);
    return WEIR_OK;
}

static weir_status stdout_flush(void *state, weir_component *self)
{
    stdout_sink *s = state;
    const weir_status status = weir__writer_out(&s->writer);
    if (status == WEIR_E_SYSTEM) {
        char text[128];
        weir__complain(&s->trouble, self, status, "cannot be written to: %s; it is tried again",
                       strerror_r(errno, text, sizeof(text)));
    }
    weir__meter_set(&s->meter, OUT_BYTES, s->writer.bytes);
    weir__meter_set(&s->meter, OUT_WAITS, weir__writer_waits(&s->writer));
    return status;
}

static weir_status stdout_handler(void *state, weir_turn *turn, const weir_event *event)
{
    stdout_sink *s = state;
    weir__payload payload;
    if (!weir__payload_read(&payload, event)) {
        return WEIR_UNHANDLED;
    }
    weir_status status = weir__lineage_give(&s->lineage, turn, &payload);
    if (status != WEIR_OK) {
        return status;
    }
    status = weir__writer_put(&s->writer, payload.data, payload.size);
    if (status == WEIR_FULL) {
        (void)stdout_flush(s, s->self);
        status = weir__writer_put(&s->writer, payload.data, payload.size);
    }
    weir__meter_set(&s->meter, OUT_EVENTS, s->writer.events);
    return status == WEIR_OK
               ? status
               : weir_turn_fail(turn, status,
                                status == WEIR_FULL ? "the reader is slow, and buffer-max waits"
                                                    : "an event is larger than buffer-max");
}

static void stdout_tear_down(void *state, weir_component *self)
{
    stdout_sink *s = state;
    if (weir__writer_waits(&s->writer) > 0) {
        char text[96];
        snprintf(text, sizeof(text), "%zu bytes were not taken by the reader, and are lost",
                 weir__writer_waits(&s->writer));
        weir_component_report(self, WEIR_FULL, text);
    }
    weir__writer_close(&s->writer);
    weir__lineage_out_close(&s->lineage);
    weir__meter_close(&s->meter);
}

const weir_component_type weir__stdout_type = {
    .struct_size = sizeof(weir_component_type),
    .kind = WEIR_KIND_SINK,
    .name = "stdout",
    .help = "writes events to the standard output, a line each",
    .state_size = sizeof(stdout_sink),
    .config_size = sizeof(stdout_config),
    .options = stdout_options,
    .option_count = sizeof(stdout_options) / sizeof(stdout_options[0]),
    .init = stdout_init,
    .tear_down = stdout_tear_down,
    .handler = stdout_handler,
    .flush = stdout_flush,
    WEIR_PASSES_ON, /* while there is no room: in order, and nothing is lost */
};
