/*
 * overflow_test.c - what a full mailbox does with one event more: fail, drop-newest, drop-oldest,
 * block (S-13).
 *
 * An engine that is not started keeps what is posted, so its mailboxes fill up exactly; a gated
 * recorder does the same for one that runs. Every test keeps its own count of the statuses and
 * compares it with the counters and with the report of the stop.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "option_support.h"

enum { BOUND = 4 };

static weir_processor add_recorder(weir_engine *engine, test_recorder *recorder,
                                   weir_overflow overflow, weir_ns block_max)
{
    return test_processor_add(engine, WEIR_PROCESSOR(.handler = test_recorder_handle,
                                                     .argument = recorder, .mailbox_max = BOUND,
                                                     .overflow = overflow, .block_max = block_max));
}

/* Posts first .. first + count - 1 and says how many were answered with `expected`. */
static uint64_t post_run(weir_engine *engine, weir_processor to, uint64_t first, uint64_t count,
                         weir_status expected)
{
    uint64_t answered = 0;
    for (uint64_t i = 0; i < count; i++) {
        answered += test_post(engine, to, first + i) == expected;
    }
    return answered;
}

static void fail_answers_full_and_keeps_what_was_accepted(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, false);
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to = add_recorder(engine, &recorder, WEIR_OVERFLOW_FAIL, 0);
    assert_int_equal(BOUND, post_run(engine, to, 1, BOUND, WEIR_OK));
    assert_int_equal(3, post_run(engine, to, BOUND + 1, 3, WEIR_FULL));

    const weir_counters counters = test_processor_counters(engine, to);
    assert_int_equal(BOUND, counters.accepted);
    assert_int_equal(BOUND, counters.depth);
    assert_int_equal(3, test_engine_counters(engine).refused_full);
    assert_int_equal(0, counters.dropped);

    test_engine_start(engine);
    const weir_stop_report report = test_engine_end(engine);
    assert_int_equal(BOUND, report.accepted);
    assert_int_equal(BOUND, report.handled);
    test_recorder_saw_run(&recorder, 1, BOUND);
}

static void drop_newest_answers_dropped_and_keeps_the_oldest(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, false);
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to = add_recorder(engine, &recorder, WEIR_OVERFLOW_DROP_NEWEST, 0);
    assert_int_equal(BOUND, post_run(engine, to, 1, BOUND, WEIR_OK));
    assert_int_equal(3, post_run(engine, to, BOUND + 1, 3, WEIR_DROPPED));

    const weir_counters counters = test_processor_counters(engine, to);
    assert_int_equal(BOUND + 3, counters.accepted);
    assert_int_equal(BOUND, counters.depth);
    assert_int_equal(3, counters.dropped);
    assert_int_equal(3, counters.dropped_newest);
    assert_int_equal(0, counters.dropped_oldest);
    assert_int_equal(0, test_engine_counters(engine).refused_full);

    test_engine_start(engine);
    const weir_stop_report report = test_engine_end(engine);
    assert_int_equal(BOUND + 3, report.accepted);
    assert_int_equal(BOUND, report.handled);
    assert_int_equal(3, report.dropped);
    test_recorder_saw_run(&recorder, 1, BOUND);
}

static void drop_oldest_answers_ok_and_keeps_the_newest(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, false);
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to = add_recorder(engine, &recorder, WEIR_OVERFLOW_DROP_OLDEST, 0);
    assert_int_equal(BOUND + 3, post_run(engine, to, 1, BOUND + 3, WEIR_OK));

    const weir_counters counters = test_processor_counters(engine, to);
    assert_int_equal(BOUND + 3, counters.accepted);
    assert_int_equal(BOUND, counters.depth);
    assert_int_equal(3, counters.dropped);
    assert_int_equal(0, counters.dropped_newest);
    assert_int_equal(3, counters.dropped_oldest);
    assert_int_equal(0, test_engine_counters(engine).refused_full);

    test_engine_start(engine);
    const weir_stop_report report = test_engine_end(engine);
    assert_int_equal(BOUND + 3, report.accepted);
    assert_int_equal(BOUND, report.handled);
    assert_int_equal(3, report.dropped);
    test_recorder_saw_run(&recorder, 4, BOUND);
}

