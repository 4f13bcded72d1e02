/*
 * pages.c - where events lie in a mailbox: across the ends of pages and indexes (4 places and 4
 * pages here), beside, and in epochs with and without a first one and pages of their own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#define BATCH 4u
#define LONG 12u /* more than three pages, or three and the first one */

static weir_signal ring;

static void post_together(actor *to, uint32_t count)
{
    stage_message messages[LONG];
    weir_event events[LONG];
    const weir_event *list[LONG];
    weir_status statuses[LONG];
    for (uint32_t i = 0; i < count; i++) {
        messages[i] = (stage_message){ stage_send_begins(to), 0 };
        events[i] = (weir_event){ .type = &stage_message_type,
                                  .data = &messages[i],
                                  .size = sizeof(messages[i]) };
        list[i] = &events[i];
    }
    const size_t said = weir_engine_post_batch(stage.engine, &to->handle, 1, list, count, statuses);
    size_t accepted = 0;
    for (uint32_t i = 0; i < count; i++) {
        accepted += statuses[i] == WEIR_OK;
        stage_send_ends(messages[i].send, statuses[i]);
    }
    weir_sim_check(said == accepted, "%zu accepted, and the call says %zu", accepted, said);
}

static void post_three_batches(void *to)
{
    for (int i = 0; i < 3; i++) {
        post_together(to, BATCH);
    }
}

static void post_long_batch(void *to)
{
    post_together(to, LONG);
}

static void post_five(void *to)
{
    for (int i = 0; i < 5; i++) {
        stage_post(to);
    }
}

static void signal_three(void *to)
{
    for (int i = 0; i < 3; i++) {
        const uint32_t send = stage_signal_begins(to);
        stage_send_ends(send, weir_signal_post(ring, send));
    }
}

/* Two threads, each with one of these, against one or two of the engine's. */
static void play(uint32_t threads, weir_overflow overflow, uint32_t places, void (*one)(void *),
                 void (*other)(void *), actor_part *part)
{
    stage_open(NULL);
    stage_threads(threads);
    actor *a = stage_actor(
        WEIR_PROCESSOR(.mailbox_max = places, .batch_max = 3, .overflow = overflow), part);
    ring = weir_signal_open(stage.engine, a->handle, 3, &stage.error);
    stage_start();
    stage_fill(a, one, other, overflow);
}

SCENARIO(pages, "two threads post batches of four across the ends of pages and of an index")
{
    play(1, WEIR_OVERFLOW_FAIL, 16, post_three_batches, post_three_batches, NULL);
}

SCENARIO(pages_at_once, "two threads post twelve events each, in one call: several pages",
         .faults = WEIR_SIM_DEFAULT_FAULTS | WEIR_SIM_ALLOCATIONS)
{
    play(1, WEIR_OVERFLOW_FAIL, 16, post_long_batch, post_long_batch, NULL);
}

SCENARIO(pages_singly, "two threads post ten events, one at a time, across the ends of pages")
{
    play(2, WEIR_OVERFLOW_FAIL, 16, post_five, post_five, NULL);
}

SCENARIO(pages_poor, "the same while memory runs out",
         .faults = WEIR_SIM_DEFAULT_FAULTS | WEIR_SIM_ALLOCATIONS)
{
    play(2, WEIR_OVERFLOW_FAIL, 16, post_five, post_five, NULL);
}

SCENARIO(pages_beside, "signals lie beside what a thread posts")
{
    play(1, WEIR_OVERFLOW_FAIL, 16, post_five, signal_three, NULL);
}

SCENARIO(pages_besides, "two threads signal at once")
{
    play(1, WEIR_OVERFLOW_FAIL, 16, signal_three, signal_three, NULL);
}

static void post_twenty(void *to)
{
    for (int i = 0; i < 20; i++) {
        stage_post(to);
    }
}

/* If one of the five is late, up to four pages lie between its own and the newest. */
SCENARIO(pages_far_apart, "a thread posts five events while another fills the mailbox")
{
    play(1, WEIR_OVERFLOW_FAIL, 16, post_five, post_twenty, NULL);
}

#define ROUND 64u /* tickets: then tables and numbers of pages begin anew */

static uint32_t sent;

/* Each event sends the next one, so it is one epoch: the places of a page, then signals until its
 * number comes again, then places once more. */
static weir_status send_on(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)event;
    const uint32_t ticket = sent++;
    if (ticket % ROUND < BATCH && ticket < 2 * ROUND) {
        (void)actor_post(self, turn, self);
    } else if (ticket < 2 * ROUND) {
        const uint32_t send = stage_signal_begins(self);
        stage_send_ends(send, weir_signal_post(ring, send));
    }
    return WEIR_OK;
}

SCENARIO(pages_round, "a place in a page whose number another had, and nothing but signals between")
{
    sent = 1;
    stage_open(NULL);
    stage_threads(1);
    actor *a = stage_actor(WEIR_PROCESSOR(.mailbox_max = 16), send_on);
    ring = weir_signal_open(stage.engine, a->handle, 3, &stage.error);
    stage_start();
    stage_post(a);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

/* Epochs that use pages and such that do not, signals between them. */
static void post_in_epochs(void *to)
{
    for (uint32_t i = 0; i < 3; i++) {
        post_together(to, 2);
        stage_post(to);
        const uint32_t send = stage_signal_begins(to);
        stage_send_ends(send, weir_signal_post(ring, send));
    }
}

SCENARIO(epochs, "pairs of events, single ones and signals, each of which may find it idle")
{
    stage_open(NULL);
    stage_threads(2);
    actor *a = stage_actor(NULL, NULL);
    ring = weir_signal_open(stage.engine, a->handle, 3, &stage.error);
    stage_start();
    post_in_epochs(a);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

static actor *first_target, *second_target;

static weir_status post_to_both(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)event;
    for (uint32_t i = 0; i < 3; i++) {
        (void)actor_post(self, turn, first_target);
        (void)actor_post(self, turn, second_target);
    }
    return WEIR_OK;
}

/* Both threads post and own: what one gives back at the end of an epoch it takes for the next. */
SCENARIO(epochs_of_two, "two handlers post to two others, whose pages and roots come and go")
{
    stage_open(NULL);
    stage_threads(2);
    first_target = stage_actor(WEIR_PROCESSOR(.mailbox_max = 16), NULL);
    second_target = stage_actor(WEIR_PROCESSOR(.mailbox_max = 16), NULL);
    actor *one = stage_actor(NULL, post_to_both);
    actor *other = stage_actor(NULL, post_to_both);
    stage_start();
    for (uint32_t i = 0; i < 4; i++) {
        stage_post(one);
        stage_post(other);
    }
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

/* What lies beside is owed: it is not dropped. */

static uint32_t signals_accepted, signals_handled;

static weir_status count_signals(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)self;
    (void)turn;
    signals_handled += event->type == &weir_signal_type;
    return WEIR_OK;
}

static void signal_three_counted(void *to)
{
    for (int i = 0; i < 3; i++) {
        const uint32_t send = stage_signal_begins(to);
        const weir_status status = weir_signal_post(ring, send);
        signals_accepted += status == WEIR_OK;
        stage_send_ends(send, status);
    }
}

SCENARIO(drop_oldest_beside, "signals and posts to a mailbox of two places that drops the oldest")
{
    signals_accepted = 0;
    signals_handled = 0;
    play(1, WEIR_OVERFLOW_DROP_OLDEST, 2, post_five, signal_three_counted, count_signals);
    weir_sim_check(signals_handled == signals_accepted, "%u signals accepted, %u handled",
                   signals_accepted, signals_handled);
}
