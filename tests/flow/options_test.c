/*
 * options_test.c - a router's options: defaults, bounds, and refusals that name the field, the
 * value and what would be right (P-6); names; routers that come while the engine runs; how many.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_support.h"

#include <sched.h>

static weir_status ignore_event(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    return WEIR_OK;
}

static const weir_processor some_target[] = { { 1 } };
static const weir_processor no_target[] = { { 0 } };
static const weir_case some_cases[] = { { &step_type, ignore_event } };

static void assert_refused(weir_engine *engine, const weir_router_options *options,
                           weir_status status, const char *field, const char *value,
                           const char *right)
{
    char path[128];
    weir_error error = WEIR_ERROR_INIT;
    (void)snprintf(path, sizeof(path), "weir_router_options%s%s", field[0] != '\0' ? "." : "",
                   field);
    assert_int_equal(0, weir_router_add(engine, options, &error).id);
    if (error.status != status || strcmp(path, error.path) != 0 ||
        strstr(error.text, value) == NULL || strstr(error.text, right) == NULL) {
        fprintf(stderr, "# expected %s: ... %s ... %s; got:\n# ", path, value, right);
        (void)weir_error_print(&error);
    }
    assert_int_equal(status, error.status);
    assert_string_equal(path, error.path);
    assert_non_null(strstr(error.text, value));
    assert_non_null(strstr(error.text, right));
    assert_int_equal(0, weir_router_add(engine, options, NULL).id); /* without an error, too */
    /* Sticky: it does nothing with one that is set. */
    assert_int_equal(
        0, weir_router_add(engine, WEIR_ROUTER(.name = "b", .handler = ignore_event), &error).id);
    assert_int_equal(0, weir_router_find(engine, "b").id);
}

#define CASE(field_name, given, value, right)                                                      \
    {                                                                                              \
        { .struct_size = sizeof(weir_router_options),                                              \
          .name = "a",                                                                             \
          .handler = ignore_event,                                                                 \
          .field_name = (given) },                                                                 \
            #field_name, (value), (right)                                                          \
    }

static void a_wrong_number_names_field_value_and_what_is_right(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    const struct {
        weir_router_options options;
        const char *field, *value, *right;
    } cases[] = {
        CASE(workers, 257, "257", "1 to 256"),
        CASE(workers, UINT32_MAX, "4294967295", "1 to 256"),
        CASE(ingress_max, 1000000, "1000000", "999999"),
        CASE(worker_max, 1000001, "1000001", "1000000"),
        CASE(batch_max, 65536, "65536", "65535"),
        CASE(overflow, (weir_overflow)5, "5", "WEIR_OVERFLOW_"),
        CASE(block_max, -5, "-5", "must be 1 ns"),
        CASE(flows_max, 16000001, "16000001", "16000000"),
        CASE(flows_max, UINT64_MAX, "18446744073709551615", "16000000"),
        CASE(idle_timeout, -7, "-7", "must be 1 ns"),
        CASE(keys, (weir_flow_keys)3, "3", "WEIR_FLOW_KEYS_"),
        CASE(state_size, (1u << 20) + 1, "1048577", "1048576"),
        CASE(state_size, SIZE_MAX, "18446744073709551615", "1048576"),
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_refused(engine, &cases[i].options, WEIR_E_INVALID, cases[i].field, cases[i].value,
                       cases[i].right);
    }
    /* Both are in their bounds, and too many together. */
    assert_refused(engine,
                   WEIR_ROUTER(.name = "a", .handler = ignore_event, .worker_max = 500001,
                               .ingress_max = 500000),
                   WEIR_E_INVALID, "ingress_max", "500000", "1,000,000");
    assert_refused(engine, WEIR_ROUTER(.name = "a", .handler = ignore_event, .worker_max = 1000000),
                   WEIR_E_INVALID, "ingress_max", "65536", "1,000,000");
    assert_int_equal(0, test_engine_counters(engine).processors);
    weir_engine_destroy(engine);
}

