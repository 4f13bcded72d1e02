/*
 * allocation_test.c - routers with their nth allocation failing, n = 1, 2, 3, ...: an error, no
 * leak, and later everything works; submits answer E_NOMEM and lose nothing.
 *
 * Each operation runs on a new engine for every n, once with that allocation alone failing and once
 * with all from there on. Then memory is back: the same operation must succeed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../engine/fault_support.h" /* first: it has a variable of the name of an event */

#include "flow_support.h"

enum { NTH_MAX = 5000, FLOWS = 40 };

typedef struct scene {
    test_fault fault;
    stage on;
    weir_error error;
    weir_router_options options;
    uint64_t accepted;
    uint64_t tasks;
} scene;

static scene now;

static void scene_open(bool started, bool with_router)
{
    test_fault_init(&now.fault);
    memset(&now.on, 0, sizeof(now.on));
    assert_int_equal(0, pthread_mutex_init(&now.on.lock, NULL));
    now.error = (weir_error)WEIR_ERROR_INIT;
    now.accepted = 0;
    now.tasks = test_task_count();
    const weir_allocator allocator = { test_fault_allocate, test_fault_release, &now.fault };
    now.on.engine =
        test_engine_create(WEIR_ENGINE(.allocator = &allocator, .log_level = WEIR_LOG_OFF));
    if (with_router) {
        now.on.router = flow_router_add(now.on.engine, &now.options);
    }
    if (started) {
        test_engine_start(now.on.engine);
    }
}

static void scene_close(bool started)
{
    if (!started) {
        test_engine_start(now.on.engine);
    }
    TEST_UNTIL(atomic_load(&now.on.handled) == now.accepted);
    (void)test_engine_end(now.on.engine);
    assert_int_equal(now.accepted, atomic_load(&now.on.handled));
    assert_int_equal(atomic_load(&now.on.begun), atomic_load(&now.on.ended));
    assert_int_equal(0, atomic_load(&now.on.odd));
    assert_int_equal(0, atomic_load(&now.fault.bytes));
    assert_int_equal(0, atomic_load(&now.fault.wrong));
    TEST_UNTIL(test_task_count() <= now.tasks);
}

static weir_status add_router(void)
{
    now.on.router = weir_router_add(now.on.engine, &now.options, &now.error);
    assert_true((now.on.router.id != 0) == (now.error.status == WEIR_OK));
    return now.error.status;
}

static void submit_one(uint64_t flow)
{
    assert_int_equal(WEIR_OK, submit_value(&now.on, flow, ++now.accepted));
}

/* One n. True: adding needs no more than n allocations. */
static bool add_with_nth(long nth, bool lasting, bool started)
{
    scene_open(started, false);
    const weir_counters before = test_engine_counters(now.on.engine);
    test_fault_arm(&now.fault, nth, lasting);
    const weir_status status = add_router();
    const bool hit = test_fault_disarm(&now.fault) > 0;
    if (status != WEIR_OK) {
        assert_true(hit);
        assert_int_equal(WEIR_E_NOMEM, status);
        assert_true(now.error.text[0] != '\0');
        assert_int_equal(0, weir_router_find(now.on.engine, now.options.name).id);
        /* Nothing of it is left, as soon as those who saw it have let go. */
        TEST_UNTIL(test_engine_counters(now.on.engine).processors == before.processors);
        /* But for the engine's default thread, which anything that is added may have made. */
        const uint64_t usual = before.threads == 0 && !now.options.own_threads ? 1 : 0;
        TEST_UNTIL(test_engine_counters(now.on.engine).threads <= before.threads + usual);
        now.error = (weir_error)WEIR_ERROR_INIT;
        if (add_router() != WEIR_OK) {
            (void)weir_error_print(&now.error);
        }
        assert_int_equal(WEIR_OK, now.error.status); /* the same name */
    } else {
        assert_false(hit);
    }
    assert_int_equal(now.on.router.id, weir_router_find(now.on.engine, now.options.name).id);
    for (uint64_t flow = 1; flow <= 4; flow++) {
        submit_one(flow);
    }
    scene_close(started);
    return !hit;
}

static void sweep_adds(const char *what, bool started)
{
    for (int lasting = 0; lasting < 2; lasting++) {
        long nth = 0;
        while (!add_with_nth(nth, lasting != 0, started)) {
            nth++;
            assert_true(nth < NTH_MAX);
        }
        assert_true(nth > 1);
        fprintf(stderr, "# %s: %ld allocations failed\n", what, nth);
    }
}

static void add_survives_its_nth_allocation_failing(void **state)
{
    (void)state;
    now.options = stage_options(&now.on, "add", 3);
    sweep_adds("add", false);
}

static void add_survives_it_on_a_running_engine(void **state)
{
    (void)state;
    now.options = stage_options(&now.on, "add", 3);
    sweep_adds("add, running", true);
}

static void add_with_own_threads_survives_it(void **state)
{
    (void)state;
    now.options = stage_options(&now.on, "add", 2);
    now.options.own_threads = true;
    sweep_adds("add, own threads", false);
    sweep_adds("add, own threads, running", true);
}

static void add_survives_it_many_times_on_one_engine(void **state)
{
    (void)state;
    now.options = stage_options(&now.on, "add", 3);
    scene_open(true, false);
    bool done = false;
    for (long nth = 0; !done && nth < NTH_MAX; nth++) {
        test_fault_arm(&now.fault, nth, true);
        done = add_router() == WEIR_OK;
        (void)test_fault_disarm(&now.fault);
        if (!done) {
            assert_int_equal(WEIR_E_NOMEM, now.error.status);
            TEST_UNTIL(test_engine_counters(now.on.engine).processors == 0);
        }
        now.error = (weir_error)WEIR_ERROR_INIT;
    }
    assert_true(done);
    submit_one(1);
    scene_close(true);
}

