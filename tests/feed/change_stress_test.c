/*
 * change_stress_test.c - subscribers come, go, move and end, threads come and go, while a feed is
 * published into: whoever stays gets everything in order, whoever comes and goes gets pieces
 * without a gap, and the sums are exact.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "feed_support.h"

enum { STAYS = 3, EVENTS = 60000 };

typedef struct play {
    weir_engine *engine;
    weir_feed feed;
    subscriber *stays[STAYS];
    subscriber *wanders; /* comes and goes */
    atomic_bool over;
    uint64_t changes;
    uint64_t seed;
} play;

static void *change(void *argument)
{
    static const char *const where[] = { "one", "two", "three" };
    play *p = argument;
    while (!atomic_load(&p->over)) {
        const uint64_t dice = test_random(&p->seed);
        subscriber *s = p->stays[dice % STAYS];
        weir_error error = WEIR_ERROR_INIT;
        switch ((dice >> 8) % 4) {
        case 0:
            (void)weir_processor_move(p->engine, s->processor, where[(dice >> 16) % 3], NULL);
            break;
        case 1:
            (void)weir_feed_subscribe(p->engine, p->feed, p->wanders->processor);
            break;
        case 2:
            (void)weir_feed_unsubscribe(p->engine, p->feed, p->wanders->processor);
            break;
        default: {
            const weir_thread thread = weir_thread_add(
                p->engine, WEIR_THREAD(.dispatchers = WEIR_NAMES(where[(dice >> 16) % 3])), &error);
            if (thread.id != 0) {
                (void)weir_thread_remove(p->engine, thread, NULL);
            }
            break;
        }
        }
        p->changes++;
    }
    return NULL;
}

static void whoever_stays_gets_everything_in_order(void **state)
{
    (void)state;
    static const char *const where[] = { "one", "one", "two" };
    const uint64_t events = test_load(EVENTS, EVENTS / 10);
    play p = { .engine = feed_engine(), .seed = test_seed() };
    p.feed =
        feed_open(p.engine, WEIR_FEED(.name = "ticks", .slow = WEIR_SLOW_BLOCK, .queue_max = 16));
    for (int i = 0; i < STAYS; i++) {
        p.stays[i] = subscriber_add(p.engine, NULL, where[i], 8);
        assert_int_equal(WEIR_OK, weir_feed_subscribe(p.engine, p.feed, p.stays[i]->processor));
    }
    p.wanders = subscriber_add(p.engine, NULL, "one", 8);
    test_engine_start(p.engine);
    pthread_t thread;
    assert_int_equal(0, pthread_create(&thread, NULL, change, &p));
    publish_all(p.engine, p.feed, 1, events);
    for (int i = 0; i < STAYS; i++) {
        TEST_UNTIL(got(p.stays[i]) == events);
    }
    atomic_store(&p.over, true);
    assert_int_equal(0, pthread_join(thread, NULL));
    fprintf(stderr, "# %" PRIu64 " changes\n", p.changes);
    const weir_stop_report report = test_engine_stop(p.engine);
    for (int i = 0; i < STAYS; i++) {
        assert_int_equal(events, got(p.stays[i]));
        assert_saw(p.stays[i], 0, 1, events);
        subscriber_free(p.stays[i]);
    }
    for (uint64_t i = 1; i < got(p.wanders); i++) {
        assert_true(p.wanders->seen[i] > p.wanders->seen[i - 1]);
    }
    assert_int_equal(STAYS * events + got(p.wanders), report.handled);
    assert_int_equal(report.handled, counters_of(p.engine, p.feed).delivered);
    weir_engine_destroy(p.engine);
    subscriber_free(p.wanders);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whoever_stays_gets_everything_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