static void who_handles_is_one_of_three(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    const weir_router_options none = { .struct_size = sizeof(none), .name = "a" };
    assert_refused(engine, &none, WEIR_E_INVALID, "handler", "NULL", "one of the three");
    assert_refused(
        engine, WEIR_ROUTER(.name = "a", .handler = ignore_event, .cases = WEIR_CASES(some_cases)),
        WEIR_E_INVALID, "handler", "cases", "exclude");
    assert_refused(engine,
                   WEIR_ROUTER(.name = "a", .handler = ignore_event, .targets = some_target,
                               .target_count = 1),
                   WEIR_E_INVALID, "handler", "targets", "exclude");
    assert_refused(engine, WEIR_ROUTER(.name = "a", .targets = some_target), WEIR_E_INVALID,
                   "target_count", "0", "1 to 256");
    assert_refused(engine, WEIR_ROUTER(.name = "a", .targets = some_target, .target_count = 257),
                   WEIR_E_INVALID, "target_count", "257", "1 to 256");
    assert_refused(engine, WEIR_ROUTER(.name = "a", .handler = ignore_event, .target_count = 1),
                   WEIR_E_INVALID, "target_count", "1", "0");
    assert_refused(engine, WEIR_ROUTER(.name = "a", .targets = no_target, .target_count = 1),
                   WEIR_E_INVALID, "targets", "zero", "handle");
    weir_engine_destroy(engine);
}

static void targets_bring_their_own_states_mailboxes_and_threads(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
#define TARGETED(...)                                                                              \
    WEIR_ROUTER(.name = "a", .targets = some_target, .target_count = 1, __VA_ARGS__)
    const weir_router_options *const cases[] = {
        TARGETED(.state_size = 8),
        TARGETED(.init = stage_init),
        TARGETED(.destroy = stage_destroy),
        TARGETED(.workers = 1),
        TARGETED(.worker_max = 1),
        TARGETED(.ingress_max = 1),
        TARGETED(.batch_max = 1),
        TARGETED(.own_threads = true),
        TARGETED(.overflow = WEIR_OVERFLOW_FAIL),
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_refused(engine, cases[i], WEIR_E_INVALID, "targets", "own", "not for them");
    }
    weir_engine_destroy(engine);
}

static void threads_are_its_own_or_a_dispatchers(void **state)
{
    (void)state;
    static const int32_t cores[] = { 0 };
    weir_engine *engine = test_engine_create(NULL);
#define HANDLED(...) WEIR_ROUTER(.name = "a", .handler = ignore_event, __VA_ARGS__)
    assert_refused(engine, HANDLED(.own_threads = true, .dispatcher = "x"), WEIR_E_INVALID,
                   "dispatcher", "own_threads", "one of them");
    assert_refused(engine, HANDLED(.idle = WEIR_IDLE_PARK), WEIR_E_INVALID, "own_threads", "false",
                   "own threads");
    assert_refused(engine, HANDLED(.cores = cores, .core_count = 1), WEIR_E_INVALID, "own_threads",
                   "false", "own threads");
    assert_refused(engine, HANDLED(.own_threads = true, .cores = cores), WEIR_E_INVALID, "cores",
                   "core_count", "entries");
    assert_refused(engine, HANDLED(.own_threads = true, .core_count = 1), WEIR_E_INVALID, "cores",
                   "core_count", "entries");
    assert_refused(engine, HANDLED(.own_threads = true, .idle = (weir_idle)77), WEIR_E_INVALID,
                   "idle", "77", "WEIR_IDLE_");
    /* A dispatcher that no thread serves is told of as a processor's is. */
    weir_error error = WEIR_ERROR_INIT;
    test_engine_start(engine);
    assert_int_equal(0, weir_router_add(engine, HANDLED(.dispatcher = "nobody"), &error).id);
    assert_true(error.status < 0);
    assert_non_null(strstr(error.text, "nobody"));
    /* And after it a router of that name can be added. */
    (void)flow_router_add(engine, HANDLED(.workers = 1));
    (void)test_engine_end(engine);
}

