/*
 * trace_pace_test.c - how much a recording shows: turns drawn together where they are brief, and as
 * many arrows as it can afford.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "origin_support.h"

#include <weir/latency.h>
#include <weir/trace.h>

#include "engine/busy.h"
#include "engine/engine.h"
#include "engine/thread.h"
#include "engine/trace.h"

/* ---- turns ---- */

typedef struct sums {
    uint64_t records, turns, events, drawn; /* drawn: records of more than one turn */
    uint64_t mixed;                         /* of more than one processor */
} sums;

/* Of a ring that has lost nothing. What is drawn together ends before the next begins. */
static sums add_up(const weir__trace_ring *ring)
{
    sums s = { 0 };
    weir_ns until = 0;
    assert_int_equal(0, weir__trace_lost(ring));
    for (uint32_t i = 0; i < weir__trace_held(ring); i++) {
        const weir__trace_record *record = weir__trace_at(ring, i);
        if (record->kind == WEIR__TRACE_TURN) {
            assert_true(record->end - weir__trace_turn_length(record) >= until);
            until = record->end;
            s.records++;
            s.turns += weir__trace_turn_count(record);
            s.events += record->count;
            s.drawn += weir__trace_turn_count(record) > 1 ? 1 : 0;
            s.mixed += record->who == 0 ? 1 : 0;
        } else if (record->kind == WEIR__TRACE_PARK) {
            assert_true(record->end - (weir_ns)record->what >= until);
            until = record->end;
        }
    }
    return s;
}

typedef struct player {
    weir_processor other;
    uint64_t left;
} player;

static weir_status hit(void *state, weir_turn *turn, const weir_event *event)
{
    player *p = state;
    if (p->left == 0) {
        return WEIR_OK;
    }
    p->left--;
    return weir_turn_post(turn, p->other, event);
}

static void brief_turns_are_drawn_together_and_none_is_left_out(void **state)
{
    enum { HITS = 20000 };
    (void)state;
    player ping = { .left = HITS };
    player pong = { .left = HITS };
    weir_counters before = WEIR_COUNTERS_INIT;
    weir_counters after = WEIR_COUNTERS_INIT;
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.threads = 1));
    pong.other = test_processor_add(engine, WEIR_PROCESSOR(.handler = hit, .argument = &ping));
    ping.other = test_processor_add(engine, WEIR_PROCESSOR(.handler = hit, .argument = &pong));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, weir_trace_start(engine, NULL, NULL));
    assert_int_equal(WEIR_OK, weir_engine_counters(engine, &before));
    assert_int_equal(WEIR_OK, weir_engine_post(engine, ping.other, small()));
    TEST_UNTIL(weir_engine_counters(engine, &after) == WEIR_OK &&
               after.handled - before.handled == 2 * HITS + 1);
    /* It goes to sleep: then all that it did is in the ring. */
    TEST_UNTIL(weir__cell_read(&weir__thread_at(engine, 0)->parks) > 0 &&
               !weir__busy_is(&weir__thread_at(engine, 0)->busy));
    assert_int_equal(WEIR_OK, weir_trace_stop(engine));
    weir__recorder *recorder = weir__trace_take(engine);
    assert_non_null(recorder);
    const weir__trace_ring *ring = &recorder->rings[0];
    const sums s = add_up(ring->foreign ? &recorder->rings[1] : ring);
    assert_int_equal(2 * HITS + 1, s.events);
    assert_int_equal(2 * HITS + 1, s.turns);
    assert_true(s.drawn > 0);
    assert_true(s.mixed > 0 && s.mixed <= s.drawn);
    assert_true(s.records < s.turns / 2);
    weir__trace_give_back(engine, recorder);
    assert_int_equal(WEIR_OK, weir_engine_stop(engine, 10 * WEIR_S, NULL));
    weir_engine_destroy(engine);
}

static weir_status doze(actor *a, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    const weir_ns until = test_now() + 20 * WEIR_US; /* what a handler does, not to wait for it */
    while (test_now() < until) {
    }
    a->sum++;
    return WEIR_OK;
}

