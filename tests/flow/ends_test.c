/*
 * ends_test.c - flows that nobody finishes end by themselves: after idle_timeout, or for a new one
 * when there are flows_max (S-55); destroy is told why (S-56). And events without a flow (S-57),
 * inits that fail.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_support.h"

static stage s;

/* ---- idle ---- */

static void a_flow_with_nothing_to_do_ends_after_idle_timeout_and_not_before(void **state)
{
    (void)state;
    const weir_ns timeout = 40 * WEIR_MS;
    stage_open(&s, STAGE(.workers = 2, .idle_timeout = timeout));
    const weir_ns began = test_now();
    assert_int_equal(WEIR_OK, submit_value(&s, 1, 1));
    assert_int_equal(WEIR_OK, submit_value(&s, 2, 2));
    TEST_UNTIL(atomic_load(&s.ended) == 2);
    assert_true(test_now() - began >= timeout);
    assert_int_equal(WEIR_FLOW_IDLE, end_of_life(&s, life_of(&s, 1)));
    assert_int_equal(WEIR_FLOW_IDLE, end_of_life(&s, life_of(&s, 2)));
    TEST_UNTIL(router_counters(s.engine, s.router).flows == 0);
    /* And again, after there was none. */
    assert_int_equal(WEIR_OK, submit_value(&s, 1, 3));
    TEST_UNTIL(atomic_load(&s.ended) == 3);
    assert_true(life_of(&s, 3) != life_of(&s, 1));
    assert_int_equal(3, stage_close(&s).idle);
}

static void a_flow_that_gets_events_is_not_idle(void **state)
{
    (void)state;
    stage_open(&s, STAGE(.workers = 1, .idle_timeout = 200 * WEIR_MS));
    const weir_ns began = test_now();
    uint64_t value = 0;
    weir_ns last = began;
    weir_ns longest = 0; /* between two submits: this machine may be slow */
    while (test_now() - began < 600 * WEIR_MS && value < 4000) {
        assert_int_equal(WEIR_OK, submit_value(&s, 1, ++value));
        stage_handled(&s, value);
        const weir_ns now = test_now();
        longest = now - last > longest ? now - last : longest;
        last = now;
    }
    assert_true(atomic_load(&s.ended) == 0 || longest > 150 * WEIR_MS);
    TEST_UNTIL(atomic_load(&s.ended) >= 1);
    (void)stage_close(&s);
}

/* Where flows are many, one that was submitted to again soon keeps its place in their order. */
static void a_flow_that_got_a_second_event_soon_ends_in_its_time(void **state)
{
    (void)state;
    const weir_ns timeout = 640 * WEIR_MS;
    stage_open(&s, STAGE(.workers = 1, .idle_timeout = timeout));
    const weir_ns began = test_now();
    assert_int_equal(WEIR_OK, submit_value(&s, 1, 1));
    TEST_UNTIL(test_now() - began > 6 * WEIR_MS);
    assert_int_equal(WEIR_OK, submit_value(&s, 1, 2));
    const weir_ns last = test_now();
    TEST_UNTIL(atomic_load(&s.ended) == 1);
    assert_true(test_now() - began >= timeout);
    assert_true(test_now() - last < timeout + timeout / 2);
    (void)stage_close(&s);
}

static void a_flow_whose_handler_takes_longer_than_idle_timeout_is_not_idle(void **state)
{
    (void)state;
    latch hold;
    stage_open(&s, STAGE(.workers = 2, .idle_timeout = 5 * WEIR_MS));
    submit_held(&s, 1, 1, &hold);
    assert_int_equal(WEIR_OK, submit_value(&s, 1, 2));
    for (uint64_t flow = 10; flow < 14; flow++) { /* time goes by: others come and end */
        assert_int_equal(WEIR_OK, submit_value(&s, flow, flow));
        TEST_UNTIL(atomic_load(&s.ended) == flow - 9);
    }
    assert_int_equal(1, flow_counters(s.engine, s.router, 1).submitted -
                            flow_counters(s.engine, s.router, 1).handled - 1);
    latch_open(&hold);
    TEST_UNTIL(atomic_load(&s.ended) == 5);
    assert_int_equal(life_of(&s, 1), life_of(&s, 2));
    assert_int_equal(WEIR_FLOW_IDLE, end_of_life(&s, life_of(&s, 1)));
    (void)stage_close(&s);
}

