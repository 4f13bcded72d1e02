/*
 * weir/supervise.h - what happens when a processor ends, and who hears of it.
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
