/*
 * ears.c - what was said, and what was heard.
 *
 * Not instrumented, so that its own notes are no races; what ears share it says by itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ears.h"

#include <string.h>

#include "sync/sim/core.h"

#define KEPT_BYTES 64u /* what weir keeps for the body's own thread, until that ends */

const weir_event_type voice_type = {
    sizeof(weir_event_type), "ears.voice", (uint32_t)sizeof(voice), false, NULL, NULL
};
const weir_event_type long_voice_type = {
    sizeof(weir_event_type), "ears.long-voice", LONG_VOICE, false, NULL, NULL
};

static ear ears[EARS_MAX];
static uint32_t ear_count;
static uint64_t accepted; /* copies, and posts, and requests */
static uint64_t refused;
static uint64_t handled;
static uint64_t told;
static bool settling;

void ears_open(const weir_engine_options *options)
{
    stage_open(options);
    memset(ears, 0, sizeof(ears));
    ear_count = 0;
    accepted = 0;
    refused = 0;
    handled = 0;
    told = 0;
    settling = false;
}

static void note(ear *self, const weir_event *event)
{
    if (event->type == &weir_not_delivered_type) {
        self->told++;
        told++;
    } else if (event->type == &weir_subscribed_type) {
        self->sets++;
        self->set = (uint32_t)(event->size / sizeof(weir_channel));
        self->set_at = self->count;
    } else {
        weir_sim_check(self->count < HEARD_MAX, "too much to hear");
        memcpy(&self->heard[self->count++], event->data, sizeof(uint32_t));
    }
}

static weir_status hear(void *state, weir_turn *turn, const weir_event *event)
{
    ear *self = state;
    weir_sim_reads(event->data, event->size);
    weir_sim_writes(&self->turns, sizeof(self->turns));
    self->turns++;
    note(self, event);
    weir_sim_note("ear %u hears %s %x", (unsigned)(self - ears), event->type->name,
                  self->count > 0 ? self->heard[self->count - 1] : 0);
    weir_sim_step(); /* here another turn would show, if there were one */
    const weir_status status = self->part != NULL ? self->part(self, turn, event) : WEIR_OK;
    weir_sim_writes(&self->turns, sizeof(self->turns));
    weir_sim_reads(event->data, event->size); /* it is still there */
    handled++;
    if (settling && handled >= accepted + told) {
        weir__sim_wake(&settling, UINT32_MAX); /* without an edge: it must not hide a race */
    }
    return status;
}

ear *ear_add(const weir_processor_options *options, ear_part *part)
{
    weir_processor_options o = WEIR_PROCESSOR_OPTIONS_INIT;
    weir_sim_check(ear_count < EARS_MAX, "too many ears");
    ear *e = &ears[ear_count++];
    if (options != NULL) {
        o = *options;
    }
    o.handler = hear;
    o.argument = e;
    e->part = part;
    weir_error error = WEIR_ERROR_INIT;
    e->handle = weir_processor_add(stage.engine, &o, &error);
    return e;
}

weir_channel ears_channel(const char *name)
{
    return weir_channel_open(stage.engine, name, &stage.error);
}

void ear_subscribe(weir_channel channel, ear *which)
{
    const weir_status status = weir_channel_subscribe(stage.engine, channel, which->handle);
    weir_sim_check(status == WEIR_OK, "no set-up: %s", weir_status_name(status));
}

/* ---- the play ---- */

static weir_delivery count(weir_status status, weir_delivery d)
{
    const bool fits = status == WEIR_OK || (status == WEIR_STOPPING && d.delivered == 0) ||
                      (status == WEIR_E_NOMEM && stage_is_short() && d.delivered == 0);
    weir_sim_check(fits, "a broadcast answers %s with %llu delivered", weir_status_name(status),
                   (unsigned long long)d.delivered);
    accepted += d.delivered;
    refused += d.refused;
    weir_sim_note("said: %s, %u delivered, %u refused", weir_status_name(status),
                  (unsigned)d.delivered, (unsigned)d.refused);
    return d;
}

weir_delivery ears_say(weir_channel channel, uint32_t value)
{
    const voice v = { .value = value };
    weir_delivery d = { 0, 0 };
    const weir_status status = weir_engine_broadcast(
        stage.engine, channel, &(weir_event){ .type = &voice_type, .data = &v, .size = sizeof(v) },
        &d);
    return count(status, d);
}

weir_delivery ears_say_long(weir_channel channel, uint32_t value)
{
    unsigned char bytes[LONG_VOICE] = { 0 };
    memcpy(bytes, &value, sizeof(value));
    weir_delivery d = { 0, 0 };
    const weir_status status = weir_engine_broadcast(
        stage.engine, channel,
        &(weir_event){ .type = &long_voice_type, .data = bytes, .size = sizeof(bytes) }, &d);
    return count(status, d);
}

