/*
 * weir/flow.h - many keys, each in order on one worker; a new key on the least-loaded worker.
 *
 *     weir_router sessions = weir_router_add(engine,
 *         WEIR_ROUTER(.name = "sessions", .handler = on_line, .state_size = sizeof(session)),
 *         &error);
 *     weir_router_submit(engine, sessions, 42, WEIR_EVENT(line, .text = "hello"));
 *
 * A *flow* is what happens under one key: its events are handled one at a time, in the order in
 * which each thread submitted them, with a state of its own that is made on the first event and
 * destroyed at the end. After its end the same key is a new flow, which never overtakes the old
 * one. The handler is an ordinary weir_handler. It runs on one of the router's workers: other flows
 * run beside it on others.
 *
 * A flow is no processor: in its handler weir_turn_self is zero, and what would come back to it
 * (ask, watch, want_room, trigger_after) or change who handles it (become) is E_INVALID; route to
 * `targets` for that. What it posts and submits inherits its flow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_FLOW_H
#define WEIR_FLOW_H

#include "weir/thread.h"
#include "weir/turn.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum weir_flow_end {
    WEIR_FLOW_FINISHED = 1,
    WEIR_FLOW_IDLE,    /* idle_timeout */
    WEIR_FLOW_EVICTED, /* flows_max: the one that has had nothing to do for longest goes */
    WEIR_FLOW_STOPPED  /* with its router */
} weir_flow_end;

/* What a key is. */
typedef enum weir_flow_keys {
    WEIR_FLOW_KEYS_DEFAULT = 0, /* u64 */
    WEIR_FLOW_KEYS_U64,         /* "u64": a number; 0 is none */
    WEIR_FLOW_KEYS_BYTES        /* "bytes": 1 to 65,535 of them, kept and compared */
} weir_flow_keys;

typedef struct weir_router_options {
    size_t struct_size;
    const char *name;              /* unique among routers; required */
    const char *dispatcher;        /* whose threads run the workers; default "" */
    weir_handler handler;          /* one of these ... */
    weir_cases cases;              /* ... three: a function, a table, */
    const weir_processor *targets; /* ... or processors: a flow stays with one of them, which gets
                                      its events as if they were posted to it. No state, no
                                      overflow: theirs count; so do their threads */
    uint32_t target_count;

    /* State, as of a processor, but for each flow: with state_size, zeroed memory that init fills
     * on the flow's first event and destroy empties at its end. Without, `argument` is the state of
     * all. init, handler and destroy of a flow never overlap; they run on threads of the
     * dispatcher, and so do all of one worker, one after the other. An init that fails makes that
     * event dead; the next one tries again. destroy runs only after an init that succeeded. */
    void *argument;
    size_t state_size; /* at most 1 MiB */
    weir_status (*init)(void *state, weir_turn *turn, void *argument);
    void (*destroy)(void *state, weir_flow_end reason);

    uint32_t workers;       /* default: usable cores, at most 8; 1..256 */
    uint32_t ingress_max;   /* block: events admitted beyond worker_max, of all workers together;
                               default 65,536 */
    uint32_t worker_max;    /* events waiting on one worker; default 8,192; both together at most
                               1,000,000 */
    uint32_t batch_max;     /* events a turn of a worker; default 128 */
    weir_overflow overflow; /* when a worker has worker_max; default block: goes beyond it as long
                               as ingress_max lets it, then waits for up to block_max */
    weir_ns block_max;      /* default 1 s; then FULL */
    uint64_t flows_max;     /* live at once; default 1,000,000; 1..16,000,000. The one that has been
                               idle for longest goes for a new one. Exact up to 4,096; above that,
                               "longest" is known to 1/64 of idle_timeout,
                               at most 10 s. While all of them have events
                               waiting, up to a sixteenth more (and 64) are made; then it is as if
                               every worker were full */
    weir_ns idle_timeout;   /* a flow with nothing to do for so long ends, never earlier; up to a
                               512th (at most 1.25 s) and some 10 ms later. If something waits for
                               it just then, its time begins anew. Default 10 min; WEIR_FOREVER:
                               never */
    bool migrate;           /* a flow that has nothing waiting may go on on a less loaded worker */
    weir_flow_keys keys;

    /* Threads of its own: a thread a worker, on a dispatcher that has the router's name, until
     * weir_router_stop. Then `dispatcher` must be NULL. */
    bool own_threads;
    weir_idle idle;       /* theirs */
    const int32_t *cores; /* one a thread, in turn */
    uint32_t core_count;

    uint32_t latency_every; /* times one handler in so many; default 16; 1: all */
} weir_router_options;