static void forever_is_no_timeout_nor_is_almost_forever(void **state)
{
    (void)state;
    static const weir_ns timeouts[] = { WEIR_FOREVER, WEIR_FOREVER - 1, WEIR_FOREVER / 2 };
    for (size_t i = 0; i < 3; i++) {
        stage_open(&s, STAGE(.workers = 1, .idle_timeout = timeouts[i]));
        assert_int_equal(WEIR_OK, submit_value(&s, 1, 1));
        stage_handled(&s, 1);
        assert_int_equal(WEIR_OK, submit_value(&s, 2, 2));
        stage_handled(&s, 2);
        assert_int_equal(0, atomic_load(&s.ended));
        const weir_router_counters c = stage_close(&s);
        assert_int_equal(2, c.stopped);
        assert_int_equal(0, c.idle);
    }
}

/* ---- too many ---- */

static void for_a_new_flow_exactly_the_longest_idle_one_goes(void **state)
{
    (void)state;
    enum { MOST = 8, ROUNDS = 200 };
    uint64_t random = test_seed();
    uint64_t live[MOST]; /* oldest first, as a list of its own */
    stage_open(&s, STAGE(.workers = 3, .flows_max = MOST, .idle_timeout = WEIR_FOREVER));
    uint64_t handled = 0;
    for (uint64_t i = 0; i < MOST; i++) {
        live[i] = 1 + i;
        assert_int_equal(WEIR_OK, submit_value(&s, live[i], live[i]));
        stage_handled(&s, ++handled);
    }
    for (uint64_t round = 0; round < ROUNDS; round++) {
        const size_t touched = test_random(&random) % MOST; /* is the newest after that */
        uint64_t flow = live[touched];
        assert_int_equal(WEIR_OK, submit_value(&s, flow, flow));
        stage_handled(&s, ++handled);
        memmove(&live[touched], &live[touched + 1], (MOST - 1 - touched) * sizeof(live[0]));
        live[MOST - 1] = flow;
        flow = 100 + round;
        assert_int_equal(WEIR_OK, submit_value(&s, flow, flow));
        stage_handled(&s, ++handled);
        TEST_UNTIL(atomic_load(&s.ended) == round + 1);
        const uint64_t gone = live[0];
        assert_int_equal(WEIR_FLOW_EVICTED, end_of_life(&s, life_of(&s, gone)));
        TEST_UNTIL(!flow_lives(&s, gone));
        assert_int_equal(MOST, router_counters(s.engine, s.router).flows);
        memmove(&live[0], &live[1], (MOST - 1) * sizeof(live[0]));
        live[MOST - 1] = flow;
    }
    for (size_t i = 0; i < MOST; i++) {
        assert_true(flow_lives(&s, live[i]));
    }
    const weir_router_counters c = stage_close(&s);
    assert_int_equal(ROUNDS, c.evicted);
    assert_int_equal(MOST, c.stopped);
    assert_int_equal(MOST + ROUNDS, c.flows_made);
}

static void a_flow_that_has_something_waiting_is_not_evicted(void **state)
{
    (void)state;
    latch hold;
    stage_open(&s, STAGE(.workers = 2, .flows_max = 2, .idle_timeout = WEIR_FOREVER));
    submit_held(&s, 1, 1, &hold); /* the oldest, and busy */
    assert_int_equal(WEIR_OK, submit_value(&s, 2, 2));
    stage_handled(&s, 1);
    assert_int_equal(WEIR_OK, submit_value(&s, 3, 3));
    TEST_UNTIL(!flow_lives(&s, 2));
    assert_int_equal(WEIR_FLOW_EVICTED, end_of_life(&s, life_of(&s, 2)));
    assert_true(flow_lives(&s, 1) && flow_lives(&s, 3));
    latch_open(&hold);
    stage_handled(&s, 3);
    assert_int_equal(0, end_of_life(&s, life_of(&s, 1)));
    (void)stage_close(&s);
}

static void while_all_are_busy_there_may_be_a_few_more_and_then_it_is_full(void **state)
{
    (void)state;
    enum { MOST = 32, MORE = MOST / 16 + 64 };
    latch hold;
    stage_open(&s, STAGE(.workers = 1, .flows_max = MOST, .block_max = WEIR_MS,
                         .idle_timeout = WEIR_FOREVER));
    submit_held(&s, 1, 1, &hold);
    for (uint64_t flow = 2; flow <= MOST + MORE; flow++) {
        assert_int_equal(WEIR_OK, submit_value(&s, flow, flow));
    }
    assert_int_equal(MOST + MORE, router_counters(s.engine, s.router).flows);
    assert_int_equal(WEIR_FULL, submit_value(&s, 1000, 1));
    assert_int_equal(WEIR_OK, submit_value(&s, 2, 1001)); /* it is there */
    assert_int_equal(WEIR_OK, submit_value(&s, 0, 1002)); /* and this needs none */
    assert_int_equal(1, router_counters(s.engine, s.router).refused_flows);
    latch_open(&hold);
    stage_handled(&s, MOST + MORE + 2);
    (void)stage_close(&s);
}

