/*
 * reopen_test.c - finishes: what comes after one belongs to a new flow, which never overtakes the
 * old one (S-52); and no drop loses the end of a flow (S-53).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_support.h"

static stage s;

enum { BUSY = 9 }; /* the flow that holds a worker */

/* The life of `first` ended as finished, and then that of `second` began. */
static void assert_one_after_the_other(uint64_t first, uint64_t second)
{
    const uint64_t old = life_of(&s, first);
    const uint64_t new = life_of(&s, second);
    assert_true(old != 0 && new != 0 && old != new);
    assert_int_equal(WEIR_FLOW_FINISHED, end_of_life(&s, old));
    assert_true(entry_at(&s, ENTRY_END, old) < entry_at(&s, ENTRY_INIT, new));
}

/* ---- S-52 ---- */

static void a_reopened_key_waits_behind_what_is_queued_of_the_old_flow(void **state)
{
    (void)state;
    latch hold;
    stage_open(&s, STAGE(.workers = 2));
    submit_held(&s, 1, 1, &hold);
    const uint32_t worker = worker_of(&s, 1);
    assert_int_equal(WEIR_OK, submit_value(&s, 1, 2));
    assert_int_equal(WEIR_OK, submit_last(&s, 1, 3));
    /* The other worker has nothing to do, and must not be chosen. */
    for (uint64_t value = 4; value <= 6; value++) {
        assert_int_equal(WEIR_OK, submit_value(&s, 1, value));
        assert_int_equal(worker, worker_of(&s, 1));
    }
    assert_int_equal(1, atomic_load(&s.begun));
    latch_open(&hold);
    stage_handled(&s, 6);
    ASSERT_HANDLED(&s, 1, 1, 2, 3, 4, 5, 6);
    assert_int_equal(life_of(&s, 1), life_of(&s, 3));
    assert_int_equal(life_of(&s, 4), life_of(&s, 6));
    assert_one_after_the_other(3, 4);
    assert_int_equal(0, end_of_life(&s, life_of(&s, 6)));
    (void)stage_close(&s);
}

static void many_lives_of_one_key_may_wait_in_a_row(void **state)
{
    (void)state;
    enum { LIVES = 50 };
    latch hold;
    stage_open(&s, STAGE(.workers = 4));
    submit_held(&s, 1, 0, &hold);
    const uint32_t worker = worker_of(&s, 1);
    for (uint64_t i = 1; i <= LIVES; i++) {
        assert_int_equal(WEIR_OK,
                         i % 2 == 0 ? submit_last(&s, 1, 2 * i) : submit_value(&s, 1, 2 * i));
        if (i % 2 != 0) {
            assert_int_equal(WEIR_OK, weir_router_finish(s.engine, s.router, 1));
        }
        assert_int_equal(worker, worker_of(&s, 1));
    }
    latch_open(&hold);
    TEST_UNTIL(atomic_load(&s.ended) == LIVES);
    stage_handled(&s, LIVES + 1);
    for (uint64_t i = 2; i <= LIVES; i++) {
        assert_one_after_the_other(2 * (i - 1), 2 * i);
    }
    TEST_UNTIL(!flow_lives(&s, 1));
    const weir_router_counters c = stage_close(&s);
    assert_int_equal(LIVES, c.finished);
    assert_int_equal(LIVES, c.flows_made); /* as many as have ended */
}

static void a_key_that_was_finished_and_handled_is_gone_and_placed_anew(void **state)
{
    (void)state;
    latch hold;
    stage_open(&s, STAGE(.workers = 2));
    assert_int_equal(WEIR_OK, submit_last(&s, 1, 1));
    TEST_UNTIL(!flow_lives(&s, 1));
    submit_held(&s, BUSY, 2, &hold);
    assert_int_equal(0, worker_of(&s, BUSY));
    assert_int_equal(WEIR_OK, submit_value(&s, 1, 3)); /* was on the first one, too */
    assert_int_equal(1, worker_of(&s, 1));
    stage_handled(&s, 2);
    assert_one_after_the_other(1, 3);
    latch_open(&hold);
    (void)stage_close(&s);
}

static void a_finish_alone_is_counted_and_not_seen(void **state)
{
    (void)state;
    stage_open(&s, STAGE(.workers = 1));
    assert_int_equal(WEIR_UNKNOWN, weir_router_finish(s.engine, s.router, 1));
    assert_int_equal(WEIR_OK, submit_value(&s, 1, 1));
    assert_int_equal(WEIR_OK, weir_router_finish(s.engine, s.router, 1));
    TEST_UNTIL(!flow_lives(&s, 1));
    assert_int_equal(WEIR_UNKNOWN, weir_router_finish(s.engine, s.router, 1));
    assert_int_equal(WEIR_FLOW_FINISHED, end_of_life(&s, 1));
    assert_true(weir_router_finish(s.engine, s.router, 0) != WEIR_OK);
    const weir_router_counters c = stage_close(&s);
    assert_int_equal(2, c.submitted);
    assert_int_equal(2, c.handled);
    assert_int_equal(1, atomic_load(&s.handled));
}

