/*
 * engine/request.h - a call in a turn of a processor, asked for from outside and ordered with its
 * mail.
 *
 * It is an event of weir's own (engine/own.h): takes a place, is counted, and may be refused as a
 * post may. What it carries is given back exactly once, whatever becomes of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_REQUEST_H
#define WEIR_ENGINE_REQUEST_H

#include "weir/turn.h"

typedef struct weir__turn_request {
    /* The turn; at most once. OK, or what engine/halt.h has. */
    weir_status (*run)(void *argument, weir_turn *turn);
    /* Any thread, once: after run, or when it is certain that run will not come (refused, dropped,
     * dead, left). Brief: takes no lock. */
    void (*over)(void *argument);
    void *argument;
} weir__turn_request;

/* Any. The statuses of a post; `over` comes with all of them, perhaps before this returns. */
weir_status weir__processor_request(weir_engine *engine, weir_processor processor,
                                    const weir__turn_request *request);

#endif /* WEIR_ENGINE_REQUEST_H */