static void drop_oldest_keeps_to_its_bound_however_much_is_posted(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, false);
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to = add_recorder(engine, &recorder, WEIR_OVERFLOW_DROP_OLDEST, 0);
    const uint64_t posts = test_load(1000000, 100000);
    assert_int_equal(1000, post_run(engine, to, 1, 1000, WEIR_OK));
    const uint64_t pool_bytes = test_engine_counters(engine).pool_bytes;
    assert_int_equal(posts - 1000, post_run(engine, to, 1001, posts - 1000, WEIR_OK));
    assert_int_equal(pool_bytes, test_engine_counters(engine).pool_bytes);
    assert_int_equal(BOUND, test_processor_counters(engine, to).depth);

    test_engine_start(engine);
    const weir_stop_report report = test_engine_end(engine);
    assert_int_equal(posts, report.accepted);
    assert_int_equal(posts - BOUND, report.dropped);
    test_recorder_saw_run(&recorder, posts - BOUND + 1, BOUND);
}

static void fail_and_ten_thousand_are_the_defaults(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, false);
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &recorder));
    assert_int_equal(10000, post_run(engine, to, 1, 10000, WEIR_OK));
    assert_int_equal(WEIR_FULL, test_post(engine, to, 10001));
    test_engine_start(engine);
    assert_int_equal(10000, test_engine_end(engine).handled);
    test_recorder_saw_run(&recorder, 1, 10000);
}

static void a_processor_inherits_the_engines_mailbox_unless_it_says_otherwise(void **state)
{
    (void)state;
    test_recorder heir, own;
    test_recorder_init(&heir, false);
    test_recorder_init(&own, false);
    weir_engine *engine =
        test_engine_create(WEIR_ENGINE(.mailbox_max = 2, .overflow = WEIR_OVERFLOW_DROP_NEWEST));
    const weir_processor inherits = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &heir));
    const weir_processor overrides = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &own, .mailbox_max = 3,
                               .overflow = WEIR_OVERFLOW_FAIL));
    assert_int_equal(2, post_run(engine, inherits, 1, 2, WEIR_OK));
    assert_int_equal(WEIR_DROPPED, test_post(engine, inherits, 3));
    assert_int_equal(3, post_run(engine, overrides, 1, 3, WEIR_OK));
    assert_int_equal(WEIR_FULL, test_post(engine, overrides, 4));
    test_engine_start(engine);
    (void)test_engine_end(engine);
    test_recorder_saw_run(&heir, 1, 2);
    test_recorder_saw_run(&own, 1, 3);
}

static void a_running_mailbox_holds_its_bound_besides_the_event_in_hand(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, true);
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to = add_recorder(engine, &recorder, WEIR_OVERFLOW_FAIL, 0);
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, to, 1));
    test_sem_wait(&recorder.entered);
    assert_int_equal(BOUND, post_run(engine, to, 2, BOUND, WEIR_OK));
    assert_int_equal(10, post_run(engine, to, 100, 10, WEIR_FULL));
    assert_int_equal(BOUND + 1, test_processor_counters(engine, to).depth);
    test_recorder_pass(&recorder, BOUND + 1);
    assert_int_equal(BOUND + 1, test_engine_end(engine).handled);
    test_recorder_saw_run(&recorder, 1, BOUND + 1);
}

static void drop_oldest_drops_what_waits_behind_the_event_in_hand(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, true);
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to = add_recorder(engine, &recorder, WEIR_OVERFLOW_DROP_OLDEST, 0);
    assert_int_equal(BOUND, post_run(engine, to, 1, BOUND, WEIR_OK));
    test_engine_start(engine);
    test_sem_wait(&recorder.entered); /* 1 is in hand, 2..4 wait: maybe in a batch of its turn */
    assert_int_equal(16, post_run(engine, to, BOUND + 1, 16, WEIR_OK));
    test_recorder_pass(&recorder, 1 + BOUND);
    TEST_UNTIL(test_recorder_handled(&recorder) == 1 + BOUND);
    const weir_stop_report report = test_engine_end(engine);
    assert_int_equal(BOUND + 16, report.accepted);
    assert_int_equal(1 + BOUND, report.handled);
    assert_int_equal(1, recorder.seen[0]);
    for (uint64_t i = 0; i < BOUND; i++) {
        assert_int_equal(17 + i, recorder.seen[1 + i]);
    }
}

