/*
 * connect/file_sink.c - the sink `file-sink`: events into a file, a line each, rotated by size or
 * time.
 *
 * An event is in the buffer or in the file. It is done with when a flush has written it (and synced
 * it, if so asked); until then its origin is held, so a source that keeps positions sends it again
 * after a kill. A disk that is full, or fails, is told of and tried again: the buffer fills, then
 * the handler answers that it has no room.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* strerror_r that answers the text */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "connect/files.h"
#include "connect/lineage.h"
#include "connect/meter.h"
#include "connect/payload.h"
#include "connect/rotate.h"
#include "connect/writer.h"
#include "sync/mutex.h"
#include "weir/turn.h"

#define LOOK_EVERY WEIR_S  /* whether the path still leads to the file */
#define AGAIN_AFTER WEIR_S /* a rotation failed */

enum { FLUSH_BATCH, FLUSH_EVENT, FLUSH_INTERVAL };
enum { FSYNC_NEVER, FSYNC_INTERVAL, FSYNC_FLUSH };
static const char *const flush_words[] = { "batch", "event", "interval", NULL };
static const char *const fsync_words[] = { "never", "interval", "flush", NULL };

typedef struct sink_config {
    const char *path;
    int64_t format;
    bool keep_torn;
    uint64_t buffer, buffer_max;
    int64_t flush;
    weir_ns flush_interval;
    int64_t fsync;
    weir_ns fsync_interval;
    uint64_t rotate_size;
    weir_ns rotate_every;
    int64_t keep;
    const char *traceparent;
} sink_config;

static const weir_option options[] = {
    WEIR_KEY(STRING, sink_config, path, "path", .required = true,
             .help = "The file that is written, at its end; made if it is not there."),
    WEIR_KEY(ENUM, sink_config, format, "format", .fallback = "lines",
             .words = weir__write_format_words,
             .help = "lines: a newline behind each event. length-prefixed: four bytes of length "
                     "before it, the highest first."),
    WEIR_KEY(BOOL, sink_config, keep_torn, "keep-torn", .fallback = "false",
             .help = "Whether an unfinished last line that is found at the start stays. A kill "
                     "leaves one, and its event comes again: so it is cut off."),
    WEIR_KEY(BYTES, sink_config, buffer, "buffer", .fallback = "256 KiB", .min = 1024,
             .max = 268435456.0, .help = "Bytes that are collected before they are written."),
    WEIR_KEY(BYTES, sink_config, buffer_max, "buffer-max", .fallback = "16 MiB", .min = 4096,
             .max = 1073741824.0,
             .help = "Bytes that are kept while they cannot be written; also the largest event."),
    WEIR_KEY(ENUM, sink_config, flush, "flush", .fallback = "batch", .words = flush_words,
             .help = "When events are written. batch: when nothing more waits, and every 1,024. "
                     "event: each at once. interval: at most once a flush-interval, or when the "
                     "buffer is full."),
    WEIR_KEY(DURATION, sink_config, flush_interval, "flush-interval", .fallback = "100 ms",
             .min = 1e6, .max = 3.6e12, .help = "Time between two writes, with flush = interval."),
    WEIR_KEY(ENUM, sink_config, fsync, "fsync", .fallback = "never", .words = fsync_words,
             .help = "never: the system writes to the disk in its own time; a killed process loses "
                     "nothing, a power cut may. interval: synced once a fsync-interval. flush: an "
                     "event is done with when it is on the disk."),
    WEIR_KEY(DURATION, sink_config, fsync_interval, "fsync-interval", .fallback = "1 s", .min = 1e6,
             .max = 3.6e12, .help = "Time between two syncs, with fsync = interval."),
    WEIR_KEY(BYTES, sink_config, rotate_size, "rotate-size", .fallback = "0", .min = 0, .max = 1e15,
             .help = "A file of that size is renamed to .1, and a new one begun; 0: never."),
    WEIR_KEY(DURATION, sink_config, rotate_every, "rotate-every", .fallback = "0", .min = 0,
             .max = 1e18,
             .help = "The same by time, counted from when the file was opened; 0: never."),
    WEIR_KEY(INT, sink_config, keep, "keep", .fallback = "10", .min = 1, .max = 100000,
             .help = "Rotated files that are kept: .1 is the newest. The next one goes."),
    WEIR__LINEAGE_OUT_ROW(sink_config, traceparent),
};