static void turn_finish_ends_the_flow_when_its_event_is_done(void **state)
{
    (void)state;
    latch hold;
    latch_init(&hold);
    stage_open(&s, STAGE(.workers = 2));
    assert_int_equal(WEIR_OK, submit_value(&s, 1, 1));
    assert_int_equal(WEIR_OK,
                     submit_step(&s, 1, (step){ .value = 2, .hold = &hold, .finish = true }));
    latch_entered(&hold);
    const uint32_t worker = worker_of(&s, 1);
    assert_int_equal(WEIR_OK, submit_value(&s, 1, 3)); /* waits already */
    assert_int_equal(worker, worker_of(&s, 1));
    assert_int_equal(0, atomic_load(&s.ended));
    latch_open(&hold);
    stage_handled(&s, 3);
    assert_int_equal(life_of(&s, 1), life_of(&s, 2));
    assert_one_after_the_other(2, 3);
    assert_int_equal(WEIR_OK, submit_step(&s, 1, (step){ .value = 4, .finish = true }));
    TEST_UNTIL(!flow_lives(&s, 1));
    assert_int_equal(life_of(&s, 3), life_of(&s, 4));
    assert_int_equal(2, stage_close(&s).finished);
}

static void an_event_that_fails_ends_its_flow_all_the_same_if_it_is_the_last(void **state)
{
    (void)state;
    stage_open(&s, STAGE(.workers = 1));
    assert_int_equal(WEIR_OK, submit_flagged(&s, 1, (step){ .value = 1, .answer = WEIR_E_FAILED },
                                             WEIR_EVENT_FINISH));
    TEST_UNTIL(!flow_lives(&s, 1));
    assert_int_equal(WEIR_OK, submit_step(&s, 2, (step){ .value = 2, .answer = WEIR_E_USER }));
    assert_int_equal(WEIR_OK, submit_value(&s, 2, 3));
    stage_handled(&s, 3);
    assert_int_equal(life_of(&s, 2), life_of(&s, 3)); /* a failure alone does not end it */
    const weir_router_counters c = stage_close(&s);
    assert_int_equal(2, c.dead);
    assert_int_equal(1, c.handled);
    assert_int_equal(1, c.finished);
    assert_int_equal(1, c.stopped);
}

/* ---- S-53 ---- */

/* A worker with room for two, and flow 1 alive and idle on it; `hold` has it. */
static void open_with_two_places(weir_overflow overflow, latch *hold)
{
    stage_open(&s, STAGE(.workers = 1, .worker_max = 2, .overflow = overflow));
    assert_int_equal(WEIR_OK, submit_value(&s, 1, 1));
    stage_handled(&s, 1);
    submit_held(&s, BUSY, 100, hold);
}

static void an_evicted_finish_ends_its_flow_although_nothing_follows(void **state)
{
    (void)state;
    latch hold;
    open_with_two_places(WEIR_OVERFLOW_DROP_OLDEST, &hold);
    assert_int_equal(WEIR_OK, submit_last(&s, 1, 2));
    assert_int_equal(WEIR_OK, submit_value(&s, BUSY, 101));
    assert_int_equal(WEIR_OK, submit_value(&s, BUSY, 102)); /* puts 2 out */
    const weir_flow_counters figures = flow_counters(s.engine, s.router, 1);
    assert_int_equal(2, figures.submitted);
    assert_int_equal(1, figures.handled);
    assert_int_equal(1, figures.dropped); /* its own, although another flow's event came for it */
    assert_int_equal(0, flow_counters(s.engine, s.router, BUSY).dropped);
    latch_open(&hold);
    TEST_UNTIL(!flow_lives(&s, 1));
    assert_int_equal(WEIR_FLOW_FINISHED, end_of_life(&s, life_of(&s, 1)));
    stage_handled(&s, 4);
    ASSERT_HANDLED(&s, 1, 1);
    const weir_router_counters c = stage_close(&s);
    assert_int_equal(1, c.finished);
    assert_int_equal(1, c.dropped_oldest);
    assert_int_equal(0, c.dropped_newest);
}

