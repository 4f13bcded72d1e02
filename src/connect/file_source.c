/*
 * connect/file_source.c - the source `file`: a file that is followed, line by line.
 *
 * With strategy committed the position is kept in a file beside: of everything before it the engine
 * has said that it is done with (flushed by a sink, dropped, dead). So whenever the process is
 * killed, what comes after the next start begins at or before the first line that was not done: no
 * line is lost, and what comes twice came after the last position that was written.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* basename's kinder one */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "connect/loop.h"
#include "connect/publish.h"
#include "connect/tail.h"
#include "connect/files.h"

#define WATCHED_POLL WEIR_S        /* looked at that often although the system tells of changes */
#define AGAIN_AFTER (10 * WEIR_MS) /* something failed */
#define HEARD_WITHIN (5 * WEIR_S)  /* else it reads although nobody has subscribed */
#define BEHIND_ALL (UINT64_C(1) << 48) /* more bytes than anybody has read before a mark is due */

enum { FSYNC_ALWAYS, FSYNC_INTERVAL, FSYNC_NEVER };
static const char *const fsync_words[] = { "always", "interval", "never", NULL };
static const char *const strategy_words[] = { "committed",     "earliest",    "latest",
                                              "once-earliest", "once-latest", NULL };

typedef struct file_config {
    const char *path;
    int64_t strategy;
    weir__frame_config frame;
    uint64_t read_size;
    weir_ns poll_interval, rotate_wait;
    const char *position_file;
    int64_t commit_fsync;
    weir_ns commit_interval;
    int64_t publish_batch;
} file_config;

static const weir_option options[] = {
    WEIR_KEY(STRING, file_config, path, "path", .required = true,
             .help = "The file that is read and followed, through renames, cuts and replacements."),
    WEIR_KEY(
        ENUM, file_config, strategy, "strategy", .fallback = "committed", .words = strategy_words,
        .help = "Where it begins. committed: behind what was done with when the process ended, "
                "which position-file keeps; without that at the beginning. earliest, latest: "
                "at the beginning, at the end. once-earliest, once-latest: the same, and no "
                "further than the end of the file."),
    WEIR__FRAME_ROWS(file_config, frame),
    WEIR_KEY(BYTES, file_config, read_size, "read-size", .fallback = "256 KiB", .min = 512,
             .max = 67108864.0, .help = "Bytes of one read."),
    WEIR_KEY(DURATION, file_config, poll_interval, "poll-interval", .fallback = "250 ms",
             .min = 1e6, .max = 3.6e12,
             .help = "How often the file is looked at where the system cannot tell of changes; "
                     "where it can, at least once a second all the same."),
    WEIR_KEY(DURATION, file_config, rotate_wait, "rotate-wait", .fallback = "1 s", .min = 0,
             .max = 3.6e12,
             .help = "A file that was renamed or deleted is left for its successor when nothing "
                     "was written to it for so long: its writer may not know yet."),
    WEIR_KEY(STRING, file_config, position_file, "position-file",
             .help = "Where the position is kept; default the path with .weir-position behind it."),
    WEIR_KEY(ENUM, file_config, commit_fsync, "commit-fsync", .fallback = "interval",
             .words = fsync_words,
             .help = "always: each committed position is written and synced at once. interval: at "
                     "most once a commit-interval. never: the same without a sync, which a killed "
                     "process does not notice but a power cut may."),
    WEIR_KEY(DURATION, file_config, commit_interval, "commit-interval", .fallback = "1 s",
             .min = 1e6, .max = 3.6e12, .help = "Time between two writes of the position."),
    WEIR_KEY(INT, file_config, publish_batch, "publish-batch", .fallback = "1024", .min = 1,
             .max = 65536,
             .help = "Events of one round; a position is committed for each such batch."),
};

enum { EVENTS, BYTES, BAD, FAILED, FILES, CUTS, PAUSES, POSITION, COMMITTED, WRITES, DONE };
static const char *const figures[] = { "events", "bytes",    "bad",       "failed", "files", "cuts",
                                       "pauses", "position", "committed", "writes", "done",  NULL };

typedef struct file_source {
    weir_component *self;
    const file_config *config;
    weir__tail tail;
    weir__publisher publisher;
    weir__lineage_in lineage;
    weir__meter meter;
    weir__loop loop;
    uv_fs_event_t folder, file;
    bool folder_watched, file_watched;
    uint64_t files_watched; /* tail.files when `file` was begun */
    char *position_path;
    weir__position_file position;
    bool keeps; /* a position */
    bool begun; /* one was written since the start */
    bool heard; /* somebody subscribes */
    weir_ns begun_at;
    uint64_t marked;
    bool unmarked;      /* a mark was refused: nothing is read before it is made */
    uint64_t committed; /* as the engine said */
    bool unwritten;     /* and it is not written down */
    weir_ns written_at; /* or tried */
    weir__complaint not_written, unmarkable;
} file_source;