#define WEIR_ROUTER_OPTIONS_INIT WEIR_SIZED(weir_router_options)
#define WEIR_ROUTER(...) WEIR_OPTIONS(weir_router_options, __VA_ARGS__)

/* Control, also while the engine runs. Zero on error. At most 1,024 in an engine's life. */
WEIR_API weir_router weir_router_add(weir_engine *engine, const weir_router_options *options,
                                     weir_error *error);

/* Control. Zero: no such name, or stopped. */
WEIR_API weir_router weir_router_find(weir_engine *engine, const char *name);

/* Control. Calls `visit` with each router that is not stopped, until it answers false. */
WEIR_API void weir_router_visit(weir_engine *engine,
                                bool (*visit)(void *context, weir_router router, const char *name),
                                void *context);

/* Blocking; as weir_processor_stop: submits answer STOPPING from now on, those that wait too; what
 * was accepted is handled, then every flow ends as STOPPED. A stop of the engine does the same. */
WEIR_API weir_status weir_router_stop(weir_engine *engine, weir_router router, weir_ns timeout,
                                      weir_stop_report *report);

/*
 * Submitting. Statuses and ownership as for weir_engine_post. With the flag WEIR_EVENT_FINISH the
 * event is the last of its flow; that it ends is never lost to a drop, even if the event is. What
 * comes after it belongs to a new flow, on the same worker while something of the old one waits.
 *
 *     overflow      a worker has worker_max events waiting for it
 *     block         OK, beyond it, if ingress_max is not used up; else waits; FULL after block_max
 *                   and, at once, on a thread of an engine
 *     drop-newest   DROPPED; counted against its flow
 *     drop-oldest   OK; the oldest event on that worker goes, and is counted against its own flow
 *     fail          FULL
 */

/* Any. `flow` 0: none; no order, no state (`argument`), the least-loaded worker. E_INVALID: keys
 * are bytes. */
WEIR_API WEIR_MUST_CHECK weir_status weir_router_submit(weir_engine *engine, weir_router router,
                                                        uint64_t flow, const weir_event *event);
/* Any. E_INVALID: keys are numbers. `size` 0: no flow. */
WEIR_API WEIR_MUST_CHECK weir_status weir_router_submit_bytes(weir_engine *engine,
                                                              weir_router router, const void *key,
                                                              size_t size, const weir_event *event);
/* Any. Many in one call, events[i] to flows[i]. statuses[i] (may be NULL) tells each; returns how
 * many were accepted. `block` waits for each as above. */
WEIR_API WEIR_MUST_CHECK size_t weir_router_submit_batch(weir_engine *engine, weir_router router,
                                                         const uint64_t *flows,
                                                         const weir_event *const *events,
                                                         size_t count, weir_status *statuses);

/* Any. The same for keys that are bytes: events[i] to the sizes[i] bytes at keys[i]. */
WEIR_API WEIR_MUST_CHECK size_t weir_router_submit_batch_bytes(
    weir_engine *engine, weir_router router, const void *const *keys, const size_t *sizes,
    const weir_event *const *events, size_t count, weir_status *statuses);

/* Any. Ends the flow after what was submitted before. Takes a place as an event does, and is
 * counted as one; the handler does not see it (targets get a weir_finish_type event). UNKNOWN:
 * there is no such flow. */
WEIR_API WEIR_MUST_CHECK weir_status weir_router_finish(weir_engine *engine, weir_router router,
                                                        uint64_t flow);
WEIR_API WEIR_MUST_CHECK weir_status weir_router_finish_bytes(weir_engine *engine,
                                                              weir_router router, const void *key,
                                                              size_t size);
WEIR_API extern const weir_event_type weir_finish_type; /* no payload */

/* Turn. The same from a handler; never waits. `flow` 0: the flow at hand, also if its key is
 * bytes (and if the event says WEIR_EVENT_NO_FLOW: none). */
WEIR_API WEIR_MUST_CHECK weir_status weir_turn_submit(weir_turn *turn, weir_router router,
                                                      uint64_t flow, const weir_event *event);
WEIR_API WEIR_MUST_CHECK weir_status weir_turn_submit_bytes(weir_turn *turn, weir_router router,
                                                            const void *key, size_t size,
                                                            const weir_event *event);

/* Turn, in a flow's handler: ends the flow at hand when this event is done. Events of that key
 * that wait already belong to the next flow. E_INVALID: no flow is at hand. */
