/*
 * external_test.c - bugs that were: threads that the application turns. A processor that nobody
 * served after run_once had returned by its limit; a descriptor that a turn during the start had
 * made deaf; one that stayed readable for ever after the stop.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "regress_support.h"

#include <poll.h>

static bool is_readable(weir_engine *engine, weir_thread loop, weir_ns timeout)
{
    struct pollfd f = { .fd = weir_thread_fd(engine, loop), .events = POLLIN };
    return poll(&f, 1, (int)(timeout / WEIR_MS)) == 1;
}

typedef struct turner {
    weir_engine *engine;
    weir_thread loop;
    int32_t result;
    atomic_bool done;
} turner;

static void turn_for_one_event(void *argument)
{
    turner *t = argument;
    t->result = weir_thread_run_once(t->engine, t->loop, 1);
}

/* The own thread parks while the external one is inside the processor: what is left of it then is
 * pushed quietly, and must be passed on to the own thread. */
static void an_external_thread_that_returns_by_its_limit_leaves_nothing_stranded(void **state)
{
    (void)state;
    test_recorder busy, shared;
    test_recorder_init(&busy, true);
    test_recorder_init(&shared, true);
    weir_engine *engine = quiet_engine(0);
    const weir_thread own = test_thread_add(engine, WEIR_THREAD(.idle = WEIR_IDLE_PARK));
    const weir_thread loop = test_thread_add(engine, WEIR_THREAD(.external = true));
    const weir_processor q = add_recorder(engine, &busy, NULL);
    const weir_processor p = add_recorder(engine, &shared, NULL);
    test_engine_start(engine);
    put_in_hand(engine, q, &busy); /* the own thread is in there */
    for (uint64_t i = 1; i <= 3; i++) {
        assert_int_equal(WEIR_OK, test_post(engine, p, i));
    }
    turner t = { .engine = engine, .loop = loop };
    aside turning;
    aside_begin(&turning, turn_for_one_event, &t);
    test_sem_wait(&shared.entered); /* the external thread is in there */
    const uint64_t parks = parks_of(engine, own);
    test_recorder_pass(&busy, 1);
    TEST_UNTIL(parks_of(engine, own) > parks);
    test_recorder_pass(&shared, 3);
    aside_end(&turning);
    assert_int_equal(1, t.result);
    assert_true(is_readable(engine, loop, 0)); /* it returned with work left over */
    TEST_UNTIL(test_recorder_handled(&shared) == 3);
    test_recorder_saw_run(&shared, 1, 3);
    test_external_end(engine, loop);
}

static void start_engine(void *argument)
{
    weir_error error = WEIR_ERROR_INIT;
    (void)weir_engine_start(argument, &error);
}

static void a_turn_during_the_start_does_not_make_the_descriptor_deaf(void **state)
{
    (void)state;
    gated_init slow;
    gated_init_open(&slow, WEIR_OK);
    test_recorder recorder;
    test_recorder_init(&recorder, false);
    weir_engine *engine = quiet_engine(0);
    (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("own")));
    const weir_thread loop =
        test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("loop"), .external = true));
    (void)test_processor_add(engine,
                             WEIR_PROCESSOR(.handler = handle_nothing, .init = gated_init_run,
                                            .argument = &slow, .dispatcher = "own"));
    const weir_processor to = add_recorder(engine, &recorder, "loop");
    aside starting;
    aside_begin(&starting, start_engine, engine);
    test_sem_wait(&slow.entered);
    assert_int_equal(0, weir_thread_run_once(engine, loop, 0));
    assert_int_equal(0, sem_post(&slow.pass));
    aside_end(&starting);
    assert_int_equal(WEIR_OK, test_post(engine, to, 1));
    assert_true(is_readable(engine, loop, TEST_PATIENCE));
    assert_int_equal(1, weir_thread_run_once(engine, loop, 0));
    test_recorder_saw_run(&recorder, 1, 1);
    test_external_end(engine, loop);
}

static void after_a_stop_one_turn_makes_the_descriptor_quiet(void **state)
{
    (void)state;
    weir_engine *engine = quiet_engine(0);
    const weir_thread loop = test_thread_add(engine, WEIR_THREAD(.external = true));
    (void)test_processor_add(engine, WEIR_PROCESSOR(.handler = handle_nothing));
    test_engine_start(engine);
    assert_int_equal(0, weir_thread_run_once(engine, loop, 0));
    assert_int_equal(WEIR_OK, weir_engine_stop_async(engine, TEST_PATIENCE));
    TEST_UNTIL(((void)weir_thread_run_once(engine, loop, 0),
                weir_engine_wait(engine, WEIR_NOW, NULL) == WEIR_OK));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(0, weir_thread_run_once(engine, loop, 0));
        assert_false(is_readable(engine, loop, 0)); /* else a poll loop would never sleep again */
    }
    weir_engine_destroy(engine);
}

static void turn_until_done(void *argument)
{
    turner *t = argument;
    while (!atomic_load(&t->done)) {
        t->result = weir_thread_run_once(t->engine, t->loop, 0);
    }
}

static void turning_all_through_start_and_stop_loses_nothing(void **state)
{
    (void)state;
    const uint64_t rounds = test_load(200, 20);
    for (uint64_t i = 0; i < rounds; i++) {
        test_recorder recorder;
        test_recorder_init(&recorder, false);
        weir_engine *engine = quiet_engine(0);
        turner t = { .engine = engine };
        atomic_init(&t.done, false);
        t.loop = test_thread_add(engine, WEIR_THREAD(.external = true));
        (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("own")));
        const weir_processor to = add_recorder(engine, &recorder, NULL);
        aside turning;
        aside_begin(&turning, turn_until_done, &t);
        test_engine_start(engine);
        assert_int_equal(WEIR_OK, test_post(engine, to, 1));
        assert_int_equal(1, test_engine_stop(engine).handled);
        atomic_store(&t.done, true);
        aside_end(&turning);
        test_recorder_saw_run(&recorder, 1, 1);
        weir_engine_destroy(engine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_external_thread_that_returns_by_its_limit_leaves_nothing_stranded),
        cmocka_unit_test(a_turn_during_the_start_does_not_make_the_descriptor_deaf),
        cmocka_unit_test(after_a_stop_one_turn_makes_the_descriptor_quiet),
        cmocka_unit_test(turning_all_through_start_and_stop_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
