/*
 * engine/supervise.h - what becomes of a processor whose handler failed.
 *
 * Everything is done by the owner, in turns. Three directives need somebody else first: a retry the
 * clock, a restart the end of the children, an escalation the parent. Until then the processor is
 * put *aside*: its mailbox stays READY, so that no poster queues it, and it is in no queue. Who it
 * waits for pushes it. That handing over is the very last step of a turn (weir__supervise_aside).
 *
 *     retry       the event is copied into `held`, the CONTROL_RETRY bit says so; a timer's hook
 *                 pushes
 *     restart     restart_waits, under registry.lock; the last child that ends pushes
 *     escalate    on the parent's list, under registry.lock, and the parent is nudged; the parent's
 *                 turn pushes, resumed or FAILED
 *
 * A parent that ends, or waits for its children to end, makes no decisions any more: whoever then
 * comes to its list, or is on it, is FAILED. So nobody waits for somebody who waits for him.
 *
 * What is not an event is counted as a hook that is due until it is done, so that a stop of the
 * engine does not take an engine for quiet in which something will still be posted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_SUPERVISE_H
#define WEIR_ENGINE_SUPERVISE_H

#include "engine/turn.h"

typedef enum weir__aside {
    WEIR__ASIDE_NOT,
    WEIR__ASIDE_RETRY,
    WEIR__ASIDE_CHILDREN,
    WEIR__ASIDE_PARENT,
    WEIR__ASIDE_HALT,
} weir__aside;

/* Of a processor that does not just resume. All of it is the owner's, but for the cells. */
typedef struct weir__supervision {
    weir_directive on_failure, retry_then;
    uint32_t retry_max, restart_max;
    weir_ns retry_delay, retry_delay_max, restart_window;
    weir__cell retries, restarts;
    uint32_t tries;         /* of the event that is held */
    weir_status reason;     /* of the failure that is seen to */
    char text[128];         /* the same in words */
    weir__lone held;        /* with the reference to its block */
    weir_timer timer;       /* of its last delay; under registry.lock */
    weir_ns restarted_at[]; /* the last restart_max times, in a ring */
} weir__supervision;

/* Of one that is known to have it. */
static inline weir__supervision *weir__supervision_of(const weir__processor *processor)
{
    return weir__processor_cold_of(processor)->supervision;
}

/* Owner: a failure is the end of its event, and of nothing else. */
static inline bool weir__supervise_resumes(const weir__processor *processor)
{
    const weir__supervision *s = weir__supervision_of(processor);
    return s == NULL || s->on_failure == WEIR_RESUME;
}

/* At registration. NULL: no memory. */
weir__supervision *weir__supervision_make(weir_engine *engine, const weir_processor_options *o);
void weir__supervision_free(weir_engine *engine, weir__supervision *supervision);

/* Owner: the handler of this event failed for that reason. It is seen to, and counted unless it
 * will be tried again. True: the turn goes on. */
bool weir__supervise(weir_turn *turn, weir__envelope *envelope, const weir_event *event,
                     weir_status reason);

/* Owner, at the very end of a turn with turn->aside. True: it is no longer ours. False: there is
 * something to do after all. */
bool weir__supervise_aside(weir_turn *turn);

/* Owner, at the beginning of a turn with any of the bits of supervision, but RETRY. True: events
 * may be handled. */
bool weir__supervise_begin(weir_turn *turn);
#define WEIR__CONTROL_SUPERVISED                                                                   \
    (WEIR__CONTROL_RESTART | WEIR__CONTROL_ESCALATED | WEIR__CONTROL_RESUMED)

/* Owner. The event that is to be handled again; it is still held afterwards, unless `done`. */
weir__envelope *weir__supervise_held(weir__processor *processor);
void weir__supervise_held_done(weir__processor *processor);

/* Owner, about to end: what supervision still had in hand is thrown away. */
void weir__supervise_end(weir_turn *turn);

/* registry.lock held. Nobody will decide for these any more: they fail. */
void weir__supervise_fail_children(weir__context *context, weir__processor *parent);

/* registry.lock held. It is frozen: nobody is to wait for its next try, or for its parent. */
void weir__supervise_hurry(weir_engine *engine, weir__processor *processor);

/* What was counted as due is done. Of one that has FAILED, by its end: so that whoever watches it
 * hears of that before the engine closes. */
void weir__supervise_over(weir__context *context);

/* Nobody is left: the reference of a held event. */
void weir__supervise_bury(weir__context *context, weir__processor *processor);

#endif /* WEIR_ENGINE_SUPERVISE_H */