static void a_batch_post_tells_each_status_and_block_does_not_wait_in_it(void **state)
{
    (void)state;
    static const weir_overflow policies[] = { WEIR_OVERFLOW_FAIL, WEIR_OVERFLOW_DROP_NEWEST,
                                              WEIR_OVERFLOW_DROP_OLDEST, WEIR_OVERFLOW_BLOCK };
    static const weir_status beyond[] = { WEIR_FULL, WEIR_DROPPED, WEIR_OK, WEIR_FULL };
    for (size_t p = 0; p < sizeof(policies) / sizeof(policies[0]); p++) {
        test_recorder recorder;
        test_recorder_init(&recorder, false);
        weir_engine *engine = test_engine_create(NULL);
        const weir_processor to = add_recorder(engine, &recorder, policies[p], TEST_PATIENCE);
        number values[BOUND + 2];
        weir_event events[BOUND + 2];
        const weir_event *pointers[BOUND + 2];
        weir_status statuses[BOUND + 2];
        for (uint64_t i = 0; i < BOUND + 2; i++) {
            values[i].value = i + 1;
            events[i] =
                (weir_event){ .type = &number_type, .data = &values[i], .size = sizeof(number) };
            pointers[i] = &events[i];
            statuses[i] = WEIR_E_USER;
        }
        const weir_ns begin = test_now();
        const size_t accepted =
            weir_engine_post_batch(engine, &to, 1, pointers, BOUND + 2, statuses);
        assert_true(test_now() - begin < TEST_PATIENCE / 2);
        assert_int_equal(beyond[p] == WEIR_FULL ? BOUND : BOUND + 2, accepted);
        for (size_t i = 0; i < BOUND + 2; i++) {
            assert_int_equal(i < BOUND ? WEIR_OK : beyond[p], statuses[i]);
        }
        test_engine_start(engine);
        assert_int_equal(accepted, test_engine_end(engine).accepted);
        test_recorder_saw_run(&recorder, policies[p] == WEIR_OVERFLOW_DROP_OLDEST ? 3 : 1, BOUND);
    }
}

/* ---- block ---- */

typedef struct poster {
    weir_engine *engine;
    weir_processor to;
    uint64_t value;
    atomic_int task; /* its thread, once it is about to post */
    atomic_bool done;
    weir_status status; /* read after the join */
    weir_ns took;
} poster;

static void *post_one(void *argument)
{
    poster *p = argument;
    const weir_ns begin = test_now();
    atomic_store(&p->task, test_gettid());
    p->status = test_post(p->engine, p->to, p->value);
    p->took = test_now() - begin;
    atomic_store(&p->done, true);
    return NULL;
}

/* Starts a thread that posts, and comes back once that thread sleeps in the post. */
static pthread_t start_blocked_poster(poster *p)
{
    pthread_t thread;
    assert_int_equal(0, pthread_create(&thread, NULL, post_one, p));
    TEST_UNTIL(atomic_load(&p->task) != 0 && test_task_sleeps(atomic_load(&p->task)));
    assert_false(atomic_load(&p->done));
    return thread;
}

static void block_waits_for_room_and_is_accepted_then(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, true);
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to = add_recorder(engine, &recorder, WEIR_OVERFLOW_BLOCK, TEST_PATIENCE);
    assert_int_equal(BOUND, post_run(engine, to, 1, BOUND, WEIR_OK));
    poster late = { .engine = engine, .to = to, .value = BOUND + 1 };
    const pthread_t thread = start_blocked_poster(&late);
    test_engine_start(engine);
    test_recorder_pass(&recorder, BOUND + 1);
    assert_int_equal(0, pthread_join(thread, NULL));
    assert_int_equal(WEIR_OK, late.status);
    assert_int_equal(BOUND + 1, test_engine_end(engine).handled);
    test_recorder_saw_run(&recorder, 1, BOUND + 1);
}

static void every_blocked_poster_gets_its_room(void **state)
{
    (void)state;
    enum { POSTERS = 8 };
    test_recorder recorder;
    test_recorder_init(&recorder, true);
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to = add_recorder(engine, &recorder, WEIR_OVERFLOW_BLOCK, TEST_PATIENCE);
    assert_int_equal(BOUND, post_run(engine, to, 1, BOUND, WEIR_OK));
    poster posters[POSTERS];
    pthread_t threads[POSTERS];
    for (size_t i = 0; i < POSTERS; i++) {
        posters[i] = (poster){ .engine = engine, .to = to, .value = 100 + i };
        threads[i] = start_blocked_poster(&posters[i]);
    }
    test_engine_start(engine);
    test_recorder_pass(&recorder, BOUND + POSTERS);
    for (size_t i = 0; i < POSTERS; i++) {
        assert_int_equal(0, pthread_join(threads[i], NULL));
        assert_int_equal(WEIR_OK, posters[i].status);
    }
    assert_int_equal(BOUND + POSTERS, test_engine_end(engine).handled);
}

