/*
 * weir/engine.h - the engine: owns everything else; several may live in one process.
 *
 *     create -> add threads, processors -> start -> post ... -> stop -> destroy
 *               (also while it runs)                          (drains)
 *
 * Calls on one engine may overlap freely, except that destroy overlaps nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_H
#define WEIR_ENGINE_H

#include "weir/error.h"
#include "weir/event.h"
#include "weir/log.h"
#include "weir/thread.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a full mailbox does with one event more. */
typedef enum weir_overflow {
    WEIR_OVERFLOW_DEFAULT = 0, /* the engine's; there: fail */
    WEIR_OVERFLOW_FAIL,        /* FULL */
    WEIR_OVERFLOW_DROP_NEWEST, /* DROPPED: accepted, counted, gone */
    WEIR_OVERFLOW_DROP_OLDEST, /* OK; the oldest is counted and gone. DROPPED, rarely: it cannot be
                                  got at (its sender is stopped midway, all places are promised) */
    WEIR_OVERFLOW_BLOCK /* wait up to block_max, then FULL; on an engine thread FULL at once */
} weir_overflow;

/* Whether a handler or hook that crashes is named on stderr before the process dies of it:
 * processor, event, thread, the last 32 events of that thread, stack. For that, a signal handler of
 * weir's stands in front of whatever SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP and SIGABRT lead to,
 * from the first engine's create to the last one's destroy. After the report it puts that back, and
 * the same signal comes again. docs/guide/errors.md has an example. */
typedef enum weir_crash_report {
    WEIR_CRASH_REPORT_DEFAULT = 0, /* on */
    WEIR_CRASH_REPORT_ON,
    WEIR_CRASH_REPORT_OFF
} weir_crash_report;

typedef struct weir_engine_options {
    size_t struct_size;
    const char *name;          /* for logs and metrics; default "weir" */
    uint32_t threads;          /* on the default dispatcher ""; default 1, or 0 if a thread was
                                  added first (before start, and before a processor on "");
                                  1..1,024 */
    uint32_t mailbox_max;      /* events a mailbox; default 10,000; 1..1,000,000 */
    weir_overflow overflow;    /* default fail */
    weir_ns block_max;         /* for overflow = block; default 1 s */
    uint32_t batch_max;        /* events a turn; default 64; 1..65,535 */
    uint32_t processors_max;   /* at once; default 2,000,000; 1..16,000,000 */
    uint64_t block_bytes_max;  /* bound on all blocks; default 256 MiB */
    weir_ns backoff_base;      /* after a round of failed try-locks; default 10 us */
    weir_ns backoff_max;       /* default 10 ms; more than the base, at most 1 h */
    double backoff_multiplier; /* default 1.5; > 1, at most 100 */
    double backoff_jitter;     /* 0 (default) .. 1: so much of each delay is random */
    weir_log_hook log;         /* default: stderr, logfmt */
    void *log_context;
    weir_log_level log_level;        /* default warning */
    const weir_allocator *allocator; /* copied; default the C library's */
    weir_crash_report crash_report;  /* default on */
    uint32_t scheduler_threads;      /* timer wheels and their threads, each started by the first
                                        timer that needs it; default 2; 1..64 */
    uint32_t timers_max;             /* pending at once; a processor that has asked holds one;
                                        default 1,000,000; 1..16,000,000 */
    weir_ns stuck_after;    /* a handler or hook that runs longer is reported in the log, with its
                            processor, event, thread and stack, and again at growing intervals;
                            default 5 s; at least 1 ms; WEIR_FOREVER: never. For the stack its
                            thread gets a SIGURG: see docs/guide/errors.md */
    uint32_t channels_max;  /* that can be opened; default 65,536; 1..1,000,000 */
    uint32_t latency_every; /* one event in so many is measured (weir/latency.h); while no processor
                               is switched on and no trace runs, one in eight times as many;
                               default 64; below that always so many, 1: each; UINT32_MAX: none */
    uint32_t latency_max_processors; /* that are measured at once; default 1,000; 1..100,000 */
    const weir_helper_options *scheduler_thread; /* of the timers' threads; copied, so the next */
    const weir_helper_options *helper_thread;    /* of those that watch and keep */
} weir_engine_options;

#define WEIR_ENGINE_OPTIONS_INIT WEIR_SIZED(weir_engine_options)
#define WEIR_ENGINE(...) WEIR_OPTIONS(weir_engine_options, __VA_ARGS__)

/* What a stop found. accepted = handled + dropped + dead + left, counted over the thing's life. */
typedef struct weir_stop_report {
    size_t struct_size;
    uint64_t accepted, handled, dropped, dead, left;
} weir_stop_report;
#define WEIR_STOP_REPORT_INIT WEIR_SIZED(weir_stop_report)

/* Any. Prints "9 accepted = 7 handled + 1 dropped + 1 dead + 0 left" to stdout. Returns 0 if that
 * is so and nothing is left, else 1: fit for main's return. */
WEIR_API int weir_stop_report_print(const weir_stop_report *report);

/* Control. NULL on error. Starts no thread. */
WEIR_API weir_engine *weir_engine_create(const weir_engine_options *options, weir_error *error);

