/*
 * counters_test.c - every counter, against a load of which each number is known beforehand.
 *
 * An external thread that the test turns itself makes turns and rounds countable, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "option_support.h"

typedef struct rig {
    weir_engine *engine;
    weir_thread loop;
    weir_processor plain, newest, oldest;
} rig;

/* Fails odd numbers; does not know numbers from 1000 on. */
static weir_status judge(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    const number *n = weir_event_as(event, &number_type);
    if (n == NULL || n->value >= 1000) {
        return WEIR_UNHANDLED;
    }
    return n->value % 2 == 1 ? WEIR_E_USER : WEIR_OK;
}

static weir_processor add(rig *r, weir_overflow overflow, uint32_t mailbox_max)
{
    return test_processor_add(r->engine,
                              WEIR_PROCESSOR(.handler = judge, .dispatcher = "a",
                                             .overflow = overflow, .mailbox_max = mailbox_max));
}

static rig rig_start(void)
{
    rig r;
    r.engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF, .batch_max = 4));
    r.loop = test_thread_add(r.engine,
                             WEIR_THREAD(.dispatchers = WEIR_NAMES("a", "b"), .external = true));
    r.plain = add(&r, WEIR_OVERFLOW_FAIL, 10);
    r.newest = add(&r, WEIR_OVERFLOW_DROP_NEWEST, 2);
    r.oldest = add(&r, WEIR_OVERFLOW_DROP_OLDEST, 2);
    test_engine_start(r.engine);
    (void)weir_thread_run_once(r.engine, r.loop, 0);
    return r;
}

static void post_all(rig *r, weir_processor to, uint64_t count, weir_status last)
{
    for (uint64_t i = 0; i < count; i++) {
        const weir_status status = test_post(r->engine, to, i);
        assert_int_equal(i + 1 == count ? last : WEIR_OK, status);
    }
}

static weir_dispatcher_counters dispatcher_of(rig *r, const char *name)
{
    weir_dispatcher_counters c = WEIR_DISPATCHER_COUNTERS_INIT;
    assert_int_equal(WEIR_OK, weir_dispatcher_counters_get(r->engine, name, &c));
    return c;
}

static weir_thread_counters thread_of(rig *r)
{
    weir_thread_counters c = WEIR_THREAD_COUNTERS_INIT;
    assert_int_equal(WEIR_OK, weir_thread_counters_get(r->engine, r->loop, &c));
    return c;
}

static void an_engine_counts_what_became_of_every_post(void **state)
{
    (void)state;
    rig r = rig_start();
    post_all(&r, r.plain, 11, WEIR_FULL);
    post_all(&r, r.newest, 3, WEIR_DROPPED);
    post_all(&r, r.oldest, 4, WEIR_OK);
    assert_int_equal(WEIR_UNKNOWN, test_post(r.engine, (weir_processor){ 0 }, 1));
    assert_int_equal(WEIR_E_INVALID, weir_engine_post(r.engine, r.plain, NULL));
    assert_int_equal(WEIR_E_INVALID, weir_engine_post(r.engine, r.plain, NULL));
    const weir_counters waiting = test_engine_counters(r.engine);
    assert_int_equal(17, waiting.accepted);
    assert_int_equal(1, waiting.refused_full);
    assert_int_equal(1, waiting.refused_unknown);
    assert_int_equal(2, waiting.refused_other);
    assert_int_equal(0, waiting.refused_stopping);
    assert_int_equal(1, waiting.dropped_newest);
    assert_int_equal(2, waiting.dropped_oldest);
    assert_int_equal(3, waiting.dropped);
    assert_int_equal(14, waiting.depth);
    assert_int_equal(0, waiting.handled + waiting.dead + waiting.left + waiting.unhandled);
    assert_int_equal(3, waiting.processors);
    assert_int_equal(1, waiting.threads);
    assert_int_equal(2, waiting.dispatchers);
    assert_true(waiting.pool_bytes > 0);
    assert_int_equal(14, weir_thread_run_once(r.engine, r.loop, 0));
    assert_int_equal(WEIR_OK, test_post(r.engine, r.plain, 1000));
    assert_int_equal(1, weir_thread_run_once(r.engine, r.loop, 0));
    const weir_counters done = test_engine_counters(r.engine);
    assert_int_equal(18, done.accepted);
    assert_int_equal(8, done.handled); /* 0 2 4 6 8, 0, 2, and the one that nobody knows */
    assert_int_equal(7, done.dead);    /* 1 3 5 7 9, 1, 3 */
    assert_int_equal(1, done.unhandled);
    assert_int_equal(3, done.dropped);
    assert_int_equal(0, done.depth);
    test_external_end(r.engine, r.loop);
}

