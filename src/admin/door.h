/*
 * admin/door.h - who is let in: the connections of HTTP, their number, and their time.
 *
 * libmicrohttpd keeps a clock for silence only, and a client that sends a byte now and then is
 * never silent. So each connection has a deadline here: for its request, then for its answer. When
 * it is over the socket is shut down, and the library ends what hangs on it.
 *
 * All of it is the thread's that turns HTTP.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ADMIN_DOOR_H
#define WEIR_ADMIN_DOOR_H

#include <microhttpd.h>
#include <poll.h>

#include "admin/counts.h"
#include "admin/lot.h"
#include "sync/thread.h"

typedef struct weir__link {
    struct weir__link *next, *previous;
    int descriptor;
    weir_ns deadline;
    bool whole;  /* its request was there, and has its answer */
    bool shut;   /* nothing comes any more, and at the last look nothing was left to be read */
    bool ended;  /* by us: too slow, counted */
    bool stream; /* it has a place among those, and no deadline (stream.h) */
    uint8_t address[16];
} weir__link;

typedef struct weir__door {
    weir__admin_counts *counts;
    struct MHD_Daemon *daemon;
    int descriptor; /* that listens; its owner's to close */
    weir_ns timeout;
    uint32_t connections_max, per_address_max;

    weir__link *links;
    uint32_t link_count;
    weir_ns paused_until; /* accepts nobody before */
    weir__lot lot;
    weir_ns prompt_until; /* the second that `prompt` is counted in */
    uint32_t prompt;      /* refused and closed at once in it */
    uint32_t homeless;    /* the same, because the lot was full */
} weir__door;

/* Accepts who waits, up to a bound. */
void weir__door_take(weir__door *door);

/* The library has begun with a connection, and ended it. */
void weir__door_began(weir__door *door, struct MHD_Connection *connection, void **link);
void weir__door_ended(weir__door *door, weir__link *link);

/* NULL: it has none. */
weir__link *weir__door_link(struct MHD_Connection *connection);
/* It is a stream from now on. */
void weir__door_to_stream(weir__door *door, weir__link *link);
/* Nothing more is expected of the client but to take its answer, which has a time of its own. */
void weir__door_whole(const weir__door *door, struct MHD_Connection *connection);
/* While a command ran nobody else was looked at: that is no slowness of theirs. */
void weir__door_forgive(weir__door *door, weir_ns span);
/* Ends who is too slow; when the next one will be. */
weir_ns weir__door_end_slow(weir__door *door, weir_ns now);

/* A client that has said its last before its request was whole is one that the library may go on
 * waiting for: so they are polled besides, up to connections_max of them. How many they are. */
uint32_t weir__door_poll(const weir__door *door, struct pollfd *polled);
/* After MHD_run: what was there to be read was read, twice over. */
void weir__door_end_shut(weir__door *door, const struct pollfd *polled, uint32_t count);

#endif /* WEIR_ADMIN_DOOR_H */
