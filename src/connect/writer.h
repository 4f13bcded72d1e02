/*
 * connect/writer.h - events into a descriptor: collected, written in one go, and kept until they
 * are written, whatever the disk says meanwhile.
 *
 * What is in the buffer begins and ends with an event, but for its first one, of which a write may
 * have taken a part: that is gone on with, never begun anew, so no line is torn or doubled.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CONNECT_WRITER_H
#define WEIR_CONNECT_WRITER_H

#include "weir/base.h"

typedef enum weir__write_format {
    WEIR__WRITE_LINES,          /* a newline behind each */
    WEIR__WRITE_LENGTH_PREFIXED /* four bytes of length before each, the highest first */
} weir__write_format;

extern const char *const weir__write_format_words[];

typedef struct weir__writer {
    int fd;       /* the caller's; -1: none now */
    bool streams; /* no file: written in pieces that do not make the thread wait */
    int64_t format;
    char *buffer;
    size_t capacity, capacity_max;
    size_t begin, end;
    uint64_t events, bytes; /* written into the buffer; out of it */
    uint64_t position;      /* bytes that were written to the descriptor */
} weir__writer;

/* False: no memory. */
bool weir__writer_open(weir__writer *writer, int64_t format, size_t capacity, size_t capacity_max);
void weir__writer_close(weir__writer *writer); /* of a zeroed one: a no-op. What waits is gone */

/* FULL: no room before something is written out. E_LIMIT: it could never fit. E_NOMEM. */
weir_status weir__writer_put(weir__writer *writer, const void *data, size_t size);
/* OK: nothing waits any more. FULL: the other end takes no more now. E_SYSTEM: errno says why; what
 * was not written stays. */
weir_status weir__writer_out(weir__writer *writer);

static inline size_t weir__writer_waits(const weir__writer *writer)
{
    return writer->end - writer->begin;
}

#endif /* WEIR_CONNECT_WRITER_H */