static void a_processor_counts_its_own(void **state)
{
    (void)state;
    rig r = rig_start();
    post_all(&r, r.plain, 3, WEIR_OK);
    post_all(&r, r.newest, 3, WEIR_DROPPED);
    post_all(&r, r.oldest, 4, WEIR_OK);
    assert_int_equal(3, test_processor_counters(r.engine, r.plain).depth);
    assert_int_equal(3, test_processor_counters(r.engine, r.plain).accepted);
    assert_int_equal(2, test_processor_counters(r.engine, r.newest).depth);
    assert_int_equal(3, test_processor_counters(r.engine, r.newest).accepted);
    assert_int_equal(1, test_processor_counters(r.engine, r.newest).dropped_newest);
    assert_int_equal(2, test_processor_counters(r.engine, r.oldest).depth);
    assert_int_equal(4, test_processor_counters(r.engine, r.oldest).accepted);
    assert_int_equal(2, test_processor_counters(r.engine, r.oldest).dropped_oldest);
    assert_int_equal(2, test_processor_counters(r.engine, r.oldest).dropped);
    assert_int_equal(7, weir_thread_run_once(r.engine, r.loop, 0));
    const weir_counters plain = test_processor_counters(r.engine, r.plain);
    assert_int_equal(2, plain.handled);
    assert_int_equal(1, plain.dead);
    assert_int_equal(0, plain.dropped + plain.left + plain.depth + plain.rooms);
    const weir_counters oldest = test_processor_counters(r.engine, r.oldest);
    assert_int_equal(1, oldest.handled);
    assert_int_equal(1, oldest.dead);
    assert_int_equal(4, oldest.accepted);
    test_external_end(r.engine, r.loop);
}

static void a_dispatcher_counts_turns_and_what_is_ready(void **state)
{
    (void)state;
    rig r = rig_start();
    assert_int_equal(3, dispatcher_of(&r, "a").processors);
    assert_int_equal(0, dispatcher_of(&r, "b").processors);
    assert_int_equal(1, dispatcher_of(&r, "a").threads);
    const weir_dispatcher_counters before = dispatcher_of(&r, "a");
    assert_int_equal(0, before.ready);
    post_all(&r, r.plain, 9, WEIR_OK); /* turns of 4, 4 and 1 */
    post_all(&r, r.newest, 1, WEIR_OK);
    assert_int_equal(2, dispatcher_of(&r, "a").ready);
    assert_int_equal(0, dispatcher_of(&r, "b").ready);
    assert_int_equal(10, weir_thread_run_once(r.engine, r.loop, 0));
    const weir_dispatcher_counters after = dispatcher_of(&r, "a");
    assert_int_equal(0, after.ready);
    assert_int_equal(6, after.handled - before.handled); /* the odd ones are dead */
    assert_int_equal(4, after.turns - before.turns);
    assert_true(after.try_locks - before.try_locks >= 2); /* what is kept needs no lock */
    assert_int_equal(0, after.try_locks_failed);
    assert_int_equal(0, after.backoffs);
    assert_int_equal(0, after.backoff_ns);
    assert_true(after.rounds > before.rounds);
    assert_int_equal(0, dispatcher_of(&r, "b").handled);
    assert_int_equal(0, dispatcher_of(&r, "b").turns);
    weir_dispatcher_counters none = WEIR_DISPATCHER_COUNTERS_INIT;
    assert_int_equal(WEIR_UNKNOWN, weir_dispatcher_counters_get(r.engine, "c", &none));
    assert_int_equal(WEIR_E_INVALID, weir_dispatcher_counters_get(r.engine, NULL, &none));
    test_external_end(r.engine, r.loop);
}

static void a_thread_counts_its_turns_and_when_it_began(void **state)
{
    (void)state;
    rig r = rig_start();
    const weir_thread_counters before = thread_of(&r);
    assert_int_equal(-1, before.core);
    const weir_ns start = weir_time_now(r.engine);
    post_all(&r, r.plain, 5, WEIR_OK);
    assert_int_equal(5, weir_thread_run_once(r.engine, r.loop, 0));
    const weir_thread_counters after = thread_of(&r);
    assert_int_equal(3, after.handled - before.handled); /* the odd ones are dead */
    assert_int_equal(2, after.turns - before.turns);
    assert_true(after.rounds > before.rounds);
    assert_true(after.rounds_idle <= after.rounds);
    assert_int_equal(0, after.backoffs);
    assert_true(after.first_work >= start && after.first_work <= weir_time_now(r.engine));
    weir_thread_counters none = WEIR_THREAD_COUNTERS_INIT;
    const weir_thread strangers[] = { { 0 },
                                      { r.loop.id + 1 },
                                      { r.loop.id + (UINT64_C(1) << 40) } };
    for (size_t i = 0; i < sizeof(strangers) / sizeof(strangers[0]); i++) {
        assert_int_equal(WEIR_UNKNOWN, weir_thread_counters_get(r.engine, strangers[i], &none));
    }
    assert_int_equal(WEIR_E_INVALID, weir_thread_counters_get(NULL, r.loop, &none));
    test_external_end(r.engine, r.loop);
}