static void tell(void *context, weir_status status, const char *text)
{
    file_source *f = context;
    if (status != WEIR_OK) {
        weir_component_report(f->self, status, text);
        return;
    }
    weir_log_write(weir_component_engine(f->self), WEIR_LOG_INFO, weir_component_name(f->self),
                   text, NULL, 0);
}

/* ---- the position ---- */

static weir_status open_position(file_source *f, weir__place *place, bool *known, weir_error *error)
{
    const char *given = f->config->position_file;
    const size_t size = strlen(f->config->path) + sizeof(".weir-position");
    f->position_path = given != NULL && given[0] != '\0' ? strdup(given) : malloc(size);
    if (f->position_path == NULL) {
        return weir__error_memory(error, weir_component_name(f->self));
    }
    if (given == NULL || given[0] == '\0') {
        snprintf(f->position_path, size, "%s.weir-position", f->config->path);
    }
    weir__position_found found;
    const weir_status status =
        weir__position_open(&f->position, f->position_path, &found, place, error);
    if (status != WEIR_OK) {
        return status;
    }
    f->position.synced = f->config->commit_fsync != FSYNC_NEVER;
    f->keeps = true;
    *known = found == WEIR__POSITION_READ;
    if (found == WEIR__POSITION_DAMAGED) {
        char text[256];
        snprintf(text, sizeof(text),
                 "%.150s is damaged: begins at the first byte, so that nothing is lost",
                 f->position_path);
        weir_component_report(f->self, WEIR_E_INVALID, text);
    }
    return WEIR_OK;
}

static void write_position(file_source *f, weir_ns now)
{
    weir__place place;
    weir_error error = WEIR_ERROR_INIT;
    f->written_at = now;
    if (!weir__tail_commit(&f->tail, f->committed, &place)) {
        f->unwritten = false;
        return;
    }
    if (weir__position_write(&f->position, &place, &error) != WEIR_OK) {
        weir__complain(&f->not_written, f->self, error.status, "%.100s: %.80s", error.path,
                       error.text);
        return;
    }
    f->unwritten = false;
    f->begun = true;
    weir__meter_add(&f->meter, WRITES, 1);
}

static void commit(void *state, weir_component *self, uint64_t position)
{
    file_source *f = state;
    (void)self;
    f->committed = position;
    f->unwritten = true;
    weir__meter_set(&f->meter, COMMITTED, position);
    if (f->config->commit_fsync == FSYNC_ALWAYS) {
        write_position(f, weir_time_now(weir_component_engine(f->self)));
    }
}

/* Writes it when its time has come; answers when that will be. */
static weir_ns keep_position(file_source *f, weir_ns now)
{
    if (!f->unwritten) {
        return WEIR_FOREVER;
    }
    if (now - f->written_at >= f->config->commit_interval) {
        write_position(f, now);
    }
    return f->unwritten ? f->written_at + f->config->commit_interval : WEIR_FOREVER;
}

/* Before the first line is read it is written where that is: else, if the process were killed and
 * the file rotated before anything is committed, the next start would not know of it. False: not
 * now. */
static bool begin_position(file_source *f, weir_ns now)
{
    if (f->keeps && !f->begun && f->tail.segment_count > 0) {
        if (f->written_at != 0 && now - f->written_at < AGAIN_AFTER) {
            return false;
        }
        write_position(f, now);
        return f->begun;
    }
    return true;
}

/* A source that comes while others run is there before who subscribes to it: what it published
 * until then nobody would get. False: nobody listens yet. */
static bool is_heard(file_source *f, weir_ns now)
{
    if (f->heard) {
        return true;
    }
    weir_feed_counters counters = WEIR_FEED_COUNTERS_INIT;
    f->begun_at = f->begun_at != 0 ? f->begun_at : now;
    const weir_status status =
        weir_feed_counters_get(f->publisher.engine, f->publisher.feed, &counters);
    f->heard = status != WEIR_OK || counters.subscribers > 0 || now - f->begun_at >= HEARD_WITHIN;
    return f->heard;
}

