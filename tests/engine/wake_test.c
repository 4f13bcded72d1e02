/*
 * wake_test.c - who is woken by a post, and who is not. SPEC: S-07, S-11, P-4.
 *
 * The engine's counters (signals, wakeups) are compared with what the system saw: a parked thread
 * that is not woken has no context switch.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine_support.h"

enum { THREADS = 4, POSTS = 1000 };

typedef struct house {
    weir_engine *engine;
    weir_thread threads[THREADS];
    pid_t tids[THREADS];
} house;

static void house_open(house *h)
{
    h->engine = engine_quiet();
    engine_add_threads(h->engine, "", THREADS, WEIR_IDLE_PARK, h->threads);
}

static void house_start(house *h)
{
    engine_start(h->engine);
    engine_thread_ids(h->engine, h->threads, THREADS, h->tids);
    assert_true(tasks_settle(h->tids, THREADS, 5 * WEIR_MS));
}

static uint64_t switches_of_all(const house *h)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < THREADS; i++) {
        sum += task_switches(h->tids[i]);
    }
    return sum;
}

static void a_thousand_posts_to_a_busy_processor_cause_no_wake_up(void **unused)
{
    (void)unused;
    static house h;
    static blocker b;
    blocker_init(&b);
    house_open(&h);
    const weir_processor p =
        engine_add(h.engine, WEIR_PROCESSOR(.handler = block_until_let_go, .argument = &b));
    house_start(&h);
    assert_int_equal(WEIR_OK, weir_engine_post(h.engine, p, WEIR_EVENT(mark, 0)));
    assert_true(sem_wait_seconds(&b.entered, WAIT_SECONDS));
    assert_true(tasks_settle(h.tids, THREADS, 50 * WEIR_MS)); /* one in the handler, three parked */

    const weir_dispatcher_counters before = dispatcher_counters(h.engine, "");
    const uint64_t switches = switches_of_all(&h);
    for (int i = 0; i < POSTS; i++) {
        assert_int_equal(WEIR_OK, weir_engine_post(h.engine, p, WEIR_EVENT(mark, 0)));
    }
    const weir_event *const event = WEIR_EVENT(mark, 0);
    const weir_event *const batch[3] = { event, event, event };
    assert_int_equal(3, weir_engine_post_batch(h.engine, &p, 1, batch, 3, NULL));
    assert_true(tasks_settle(h.tids, THREADS, 5 * WEIR_MS)); /* nobody is on the way either */
    const weir_dispatcher_counters after = dispatcher_counters(h.engine, "");
    assert_int_equal(before.signals, after.signals);
    assert_int_equal(before.wakeups, after.wakeups);
    assert_int_equal(before.turns, after.turns);
    assert_int_equal(switches, switches_of_all(&h));
    gate_open(&b.leave);
    engine_finish(h.engine, POSTS + 4);
}

/* Ready is enough: the only thread that could run it is inside another handler. */
static void posts_to_a_processor_that_is_ready_already_cause_no_wake_up(void **unused)
{
    (void)unused;
    static house h;
    static blocker holders[THREADS];
    house_open(&h);
    for (size_t i = 0; i < THREADS; i++) {
        blocker_init(&holders[i]);
    }
    weir_processor hold[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        hold[i] = engine_add(
            h.engine, WEIR_PROCESSOR(.handler = block_until_let_go, .argument = &holders[i]));
    }
    const weir_processor p = engine_add(h.engine, WEIR_PROCESSOR(.handler = ignore_event));
    house_start(&h);
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(WEIR_OK, weir_engine_post(h.engine, hold[i], WEIR_EVENT(mark, 0)));
        assert_true(sem_wait_seconds(&holders[i].entered, WAIT_SECONDS));
    }
    assert_int_equal(WEIR_OK, weir_engine_post(h.engine, p, WEIR_EVENT(mark, 0)));
    assert_true(tasks_settle(h.tids, THREADS, 50 * WEIR_MS));
    const weir_dispatcher_counters before = dispatcher_counters(h.engine, "");
    assert_int_equal(1, before.ready);
    for (int i = 0; i < POSTS; i++) {
        assert_int_equal(WEIR_OK, weir_engine_post(h.engine, p, WEIR_EVENT(mark, 0)));
    }
    const weir_dispatcher_counters after = dispatcher_counters(h.engine, "");
    assert_int_equal(before.signals, after.signals);
    assert_int_equal(1, after.ready);
    for (size_t i = 0; i < THREADS; i++) {
        gate_open(&holders[i].leave);
    }
    engine_finish(h.engine, POSTS + 1 + THREADS);
}

