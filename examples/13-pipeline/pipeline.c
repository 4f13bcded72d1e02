/*
 * pipeline - every customer's orders in order through three stages on four threads, although many
 * customers are served at once:
 *
 *     two producers ─► router "orders" ─► one of three packers ─► the dock, which checks
 *                      (by customer)      (by event->flow)
 *
 * Each hop keeps the order of a flow for a reason of its own. The router has a flow on one worker.
 * What a worker posts to one processor arrives in that order: so the same flow must always go to
 * the same packer. And what a packer posts to the dock arrives in order again. The flow travels
 * along: nobody writes it into the events, and the dock finds it in event->flow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <weir/weir.h>

enum { PRODUCERS = 2, CUSTOMERS = 200, ORDERS = 50, PACKERS = 3, ALL = CUSTOMERS * ORDERS };

typedef struct order {
    int number; /* of its customer's: 1, 2, 3 ... */
} order;
WEIR_EVENT_TYPE(order, "shop.order");

static weir_processor packers[PACKERS], dock; /* written before the start, read after it */

/* ---- the stages ---- */

static weir_status on_order(void *state, weir_turn *turn, const weir_event *event)
{
    int *seen = state; /* of this customer */
    if (((const order *)event->data)->number != ++*seen) {
        return weir_turn_fail(turn, WEIR_E_USER, "out of order");
    }
    return weir_turn_post(turn, packers[event->flow % PACKERS], event);
}

static weir_status pack(void *state, weir_turn *turn, const weir_event *event)
{
    ++*(int *)state;
    return weir_turn_post(turn, dock, event);
}

struct dock {
    int last[CUSTOMERS + 1]; /* order of each customer */
    int in_order, out_of_order;
};

static weir_status at_dock(void *state, weir_turn *turn, const weir_event *event)
{
    struct dock *self = state;
    const int number = ((const order *)event->data)->number;
    (void)turn;
    if (number == self->last[event->flow] + 1) {
        self->in_order++;
    } else {
        self->out_of_order++;
    }
    self->last[event->flow] = number;
    return WEIR_OK;
}

/* ---- the producers ---- */

struct producer {
    weir_engine *engine;
    weir_router orders;
    uint64_t first; /* it has every second customer: order is that of the thread that submits */
    weir_status status;
    pthread_t thread;
};

static void *produce(void *argument)
{
    struct producer *self = argument;
    for (int number = 1; number <= ORDERS; number++) {
        for (uint64_t customer = self->first; customer <= CUSTOMERS; customer += PRODUCERS) {
            const weir_status status = weir_router_submit(self->engine, self->orders, customer,
                                                          WEIR_EVENT(order, .number = number));
            self->status = self->status == WEIR_OK ? status : self->status;
        }
    }
    return NULL;
}

int main(void)
{
    int packed[PACKERS] = { 0 };
    static struct dock seen;
    static struct producer producers[PRODUCERS];
    weir_error error = WEIR_ERROR_INIT;
    /* A handler never waits: whatever is under way has room in the next mailbox. */
    weir_engine *engine = weir_engine_create(WEIR_ENGINE(.threads = 4, .mailbox_max = ALL), &error);
    dock =
        weir_processor_add(engine, WEIR_PROCESSOR(.handler = at_dock, .argument = &seen), &error);
    for (int i = 0; i < PACKERS; i++) {
        packers[i] = weir_processor_add(
            engine, WEIR_PROCESSOR(.handler = pack, .argument = &packed[i]), &error);
    }
    weir_router orders = weir_router_add(
        engine,
        WEIR_ROUTER(.name = "orders", .handler = on_order, .state_size = sizeof(int), .workers = 4),
        &error);
    weir_engine_start(engine, &error);
    for (uint64_t i = 0; i < PRODUCERS && error.status == WEIR_OK; i++) {
        producers[i] = (struct producer){ .engine = engine, .orders = orders, .first = i + 1 };
        pthread_create(&producers[i].thread, NULL, produce, &producers[i]);
    }
    for (int i = 0; i < PRODUCERS && error.status == WEIR_OK; i++) {
        pthread_join(producers[i].thread, NULL);
    }
    weir_stop_report sums = WEIR_STOP_REPORT_INIT;
    weir_engine_stop(engine, 0, &sums); /* drains all three stages */
    weir_engine_destroy(engine);
    for (int i = 0; i < PACKERS; i++) {
        printf("packer %d: %d orders\n", i, packed[i]);
    }
    printf("at the dock: %d in order, %d out of order\n", seen.in_order, seen.out_of_order);
    weir_stop_report_print(&sums);
    for (int i = 0; i < PRODUCERS; i++) {
        error.status = error.status == WEIR_OK ? producers[i].status : error.status;
    }
    return weir_error_print(&error) || seen.in_order != ALL || sums.dead != 0;
}
