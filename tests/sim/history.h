/*
 * history.h - what happened in a run, written down by those it happened to, and the promises that
 * it must keep.
 *
 * The checker knows nothing of the engine: it is told by the scenario's own wrappers (scenario.h)
 * when a call begins and ends and when a handler does, and says which promise is broken as soon as
 * one is. There is one OS thread, so the order of the facts is the order in which they happened.
 *
 *     P-1  one handler or hook of a processor at a time      P-5  never more waiting than the bound
 *     P-2  in order, for each sender and receiver            P-6  every status has its reason
 *     P-3  accepted = handled once, or counted               P-7  gone stays gone
 *     P-4  (by stage_settle: waits until all is handled)     P-8  a stop drains, then nothing more
 *
 * Every call answers NULL, or the broken promise in words; the words live until the next reset.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TESTS_SIM_HISTORY_H
#define WEIR_TESTS_SIM_HISTORY_H

#include "weir/weir.h"

#define HISTORY_PROCESSORS_MAX 64u
#define HISTORY_SENDS_MAX 8192u
#define HISTORY_STOPS_MAX 32u
#define HISTORY_ENGINE UINT32_MAX /* as a stop's scope */
#define HISTORY_NO_PARENT UINT32_MAX
#define HISTORY_OUTSIDE 64u /* + the number of a thread: a sender that is no processor */
#define HISTORY_SENDERS_MAX (HISTORY_OUTSIDE + 32u)

typedef const char *history_verdict;

void history_reset(bool memory_may_run_out, bool memory_is_weak);

/* ---- processors ---- */

typedef struct history_rules {
    uint32_t mailbox_max;
    weir_overflow overflow;
    uint32_t parent; /* HISTORY_NO_PARENT */
    bool has_init, has_destroy;
    uint32_t retry_max; /* a failed event comes again, so many times, and nothing else before it */
    bool restarts;      /* after a failure destroy and init may run again */
    bool may_fail;      /* a failure, its own or a relative's, may end it: what waits is dead */
} history_rules;

/* Its number: 0, 1, 2 ... */
uint32_t history_processor(const history_rules *rules);

/* ---- sends: posts, and whatever else arrives as an event ---- */

typedef enum history_kind {
    HISTORY_POST,
    HISTORY_ROOM,   /* want_room, watch: owed from the call on, comes when it comes: no order */
    HISTORY_ASK,    /* what comes back to a question: the same, and it does come */
    HISTORY_SIGNAL, /* by weir_signal_post: its ring is a sender of its own */
    HISTORY_TIMER   /* comes when it is due, and ALREADY is: cancelled in time */
} history_kind;

/* The send's number; the event carries it. */
uint32_t history_send_begins(uint32_t sender, uint32_t to, history_kind kind);
history_verdict history_send_ends(uint32_t number, weir_status status);
/* What was owed is owed no more: it must not come. */
void history_send_withdrawn(uint32_t number);

/* A question was answered, or that was refused. */
history_verdict history_answered(weir_status status);

/* ---- handlers and hooks ---- */

history_verdict history_handler_begins(uint32_t number, uint32_t send_number);
history_verdict history_handler_ends(uint32_t number, uint32_t send_number, weir_status status);
history_verdict history_init_begins(uint32_t number);
history_verdict history_init_ends(uint32_t number, weir_status status);
history_verdict history_destroy_begins(uint32_t number);
history_verdict history_destroy_ends(uint32_t number);

/* ---- start and stops ---- */

void history_starts(void);
/* The stop's number. `waits`: the call returns when the stop is over. */
uint32_t history_stop_begins(uint32_t scope, bool waits);
/* `report`: NULL if the form of the call has none. */
history_verdict history_stop_ends(uint32_t number, weir_status status,
                                  const weir_stop_report *report);

/* ---- the end ---- */

/* Accepted, and not yet handled: 0 is rest. For drop-oldest only the newest is waited for. */
uint32_t history_pending(void);
/* The engine is stopped and every call has ended: the sums, against the engine's counters. */
history_verdict history_ends(const weir_counters *c);

#endif /* WEIR_TESTS_SIM_HISTORY_H */
