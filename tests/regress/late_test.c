/*
 * late_test.c - what comes too late: while a start or an added thread is about to fail, after a
 * stop that nobody waits for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdatomic.h>
#include <weir/weir.h>

#include "engine/option_support.h"

enum { POSTERS = 3, NO_SUCH_CORE = 1000 };

static weir_status ignore(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    return WEIR_OK;
}

static weir_status refuse(void *state, weir_turn *turn, void *argument)
{
    (void)state;
    (void)turn;
    (void)argument;
    return WEIR_E_FAILED;
}

typedef struct scene {
    weir_engine *engine;
    weir_processor to;
    atomic_bool over;
    atomic_uint_fast64_t accepted;
    atomic_uint_fast64_t begun;
} scene;

static void *post_until_over(void *argument)
{
    scene *s = argument;
    uint64_t accepted = 0;
    while (!atomic_load(&s->over)) {
        accepted += test_post(s->engine, s->to, 1) == WEIR_OK;
        atomic_fetch_add(&s->begun, 1);
    }
    atomic_fetch_add(&s->accepted, accepted);
    return NULL;
}

static void a_failed_start_reports_every_event_that_it_accepted_as_left(void **state)
{
    (void)state;
    const uint64_t rounds = test_load(200, 20);
    for (uint64_t i = 0; i < rounds; i++) {
        scene s = { .engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF)) };
        s.to =
            test_processor_add(s.engine, WEIR_PROCESSOR(.handler = ignore, .mailbox_max = 1000000));
        (void)test_processor_add(s.engine, WEIR_PROCESSOR(.handler = ignore, .init = refuse));
        pthread_t threads[POSTERS];
        for (size_t k = 0; k < POSTERS; k++) {
            assert_int_equal(0, pthread_create(&threads[k], NULL, post_until_over, &s));
        }
        TEST_UNTIL(atomic_load(&s.begun) > POSTERS);
        weir_error error = WEIR_ERROR_INIT;
        assert_true(weir_engine_start(s.engine, &error) < 0);
        weir_stop_report report = WEIR_STOP_REPORT_INIT;
        assert_int_equal(WEIR_ALREADY, weir_engine_stop(s.engine, 0, &report));
        atomic_store(&s.over, true);
        for (size_t k = 0; k < POSTERS; k++) {
            assert_int_equal(0, pthread_join(threads[k], NULL));
        }
        assert_int_equal(atomic_load(&s.accepted), report.left);
        assert_int_equal(atomic_load(&s.accepted), report.accepted);
        weir_engine_destroy(s.engine);
    }
}

static void *add_until_over(void *argument)
{
    scene *s = argument;
    while (!atomic_load(&s->over)) {
        weir_error error = WEIR_ERROR_INIT;
        (void)weir_processor_add(s->engine, WEIR_PROCESSOR(.handler = ignore, .dispatcher = "new"),
                                 &error);
        atomic_fetch_add(&s->accepted, error.status == WEIR_OK ? 1 : 0);
        atomic_fetch_add(&s->begun, 1);
    }
    return NULL;
}

static void a_thread_that_cannot_be_added_makes_no_dispatcher_valid(void **state)
{
    (void)state;
    static const int32_t core[] = { NO_SUCH_CORE };
    const uint64_t rounds = test_load(50, 10);
    for (uint64_t i = 0; i < rounds; i++) {
        scene s = { .engine =
                        test_engine_create(WEIR_ENGINE(.threads = 1, .log_level = WEIR_LOG_OFF)) };
        test_engine_start(s.engine);
        pthread_t adder;
        assert_int_equal(0, pthread_create(&adder, NULL, add_until_over, &s));
        TEST_UNTIL(atomic_load(&s.begun) > 0);
        weir_error error = WEIR_ERROR_INIT;
        assert_int_equal(
            0, weir_thread_add(s.engine,
                               WEIR_THREAD(.dispatchers = WEIR_NAMES("new"), .cores = core,
                                           .core_count = 1, .core_required = true),
                               &error)
                   .id);
        assert_int_equal(WEIR_E_SYSTEM, error.status);
        atomic_store(&s.over, true);
        assert_int_equal(0, pthread_join(adder, NULL));
        assert_int_equal(0, atomic_load(&s.accepted));
        (void)test_engine_end(s.engine);
    }
}

/* Found by the scenario async-stop-outside: the stop was another thread's to begin. */
static void posts_are_refused_once_an_asynchronous_stop_was_called(void **state)
{
    (void)state;
    const uint64_t rounds = test_load(200, 20);
    for (uint64_t i = 0; i < rounds; i++) {
        const bool started = i % 2 == 0;
        weir_stop_report report = WEIR_STOP_REPORT_INIT;
        weir_engine *engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
        const weir_processor to = test_processor_add(engine, WEIR_PROCESSOR(.handler = ignore));
        if (started) {
            assert_int_equal(WEIR_OK, weir_engine_start(engine, NULL));
        }
        assert_int_equal(WEIR_OK, weir_engine_stop_async(engine, 0));
        assert_int_equal(WEIR_STOPPING, test_post(engine, to, 1));
        assert_int_equal(WEIR_OK, weir_engine_wait(engine, 0, &report));
        assert_int_equal(0, report.accepted);
        weir_engine_destroy(engine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failed_start_reports_every_event_that_it_accepted_as_left),
        cmocka_unit_test(a_thread_that_cannot_be_added_makes_no_dispatcher_valid),
        cmocka_unit_test(posts_are_refused_once_an_asynchronous_stop_was_called),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
