/*
 * engine/request.c - a call in a turn.
 *
 * The request travels in a block whose type has a drop hook: so the engine itself sees to it that
 * `over` comes once, also for events that are evicted, refused, dead or left.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/request.h"

#include "engine/own.h"
#include "engine/post.h"

static weir_status serve(void *state, weir_turn *turn, const weir_event *event)
{
    const weir__turn_request *r = event->data;
    (void)state;
    return r->run(r->argument, turn);
}

static void drop(void *payload)
{
    const weir__turn_request *r = payload;
    r->over(r->argument);
}

static const weir__own_type request_type = {
    { sizeof(weir_event_type), "weir.request", (uint32_t)sizeof(weir__turn_request), false, drop,
      NULL },
    serve,
    true,
};

weir_status weir__processor_request(weir_engine *engine, weir_processor processor,
                                    const weir__turn_request *request)
{
    weir__posting by;
    weir_block *block = NULL;
    weir_status status = weir__post_outside(engine, &by) ? WEIR_OK : weir__post_why_not(engine);
    if (status == WEIR_OK) {
        status = weir_block_reserve(engine, sizeof(*request), &block);
    }
    if (status != WEIR_OK) {
        request->over(request->argument);
        return status;
    }
    weir__turn_request *carried = weir_block_data(block);
    *carried = *request;
    by.marks = WEIR__ENVELOPE_OWN;
    const weir_event event = { .type = &request_type.type,
                               .data = carried,
                               .block = block,
                               .size = (uint32_t)sizeof(*carried) };
    return weir__post_commit(&by, processor, &event);
}
