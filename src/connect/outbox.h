/*
 * connect/outbox.h - what a sink has taken and not yet given to the kernel: a ring of bytes that
 * knows where each event begins, so that none is torn when a connection breaks.
 *
 * The ring never moves, so what is being written stays where it is. One thread at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CONNECT_OUTBOX_H
#define WEIR_CONNECT_OUTBOX_H

#include <uv.h>

#include "weir/component.h"

typedef struct weir__outbox {
    char *ring;
    size_t capacity;
    size_t begin;    /* of the first event; where in the ring */
    size_t used;     /* bytes */
    size_t sent;     /* of the first event: bytes that are gone */
    uint32_t *sizes; /* of the events: a ring as well */
    size_t sizes_capacity, sizes_begin, count;
} weir__outbox;

/* False: no memory. A zeroed one may be closed. */
bool weir__outbox_open(weir__outbox *box, size_t capacity);
void weir__outbox_close(weir__outbox *box);

/* One event of two parts, one behind the other (`head` may be empty, and so `tail`). FULL: no room
 * now. E_LIMIT: it would never fit. E_NOMEM. */
weir_status weir__outbox_put(weir__outbox *box, const void *head, size_t head_size,
                             const void *data, size_t size, const void *tail, size_t tail_size);

/* What is next to be written: at most `most` bytes, in up to two pieces; returns how many. */
unsigned weir__outbox_look(const weir__outbox *box, size_t most, uv_buf_t out[2]);
/* How many bytes the first event still has. 0: there is none. */
size_t weir__outbox_first(const weir__outbox *box);

/* So many bytes are gone; returns how many events ended with them. */
size_t weir__outbox_took(weir__outbox *box, size_t bytes);

/* The first event is to be written from its beginning again. */
void weir__outbox_rewind(weir__outbox *box);

/* What a sink's flush answers when all that goes at once has gone: what is left is news for its
 * loop. */
weir_status weir__outbox_flushed(const weir__outbox *box, weir_component *self);
/* At its end: says how many events it was left with, if any. */
void weir__outbox_report(const weir__outbox *box, weir_component *self);

#endif /* WEIR_CONNECT_OUTBOX_H */
