/*
 * allocation_test.c - feeds with their nth allocation failing, n = 1, 2, 3, ...: an error, or a
 * copy that is counted as dropped; no leak, and later everything works.
 *
 * Each operation runs on a new engine for every n, once with that allocation alone failing and once
 * with all from there on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../engine/fault_support.h" /* first: it has a variable of the name of an event */

#include "feed_support.h"

enum { NTH_MAX = 5000, READERS = 3 };

typedef struct scene {
    test_fault fault;
    weir_engine *engine;
    weir_feed feed;
    subscriber *subscribers[READERS];
} scene;

static scene now;

static void scene_open(void)
{
    static const char *const where[] = { "one", "one", "two" };
    test_fault_init(&now.fault);
    const weir_allocator allocator = { test_fault_allocate, test_fault_release, &now.fault };
    now.engine =
        test_engine_create(WEIR_ENGINE(.allocator = &allocator, .log_level = WEIR_LOG_OFF));
    assert_int_equal(WEIR_OK,
                     weir_assign(now.engine,
                                 WEIR_ROWS(WEIR_NAMES("one"), WEIR_NAMES("two"), WEIR_NAMES("two")),
                                 NULL));
    for (int i = 0; i < READERS; i++) {
        now.subscribers[i] = subscriber_add(now.engine, NULL, where[i], 4);
    }
    now.feed.id = 0;
}

/* All that was attempted is done, all that was had is given back. */
static void scene_close(void)
{
    (void)test_engine_end(now.engine);
    assert_int_equal(0, atomic_load(&now.fault.bytes));
    assert_int_equal(0, atomic_load(&now.fault.wrong));
    for (int i = 0; i < READERS; i++) {
        subscriber_free(now.subscribers[i]);
    }
}

static weir_status open_it(void)
{
    weir_error error = WEIR_ERROR_INIT;
    now.feed = weir_feed_open(now.engine,
                              WEIR_FEED(.name = "ticks", .queue_max = 4, .replay_max = 8,
                                        .named = true, .slow = WEIR_SLOW_DROP_OLDEST),
                              &error);
    return error.status;
}

static weir_status subscribe_all(void)
{
    for (int i = 0; i < READERS; i++) {
        const weir_status status =
            weir_feed_subscribe(now.engine, now.feed, now.subscribers[i]->processor);
        if (status != WEIR_OK && status != WEIR_ALREADY) {
            return status;
        }
    }
    return WEIR_OK;
}

static bool open_with_nth(long nth, bool lasting)
{
    scene_open();
    test_fault_arm(&now.fault, nth, lasting);
    weir_status status = open_it();
    const bool opened = status == WEIR_OK;
    if (opened) {
        status = subscribe_all();
    }
    const bool hit = test_fault_disarm(&now.fault) > 0;
    assert_true(status == WEIR_OK || (hit && status == WEIR_E_NOMEM));
    if (!opened) {
        assert_int_equal(0, now.feed.id);
        assert_int_equal(0, weir_feed_find(now.engine, "ticks").id);
        assert_int_equal(WEIR_OK, open_it());
    }
    assert_int_equal(WEIR_OK, subscribe_all());
    assert_int_equal(READERS, counters_of(now.engine, now.feed).subscribers);
    test_engine_start(now.engine);
    assert_int_equal(WEIR_OK, weir_feed_begin(now.engine, now.feed));
    publish_all(now.engine, now.feed, 1, 1);
    for (int i = 0; i < READERS; i++) {
        TEST_UNTIL(got(now.subscribers[i]) == 1);
    }
    scene_close();
    return !hit;
}

static bool publish_with_nth(long nth, bool lasting)
{
    uint64_t accepted = 0;
    scene_open();
    assert_int_equal(WEIR_OK, open_it());
    assert_int_equal(WEIR_OK, subscribe_all());
    test_engine_start(now.engine);
    test_fault_arm(&now.fault, nth, lasting);
    for (uint64_t i = 1; i <= 12; i++) {
        if (i == 4) {
            const weir_status begun = weir_feed_begin(now.engine, now.feed);
            assert_true(begun == WEIR_OK || begun == WEIR_E_NOMEM);
        }
        const weir_status status = publish(now.engine, now.feed, i);
        assert_true(status == WEIR_OK || status == WEIR_E_NOMEM);
        accepted += status == WEIR_OK ? 1 : 0;
    }
    const bool hit = test_fault_disarm(&now.fault) > 0;
    const weir_status begun = weir_feed_begin(now.engine, now.feed);
    assert_true(begun == WEIR_OK || begun == WEIR_ALREADY);
    assert_int_equal(WEIR_OK, publish(now.engine, now.feed, 13));
    for (int i = 0; i < READERS; i++) { /* the last one comes through, in its place */
        TEST_UNTIL(got(now.subscribers[i]) > 0 &&
                   now.subscribers[i]->seen[got(now.subscribers[i]) - 1] == 13);
        assert_int_equal(0, atomic_load(&now.subscribers[i]->odd));
    }
    const weir_feed_counters counters = counters_of(now.engine, now.feed);
    assert_int_equal(accepted + 1, counters.published);
    assert_int_equal(READERS * (accepted + 1 - counters.replay_lost),
                     counters.delivered + counters.dropped);
    scene_close();
    return !hit;
}

static void with_every_nth(bool (*run)(long nth, bool lasting))
{
    for (int lasting = 0; lasting < 2; lasting++) {
        long nth = 1;
        while (!run(nth, lasting != 0)) {
            nth++;
            assert_true(nth < NTH_MAX);
        }
        assert_true(nth > 3); /* something was there to fail */
    }
}

static void opening_and_subscribing_fail_cleanly_and_can_be_done_again(void **state)
{
    (void)state;
    with_every_nth(open_with_nth);
}

static void publishing_without_memory_is_refused_or_counted(void **state)
{
    (void)state;
    with_every_nth(publish_with_nth);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opening_and_subscribing_fail_cleanly_and_can_be_done_again),
        cmocka_unit_test(publishing_without_memory_is_refused_or_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