enum { EVENTS, BYTES, WAITS, ROTATIONS, REOPENED, SYNCS, ERRORS };
static const char *const figures[] = { "events",   "bytes", "waits",  "rotations",
                                       "reopened", "syncs", "errors", NULL };

typedef struct file_sink {
    weir_component *self;
    weir_engine *engine;
    const sink_config *config;
    weir__writer writer;
    weir__lineage_out lineage;
    weir__meter meter;
    weir_ns opened_at, looked_at, rotate_after, flushed_at, synced_at;
    bool unsynced;
    weir__complaint trouble;
    weir__atomic_u32 asked; /* it is to open its file anew: any thread */
    struct file_sink *next; /* under sinks_lock */
} file_sink;

/* All that there are, whosever they are. */
static weir__mutex sinks_lock;
static file_sink *sinks;

static void complain(file_sink *s, const char *what, int why)
{
    char text[128];
    weir__meter_add(&s->meter, ERRORS, 1);
    weir__complain(&s->trouble, s->self, WEIR_E_SYSTEM, "%.80s: %s: %s; it is tried again",
                   s->config->path, what, strerror_r(why, text, sizeof(text)));
}

static weir_status write_out(file_sink *s)
{
    const uint64_t before = s->writer.bytes;
    const weir_status status = weir__writer_out(&s->writer);
    if (s->writer.bytes > before) {
        s->unsynced = true;
        weir__meter_set(&s->meter, BYTES, s->writer.bytes);
    }
    weir__meter_set(&s->meter, WAITS, weir__writer_waits(&s->writer));
    if (status == WEIR_E_SYSTEM) {
        complain(s, "cannot be written to", errno);
    }
    return status;
}

static weir_status sync_file(file_sink *s, weir_ns now)
{
    if (!s->unsynced) {
        return WEIR_OK;
    }
    s->synced_at = now;
    if (fdatasync(s->writer.fd) != 0) {
        complain(s, "cannot be synced", errno);
        return WEIR_E_SYSTEM;
    }
    s->unsynced = false;
    weir__meter_add(&s->meter, SYNCS, 1);
    return WEIR_OK;
}

/* ---- the file ---- */

static bool open_file(file_sink *s, bool cut, weir_ns now, weir_error *error)
{
    uint64_t size, lost;
    const int fd = weir__output_open(s->config->path, cut, &size, &lost, error);
    if (fd < 0) {
        return false;
    }
    if (s->writer.fd >= 0) {
        close(s->writer.fd);
    }
    s->writer.fd = fd;
    s->writer.position = size;
    s->opened_at = s->looked_at = now;
    s->unsynced = false;
    if (lost > 0) {
        char text[192];
        snprintf(text, sizeof(text), "%.100s: an unfinished last line of %llu bytes was cut off",
                 s->config->path, (unsigned long long)lost);
        weir_log_write(s->engine, WEIR_LOG_WARNING, weir_component_name(s->self), text, NULL, 0);
    }
    return true;
}

/* All that waits was written. On failure the old file goes on being written. */
static void reopen(file_sink *s, weir_ns now)
{
    weir_error error = WEIR_ERROR_INIT;
    if (s->config->fsync != FSYNC_NEVER && sync_file(s, now) != WEIR_OK) {
        return;
    }
    if (open_file(s, false, now, &error)) {
        weir__meter_add(&s->meter, REOPENED, 1);
    } else {
        complain(s, "cannot be opened again", error.os_errno);
    }
}

