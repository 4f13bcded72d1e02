/*
 * channels_refused.c - broadcasts that are refused: by those that are full, by those that stop, and
 * by an engine that does; and payloads that all share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ears.h"

#include <string.h>

static weir_channel channel;
static ear *speaker, *one, *two;
static uint64_t refused; /* of what the speaker said */

/* Says two things for every event that it is given, from whoever is not weir. */
static weir_status speak(ear *self, weir_turn *turn, const weir_event *event)
{
    uint32_t value;
    memcpy(&value, event->data, sizeof(value));
    (void)self;
    if (event->type == &voice_type && value >> 16 == 9) {
        refused += ear_say(turn, channel, 1u << 16 | (2 * value & 0xffff)).refused;
        refused += ear_say(turn, channel, 1u << 16 | ((2 * value + 1) & 0xffff)).refused;
    }
    return WEIR_OK;
}

static void set_up(const weir_processor_options *small)
{
    ears_open(NULL);
    for (int i = 0; i < 2; i++) {
        weir_thread_add(stage.engine,
                        WEIR_THREAD(.dispatchers = WEIR_NAMES("", "small"), .idle = WEIR_IDLE_PARK),
                        &stage.error);
    }
    channel = ears_channel("x");
    refused = 0;
    speaker = ear_add(WEIR_PROCESSOR(.mailbox_max = 4), speak);
    one = ear_add(small, NULL);
    two = ear_add(small, NULL);
    ear_subscribe(channel, one);
    ear_subscribe(channel, two);
    stage_start();
}

static void ask_speaker(void *unused)
{
    (void)unused;
    (void)ears_post(speaker, 9u << 16 | 1);
    (void)ears_post(speaker, 9u << 16 | 2);
}

/* Every refusal is told, or counted as untold. */
static void check_told(void)
{
    weir_counters c = WEIR_COUNTERS_INIT;
    weir_engine_counters(stage.engine, &c);
    weir_sim_check(speaker->told + c.untold == refused, "%llu refused, %u told, %llu untold",
                   (unsigned long long)refused, speaker->told, (unsigned long long)c.untold);
}

SCENARIO(channel_not_delivered, "full listeners refuse: the speaker is told of each, or it counts")
{
    set_up(WEIR_PROCESSOR(.dispatcher = "small", .mailbox_max = 1));
    ask_speaker(NULL);
    ears_settle();
    weir_engine_stop(stage.engine, WEIR_FOREVER, NULL);
    check_told();
    ears_close(WEIR_FOREVER);
}

SCENARIO(channel_listener_stops, "a listener stops: the speaker is told, and the other hears all")
{
    set_up(WEIR_PROCESSOR(.dispatcher = "small"));
    const int asks = weir_sim_thread_start(ask_speaker, NULL);
    (void)ear_stop(one);
    weir_sim_thread_join(asks);
    ears_settle();
    weir_engine_stop(stage.engine, WEIR_FOREVER, NULL);
    check_told();
    ears_close(WEIR_FOREVER);
    ears_check_beginning(one, two);
}

SCENARIO(channel_evicts, "listeners that drop the oldest: nothing is lost uncounted, in one order")
{
    set_up(WEIR_PROCESSOR(.dispatcher = "small", .mailbox_max = 1,
                          .overflow = WEIR_OVERFLOW_DROP_OLDEST));
    const int asks = weir_sim_thread_start(ask_speaker, NULL);
    for (uint32_t i = 1; i <= 2; i++) {
        (void)ears_say_long(channel, 2u << 16 | i);
    }
    weir_sim_thread_join(asks);
    ears_close(WEIR_FOREVER);
}

/* ---- the engine stops ---- */

static void say_some(void *unused)
{
    (void)unused;
    for (uint32_t i = 1; i <= 2; i++) {
        (void)ears_say(channel, 2u << 16 | i);
    }
}

SCENARIO(channel_engine_stops, "the engine stops while outsiders and a handler broadcast")
{
    set_up(WEIR_PROCESSOR(.dispatcher = "small"));
    const int asks = weir_sim_thread_start(ask_speaker, NULL);
    const int says = weir_sim_thread_start(say_some, NULL);
    (void)weir_engine_stop(stage.engine, WEIR_FOREVER, NULL);
    const weir_delivery d = ears_say(channel, 3u << 16 | 1);
    weir_sim_check(d.delivered == 0 && d.refused == 0, "it was over");
    weir_sim_thread_join(asks);
    weir_sim_thread_join(says);
    ears_close(WEIR_FOREVER);
}

SCENARIO(channel_stop_times_out, "a stop runs out of time in the middle of broadcasts")
{
    set_up(WEIR_PROCESSOR(.dispatcher = "small"));
    const int asks = weir_sim_thread_start(ask_speaker, NULL);
    const int says = weir_sim_thread_start(say_some, NULL);
    (void)weir_engine_stop(stage.engine, WEIR_NOW, NULL);
    weir_sim_thread_join(asks);
    weir_sim_thread_join(says);
    ears_close(WEIR_NOW);
}

/* ---- what all share ---- */

static void leave_and_come_back(void *unused)
{
    (void)unused;
    (void)weir_channel_unsubscribe(stage.engine, channel, one->handle);
    (void)weir_channel_subscribe(stage.engine, channel, one->handle);
    (void)ear_stop(one);
}

SCENARIO(channel_shared, "one block for all: given back after its last reader, whoever that is")
{
    set_up(WEIR_PROCESSOR(.dispatcher = "small", .mailbox_max = 2));
    const int other = weir_sim_thread_start(leave_and_come_back, NULL);
    for (uint32_t i = 1; i <= 3; i++) {
        (void)ears_say_long(channel, 2u << 16 | i);
    }
    weir_sim_thread_join(other);
    ears_settle();
    weir_engine_stop(stage.engine, WEIR_FOREVER, NULL);
    weir_counters c = WEIR_COUNTERS_INIT;
    weir_engine_counters(stage.engine, &c);
    weir_sim_check(c.block_bytes == 0, "%llu bytes of blocks are out",
                   (unsigned long long)c.block_bytes);
    ears_close(WEIR_FOREVER);
}