static void a_post_to_an_idle_processor_wakes_at_most_one_parked_thread(void **unused)
{
    (void)unused;
    enum { ROUNDS = 50 };
    static house h;
    static ledger book;
    static collector c;
    house_open(&h);
    c = (collector){ .book = &book };
    const weir_processor p =
        engine_add(h.engine, WEIR_PROCESSOR(.handler = collect, .argument = &c));
    house_start(&h);
    for (int round = 0; round < ROUNDS; round++) {
        const weir_dispatcher_counters before = dispatcher_counters(h.engine, "");
        uint64_t switches[THREADS];
        for (size_t i = 0; i < THREADS; i++) {
            switches[i] = task_switches(h.tids[i]);
        }
        ledger_open(&book, 1);
        assert_int_equal(WEIR_OK, weir_engine_post(h.engine, p, WEIR_EVENT(mark, 0)));
        assert_true(goal_wait(&book.done));
        assert_true(tasks_settle(h.tids, THREADS, 1 * WEIR_MS));
        ledger_check(&book);
        ledger_close(&book);
        const weir_dispatcher_counters after = dispatcher_counters(h.engine, "");
        size_t woken = 0;
        for (size_t i = 0; i < THREADS; i++) {
            woken += task_switches(h.tids[i]) != switches[i];
        }
        assert_int_equal(1, woken);
        assert_int_equal(1, after.signals - before.signals);
        assert_int_equal(1, after.wakeups - before.wakeups);
        assert_int_equal(1, after.wakeups_found - before.wakeups_found);
    }
    engine_finish(h.engine, ROUNDS);
}

/* The handlers wait, so that whoever was woken is still there when the signals are counted. */
static void a_batch_wakes_at_most_one_thread_a_target_and_no_more_than_are_parked(void **unused)
{
    (void)unused;
    enum { TARGETS = 8, COUNT = 64, ROUNDS = 3 * TARGETS };
    static house h;
    static blocker b;
    const weir_event *list[COUNT];
    weir_processor to[COUNT], targets[TARGETS];
    blocker_init(&b);
    house_open(&h);
    for (size_t i = 0; i < TARGETS; i++) {
        targets[i] =
            engine_add(h.engine, WEIR_PROCESSOR(.handler = block_until_let_go, .argument = &b));
    }
    const weir_event *const event = WEIR_EVENT(mark, 0);
    for (size_t i = 0; i < COUNT; i++) {
        list[i] = event;
    }
    house_start(&h);
    for (size_t round = 0; round < ROUNDS; round++) { /* to one target, to two, ... to all */
        const size_t spread = 1 + round % TARGETS;
        const size_t most = spread < THREADS ? spread : THREADS;
        for (size_t i = 0; i < COUNT; i++) {
            to[i] = targets[i % spread];
        }
        blocker_init(&b);
        const weir_dispatcher_counters before = dispatcher_counters(h.engine, "");
        assert_int_equal(COUNT, weir_engine_post_batch(h.engine, to, COUNT, list, COUNT, NULL));
        for (size_t i = 0; i < most; i++) { /* and all who can work do */
            assert_true(sem_wait_seconds(&b.entered, WAIT_SECONDS));
        }
        assert_true(tasks_settle(h.tids, THREADS, 1 * WEIR_MS));
        const uint64_t signals = dispatcher_counters(h.engine, "").signals - before.signals;
        assert_true(signals >= 1);
        assert_true(signals <= most);
        gate_open(&b.leave);
        const int64_t end = now_ns() + WAIT_SECONDS * WEIR_S;
        while (atomic_load(&b.handled) < COUNT && now_ns() < end) {
            (void)sched_yield();
        }
        assert_true(tasks_settle(h.tids, THREADS, 1 * WEIR_MS)); /* parked again */
    }
    engine_finish(h.engine, ROUNDS * COUNT);
}

