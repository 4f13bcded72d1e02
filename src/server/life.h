/*
 * server/life.h - the life of `weir run`: starts, watches for signals, reloads, stops.
 *
 *     SIGTERM, SIGINT   drain: sources stop, what was accepted is handled; a second one: stop now
 *     SIGHUP            reload, all or nothing; files that are written are opened anew
 *
 * The calling thread only waits and decides; starting, reloading and stopping are jobs of a thread
 * beside it, so that a second signal is heard whatever they wait for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SERVER_LIFE_H
#define WEIR_SERVER_LIFE_H

#include "server/server.h"

typedef struct weir__life_options {
    weir_ns seconds;    /* ends by itself after so long; 0: when told to */
    weir_ns tick_every; /* 0: no ticks */
    void (*tick)(void *context, weir__server *server, weir_ns gone);
    /* SIGHUP: the files once more. NULL: it was said what is wrong with them. */
    weir__composition *(*read_again)(void *context);
    /* One line for whoever runs it: what was reloaded, what went wrong. */
    void (*say)(void *context, const char *text);
    /* It has passed start_complete: once. Not OK: the error is set, and it ends again. */
    weir_status (*started)(void *context, weir__server *server, weir_error *error);
    void *context;
} weir__life_options;

typedef enum weir__life_end {
    WEIR__LIFE_ENDED,     /* stopped in its time */
    WEIR__LIFE_NOT_BEGUN, /* something would not start: see the error */
    WEIR__LIFE_TIMEOUT,   /* the stop ran out of time */
    WEIR__LIFE_CUT_SHORT  /* a second signal: threads may still run, so nothing is freed */
} weir__life_end;

typedef struct weir__life_result {
    weir__life_end end;
    weir_stop_report report; /* of what was stopped */
    weir_ns ran;             /* from start_complete to the stop */
    weir_ns stop_began;      /* by the wall clock, since 1970; 0: it did not */
} weir__life_result;

/* Before any thread is started: they inherit the mask. The descriptor, or -1 with errno. */
int weir__life_signals(void);

/* Blocking, from start to stop. `signals` is from above; it is closed. */
void weir__life_run(weir__server *server, int signals, const weir__life_options *options,
                    weir__life_result *result, weir_error *error);

#endif /* WEIR_SERVER_LIFE_H */
