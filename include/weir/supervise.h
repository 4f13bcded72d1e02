/*
 * weir/supervise.h - what happens when a handler says that it failed, and who hears of an end.
 *
 * A failed event ends as exactly one dead letter, with its reason, under every directive. Later
 * events of the same mailbox wait behind one that is tried again, so order is kept; no thread
 * sleeps for it.
 *
 * A processor watches another (weir_turn_watch), and gets one event when that one has ended,
 * whatever the reason. When it arrives the other is gone: its destroy hook has run, its name is
 * free, a post to it answers UNKNOWN, and what it ever sent to the watcher came before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SUPERVISE_H
#define WEIR_SUPERVISE_H

#include "weir/event.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What a processor does about a failure. The event at hand is dead, but for RETRY, which comes to
 * that later.
 *
 * RETRY handles the same event again, after retry_delay, twice that, four times that ..., never
 * more than retry_delay_max, at most retry_max times; then retry_then. Without memory for a timer
 * it does not wait. A stop of the engine does not wait for a delay either: the event is handled at
 * once, for the last time.
 *
 * RESTART stops the children, if there are any, and waits for their end; then destroy (with the
 * reason) and init run as at the beginning, with zeroed state and the handler that it was
 * registered with. Mailbox, name, handle, subscriptions, watches and timers stay, so that an init
 * that subscribes or watches is answered ALREADY now, which is no failure. More than restart_max
 * within restart_window, or an init that fails: it stops.
 *
 * STOP ends it as weir_processor_stop does, children first, but what waits in its mailbox is dead.
 *
 * ESCALATE makes it the failure of its parent, whose own directive decides for both (RETRY: its
 * retry_then); until then it handles nothing. RESUME there means that it goes on with its next
 * event; else it ends before its parent is restarted or stopped, and what waits is dead. Without a
 * parent: STOP.
 */
typedef enum weir_directive {
    WEIR_RESUME = 0, /* go on with the next event */
    WEIR_RETRY,
    WEIR_RESTART,
    WEIR_STOP,
    WEIR_ESCALATE
} weir_directive;

/* Payload of weir_down_type, asked for by weir_turn_watch. The event's sender is the processor. */
typedef struct weir_down {
    weir_processor processor;
    weir_status reason; /* OK: it was stopped; TIMEOUT: its stop ran out of time; UNKNOWN: it was
                           gone when it was watched; else why it failed */
    uint32_t left;      /* events of its mailbox that became dead or left at its end */
    char text[112];     /* of weir_turn_fail, cut; "" if there was none */
} weir_down;
WEIR_API extern const weir_event_type weir_down_type;

#ifdef __cplusplus
}
#endif

#endif /* WEIR_SUPERVISE_H */
