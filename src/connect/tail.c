/*
 * connect/tail.c - follows a file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* strerror_r that answers the text */
#include "connect/tail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/error.h"
#include "sync/thread.h"

enum {
    READS_MAX = 16,  /* of one call: a line without an end is not waited for */
    LEAVE_AFTER = 10 /* times rotate_wait: then a rotated file is left although it grows */
};
#define SOON (10 * WEIR_MS) /* something is being renamed right now */

__attribute__((format(printf, 3, 4))) static void tell(weir__tail *t, weir_status status,
                                                       const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (t->options.tell != NULL) {
        t->options.tell(t->options.context, status, text);
    }
}

/* Once for each reason, until it goes well again. */
static void tell_errno(weir__tail *t, const char *what, int why)
{
    char text[128];
    if (t->told != why) {
        t->told = why;
        tell(t, WEIR_E_SYSTEM, "%s: %s: %s", t->options.path, what,
             strerror_r(why, text, sizeof(text)));
    }
}

static bool is_once(const weir__tail *t)
{
    return t->options.strategy >= WEIR__TAIL_ONCE_EARLIEST;
}

static void rest(weir__tail *t, weir_ns due)
{
    t->resting = true;
    t->due = due;
}

static weir_ns later(weir_ns now, weir_ns delay)
{
    return delay > WEIR_FOREVER - now ? WEIR_FOREVER : now + delay;
}

/* Who the open file is, as far as it was read. */
static weir__place place_of(const weir__tail *t)
{
    return (weir__place){
        .device = t->about.st_dev,
        .inode = t->about.st_ino,
        .fingerprint = weir__fingerprint(t->head, t->head_size),
        .head_size = t->head_size,
        .modified = weir__modified(&t->about),
        .offset = t->offset,
    };
}

/* What the last segment says of its file. */
static void renew_segment(weir__tail *t)
{
    weir__place *file = &t->segments[t->segment_count - 1].file;
    const uint64_t offset = file->offset;
    *file = place_of(t);
    file->offset = offset;
}

/* The file of the last segment is not read further: what is known of it is kept. */
static void close_segment(weir__tail *t)
{
    if (t->fd < 0) {
        return;
    }
    (void)fstat(t->fd, &t->about);
    renew_segment(t);
    close(t->fd);
    t->fd = -1;
}

/* Reads on in `found`, whose descriptor it takes over. False: too many files wait for their commit;
 * the descriptor is closed. */
static bool begin(weir__tail *t, const weir__file_found *found, uint64_t offset)
{
    if (t->segment_count == WEIR__TAIL_SEGMENTS) {
        tell(t, WEIR_FULL, "%s: %u files were read and are not committed: it waits",
             t->options.path, WEIR__TAIL_SEGMENTS);
        close(found->fd);
        return false;
    }
    close_segment(t);
    t->fd = found->fd;
    t->about = found->about;
    t->offset = offset;
    const size_t size = (uint64_t)found->about.st_size < WEIR__HEAD_MAX
                            ? (size_t)found->about.st_size
                            : WEIR__HEAD_MAX;
    const ssize_t got = offset > 0 ? pread(t->fd, t->head, size, 0) : 0;
    t->head_size = got > 0 ? (uint32_t)got : 0;
    t->resting = t->rotated = t->cut = t->ending = false;
    t->stale = !found->current;
    t->told = 0;
    t->files++;
    t->segments[t->segment_count++] =
        (weir__tail_segment){ .start = t->framer.position, .file = place_of(t) };
    return true;
}

/* ---- where to begin ---- */

/* Behind the last newline: a line that is being written is seen as a whole. */
static uint64_t end_of_lines(const weir__tail *t, const weir__file_found *found)
{
    const uint64_t size = (uint64_t)found->about.st_size;
    if (t->options.frame.format == WEIR__FORMAT_LENGTH_PREFIXED) {
        return size;
    }
    char bytes[4096];
    uint64_t end = size;
    while (end > 0 && size - end <= t->options.frame.max) {
        const size_t some = end < sizeof(bytes) ? (size_t)end : sizeof(bytes);
        const ssize_t got = pread(found->fd, bytes, some, (off_t)(end - some));
        if (got != (ssize_t)some) {
            return size;
        }
        const char *newline = memrchr(bytes, '\n', some);
        if (newline != NULL) {
            return end - some + (uint64_t)(newline - bytes) + 1;
        }
        end -= some;
    }
    return end == 0 ? 0 : size;
}

