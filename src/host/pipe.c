/*
 * host/pipe.c - the component type `pipe`: a sink and a feed back to back.
 *
 * What is published in a turn carries the origin of the event at hand, so a position waits for what
 * comes out of the pipe, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "host/host.h"
#include "weir/memory.h"

static weir_status handle(void *state, weir_turn *turn, const weir_event *event)
{
    const weir_component *self = weir__component_of(state);
    (void)turn;
    return weir_feed_publish(weir_component_engine(self), weir_component_feed(self), event);
}

const weir_component_type weir_pipe_type = {
    .struct_size = sizeof(weir_component_type),
    .kind = WEIR_KIND_SINK,
    .name = "pipe",
    .help = "a sink and a feed back to back: publishes what it gets",
    .handler = handle,
    .publishes = true,
    .slow = WEIR_SLOW_BLOCK,
    WEIR_PASSES_ON, /* FULL: again in a while, in order */
};
