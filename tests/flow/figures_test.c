/*
 * figures_test.c - the figures of routers, workers and flows against what was done (S-59).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_support.h"

static stage s;

static void every_figure_of_a_router_says_what_was_done(void **state)
{
    (void)state;
    latch hold;
    stage_open(&s, STAGE(.workers = 2, .worker_max = 2, .ingress_max = 2, .block_max = WEIR_MS,
                         .latency_every = 1));
    weir_router_counters c = router_counters(s.engine, s.router);
    assert_int_equal(2, c.workers);
    assert_int_equal(0, c.submitted + c.handled + c.dead + c.left + c.flows + c.flows_made +
                            c.depth + c.ingress + c.bytes + c.p50_ns + c.max_ns);
    assert_true(c.imbalance == 0.0);
    submit_held(&s, 1, 1, &hold);
    for (uint64_t value = 2; value <= 5; value++) {
        assert_int_equal(WEIR_OK, submit_value(&s, 1, value));
    }
    assert_int_equal(WEIR_FULL, submit_value(&s, 1, 6));
    assert_int_equal(WEIR_OK, submit_step(&s, 2, (step){ .value = 7, .answer = WEIR_E_USER }));
    TEST_UNTIL(router_counters(s.engine, s.router).dead == 1);
    c = router_counters(s.engine, s.router);
    assert_int_equal(6, c.submitted);
    assert_int_equal(0, c.handled);
    assert_int_equal(1, c.refused_ingress);
    assert_int_equal(2, c.ingress);
    assert_int_equal(2, c.flows);
    assert_int_equal(2, c.flows_made);
    TEST_UNTIL(router_counters(s.engine, s.router).depth == 5);
    assert_true(c.bytes > 0);
    latch_open(&hold);
    stage_handled(&s, 6);
    TEST_UNTIL(router_counters(s.engine, s.router).depth == 0);
    assert_int_equal(WEIR_OK, submit_last(&s, 1, 8));
    TEST_UNTIL(!flow_lives(&s, 1));
    c = stage_close(&s);
    assert_int_equal(7, c.submitted);
    assert_int_equal(6, c.handled);
    assert_int_equal(1, c.dead);
    assert_int_equal(1, c.finished);
    assert_int_equal(1, c.stopped);
    assert_true(c.max_ns >= c.p99_ns && c.p99_ns >= c.p95_ns && c.p95_ns >= c.p50_ns);
    assert_true(c.max_ns > 0);
    assert_true(c.imbalance >= 1.0 && c.imbalance <= 2.0);
}

static void every_figure_of_a_flow_says_what_was_done(void **state)
{
    (void)state;
    latch hold;
    weir_flow_counters none = WEIR_FLOW_COUNTERS_INIT;
    stage_open(&s, STAGE(.workers = 2, .worker_max = 2, .overflow = WEIR_OVERFLOW_DROP_NEWEST));
    submit_held(&s, 1, 1, &hold);
    assert_int_equal(WEIR_OK, submit_value(&s, 1, 2));
    assert_int_equal(WEIR_OK, submit_value(&s, 1, 3));
    assert_int_equal(WEIR_DROPPED, submit_value(&s, 1, 4));
    assert_int_equal(WEIR_OK, submit_value(&s, 2, 5));
    stage_handled(&s, 1);
    weir_flow_counters c = flow_counters(s.engine, s.router, 1);
    assert_int_equal(4, c.submitted);
    assert_int_equal(0, c.handled);
    assert_int_equal(1, c.dropped);
    assert_int_equal(0, c.worker);
    assert_int_equal(1, flow_counters(s.engine, s.router, 2).worker);
    assert_int_equal(WEIR_UNKNOWN, weir_flow_counters_get(s.engine, s.router, 3, &none));
    assert_int_equal(WEIR_UNKNOWN, weir_flow_counters_get(s.engine, (weir_router){ 0 }, 1, &none));
    assert_int_equal(WEIR_E_INVALID, weir_flow_counters_get(NULL, s.router, 1, &none));
    assert_int_equal(WEIR_E_INVALID, weir_flow_counters_get(s.engine, s.router, 1, NULL));
    latch_open(&hold);
    stage_handled(&s, 4);
    TEST_UNTIL(flow_counters(s.engine, s.router, 1).handled == 3);
    c = flow_counters(s.engine, s.router, 1);
    assert_int_equal(c.submitted, c.handled + c.dropped);
    (void)stage_close(&s);
}

static void evicted_events_are_counted_against_their_own_flows(void **state)
{
    (void)state;
    enum { FLOWS = 5, EACH = 40 };
    latch hold;
    stage_open(&s, STAGE(.workers = 1, .worker_max = FLOWS, .overflow = WEIR_OVERFLOW_DROP_OLDEST));
    submit_held(&s, 100, 0, &hold);
    for (uint64_t i = 0; i < EACH; i++) {
        for (uint64_t flow = 1; flow <= FLOWS; flow++) {
            assert_int_equal(WEIR_OK, submit_value(&s, flow, i));
        }
    }
    for (uint64_t flow = 1; flow <= FLOWS; flow++) {
        const weir_flow_counters c = flow_counters(s.engine, s.router, flow);
        assert_int_equal(EACH, c.submitted);
        assert_int_equal(EACH - 1, c.dropped);
        assert_int_equal(0, c.handled);
    }
    latch_open(&hold);
    stage_handled(&s, FLOWS + 1);
    for (uint64_t flow = 1; flow <= FLOWS; flow++) {
        ASSERT_HANDLED(&s, flow, EACH - 1); /* the newest */
    }
    const weir_router_counters c = stage_close(&s);
    assert_int_equal(FLOWS * (EACH - 1), c.dropped_oldest);
    assert_int_equal(FLOWS * EACH + 1, c.submitted);
}