static weir_status begin_at_path(weir__tail *t, weir_error *error)
{
    weir__file_found found;
    if (!weir__rotation_current(t->options.path, &found)) {
        const int why = errno;
        char text[128];
        if (why == ENOENT && !is_once(t)) {
            return WEIR_OK; /* it will come */
        }
        return weir__error_system(error, why, t->options.path, "%s",
                                  why == ENODEV ? "this is no ordinary file"
                                                : strerror_r(why, text, sizeof(text)));
    }
    const bool latest =
        t->options.strategy == WEIR__TAIL_LATEST || t->options.strategy == WEIR__TAIL_ONCE_LATEST;
    (void)begin(t, &found, latest ? end_of_lines(t, &found) : 0);
    return WEIR_OK;
}

static weir_status begin_at_place(weir__tail *t, const weir__place *from, weir_error *error)
{
    weir__file_found found;
    if (weir__rotation_find(t->options.path, from, true, &found)) {
        if (!found.current) {
            tell(t, WEIR_OK, "%s: goes on in %s, at byte %llu", t->options.path, found.name,
                 (unsigned long long)from->offset);
        }
        (void)begin(t, &found, from->offset);
        return WEIR_OK;
    }
    if (from->offset > 0) {
        tell(
            t, WEIR_UNKNOWN,
            "%s: the file of the kept position, read up to byte %llu, is gone or was cut: what was "
            "in it behind that is lost to it; goes on with what is newer",
            t->options.path, (unsigned long long)from->offset);
    }
    if (weir__rotation_next(t->options.path, from, &found)) {
        (void)begin(t, &found, 0);
        return WEIR_OK;
    }
    return begin_at_path(t, error);
}

weir_status weir__tail_open(weir__tail *t, const weir__tail_options *options,
                            const weir__place *from, weir_error *error)
{
    *t = (weir__tail){ .options = *options, .fd = -1 };
    t->segments = malloc(WEIR__TAIL_SEGMENTS * sizeof(*t->segments));
    weir_status status = WEIR_OK;
    if (t->segments == NULL ||
        !weir__framer_open(&t->framer, &options->frame, options->read_size, 0)) {
        status = weir__error_memory(error, options->path);
    } else if (options->strategy == WEIR__TAIL_COMMITTED && from != NULL) {
        status = begin_at_place(t, from, error);
    } else {
        status = begin_at_path(t, error);
    }
    if (status != WEIR_OK) {
        weir__tail_close(t);
    }
    return status;
}

void weir__tail_close(weir__tail *t)
{
    if (t->segments != NULL && t->fd >= 0) {
        close(t->fd);
    }
    weir__framer_close(&t->framer);
    free(t->segments);
    t->segments = NULL;
    t->fd = -1;
}

void weir__tail_begin_at(weir__tail *t, uint64_t position)
{
    WEIR_ASSERT(t->segment_count <= 1 && t->bytes == 0);
    weir__framer_reset(&t->framer, position);
    if (t->segment_count == 1) {
        t->segments[0].start = position;
    }
}

/* ---- the end of a file, and the next one ---- */

static void end_file(weir__tail *t)
{
    weir__framer_end(&t->framer);
    t->ending = true;
    t->resting = false;
}

/* It has fewer bytes than were read, or others. What was added to it before is in the copy that
 * whoever cut it has made, if he has made one. */