static bool is_due(const file_sink *s, weir_ns now)
{
    const sink_config *c = s->config;
    const uint64_t size = s->writer.position + weir__writer_waits(&s->writer);
    if (size == 0 || now < s->rotate_after) {
        return false;
    }
    return (c->rotate_size > 0 && size >= c->rotate_size) ||
           (c->rotate_every > 0 && now - s->opened_at >= c->rotate_every);
}

static void rotate(file_sink *s, weir_ns now)
{
    s->rotate_after = now + AGAIN_AFTER;
    if (write_out(s) != WEIR_OK) {
        return;
    }
    if (weir__output_is_there(s->config->path, s->writer.fd)) {
        const int why = weir__output_shift(s->config->path, s->config->keep);
        if (why != 0) {
            complain(s, "cannot be rotated", why);
            return;
        }
        weir__meter_add(&s->meter, ROTATIONS, 1);
    }
    reopen(s, now);
    s->rotate_after = 0;
}

/* Somebody has renamed or deleted it: the next event goes into a new one. */
static void look(file_sink *s, weir_ns now)
{
    if (now - s->looked_at < LOOK_EVERY) {
        return;
    }
    s->looked_at = now;
    if (!weir__output_is_there(s->config->path, s->writer.fd) && write_out(s) == WEIR_OK) {
        reopen(s, now);
    }
}

/* ---- asked from outside ---- */

static void enlist(file_sink *s)
{
    weir__mutex_lock(&sinks_lock);
    s->next = sinks;
    sinks = s;
    weir__mutex_unlock(&sinks_lock);
}

static void unlist(const file_sink *s)
{
    weir__mutex_lock(&sinks_lock);
    file_sink **at = &sinks;
    while (*at != NULL && *at != s) {
        at = &(*at)->next;
    }
    *at = *at != NULL ? s->next : NULL;
    weir__mutex_unlock(&sinks_lock);
}

void weir__file_sinks_reopen(weir_engine *engine)
{
    weir__mutex_lock(&sinks_lock);
    for (file_sink *s = sinks; s != NULL; s = s->next) {
        if (s->engine == engine) {
            weir__store(&s->asked, 1, relaxed); /* nothing travels with it */
            weir_component_wake(s->self);
        }
    }
    weir__mutex_unlock(&sinks_lock);
}

/* What waits belongs into the old one. */
static void reopen_if_asked(file_sink *s, weir_ns *next)
{
    if (weir__load(&s->asked, relaxed) == 0) {
        return;
    }
    const weir_ns now = weir_time_now(s->engine);
    weir__store(&s->asked, 0, relaxed);
    if (write_out(s) == WEIR_OK) {
        reopen(s, now);
    } else {
        weir__store(&s->asked, 1, relaxed);
        *next = now + AGAIN_AFTER;
    }
}

/* ---- hooks ---- */

static weir_status init(void *state, weir_component *self, const void *config, weir_error *error)
{
    file_sink *s = state;
    s->self = self;
    s->engine = weir_component_engine(self);
    s->config = config;
    const sink_config *c = s->config;
    const weir_status status =
        weir__lineage_out_open(&s->lineage, c->traceparent, weir_component_name(self), error);
    if (status != WEIR_OK) {
        return status;
    }
    const size_t most = (size_t)(c->buffer_max > c->buffer ? c->buffer_max : c->buffer);
    if (!weir__writer_open(&s->writer, c->format, (size_t)c->buffer, most)) {
        return weir__error_memory(error, weir_component_name(self));
    }
    const bool cut = c->format == WEIR__WRITE_LINES && !c->keep_torn;
    if (!open_file(s, cut, weir_time_now(s->engine), error)) {
        weir__writer_close(&s->writer);
        return WEIR_E_SYSTEM;
    }
    weir__meter_open(&s->meter, self, "file-sink", figures);
    enlist(s);
    return WEIR_OK;
}