/* ---- submits ---- */

/* Each flow gets an event; those that were refused are gone without a trace, and come later. */
static bool submit_with_nth(long nth, bool lasting, bool bytes)
{
    char key[32];
    bool refused[FLOWS] = { false };
    scene_open(false, true);
    test_fault_arm(&now.fault, nth, lasting);
    uint64_t refusals = 0;
    for (uint64_t i = 0; i < FLOWS; i++) {
        const step what = { .value = now.accepted + 1 };
        const weir_event event = { .type = &step_type, .data = &what, .size = sizeof(what) };
        const size_t size = (size_t)snprintf(key, sizeof(key), "a longer key %03u", (unsigned)i);
        const weir_status status =
            bytes ? weir_router_submit_bytes(now.on.engine, now.on.router, key, size, &event)
                  : weir_router_submit(now.on.engine, now.on.router, 1 + i, &event);
        assert_true(status == WEIR_OK || status == WEIR_E_NOMEM);
        refused[i] = status != WEIR_OK;
        refusals += refused[i];
        now.accepted += status == WEIR_OK;
        const weir_router_counters c = router_counters(now.on.engine, now.on.router);
        assert_int_equal(now.accepted, c.submitted);
        assert_int_equal(now.accepted, c.flows);
    }
    const bool hit = test_fault_disarm(&now.fault) > 0;
    assert_true(refusals > 0 || !hit || !lasting);
    for (uint64_t i = 0; i < FLOWS; i++) {
        const size_t size = (size_t)snprintf(key, sizeof(key), "a longer key %03u", (unsigned)i);
        const weir_event *event = WEIR_EVENT(step, .value = now.accepted + 1);
        if (refused[i]) {
            assert_int_equal(
                WEIR_OK,
                bytes ? weir_router_submit_bytes(now.on.engine, now.on.router, key, size, event)
                      : weir_router_submit(now.on.engine, now.on.router, 1 + i, event));
            now.accepted++;
        }
    }
    assert_int_equal(FLOWS, router_counters(now.on.engine, now.on.router).flows);
    scene_close(false);
    assert_int_equal(FLOWS, atomic_load(&now.on.begun));
    return !hit;
}

static void sweep_submits(bool bytes)
{
    now.options = stage_options(&now.on, "submit", 2);
    now.options.keys = bytes ? WEIR_FLOW_KEYS_BYTES : WEIR_FLOW_KEYS_U64;
    for (int lasting = 0; lasting < 2; lasting++) {
        long nth = 0;
        while (!submit_with_nth(nth, lasting != 0, bytes)) {
            nth++;
            assert_true(nth < NTH_MAX);
        }
        assert_true(nth > 1);
        fprintf(stderr, "# submit%s: %ld allocations failed\n", bytes ? " of bytes" : "", nth);
    }
}

static void submits_survive_their_nth_allocation_failing(void **state)
{
    (void)state;
    sweep_submits(false);
}

static void submits_of_bytes_survive_it(void **state)
{
    (void)state;
    sweep_submits(true);
}

static void nothing_is_allocated_once_per_event(void **state)
{
    (void)state;
    now.options = stage_options(&now.on, "steady", 1);
    now.options.keys = WEIR_FLOW_KEYS_BYTES;
    scene_open(true, true);
    for (uint64_t round = 0; round < 60; round++) {
        if (round == 20) { /* by now tables and records are there, and pools but for what a mailbox
                              needs that is fuller than before */
            test_fault_arm(&now.fault, 16, true);
        }
        for (uint64_t i = 0; i < 8; i++) {
            const unsigned char key[3] = { 'k', (unsigned char)i, 0 };
            assert_int_equal(WEIR_OK,
                             weir_router_submit_bytes(now.on.engine, now.on.router, key, 3,
                                                      WEIR_EVENT(step, .value = ++now.accepted)));
        }
        TEST_UNTIL(atomic_load(&now.on.handled) == now.accepted);
    }
    assert_int_equal(0, test_fault_disarm(&now.fault));
    scene_close(true);
}

/* Flows that come and go need no more memory than at first. */
static void flows_that_come_and_go_take_no_more_memory(void **state)
{
    (void)state;
    now.options = stage_options(&now.on, "churn", 2);
    scene_open(true, true);
    uint64_t bytes = 0;
    for (uint64_t round = 0; round < 30; round++) {
        for (uint64_t i = 0; i < 100; i++) {
            assert_int_equal(WEIR_OK, submit_last(&now.on, 1 + round * 100 + i, ++now.accepted));
            if (i % 20 == 19) {
                TEST_UNTIL(router_counters(now.on.engine, now.on.router).flows == 0);
            }
        }
        pthread_mutex_lock(&now.on.lock);
        now.on.count = 0; /* the log would be full */
        pthread_mutex_unlock(&now.on.lock);
        const uint64_t used = router_counters(now.on.engine, now.on.router).bytes;
        bytes = round == 9 ? used : bytes;
        assert_true(round <= 9 || used <= bytes * 2);
    }
    scene_close(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(add_survives_its_nth_allocation_failing),
        cmocka_unit_test(add_survives_it_on_a_running_engine),
        cmocka_unit_test(add_with_own_threads_survives_it),
        cmocka_unit_test(add_survives_it_many_times_on_one_engine),
        cmocka_unit_test(submits_survive_their_nth_allocation_failing),
        cmocka_unit_test(submits_of_bytes_survive_it),
        cmocka_unit_test(nothing_is_allocated_once_per_event),
        cmocka_unit_test(flows_that_come_and_go_take_no_more_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
