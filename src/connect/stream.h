/*
 * connect/stream.h - a listener whose connections are streams of frames: what `tcp` and `unix`
 * share.
 *
 * Each connection has a framer of its own, and what it brings is published in its order. When the
 * feed has no room the connection is not read any further: its peer is slowed down by its own
 * socket, and no byte is lost. A component that embeds a weir__stream as its first member passes
 * its hooks on to the functions here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CONNECT_STREAM_H
#define WEIR_CONNECT_STREAM_H

#include <sys/queue.h>

#include "connect/frame.h"
#include "connect/loop.h"
#include "connect/meter.h"
#include "connect/outlet.h"

typedef struct weir__stream_config {
    weir__frame_config frame;
    int64_t connections_max;
    int64_t backlog;
    weir_ns idle; /* WEIR_FOREVER: never */
    uint64_t read_size;
} weir__stream_config;

extern const char *const weir__never_words[];

/* NOLINTBEGIN(bugprone-macro-parentheses): `m` is a path of members, for offsetof */
#define WEIR__STREAM_ROWS(T, m)                                                                    \
    WEIR__FRAME_ROWS(T, m.frame),                                                                  \
        WEIR_KEY(INT, T, m.connections_max, "max-connections", .fallback = "1000", .min = 1,       \
                 .max = 1e6,                                                                       \
                 .help = "Connections at once. One more is closed as soon as it came, and "        \
                         "counted as refused."),                                                   \
        WEIR_KEY(INT, T, m.backlog, "backlog", .fallback = "511", .min = 1, .max = 65535,          \
                 .help = "Connections that may wait in the kernel to be accepted."),               \
        WEIR_KEY(DURATION, T, m.idle, "idle-timeout", .fallback = "never",                         \
                 .words = weir__never_words, .min = 1e6, .max = 1e18,                              \
                 .help = "A connection that brings nothing for so long is closed. One that is "    \
                         "not read because the feed has no room is not idle."),                    \
        WEIR_KEY(BYTES, T, m.read_size, "read-size", .fallback = "16 KiB", .min = 512,             \
                 .max = 16777216.0,                                                                \
                 .help = "Bytes of one read: the memory that a connection takes at least.")
/* NOLINTEND(bugprone-macro-parentheses) */

typedef union weir__stream_io {
    uv_handle_t handle;
    uv_stream_t stream;
    uv_tcp_t tcp;
    uv_pipe_t pipe;
} weir__stream_io;

typedef struct weir__connection weir__connection;
typedef TAILQ_HEAD(weir__connections, weir__connection) weir__connections;

typedef struct weir__stream weir__stream;

/* What differs between kinds of sockets. Statuses are libuv's. */
typedef struct weir__stream_plan {
    const char *type;                                          /* of the component */
    int (*prepare)(weir__stream *stream, weir__stream_io *io); /* uv_..._init of listener or
                                                                  connection, with the loop */
    int (*bind)(weir__stream *stream, weir__stream_io *io);
    void (*bound)(weir__stream *stream, weir__stream_io *io);    /* listens; may be NULL */
    void (*accepted)(weir__stream *stream, weir__stream_io *io); /* may be NULL */
} weir__stream_plan;

/* Figures, in the order of weir__stream_figures. */
enum {
    WEIR__STREAM_PORT,
    WEIR__STREAM_CONNECTIONS, /* now */
    WEIR__STREAM_ACCEPTED,
    WEIR__STREAM_REFUSED, /* max-connections, or no descriptor is left */
    WEIR__STREAM_IDLE,    /* closed for it */
    WEIR__STREAM_RESET,   /* ended by an error, not by its peer's end */
    WEIR__STREAM_BYTES,
    WEIR__STREAM_FRAMES,
    WEIR__STREAM_BAD,    /* frames */
    WEIR__STREAM_FAILED, /* frames that the feed refused for good */
    WEIR__STREAM_PAUSES, /* a connection was not read because the feed had no room */
    WEIR__STREAM_PAUSED  /* connections, now */
};

struct weir__stream {
    weir__loop loop;
    weir__meter meter;
    weir_component *self;
    const weir__stream_plan *plan;
    const weir__stream_config *config;
    weir__stream_io *listener;  /* NULL: it does not listen now */
    uv_timer_t again;           /* to listen again, after an error of accept */
    uv_timer_t idle;            /* of the connection that is heard of least */
    weir__connections active;   /* are read; the one that was heard of least recently first */
    weir__connections paused;   /* whole frames wait, or there was no memory */
    uint32_t count;             /* of both */
    uint32_t budget;            /* frames that the round at hand may still publish */
    uint32_t published;         /* in the round at hand */
    uint64_t descriptors_spare; /* a connection's must be below: the rest is for others */
    weir__outlet outlet;
    weir__lineage_in lineage;
    weir__complaint bad, refused, failed;
};

/* The hooks. `init` sets stream->plan before, and what the plan's functions need. */
weir_status weir__stream_init(weir__stream *stream, weir_component *self,
                              const weir__stream_plan *plan, const weir__stream_config *config,
                              weir_error *error);
weir_status weir__stream_start(void *state, weir_component *self, weir_error *error);
int32_t weir__stream_work(void *state, weir_component *self, weir_ns *next);
void weir__stream_stop(void *state, weir_component *self);
void weir__stream_tear_down(void *state, weir_component *self);

/* ---- between stream.c and connection.c ---- */

struct weir__connection {
    weir__stream_io io;
    weir__stream *stream;
    weir__framer framer;
    weir_ns heard;
    TAILQ_ENTRY(weir__connection) links;
    enum { WEIR__CONNECTION_READS, WEIR__CONNECTION_PAUSED, WEIR__CONNECTION_CLOSES } phase;
    bool ended; /* its peer has said all it had to say */
};

/* Takes over a connection that was accepted into `io`, which is prepared. False: no memory, and
 * nothing happened. */
weir__connection *weir__connection_new(weir__stream *stream);
/* Begins to read it. */
void weir__connection_begin(weir__connection *connection);
/* Publishes what waits, and reads on if all of it went. False: no room. */
bool weir__connection_resume(weir__connection *connection);
/* Ends it; its memory goes with the loop's next round. */
void weir__connection_close(weir__connection *connection);

#endif /* WEIR_CONNECT_STREAM_H */