static void every_figure_of_a_worker_says_what_was_done(void **state)
{
    (void)state;
    latch hold;
    weir_worker_counters none = WEIR_WORKER_COUNTERS_INIT;
    stage_open(&s, STAGE(.workers = 2, .worker_max = 2, .latency_every = 1));
    const weir_worker_counters first = worker_counters(s.engine, s.router, 0);
    assert_true(first.processor.id != 0);
    assert_true(first.processor.id != worker_counters(s.engine, s.router, 1).processor.id);
    assert_int_equal(0, first.handled + first.depth + first.beyond + first.p99_ns);
    submit_held(&s, 1, 1, &hold);
    const weir_ns began = test_now();
    for (uint64_t value = 2; value <= 6; value++) {
        assert_int_equal(WEIR_OK, submit_value(&s, 1, value));
    }
    weir_worker_counters c = worker_counters(s.engine, s.router, 0);
    assert_int_equal(6, c.depth);
    assert_int_equal(3, c.beyond);
    TEST_UNTIL(test_now() - began > 20 * WEIR_MS); /* it is at work for so long */
    latch_open(&hold);
    stage_handled(&s, 6);
    TEST_UNTIL(worker_counters(s.engine, s.router, 0).depth == 0);
    c = worker_counters(s.engine, s.router, 0);
    assert_int_equal(6, c.handled);
    assert_int_equal(0, c.beyond);
    assert_true(c.busy >= 20 * WEIR_MS);
    assert_true(c.p99_ns >= (uint64_t)(18 * WEIR_MS)); /* of six, the longest */
    assert_true(c.p50_ns < c.p99_ns);
    assert_int_equal(0, worker_counters(s.engine, s.router, 1).handled);
    assert_int_equal(0, worker_counters(s.engine, s.router, 1).busy);
    const weir_router_counters sum = router_counters(s.engine, s.router);
    assert_true(sum.imbalance == 2.0); /* all of it on one of two */
    assert_int_equal(WEIR_UNKNOWN, weir_worker_counters_get(s.engine, s.router, 2, &none));
    assert_int_equal(WEIR_UNKNOWN,
                     weir_worker_counters_get(s.engine, (weir_router){ 0 }, 0, &none));
    assert_int_equal(WEIR_E_INVALID, weir_worker_counters_get(NULL, s.router, 0, &none));
    assert_int_equal(WEIR_E_INVALID, weir_worker_counters_get(s.engine, s.router, 0, NULL));
    (void)stage_close(&s);
}

/* Of every fourth that is timed the first one takes long. */
static void the_time_of_a_worker_never_falls(void **state)
{
    (void)state;
    latch hold;
    weir_ns before = 0;
    stage_open(&s, STAGE(.workers = 1, .latency_every = 4));
    for (uint64_t value = 1; value <= 40; value++) {
        if (value == 4) {
            submit_held(&s, 1, value, &hold);
            const weir_ns began = test_now();
            TEST_UNTIL(test_now() - began > 20 * WEIR_MS);
            latch_open(&hold);
        } else {
            assert_int_equal(WEIR_OK, submit_value(&s, 1, value));
        }
        TEST_UNTIL(worker_counters(s.engine, s.router, 0).handled == value);
        if (value == 28) {
            assert_int_equal(WEIR_OK, weir_router_latency_set(s.engine, s.router, false));
        }
        const weir_ns busy = worker_counters(s.engine, s.router, 0).busy;
        if (busy < before || (busy >= 80 * WEIR_MS) != (value >= 4)) {
            fail_msg("after %u: %lld ns, before that %lld", (unsigned)value, (long long)busy,
                     (long long)before);
        }
        before = busy;
    }
    /* Seven were timed, three are taken to be like them. */
    assert_true(before >= 80 * WEIR_MS / 7 * 10);
    (void)stage_close(&s);
}

