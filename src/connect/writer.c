/*
 * connect/writer.c - events into a descriptor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "connect/writer.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const weir__write_format_words[] = { "lines", "length-prefixed", NULL };

enum { PREFIX_SIZE = 4, WRITE_MAX = 1 << 20 };

bool weir__writer_open(weir__writer *w, int64_t format, size_t capacity, size_t capacity_max)
{
    *w = (weir__writer){ .fd = -1, .format = format, .capacity_max = capacity_max };
    w->capacity = capacity < capacity_max ? capacity : capacity_max;
    w->buffer = malloc(w->capacity);
    return w->buffer != NULL;
}

void weir__writer_close(weir__writer *w)
{
    free(w->buffer);
    w->buffer = NULL;
    w->capacity = w->begin = w->end = 0;
}

/* Room for so many bytes behind what waits. */
static weir_status make_room(weir__writer *w, size_t size)
{
    if (size <= w->capacity - w->end) {
        return WEIR_OK;
    }
    if (w->begin > 0) {
        memmove(w->buffer, w->buffer + w->begin, w->end - w->begin);
        w->end -= w->begin;
        w->begin = 0;
    }
    if (size <= w->capacity - w->end) {
        return WEIR_OK;
    }
    if (size > w->capacity_max) {
        return WEIR_E_LIMIT;
    }
    if (size > w->capacity_max - w->end) {
        return WEIR_FULL;
    }
    size_t wanted = w->capacity;
    while (wanted < w->end + size) { /* ends: that is at most capacity_max */
        wanted = wanted > w->capacity_max / 2 ? w->capacity_max : wanted * 2;
    }
    char *larger = realloc(w->buffer, wanted);
    if (larger == NULL) {
        return w->end > 0 ? WEIR_FULL : WEIR_E_NOMEM;
    }
    w->buffer = larger;
    w->capacity = wanted;
    return WEIR_OK;
}

weir_status weir__writer_put(weir__writer *w, const void *data, size_t size)
{
    const bool prefixed = w->format == WEIR__WRITE_LENGTH_PREFIXED;
    if (size > UINT32_MAX) {
        return WEIR_E_LIMIT;
    }
    const weir_status status = make_room(w, size + (prefixed ? PREFIX_SIZE : 1));
    if (status != WEIR_OK) {
        return status;
    }
    char *at = w->buffer + w->end;
    if (prefixed) {
        for (int i = 0; i < PREFIX_SIZE; i++) {
            at[i] = (char)(size >> 8 * (PREFIX_SIZE - 1 - i) & 0xff);
        }
        at += PREFIX_SIZE;
    }
    if (size > 0) {
        memcpy(at, data, size);
    }
    at += size;
    if (!prefixed) {
        *at++ = '\n';
    }
    w->end = (size_t)(at - w->buffer);
    w->events++;
    return WEIR_OK;
}

/* How much can be written without a wait; 0: nothing now. A pipe that says it has room has it for
 * PIPE_BUF bytes. */
static size_t acceptable(const weir__writer *w)
{
    const size_t waits = w->end - w->begin;
    if (!w->streams) {
        return waits < WRITE_MAX ? waits : WRITE_MAX;
    }
    struct pollfd ready = { .fd = w->fd, .events = POLLOUT };
    if (poll(&ready, 1, 0) <= 0) {
        return 0;
    }
    return waits < PIPE_BUF ? waits : PIPE_BUF;
}

weir_status weir__writer_out(weir__writer *w)
{
    while (w->end > w->begin) { /* ends: each round writes something, or leaves */
        const size_t some = acceptable(w);
        if (some == 0) {
            return WEIR_FULL;
        }
        const ssize_t n = write(w->fd, w->buffer + w->begin, some);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return errno == EAGAIN || errno == EWOULDBLOCK ? WEIR_FULL : WEIR_E_SYSTEM;
        }
        if (n == 0) {
            errno = EIO; /* no file should answer that, and it must not become a loop */
            return WEIR_E_SYSTEM;
        }
        w->begin += (size_t)n;
        w->bytes += (uint64_t)n;
        w->position += (uint64_t)n;
    }
    w->begin = w->end = 0;
    return WEIR_OK;
}
