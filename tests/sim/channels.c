/*
 * channels.c - broadcasts against each other, against those who come and go, and against stops.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ears.h"

#include <string.h>

static weir_channel channel;
static ear *first, *second, *third;

static void set_up(uint32_t threads)
{
    ears_open(NULL);
    stage_threads(threads);
    channel = ears_channel("x");
    first = ear_add(NULL, NULL);
    second = ear_add(NULL, NULL);
}

/* ---- order ---- */

/* Direct, to all, direct: 1, 2, 3 of this sender. */
static void say_between_posts(void *argument)
{
    const uint32_t who = *(const uint32_t *)argument << 16;
    (void)ears_post(first, who | 1);
    (void)ears_say(channel, who | 2);
    (void)ears_post(first, who | 3);
    (void)ears_say(channel, who | 4);
}

SCENARIO(channel_order, "two broadcast and post: two listeners hear one order, each sender's own")
{
    static const uint32_t who[] = { 1, 2 };
    set_up(2);
    ear_subscribe(channel, first);
    ear_subscribe(channel, second);
    stage_start();
    const int other = weir_sim_thread_start(say_between_posts, (void *)(uintptr_t)&who[1]);
    say_between_posts((void *)(uintptr_t)&who[0]);
    weir_sim_thread_join(other);
    ears_settle();
    ears_close(WEIR_FOREVER);
}

static void say_batches(void *argument)
{
    const uint32_t who = *(const uint32_t *)argument << 16;
    (void)ears_say_batch(channel, who | 1, 3);
    (void)ears_post(first, who | 4);
    (void)ears_say_batch(channel, who | 5, 2);
}

SCENARIO(channel_batches, "runs of events, into a mailbox that has no room for all: one order")
{
    static const uint32_t who[] = { 1, 2 };
    ears_open(NULL);
    stage_threads(1);
    channel = ears_channel("x");
    first = ear_add(NULL, NULL);
    second = ear_add(WEIR_PROCESSOR(.mailbox_max = 4), NULL);
    third = ear_add(WEIR_PROCESSOR(.mailbox_max = 2, .overflow = WEIR_OVERFLOW_DROP_OLDEST), NULL);
    ear_subscribe(channel, first);
    ear_subscribe(channel, second);
    ear_subscribe(channel, third);
    stage_start();
    const int other = weir_sim_thread_start(say_batches, (void *)(uintptr_t)&who[1]);
    say_batches((void *)(uintptr_t)&who[0]);
    weir_sim_thread_join(other);
    ears_close(WEIR_FOREVER);
}

/* Handlers that broadcast, on two dispatchers. */
static weir_status pass_it_on(ear *self, weir_turn *turn, const weir_event *event)
{
    uint32_t value;
    memcpy(&value, event->data, sizeof(value));
    if (event->type == &voice_type && value >> 16 >= 9) {
        const uint32_t who = self == first ? 1 : 2;
        (void)ear_say(turn, channel, who << 16 | (value & 0xffff));
    }
    return WEIR_OK;
}

SCENARIO(channel_handlers, "handlers broadcast to each other and to themselves")
{
    ears_open(NULL);
    for (int i = 0; i < 2; i++) {
        weir_thread_add(
            stage.engine,
            WEIR_THREAD(.dispatchers = WEIR_NAMES(i == 0 ? "a" : "b"), .idle = WEIR_IDLE_PARK),
            &stage.error);
    }
    channel = ears_channel("x");
    first = ear_add(WEIR_PROCESSOR(.dispatcher = "a"), pass_it_on);
    second = ear_add(WEIR_PROCESSOR(.dispatcher = "b"), pass_it_on);
    third = ear_add(WEIR_PROCESSOR(.dispatcher = "a"), NULL);
    ear_subscribe(channel, first);
    ear_subscribe(channel, second);
    ear_subscribe(channel, third);
    stage_start();
    for (uint32_t i = 1; i <= 2; i++) {
        (void)ears_post(first, 9u << 16 | i);
        (void)ears_post(second, 10u << 16 | i);
    }
    ears_settle();
    ears_close(WEIR_FOREVER);
}

/* ---- who comes and goes ---- */

static void say_three(void *unused)
{
    (void)unused;
    for (uint32_t i = 1; i <= 3; i++) {
        (void)ears_say(channel, 1u << 16 | i);
    }
}

SCENARIO(channel_subscribe, "who subscribes hears everything from then on")
{
    set_up(1);
    ear_subscribe(channel, first);
    stage_start();
    const int voices = weir_sim_thread_start(say_three, NULL);
    const weir_status status = weir_channel_subscribe(stage.engine, channel, second->handle);
    const weir_delivery d = ears_say(channel, 2u << 16 | 1);
    weir_sim_check(stage_is_short() || (status == WEIR_OK && d.delivered == 2),
                   "subscribed, and %u got it", (unsigned)d.delivered);
    weir_sim_thread_join(voices);
    ears_settle();
    ears_close(WEIR_FOREVER);
    ears_check_end(second, first);
}