static weir_status handler(void *state, weir_turn *turn, const weir_event *event)
{
    file_sink *s = state;
    const weir_ns now = weir_time_now(s->engine);
    weir__payload payload;
    if (!weir__payload_read(&payload, event)) {
        return WEIR_UNHANDLED;
    }
    weir_status status = weir__lineage_give(&s->lineage, turn, &payload);
    if (status != WEIR_OK) {
        return status;
    }
    look(s, now);
    if (is_due(s, now)) {
        rotate(s, now);
    }
    if (weir__writer_waits(&s->writer) >= s->config->buffer) {
        (void)write_out(s);
    }
    status = weir__writer_put(&s->writer, payload.data, payload.size);
    if (status != WEIR_OK) {
        return weir_turn_fail(turn, status,
                              status == WEIR_E_LIMIT ? "an event is larger than buffer-max"
                              : status == WEIR_FULL ? "the file takes nothing, and buffer-max waits"
                                                    : "no memory for the buffer");
    }
    weir__meter_set(&s->meter, EVENTS, s->writer.events);
    if (s->config->flush == FLUSH_EVENT) {
        (void)write_out(s);
    }
    return WEIR_OK;
}

static weir_status flush(void *state, weir_component *self)
{
    file_sink *s = state;
    (void)self;
    const weir_ns now = weir_time_now(s->engine);
    if (s->config->flush == FLUSH_INTERVAL && now - s->flushed_at < s->config->flush_interval) {
        return WEIR_FULL; /* not yet */
    }
    look(s, now);
    const weir_status status = write_out(s);
    if (status != WEIR_OK) {
        return status;
    }
    s->flushed_at = now;
    return s->config->fsync == FSYNC_FLUSH ? sync_file(s, now) : WEIR_OK;
}

static int32_t do_work(void *state, weir_component *self, weir_ns *next)
{
    file_sink *s = state;
    (void)self;
    reopen_if_asked(s, next);
    if (s->config->fsync != FSYNC_INTERVAL || !s->unsynced) {
        return 0;
    }
    const weir_ns now = weir_time_now(s->engine);
    if (now - s->synced_at >= s->config->fsync_interval) {
        (void)sync_file(s, now);
    }
    const weir_ns due = s->synced_at + s->config->fsync_interval;
    if (s->unsynced && due < *next) {
        *next = due;
    }
    return 0;
}

static void stop(void *state, weir_component *self)
{
    file_sink *s = state;
    (void)self;
    if (write_out(s) == WEIR_OK && s->config->fsync != FSYNC_NEVER) {
        (void)sync_file(s, weir_time_now(s->engine));
    }
}

static void tear_down(void *state, weir_component *self)
{
    file_sink *s = state;
    unlist(s);
    if (weir__writer_waits(&s->writer) > 0) {
        char text[128];
        snprintf(text, sizeof(text), "%zu bytes could not be written and are lost to the file",
                 weir__writer_waits(&s->writer));
        weir_component_report(self, WEIR_E_SYSTEM, text);
    }
    if (s->writer.buffer != NULL && s->writer.fd >= 0) {
        close(s->writer.fd);
    }
    weir__writer_close(&s->writer);
    weir__lineage_out_close(&s->lineage);
    weir__meter_close(&s->meter);
}

const weir_component_type weir__file_sink_type = {
    .struct_size = sizeof(weir_component_type),
    .kind = WEIR_KIND_SINK,
    .name = "file-sink",
    .help = "writes events to a file, a line each; rotated by size or time",
    .state_size = sizeof(file_sink),
    .config_size = sizeof(sink_config),
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .init = init,
    .do_work = do_work,
    .stop = stop,
    .tear_down = tear_down,
    .handler = handler,
    .flush = flush,
    WEIR_PASSES_ON, /* while there is no room: in order, and nothing is lost */
};