/* P-4, the plain way: one event, then silence; many times, also to a thread on its way to bed. */
static void an_event_is_handled_although_no_other_one_ever_comes(void **unused)
{
    (void)unused;
    const uint64_t rounds = test_scaled(20000, 4);
    static house h;
    static ledger book;
    static collector c;
    uint64_t random = test_seed();
    house_open(&h);
    ledger_open(&book, 1);
    c = (collector){ .book = &book };
    const weir_processor p =
        engine_add(h.engine, WEIR_PROCESSOR(.handler = collect, .argument = &c));
    house_start(&h);
    for (uint64_t i = 0; i < rounds; i++) {
        busy_for_ns((int64_t)(test_random(&random) % 20000)); /* where its going to sleep is met */
        atomic_store(&book.done.count, 0);
        assert_int_equal(WEIR_OK, weir_engine_post(h.engine, p, WEIR_EVENT(mark, 0)));
        assert_true(goal_wait(&book.done));
    }
    engine_finish(h.engine, rounds);
    ledger_close(&book);
}

/* A thread that naps looks again when it likes: a post must not count on it. */
static void a_post_wakes_who_is_parked_although_another_thread_naps(void **unused)
{
    (void)unused;
    enum { ROUNDS = 20 };
    static ledger book;
    static collector c;
    weir_thread threads[2];
    pid_t tids[2];
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = engine_quiet();
    threads[0] = weir_thread_add(
        engine, WEIR_THREAD(.idle = WEIR_IDLE_SLEEP, .idle_sleep = 10 * WAIT_SECONDS * WEIR_S),
        &error);
    threads[1] = weir_thread_add(engine, WEIR_THREAD(.idle = WEIR_IDLE_PARK), &error);
    assert_no_error(&error);
    c = (collector){ .book = &book };
    const weir_processor p = engine_add(engine, WEIR_PROCESSOR(.handler = collect, .argument = &c));
    engine_start(engine);
    engine_thread_ids(engine, threads, 2, tids);
    assert_true(tasks_settle(tids, 2, 5 * WEIR_MS));
    for (int round = 0; round < ROUNDS; round++) {
        const weir_dispatcher_counters before = dispatcher_counters(engine, "");
        ledger_open(&book, 1);
        assert_int_equal(WEIR_OK, weir_engine_post(engine, p, WEIR_EVENT(mark, 0)));
        assert_true(goal_wait(&book.done));
        assert_true(tasks_settle(tids, 2, 1 * WEIR_MS));
        ledger_close(&book);
        assert_int_equal(before.signals + 1, dispatcher_counters(engine, "").signals);
    }
    engine_finish(engine, ROUNDS);
    assert_int_equal(1, c.thread_count);
    assert_int_equal(tids[1], c.threads[0]);
}

/* Whoever is first in line for one dispatcher, and is inside a handler of another one, holds nobody
 * up: its place in the line is given back. */