weir_delivery ears_say_batch(weir_channel channel, uint32_t value, uint32_t number)
{
    unsigned char bytes[4][LONG_VOICE] = { { 0 } };
    weir_event events[4];
    const weir_event *pointers[4];
    for (uint32_t i = 0; i < number; i++) {
        const uint32_t own = value + i;
        memcpy(bytes[i], &own, sizeof(own));
        events[i] = (weir_event){ .type = i % 2 == 0 ? &voice_type : &long_voice_type,
                                  .data = bytes[i],
                                  .size = i % 2 == 0 ? (uint32_t)sizeof(voice) : LONG_VOICE };
        pointers[i] = &events[i];
    }
    weir_delivery d = { 0, 0 };
    weir_status status;
    const size_t sent =
        weir_engine_broadcast_batch(stage.engine, channel, pointers, number, &d, &status);
    weir_sim_check(sent == number || status != WEIR_OK, "%zu of a batch, and no reason", sent);
    /* Those before the one that failed were broadcast. */
    return count(status == WEIR_E_NOMEM && stage_is_short() ? WEIR_OK : status, d);
}

weir_delivery ear_say(weir_turn *turn, weir_channel channel, uint32_t value)
{
    const voice v = { .value = value };
    weir_delivery d = { 0, 0 };
    const weir_status status = weir_turn_broadcast_many(
        turn, &channel, 1, &(weir_event){ .type = &voice_type, .data = &v, .size = sizeof(v) }, &d);
    return count(status, d);
}

bool ears_post(ear *to, uint32_t value)
{
    const voice v = { .value = value };
    const weir_status status =
        weir_engine_post(stage.engine, to->handle,
                         &(weir_event){ .type = &voice_type, .data = &v, .size = sizeof(v) });
    accepted += status == WEIR_OK ? 1 : 0;
    return status == WEIR_OK;
}

void ears_expect_one(void)
{
    accepted++;
}

weir_status ear_stop(ear *which)
{
    return weir_processor_stop(stage.engine, which->handle, WEIR_FOREVER, NULL);
}

void ears_settle(void)
{
    settling = true;
    while (handled < accepted + told) {
        weir__sim_sleep_on(&settling, WEIR_FOREVER);
    }
    settling = false;
}

/* ---- the end ---- */

static uint32_t place_of(const ear *e, uint32_t value)
{
    for (uint32_t i = 0; i < e->count; i++) {
        if (e->heard[i] == value) {
            return i;
        }
    }
    return HEARD_MAX;
}

static void check_order(const ear *one, const ear *other)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < one->count; i++) {
        const uint32_t at = place_of(other, one->heard[i]);
        if (at == HEARD_MAX) {
            continue;
        }
        weir_sim_check(at >= last, "P-2: ears %u and %u do not hear %x in one order",
                       (unsigned)(one - ears), (unsigned)(other - ears), one->heard[i]);
        last = at;
    }
}

/* Its values go up for each who said them: the upper half says who. */
static void check_senders(const ear *e)
{
    for (uint32_t i = 0; i < e->count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            weir_sim_check(e->heard[i] >> 16 != e->heard[j] >> 16 || e->heard[i] > e->heard[j],
                           "P-2: ear %u hears %x after %x", (unsigned)(e - ears), e->heard[i],
                           e->heard[j]);
        }
    }
}

static void check_sums(const weir_counters *c, weir_ns timeout)
{
    weir_sim_check(c->accepted == c->handled + c->dropped + c->dead + c->left, "P-3: the sums");
    const bool exact = timeout == WEIR_FOREVER; /* else a handler may be midway */
    weir_sim_check(!exact || c->undelivered == refused, "%llu undelivered, and %llu were refused",
                   (unsigned long long)c->undelivered, (unsigned long long)refused);
    weir_sim_check(exact ? c->handled == handled : c->handled <= handled, "P-3: handled");
    /* Who was told is a post of weir's own. */
    weir_sim_check(!exact || c->dropped > 0 || c->accepted == accepted + told,
                   "P-3: %llu accepted, and senders saw %llu", (unsigned long long)c->accepted,
                   (unsigned long long)(accepted + told));
}

void ears_close(weir_ns timeout)
{
    weir_counters counters = WEIR_COUNTERS_INIT;
    const weir_status status = weir_engine_stop(stage.engine, timeout, NULL);
    weir_sim_check(status == WEIR_OK || status == WEIR_ALREADY || timeout != WEIR_FOREVER,
                   "the stop answers %s", weir_status_name(status));
    weir_sim_quiet(true);
    weir_engine_counters(stage.engine, &counters);
    weir_engine_destroy(stage.engine);
    check_sums(&counters, timeout);
    for (uint32_t i = 0; i < ear_count; i++) {
        check_senders(&ears[i]);
        for (uint32_t j = 0; j < ear_count; j++) {
            check_order(&ears[i], &ears[j]);
        }
    }
    const size_t lost = weir__sim_memory_live();
    weir_sim_check(lost <= KEPT_BYTES, "%zu bytes were never given back", lost);
}

static void check_part(const ear *part, const ear *whole, uint32_t from)
{
    weir_sim_check(part->count <= whole->count, "one heard %u, the other %u", part->count,
                   whole->count);
    for (uint32_t i = 0; i < part->count; i++) {
        weir_sim_check(part->heard[i] == whole->heard[from + i],
                       "heard %x where the other heard %x", part->heard[i], whole->heard[from + i]);
    }
}

void ears_check_beginning(const ear *part, const ear *whole)
{
    if (!stage_is_short()) {
        check_part(part, whole, 0);
    }
}

void ears_check_end(const ear *part, const ear *whole)
{
    if (!stage_is_short()) {
        check_part(part, whole, whole->count - part->count);
    }
}
