/* hello - 10,000 orders cross two dispatchers on three threads; each is handled and answered.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <weir/weir.h>

WEIR_EMPTY_TYPE(order, "hello.order");
WEIR_EMPTY_TYPE(receipt, "hello.receipt");
static weir_processor orders; /* written before the start, read after it */

static weir_status on_order(void *state, weir_turn *turn, const weir_event *event)
{
    ++*(int *)state; /* a handler never runs on two threads at once: no lock */
    return weir_turn_reply(turn, event->from, WEIR_EMPTY(receipt));
}

static weir_status at_desk(void *state, weir_turn *turn, const weir_event *event)
{
    if (weir_event_as(event, &order_type) != NULL) {
        return weir_turn_post(turn, orders, event); /* sent on: the desk gets the answer */
    }
    ++*(int *)state;
    return WEIR_OK;
}

int main(void)
{
    int handled = 0, receipts = 0;
    weir_error error = WEIR_ERROR_INIT; /* keeps the first error; calls after it do nothing */
    weir_engine *engine = weir_engine_create(WEIR_ENGINE(.mailbox_max = 20000), &error);
    weir_assign(engine, /* a row is a thread: the dispatchers that it serves */
                WEIR_ROWS(WEIR_NAMES("api"), WEIR_NAMES("api", "batch"), WEIR_NAMES("batch")),
                &error);
    orders = weir_processor_add(engine,
                                WEIR_PROCESSOR(.name = "orders", .dispatcher = "api",
                                               .handler = on_order, .argument = &handled),
                                &error);
    weir_processor desk = weir_processor_add(
        engine, WEIR_PROCESSOR(.dispatcher = "batch", .handler = at_desk, .argument = &receipts),
        &error);
    weir_engine_start(engine, &error);
    for (int i = 0; i < 10000 && error.status == WEIR_OK; i++) {
        error.status = weir_engine_post(engine, desk, WEIR_EMPTY(order));
    }
    weir_stop_report sums = WEIR_STOP_REPORT_INIT;
    weir_engine_stop(engine, 0, &sums); /* drains: what was accepted is handled by then */
    weir_engine_destroy(engine);
    printf("%d orders handled, %d receipts\n", handled, receipts);
    return weir_stop_report_print(&sums) + weir_error_print(&error);
}
