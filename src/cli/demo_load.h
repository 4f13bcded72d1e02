/*
 * cli/demo_load.h - the world of `weir demo`: an engine, the processors that talk to each other in
 * it, and the threads outside that feed them.
 *
 *     clients --request--> gateway --lookup--> store            request and answer, api and ""
 *                          gateway <--answer-- store
 *                          gateway --audit---> ledger           batch
 *     feed -----tick-----> ticker --tick--> ticker ... --quote--> screen       realtime
 *     feed -----record---> importer, sampler                    batch, in bursts
 *     timers ---beat-----> clocks, mover --moves--> store-0     "", and "api" from time to time
 *
 * The screen has a small mailbox that drops its oldest, the sampler one that drops the newest, and
 * the importer fails now and then: so every term of  accepted = handled + dropped + dead + left
 * but the last has something to count.
 *
 * Each processor's state is touched by its own turns only. What the main thread reads meanwhile
 * lies in cells (one writer, read relaxed).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CLI_DEMO_LOAD_H
#define WEIR_CLI_DEMO_LOAD_H

#include "cli/demo_stuck.h"
#include "observe/histogram.h"
#include "sync/atomic.h"
#include "sync/thread.h"
#include "weir/weir.h"

enum {
    WEIR__DEMO_DISPATCHERS = 4,
    WEIR__DEMO_GATEWAYS = 4,
    WEIR__DEMO_STORES = 4,
    WEIR__DEMO_TICKERS = 4,
    WEIR__DEMO_LEDGERS = 2,
    WEIR__DEMO_CLOCKS = 2,
    WEIR__DEMO_ACTORS = WEIR__DEMO_GATEWAYS + WEIR__DEMO_STORES + WEIR__DEMO_TICKERS +
                        WEIR__DEMO_LEDGERS + WEIR__DEMO_CLOCKS + 4, /* screen, importer, sampler,
                                                                       mover */
    WEIR__DEMO_PRODUCERS = 2,
    WEIR__DEMO_THREADS_MAX = 12,
};

extern const char *const weir__demo_dispatchers[WEIR__DEMO_DISPATCHERS];

struct weir__demo_load;

/* A processor of the demo: its state, and how the others find it. */
typedef struct weir__demo_actor {
    const struct weir__demo_load *load;
    weir_processor handle;
    uint32_t dispatcher;     /* index in weir__demo_dispatchers */
    uint32_t index;          /* among its kind */
    weir__cell posted;       /* posts of its handler that were accepted */
    weir__cell seen;         /* runs of its handler */
    weir__cell moves;        /* the mover's: of store-0, to and fro */
    weir__histogram latency; /* from the post of an event to its handler, in ns */
} weir__demo_actor;

/* A thread outside the engine that posts at a steady rate. */
typedef struct weir__demo_producer {
    const struct weir__demo_load *load;
    weir__os_thread thread;
    bool running;
    weir__cell posted; /* posts that were accepted */
} weir__demo_producer;

typedef struct weir__demo_load {
    weir_engine *engine;
    bool stuck;                 /* the importer hangs at its first event ... */
    weir__demo_reports reports; /* ... and this is what is said of it */
    uint32_t threads;
    const char *const *rows[WEIR__DEMO_THREADS_MAX + 1]; /* what each serves; both end with NULL */
    weir__atomic_u32 stopping; /* tells the producers; the join does the rest */
    weir__demo_producer producers[WEIR__DEMO_PRODUCERS];

    /* All actors, and the same by kind: first of its kind and how many. */
    weir__demo_actor actors[WEIR__DEMO_ACTORS];
    weir__demo_actor *gateways, *stores, *tickers, *ledgers, *screen, *importer, *sampler, *clocks,
        *mover;
} weir__demo_load;

/* What all the events of the demo carry. */
typedef struct weir__demo_stamp {
    weir_ns sent;
    uint32_t number; /* chooses the receiver among several */
    uint32_t hops;   /* of a tick, so far */
} weir__demo_stamp;

/* What comes from outside; the rest is between the actors. */
extern const weir_event_type weir__demo_request_type;
extern const weir_event_type weir__demo_tick_type;
extern const weir_event_type weir__demo_record_type;

/* The engine with its threads and actors, not started; with a handler that hangs, if `stuck`. NULL
 * on error. */
weir__demo_load *weir__demo_load_create(bool stuck, weir_error *error);

/* Adds the actors to load->engine (demo_actors.c). */
void weir__demo_actors_add(weir__demo_load *load, weir_error *error);

/* Timers of the clocks and of the mover (demo_actors.c). The engine runs. */
void weir__demo_timers_add(weir__demo_load *load, weir_error *error);

/* Starts the engine, its timers, then the producers (demo_producers.c). */
weir_status weir__demo_load_start(weir__demo_load *load, weir_error *error);

/* Ends the producers, then stops the engine, which drains. The engine's answer. */
weir_status weir__demo_load_stop(weir__demo_load *load);

void weir__demo_producers_start(weir__demo_load *load, weir_error *error);
void weir__demo_producers_stop(weir__demo_load *load);

void weir__demo_load_destroy(weir__demo_load *load); /* NULL is a no-op */

#endif /* WEIR_CLI_DEMO_LOAD_H */