/* False: no mark can be made now. */
static bool mark(file_source *f)
{
    const uint64_t position = weir__tail_position(&f->tail);
    if (!f->keeps) {
        weir__place place;
        if (f->tail.segment_count > 1) { /* nobody will ask for those before */
            (void)weir__tail_commit(&f->tail, position, &place);
        }
        return true;
    }
    if (position <= f->marked) {
        return true;
    }
    const weir_status status = weir_feed_mark(f->publisher.engine, f->publisher.feed, position);
    f->unmarked = status != WEIR_OK;
    if (status == WEIR_OK) {
        f->marked = position;
    } else if (status < 0) {
        weir__complain(&f->unmarkable, f->self, status, "a position was not marked: %s",
                       weir_status_text(status));
    }
    return !f->unmarked;
}

/* ---- changes, as the system tells them ---- */

static void on_change(uv_fs_event_t *handle, const char *name, int events, int status)
{
    file_source *f = handle->data;
    (void)events;
    const char *base = strrchr(f->config->path, '/');
    base = base != NULL ? base + 1 : f->config->path;
    /* Of the folder, other files are none of our business. */
    if (status < 0 || name == NULL || handle == &f->file || strcmp(name, base) == 0) {
        weir__tail_look(&f->tail);
        weir__loop_worked(&f->loop, 1);
    }
}

static bool watch(uv_fs_event_t *handle, const char *path)
{
    return uv_fs_event_start(handle, on_change, path, 0) == 0;
}

static void watch_folder(file_source *f)
{
    const char *slash = strrchr(f->config->path, '/');
    char *folder = slash == NULL ? strdup(".")
                   : slash == f->config->path
                       ? strdup("/")
                       : strndup(f->config->path, (size_t)(slash - f->config->path));
    f->folder_watched = folder != NULL && watch(&f->folder, folder);
    free(folder);
}

/* What the path leads to lies elsewhere, if it is a link: it is watched by itself. */
static void watch_file(file_source *f)
{
    struct stat about;
    if (f->files_watched == f->tail.files) {
        return;
    }
    f->files_watched = f->tail.files;
    if (f->file_watched) {
        uv_fs_event_stop(&f->file);
        f->file_watched = false;
    }
    const bool link = lstat(f->config->path, &about) == 0 && S_ISLNK(about.st_mode);
    if (link) {
        f->file_watched = watch(&f->file, f->config->path);
    }
    const bool told = f->folder_watched && (!link || f->file_watched);
    const weir_ns interval = f->config->poll_interval;
    f->tail.options.poll_interval = told && interval < WATCHED_POLL ? WATCHED_POLL : interval;
}

/* ---- hooks ---- */

static void let_go(file_source *f)
{
    weir__tail_close(&f->tail);
    weir__position_close(&f->position);
    weir__lineage_in_close(&f->lineage);
    free(f->position_path);
    f->position_path = NULL;
}

static weir_status init(void *state, weir_component *self, const void *config, weir_error *error)
{
    file_source *f = state;
    weir__place place;
    bool known = false;
    f->self = self;
    f->config = config;
    f->tail.fd = -1;
    weir_status status =
        weir__lineage_in_open(&f->lineage, self, f->config->frame.traceparent, error);
    if (status == WEIR_OK && f->config->strategy == WEIR__TAIL_COMMITTED) {
        status = open_position(f, &place, &known, error);
    }
    const weir__tail_options tail = {
        .path = f->config->path,
        .frame = f->config->frame,
        .strategy = (weir__tail_strategy)f->config->strategy,
        .read_size = (size_t)f->config->read_size,
        .poll_interval = f->config->poll_interval,
        .rotate_wait = f->config->rotate_wait,
        .tell = tell,
        .context = f,
    };
    if (status == WEIR_OK) {
        status = weir__tail_open(&f->tail, &tail, known ? &place : NULL, error);
    }
    if (status != WEIR_OK) {
        let_go(f); /* who could not begin is not torn down */
        return status;
    }
    weir__meter_open(&f->meter, self, "file", figures);
    return WEIR_OK;
}

/* A feed outlives its source. One that comes again under the same name marks positions behind all
 * that were marked before, committed or not: those of a feed do not fall. */
static void begin_behind(file_source *f)
{
    weir_feed_counters counters = WEIR_FEED_COUNTERS_INIT;
    uint64_t before = 0;
    const bool any = weir_feed_committed(f->publisher.engine, f->publisher.feed, &before);
    const weir_status status =
        weir_feed_counters_get(f->publisher.engine, f->publisher.feed, &counters);
    if (any || (status == WEIR_OK && counters.outstanding > 0)) {
        f->marked = f->committed = before + BEHIND_ALL;
        weir__tail_begin_at(&f->tail, f->marked);
    }
}

