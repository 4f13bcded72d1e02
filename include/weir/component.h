/*
 * weir/component.h - sources, services, sinks: things with a life cycle, hosted by a thread.
 *
 *     init --> start --> start_complete --> do_work ... do_work --> stop --> tear_down
 *     [control]          [------------- the hosting thread ---------------------------]
 *
 * In dependency order, the reverse on the way down; every processor, service and sink has passed
 * start_complete before any source does. A hook that is NULL is skipped. A failing init or start
 * undoes what was started and names the component; a failing do_work is reported, counted, and
 * called again after a while: it never ends the process.
 *
 * A component type is a constant table; a plugin exports it (plugin.h), a program adds it directly.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_COMPONENT_H
#define WEIR_COMPONENT_H

#include "weir/config.h"
#include "weir/feed.h"
#include "weir/processor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One instance, as its own hooks see it. Valid from init to the end of tear_down. Its hooks, rounds
 * and handler never run at the same time, whatever threads serve its dispatcher; handlers that it
 * becomes, and those of answers, only if that is its own thread alone. */
typedef struct weir_component weir_component;

typedef enum weir_kind {
    WEIR_KIND_SOURCE = 1, /* has a feed of its own name and publishes into it */
    WEIR_KIND_SERVICE,    /* has a duty cycle, a handler, or both; found by type and name */
    WEIR_KIND_SINK,       /* receives: has a handler, is addressed like a processor */
    WEIR_KIND_PROCESSOR   /* a processor that can be named in a configuration */
} weir_kind;

/*
 * Where events go, by a name of the configuration: a component or processor with a handler, or a
 * router. Options of kind WEIR_OPTION_TARGET fill one, WEIR_OPTION_TARGETS a list. The name is
 * there from init on, the handles from `start` on; who is named is started before.
 */
typedef struct weir_target {
    const char *name;         /* NULL: none was named */
    weir_processor processor; /* this ... */
    weir_router router;       /* ... or this */
} weir_target;

typedef struct weir_targets {
    const weir_target *items;
    size_t count;
} weir_targets;

/* Turn. weir_turn_post, or a submit under the flow of the event (or of the one at hand); nothing,
 * and OK, to a target that was not named. */
WEIR_API WEIR_MUST_CHECK weir_status weir_turn_send(weir_turn *turn, const weir_target *to,
                                                    const weir_event *event);

typedef struct weir_component_type {
    size_t struct_size;
    weir_kind kind;
    const char *name;           /* "ticker"; in a file: type = ticker */
    const char *help;           /* one line */
    size_t state_size;          /* zeroed memory, the `state` of every hook */
    size_t config_size;         /* of the struct that `options` describe */
    const weir_option *options; /* keys, checked before init; weir/config.h */
    size_t option_count;

    /* Control. `config` is filled, checked, and valid until tear_down. Opens files, reads nothing
     * yet. Targets and services are there from
     * `start` on. */
    weir_status (*init)(void *state, weir_component *self, const void *config, weir_error *error);
    weir_status (*start)(void *state, weir_component *self, weir_error *error);
    weir_status (*start_complete)(void *state, weir_component *self, weir_error *error);
    /* One short round; returns how much was done (0: may idle) or a negative status. Never waits.
     * *next, preset to WEIR_FOREVER, may be lowered to when (weir_time_now) to be called again;
     * WEIR_FOREVER: when woken, or a descriptor is ready. A component that sets neither that, nor
     * polls, nor is woken says *next = 0: at least once a max-park (1 ms). */
    int32_t (*do_work)(void *state, weir_component *self, weir_ns *next);
    void (*stop)(void *state, weir_component *self);      /* publish nothing after it */
    void (*tear_down)(void *state, weir_component *self); /* undo init, if that went well */

    /* SOURCE, if it marks positions: everything up to `position` is done. Hosting thread. */
    void (*commit)(void *state, weir_component *self, uint64_t position);
    /* SINK, PROCESSOR, SERVICE: as in weir_processor_options. */
    weir_handler handler;
    weir_cases cases;
    /* SINK: when its mailbox runs empty, every flush_max events, and before stop; OK lets go of the
     * origins of what was written. Below zero: failed, reported, tried again after a while. Above
     * (FULL): not yet, asked again soon. NULL: each event is done when its handler returns. */
    weir_status (*flush)(void *state, weir_component *self);
    uint32_t flush_max; /* default 1,024 */
    /* With a handler: its last turn, when all that it will ever get is handled; may post, and comes
     * again like an event if it fails. For totals, and for what was kept back. */
    weir_status (*finish)(void *state, weir_turn *turn);
    /* What a failing handler leads to, unless the instance says otherwise: as in
     * weir_processor_options. A handler that passes events on, and answers FULL when it cannot,
     * says WEIR_PASSES_ON: so it waits, in order, and nothing is lost. Of components the delays
     * double up to 100 ms: what was full for long is seen to be so no more soon. */
    weir_directive on_failure;
    uint32_t retry_max;
    weir_ns retry_delay;
    /* SOURCE: of its feed, unless the instance says otherwise. What could be read again later says
     * WEIR_SLOW_BLOCK: it waits in place of losing something. */
    weir_slow_consumer slow;
    /* SINK, PROCESSOR, SERVICE with a handler: it has a feed of its own name, too, into which its
     * handler publishes; as a source's, but with many writers, since turns may run on several
     * threads. Not with instances. */
    bool publishes;
} weir_component_type;