static void after_the_rush_there_are_no_more_than_flows_max_again(void **state)
{
    (void)state;
    enum { MOST = 8, RUSH = 40 };
    latch hold;
    stage_open(&s, STAGE(.workers = 1, .flows_max = MOST, .idle_timeout = WEIR_FOREVER));
    submit_held(&s, 1, 1, &hold);
    for (uint64_t flow = 2; flow <= RUSH; flow++) {
        assert_int_equal(WEIR_OK, submit_value(&s, flow, flow));
    }
    latch_open(&hold);
    stage_handled(&s, RUSH);
    for (uint64_t i = 1; i <= RUSH; i++) { /* ordinary business: a new flow now and then */
        assert_int_equal(WEIR_OK, submit_value(&s, 1000 + i, 1000 + i));
        stage_handled(&s, RUSH + i);
    }
    TEST_UNTIL(router_counters(s.engine, s.router).flows <= MOST);
    (void)stage_close(&s);
}

static void who_waits_for_a_flow_to_go_gets_on_when_one_is_finished(void **state)
{
    (void)state;
    enum { MOST = 1, ALL = MOST + 64 };
    latch hold, next;
    submitter waiting;
    latch_init(&next);
    stage_open(&s, STAGE(.workers = 2, .flows_max = MOST, .block_max = WEIR_FOREVER,
                         .idle_timeout = WEIR_FOREVER));
    submit_held(&s, 1, 1, &hold);
    assert_int_equal(WEIR_OK, submit_step(&s, 2, (step){ .value = 2, .hold = &next }));
    latch_entered(&next);
    for (uint64_t flow = 3; flow <= ALL; flow++) {
        assert_int_equal(WEIR_OK, submit_value(&s, flow, flow));
    }
    submitter_begin(&waiting, &s, 1000, 1000);
    submitter_waits(&waiting);
    latch_open(&next); /* half of them are handled now, and idle: one of them goes */
    assert_int_equal(WEIR_OK, submitter_end(&waiting));
    latch_open(&hold);
    stage_handled(&s, ALL + 1);
    (void)stage_close(&s);
}

/* ---- reasons, all four ---- */

static void destroy_is_told_why(void **state)
{
    (void)state;
    stage_open(&s, STAGE(.workers = 1, .flows_max = 2, .idle_timeout = 300 * WEIR_MS));
    assert_int_equal(WEIR_OK, submit_last(&s, 1, 1));
    TEST_UNTIL(end_of_life(&s, 1) == WEIR_FLOW_FINISHED);
    for (uint64_t flow = 2; flow <= 4; flow++) {
        assert_int_equal(WEIR_OK, submit_value(&s, flow, flow));
        stage_handled(&s, flow);
    }
    TEST_UNTIL(atomic_load(&s.ended) >= 2);
    TEST_UNTIL(ends_as(&s, WEIR_FLOW_EVICTED) == 1 || ends_as(&s, WEIR_FLOW_IDLE) > 0);
    TEST_UNTIL(ends_as(&s, WEIR_FLOW_IDLE) >= 2);
    assert_int_equal(WEIR_OK, submit_value(&s, 5, 5));
    stage_handled(&s, 5);
    assert_int_equal(WEIR_OK, weir_router_stop(s.engine, s.router, TEST_PATIENCE, NULL));
    const weir_flow_end last = end_of_life(&s, life_of(&s, 5));
    assert_true(last == WEIR_FLOW_STOPPED || last == WEIR_FLOW_IDLE);
    (void)stage_close(&s);
}

/* ---- inits that fail ---- */

static void an_init_that_fails_makes_its_event_dead_and_the_next_one_tries_again(void **state)
{
    (void)state;
    stage_open(&s, STAGE(.workers = 1));
    s.init_answer = WEIR_E_USER;
    assert_int_equal(WEIR_OK, submit_value(&s, 1, 1));
    TEST_UNTIL(router_counters(s.engine, s.router).dead == 1);
    assert_int_equal(WEIR_OK, submit_last(&s, 1, 2));
    TEST_UNTIL(router_counters(s.engine, s.router).dead == 2);
    TEST_UNTIL(!flow_lives(&s, 1)); /* the last of its flow all the same */
    assert_int_equal(0, atomic_load(&s.begun) + atomic_load(&s.ended));
    s.init_answer = WEIR_ALREADY; /* as of a processor: well */
    assert_int_equal(WEIR_OK, submit_value(&s, 1, 3));
    stage_handled(&s, 1);
    ASSERT_HANDLED(&s, 1, 3);
    const weir_router_counters c = stage_close(&s);
    assert_int_equal(2, c.dead);
    assert_int_equal(1, c.handled);
    assert_int_equal(1, c.stopped);
}