static weir_status start(void *state, weir_component *self, weir_error *error)
{
    file_source *f = state;
    weir__publisher_open(&f->publisher, self, f->config->frame.format, &f->lineage);
    if (f->keeps) {
        begin_behind(f);
        const weir_status status = weir_feed_track(f->publisher.engine, f->publisher.feed);
        if (status != WEIR_OK && status != WEIR_ALREADY) {
            return weir__error_at(error, status < 0 ? status : WEIR_E_FAILED,
                                  weir_component_name(self), "its feed cannot be tracked: %s",
                                  weir_status_text(status));
        }
    }
    const weir_status status = weir__loop_open(&f->loop, self, error);
    if (status != WEIR_OK) {
        return status;
    }
    (void)uv_fs_event_init(&f->loop.uv, &f->folder);
    (void)uv_fs_event_init(&f->loop.uv, &f->file);
    f->folder.data = f->file.data = f;
    f->files_watched = UINT64_MAX;
    watch_folder(f);
    watch_file(f);
    return WEIR_OK;
}

/* How many were published; *again: come back as soon as others have had their turn. */
static int32_t publish_some(file_source *f, weir_ns now, bool *again)
{
    int32_t count = 0;
    while (count < f->config->publish_batch) {
        weir__frame frame;
        const weir__frame_what what = weir__tail_next(&f->tail, now, &frame);
        if (what == WEIR__FRAME_NONE) {
            *again = f->tail.busy;
            return count;
        }
        if (!weir__publish(&f->publisher, what, &frame)) {
            *again = true;
            return count;
        }
        weir__tail_take(&f->tail);
        count++;
    }
    *again = true;
    return count;
}

static void show(file_source *f)
{
    weir__meter_set(&f->meter, EVENTS, f->publisher.events);
    weir__meter_set(&f->meter, BYTES, f->tail.bytes);
    weir__meter_set(&f->meter, BAD, f->publisher.bad);
    weir__meter_set(&f->meter, FAILED, f->publisher.lost);
    weir__meter_set(&f->meter, FILES, f->tail.files);
    weir__meter_set(&f->meter, CUTS, f->tail.cuts);
    weir__meter_set(&f->meter, PAUSES, f->publisher.pauses);
    weir__meter_set(&f->meter, POSITION, weir__tail_position(&f->tail));
    weir__meter_set(&f->meter, DONE, f->tail.done);
    if (f->tail.done) {
        weir_component_done(f->self);
    }
}

static weir_ns earlier(weir_ns a, weir_ns b)
{
    return a < b ? a : b;
}

static int32_t do_work(void *state, weir_component *self, weir_ns *next)
{
    file_source *f = state;
    int32_t work = weir__loop_run(&f->loop, next);
    const weir_ns now = weir_time_now(weir_component_engine(self));
    bool again = false;
    if (!is_heard(f, now) || (f->unmarked && !mark(f))) {
        *next = 0;
    } else if (!begin_position(f, now)) {
        *next = earlier(*next, now + AGAIN_AFTER);
    } else {
        const int32_t count = publish_some(f, now, &again);
        work += count;
        if (!mark(f) || (again && count == 0)) {
            *next = 0; /* room comes without a word */
        } else if (again) {
            *next = now;
        } else {
            *next = earlier(*next, weir__tail_due(&f->tail));
        }
        watch_file(f);
        if (count > 0 || f->tail.done) {
            show(f);
        }
    }
    *next = earlier(*next, keep_position(f, now));
    return work;
}

static void stop(void *state, weir_component *self)
{
    file_source *f = state;
    (void)self;
    weir__loop_close(&f->loop);
    show(f);
}

static void tear_down(void *state, weir_component *self)
{
    file_source *f = state;
    weir_engine *engine = weir_component_engine(self);
    uint64_t position;
    if (f->keeps && f->tail.segments != NULL) {
        if (weir_feed_committed(engine, weir_component_feed(self), &position) &&
            position > f->committed) {
            f->committed = position;
            f->unwritten = true;
        }
        if (f->unwritten) {
            write_position(f, weir_time_now(engine));
        }
    }
    weir__meter_close(&f->meter);
    let_go(f);
}

const weir_component_type weir__file_type = {
    .struct_size = sizeof(weir_component_type),
    .kind = WEIR_KIND_SOURCE,
    .name = "file",
    .help = "follows a file: lines or frames, through rotation, with a position that survives",
    .state_size = sizeof(file_source),
    .config_size = sizeof(file_config),
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .init = init,
    .start = start,
    .do_work = do_work,
    .stop = stop,
    .tear_down = tear_down,
    .commit = commit,
    .slow = WEIR_SLOW_BLOCK,
};