static void an_evicted_finish_ends_its_flow_before_what_follows(void **state)
{
    (void)state;
    latch hold;
    open_with_two_places(WEIR_OVERFLOW_DROP_OLDEST, &hold);
    assert_int_equal(WEIR_OK, submit_last(&s, 1, 2));
    assert_int_equal(WEIR_OK, submit_value(&s, 1, 3));
    assert_int_equal(WEIR_OK, submit_value(&s, 1, 4)); /* puts 2 out */
    latch_open(&hold);
    stage_handled(&s, 4);
    ASSERT_HANDLED(&s, 1, 1, 3, 4);
    assert_one_after_the_other(1, 3);
    assert_int_equal(life_of(&s, 3), life_of(&s, 4));
    assert_int_equal(1, stage_close(&s).finished);
}

static void an_evicted_finish_ends_its_flow_although_its_event_is_at_hand(void **state)
{
    (void)state;
    latch hold;
    stage_open(&s, STAGE(.workers = 1, .worker_max = 1, .overflow = WEIR_OVERFLOW_DROP_OLDEST));
    submit_held(&s, 1, 1, &hold);
    assert_int_equal(WEIR_OK, submit_last(&s, 1, 2));
    assert_int_equal(WEIR_OK, submit_value(&s, 1, 3)); /* puts 2 out */
    assert_int_equal(WEIR_OK, submit_last(&s, 1, 4));  /* puts 3 out */
    assert_int_equal(WEIR_OK, submit_value(&s, 1, 5)); /* puts 4 out */
    latch_open(&hold);
    stage_handled(&s, 2);
    ASSERT_HANDLED(&s, 1, 1, 5);
    assert_one_after_the_other(1, 5);
    const weir_router_counters c = stage_close(&s);
    assert_int_equal(3, c.dropped_oldest);
    assert_int_equal(1, c.finished);
}

static void a_finish_that_is_alone_may_be_evicted_too(void **state)
{
    (void)state;
    latch hold;
    open_with_two_places(WEIR_OVERFLOW_DROP_OLDEST, &hold);
    assert_int_equal(WEIR_OK, weir_router_finish(s.engine, s.router, 1));
    assert_int_equal(WEIR_OK, submit_value(&s, BUSY, 101));
    assert_int_equal(WEIR_OK, submit_value(&s, BUSY, 102));
    latch_open(&hold);
    TEST_UNTIL(!flow_lives(&s, 1));
    assert_int_equal(1, stage_close(&s).finished);
}

static void a_flow_all_of_whose_events_were_evicted_is_not_left_over(void **state)
{
    (void)state;
    latch hold;
    stage_open(&s, STAGE(.workers = 1, .worker_max = 1, .overflow = WEIR_OVERFLOW_DROP_OLDEST));
    submit_held(&s, BUSY, 100, &hold);
    for (uint64_t flow = 1; flow <= 5; flow++) { /* each puts the one before out */
        assert_int_equal(WEIR_OK, submit_last(&s, flow, flow));
    }
    latch_open(&hold);
    TEST_UNTIL(!flow_lives(&s, 5));
    for (uint64_t flow = 1; flow <= 5; flow++) {
        TEST_UNTIL(!flow_lives(&s, flow));
    }
    stage_handled(&s, 2);
    const weir_router_counters c = stage_close(&s);
    assert_int_equal(4, c.dropped_oldest);
    assert_int_equal(6, c.submitted);
}

static void a_dropped_finish_ends_its_flow_although_nothing_follows(void **state)
{
    (void)state;
    latch hold;
    open_with_two_places(WEIR_OVERFLOW_DROP_NEWEST, &hold);
    assert_int_equal(WEIR_OK, submit_value(&s, BUSY, 101));
    assert_int_equal(WEIR_OK, submit_value(&s, BUSY, 102));
    assert_int_equal(WEIR_DROPPED, submit_last(&s, 1, 2));
    assert_int_equal(1, flow_counters(s.engine, s.router, 1).dropped);
    latch_open(&hold);
    TEST_UNTIL(!flow_lives(&s, 1));
    assert_int_equal(WEIR_FLOW_FINISHED, end_of_life(&s, life_of(&s, 1)));
    stage_handled(&s, 4);
    const weir_router_counters c = stage_close(&s);
    assert_int_equal(1, c.finished);
    assert_int_equal(1, c.dropped_newest);
    assert_int_equal(5, c.submitted);
}

