/*
 * hello - 10,000 orders cross two dispatchers on three threads; each is handled and answered.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <weir/weir.h>

typedef struct order {
    int number;
} order;
WEIR_EVENT_TYPE(order, "hello.order");
WEIR_EMPTY_TYPE(receipt, "hello.receipt");

/* A processor's handler never runs on two threads at once: its state needs no lock. */
static weir_status handle_order(void *state, weir_turn *turn, const weir_event *event)
{
    int *handled = state;
    *handled += 1;
    return weir_turn_reply(turn, event->from, WEIR_EMPTY(receipt));
}

struct desk {
    weir_processor orders;
    int receipts;
};

static weir_status handle_at_desk(void *state, weir_turn *turn, const weir_event *event)
{
    struct desk *desk = state;
    if (weir_event_as(event, &order_type) != NULL) {
        return weir_turn_post(turn, desk->orders, event); /* sent on: now the desk is its sender */
    }
    desk->receipts += 1;
    return WEIR_OK;
}

int main(void)
{
    int handled = 0;
    weir_error error = WEIR_ERROR_INIT; /* keeps the first error; the calls after it do nothing */

    weir_engine *engine = weir_engine_create(NULL, &error);
    weir_assign(engine, /* a row is a thread: the dispatchers that it serves */
                WEIR_ROWS(WEIR_NAMES("api"), WEIR_NAMES("api", "batch"), WEIR_NAMES("batch")),
                &error);
    weir_processor orders =
        weir_processor_add(engine,
                           WEIR_PROCESSOR(.name = "orders", .dispatcher = "api",
                                          .handler = handle_order, .argument = &handled),
                           &error);
    struct desk desk = { .orders = orders };
    weir_processor front = weir_processor_add(
        engine,
        WEIR_PROCESSOR(.name = "desk", .dispatcher = "batch", .handler = handle_at_desk,
                       .argument = &desk, .mailbox_max = 20000), /* all orders, all receipts */
        &error);
    weir_engine_start(engine, &error);

    for (int i = 0; i < 10000 && error.status == WEIR_OK; i++) {
        error.status = weir_engine_post(engine, front, WEIR_EVENT(order, .number = i));
    }

    weir_stop_report sum = WEIR_STOP_REPORT_INIT;
    weir_engine_stop(engine, 0, &sum); /* drains: what was accepted is handled before it returns */
    weir_engine_destroy(engine);

    printf("%d orders handled, %d receipts\n", handled, desk.receipts);
    printf("%" PRIu64 " accepted = %" PRIu64 " handled + %" PRIu64 " dropped + %" PRIu64 " dead"
           " + %" PRIu64 " left\n",
           sum.accepted, sum.handled, sum.dropped, sum.dead, sum.left);
    return weir_error_print(&error);
}