static void was_cut(weir__tail *t)
{
    weir__file_found found;
    const weir__place place = place_of(t);
    t->cuts++;
    t->resting = false;
    if (weir__rotation_find(t->options.path, &place, true, &found)) {
        if (found.copy) {
            tell(t, WEIR_OK, "%s: was cut; goes on in its copy %s, at byte %llu", t->options.path,
                 found.name, (unsigned long long)t->offset);
            close(t->fd);
            t->fd = found.fd;
            t->about = found.about;
            t->stale = true;
            renew_segment(t); /* it has the bytes of before, too */
            return;
        }
        close(found.fd);
    }
    tell(t, WEIR_OK, "%s: was cut; begins again at its first byte", t->options.path);
    t->cut = true;
    end_file(t);
}

/* Whether the open file is no longer what was read of it. */
static bool is_cut(weir__tail *t)
{
    char head[WEIR__HEAD_MAX];
    if (fstat(t->fd, &t->about) != 0) {
        return false;
    }
    if ((uint64_t)t->about.st_size < t->offset) {
        return true;
    }
    const ssize_t got = pread(t->fd, head, t->head_size, 0);
    return got >= 0 && ((size_t)got < t->head_size || memcmp(head, t->head, t->head_size) != 0);
}

/* Whether nobody writes to the rotated file any more, as far as can be told. Of one that had been
 * rotated away when it was opened the time of its last write is believed: its writer knows. */
static bool is_left(const weir__tail *t, weir_ns now)
{
    const weir_ns quiet = weir__clock_wall() - weir__modified(&t->about);
    return now - t->grown_at >= t->options.rotate_wait ||
           (t->stale && quiet >= t->options.rotate_wait);
}

/* All of it is read. What now? */
static void at_end(weir__tail *t, weir_ns now)
{
    struct stat at_path;
    if (is_cut(t)) {
        was_cut(t);
        return;
    }
    if (is_once(t)) {
        end_file(t);
        return;
    }
    const bool there = stat(t->options.path, &at_path) == 0;
    if (there && at_path.st_ino == t->about.st_ino && at_path.st_dev == t->about.st_dev) {
        t->rotated = false;
        rest(t, later(now, t->options.poll_interval));
        return;
    }
    if (!t->rotated) {
        t->rotated = true;
        t->rotated_at = t->grown_at = now;
    }
    if (!there) { /* it is followed until there is another */
        rest(t, later(now, t->options.poll_interval));
        return;
    }
    const bool patient = now - t->rotated_at < LEAVE_AFTER * t->options.rotate_wait;
    if (is_left(t, now)) {
        end_file(t);
    } else if (!patient) {
        tell(t, WEIR_TIMEOUT, "%s: was rotated away and is still written to: it is left behind",
             t->options.path);
        end_file(t);
    } else {
        rest(t, later(t->grown_at, t->options.rotate_wait));
    }
}

/* Whether the path leads to the open file. */
static bool is_at_path(const weir__tail *t)
{
    struct stat at_path;
    return stat(t->options.path, &at_path) == 0 && at_path.st_ino == t->about.st_ino &&
           at_path.st_dev == t->about.st_dev;
}

/* False: not now. */
static bool open_next(weir__tail *t, weir_ns now)
{
    weir__file_found found;
    const weir__place old = place_of(t);
    bool good;
    if (is_once(t) && !t->cut) {
        close_segment(t);
        t->done = true;
        return false;
    }
    if (t->cut) { /* this one, whatever it is called by now */
        found = (weir__file_found){ .fd = fcntl(t->fd, F_DUPFD_CLOEXEC, 0), .current = true };
        good = found.fd >= 0 && fstat(found.fd, &found.about) == 0;
    } else if (t->fd < 0) {
        good = weir__rotation_current(t->options.path, &found);
    } else {
        good = weir__rotation_next(t->options.path, &old, &found);
    }
    if (!good) {
        const int why = errno;
        if (t->fd >= 0 && !t->cut && is_at_path(t)) {
            t->ending = false; /* it was renamed back */
            return true;
        }
        if (why != ENOENT && why != EAGAIN) {
            tell_errno(t, "cannot be opened", why);
        }
        rest(t, later(now, why == EAGAIN ? SOON : t->options.poll_interval));
        return false;
    }
    const uint64_t position = t->framer.position;
    if (!begin(t, &found, 0)) {
        rest(t, later(now, t->options.poll_interval));
        return false;
    }
    weir__framer_reset(&t->framer, position);
    return true;
}