static void names_have_1_to_199_bytes_and_are_unique(void **state)
{
    (void)state;
    char name[202];
    weir_engine *engine = test_engine_create(NULL);
    memset(name, 'n', sizeof(name));
    name[200] = '\0';
    assert_refused(engine, WEIR_ROUTER(.handler = ignore_event), WEIR_E_INVALID, "name", "\"\"",
                   "1 to 199");
    assert_refused(engine, WEIR_ROUTER(.name = "", .handler = ignore_event), WEIR_E_INVALID, "name",
                   "\"\"", "1 to 199");
    assert_refused(engine, WEIR_ROUTER(.name = name, .handler = ignore_event), WEIR_E_INVALID,
                   "name", "nnnn", "1 to 199");
    name[199] = '\0';
    const weir_router longest =
        flow_router_add(engine, WEIR_ROUTER(.name = name, .handler = ignore_event, .workers = 1));
    assert_int_equal(longest.id, weir_router_find(engine, name).id);
    const weir_router first =
        flow_router_add(engine, WEIR_ROUTER(.name = "a", .handler = ignore_event, .workers = 1));
    memset(name, 'x', 10); /* it was copied */
    name[199] = '\0';
    assert_int_equal(0, weir_router_find(engine, name).id);
    assert_refused(engine, WEIR_ROUTER(.name = "a", .handler = ignore_event), WEIR_E_TAKEN, "name",
                   "\"a\"", "taken");
    assert_int_equal(first.id, weir_router_find(engine, "a").id);
    assert_int_equal(0, weir_router_find(engine, "c").id);
    assert_int_equal(0, weir_router_find(engine, NULL).id);
    assert_int_equal(0, weir_router_find(NULL, "a").id);
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, weir_router_stop(engine, first, TEST_PATIENCE, NULL));
    assert_int_equal(0, weir_router_find(engine, "a").id);
    const weir_router second = /* the name is free again */
        flow_router_add(engine, WEIR_ROUTER(.name = "a", .handler = ignore_event, .workers = 1));
    assert_true(second.id != first.id);
    assert_int_equal(second.id, weir_router_find(engine, "a").id);
    assert_int_equal(WEIR_STOPPING,
                     weir_router_submit(engine, first, 1, WEIR_EVENT(step, .value = 1)));
    (void)test_engine_end(engine);
}

static void struct_sizes_of_another_age_are_read_or_refused(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    weir_router_options options = { .struct_size = 3, .name = "a", .handler = ignore_event };
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(0, weir_router_add(engine, &options, &error).id);
    assert_int_equal(WEIR_E_INVALID, error.status);
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(0, weir_router_add(engine, NULL, &error).id); /* a name is required */
    assert_int_equal(WEIR_E_INVALID, error.status);
    options.struct_size = offsetof(weir_router_options, argument); /* older */
    error = (weir_error)WEIR_ERROR_INIT;
    assert_true(weir_router_add(engine, &options, &error).id != 0);
    test_error_none(&error);
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(0, weir_router_add(NULL, &options, &error).id);
    assert_int_equal(WEIR_E_INVALID, error.status);
    weir_engine_destroy(engine);
}

/* ---- defaults, seen from outside ---- */

static void the_defaults_are_what_the_header_says(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
    const weir_router router = flow_router_add(
        engine, WEIR_ROUTER(.name = "a", .handler = ignore_event, .block_max = WEIR_MS));
    cpu_set_t usable;
    assert_int_equal(0, sched_getaffinity(0, sizeof(usable), &usable));
    const uint64_t cores = (uint64_t)CPU_COUNT(&usable);
    const uint64_t workers = router_counters(engine, router).workers;
    assert_int_equal(cores < 8 ? cores : 8, workers);
    /* Not started, so that nothing is handled: worker_max on this flow's worker, then the ingress,
     * then block. */
    uint64_t accepted = 0;
    while (weir_router_submit(engine, router, 1, WEIR_EVENT(step, .value = 1)) == WEIR_OK) {
        accepted++;
        assert_true(accepted <= 8192 + 65536);
        if (accepted == 8192) {
            assert_int_equal(0, router_counters(engine, router).ingress);
        }
    }
    assert_int_equal(8192 + 65536, accepted);
    const weir_router_counters c = router_counters(engine, router);
    assert_int_equal(65536, c.ingress);
    assert_int_equal(1, c.refused_ingress);
    assert_int_equal(65536, worker_counters(engine, router, 0).beyond);
    test_engine_start(engine);
    const weir_stop_report report = test_engine_end(engine);
    assert_int_equal(accepted, report.handled);
}