static void in_fair_mode_nobody_waits_behind_a_thread_that_is_busy_elsewhere(void **unused)
{
    (void)unused;
    enum { ROUNDS = 5, EACH = 3 };
    static ledger book;
    static collector c;
    static blocker b;
    weir_thread threads[2];
    pid_t tids[2];
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = engine_quiet();
    threads[0] = weir_thread_add(
        engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("line", "other"), .idle = WEIR_IDLE_PARK),
        &error);
    threads[1] = weir_thread_add(
        engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("line"), .idle = WEIR_IDLE_PARK), &error);
    (void)weir_dispatcher_tune(engine, WEIR_DISPATCHER(.name = "line", .fair = true), &error);
    assert_no_error(&error);
    c = (collector){ .book = &book };
    const weir_processor in_line = engine_add(
        engine, WEIR_PROCESSOR(.handler = collect, .argument = &c, .dispatcher = "line"));
    const weir_processor elsewhere =
        engine_add(engine, WEIR_PROCESSOR(.handler = block_until_let_go, .argument = &b,
                                          .dispatcher = "other"));
    engine_start(engine);
    engine_thread_ids(engine, threads, 2, tids);
    for (int round = 0; round < ROUNDS; round++) {
        assert_true(tasks_settle(tids, 2, 1 * WEIR_MS)); /* both stand in line */
        blocker_init(&b);
        assert_int_equal(WEIR_OK, weir_engine_post(engine, elsewhere, WEIR_EVENT(mark, 0)));
        assert_true(sem_wait_seconds(&b.entered, WAIT_SECONDS));
        for (int i = 0; i < EACH; i++) {
            ledger_open(&book, 1);
            assert_int_equal(WEIR_OK, weir_engine_post(engine, in_line, WEIR_EVENT(mark, 0)));
            assert_true(goal_wait(&book.done));
            ledger_close(&book);
            assert_true(tasks_settle(tids, 2, 1 * WEIR_MS));
        }
        gate_open(&b.leave);
        const int64_t end = now_ns() + WAIT_SECONDS * WEIR_S;
        while (atomic_load(&b.handled) == 0 && now_ns() < end) {
            (void)sched_yield();
        }
    }
    engine_finish(engine, ROUNDS * (EACH + 1));
    assert_int_equal(1, c.thread_count);
    assert_int_equal(tids[1], c.threads[0]);
}

/* Idle rounds of its own say that the spinning thread has looked, found nothing and looks again. */
static bool looks_again(weir_engine *engine, weir_thread thread)
{
    weir_thread_counters c = WEIR_THREAD_COUNTERS_INIT;
    assert_int_equal(WEIR_OK, weir_thread_counters_get(engine, thread, &c));
    const uint64_t enough = c.rounds_idle + 3;
    const weir_ns end = now_ns() + WAIT_SECONDS * WEIR_S;
    while (c.rounds_idle < enough && now_ns() < end) {
        assert_int_equal(WEIR_OK, weir_thread_counters_get(engine, thread, &c));
    }
    return c.rounds_idle >= enough;
}

static void a_post_wakes_nobody_while_another_thread_is_looking_for_work(void **unused)
{
    (void)unused;
    enum { ROUNDS = 20 };
    static ledger book;
    static collector c;
    weir_thread spinning;
    weir_thread parked;
    pid_t tid;
    weir_engine *engine = engine_quiet();
    engine_add_threads(engine, "", 1, WEIR_IDLE_BUSY_SPIN, &spinning);
    engine_add_threads(engine, "", 1, WEIR_IDLE_PARK, &parked);
    c = (collector){ .book = &book };
    const weir_processor p = engine_add(engine, WEIR_PROCESSOR(.handler = collect, .argument = &c));
    engine_start(engine);
    engine_thread_ids(engine, &parked, 1, &tid);
    assert_true(tasks_settle(&tid, 1, 5 * WEIR_MS));
    for (int round = 0; round < ROUNDS; round++) {
        assert_true(looks_again(engine, spinning));
        const uint64_t signals = dispatcher_counters(engine, "").signals;
        ledger_open(&book, 1);
        assert_int_equal(WEIR_OK, weir_engine_post(engine, p, WEIR_EVENT(mark, 0)));
        assert_true(goal_wait(&book.done));
        assert_int_equal(signals, dispatcher_counters(engine, "").signals);
        ledger_close(&book);
    }
    engine_finish(engine, ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousand_posts_to_a_busy_processor_cause_no_wake_up),
        cmocka_unit_test(posts_to_a_processor_that_is_ready_already_cause_no_wake_up),
        cmocka_unit_test(a_post_to_an_idle_processor_wakes_at_most_one_parked_thread),
        cmocka_unit_test(a_batch_wakes_at_most_one_thread_a_target_and_no_more_than_are_parked),
        cmocka_unit_test(an_event_is_handled_although_no_other_one_ever_comes),
        cmocka_unit_test(a_post_wakes_who_is_parked_although_another_thread_naps),
        cmocka_unit_test(a_post_wakes_nobody_while_another_thread_is_looking_for_work),
        cmocka_unit_test(in_fair_mode_nobody_waits_behind_a_thread_that_is_busy_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
