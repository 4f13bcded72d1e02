/*
 * figures_test.c - what threads did with their time, and how deep mailboxes were.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine_support.h"

static weir_thread_counters thread_of(weir_engine *engine, weir_thread thread)
{
    weir_thread_counters c = WEIR_THREAD_COUNTERS_INIT;
    assert_int_equal(WEIR_OK, weir_thread_counters_get(engine, thread, &c));
    return c;
}

static weir_counters processor_of(weir_engine *engine, weir_processor p)
{
    weir_counters c = WEIR_COUNTERS_INIT;
    assert_int_equal(WEIR_OK, weir_processor_counters(engine, p, &c));
    return c;
}

static weir_processor add_processor(weir_engine *engine, const weir_processor_options *options)
{
    weir_error error = WEIR_ERROR_INIT;
    const weir_processor p = weir_processor_add(engine, options, &error);
    assert_no_error(&error);
    return p;
}

static weir_status post(weir_engine *engine, weir_processor to)
{
    return weir_engine_post(engine, to, WEIR_EVENT(mark, .number = 0));
}

static void a_thread_that_is_held_up_in_a_handler_is_busy(void **state)
{
    (void)state;
    weir_engine *engine = engine_quiet();
    weir_thread thread;
    blocker b;
    blocker_init(&b);
    engine_add_threads(engine, "", 1, WEIR_IDLE_PARK, &thread);
    const weir_processor p =
        add_processor(engine, WEIR_PROCESSOR(.handler = block_until_let_go, .argument = &b));
    engine_start(engine);
    UNTIL(thread_of(engine, thread).parks > 0);
    const weir_thread_counters idle = thread_of(engine, thread);
    assert_int_equal(WEIR_OK, post(engine, p));
    assert_true(sem_wait_seconds(&b.entered, WAIT_SECONDS));
    const weir_thread_counters begun = thread_of(engine, thread);
    busy_for_ns(20000000);
    const weir_thread_counters later = thread_of(engine, thread);
    /* It never ended a turn meanwhile: the reader adds what has passed. */
    assert_true(later.busy - begun.busy >= 19 * WEIR_MS);
    assert_true(later.alive - begun.alive >= 19 * WEIR_MS);
    assert_true(later.busy <= later.alive && idle.busy <= idle.alive);
    assert_true(later.cpu < later.busy); /* it sleeps in there */
    assert_true(later.system_id > 0);
    assert_in_range(later.core_now, 0, 4096);

    weir_latency waits = WEIR_LATENCY_INIT;
    gate_open(&b.leave);
    UNTIL(thread_of(engine, thread).parks > begun.parks);
    UNTIL(!(task_state(later.system_id) != 'S'));
    const weir_ns rest = thread_of(engine, thread).busy;
    busy_for_ns(5000000);
    assert_int_equal(rest, thread_of(engine, thread).busy); /* parked: not a nanosecond */
    assert_int_equal(WEIR_OK, weir_thread_latency(engine, thread, NULL, &waits));
    assert_true(waits.count >= 1 && waits.max > 0); /* the wait for the post is over */
    assert_int_equal(WEIR_OK, weir_engine_stop(engine, 10 * WEIR_S, NULL));
    const weir_thread_counters ended = thread_of(engine, thread);
    busy_for_ns(2000000);
    assert_int_equal(ended.alive, thread_of(engine, thread).alive);
    assert_true(ended.cpu > 0);
    assert_int_equal(-1, ended.core_now);
    weir_engine_destroy(engine);
}

static void a_thread_that_spins_over_nothing_uses_the_core_and_is_not_busy(void **state)
{
    (void)state;
    weir_engine *engine = engine_quiet();
    weir_thread thread;
    engine_add_threads(engine, "", 1, WEIR_IDLE_BUSY_SPIN, &thread);
    engine_start(engine);
    UNTIL(thread_of(engine, thread).cpu > 5 * WEIR_MS);
    assert_int_equal(0, thread_of(engine, thread).busy);
    weir_engine_destroy(engine);
}

static void depths_are_seen_when_turns_begin(void **state)
{
    (void)state;
    weir_engine *engine = engine_quiet();
    weir_dispatcher_counters d = WEIR_DISPATCHER_COUNTERS_INIT;
    const weir_processor p =
        add_processor(engine, WEIR_PROCESSOR(.handler = ignore_event, .mailbox_max = 1000));
    const weir_processor q = add_processor(engine, WEIR_PROCESSOR(.handler = ignore_event));
    assert_int_equal(1000, processor_of(engine, p).mailbox_max);
    assert_int_equal(10000, processor_of(engine, q).mailbox_max);
    assert_int_equal(0, processor_of(engine, p).depth_high);
    for (int i = 0; i < 500; i++) {
        assert_int_equal(WEIR_OK, post(engine, p));
    }
    assert_int_equal(WEIR_OK, post(engine, q));
    assert_int_equal(500, processor_of(engine, p).depth_high); /* as deep as it is now */
    assert_int_equal(WEIR_OK, weir_dispatcher_counters_get(engine, "", &d));
    assert_int_equal(501, d.depth);
    engine_start(engine);
    UNTIL(processor_of(engine, p).handled == 500 && processor_of(engine, q).handled == 1);
    assert_int_equal(500, processor_of(engine, p).depth_high);
    assert_int_equal(1, processor_of(engine, q).depth_high);
    UNTIL(weir_dispatcher_counters_get(engine, "", &d) == WEIR_OK && d.depth == 0);

    /* Whoever has the slot next begins at nought. */
    for (int i = 0; i < 100; i++) {
        const weir_processor old = add_processor(engine, WEIR_PROCESSOR(.handler = ignore_event));
        assert_int_equal(0, processor_of(engine, old).depth_high);
        for (int n = 0; n < 50; n++) {
            assert_int_equal(WEIR_OK, post(engine, old));
        }
        assert_int_equal(WEIR_OK, weir_processor_stop(engine, old, 10 * WEIR_S, NULL));
    }
    weir_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_that_is_held_up_in_a_handler_is_busy),
        cmocka_unit_test(a_thread_that_spins_over_nothing_uses_the_core_and_is_not_busy),
        cmocka_unit_test(depths_are_seen_when_turns_begin),
    };
    return cmocka_run_group_tests_name("figures", tests, NULL, NULL);
}