static void the_bounds_themselves_are_legal(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    const struct {
        const char *name;
        weir_router_options options;
    } cases[] = {
        { "a", { .workers = 256, .batch_max = 65535, .block_max = WEIR_FOREVER } },
        { "b",
          { .workers = 1, .worker_max = 1, .ingress_max = 1, .batch_max = 1, .block_max = 1 } },
        { "c", { .workers = 1, .worker_max = 1, .ingress_max = 999999 } },
        { "d", { .workers = 1, .worker_max = 999999, .ingress_max = 1 } },
        { "e", { .workers = 1, .worker_max = 1000000, .overflow = WEIR_OVERFLOW_FAIL } },
        { "f", { .workers = 1, .flows_max = 16000000, .idle_timeout = WEIR_FOREVER } },
        { "g", { .workers = 1, .flows_max = 1, .idle_timeout = 1 } },
        { "h", { .workers = 1, .state_size = 1u << 20, .keys = WEIR_FLOW_KEYS_BYTES } },
        { "i", { .workers = 1, .latency_every = UINT32_MAX, .keys = WEIR_FLOW_KEYS_U64 } },
    };
    weir_router routers[sizeof(cases) / sizeof(cases[0])];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        weir_router_options options = cases[i].options;
        options.struct_size = sizeof(options);
        options.name = cases[i].name;
        options.handler = ignore_event;
        routers[i] = flow_router_add(engine, &options);
    }
    test_engine_start(engine);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) { /* and they work */
        for (uint64_t k = 1; k <= 3; k++) {
            const weir_status status =
                cases[i].options.keys == WEIR_FLOW_KEYS_BYTES
                    ? weir_router_submit_bytes(engine, routers[i], "abc", k,
                                               WEIR_EVENT(step, .value = k))
                    : weir_router_submit(engine, routers[i], k, WEIR_EVENT(step, .value = k));
            assert_true(status == WEIR_OK ||
                        (cases[i].options.block_max == 1 && status == WEIR_FULL));
        }
    }
    (void)test_engine_end(engine);
}

/* ---- when, and how many ---- */

static void cases_handle_by_type(void **state)
{
    (void)state;
    static const weir_case rows[] = { { &step_type, stage_handle } };
    static stage s;
    stage_set(&s, 1);
    weir_router_options options = stage_options(&s, "cases", 1);
    options.handler = NULL;
    options.cases = (weir_cases)WEIR_CASES(rows);
    s.router = flow_router_add(s.engine, &options);
    test_engine_start(s.engine);
    assert_int_equal(WEIR_OK, submit_value(&s, 1, 1));
    assert_int_equal(WEIR_OK, weir_router_submit(s.engine, s.router, 1, WEIR_EVENT(number, 2)));
    assert_int_equal(WEIR_OK, submit_value(&s, 1, 3));
    stage_handled(&s, 2);
    ASSERT_HANDLED(&s, 1, 1, 3);
    const weir_router_counters c = stage_close(&s);
    assert_int_equal(3, c.handled); /* an event that is nobody's is no failure */
    assert_int_equal(0, c.dead);
}

