/*
 * folds.c - batches that are alike travel folded (queue/fold.h): one store says that several events
 * are there, pages and turns end in the middle of them, handlers fail there, and stops run out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#include <string.h>

enum { COUNT = 4 };

/* COUNT events in one call, all of one kind. */
static void post_alike(void *argument)
{
    actor *to = argument;
    stage_message messages[COUNT];
    weir_event events[COUNT];
    const weir_event *list[COUNT];
    weir_status statuses[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        messages[i] = (stage_message){ stage_send_begins(to), i };
        events[i] = (weir_event){ .type = &stage_message_type,
                                  .data = &messages[i],
                                  .size = sizeof(messages[i]) };
        list[i] = &events[i];
    }
    size_t accepted = 0;
    const size_t said = weir_engine_post_batch(stage.engine, &to->handle, 1, list, COUNT, statuses);
    for (uint32_t i = 0; i < COUNT; i++) {
        accepted += statuses[i] == WEIR_OK;
        stage_send_ends(messages[i].send, statuses[i]);
    }
    weir_sim_check(said == accepted, "%zu accepted, and the call says %zu", accepted, said);
}

static void post_one_then_alike(void *argument)
{
    (void)stage_post(argument);
    post_alike(argument);
}

/* Pages of four places, and what is taken is given back by twos. */
#define SMALL_PAGES .mailbox_max = 16

SCENARIO(folds, "two post batches, one of them after a single event; turns of three")
{
    stage_open(NULL);
    stage_threads(2);
    actor *a = stage_actor(WEIR_PROCESSOR(SMALL_PAGES, .batch_max = 3), NULL);
    stage_start();
    const int other = weir_sim_thread_start(post_alike, a);
    post_one_then_alike(a);
    weir_sim_thread_join(other);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

static weir_status fail_the_third(actor *self, weir_turn *turn, const weir_event *event)
{
    stage_message message;
    (void)self, (void)turn;
    memcpy(&message, event->data, sizeof(message));
    return message.what == 2 ? WEIR_E_USER : WEIR_OK;
}

SCENARIO(folds_fail, "one of a batch fails and the rest goes on")
{
    stage_open(NULL);
    stage_threads(2);
    actor *a = stage_actor(WEIR_PROCESSOR(SMALL_PAGES), fail_the_third);
    stage_start();
    const int other = weir_sim_thread_start(post_alike, a);
    post_one_then_alike(a);
    weir_sim_thread_join(other);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(folds_left, "a stop runs out of time in the middle of a batch")
{
    stage_open(NULL);
    stage_threads(1);
    actor *a = stage_actor(WEIR_PROCESSOR(SMALL_PAGES), NULL);
    stage_start();
    const int other = weir_sim_thread_start(post_alike, a);
    post_alike(a);
    stage_stop(WEIR_US);
    weir_sim_thread_join(other);
    stage_close();
}

SCENARIO(folds_stop, "a processor is stopped against a batch to it")
{
    stage_open(NULL);
    stage_threads(2);
    actor *a = stage_actor(WEIR_PROCESSOR(SMALL_PAGES, .batch_max = 2), NULL);
    stage_start();
    const int other = weir_sim_thread_start(post_one_then_alike, a);
    stage_stop_actor(a, WEIR_FOREVER);
    weir_sim_thread_join(other);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}