WEIR_API weir_status weir_turn_finish(weir_turn *turn);

/* Turn, in a flow's handler: the bytes of its key, valid until the handler returns, and how many.
 * NULL: no flow is at hand, or keys are numbers: event->flow is it. */
WEIR_API const void *weir_turn_flow_key(const weir_turn *turn, size_t *size);

/* Any. What event->flow is of a flow whose key is bytes: 64 bits, the same in all routers of this
 * process, another in the next process; never 0. Routers keep and compare the bytes; who keeps
 * flows apart by this number alone takes two of a million keys for one with a chance of 3 in
 * 10^8. */
WEIR_API uint64_t weir_flow_hash(const void *key, size_t size);

/* ---- figures ---- */

/* On a running router sums may be a few events apart; on a stopped one
 * submitted = handled + dropped + dead + left. */
typedef struct weir_router_counters {
    size_t struct_size;
    uint64_t submitted; /* accepted, the dropped ones included */
    uint64_t handled, dead, left;
    uint64_t dropped_newest, dropped_oldest;
    uint64_t refused_full;    /* fail, or a wait that was over: the worker was full ... */
    uint64_t refused_ingress; /* ... and ingress_max was used up */
    uint64_t refused_flows;   /* flows_max was, and none was idle */
    uint64_t ingress;         /* of ingress_max, now */
    uint64_t flows;           /* live, now */
    uint64_t flows_made, finished, idle, evicted, stopped; /* so far */
    uint64_t moved;                                        /* flows, to another worker */
    uint64_t workers;                                      /* targets: how many those are */
    uint64_t depth;                                        /* events waiting or at hand, now */
    uint64_t p50_ns, p95_ns, p99_ns, max_ns; /* how long handlers take; of those that were timed */
    double imbalance; /* busiest worker's time in handlers, over the mean; 1: all alike; 0: none */
    uint64_t bytes;   /* memory for flows */
    uint64_t timed;   /* handlers behind the percentiles, since the last reset */
    bool timing;      /* weir_router_latency_set */
} weir_router_counters;
#define WEIR_ROUTER_COUNTERS_INIT WEIR_SIZED(weir_router_counters)

typedef struct weir_worker_counters {
    size_t struct_size;
    uint64_t depth;   /* events waiting or at hand, now ... */
    uint64_t beyond;  /* ... of them: beyond worker_max, out of ingress_max */
    uint64_t handled; /* so far, dead ones included ... */
    double rate;      /* ... a second, between this look and the one before (or its beginning) */
    weir_ns busy;     /* in handlers, so far; estimated from those that were timed */
    uint64_t p50_ns, p95_ns, p99_ns;
    weir_processor processor; /* that it is; targets: that target */
} weir_worker_counters;
#define WEIR_WORKER_COUNTERS_INIT WEIR_SIZED(weir_worker_counters)

/* One flow of many. */
typedef struct weir_flow_counters {
    size_t struct_size;
    uint64_t submitted, handled, dropped; /* since it began, or (finishes in between) its record;
                                             submitted = handled + dropped + waiting */
    uint32_t worker;
} weir_flow_counters;
#define WEIR_FLOW_COUNTERS_INIT WEIR_SIZED(weir_flow_counters)

/* Control. UNKNOWN: no such router, worker, flow. After a stop the router's figures stay. */
WEIR_API weir_status weir_router_counters_get(weir_engine *engine, weir_router router,
                                              weir_router_counters *out);
WEIR_API weir_status weir_worker_counters_get(weir_engine *engine, weir_router router,
                                              uint32_t worker, weir_worker_counters *out);
WEIR_API weir_status weir_flow_counters_get(weir_engine *engine, weir_router router, uint64_t flow,
                                            weir_flow_counters *out);
WEIR_API weir_status weir_flow_counters_get_bytes(weir_engine *engine, weir_router router,
                                                  const void *key, size_t size,
                                                  weir_flow_counters *out);

/* Control. Whether its handlers are timed, one in latency_every; from the beginning they are. What
 * was measured stays. E_INVALID: of one with targets, which are not. UNKNOWN: no such router. */
WEIR_API weir_status weir_router_latency_set(weir_engine *engine, weir_router router, bool timed);
/* Control. The percentiles of a router and its workers begin anew. E_NOMEM. */
WEIR_API weir_status weir_router_latency_reset(weir_engine *engine, weir_router router);

#ifdef __cplusplus
}
#endif

#endif /* WEIR_FLOW_H */