/* In a type's table: what its handler cannot pass on now is tried again every so often, for as long
 * as it takes. */
#define WEIR_PASSES_ON .on_failure = WEIR_RETRY, .retry_max = 1000000, .retry_delay = WEIR_MS

/* Any, from any hook or handler of the component. */
WEIR_API weir_engine *weir_component_engine(const weir_component *self);
WEIR_API const char *weir_component_name(const weir_component *self);
WEIR_API weir_feed weir_component_feed(const weir_component *self); /* if it publishes; else zero */
WEIR_API weir_processor weir_component_address(const weir_component *self); /* if a handler */

/* Any. Something went wrong that is no answer of a hook: counted, logged, kept among the last 100
 * errors (admin: errors). */
WEIR_API void weir_component_report(weir_component *self, weir_status status, const char *text);

/* SOURCE, any thread: it has come to its end, and will publish nothing any more. When all of them
 * have, weir_components_on_done is told: `weir run` ends then. */
WEIR_API void weir_component_done(weir_component *self);

/* Any thread. do_work will be called soon; wakes its thread if that is parked. */
WEIR_API void weir_component_wake(weir_component *self);

/* The hosting thread. Calls do_work when `fd` is readable or writable, as long as it is (level);
 * both false forgets it, which must be before it is closed. At most 64 a component. */
WEIR_API weir_status weir_component_poll(weir_component *self, int fd, bool readable,
                                         bool writable);

typedef struct weir_component_options {
    size_t struct_size;
    const char *name;         /* unique; required; at most 63 bytes */
    const char *thread;       /* that hosts it; default one that serves its dispatcher, else the
                                 first one */
    const char *dispatcher;   /* of its handler; default: with a thread, one that this serves, if
                                 there is such a one alone; else "" */
    uint32_t instances;       /* PROCESSOR: so many of it, NAME/1 ..., one after the other in what a
                                 router spreads over; default 1 */
    const void *config;       /* a struct of config_size, copied; NULL: the table's fallbacks */
    const char *const *after; /* names that must be started before; ends with NULL */
    const char *const *feeds; /* that its handler subscribes to; ends with NULL */
    uint32_t mailbox_max;     /* of its handler; as in weir_processor_options, so the two below */
    weir_overflow overflow;
    weir_directive on_failure;
    const weir_feed_options *feed; /* SOURCE: of its feed; the name is its own */
} weir_component_options;

#define WEIR_COMPONENT_OPTIONS_INIT WEIR_SIZED(weir_component_options)
#define WEIR_COMPONENT(...) WEIR_OPTIONS(weir_component_options, __VA_ARGS__)

/* Control, before weir_components_start or while running (then it passes start_complete before this
 * returns: Blocking). The type must outlive the engine. `address` (may be NULL): of its handler, or
 * zero. */
WEIR_API weir_status weir_component_add(weir_engine *engine, const weir_component_type *type,
                                        const weir_component_options *options,
                                        weir_processor *address, weir_error *error);

