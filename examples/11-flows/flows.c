/* flows - a counter for each of three keys, side by side on two threads.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <weir/weir.h>

WEIR_EMPTY_TYPE(hit, "flows.hit");
static unsigned hits[4];

static weir_status on_hit(void *state, weir_turn *turn, const weir_event *event)
{
    unsigned *count = state; /* the key's own, zeroed at first; one event at a time: no lock */
    (void)turn;
    hits[event->flow] = ++*count;
    return WEIR_OK;
}

int main(void)
{
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = weir_engine_create(WEIR_ENGINE(.threads = 2), &error);
    weir_router router = weir_router_add(
        engine, WEIR_ROUTER(.name = "hits", .handler = on_hit, .state_size = sizeof(unsigned)),
        &error);
    weir_engine_start(engine, &error);
    for (uint64_t i = 0; i < 600 && error.status == WEIR_OK; i++) {
        error.status = weir_router_submit(engine, router, 1 + i % 3, WEIR_EMPTY(hit));
    }
    weir_engine_destroy(engine); /* drains */
    printf("%u %u %u\n", hits[1], hits[2], hits[3]);
    return weir_error_print(&error);
}
