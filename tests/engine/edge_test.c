/*
 * edge_test.c - who was seen to send to whom: what weir_edge_visit tells against what was sent.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine_support.h"

#include "engine/latency_tune.h"

typedef struct note {
    uint64_t number;
} note;
WEIR_EVENT_TYPE(note, "test.note");

typedef struct chain {
    weir_engine *engine;
    weir_processor first, second;
    goal done;
    uint64_t outside, between, strange;
} chain;

static weir_status pass_on(void *state, weir_turn *turn, const weir_event *event)
{
    const chain *c = state;
    (void)event;
    return weir_turn_post(turn, c->second, WEIR_EVENT(note, 1));
}

static weir_status take(void *state, weir_turn *turn, const weir_event *event)
{
    chain *c = state;
    (void)turn;
    (void)event;
    goal_add(&c->done);
    return WEIR_OK;
}

static bool see(void *context, weir_processor sender, weir_processor receiver, uint64_t events)
{
    chain *c = context;
    if (sender.id == 0 && receiver.id == c->first.id) {
        c->outside += events;
    } else if (sender.id == c->first.id && receiver.id == c->second.id) {
        c->between += events;
    } else {
        c->strange += events;
    }
    return true;
}

static weir_processor add(weir_engine *engine, weir_handler handler, chain *c)
{
    weir_error error = WEIR_ERROR_INIT;
    const weir_processor p =
        weir_processor_add(engine, WEIR_PROCESSOR(.handler = handler, .argument = c), &error);
    assert_no_error(&error);
    return p;
}

/* `count` events for the first, before anything runs: each is measured. Then until the goal is
 * reached, and the engine has stopped. */
static void run(chain *c, uint64_t count)
{
    goal_init(&c->done, count);
    for (uint64_t i = 0; i < count; i++) {
        assert_int_equal(WEIR_OK, weir_engine_post(c->engine, c->first, WEIR_EVENT(note, i)));
    }
    engine_start(c->engine);
    assert_true(goal_wait(&c->done));
    assert_int_equal(WEIR_OK, weir_engine_stop(c->engine, 10 * WEIR_S, NULL));
    weir_edge_visit(c->engine, see, c);
}

static void who_sends_to_whom_is_seen(void **state)
{
    (void)state;
    chain c = { .engine = engine_make(WEIR_ENGINE(.threads = 2, .latency_every = 1)) };
    c.first = add(c.engine, pass_on, &c);
    c.second = add(c.engine, take, &c);
    run(&c, 300);
    assert_int_equal(300, c.outside);
    assert_int_equal(300, c.between);
    assert_int_equal(0, c.strange);
    assert_int_equal(WEIR_OK, weir_latency_reset(c.engine, NULL));
    c.outside = 0;
    weir_edge_visit(c.engine, see, &c);
    assert_int_equal(0, c.outside);
    weir_engine_destroy(c.engine);
}

/* While one that is measured is handled, and others wait behind it. */
static weir_status switch_off(void *state, weir_turn *turn, const weir_event *event)
{
    const chain *c = state;
    weir__engine_latency(c->engine, UINT32_MAX, 1000);
    return take(state, turn, event);
}

static void an_edge_counts_what_was_measured_before_it_was_switched_off(void **state)
{
    (void)state;
    chain c = { .engine = engine_make(WEIR_ENGINE(.threads = 1, .latency_every = 1)) };
    c.first = add(c.engine, switch_off, &c);
    run(&c, 3);
    assert_int_equal(3, c.outside);
    assert_int_equal(0, c.strange);
    weir_engine_destroy(c.engine);
}

/* One without a name has nowhere to keep a histogram, and needs none. */
static void what_was_never_measured_can_be_switched_off_and_reset(void **state)
{
    (void)state;
    chain c = { .engine = engine_make(WEIR_ENGINE(.threads = 1)) };
    uint32_t count = 0;
    c.first = add(c.engine, take, &c);
    assert_int_equal(WEIR_OK, weir_latency_disable(c.engine, NULL, &count));
    assert_int_equal(1, count);
    assert_int_equal(WEIR_OK, weir_latency_reset(c.engine, NULL));
    assert_int_equal(WEIR_E_INVALID, weir_latency_reset(NULL, NULL));
    weir_engine_destroy(c.engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_sends_to_whom_is_seen),
        cmocka_unit_test(an_edge_counts_what_was_measured_before_it_was_switched_off),
        cmocka_unit_test(what_was_never_measured_can_be_switched_off_and_reset),
    };
    return cmocka_run_group_tests_name("edge", tests, NULL, NULL);
}
