/* hello - 10,000 orders cross two dispatchers on three threads; each is handled and answered.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <weir/weir.h>

typedef struct order {
    int number;
} order;
WEIR_EVENT_TYPE(order, "hello.order");
WEIR_EMPTY_TYPE(receipt, "hello.receipt");

struct desk {
    weir_processor orders;
    int receipts;
};

/* A handler never runs on two threads at once: its state needs no lock. */
static weir_status on_order(void *state, weir_turn *turn, const weir_event *event)
{
    *(int *)state += 1;
    return weir_turn_reply(turn, event->from, WEIR_EMPTY(receipt));
}

static weir_status at_desk(void *state, weir_turn *turn, const weir_event *event)
{
    struct desk *desk = state;
    if (weir_event_as(event, &order_type) != NULL) {
        return weir_turn_post(turn, desk->orders, event); /* sent on; the desk gets the answer */
    }
    desk->receipts += 1;
    return WEIR_OK;
}

int main(void)
{
    int handled = 0;
    struct desk desk = { .receipts = 0 };
    weir_error error = WEIR_ERROR_INIT; /* keeps the first error; calls after it do nothing */
    weir_engine *engine = weir_engine_create(NULL, &error);
    weir_assign(engine, /* a row is a thread: the dispatchers that it serves */
                WEIR_ROWS(WEIR_NAMES("api"), WEIR_NAMES("api", "batch"), WEIR_NAMES("batch")),
                &error);
    desk.orders = weir_processor_add(engine,
                                     WEIR_PROCESSOR(.name = "orders", .dispatcher = "api",
                                                    .handler = on_order, .argument = &handled),
                                     &error);
    weir_processor front = weir_processor_add(
        engine,
        WEIR_PROCESSOR(.name = "desk", .dispatcher = "batch", .handler = at_desk, .argument = &desk,
                       .mailbox_max = 20000), /* all orders, all receipts */
        &error);
    weir_engine_start(engine, &error);
    for (int i = 0; i < 10000 && error.status == WEIR_OK; i++) {
        error.status = weir_engine_post(engine, front, WEIR_EVENT(order, .number = i));
    }
    weir_stop_report sums = WEIR_STOP_REPORT_INIT;
    weir_engine_stop(engine, 0, &sums); /* drains: what was accepted is handled by then */
    weir_engine_destroy(engine);
    printf("%d orders handled, %d receipts\n", handled, desk.receipts);
    return weir_stop_report_print(&sums) + weir_error_print(&error);
}