SCENARIO(channel_unsubscribe, "who unsubscribes hears nothing more that is said then")
{
    set_up(1);
    third = ear_add(NULL, NULL);
    ear_subscribe(channel, second); /* the last one takes its place */
    ear_subscribe(channel, first);
    ear_subscribe(channel, third);
    stage_start();
    const int voices = weir_sim_thread_start(say_three, NULL);
    const weir_status status = weir_channel_unsubscribe(stage.engine, channel, second->handle);
    const weir_delivery d = ears_say(channel, 2u << 16 | 1);
    weir_sim_check(status == WEIR_OK, "%s", weir_status_name(status));
    weir_sim_check(stage_is_short() || d.delivered == 2, "%u got it", (unsigned)d.delivered);
    weir_sim_thread_join(voices);
    ears_settle();
    ears_close(WEIR_FOREVER);
    ears_check_beginning(second, first);
    ears_check_beginning(third, first);
    ears_check_beginning(first, third);
}

/* Three channels change hands while both are spoken on. */
static void change_over(void *unused)
{
    (void)unused;
    const weir_channel other = ears_channel("y");
    const weir_channel both[] = { channel, other };
    (void)weir_channel_change(stage.engine, second->handle, WEIR_SUBSCRIBE_SET, &both[1], 1, NULL);
    (void)weir_channel_change(stage.engine, first->handle, WEIR_SUBSCRIBE_SET, both, 2, NULL);
    (void)weir_channel_change(stage.engine, second->handle, WEIR_SUBSCRIBE_SET, NULL, 0, NULL);
}

SCENARIO(channel_change, "sets of channels change while both are spoken on")
{
    set_up(1);
    const weir_channel other = ears_channel("y");
    ear_subscribe(channel, first);
    ear_subscribe(channel, second);
    stage_start();
    const int changes = weir_sim_thread_start(change_over, NULL);
    for (uint32_t i = 1; i <= 3; i++) {
        (void)ears_say(i == 2 ? other : channel, 1u << 16 | i);
    }
    weir_sim_thread_join(changes);
    const weir_delivery d = ears_say(other, 1u << 16 | 4);
    weir_sim_check(stage_is_short() || d.delivered == 1, "%u got it", (unsigned)d.delivered);
    ears_settle();
    ears_close(WEIR_FOREVER);
}

static void request(void *unused)
{
    (void)unused;
    if (weir_channel_request_change(stage.engine, second->handle, WEIR_SUBSCRIBE, &channel, 1) ==
        WEIR_OK) {
        ears_expect_one();
    }
}

SCENARIO(channel_request, "a request is served in its turn: what is heard is heard after it")
{
    set_up(2);
    ear_subscribe(channel, first);
    stage_start();
    const int voices = weir_sim_thread_start(say_three, NULL);
    request(NULL);
    weir_sim_thread_join(voices);
    if (!stage_is_short()) {
        ears_settle();
    }
    ears_close(WEIR_FOREVER);
    if (!stage_is_short()) {
        weir_sim_check(second->sets == 1 && second->set == 1 && second->set_at == 0,
                       "%u answers, with %u channels, after %u", second->sets, second->set,
                       second->set_at);
        ears_check_end(second, first);
    }
}

/* The next to be opened has a number that can be known: who uses it finds nothing, or all of it. */
static void say_to_the_next(void *unused)
{
    (void)unused;
    const weir_channel next = { channel.id + 1 };
    for (uint32_t i = 1; i <= 2; i++) {
        (void)ears_say(next, 1u << 16 | i);
    }
}

SCENARIO(channel_opened, "who has the handle of a channel finds nothing there, or all of it")
{
    set_up(1);
    ear_subscribe(channel, first);
    stage_start();
    const int voices = weir_sim_thread_start(say_to_the_next, NULL);
    for (int i = 0; i < 2; i++) {
        weir_error error = WEIR_ERROR_INIT;
        const weir_channel opened = weir_channel_open(stage.engine, i == 0 ? "y" : "z", &error);
        weir_sim_check(opened.id != 0 || stage_is_short(), "no channel: %s", error.text);
        (void)weir_channel_subscribe(stage.engine, opened, second->handle);
    }
    weir_sim_thread_join(voices);
    ears_settle();
    ears_close(WEIR_FOREVER);
}

/* ---- the end of a listener ---- */

SCENARIO(channel_end, "a listener ends while it is spoken to, and others come")
{
    set_up(1);
    ear_subscribe(channel, second);
    ear_subscribe(channel, first);
    stage_start();
    const int voices = weir_sim_thread_start(say_three, NULL);
    (void)ear_stop(second);
    const weir_delivery d = ears_say(channel, 2u << 16 | 1);
    weir_sim_check(stage_is_short() || (d.delivered == 1 && d.refused == 0),
                   "%u got it, %u refused", (unsigned)d.delivered, (unsigned)d.refused);
    third = ear_add(NULL, NULL);
    (void)weir_channel_subscribe(stage.engine, channel, third->handle);
    (void)ears_say(channel, 2u << 16 | 2);
    weir_sim_thread_join(voices);
    ears_settle();
    ears_close(WEIR_FOREVER);
    ears_check_beginning(second, first);
    ears_check_end(third, first);
}