static void a_thread_counts_what_it_handled_on_all_its_dispatchers(void **state)
{
    (void)state;
    rig r = rig_start();
    const weir_processor other =
        test_processor_add(r.engine, WEIR_PROCESSOR(.handler = judge, .dispatcher = "b"));
    post_all(&r, r.plain, 3, WEIR_OK);
    post_all(&r, other, 5, WEIR_OK);
    assert_int_equal(8, weir_thread_run_once(r.engine, r.loop, 0));
    assert_int_equal(2, dispatcher_of(&r, "a").handled); /* 0 2 */
    assert_int_equal(3, dispatcher_of(&r, "b").handled); /* 0 2 4 */
    assert_int_equal(5, thread_of(&r).handled);
    assert_int_equal(dispatcher_of(&r, "a").turns + dispatcher_of(&r, "b").turns,
                     thread_of(&r).turns);
    test_external_end(r.engine, r.loop);
}

static void a_thread_says_when_it_last_ran_out_of_work(void **state)
{
    (void)state;
    test_recorder recorder;
    weir_thread_counters c = WEIR_THREAD_COUNTERS_INIT;
    weir_engine *engine = test_engine_create(NULL);
    const weir_thread thread = test_thread_add(engine, NULL);
    test_recorder_init(&recorder, false);
    const weir_processor to = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &recorder));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, weir_thread_counters_get(engine, thread, &c));
    assert_int_equal(0, c.first_work);
    assert_int_equal(0, c.last_work);
    for (uint64_t i = 0; i < 3; i++) {
        const weir_ns before = weir_time_now(engine);
        assert_int_equal(WEIR_OK, test_post(engine, to, i));
        TEST_UNTIL(test_recorder_handled(&recorder) == i + 1 &&
                   weir_thread_counters_get(engine, thread, &c) == WEIR_OK && c.last_work > before);
        assert_true(c.first_work <= c.last_work);
        assert_true(i == 0 ? c.first_work >= before : c.first_work < before);
        assert_true(c.last_work <= weir_time_now(engine));
    }
    (void)test_engine_end(engine);
}

static void blocks_are_counted_now_at_most_and_refused(void **state)
{
    (void)state;
    enum { SIZE = 4000 };
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.block_bytes_max = 20000));
    weir_block *blocks[3] = { NULL, NULL, NULL };
    assert_int_equal(WEIR_OK, weir_block_reserve(engine, SIZE, &blocks[0]));
    const uint64_t one = test_engine_counters(engine).block_bytes;
    assert_in_range(one, SIZE, 10000);
    assert_int_equal(WEIR_OK, weir_block_reserve(engine, SIZE, &blocks[1]));
    assert_int_equal(2 * one, test_engine_counters(engine).block_bytes);
    assert_int_equal(0, test_engine_counters(engine).block_refused);
    assert_int_equal(WEIR_E_NOMEM, weir_block_reserve(engine, SIZE, &blocks[2]));
    assert_null(blocks[2]);
    assert_int_equal(1, test_engine_counters(engine).block_refused);
    assert_int_equal(2 * one, test_engine_counters(engine).block_bytes);
    weir_block_release(blocks[0]);
    weir_block_release(blocks[1]);
    const weir_counters c = test_engine_counters(engine);
    assert_int_equal(0, c.block_bytes);
    assert_int_equal(2 * one, c.block_bytes_high);
    assert_int_equal(1, c.block_refused);
    weir_engine_destroy(engine);
}

static void a_log_level_is_one_of_the_five_or_stays(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    assert_true(weir_log_enabled(engine, WEIR_LOG_WARNING)); /* the default */
    assert_false(weir_log_enabled(engine, WEIR_LOG_INFO));
    weir_log_level_set(engine, WEIR_LOG_DEBUG);
    assert_true(weir_log_enabled(engine, WEIR_LOG_DEBUG));
    weir_log_level_set(engine, (weir_log_level)(WEIR_LOG_OFF + 1));
    weir_log_level_set(engine, (weir_log_level)-1);
    assert_true(weir_log_enabled(engine, WEIR_LOG_DEBUG));
    weir_log_level_set(engine, WEIR_LOG_DEFAULT);
    assert_true(weir_log_enabled(engine, WEIR_LOG_WARNING));
    assert_false(weir_log_enabled(engine, WEIR_LOG_INFO));
    weir_log_level_set(engine, WEIR_LOG_OFF);
    assert_false(weir_log_enabled(engine, WEIR_LOG_ERROR));
    weir_log_level_set(NULL, WEIR_LOG_DEBUG);
    assert_false(weir_log_enabled(NULL, WEIR_LOG_ERROR));
    weir_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_engine_counts_what_became_of_every_post),
        cmocka_unit_test(a_processor_counts_its_own),
        cmocka_unit_test(a_dispatcher_counts_turns_and_what_is_ready),
        cmocka_unit_test(a_thread_counts_its_turns_and_when_it_began),
        cmocka_unit_test(a_thread_counts_what_it_handled_on_all_its_dispatchers),
        cmocka_unit_test(a_thread_says_when_it_last_ran_out_of_work),
        cmocka_unit_test(blocks_are_counted_now_at_most_and_refused),
        cmocka_unit_test(a_log_level_is_one_of_the_five_or_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