/* ---- reading ---- */

static void remember_head(weir__tail *t, const char *bytes, size_t size)
{
    if (t->head_size == WEIR__HEAD_MAX || t->offset > t->head_size) {
        return;
    }
    const size_t known = t->head_size - (size_t)t->offset; /* of these bytes */
    if (size > known) {
        const size_t room = WEIR__HEAD_MAX - t->head_size;
        const size_t some = size - known < room ? size - known : room;
        memcpy(t->head + t->head_size, bytes + known, some);
        t->head_size += (uint32_t)some;
    }
}

/* True: something was read. */
static bool read_some(weir__tail *t, weir_ns now)
{
    size_t room;
    char *at = weir__framer_room(&t->framer, &room);
    if (at == NULL) {
        tell_errno(t, "no memory for a line", ENOMEM);
        rest(t, later(now, t->options.poll_interval));
        return false;
    }
    room = room < t->framer.read_size ? room : t->framer.read_size;
    const ssize_t got = pread(t->fd, at, room, (off_t)t->offset);
    if (got < 0) {
        if (errno != EINTR) {
            tell_errno(t, "cannot be read", errno);
            rest(t, later(now, t->options.poll_interval));
        }
        return errno == EINTR;
    }
    if (got == 0) {
        at_end(t, now);
        return t->ending || !t->resting;
    }
    remember_head(t, at, (size_t)got);
    weir__framer_fed(&t->framer, (size_t)got);
    t->offset += (uint64_t)got;
    t->bytes += (uint64_t)got;
    t->grown_at = now;
    t->told = 0;
    return true;
}

/* One step towards a frame. False: there is none now. */
static bool step(weir__tail *t, weir_ns now)
{
    if (t->done || (t->resting && !t->looked && now < t->due)) {
        return false;
    }
    const bool rested = t->resting;
    t->looked = t->resting = false;
    if (t->fd < 0 || t->ending) {
        return open_next(t, now);
    }
    /* While it slept, the file may have been cut and have grown beyond what was read. */
    if (rested && is_cut(t)) {
        was_cut(t);
        return true;
    }
    return read_some(t, now);
}

weir__frame_what weir__tail_next(weir__tail *t, weir_ns now, weir__frame *frame)
{
    t->busy = false;
    for (int i = 0; i < READS_MAX; i++) {
        const weir__frame_what what = weir__framer_next(&t->framer, frame);
        if (what != WEIR__FRAME_NONE) {
            return what;
        }
        if (!step(t, now)) {
            return WEIR__FRAME_NONE;
        }
    }
    t->busy = true;
    return WEIR__FRAME_NONE;
}

void weir__tail_take(weir__tail *t)
{
    weir__framer_take(&t->framer);
}

uint64_t weir__tail_position(const weir__tail *t)
{
    return weir__framer_done(&t->framer);
}

void weir__tail_look(weir__tail *t)
{
    t->looked = true;
}

weir_ns weir__tail_due(const weir__tail *t)
{
    return t->done ? WEIR_FOREVER : t->resting && !t->looked ? t->due : 0;
}

bool weir__tail_commit(weir__tail *t, uint64_t position, weir__place *place)
{
    uint32_t i = 0;
    while (i + 1 < t->segment_count && t->segments[i + 1].start <= position) {
        i++;
    }
    if (t->segment_count == 0 || t->segments[i].start > position || position > t->framer.position) {
        return false;
    }
    memmove(t->segments, t->segments + i, (t->segment_count - i) * sizeof(*t->segments));
    t->segment_count -= i;
    const weir__tail_segment *segment = &t->segments[0];
    *place = segment->file;
    if (t->segment_count == 1 && t->fd >= 0) {
        (void)fstat(t->fd, &t->about);
        *place = place_of(t);
    }
    place->offset = segment->file.offset + (position - segment->start);
    return true;
}
