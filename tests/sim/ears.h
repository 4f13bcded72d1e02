/*
 * ears.h - the stage of scenarios about channels: processors that write down what they hear, and
 * voices that count what was delivered. At the end the order of any two of them, the sums and the
 * memory are compared. What an ear hears is a value, unlike all others: who said it, and which.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TESTS_SIM_EARS_H
#define WEIR_TESTS_SIM_EARS_H

#include "scenario.h"

#define EARS_MAX 8u
#define HEARD_MAX 64u

typedef struct ear ear;
/* What it does besides: its answer is the handler's. */
typedef weir_status ear_part(ear *self, weir_turn *turn, const weir_event *event);
struct ear {
    weir_processor handle;
    uint64_t turns; /* plain on purpose */
    ear_part *part; /* NULL: nothing */
    uint32_t heard[HEARD_MAX];
    uint32_t count;
    uint32_t told;   /* weir_not_delivered events */
    uint32_t sets;   /* weir_subscribed events ... */
    uint32_t set;    /* ... and how many channels the last one had */
    uint32_t set_at; /* how much it had heard by then */
};

typedef struct voice {
    uint32_t value;
    uint32_t rest;
} voice;
extern const weir_event_type voice_type;
/* The same, too long for an envelope. */
extern const weir_event_type long_voice_type;
#define LONG_VOICE 64u

/* ---- set-up: quiet, before stage_start ---- */

void ears_open(const weir_engine_options *options);
ear *ear_add(const weir_processor_options *options, ear_part *part);
weir_channel ears_channel(const char *name);
void ear_subscribe(weir_channel channel, ear *which);

/* ---- the play ---- */

/* From outside. Returns how many copies were delivered. */
weir_delivery ears_say(weir_channel channel, uint32_t value);
weir_delivery ears_say_long(weir_channel channel, uint32_t value);
/* So many in one call, from `value` on, every other one a long one. */
weir_delivery ears_say_batch(weir_channel channel, uint32_t value, uint32_t number);
/* In a part. */
weir_delivery ear_say(weir_turn *turn, weir_channel channel, uint32_t value);
/* Directly, to one; false: it was refused. */
bool ears_post(ear *to, uint32_t value);
weir_status ear_stop(ear *which);
/* A request was accepted: an event more is on its way. */
void ears_expect_one(void);

/* Until all that was delivered is heard, although nothing else comes (P-4). */
void ears_settle(void);

/* ---- the end ---- */

/* Stops the engine, then the sums: every copy that was accepted was heard, or is left, if the stop
 * may run out of time. Any two ears heard what both heard in one order, each sender's own. */
void ears_close(weir_ns timeout);

/* What one heard is the beginning, or the end, of what the other heard; if memory is short, it is
 * in there, in that order. */
void ears_check_beginning(const ear *part, const ear *whole);
void ears_check_end(const ear *part, const ear *whole);

#endif /* WEIR_TESTS_SIM_EARS_H */