static void a_dropped_finish_ends_its_flow_after_what_waits_and_before_what_follows(void **state)
{
    (void)state;
    latch hold, second;
    latch_init(&second);
    open_with_two_places(WEIR_OVERFLOW_DROP_NEWEST, &hold);
    assert_int_equal(WEIR_OK, submit_value(&s, 1, 2));
    assert_int_equal(WEIR_OK, submit_step(&s, BUSY, (step){ .value = 101, .hold = &second }));
    assert_int_equal(WEIR_DROPPED, submit_last(&s, 1, 3));
    latch_open(&hold);
    latch_entered(&second); /* 2 is handled */
    assert_int_equal(life_of(&s, 1), life_of(&s, 2));
    assert_int_equal(WEIR_OK, submit_value(&s, 1, 4));
    while (submit_value(&s, BUSY, 102) == WEIR_OK) { /* until it is full */
    }
    assert_int_equal(WEIR_DROPPED, submit_last(&s, 1, 5));
    assert_int_equal(WEIR_DROPPED, weir_router_finish(s.engine, s.router, 1));
    latch_open(&second);
    TEST_UNTIL(!flow_lives(&s, 1));
    ASSERT_HANDLED(&s, 1, 1, 2, 4);
    assert_one_after_the_other(2, 4);
    const weir_router_counters c = stage_close(&s);
    assert_int_equal(2, c.finished);
    assert_int_equal(4, c.dropped_newest);
}

static void a_first_event_that_is_dropped_makes_no_flow(void **state)
{
    (void)state;
    latch hold;
    open_with_two_places(WEIR_OVERFLOW_DROP_NEWEST, &hold);
    assert_int_equal(WEIR_OK, submit_value(&s, BUSY, 101));
    assert_int_equal(WEIR_OK, submit_value(&s, BUSY, 102));
    assert_int_equal(WEIR_DROPPED, submit_last(&s, 2, 1));
    assert_int_equal(WEIR_DROPPED, submit_value(&s, 3, 1));
    assert_int_equal(WEIR_UNKNOWN, weir_router_finish(s.engine, s.router, 4));
    assert_false(flow_lives(&s, 2));
    assert_false(flow_lives(&s, 3));
    assert_int_equal(2, router_counters(s.engine, s.router).flows);
    latch_open(&hold);
    const weir_router_counters c = stage_close(&s);
    assert_int_equal(2, c.dropped_newest);
    assert_int_equal(2, c.flows_made);
}

static void fail_answers_full_and_keeps_nothing(void **state)
{
    (void)state;
    latch hold;
    open_with_two_places(WEIR_OVERFLOW_FAIL, &hold);
    assert_int_equal(WEIR_OK, submit_value(&s, BUSY, 101));
    assert_int_equal(WEIR_OK, submit_value(&s, BUSY, 102));
    assert_int_equal(WEIR_FULL, submit_last(&s, 1, 2));
    assert_int_equal(WEIR_FULL, weir_router_finish(s.engine, s.router, 1));
    assert_int_equal(WEIR_FULL, submit_value(&s, 2, 1));
    assert_int_equal(WEIR_FULL, submit_value(&s, 0, 1));
    assert_false(flow_lives(&s, 2));
    latch_open(&hold);
    stage_handled(&s, 4);
    assert_int_equal(WEIR_OK, submit_value(&s, 1, 3)); /* the same flow: it was not finished */
    stage_handled(&s, 5);
    assert_int_equal(life_of(&s, 1), life_of(&s, 3));
    const weir_router_counters c = stage_close(&s);
    assert_int_equal(4, c.refused_full);
    assert_int_equal(0, c.refused_ingress);
    assert_int_equal(0, c.dropped_newest + c.dropped_oldest);
    assert_int_equal(5, c.submitted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reopened_key_waits_behind_what_is_queued_of_the_old_flow),
        cmocka_unit_test(many_lives_of_one_key_may_wait_in_a_row),
        cmocka_unit_test(a_key_that_was_finished_and_handled_is_gone_and_placed_anew),
        cmocka_unit_test(a_finish_alone_is_counted_and_not_seen),
        cmocka_unit_test(turn_finish_ends_the_flow_when_its_event_is_done),
        cmocka_unit_test(an_event_that_fails_ends_its_flow_all_the_same_if_it_is_the_last),
        cmocka_unit_test(an_evicted_finish_ends_its_flow_although_nothing_follows),
        cmocka_unit_test(an_evicted_finish_ends_its_flow_before_what_follows),
        cmocka_unit_test(an_evicted_finish_ends_its_flow_although_its_event_is_at_hand),
        cmocka_unit_test(a_finish_that_is_alone_may_be_evicted_too),
        cmocka_unit_test(a_flow_all_of_whose_events_were_evicted_is_not_left_over),
        cmocka_unit_test(a_dropped_finish_ends_its_flow_although_nothing_follows),
        cmocka_unit_test(a_dropped_finish_ends_its_flow_after_what_waits_and_before_what_follows),
        cmocka_unit_test(a_first_event_that_is_dropped_makes_no_flow),
        cmocka_unit_test(fail_answers_full_and_keeps_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