static void block_answers_full_when_its_time_is_over(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, false);
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.block_max = 30 * WEIR_MS));
    const weir_processor own = add_recorder(engine, &recorder, WEIR_OVERFLOW_BLOCK, 50 * WEIR_MS);
    const weir_processor engines = add_recorder(engine, &recorder, WEIR_OVERFLOW_BLOCK, 0);
    assert_int_equal(BOUND, post_run(engine, own, 1, BOUND, WEIR_OK));
    assert_int_equal(BOUND, post_run(engine, engines, 1, BOUND, WEIR_OK));

    weir_ns begin = test_now();
    assert_int_equal(WEIR_FULL, test_post(engine, own, 99));
    assert_in_range(test_now() - begin, 50 * WEIR_MS, TEST_PATIENCE / 2);
    begin = test_now();
    assert_int_equal(WEIR_FULL, test_post(engine, engines, 99));
    assert_in_range(test_now() - begin, 30 * WEIR_MS, TEST_PATIENCE / 2);
    assert_int_equal(2, test_engine_counters(engine).refused_full);

    test_engine_start(engine);
    assert_int_equal(2 * BOUND, test_engine_end(engine).accepted);
}

static void block_waits_one_second_by_default(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, false);
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to = add_recorder(engine, &recorder, WEIR_OVERFLOW_BLOCK, 0);
    assert_int_equal(BOUND, post_run(engine, to, 1, BOUND, WEIR_OK));
    const weir_ns begin = test_now();
    assert_int_equal(WEIR_FULL, test_post(engine, to, 99));
    assert_in_range(test_now() - begin, WEIR_S, TEST_PATIENCE / 2);
    weir_engine_destroy(engine);
}

static void a_stop_of_the_engine_ends_a_blocked_post_at_once(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, true);
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to =
        add_recorder(engine, &recorder, WEIR_OVERFLOW_BLOCK, TEST_PATIENCE / 2);
    assert_int_equal(BOUND, post_run(engine, to, 1, BOUND, WEIR_OK));
    test_engine_start(engine);
    test_sem_wait(&recorder.entered); /* 1 is in hand: one place is free again */
    assert_int_equal(WEIR_OK, test_post(engine, to, BOUND + 1));
    poster late = { .engine = engine, .to = to, .value = 99 };
    const pthread_t thread = start_blocked_poster(&late);
    assert_int_equal(WEIR_OK, weir_engine_stop_async(engine, 0));
    assert_int_equal(0, pthread_join(thread, NULL)); /* while the handler is still in its gate */
    assert_int_equal(WEIR_STOPPING, late.status);
    assert_true(late.took < TEST_PATIENCE / 4);
    test_recorder_pass(&recorder, BOUND + 1);
    assert_int_equal(WEIR_OK, weir_engine_wait(engine, TEST_PATIENCE, NULL));
    test_recorder_saw_run(&recorder, 1, BOUND + 1);
    weir_engine_destroy(engine);
}

static void a_stop_of_the_processor_ends_a_blocked_post_at_once(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, true);
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to =
        add_recorder(engine, &recorder, WEIR_OVERFLOW_BLOCK, TEST_PATIENCE / 2);
    assert_int_equal(BOUND, post_run(engine, to, 1, BOUND, WEIR_OK));
    test_engine_start(engine);
    test_sem_wait(&recorder.entered);
    assert_int_equal(WEIR_OK, test_post(engine, to, BOUND + 1));
    poster late = { .engine = engine, .to = to, .value = 99 };
    const pthread_t thread = start_blocked_poster(&late);
    assert_int_equal(WEIR_OK, weir_processor_stop_async(engine, to, 0));
    assert_int_equal(0, pthread_join(thread, NULL));
    assert_true(late.status == WEIR_STOPPING || late.status == WEIR_UNKNOWN);
    test_recorder_pass(&recorder, BOUND + 1);
    assert_int_equal(BOUND + 1, test_engine_end(engine).handled);
    test_recorder_saw_run(&recorder, 1, BOUND + 1);
}

/* ---- block from a handler ---- */

typedef struct crowded {
    weir_processor target; /* full, and its policy is block */
    weir_status by_turn, by_engine, to_itself;
    size_t by_batch;
    weir_ns took;
    sem_t done;
} crowded;

static weir_status post_to_the_full(void *state, weir_turn *turn, const weir_event *event)
{
    crowded *c = state;
    if (((const number *)event->data)->value != 0) {
        return WEIR_OK; /* what it posted to itself */
    }
    weir_engine *engine = weir_turn_engine(turn);
    const weir_ns begin = test_now();
    c->by_turn = weir_turn_post(turn, c->target, WEIR_EVENT(number, 1));
    c->by_engine = weir_engine_post(engine, c->target, WEIR_EVENT(number, 2));
    const weir_event *events[] = { event };
    c->by_batch = weir_turn_post_batch(turn, &c->target, 1, events, 1, NULL);
    do {
        c->to_itself = weir_turn_post(turn, weir_turn_self(turn), WEIR_EVENT(number, 3));
    } while (c->to_itself == WEIR_OK);
    c->took = test_now() - begin;
    (void)sem_post(&c->done);
    return WEIR_OK;
}

