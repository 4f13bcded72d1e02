/*
 * routers_test.c - figures of routers: flows of each target, and what stopped ones had.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "metric_support.h"

enum { KEYS = 40 };

static scene s;

static weir_router add_router(const weir_router_options *options)
{
    const weir_router router = weir_router_add(s.engine, options, &s.error);
    test_error_none(&s.error);
    return router;
}

static void submit_keys(weir_router router, uint64_t keys, uint64_t handled)
{
    for (uint64_t key = 1; key <= keys; key++) {
        assert_int_equal(WEIR_OK, weir_router_submit(s.engine, router, key, TOLD(work)));
    }
    weir_counters c = WEIR_COUNTERS_INIT;
    TEST_UNTIL(weir_engine_counters(s.engine, &c) == WEIR_OK && c.handled >= handled);
}

static uint64_t count_now(const char *series)
{
    char *text = scene_text(&s, NULL);
    const uint64_t count = series_count(text, series);
    free(text);
    return count;
}

static bool is_there(const char *series)
{
    char *text = scene_text(&s, NULL);
    const bool there = series_text(text, series) != NULL;
    free(text);
    return there;
}

static void each_target_has_the_flows_that_go_there(void **state)
{
    (void)state;
    scene_make(&s, WEIR_ENGINE(.name = "targets", .threads = 1));
    const weir_processor targets[2] = { scene_add(&s, WEIR_PROCESSOR(.name = "a")),
                                        scene_add(&s, WEIR_PROCESSOR(.name = "b")) };
    const weir_router spread =
        add_router(WEIR_ROUTER(.name = "spread", .targets = targets, .target_count = 2));
    assert_int_equal(WEIR_OK, weir_engine_start(s.engine, &s.error));
    scene_post(&s, targets[0], TOLD(stay), 1); /* its mailbox is the fuller one: */
    assert_true(test_sem_taken(&s.held));
    scene_post(&s, targets[0], TOLD(work), 2 * KEYS);
    for (uint64_t key = 1; key <= KEYS; key++) { /* all of these go to the other one */
        assert_int_equal(WEIR_OK, weir_router_submit(s.engine, spread, key, TOLD(work)));
    }
    assert_int_equal(0, count_now("weir_worker_flows{router=\"spread\",worker=\"0\"}"));
    assert_int_equal(KEYS, count_now("weir_worker_flows{router=\"spread\",worker=\"1\"}"));
    assert_int_equal(KEYS, count_now("weir_router_flows{router=\"spread\"}"));
    (void)sem_post(&s.go);
    assert_int_equal(WEIR_OK, weir_router_stop(s.engine, spread, 0, NULL));
    assert_int_equal(0, count_now("weir_router_flows{router=\"spread\"}"));
    assert_false(is_there("weir_worker_flows{router=\"spread\",worker=\"1\"}"));
    scene_close(&s);
}

static void a_flow_of_targets_that_ends_or_is_refused_is_counted_no_longer(void **state)
{
    (void)state;
    scene_make(&s, WEIR_ENGINE(.name = "idle", .threads = 1));
    const weir_processor target = scene_add(&s, WEIR_PROCESSOR(.name = "a", .mailbox_max = 2));
    const weir_router spread =
        add_router(WEIR_ROUTER(.name = "spread", .targets = &target, .target_count = 1,
                               .idle_timeout = 10 * WEIR_MS));
    assert_int_equal(WEIR_OK, weir_engine_start(s.engine, &s.error));
    scene_post(&s, target, TOLD(stay), 1);
    assert_true(test_sem_taken(&s.held));
    uint64_t key = 1;
    while (weir_router_submit(s.engine, spread, key, TOLD(work)) == WEIR_OK) {
        key++; /* ends: the mailbox is full, and the last one made no flow */
    }
    assert_int_equal(key - 1, count_now("weir_worker_flows{router=\"spread\",worker=\"0\"}"));
    (void)sem_post(&s.go);
    TEST_UNTIL(count_now("weir_router_flows{router=\"spread\"}") == 0);
    assert_int_equal(0, count_now("weir_worker_flows{router=\"spread\",worker=\"0\"}"));
    assert_true(count_now("weir_router_flows_made_total{router=\"spread\"}") == key - 1);
    scene_close(&s);
}

static void a_router_that_was_stopped_keeps_what_it_had_and_the_next_goes_on(void **state)
{
    (void)state;
    scene_make(&s, WEIR_ENGINE(.name = "again", .threads = 1));
    assert_int_equal(WEIR_OK, weir_engine_start(s.engine, &s.error));
    for (uint64_t life = 1; life <= 3; life++) {
        const weir_router flows = add_router(
            WEIR_ROUTER(.name = "flows", .workers = 1, .argument = &s, .handler = scene_handle));
        submit_keys(flows, KEYS, life * KEYS);
        assert_int_equal(life * KEYS, count_now("weir_router_submitted_total{router=\"flows\"}"));
        assert_int_equal(life * KEYS, count_now("weir_router_handled_total{router=\"flows\"}"));
        assert_int_equal(life * KEYS, count_now("weir_router_flows_made_total{router=\"flows\"}"));
        assert_int_equal(life * KEYS,
                         count_now("weir_worker_handled_total{router=\"flows\",worker=\"0\"}"));
        assert_int_equal(KEYS, count_now("weir_router_flows{router=\"flows\"}"));
        assert_int_equal(1, count_now("weir_router_running{router=\"flows\"}"));
        assert_int_equal(WEIR_OK, weir_router_stop(s.engine, flows, 0, NULL));
        assert_int_equal(life * KEYS, count_now("weir_router_handled_total{router=\"flows\"}"));
        assert_int_equal(0, count_now("weir_router_running{router=\"flows\"}"));
        assert_int_equal(0, count_now("weir_router_flows{router=\"flows\"}"));
    }
    const weir_router other = add_router(
        WEIR_ROUTER(.name = "other", .workers = 1, .argument = &s, .handler = scene_handle));
    submit_keys(other, 3, 3 * KEYS + 3); /* another name has nothing of that */
    assert_int_equal(3, count_now("weir_router_handled_total{router=\"other\"}"));
    assert_int_equal(3 * KEYS, count_now("weir_router_handled_total{router=\"flows\"}"));
    char *json = scene_json(&s, NULL);
    assert_has(json, "{\"router\":\"flows\",\"running\":false,");
    assert_has(json, "{\"router\":\"other\",\"running\":true,");
    free(json);
    assert_int_equal(WEIR_OK, weir_engine_stop(s.engine, 0, NULL));
    assert_int_equal(3 * KEYS, count_now("weir_router_handled_total{router=\"flows\"}"));
    assert_int_equal(3, count_now("weir_router_handled_total{router=\"other\"}"));
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_target_has_the_flows_that_go_there),
        cmocka_unit_test(a_flow_of_targets_that_ends_or_is_refused_is_counted_no_longer),
        cmocka_unit_test(a_router_that_was_stopped_keeps_what_it_had_and_the_next_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