static void a_router_may_come_while_the_engine_runs(void **state)
{
    (void)state;
    static stage s;
    stage_set(&s, 2);
    test_engine_start(s.engine);
    for (uint64_t i = 1; i <= 20; i++) {
        const weir_router_options options = stage_options(&s, "late", 3);
        s.router = flow_router_add(s.engine, &options);
        assert_int_equal(WEIR_OK, submit_value(&s, i, i)); /* at once */
        stage_handled(&s, i);
        assert_int_equal(WEIR_OK, weir_router_stop(s.engine, s.router, TEST_PATIENCE, NULL));
        assert_int_equal(WEIR_FLOW_STOPPED, end_of_life(&s, life_of(&s, i)));
    }
    (void)test_engine_end(s.engine);
    assert_int_equal(0, atomic_load(&s.odd));
}

static void events_submitted_before_the_start_are_handled_after_it(void **state)
{
    (void)state;
    static stage s;
    stage_set(&s, 2);
    const weir_router_options options = stage_options(&s, "early", 2);
    s.router = flow_router_add(s.engine, &options);
    for (uint64_t i = 1; i <= 10; i++) {
        assert_int_equal(WEIR_OK, submit_value(&s, 1 + i % 2, i));
    }
    assert_int_equal(10, router_counters(s.engine, s.router).depth);
    test_engine_start(s.engine);
    stage_handled(&s, 10);
    ASSERT_HANDLED(&s, 1, 2, 4, 6, 8, 10);
    ASSERT_HANDLED(&s, 2, 1, 3, 5, 7, 9);
    (void)stage_close(&s);
}

static void own_threads_are_one_a_worker_and_run_nothing_else(void **state)
{
    (void)state;
    enum { WORKERS = 3 };
    static stage s;
    static const int32_t cores[] = { 0 };
    latch hold[WORKERS];
    memset(&s, 0, sizeof(s));
    assert_int_equal(0, pthread_mutex_init(&s.lock, NULL));
    s.engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
    weir_router_options options = stage_options(&s, "own", WORKERS);
    options.own_threads = true;
    options.idle = WEIR_IDLE_PARK;
    options.cores = cores;
    options.core_count = 1;
    const uint64_t before = test_engine_counters(s.engine).threads;
    s.router = flow_router_add(s.engine, &options);
    assert_int_equal(before + WORKERS, test_engine_counters(s.engine).threads);
    test_engine_start(s.engine);
    for (uint64_t i = 0; i < WORKERS; i++) { /* all of them at once */
        submit_held(&s, 1 + i, i, &hold[i]);
        assert_int_equal(i, worker_of(&s, 1 + i));
    }
    for (uint64_t i = 0; i < WORKERS; i++) {
        latch_open(&hold[i]);
    }
    stage_handled(&s, WORKERS);
    const uint64_t running = test_engine_counters(s.engine).threads;
    assert_int_equal(WEIR_OK, weir_router_stop(s.engine, s.router, TEST_PATIENCE, NULL));
    TEST_UNTIL(test_engine_counters(s.engine).threads == running - WORKERS);
    (void)stage_close(&s);
}

static void an_engine_has_1024_routers_in_its_life(void **state)
{
    (void)state;
    char name[16];
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
    weir_router last = { 0 };
    test_engine_start(engine);
    for (uint32_t i = 0; i < 1024; i++) {
        (void)snprintf(name, sizeof(name), "r%u", i);
        last = flow_router_add(engine,
                               WEIR_ROUTER(.name = name, .handler = ignore_event, .workers = 1,
                                           .worker_max = 8, .ingress_max = 8, .flows_max = 16));
        assert_int_equal(last.id, weir_router_find(engine, name).id);
        if (i % 2 == 0) {
            assert_int_equal(WEIR_OK, weir_router_stop(engine, last, TEST_PATIENCE, NULL));
        }
    }
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(
        0,
        weir_router_add(engine, WEIR_ROUTER(.name = "more", .handler = ignore_event), &error).id);
    assert_int_equal(WEIR_E_LIMIT, error.status);
    assert_non_null(strstr(error.text, "1024"));
    assert_int_equal(WEIR_OK, weir_router_submit(engine, last, 1, WEIR_EVENT(step, .value = 1)));
    (void)test_engine_end(engine);
}

