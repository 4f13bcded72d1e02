/*
 * many_threads_test.c - more threads than a word has bits: each of them can be woken, alone and
 * among others, whatever its number.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "option_support.h"

enum { THREADS = 66, ROUNDS = 3 }; /* numbers 0 to 65: both sides of the border */

typedef struct crowd {
    weir_engine *engine;
    weir_thread threads[THREADS];
    weir_processor processors[THREADS];
    test_recorder recorders[THREADS];
    char names[THREADS][8];
} crowd;

/* Parked: it sleeps, and only a wake-up gets it out of that. */
static void wait_until_parked(crowd *c, size_t i, uint64_t parks)
{
    weir_thread_counters counters = WEIR_THREAD_COUNTERS_INIT;
    TEST_UNTIL(weir_thread_counters_get(c->engine, c->threads[i], &counters) == WEIR_OK &&
               counters.parks > parks);
}

static uint64_t parks_of(crowd *c, size_t i)
{
    weir_thread_counters counters = WEIR_THREAD_COUNTERS_INIT;
    assert_int_equal(WEIR_OK, weir_thread_counters_get(c->engine, c->threads[i], &counters));
    return counters.parks;
}

/* Thread i serves dispatcher di and nothing else. */
static void crowd_start(crowd *c, bool fair)
{
    c->engine = test_engine_create(NULL);
    for (size_t i = 0; i < THREADS; i++) {
        (void)snprintf(c->names[i], sizeof(c->names[i]), "d%zu", i);
        c->threads[i] = test_thread_add(
            c->engine, WEIR_THREAD(.dispatchers = WEIR_NAMES(c->names[i]), .idle = WEIR_IDLE_PARK));
        assert_int_equal(WEIR_OK,
                         weir_dispatcher_tune(
                             c->engine, WEIR_DISPATCHER(.name = c->names[i], .fair = fair), NULL));
        test_recorder_init(&c->recorders[i], false);
        c->processors[i] = test_processor_add(
            c->engine, WEIR_PROCESSOR(.dispatcher = c->names[i], .handler = test_recorder_handle,
                                      .argument = &c->recorders[i]));
    }
    test_engine_start(c->engine);
}

static void wake_each(bool fair)
{
    static crowd c;
    crowd_start(&c, fair);
    for (size_t i = 0; i < THREADS; i++) {
        wait_until_parked(&c, i, 0);
    }
    for (uint64_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < THREADS; i++) {
            const uint64_t parks = parks_of(&c, i);
            assert_int_equal(WEIR_OK, test_post(c.engine, c.processors[i], round));
            TEST_UNTIL(test_recorder_handled(&c.recorders[i]) == round + 1);
            wait_until_parked(&c, i, parks);
        }
    }
    assert_int_equal(THREADS * ROUNDS, test_engine_end(c.engine).handled);
    for (size_t i = 0; i < THREADS; i++) {
        test_recorder_saw_run(&c.recorders[i], 0, ROUNDS);
    }
}

static void every_thread_is_woken_for_its_dispatcher(void **state)
{
    (void)state;
    wake_each(false);
}

static void every_thread_is_woken_for_its_fair_dispatcher(void **state)
{
    (void)state;
    wake_each(true);
}

/* All but one are held by a handler: whoever is free gets the event, whatever its number. */
static void the_one_thread_that_is_free_is_woken(void **state)
{
    (void)state;
    enum { HELD = THREADS - 1 };
    static test_recorder held[HELD], free_one;
    weir_processor blockers[HELD];
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.threads = THREADS));
    test_recorder_init(&free_one, false);
    const weir_processor to = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &free_one));
    for (size_t i = 0; i < HELD; i++) {
        test_recorder_init(&held[i], true);
        blockers[i] = test_processor_add(
            engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &held[i]));
    }
    test_engine_start(engine);
    for (size_t i = 0; i < HELD; i++) {
        assert_int_equal(WEIR_OK, test_post(engine, blockers[i], i));
        test_sem_wait(&held[i].entered);
    }
    for (uint64_t i = 0; i < ROUNDS; i++) {
        assert_int_equal(WEIR_OK, test_post(engine, to, i));
        TEST_UNTIL(test_recorder_handled(&free_one) == i + 1);
    }
    for (size_t i = 0; i < HELD; i++) {
        test_recorder_pass(&held[i], 1);
    }
    assert_int_equal(HELD + ROUNDS, test_engine_end(engine).handled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_thread_is_woken_for_its_dispatcher),
        cmocka_unit_test(every_thread_is_woken_for_its_fair_dispatcher),
        cmocka_unit_test(the_one_thread_that_is_free_is_woken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