static void assert_answered_full_at_once(const crowded *c)
{
    assert_int_equal(WEIR_FULL, c->by_turn);
    assert_int_equal(WEIR_FULL, c->by_engine);
    assert_int_equal(WEIR_FULL, c->to_itself);
    assert_int_equal(0, c->by_batch);
    assert_true(c->took < TEST_PATIENCE / 2);
}

static void block_from_a_handler_answers_full_at_once(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, true);
    crowded c = { .by_batch = 1 };
    assert_int_equal(0, sem_init(&c.done, 0, 0));
    weir_engine *engine = test_engine_create(
        WEIR_ENGINE(.threads = 2, .overflow = WEIR_OVERFLOW_BLOCK, .block_max = TEST_PATIENCE));
    c.target = add_recorder(engine, &recorder, WEIR_OVERFLOW_BLOCK, 0);
    const weir_processor asker = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = post_to_the_full, .argument = &c, .mailbox_max = BOUND));
    assert_int_equal(BOUND, post_run(engine, c.target, 1, BOUND, WEIR_OK));
    test_engine_start(engine);
    test_sem_wait(&recorder.entered);
    assert_int_equal(WEIR_OK, test_post(engine, c.target, BOUND + 1));
    assert_int_equal(WEIR_OK, test_post(engine, asker, 0));
    test_sem_wait(&c.done);
    assert_answered_full_at_once(&c);
    test_recorder_pass(&recorder, BOUND + 1);
    (void)test_engine_end(engine);
    test_recorder_saw_run(&recorder, 1, BOUND + 1);
}

static void block_inside_run_once_answers_full_at_once(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, false);
    crowded c = { .by_batch = 1 };
    assert_int_equal(0, sem_init(&c.done, 0, 0));
    weir_engine *engine = test_engine_create(
        WEIR_ENGINE(.overflow = WEIR_OVERFLOW_BLOCK, .block_max = TEST_PATIENCE));
    const weir_thread loop = test_thread_add(engine, WEIR_THREAD(.external = true));
    const weir_processor asker = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = post_to_the_full, .argument = &c, .mailbox_max = BOUND));
    c.target = add_recorder(engine, &recorder, WEIR_OVERFLOW_BLOCK, 0);
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, asker, 0)); /* the asker's turn comes first */
    assert_int_equal(BOUND, post_run(engine, c.target, 1, BOUND, WEIR_OK));
    TEST_UNTIL(weir_thread_run_once(engine, loop, 1) >= 0 && sem_trywait(&c.done) == 0);
    assert_answered_full_at_once(&c);
    test_external_end(engine, loop);
    test_recorder_saw_run(&recorder, 1, BOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fail_answers_full_and_keeps_what_was_accepted),
        cmocka_unit_test(drop_newest_answers_dropped_and_keeps_the_oldest),
        cmocka_unit_test(drop_oldest_answers_ok_and_keeps_the_newest),
        cmocka_unit_test(drop_oldest_keeps_to_its_bound_however_much_is_posted),
        cmocka_unit_test(fail_and_ten_thousand_are_the_defaults),
        cmocka_unit_test(a_processor_inherits_the_engines_mailbox_unless_it_says_otherwise),
        cmocka_unit_test(a_running_mailbox_holds_its_bound_besides_the_event_in_hand),
        cmocka_unit_test(drop_oldest_drops_what_waits_behind_the_event_in_hand),
        cmocka_unit_test(a_batch_post_tells_each_status_and_block_does_not_wait_in_it),
        cmocka_unit_test(block_waits_for_room_and_is_accepted_then),
        cmocka_unit_test(every_blocked_poster_gets_its_room),
        cmocka_unit_test(block_answers_full_when_its_time_is_over),
        cmocka_unit_test(block_waits_one_second_by_default),
        cmocka_unit_test(a_stop_of_the_engine_ends_a_blocked_post_at_once),
        cmocka_unit_test(a_stop_of_the_processor_ends_a_blocked_post_at_once),
        cmocka_unit_test(block_from_a_handler_answers_full_at_once),
        cmocka_unit_test(block_inside_run_once_answers_full_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
