/*
 * load/w16_feed.c - W16: one writer outside the engine, one feed, 1, 3 or 10 subscribers on one
 * thread, so that they share a ring; against the same by a post into each of their mailboxes. An
 * event is one delivery. Nothing is lost: the writer waits for room.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "load/producer.h"
#include "suite/rows.h"
#include "weir/feed.h"

enum { DELIVERIES = 20000000, SINKS_MAX = 10 };

typedef struct scene {
    load l;
    load_sink sinks[SINKS_MAX];
    weir_processor targets[SINKS_MAX];
    uint32_t count;
    uint64_t each;
    weir_feed feed; /* zero: posts */
    pthread_t thread;
} scene;

static weir_status send(const scene *s, const weir_event *event)
{
    weir_status status = WEIR_OK;
    if (s->feed.id != 0) {
        return weir_feed_publish(s->l.engine, s->feed, event);
    }
    for (uint32_t i = 0; i < s->count && status == WEIR_OK; i++) {
        status = weir_engine_post(s->l.engine, s->targets[i], event);
    }
    return status;
}

static void *write_all(void *argument)
{
    scene *s = argument;
    weir_status status = WEIR_OK;
    load_begin(&s->l);
    for (uint64_t n = 0; n < s->each && status == WEIR_OK; n++) {
        status = send(s, WEIR_EVENT(load_mail, 0, n));
    }
    if (status != WEIR_OK) {
        load_gate_break(&s->l.gate, status);
    }
    return NULL;
}

static void set_up(scene *s, const bench_setup *setup, bool fed)
{
    load_open(&s->l,
              (weir_engine_options){ .threads = setup->threads,
                                     .overflow = WEIR_OVERFLOW_BLOCK,
                                     .block_max = 60 * WEIR_S },
              s->count);
    if (fed) {
        s->feed = weir_feed_open(s->l.engine, WEIR_FEED(.name = "w16", .slow = WEIR_SLOW_BLOCK),
                                 &s->l.error);
    }
    for (uint32_t i = 0; i < s->count; i++) {
        s->sinks[i] = (load_sink){ .want = s->each, .gate = &s->l.gate };
        s->targets[i] = weir_processor_add(
            s->l.engine, WEIR_PROCESSOR(.handler = load_sink_take, .argument = &s->sinks[i]),
            &s->l.error);
        if (fed) {
            (void)weir_feed_subscribe(s->l.engine, s->feed, s->targets[i]);
        }
    }
}

static void measure(const bench_setup *setup, bench_result *result, uint32_t count, bool fed)
{
    scene *s = load_memory(1, sizeof(*s));
    s->count = count;
    s->each = bench_scaled(setup, DELIVERIES, (uint64_t)10 * count) / count;
    set_up(s, setup, fed);
    if (load_start(&s->l, result)) {
        s->thread = load_thread(write_all, s);
        bench_result_rate(result, s->each * count, load_wait(&s->l, result));
        load_cpu(&s->l, result);
        (void)pthread_join(s->thread, NULL);
    }
    load_close(&s->l, result);
    load_sink_check(s->sinks, count, result);
    free(s);
}

#define RUN(count)                                                                                 \
    static void run_feed_##count(const bench_setup *setup, bench_result *result)                   \
    {                                                                                              \
        measure(setup, result, (count), true);                                                     \
    }                                                                                              \
    static void run_posts_##count(const bench_setup *setup, bench_result *result)                  \
    {                                                                                              \
        measure(setup, result, (count), false);                                                    \
    }
RUN(1)
RUN(3)
RUN(10)

#define ROWS(count, text)                                                                          \
    { "w16-feed-" #count, "weir", text, { 1 }, run_feed_##count },                                 \
    {                                                                                              \
        "w16-feed-" #count, "weir-posts", "the same by a post to each", { 1 }, run_posts_##count   \
    }

const bench_row load_w16_rows[] = {
    ROWS(1, "a feed with 1 subscriber"),
    ROWS(3, "a feed with 3 subscribers on one thread"),
    ROWS(10, "a feed with 10 subscribers on one thread"),
    { 0 },
};
