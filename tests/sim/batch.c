/*
 * batch.c - many posts in one call: order, one wake-up, and what a full mailbox takes of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#define COUNT 4

/* COUNT events in one call, to one mailbox or to two in turn. */
static void post_batch(actor *one, actor *two)
{
    stage_message messages[COUNT];
    weir_event events[COUNT];
    const weir_event *list[COUNT];
    weir_processor to[COUNT];
    weir_status statuses[COUNT];
    size_t accepted = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        actor *target = i % 2 == 0 ? one : two;
        messages[i] = (stage_message){ stage_send_begins(target), 0 };
        events[i] = (weir_event){ .type = &stage_message_type,
                                  .data = &messages[i],
                                  .size = sizeof(messages[i]) };
        list[i] = &events[i];
        to[i] = target->handle;
    }
    const size_t said =
        weir_engine_post_batch(stage.engine, to, one == two ? 1 : COUNT, list, COUNT, statuses);
    for (uint32_t i = 0; i < COUNT; i++) {
        accepted += statuses[i] == WEIR_OK;
        stage_send_ends(messages[i].send, statuses[i]);
    }
    weir_sim_check(said == accepted, "%zu accepted, and the call says %zu", accepted, said);
}

static void batch_to_one(void *to)
{
    post_batch(to, to);
}

SCENARIO(batch, "a batch to two mailboxes against a batch to one of three places")
{
    stage_open(NULL);
    stage_threads(2);
    actor *a = stage_actor(NULL, NULL);
    actor *b = stage_actor(WEIR_PROCESSOR(.mailbox_max = 3, .batch_max = 2), NULL);
    stage_start();
    const int other = weir_sim_thread_start(batch_to_one, b);
    post_batch(a, b);
    weir_sim_thread_join(other);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}