/* ---- no state, no flow ---- */

typedef struct shared_state {
    atomic_uint_least64_t handled;
    atomic_uint_least64_t inits, ends[WEIR_FLOW_STOPPED + 1];
} shared_state;

static weir_status shared_init(void *state, weir_turn *turn, void *argument)
{
    (void)turn;
    shared_state *all = state;
    if (state != argument) {
        return WEIR_E_FAILED;
    }
    atomic_fetch_add(&all->inits, 1);
    return WEIR_OK;
}

static weir_status shared_handle(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    atomic_fetch_add(&((shared_state *)state)->handled, 1);
    return WEIR_OK;
}

static void shared_destroy(void *state, weir_flow_end reason)
{
    atomic_fetch_add(&((shared_state *)state)->ends[reason], 1);
}

static void without_state_size_the_argument_is_the_state_of_all(void **state)
{
    (void)state;
    shared_state all = { .handled = 0 };
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.threads = 2));
    const weir_router router = flow_router_add(
        engine, WEIR_ROUTER(.name = "shared", .handler = shared_handle, .argument = &all,
                            .init = shared_init, .destroy = shared_destroy, .workers = 2));
    test_engine_start(engine);
    for (uint64_t flow = 0; flow <= 20; flow++) {
        assert_int_equal(WEIR_OK,
                         weir_router_submit(engine, router, flow, WEIR_EVENT(step, .value = 1)));
    }
    for (uint64_t flow = 1; flow <= 5; flow++) {
        assert_int_equal(WEIR_OK, weir_router_finish(engine, router, flow));
    }
    (void)test_engine_end(engine);
    assert_int_equal(21, atomic_load(&all.handled));
    assert_int_equal(20, atomic_load(&all.inits));
    assert_int_equal(5, atomic_load(&all.ends[WEIR_FLOW_FINISHED]));
    assert_int_equal(15, atomic_load(&all.ends[WEIR_FLOW_STOPPED]));
}

static void an_event_without_a_flow_has_no_state_and_no_flow(void **state)
{
    (void)state;
    latch hold;
    latch_init(&hold);
    stage_open(&s, STAGE(.workers = 2));
    assert_int_equal(WEIR_OK, submit_step(&s, 0, (step){ .value = 1, .hold = &hold }));
    latch_entered(&hold);
    /* Another one beside it: they have no order. */
    assert_int_equal(WEIR_OK, submit_value(&s, 0, 2));
    stage_handled(&s, 1);
    latch_open(&hold);
    stage_handled(&s, 2);
    assert_int_equal(WEIR_OK, submit_last(&s, 0, 3)); /* nothing to end */
    assert_int_equal(WEIR_OK, submit_step(&s, 0, (step){ .value = 4, .finish = true }));
    stage_handled(&s, 4);
    const weir_router_counters c = stage_close(&s);
    assert_int_equal(4, c.submitted);
    assert_int_equal(4, c.handled);
    assert_int_equal(0, c.flows_made);
    assert_int_equal(0, atomic_load(&s.begun));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flow_with_nothing_to_do_ends_after_idle_timeout_and_not_before),
        cmocka_unit_test(a_flow_that_gets_events_is_not_idle),
        cmocka_unit_test(a_flow_that_got_a_second_event_soon_ends_in_its_time),
        cmocka_unit_test(a_flow_whose_handler_takes_longer_than_idle_timeout_is_not_idle),
        cmocka_unit_test(forever_is_no_timeout_nor_is_almost_forever),
        cmocka_unit_test(for_a_new_flow_exactly_the_longest_idle_one_goes),
        cmocka_unit_test(a_flow_that_has_something_waiting_is_not_evicted),
        cmocka_unit_test(while_all_are_busy_there_may_be_a_few_more_and_then_it_is_full),
        cmocka_unit_test(after_the_rush_there_are_no_more_than_flows_max_again),
        cmocka_unit_test(who_waits_for_a_flow_to_go_gets_on_when_one_is_finished),
        cmocka_unit_test(destroy_is_told_why),
        cmocka_unit_test(an_init_that_fails_makes_its_event_dead_and_the_next_one_tries_again),
        cmocka_unit_test(without_state_size_the_argument_is_the_state_of_all),
        cmocka_unit_test(an_event_without_a_flow_has_no_state_and_no_flow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
