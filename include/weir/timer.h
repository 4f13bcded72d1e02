/*
 * weir/timer.h - events later: once, at a moment, or again and again. Never early; a million
 * pending; add and cancel take the same time however many there are.
 *
 *     weir_timer_add(engine, to, WEIR_EMPTY(tick), WEIR_TIMER(.every = 100 * WEIR_MS), &timer);
 *
 * Time is the engine's monotonic clock (weir_time_now): setting the system's date moves no timer.
 * In a handler, weir_turn_trigger_after (weir/turn.h) is the short way. docs/guide/time.md has
 * more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TIMER_H
#define WEIR_TIMER_H

#include "weir/event.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a timer stands, or how it ended; for a hook: what became of one time. */
typedef enum weir_timer_outcome {
    WEIR_TIMER_PENDING = 0,    /* it has not ended */
    WEIR_TIMER_POSTED,         /* its event is in the mailbox; without an event: this is the call */
    WEIR_TIMER_CANCELLED,      /* by weir_timer_cancel, or by the engine's stop */
    WEIR_TIMER_FAILED_UNKNOWN, /* the receiver is gone or stopping; a repeating one ends with it */
    WEIR_TIMER_FAILED_FULL,    /* the receiver was full; a repeating one goes on */
    WEIR_TIMER_FAILED_OTHER    /* no memory for the event; a repeating one goes on */
} weir_timer_outcome;

/* Any. "posted", "failed-full"; unknown numbers have a text too. */
WEIR_API const char *weir_timer_outcome_name(weir_timer_outcome outcome);

/* Runs on a scheduler thread, like a handler: may post, add and cancel timers, must not wait. To be
 * kept short: other timers wait behind it. */
typedef void (*weir_timer_hook)(void *context, weir_timer timer, weir_timer_outcome outcome);

typedef struct weir_timer_options {
    size_t struct_size;
    weir_ns after;    /* the first time, from now (WEIR_NOW: at once) ... */
    weir_ns at;       /* ... or at this moment of weir_time_now's clock; default `every` */
    weir_ns every;    /* and again: at least 1 us; default: once */
    bool fixed_delay; /* the next time is counted from this one's post or call, and not from when
                             it was due. Else: a fixed rate, without drift; times that would be in
                             the past already are skipped and counted as missed */
    bool reserve;     /* take its place in the mailbox now: it cannot be refused when due. Once
                             only */
    uint64_t tag;     /* comes back in event->tag */
    weir_timer_hook hook; /* without an event: called when due; with one: told what became of each
                             time, and of a stop of the engine that cancels it */
    void *context;
} weir_timer_options;

#define WEIR_TIMER_OPTIONS_INIT WEIR_SIZED(weir_timer_options)
#define WEIR_TIMER(...) WEIR_OPTIONS(weir_timer_options, __VA_ARGS__)

/*
 * Any. `to` gets the event each time; its sender is `to` itself. The payload is copied or its block
 * shared, as in a post. `event` NULL: only the hook is called, and `to` counts for nothing. `out`
 * may be NULL. The first timer of a thread may start a scheduler thread.
 *
 * UNKNOWN: no such receiver. FULL: only with `reserve`. STOPPING: the engine is, and has cancelled
 * those that were pending. E_LIMIT: so many are pending as weir_engine_options.timers_max allows.
 * E_INVALID: neither event nor hook, no time, two first times, a time in the past of zero, `every`
 * below 1 us, `reserve` with `every` or without an event. E_TYPE, E_NOMEM, E_SYSTEM.
 */
WEIR_API WEIR_MUST_CHECK weir_status weir_timer_add(weir_engine *engine, weir_processor to,
                                                    const weir_event *event,
                                                    const weir_timer_options *options,
                                                    weir_timer *out);

/* Any, at any time, also while it fires, also in its own hook. Its memory is free when this
 * returns. OK: it came in time, nothing comes (any more). LATE: its last event was posted before,
 * or is being posted, and nothing comes after that. UNKNOWN: cancelled before, or ended long ago.
 * E_NOMEM: this thread has never called weir before, and there is no memory; nothing has happened.
 * */
WEIR_API weir_status weir_timer_cancel(weir_engine *engine, weir_timer timer);

/* Any. How it stands, or how it ended. UNKNOWN: it ended so long ago that nothing is known of it:
 * some 2,000 later ones have ended, or its memory was given back. */
WEIR_API weir_status weir_timer_outcome_get(weir_engine *engine, weir_timer timer,
                                            weir_timer_outcome *outcome);

/* Of timers that come once:
 *     added = pending + posted + cancelled + stopped + failed_unknown + failed_full + failed_other
 * (one that is being posted at this moment apart). Repeating ones count each time. */
typedef struct weir_timer_counters {
    size_t struct_size;
    uint64_t added;
    uint64_t pending;   /* now */
    uint64_t posted;    /* events, and calls of hooks without one */
    uint64_t cancelled; /* by weir_timer_cancel ... */
    uint64_t stopped;   /* ... by the engine's stop */
    uint64_t failed_unknown, failed_full, failed_other;
    uint64_t missed;                                 /* times that were skipped: see fixed_delay */
    weir_ns late_p50, late_p99, late_p999, late_max; /* how late they came, to 1 % */
    uint64_t bytes;                                  /* memory for timers, now */
} weir_timer_counters;
#define WEIR_TIMER_COUNTERS_INIT WEIR_SIZED(weir_timer_counters)

/* Control. */
WEIR_API weir_status weir_timer_counters_get(weir_engine *engine, weir_timer_counters *out);

#ifdef __cplusplus
}
#endif

#endif /* WEIR_TIMER_H */