static void a_turn_that_takes_long_is_soon_a_record_of_its_own(void **state)
{
    enum { EVENTS = 50 };
    (void)state;
    scene s;
    actor a = { .act = doze };
    scene_open(&s);
    const weir_processor to =
        test_processor_add(s.engine, WEIR_PROCESSOR(.handler = actor_handle, .argument = &a));
    scene_start(&s);
    weir__thread_at(s.engine, 0)->context.stretch.most = 256; /* as after a flood of brief ones */
    assert_int_equal(WEIR_OK, weir_trace_start(s.engine, NULL, NULL));
    for (int i = 0; i < EVENTS; i++) {
        assert_int_equal(WEIR_OK, weir_engine_post(s.engine, to, small()));
        scene_turn(&s);
    }
    assert_int_equal(WEIR_OK, weir_trace_stop(s.engine));
    assert_int_equal(1, weir__thread_at(s.engine, 0)->context.stretch.most);
    weir__recorder *recorder = weir__trace_take(s.engine);
    const weir__trace_ring *ring = &recorder->rings[0];
    const sums found = add_up(ring->foreign ? &recorder->rings[1] : ring);
    assert_int_equal(EVENTS, found.events);
    assert_int_equal(0, found.mixed);
    weir__trace_give_back(s.engine, recorder);
    scene_close(&s);
}

/* ---- arrows ---- */

static uint64_t handled_in(weir_engine *engine)
{
    uint64_t count = 0;
    weir__recorder *recorder = weir__trace_take(engine);
    assert_non_null(recorder);
    for (uint32_t r = 0; r < weir__recorder_rings(recorder); r++) {
        const weir__trace_ring *ring = &recorder->rings[r];
        for (uint32_t i = 0; i < weir__trace_held(ring); i++) {
            const weir__trace_record *record = weir__trace_at(ring, i);
            count += record->kind == WEIR__TRACE_HANDLED ? 1 : 0;
        }
    }
    weir__trace_give_back(engine, recorder);
    return count;
}

static uint64_t measured_in(weir_engine *engine)
{
    weir_latency queueing = WEIR_LATENCY_INIT;
    assert_int_equal(WEIR_OK, weir_dispatcher_latency(engine, "", &queueing, NULL));
    return queueing.count;
}

static void where_posts_are_rare_each_is_shown_and_the_figures_do_not_change(void **state)
{
    enum { EVENTS = 40 };
    (void)state;
    scene s;
    actor a = { .act = NULL };
    scene_open(&s);
    weir__store(&s.engine->latency_every, UINT32_MAX, relaxed);
    const weir_processor to =
        test_processor_add(s.engine, WEIR_PROCESSOR(.handler = actor_handle, .argument = &a));
    scene_start(&s);
    weir__context *context = weir__context_find(s.engine);
    context->stamp_in = 1; /* a thread of others sees within 128 posts that a trace is on */
    assert_int_equal(WEIR_OK, weir_trace_start(s.engine, NULL, NULL));
    for (int i = 0; i < EVENTS; i++) {
        context->trace_shown = 0; /* it was long ago */
        assert_int_equal(WEIR_OK, weir_engine_post(s.engine, to, small()));
        scene_turn(&s);
    }
    assert_int_equal(WEIR_OK, weir_trace_stop(s.engine));
    assert_int_equal(EVENTS, handled_in(s.engine));
    assert_int_equal(0, measured_in(s.engine));
    scene_close(&s);
}

static void where_posts_are_a_flood_a_few_are_shown(void **state)
{
    enum { EVENTS = 60000, AT_ONCE = 1000 };
    (void)state;
    scene s;
    actor a = { .act = NULL };
    scene_open(&s);
    const weir_processor to = test_processor_add(
        s.engine, WEIR_PROCESSOR(.handler = actor_handle, .argument = &a, .mailbox_max = AT_ONCE));
    scene_start(&s);
    assert_int_equal(WEIR_OK, weir_trace_start(s.engine, NULL, NULL));
    for (int i = 0; i < EVENTS; i++) {
        assert_int_equal(WEIR_OK, weir_engine_post(s.engine, to, small()));
        if (i % AT_ONCE == AT_ONCE - 1) {
            scene_turn(&s);
        }
    }
    assert_int_equal(WEIR_OK, weir_trace_stop(s.engine));
    const uint64_t shown = handled_in(s.engine);
    assert_true(shown > 10);
    assert_true(shown < EVENTS / 4); /* slow machines post one in two microseconds */
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(brief_turns_are_drawn_together_and_none_is_left_out),
        cmocka_unit_test(a_turn_that_takes_long_is_soon_a_record_of_its_own),
        cmocka_unit_test(where_posts_are_rare_each_is_shown_and_the_figures_do_not_change),
        cmocka_unit_test(where_posts_are_a_flood_a_few_are_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