#define LIMBO 31 /* slots that wait for reuse before the play begins: a barrier is worth it at 32 */

static weir_status nothing(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    return WEIR_OK;
}

/* One slot less than are worth a grace period waits for reuse: the end of `second` begins one. */
static void set_up_with_limbo(void)
{
    weir_processor gone[LIMBO];
    ears_open(WEIR_ENGINE(.processors_max = 64));
    stage_threads(1);
    channel = ears_channel("x");
    first = ear_add(NULL, NULL);
    second = ear_add(NULL, NULL);
    ear_subscribe(channel, first);
    ear_subscribe(channel, second);
    for (int i = 0; i < LIMBO; i++) {
        gone[i] =
            weir_processor_add(stage.engine, WEIR_PROCESSOR(.handler = nothing), &stage.error);
    }
    stage_start();
    weir_sim_quiet(true);
    for (int i = 0; i < LIMBO; i++) {
        weir_processor_stop(stage.engine, gone[i], WEIR_FOREVER, NULL);
    }
    weir_sim_quiet(false);
}

SCENARIO(channel_slot_reuse, "a listener's slot gets another tenant, who never subscribed")
{
    ear *tenants[3];
    set_up_with_limbo();
    const int voices = weir_sim_thread_start(say_three, NULL);
    (void)ear_stop(second);
    for (int i = 0; i < 3; i++) { /* the first begins the grace period, the next may end it */
        tenants[i] = ear_add(NULL, NULL);
    }
    (void)ears_say(channel, 2u << 16 | 1);
    weir_sim_thread_join(voices);
    ears_settle();
    ears_close(WEIR_FOREVER);
    for (int i = 0; i < 3; i++) {
        weir_sim_check(tenants[i]->count == 0, "it heard %u, and never subscribed",
                       tenants[i]->count);
    }
}

static void unsubscribe_second(void *unused)
{
    (void)unused;
    weir_channel items[2];
    weir_channel_set set = { items, 2, 0 };
    const weir_status status =
        weir_channel_change(stage.engine, second->handle, WEIR_UNSUBSCRIBE, &channel, 1, &set);
    weir_sim_check(status == WEIR_OK || status == WEIR_ALREADY || status == WEIR_UNKNOWN, "%s",
                   weir_status_name(status));
    weir_sim_check(set.count == 0, "still on %zu", set.count);
}

SCENARIO(channel_unsubscribe_end, "who is taken off while it ends: its memory is given back")
{
    set_up_with_limbo();
    const int other = weir_sim_thread_start(unsubscribe_second, NULL);
    (void)ear_stop(second);
    for (int i = 0; i < 3; i++) {
        (void)ear_add(NULL, NULL);
    }
    weir_sim_thread_join(other);
    ears_close(WEIR_FOREVER);
}

static void subscribe_second(void *unused)
{
    (void)unused;
    const weir_status status = weir_channel_subscribe(stage.engine, channel, second->handle);
    weir_sim_check(status == WEIR_OK || status == WEIR_STOPPING || status == WEIR_UNKNOWN ||
                       (status == WEIR_E_NOMEM && stage_is_short()),
                   "%s", weir_status_name(status));
}

/* It is on another channel, and has just left that. */
SCENARIO(channel_subscribe_end, "who is subscribed while it ends is not left behind")
{
    set_up(1);
    ear_subscribe(channel, first);
    ear_subscribe(ears_channel("y"), second);
    stage_start();
    const int other = weir_sim_thread_start(subscribe_second, NULL);
    (void)ears_post(second, 1u << 16 | 1);
    (void)ear_stop(second);
    weir_sim_thread_join(other);
    const weir_delivery d = ears_say(channel, 2u << 16 | 1);
    weir_sim_check(stage_is_short() || d.delivered == 1, "%u got it", (unsigned)d.delivered);
    weir_sim_check(d.refused == 0 || stage_is_short(), "somebody who is gone was spoken to");
    ears_settle();
    ears_close(WEIR_FOREVER);
}

/* Idle, with nothing to run at its end: a stop could end it without a turn. */
SCENARIO(channel_quiet_end, "an idle listener that is stopped is off its channels")
{
    set_up(1);
    ear_subscribe(channel, first);
    stage_start();
    const int other = weir_sim_thread_start(subscribe_second, NULL);
    (void)ear_stop(first);
    (void)ear_stop(second);
    weir_sim_thread_join(other);
    const weir_delivery d = ears_say(channel, 2u << 16 | 1);
    /* Without memory for its record, a stop has not begun. */
    weir_sim_check(stage_is_short() || (d.delivered == 0 && d.refused == 0),
                   "%u got it, %u refused", (unsigned)d.delivered, (unsigned)d.refused);
    ears_close(WEIR_FOREVER);
}