static void handles_that_are_none_are_unknown(void **state)
{
    (void)state;
    static const uint64_t flow = 1;
    const weir_event *event = WEIR_EVENT(step, .value = 1);
    weir_status status = WEIR_OK;
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
    weir_engine *other = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
    const weir_router there =
        flow_router_add(other, WEIR_ROUTER(.name = "a", .handler = ignore_event, .workers = 1));
    const weir_router here =
        flow_router_add(engine, WEIR_ROUTER(.name = "a", .handler = ignore_event, .workers = 1));
    const weir_router none[] = { { 0 }, { 1 }, { UINT64_MAX }, there, { here.id + 1 } };
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        weir_router_counters counters = WEIR_ROUTER_COUNTERS_INIT;
        assert_int_equal(WEIR_UNKNOWN, weir_router_submit(engine, none[i], 1, event));
        assert_int_equal(WEIR_UNKNOWN, weir_router_submit(engine, none[i], 0, event));
        assert_int_equal(WEIR_UNKNOWN, weir_router_submit_bytes(engine, none[i], "a", 1, event));
        assert_int_equal(WEIR_UNKNOWN, weir_router_finish(engine, none[i], 1));
        assert_int_equal(0, weir_router_submit_batch(engine, none[i], &flow, &event, 1, &status));
        assert_int_equal(WEIR_UNKNOWN, status);
        assert_int_equal(WEIR_UNKNOWN, weir_router_stop(engine, none[i], WEIR_S, NULL));
        assert_int_equal(WEIR_UNKNOWN, weir_router_counters_get(engine, none[i], &counters));
    }
    assert_int_equal(WEIR_E_INVALID, weir_router_submit(NULL, here, 1, event));
    assert_int_equal(WEIR_E_INVALID, weir_router_submit(engine, here, 1, NULL));
    assert_int_equal(WEIR_E_INVALID, weir_router_submit_bytes(NULL, here, "a", 1, event));
    assert_int_equal(0, weir_router_submit_batch(engine, here, NULL, &event, 1, &status));
    assert_int_equal(WEIR_E_INVALID, status);
    assert_int_equal(0, weir_router_submit_batch(engine, here, &flow, NULL, 1, &status));
    assert_int_equal(0, weir_router_submit_batch(NULL, here, &flow, &event, 1, &status));
    assert_int_equal(0, weir_router_submit_batch(engine, here, &flow, &event, 0, NULL));
    assert_int_equal(WEIR_E_INVALID, weir_router_finish(NULL, here, 1));
    assert_int_equal(WEIR_E_INVALID, weir_router_stop(NULL, here, WEIR_S, NULL));
    assert_int_equal(WEIR_E_INVALID, weir_turn_finish(NULL));
    assert_int_equal(WEIR_E_INVALID, weir_turn_submit(NULL, here, 1, event));
    assert_int_equal(WEIR_E_INVALID, weir_turn_submit_bytes(NULL, here, "a", 1, event));
    assert_null(weir_turn_flow_key(NULL, NULL));
    assert_int_equal(0, router_counters(engine, here).submitted);
    weir_engine_destroy(engine);
    weir_engine_destroy(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_number_names_field_value_and_what_is_right),
        cmocka_unit_test(who_handles_is_one_of_three),
        cmocka_unit_test(targets_bring_their_own_states_mailboxes_and_threads),
        cmocka_unit_test(threads_are_its_own_or_a_dispatchers),
        cmocka_unit_test(names_have_1_to_199_bytes_and_are_unique),
        cmocka_unit_test(struct_sizes_of_another_age_are_read_or_refused),
        cmocka_unit_test(the_defaults_are_what_the_header_says),
        cmocka_unit_test(the_bounds_themselves_are_legal),
        cmocka_unit_test(cases_handle_by_type),
        cmocka_unit_test(a_router_may_come_while_the_engine_runs),
        cmocka_unit_test(events_submitted_before_the_start_are_handled_after_it),
        cmocka_unit_test(own_threads_are_one_a_worker_and_run_nothing_else),
        cmocka_unit_test(an_engine_has_1024_routers_in_its_life),
        cmocka_unit_test(handles_that_are_none_are_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