/* Blocking. Threads run, every processor has passed its init, when it returns OK. What was
 * posted before is handled now. On error nothing runs, and `error` names the component. ALREADY:
 * running; STOPPING: stopped before, and not to be started again. With external threads only, their
 * inits run in the first weir_thread_run_once, and a failing one stops that processor. */
WEIR_API weir_status weir_engine_start(weir_engine *engine, weir_error *error);

/*
 * Blocking; timeout 0 = 30 s. From the call on, posts from outside answer STOPPING; posts by
 * handlers are accepted until nothing is in flight, then everything closes in one step: children
 * before parents, destroy hooks on their own threads, threads joined. OK: drained; `left` is what
 * stops of single processors have left before. TIMEOUT: the report says how many; an event whose
 * handler has not returned counts as left, and so does what endless senders kept in flight.
 * ALREADY: another stop has done it; same report. `report` may be NULL. A start that is under way
 * ends first. An external thread must be turned meanwhile: on the thread that turns it use the form
 * below.
 */
WEIR_API weir_status weir_engine_stop(weir_engine *engine, weir_ns timeout,
                                      weir_stop_report *report);

/* Any, handlers too. Begins that stop; weir_engine_wait sees its end. ALREADY: it has begun. */
WEIR_API weir_status weir_engine_stop_async(weir_engine *engine, weir_ns timeout);

/* Blocking; 0 = for ever. Waits until some stop has ended. OK: it has, and the report says what it
 * found. TIMEOUT: this wait's time was over first; the report is zero. */
WEIR_API weir_status weir_engine_wait(weir_engine *engine, weir_ns timeout,
                                      weir_stop_report *report);

/* Blocking. Stops if needed, waits for a handler that has still not returned, frees everything.
 * NULL is a no-op. Not inside a handler (then it does nothing but log); overlaps nothing. */
WEIR_API void weir_engine_destroy(weir_engine *engine);

/*
 * Posting from outside. In a handler use weir_turn_post: it knows the sender. One thread's posts to
 * one receiver arrive in order. OK: handled or counted, exactly once. DROPPED: accepted, counted.
 * FULL, STOPPING, UNKNOWN, E_NOMEM, E_TYPE, E_INVALID: not accepted. The caller's payload and block
 * are the caller's as before, whatever the status.
 */

/* Any. Waits only for a mailbox whose policy is block, and never on an engine thread. */
WEIR_API WEIR_MUST_CHECK weir_status weir_engine_post(weir_engine *engine, weir_processor to,
                                                      const weir_event *event);

/* Any. Posts event->block without a copy and releases the caller's reference, whatever the status
 * (take one more before if you mean to try again). */
WEIR_API WEIR_MUST_CHECK weir_status weir_engine_commit(weir_engine *engine, weir_processor to,
                                                        const weir_event *event);

/* Blocking; timeout 0 = 5 s. Asks from an ordinary thread: whoever gets the event answers it with
 * weir_turn_reply(turn, event->from, ...), now or in a later turn. OK: *reply is the answer, yours
 * until weir_event_release. TIMEOUT: none came in time; one that comes later is refused there.
 * STOPPING: the engine stops; none will come. DROPPED: the question was, by its receiver's policy.
 * E_BLOCKING: inside a handler or hook, where weir_turn_ask is the way. E_LIMIT: too many threads
 * wait. Else the status of the post, which waits first where the policy is block. Unless OK, *reply
 * is zero. */
WEIR_API WEIR_MUST_CHECK weir_status weir_engine_ask(weir_engine *engine, weir_processor to,
                                                     const weir_event *event, weir_ns timeout,
                                                     weir_event *reply);

/* Any. Many in one call: events[i] to to[i], or all to to[0] if `to_count` is 1. statuses[i] (may
 * be NULL) tells each; returns how many were accepted. Order is kept; at most one wake-up a target.
 * A mailbox that is full refuses (`block` does not wait here), and then refuses the rest of what
 * follows for it in a row: what was accepted of that is its beginning. */
WEIR_API WEIR_MUST_CHECK size_t weir_engine_post_batch(weir_engine *engine,
                                                       const weir_processor *to, size_t to_count,
                                                       const weir_event *const *events,
                                                       size_t count, weir_status *statuses);

/* Control. A preallocated ring of `capacity` values (0 = 64, at most 65,536) towards `to`; zero on
 * error. Lives as long as the engine; at most 64 in a process. */
WEIR_API weir_signal weir_signal_open(weir_engine *engine, weir_processor to, uint32_t capacity,
                                      weir_error *error);

/* Any, and async-signal-safe: the one call for signal handlers. `to` gets a weir_signal_type event
 * whose payload is that uint64_t. FULL: the ring or the mailbox is; counted. errno is kept. */
WEIR_API weir_status weir_signal_post(weir_signal signal, uint64_t value);
WEIR_API extern const weir_event_type weir_signal_type;

/* Any. The engine's monotonic clock. */
WEIR_API weir_ns weir_time_now(const weir_engine *engine);

#ifdef __cplusplus
}
#endif

#endif /* WEIR_ENGINE_H */
