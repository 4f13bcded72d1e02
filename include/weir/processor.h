/*
 * weir/processor.h - processors: a handler, its state, a bounded mailbox.
 *
 * A handler never runs on two threads at once, and each turn sees all that the turn before wrote,
 * so state needs no lock. It is one function, or a table from event type to function:
 *
 *     static weir_status on_order(void *state, weir_turn *turn, const weir_event *event);
 *     static const weir_case cases[] = { { &order_type, on_order }, { &cancel_type, on_cancel } };
 *
 *     WEIR_PROCESSOR(.name = "book", .cases = WEIR_CASES(cases), .state_size = sizeof(book))
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_PROCESSOR_H
#define WEIR_PROCESSOR_H

#include "weir/engine.h"
#include "weir/supervise.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Answers OK (or DROPPED or ALREADY, of a call it passes on): handled. UNHANDLED: not mine; the
 * unhandled hook, or a counter and a warning. Anything else: failed for that reason, and
 * on_failure decides. So a handler may end with `return weir_turn_post(...)`; with on_failure =
 * WEIR_RETRY a FULL behind it is tried again later, in order.
 */
typedef weir_status (*weir_handler)(void *state, weir_turn *turn, const weir_event *event);

typedef struct weir_case {
    const weir_event_type *type;
    weir_handler handler;
} weir_case;

/* A table; not copied, so it is a static constant. Types that are not in it are UNHANDLED. */
typedef struct weir_cases {
    const weir_case *rows;
    size_t count;
} weir_cases;
#define WEIR_CASES(array)                                                                          \
    {                                                                                              \
        (array), sizeof(array) / sizeof((array)[0])                                                \
    }

typedef struct weir_processor_options {
    size_t struct_size;
    const char *name;       /* unique; default none: shown as #index.generation */
    const char *dispatcher; /* default "" */
    weir_handler handler;   /* this ... */
    weir_cases cases;       /* ... or this; both or none: E_INVALID */
    weir_handler unhandled; /* sees what was UNHANDLED; its status counts then */

    /* State: with state_size, weir owns zeroed memory of that size, init fills it (from
     * `argument`), destroy empties it. Without, `argument` itself is the state. Both run alone, on
     * a thread of the dispatcher: init before the first event, destroy after the last, and only if
     * init succeeded, thus answered OK or ALREADY. A failed init before or during weir_engine_start
     * is the error of that call; later it stops the processor, and what waited is dead. destroy
     * gets why: OK stopped, else the failure. In destroy no turn is left: it cannot post. What a
     * failed start, or a stop that ran out of time, could not end in a turn is destroyed by the
     * thread that calls start or destroy. */
    void *argument;
    size_t state_size;
    weir_status (*init)(void *state, weir_turn *turn, void *argument);
    void (*destroy)(void *state, weir_status reason);

    uint32_t mailbox_max; /* default the engine's; so the three below */
    weir_overflow overflow;
    weir_ns block_max;
    uint32_t batch_max;
    weir_processor parent; /* stops its children first */
    bool dedicated;        /* a dispatcher and a thread of its own; `dispatcher` must be NULL */

    /* Event time: the time of an event is what this answers, and the processor's clock is the
     * latest of those times, from 0 on. weir_turn_now answers it, weir_turn_trigger_after counts on
     * it, and what is due by the time of an event is handled before it, in the turn at hand,
     * earliest first: a replayed stream gives the same result at any speed. Such triggers are part
     * of the event that brought the time along: counted as `triggers`, not as events, bounded by
     * mailbox_max. What no event makes due is never handled. A trigger that fails is the failure of
     * the event that made it due, unless on_failure is to resume. */
    weir_ns (*event_time)(void *state, const weir_event *event);

    weir_directive on_failure; /* weir/supervise.h; default WEIR_RESUME */
    uint32_t retry_max;        /* default 3; 1..1,000,000 */
    weir_ns retry_delay;       /* the first one; they double; default 10 ms; at most 1 h */
    weir_directive retry_then; /* default WEIR_RESUME; not WEIR_RETRY */
    uint32_t restart_max;      /* restarts within ...; default 3; 1..1,000 */
    weir_ns restart_window;    /* ... this time, then it stops; default 10 s */
    weir_ns retry_delay_max;   /* of those that have doubled; default and at most 1 h */
} weir_processor_options;

