/*
 * admin/stream.h - the stream of the live page: server-sent events, four times a second, for many
 * clients at once.
 *
 * One frame is made for all of them, and each has its place in the one it is being sent: what is
 * kept for a client is a number. Who has not taken a frame when the next one comes is not given
 * that; who has not taken one within the time that an answer has is let go. Where a frame takes
 * long to make and to send they come less often: all of it stays below 5 % of a core. While nobody
 * listens nothing is made, and the thread sleeps.
 *
 * The connection is one of libmicrohttpd's, suspended: it parsed the request and ends what hangs on
 * it, and between the two the socket is written here, by one call a client and frame. Given to the
 * library a frame would be cut into chunks as small as a connection's memory, each with a resume
 * and its calls of the system.
 *
 * One thread's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ADMIN_STREAM_H
#define WEIR_ADMIN_STREAM_H

#include <microhttpd.h>
#include <poll.h>

#include "admin/adviser.h"
#include "admin/counts.h"

#define WEIR__STREAM_PERIOD (250 * WEIR_MS)
#define WEIR__STREAM_PERIOD_MAX (5 * WEIR_S)
#define WEIR__STREAM_SHARE 20        /* of the time: one part in so many is spent on frames */
#define WEIR__STREAM_ADVICE_EVERY 8u /* frames: 2 s */
#define WEIR__STREAM_PROCESSORS 100u /* with figures of their own */

typedef struct weir__stream weir__stream;

typedef struct weir__streams {
    weir_engine *engine;
    weir__admin_counts *counts;
    weir__adviser *adviser;
    weir_ns timeout;
    uint32_t max;

    weir__stream *first;
    uint32_t count;
    weir_ns next; /* when the next frame is due */
    uint64_t number;
} weir__streams;

/* The connection is suspended then, and its head is under way. NULL: no place, or no memory; the
 * reason is counted. When there is no place, one who holds several gives one to who holds none.
 * The descriptor stays the library's. */
weir__stream *weir__stream_open(weir__streams *all, struct MHD_Connection *connection,
                                int descriptor, const uint8_t address[16]);
/* The library has ended its connection. NULL is a no-op. */
void weir__stream_close(weir__streams *all, weir__stream *stream);
/* Lets all go: before the library is stopped. */
void weir__streams_end(weir__streams *all);

/* When there is something to do without an event; WEIR_FOREVER: nobody listens. */
weir_ns weir__streams_next(const weir__streams *all);
/* Fills in one for each client, `max` at most. How many they are. */
uint32_t weir__streams_poll(const weir__streams *all, struct pollfd *polled);
/* `polled`: what weir__streams_poll has filled in, after poll; count 0: not looked at. */
void weir__streams_turn(weir__streams *all, weir_ns now, const struct pollfd *polled,
                        uint32_t count);

#endif /* WEIR_ADMIN_STREAM_H */
