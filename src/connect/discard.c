/*
 * connect/discard.c - the sink `discard`: counts what it gets, and that is all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "connect/meter.h"
#include "connect/types.h"

enum { EVENTS, BYTES };
static const char *const figures[] = { "events", "bytes", NULL };

typedef struct discard {
    weir__meter meter;
} discard;

static weir_status init(void *state, weir_component *self, const void *config, weir_error *error)
{
    (void)config;
    (void)error;
    weir__meter_open(&((discard *)state)->meter, self, "discard", figures);
    return WEIR_OK;
}

static weir_status handler(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    discard *n = state;
    weir__meter_add(&n->meter, EVENTS, 1);
    weir__meter_add(&n->meter, BYTES, event->size);
    return WEIR_OK;
}

static void tear_down(void *state, weir_component *self)
{
    (void)self;
    weir__meter_close(&((discard *)state)->meter);
}

const weir_component_type weir__discard_type = {
    .struct_size = sizeof(weir_component_type),
    .kind = WEIR_KIND_SINK,
    .name = "discard",
    .help = "counts what it gets, and that is all",
    .state_size = sizeof(discard),
    .init = init,
    .tear_down = tear_down,
    .handler = handler,
};