/* Blocking; timeout 0 = 30 s. Of a source: stop, drained, tear_down; of others: drained, stop,
 * tear_down. `name` may be that of all instances. E_INVALID: another one, or a router, refers to
 * it. TIMEOUT: a handler or hook of it has not returned; the engine's end sees to the rest. */
WEIR_API weir_status weir_component_remove(weir_engine *engine, const char *name, weir_ns timeout,
                                           weir_error *error);

/*
 * Blocking; timeout 0 = 30 s. Ends it and begins it again where it is: its address, its feed, its
 * subscriptions and what refers to it stay. What was sent to it before is handled first, then its
 * `finish`, if it has one; what is sent meanwhile waits. Then flush (of a source: what it has
 * published has gone its way), stop, tear_down, and init ... start_complete with zeroed state.
 * `config` is a struct of its type, copied; NULL: as before. `name` may be that of all instances.
 *
 * On error it runs, with what it had: it was not stopped, or has begun again with that. If even
 * that fails its phase is "failed", and what is sent to it waits for another restart. TIMEOUT: it
 * was not ready for it in time (it waits for answers, or cannot be flushed); or, if its phase is
 * not "running", a hook of it has not returned. UNKNOWN: no component is called so.
 */
WEIR_API weir_status weir_component_restart(weir_engine *engine, const char *name,
                                            const void *config, weir_ns timeout, weir_error *error);

/* Blocking. Starts the engine, and every component in order: init ... start_complete. On error what
 * was started is stopped again, and the error names the component. A stop meanwhile ends it as
 * STOPPING. */
WEIR_API weir_status weir_components_start(weir_engine *engine, weir_error *error);
/* Blocking; timeout 0 = 30 s. Sources first, then what they feed is drained, then the rest in
 * reverse order; then the engine stops. */
WEIR_API weir_status weir_components_stop(weir_engine *engine, weir_ns timeout,
                                          weir_stop_report *report);

/* Control, before weir_components_start. `hook` is called, on any thread and at most a few times,
 * when all sources that there are have come to their end; it must not call weir. */
WEIR_API void weir_components_on_done(weir_engine *engine, void (*hook)(void *context),
                                      void *context);
/* Any. There are sources, and all of them have come to their end. */
WEIR_API bool weir_components_are_done(weir_engine *engine);

typedef struct weir_component_info {
    size_t struct_size;
    const char *name;
    const weir_component_type *type;
    const char *thread;
    const char *phase;     /* "added", "initialised", "started", "running", "stopping", "failed" */
    uint64_t rounds, work; /* of do_work: calls, and the sum of what it answered */
    uint64_t failures;
    weir_processor address;
    weir_feed feed;
    weir_stop_report stopped; /* what its handler was sent in its life, once that is stopped;
                                 before, its struct_size is 0: see weir_processor_counters */
} weir_component_info;
/* Control. In the order of starting. The strings live during the call. */
WEIR_API void weir_component_visit(weir_engine *engine,
                                   bool (*visit)(void *context, const weir_component_info *info),
                                   void *context);

typedef struct weir_failure {
    size_t struct_size;
    weir_ns time; /* of the wall clock, since 1970 */
    weir_status status;
    char component[64];
    char text[192];
} weir_failure;
/* Control. The last 100 errors of components, oldest first. */
WEIR_API void weir_failure_visit(weir_engine *engine,
                                 bool (*visit)(void *context, const weir_failure *failure),
                                 void *context);

/* ---- services ---- */

/* Any. The address of a service with a handler, zero if there is none. Not a pointer: what is gone
 * answers UNKNOWN. `type` or `name` NULL: any. */
WEIR_API weir_processor weir_service_find(weir_engine *engine, const char *type, const char *name);

/* Payload of weir_service_type: a service came or went. */
typedef struct weir_service_change {
    weir_processor address;
    bool arrived;
    char type[31];
    char name[64];
} weir_service_change;
WEIR_API extern const weir_event_type weir_service_type;
/* Control. From now on `who` gets these events, in turns of its own, and one now for each that is
 * there. `type` NULL: all. ALREADY: it was so. */
WEIR_API weir_status weir_service_watch(weir_engine *engine, const char *type, weir_processor who);

#ifdef __cplusplus
}
#endif

#endif /* WEIR_COMPONENT_H */
