/*
 * timer_stress_test.c - eight threads add, cancel and wait for timers at once, towards processors
 * that come and go; every timer has exactly one outcome, and the sums are exact.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../engine/timer_support.h"

enum { THREADS = 8, KEPT = 256, RECEIVERS = 4 };

typedef struct worker {
    weir_engine *engine;
    const weir_processor *receivers;
    uint64_t seed, rounds;
    uint64_t added, in_time, late, unknown, wrong;
    pthread_t thread;
} worker;

static const weir_timer_options *choose(uint64_t *random, weir_timer_options *options)
{
    *options = (weir_timer_options)WEIR_TIMER_OPTIONS_INIT;
    options->after =
        1 + (weir_ns)(test_random(random) % (test_random(random) % 8 == 0 ? 3000000 : 30000));
    options->tag = test_random(random) % 3;
    options->reserve = test_random(random) % 4 == 0;
    return options;
}

static void *work(void *argument)
{
    worker *w = argument;
    weir_timer kept[KEPT] = { { 0 } };
    for (uint64_t i = 0; i < w->rounds; i++) {
        weir_timer *place = &kept[test_random(&w->seed) % KEPT];
        if (place->id != 0) {
            switch (weir_timer_cancel(w->engine, *place)) {
            case WEIR_OK:
                w->in_time++;
                break;
            case WEIR_LATE:
                w->late++;
                break;
            case WEIR_UNKNOWN: /* it ended so long ago */
                w->unknown++;
                break;
            default:
                w->wrong++;
                break;
            }
            place->id = 0;
            continue;
        }
        weir_timer_options options;
        const weir_processor to = w->receivers[test_random(&w->seed) % RECEIVERS];
        const weir_status status =
            weir_timer_add(w->engine, to, WEIR_EVENT(number, i), choose(&w->seed, &options), place);
        w->added += status == WEIR_OK ? 1 : 0;
        w->wrong += status != WEIR_OK && !(status == WEIR_FULL && options.reserve) &&
                            status != WEIR_UNKNOWN && status != WEIR_STOPPING
                        ? 1
                        : 0;
    }
    return NULL;
}

static void eight_threads_add_and_cancel_while_timers_fire(void **state)
{
    (void)state;
    static receiver receivers[RECEIVERS];
    static worker workers[THREADS];
    weir_processor to[RECEIVERS];
    uint64_t seed = test_seed();
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.threads = 2));
    memset(receivers, 0, sizeof(receivers));
    memset(workers, 0, sizeof(workers));
    for (size_t i = 0; i < RECEIVERS; i++) {
        assert_int_equal(0, sem_init(&receivers[i].came, 0, 0));
        to[i] =
            test_processor_add(engine, WEIR_PROCESSOR(.handler = receive, .argument = &receivers[i],
                                                      .mailbox_max = i == 0 ? 16 : 100000));
    }
    test_engine_start(engine);
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (worker){ .engine = engine,
                               .receivers = to,
                               .seed = test_random(&seed),
                               .rounds = test_load(100000, 10000) };
        assert_int_equal(0, pthread_create(&workers[i].thread, NULL, work, &workers[i]));
    }
    /* One receiver goes meanwhile. */
    TEST_UNTIL(received(&receivers[1]) > 100);
    assert_int_equal(WEIR_OK, weir_processor_stop(engine, to[1], 0, NULL));
    uint64_t added = 0, in_time = 0;
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(0, pthread_join(workers[i].thread, NULL));
        assert_int_equal(0, workers[i].wrong);
        added += workers[i].added;
        in_time += workers[i].in_time;
    }
    TEST_UNTIL(all_have_ended(engine)); /* else the stop is the outcome of the last */
    const weir_stop_report report = test_engine_stop(engine);
    const weir_timer_counters c = timer_counters(engine);
    assert_int_equal(added, c.added);
    assert_int_equal(in_time, c.cancelled);
    assert_int_equal(0, c.stopped);
    assert_int_equal(0, c.failed_other);
    assert_int_equal(c.posted, report.handled);
    assert_books_balance(engine);
    uint64_t came = 0;
    for (size_t i = 0; i < RECEIVERS; i++) {
        came += received(&receivers[i]);
    }
    assert_int_equal(c.posted, came);
    weir_engine_destroy(engine);
}

static void a_stop_meets_eight_threads_that_add(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    for (uint64_t round = 0; round < test_load(50, 10); round++) {
        static receiver receivers[RECEIVERS];
        static worker workers[THREADS];
        weir_processor to[RECEIVERS];
        weir_engine *engine = test_engine_create(NULL);
        memset(receivers, 0, sizeof(receivers));
        memset(workers, 0, sizeof(workers));
        for (size_t i = 0; i < RECEIVERS; i++) {
            assert_int_equal(0, sem_init(&receivers[i].came, 0, 0));
            to[i] = test_processor_add(
                engine, WEIR_PROCESSOR(.handler = receive, .argument = &receivers[i]));
        }
        test_engine_start(engine);
        for (size_t i = 0; i < THREADS; i++) {
            workers[i] = (worker){
                .engine = engine, .receivers = to, .seed = test_random(&seed), .rounds = 2000
            };
            assert_int_equal(0, pthread_create(&workers[i].thread, NULL, work, &workers[i]));
        }
        TEST_UNTIL(received(&receivers[0]) > test_random(&seed) % 100);
        const weir_stop_report report = test_engine_stop(engine);
        for (size_t i = 0; i < THREADS; i++) {
            assert_int_equal(0, pthread_join(workers[i].thread, NULL));
            assert_int_equal(0, workers[i].wrong);
        }
        const weir_timer_counters c = timer_counters(engine);
        assert_int_equal(0, c.pending);
        assert_int_equal(c.posted, report.handled);
        assert_books_balance(engine);
        weir_engine_destroy(engine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_threads_add_and_cancel_while_timers_fire),
        cmocka_unit_test(a_stop_meets_eight_threads_that_add),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
