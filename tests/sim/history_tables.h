/*
 * history_tables.h - the facts of a run as history.c writes them and history_sums.c adds them up.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TESTS_SIM_HISTORY_TABLES_H
#define WEIR_TESTS_SIM_HISTORY_TABLES_H

#include "history.h"

typedef struct send {
    uint32_t sender, to;
    history_kind kind;
    uint64_t begin, end; /* of the call; end 0: not yet */
    uint64_t began;      /* its handler; 0: never */
    bool done, failed;   /* the handler has returned; with an error */
    bool again;          /* with an error, and it is to come again */
    uint32_t tries;
    bool must_fail; /* it was too late before it began */
    weir_status status;
} send;

typedef enum hook { HOOK_NEVER, HOOK_RUNS, HOOK_OK, HOOK_FAILED } hook;

#define NOBODY UINT32_MAX
#define IN_A_HOOK (UINT32_MAX - 1)

typedef struct processor {
    history_rules rules;
    uint32_t running; /* the send that is handled, IN_A_HOOK, NOBODY */
    hook init, destroy;
    uint64_t stop_begun, stop_over;        /* 0: never */
    bool may_be_late;                      /* one handler may begin after the stop was over */
    uint32_t again;                        /* the send that must come next, + 1; 0: any */
    uint32_t waiting;                      /* accepted for certain, not begun */
    uint32_t newest;                       /* the last accepted send + 1 */
    uint32_t last_of[HISTORY_SENDERS_MAX]; /* of each sender: the last that was begun, + 1 */
} processor;

typedef struct stop {
    uint32_t scope;
    bool waits, reported;
    uint64_t begin, end;
    weir_status status;
    weir_stop_report report;
} stop;

typedef struct history_run {
    uint64_t clock; /* counts facts */
    uint32_t sends, processors, stops;
    uint64_t answers_stopping, answers_unknown; /* that were refused so */
    uint32_t unhandled;                         /* accepted for certain, not done */
    bool memory_may_run_out, memory_is_weak, started;
    uint64_t stop_begun, stop_over; /* of the engine; 0: never */
    uint64_t outside_closed;        /* somebody outside was told so, or may rely on it */
    uint32_t outside_closed_to;     /* that one */
    uint32_t failures;              /* of handlers */
    char text[256];
} history_run;

extern send sends[HISTORY_SENDS_MAX];
extern processor processors[HISTORY_PROCESSORS_MAX];
extern stop stops[HISTORY_STOPS_MAX];
extern history_run run;

/* Says which promise is broken, and how. */
history_verdict broken(const char *format, ...) __attribute__((format(printf, 1, 2)));

static inline bool is_accepted(weir_status status)
{
    return status == WEIR_OK || status == WEIR_DROPPED;
}

/* Its init has failed, or somebody's failure may have ended it. */
static inline bool may_have_failed(const processor *p)
{
    return p->init == HOOK_FAILED || (p->rules.may_fail && run.failures > 0);
}

static inline bool is_evicting(const processor *p)
{
    return p->rules.overflow == WEIR_OVERFLOW_DROP_OLDEST;
}

/* Is `one` the processor `scope`, or below it? */
static inline bool belongs(uint32_t one, uint32_t scope)
{
    if (scope == HISTORY_ENGINE) {
        return true;
    }
    while (one != scope && one != HISTORY_NO_PARENT) {
        one = processors[one].rules.parent;
    }
    return one == scope;
}

#endif /* WEIR_TESTS_SIM_HISTORY_TABLES_H */
