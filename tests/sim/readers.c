/*
 * readers.c - what was published, and what came of it.
 *
 * Not instrumented, so that its own notes are no races; what readers share it says by itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "readers.h"

#include <string.h>

#include "sync/sim/core.h"

#define KEPT_BYTES 64u /* what weir keeps for the body's own thread, until that ends */
#define LONG_WORD 64u

typedef struct word {
    uint32_t value, rest;
} word;
static const weir_event_type word_type = {
    sizeof(weir_event_type), "readers.word", (uint32_t)sizeof(word), false, NULL, NULL
};
static const weir_event_type long_word_type = {
    sizeof(weir_event_type), "readers.long-word", LONG_WORD, false, NULL, NULL
};

static reader readers[READERS_MAX];
static uint32_t reader_count;
static uint32_t handled;
static uint32_t last_of[4]; /* by sender */
static bool settling;

void readers_open(const weir_engine_options *options)
{
    stage_open(options);
    memset(readers, 0, sizeof(readers));
    memset(last_of, 0, sizeof(last_of));
    reader_count = 0;
    handled = 0;
    settling = false;
}

void readers_thread(const char *dispatcher)
{
    (void)weir_thread_add(
        stage.engine, WEIR_THREAD(.dispatchers = WEIR_NAMES(dispatcher), .idle = WEIR_IDLE_PARK),
        &stage.error);
}

static weir_status read_one(void *state, weir_turn *turn, const weir_event *event)
{
    reader *self = state;
    (void)turn;
    weir_sim_reads(event->data, event->size);
    weir_sim_writes(&self->turns, sizeof(self->turns));
    self->turns++;
    weir_sim_check(self->count < READ_MAX, "too much to read");
    memcpy(&self->read[self->count++], event->data, sizeof(uint32_t));
    weir_sim_note("reader %u reads %x", (unsigned)(self - readers), self->read[self->count - 1]);
    if (self->holds) {
        self->held = true;
        weir__sim_wake(&self->held, UINT32_MAX);
        while (self->holds) {
            weir__sim_sleep_on(&self->holds, WEIR_FOREVER);
        }
    }
    weir_sim_step(); /* here another turn would show, if there were one */
    weir_sim_writes(&self->turns, sizeof(self->turns));
    weir_sim_reads(event->data, event->size); /* it is still there */
    handled++;
    if (settling) {
        weir__sim_wake(&settling, UINT32_MAX); /* without an edge: it must not hide a race */
    }
    return WEIR_OK;
}

reader *reader_add(const weir_processor_options *options)
{
    weir_processor_options o = WEIR_PROCESSOR_OPTIONS_INIT;
    weir_sim_check(reader_count < READERS_MAX, "too many readers");
    reader *r = &readers[reader_count++];
    if (options != NULL) {
        o = *options;
    }
    o.handler = read_one;
    o.argument = r;
    weir_error error = WEIR_ERROR_INIT;
    r->handle = weir_processor_add(stage.engine, &o, &error);
    return r;
}

weir_feed readers_feed(const weir_feed_options *options)
{
    return weir_feed_open(stage.engine, options, &stage.error);
}

void reader_subscribe(weir_feed feed, const reader *which)
{
    const weir_status status = weir_feed_subscribe(stage.engine, feed, which->handle);
    weir_sim_check(status == WEIR_OK, "no set-up: %s", weir_status_name(status));
}

/* ---- the play ---- */

weir_status readers_publish(weir_feed feed, uint32_t sender)
{
    unsigned char bytes[LONG_WORD] = { 0 };
    const uint32_t number = last_of[sender] + 1;
    const uint32_t value = sender << 16 | number;
    memcpy(bytes, &value, sizeof(value));
    const weir_event event = { .type = number % 2 == 1 ? &word_type : &long_word_type,
                               .data = bytes,
                               .size = number % 2 == 1 ? (uint32_t)sizeof(word) : LONG_WORD };
    const weir_status status = weir_feed_publish(stage.engine, feed, &event);
    weir_sim_note("publishes %x: %s", value, weir_status_name(status));
    weir_sim_check(status == WEIR_OK || status == WEIR_STOPPING ||
                       (status == WEIR_E_NOMEM && stage_is_short()),
                   "a publish answers %s", weir_status_name(status));
    last_of[sender] = status == WEIR_OK || status == WEIR_STOPPING ? number : last_of[sender];
    return status;
}

weir_feed_counters readers_counters(weir_feed feed)
{
    weir_feed_counters counters = WEIR_FEED_COUNTERS_INIT;
    (void)weir_feed_counters_get(stage.engine, feed, &counters);
    return counters;
}

void reader_hold(reader *which)
{
    which->holds = true;
}

void reader_await_held(reader *which)
{
    while (!which->held) {
        weir__sim_sleep_on(&which->held, WEIR_FOREVER);
    }
}

void reader_release(reader *which)
{
    which->holds = false;
    weir__sim_wake(&which->holds, UINT32_MAX);
}

void readers_settle(uint32_t expected)
{
    settling = true;
    while (handled < expected) {
        weir__sim_sleep_on(&settling, WEIR_FOREVER);
    }
    settling = false;
}

/* ---- the end ---- */

static void check_order(const reader *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            weir_sim_check(r->read[i] >> 16 != r->read[j] >> 16 || r->read[i] > r->read[j],
                           "P-2: reader %u reads %x after %x", (unsigned)(r - readers), r->read[i],
                           r->read[j]);
        }
    }
}

void readers_close(weir_feed feed)
{
    weir_counters counters = WEIR_COUNTERS_INIT;
    const weir_status status = weir_engine_stop(stage.engine, WEIR_FOREVER, NULL);
    weir_sim_check(status == WEIR_OK || status == WEIR_ALREADY, "the stop answers %s",
                   weir_status_name(status));
    weir_sim_quiet(true);
    weir_engine_counters(stage.engine, &counters);
    const weir_feed_counters fed = readers_counters(feed);
    weir_engine_destroy(stage.engine);
    weir_sim_check(counters.accepted ==
                       counters.handled + counters.dropped + counters.dead + counters.left,
                   "P-3: the sums");
    weir_sim_check(counters.handled == handled, "P-3: %u handled, the engine says %u", handled,
                   (unsigned)counters.handled);
    weir_sim_check(counters.accepted == fed.delivered, "%u accepted, the feed says %u",
                   (unsigned)counters.accepted, (unsigned)fed.delivered);
    for (uint32_t i = 0; i < reader_count; i++) {
        check_order(&readers[i]);
    }
    const size_t lost = weir__sim_memory_live();
    weir_sim_check(lost <= KEPT_BYTES, "%zu bytes were never given back", lost);
}

void reader_check_all(const reader *which, uint32_t first, uint32_t last)
{
    weir_sim_check(stage_is_short() || which->count == last - first + 1,
                   "reader %u has read %u of %u", (unsigned)(which - readers), which->count,
                   last - first + 1);
    for (uint32_t i = 0; !stage_is_short() && i < which->count; i++) {
        weir_sim_check((which->read[i] & 0xffffu) == first + i, "reader %u reads %x in place of %u",
                       (unsigned)(which - readers), which->read[i], first + i);
    }
}