static void a_rate_is_of_the_time_between_two_looks(void **state)
{
    (void)state;
    stage_open(&s, STAGE(.workers = 1));
    (void)worker_counters(s.engine, s.router, 0);
    const weir_ns began = test_now();
    for (uint64_t value = 1; value <= 500; value++) {
        assert_int_equal(WEIR_OK, submit_value(&s, 1, value));
    }
    stage_handled(&s, 500);
    TEST_UNTIL(router_counters(s.engine, s.router).depth == 0);
    TEST_UNTIL(test_now() - began > 20 * WEIR_MS);
    const double rate = worker_counters(s.engine, s.router, 0).rate;
    const double seconds = (double)(test_now() - began) / 1e9;
    assert_true(rate >= 500.0 / seconds * 0.9);
    assert_true(rate <= 500.0 / 0.020 * 1.1);
    TEST_UNTIL(test_now() - began > 40 * WEIR_MS);
    assert_true(worker_counters(s.engine, s.router, 0).rate == 0.0); /* nothing since */
    (void)stage_close(&s);
}

static void the_figures_stay_after_a_stop(void **state)
{
    (void)state;
    weir_flow_counters none = WEIR_FLOW_COUNTERS_INIT;
    weir_router_counters out = WEIR_ROUTER_COUNTERS_INIT;
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    stage_open(&s, STAGE(.workers = 2));
    for (uint64_t value = 1; value <= 100; value++) {
        assert_int_equal(WEIR_OK, submit_value(&s, 1 + value % 7, value));
    }
    assert_int_equal(WEIR_OK, weir_router_stop(s.engine, s.router, TEST_PATIENCE, &report));
    assert_int_equal(100, report.handled);
    const weir_router_counters c = router_counters(s.engine, s.router);
    assert_int_equal(100, c.handled);
    assert_int_equal(7, c.stopped);
    assert_router_adds_up(&c);
    assert_int_equal(100, worker_counters(s.engine, s.router, 0).handled +
                              worker_counters(s.engine, s.router, 1).handled);
    assert_int_equal(WEIR_UNKNOWN, weir_flow_counters_get(s.engine, s.router, 1, &none));
    assert_int_equal(WEIR_UNKNOWN, weir_router_stop(s.engine, s.router, TEST_PATIENCE, NULL));
    assert_int_equal(WEIR_STOPPING, submit_value(&s, 1, 1));
    assert_int_equal(WEIR_STOPPING, weir_router_finish(s.engine, s.router, 1));
    assert_int_equal(WEIR_E_INVALID, weir_router_counters_get(NULL, s.router, &out));
    assert_int_equal(WEIR_E_INVALID, weir_router_counters_get(s.engine, s.router, NULL));
    out.struct_size = 16; /* of an older caller: only so much is written */
    out.handled = 4711;
    assert_int_equal(WEIR_OK, weir_router_counters_get(s.engine, s.router, &out));
    assert_int_equal(100, out.submitted);
    assert_int_equal(4711, out.handled);
    (void)stage_close(&s);
}

static void what_a_stop_leaves_is_counted_as_left(void **state)
{
    (void)state;
    latch hold;
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    stage_open(&s, STAGE(.workers = 1));
    submit_held(&s, 1, 1, &hold);
    for (uint64_t value = 2; value <= 5; value++) {
        assert_int_equal(WEIR_OK, submit_value(&s, value, value));
    }
    assert_int_equal(WEIR_TIMEOUT, weir_router_stop(s.engine, s.router, 10 * WEIR_MS, &report));
    assert_int_equal(5, report.left);
    latch_open(&hold);
    (void)weir_engine_stop(s.engine, TEST_PATIENCE, NULL);
    const weir_router_counters c = router_counters(s.engine, s.router);
    assert_int_equal(5, c.submitted);
    assert_int_equal(c.submitted, c.handled + c.dead + c.left);
    assert_true(c.left >= 4);
    assert_int_equal(atomic_load(&s.begun), atomic_load(&s.ended));
    assert_int_equal(0, c.flows);
    weir_engine_destroy(s.engine);
}

static void latency_every_times_one_in_so_many(void **state)
{
    (void)state;
    static const uint32_t every[] = { 1, 7, 1000000 };
    for (size_t i = 0; i < 3; i++) {
        stage_open(&s, STAGE(.workers = 1, .latency_every = every[i]));
        for (uint64_t value = 1; value <= 100; value++) {
            assert_int_equal(WEIR_OK, submit_value(&s, 1, value));
        }
        stage_handled(&s, 100);
        const weir_router_counters c = stage_close(&s);
        assert_true((c.max_ns > 0) == (every[i] <= 100));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_figure_of_a_router_says_what_was_done),
        cmocka_unit_test(every_figure_of_a_flow_says_what_was_done),
        cmocka_unit_test(evicted_events_are_counted_against_their_own_flows),
        cmocka_unit_test(every_figure_of_a_worker_says_what_was_done),
        cmocka_unit_test(the_time_of_a_worker_never_falls),
        cmocka_unit_test(a_rate_is_of_the_time_between_two_looks),
        cmocka_unit_test(the_figures_stay_after_a_stop),
        cmocka_unit_test(what_a_stop_leaves_is_counted_as_left),
        cmocka_unit_test(latency_every_times_one_in_so_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