#define WEIR_PROCESSOR_OPTIONS_INIT WEIR_SIZED(weir_processor_options)
#define WEIR_PROCESSOR(...) WEIR_OPTIONS(weir_processor_options, __VA_ARGS__)

/* Control; never waits for init. May be posted to at once. Zero on error; the error of an unknown
 * dispatcher lists the valid ones. */
WEIR_API weir_processor weir_processor_add(weir_engine *engine,
                                           const weir_processor_options *options,
                                           weir_error *error);

/* Control. All or none; fills out[0..count). Options by pointer, so that their size may differ. */
WEIR_API weir_status weir_processor_add_many(weir_engine *engine,
                                             const weir_processor_options *const *options,
                                             size_t count, weir_processor *out, weir_error *error);

/* Control. Zero: no such name. */
WEIR_API weir_processor weir_processor_find(weir_engine *engine, const char *name);

/* Control. Writes the name, or "#index.generation", cut at `size`; returns the full length, 0 if
 * gone. */
WEIR_API size_t weir_processor_name(weir_engine *engine, weir_processor processor, char *out,
                                    size_t size);

/* Control. Calls `visit` with each processor there is, until it answers false. What comes or goes
 * meanwhile may be missed. */
WEIR_API void weir_processor_visit(weir_engine *engine,
                                   bool (*visit)(void *context, weir_processor processor),
                                   void *context);

/*
 * Control. Puts it onto another dispatcher; nothing is lost, and its events keep their order. Every
 * turn that begins after this has returned is run by a thread of the new one; a turn under way at
 * the call, which may be the caller's own, ends where it is, with what comes in time for it. Name,
 * mailbox and batch stay, and so do its children where they are. ALREADY: it is there. UNKNOWN:
 * gone. E_INVALID: it is dedicated, no thread serves that dispatcher (the error lists the valid
 * ones), or the engine is stopped.
 */
WEIR_API weir_status weir_processor_move(weir_engine *engine, weir_processor processor,
                                         const char *dispatcher, weir_error *error);

/* Control. Writes the name of the dispatcher that it is on, cut at `size`; 256 bytes hold every
 * one. UNKNOWN: gone. E_INVALID: it is dedicated, and its dispatcher has no name. */
WEIR_API weir_status weir_processor_dispatcher(weir_engine *engine, weir_processor processor,
                                               char *out, size_t size);

/* Any. weir_turn_become and weir_turn_unbecome from outside: takes a place in the mailbox like a
 * post, with a post's statuses, and takes effect in that order. One that cannot be carried out
 * (E_LIMIT, E_NOMEM) is dead, like an event whose handler failed. */
WEIR_API WEIR_MUST_CHECK weir_status weir_processor_request_become(weir_engine *engine,
                                                                   weir_processor processor,
                                                                   weir_handler handler, bool keep);
WEIR_API WEIR_MUST_CHECK weir_status weir_processor_request_become_cases(weir_engine *engine,
                                                                         weir_processor processor,
                                                                         const weir_cases *cases,
                                                                         bool keep);
WEIR_API WEIR_MUST_CHECK weir_status weir_processor_request_unbecome(weir_engine *engine,
                                                                     weir_processor processor);

/*
 * Blocking; timeout 0 = 30 s. Children first, each drained; then it refuses new events, drains,
 * unregisters. The report covers it and its children. TIMEOUT: the report says how many are left;
 * they are never handled, and it unregisters as soon as a handler that is under way has returned.
 * Overlapping stops all get the same answer; the first one's timeout counts. UNKNOWN: gone. An
 * engine that was not started has no thread to drain it: what waits is left, and it unregisters
 * when the engine starts or ends.
 */
WEIR_API weir_status weir_processor_stop(weir_engine *engine, weir_processor processor,
                                         weir_ns timeout, weir_stop_report *report);

/* Any, a handler on itself too. Begins that stop. ALREADY: it has begun. UNKNOWN: gone. */
WEIR_API weir_status weir_processor_stop_async(weir_engine *engine, weir_processor processor,
                                               weir_ns timeout);

#ifdef __cplusplus
}
#endif

#endif /* WEIR_PROCESSOR_H */
