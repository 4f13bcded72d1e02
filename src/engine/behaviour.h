/*
 * engine/behaviour.h - the stack of handlers of a processor.
 *
 * The handler on top is where an event looks for it (processor->handler, or behind the one that
 * keeps event time); what lies below, and what it was registered with, is kept beside. All of it is
 * the owner's: requests from outside come as events of weir's own (engine/own.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_BEHAVIOUR_H
#define WEIR_ENGINE_BEHAVIOUR_H

#include "engine/processor.h"

/* On one stack, the base included. */
#define WEIR__BEHAVIOURS_MAX 1024u

typedef struct weir__behaviour {
    weir_handler handler; /* that of tables, if it is one */
    weir_cases cases;
} weir__behaviour;

typedef struct weir__behaviours {
    weir__behaviour registered; /* for a restart */
    uint32_t depth;             /* of those below the top */
    uint32_t capacity;
    weir__behaviour below[];
} weir__behaviours;

/* Owner. Who handles its events at this moment. */
weir_handler weir__behaviour_top(weir__processor *processor);

/* Owner. Back to the handler that it was registered with. */
void weir__behaviour_reset(weir__processor *processor);

/* Nobody uses it any more. */
void weir__behaviours_free(weir_engine *engine, weir__behaviours *behaviours);

#endif /* WEIR_ENGINE_BEHAVIOUR_H */
