/*
 * external_test.c - weir inside a loop that is not weir's: run_once from a poll loop on the
 * thread's eventfd (S-26).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "option_support.h"

#include <poll.h>

/* An engine whose only thread is turned by the test, with one recorder on it. */
typedef struct loop {
    weir_engine *engine;
    weir_thread thread;
    weir_processor to;
    test_recorder recorder;
} loop;

static void loop_create(loop *l, bool gated)
{
    test_recorder_init(&l->recorder, gated);
    l->engine = test_engine_create(NULL);
    l->thread = test_thread_add(l->engine, WEIR_THREAD(.name = "loop", .external = true));
    l->to = test_processor_add(
        l->engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &l->recorder));
}

static void loop_start(loop *l)
{
    test_engine_start(l->engine);
    TEST_UNTIL(weir_thread_run_once(l->engine, l->thread, 0) == 0);
}

static bool is_readable(const loop *l, int timeout_ms)
{
    struct pollfd fd = { .fd = weir_thread_fd(l->engine, l->thread), .events = POLLIN };
    assert_true(fd.fd >= 0);
    return poll(&fd, 1, timeout_ms) == 1 && (fd.revents & POLLIN) != 0;
}

static int patience_ms(void)
{
    return (int)(TEST_PATIENCE / WEIR_MS);
}

/* Turns it until it says 0; returns how many were handled. */
static uint64_t turn_until_idle(const loop *l, uint32_t limit)
{
    uint64_t handled = 0;
    int32_t now = weir_thread_run_once(l->engine, l->thread, limit);
    while (now > 0) {
        handled += (uint64_t)now;
        now = weir_thread_run_once(l->engine, l->thread, limit);
    }
    assert_int_equal(0, now);
    return handled;
}

/* ---- the descriptor ---- */

static void the_descriptor_is_readable_exactly_while_there_is_work(void **state)
{
    (void)state;
    loop l;
    loop_create(&l, false);
    loop_start(&l);
    for (uint64_t round = 0; round < 100; round++) {
        assert_false(is_readable(&l, 0));
        assert_int_equal(WEIR_OK, test_post(l.engine, l.to, 3 * round));
        assert_true(is_readable(&l, 0));
        assert_true(is_readable(&l, 0)); /* looking does not use it up */
        assert_int_equal(WEIR_OK, test_post(l.engine, l.to, 3 * round + 1));
        assert_int_equal(WEIR_OK, test_post(l.engine, l.to, 3 * round + 2));
        assert_int_equal(1, weir_thread_run_once(l.engine, l.thread, 1));
        assert_true(is_readable(&l, 0)); /* it was not found idle */
        assert_int_equal(2, turn_until_idle(&l, 2));
        assert_false(is_readable(&l, 0));
    }
    test_recorder_saw_run(&l.recorder, 0, 300);
    test_external_end(l.engine, l.thread);
}

/* At a number above 0 it sends the next smaller one to its partner. */
static weir_status count_down(void *state, weir_turn *turn, const weir_event *event)
{
    const number *n = weir_event_as(event, &number_type);
    return n != NULL && n->value > 0
               ? weir_turn_post(turn, *(weir_processor *)state, WEIR_EVENT(number, n->value - 1))
               : WEIR_OK;
}

/* Whoever is being turned looks for himself: nobody rings for what his handlers post. */
static void one_that_is_turned_is_not_rung_for_what_its_handlers_post(void **state)
{
    (void)state;
    loop l;
    loop_create(&l, false);
    const weir_thread other =
        test_thread_add(l.engine, WEIR_THREAD(.name = "other", .external = true));
    weir_processor sides[2];
    sides[0] =
        test_processor_add(l.engine, WEIR_PROCESSOR(.handler = count_down, .argument = &sides[1]));
    sides[1] =
        test_processor_add(l.engine, WEIR_PROCESSOR(.handler = count_down, .argument = &sides[0]));
    loop_start(&l);
    TEST_UNTIL(weir_thread_run_once(l.engine, other, 0) == 0);
    for (int round = 0; round < 5; round++) {
        weir_dispatcher_counters before = WEIR_DISPATCHER_COUNTERS_INIT;
        weir_dispatcher_counters after = WEIR_DISPATCHER_COUNTERS_INIT;
        assert_int_equal(WEIR_OK, weir_dispatcher_counters_get(l.engine, "", &before));
        assert_int_equal(WEIR_OK, test_post(l.engine, sides[0], 9)); /* rings for the first */
        assert_int_equal(10, weir_thread_run_once(l.engine, other, 0));
        assert_int_equal(0, weir_thread_run_once(l.engine, other, 0));
        assert_int_equal(WEIR_OK, weir_dispatcher_counters_get(l.engine, "", &after));
        assert_int_equal(before.signals + 1, after.signals);
        assert_true(is_readable(&l, 0));
        assert_int_equal(0, turn_until_idle(&l, 0));
        assert_false(is_readable(&l, 0));
    }
    test_external_end(l.engine, l.thread);
}

static void a_start_without_work_leaves_it_quiet(void **state)
{
    (void)state;
    loop l;
    loop_create(&l, false);
    test_engine_start(l.engine);
    assert_false(is_readable(&l, 0));
    assert_int_equal(WEIR_OK, test_post(l.engine, l.to, 0));
    assert_true(is_readable(&l, 0));
    assert_int_equal(1, turn_until_idle(&l, 0));
    test_external_end(l.engine, l.thread);
}

static void a_fair_dispatcher_makes_it_readable_too(void **state)
{
    (void)state;
    loop l;
    loop_create(&l, false);
    assert_int_equal(WEIR_OK, weir_dispatcher_tune(l.engine, WEIR_DISPATCHER(.fair = true), NULL));
    loop_start(&l);
    for (uint64_t i = 0; i < 100; i++) {
        assert_false(is_readable(&l, 0));
        assert_int_equal(WEIR_OK, test_post(l.engine, l.to, i));
        assert_true(is_readable(&l, 0));
        assert_int_equal(1, turn_until_idle(&l, 0));
    }
    test_recorder_saw_run(&l.recorder, 0, 100);
    test_external_end(l.engine, l.thread);
}

static void what_was_posted_before_the_start_makes_it_readable(void **state)
{
    (void)state;
    loop l;
    loop_create(&l, false);
    assert_int_equal(WEIR_OK, test_post(l.engine, l.to, 0));
    assert_int_equal(WEIR_OK, test_post(l.engine, l.to, 1));
    test_engine_start(l.engine);
    assert_true(is_readable(&l, patience_ms()));
    TEST_UNTIL(weir_thread_run_once(l.engine, l.thread, 0) == 0);
    test_recorder_saw_run(&l.recorder, 0, 2);
    assert_false(is_readable(&l, 0));
    test_external_end(l.engine, l.thread);
}

typedef struct poster {
    weir_engine *engine;
    weir_processor to;
    uint64_t count;
    uint64_t refused;
} poster;

static void *post_many(void *argument)
{
    poster *p = argument;
    for (uint64_t n = 0; n < p->count; n++) {
        weir_status status = test_post(p->engine, p->to, n);
        while (status == WEIR_FULL) { /* until the loop has made room; its patience ends it */
            (void)sched_yield();
            status = test_post(p->engine, p->to, n);
        }
        p->refused += status != WEIR_OK;
    }
    return NULL;
}

static void a_poll_loop_handles_everything_that_is_posted(void **state)
{
    (void)state;
    loop l;
    loop_create(&l, false);
    loop_start(&l);
    poster p = { .engine = l.engine, .to = l.to, .count = test_load(200000, 20000) };
    pthread_t thread;
    assert_int_equal(0, pthread_create(&thread, NULL, post_many, &p));
    uint64_t handled = 0;
    uint64_t polls = 0;
    while (handled < p.count) {
        assert_true(is_readable(&l, patience_ms())); /* a lost wake-up ends here */
        polls++;
        handled += turn_until_idle(&l, 0);
    }
    assert_int_equal(0, pthread_join(thread, NULL));
    assert_int_equal(0, p.refused);
    assert_int_equal(p.count, handled);
    fprintf(stderr, "# %" PRIu64 " events in %" PRIu64 " polls\n", handled, polls);
    test_recorder_saw_run(&l.recorder, 0, p.count);
    assert_false(is_readable(&l, 0));
    test_external_end(l.engine, l.thread);
}

static void run_once_handles_at_most_its_limit_and_256_by_default(void **state)
{
    (void)state;
    loop l;
    loop_create(&l, false);
    loop_start(&l);
    for (uint64_t n = 0; n < 1000; n++) {
        assert_int_equal(WEIR_OK, test_post(l.engine, l.to, n));
    }
    static const uint32_t limits[] = { 1, 7, 64, 65, 0 };
    uint64_t handled = 0;
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        const int32_t now = weir_thread_run_once(l.engine, l.thread, limits[i]);
        assert_in_range(now, 1, limits[i] == 0 ? 256 : limits[i]); /* there is work, so not 0 */
        handled += (uint64_t)now;
        assert_int_equal(handled, test_recorder_handled(&l.recorder));
    }
    handled += turn_until_idle(&l, 100000);
    assert_int_equal(1000, handled);
    test_recorder_saw_run(&l.recorder, 0, 1000);
    test_external_end(l.engine, l.thread);
}

static void it_says_when_it_last_ran_out_of_work(void **state)
{
    (void)state;
    loop l;
    weir_thread_counters c = WEIR_THREAD_COUNTERS_INIT;
    loop_create(&l, false);
    loop_start(&l);
    (void)turn_until_idle(&l, 100000);
    assert_int_equal(WEIR_OK, weir_thread_counters_get(l.engine, l.thread, &c));
    assert_int_equal(0, c.last_work);
    assert_int_equal(WEIR_OK, test_post(l.engine, l.to, 0));
    const weir_ns before = weir_time_now(l.engine);
    assert_int_equal(1, turn_until_idle(&l, 100000));
    assert_int_equal(WEIR_OK, weir_thread_counters_get(l.engine, l.thread, &c));
    assert_in_range(c.last_work, before, weir_time_now(l.engine));
    test_external_end(l.engine, l.thread);
}

/* ---- who turns it ---- */

typedef struct turner {
    loop *l;
    int32_t result;
    int task;
} turner;

static void *turn_once(void *argument)
{
    turner *t = argument;
    t->task = test_gettid();
    t->result = weir_thread_run_once(t->l->engine, t->l->thread, 0);
    return NULL;
}

static void two_threads_at_once_are_refused(void **state)
{
    (void)state;
    loop l;
    loop_create(&l, true);
    loop_start(&l);
    assert_int_equal(WEIR_OK, test_post(l.engine, l.to, 0));
    turner t = { .l = &l };
    pthread_t thread;
    assert_int_equal(0, pthread_create(&thread, NULL, turn_once, &t));
    test_sem_wait(&l.recorder.entered);
    assert_int_equal(WEIR_E_INVALID, weir_thread_run_once(l.engine, l.thread, 0));
    test_recorder_pass(&l.recorder, 1);
    assert_int_equal(0, pthread_join(thread, NULL));
    assert_int_equal(1, t.result);
    TEST_UNTIL(weir_thread_run_once(l.engine, l.thread, 0) == 0); /* now it may be ours */
    test_external_end(l.engine, l.thread);
}

static void the_thread_that_turns_it_may_change_and_runs_the_handlers(void **state)
{
    (void)state;
    loop l;
    loop_create(&l, false);
    loop_start(&l);
    for (uint64_t n = 0; n < 20; n++) {
        assert_int_equal(WEIR_OK, test_post(l.engine, l.to, n));
        turner t = { .l = &l };
        pthread_t thread;
        assert_int_equal(0, pthread_create(&thread, NULL, turn_once, &t));
        assert_int_equal(0, pthread_join(thread, NULL));
        assert_int_equal(1, t.result);
        assert_int_equal(t.task, atomic_load(&l.recorder.thread));
    }
    test_recorder_saw_run(&l.recorder, 0, 20);
    test_external_end(l.engine, l.thread);
}

typedef struct nested {
    weir_thread thread;
    int32_t turned;
    weir_status stopped;
} nested;

static weir_status turn_inside(void *state, weir_turn *turn, const weir_event *event)
{
    nested *n = state;
    (void)event;
    n->turned = weir_thread_run_once(weir_turn_engine(turn), n->thread, 0);
    n->stopped = weir_engine_stop(weir_turn_engine(turn), 0, NULL);
    return WEIR_OK;
}

static void a_handler_may_neither_turn_its_thread_nor_wait(void **state)
{
    (void)state;
    loop l;
    loop_create(&l, false);
    nested n = { .thread = l.thread };
    const weir_processor to =
        test_processor_add(l.engine, WEIR_PROCESSOR(.handler = turn_inside, .argument = &n));
    loop_start(&l);
    assert_int_equal(WEIR_OK, test_post(l.engine, to, 0));
    assert_int_equal(1, weir_thread_run_once(l.engine, l.thread, 0));
    assert_int_equal(WEIR_E_INVALID, n.turned);
    assert_int_equal(WEIR_E_BLOCKING, n.stopped);
    test_external_end(l.engine, l.thread);
}

static void what_cannot_be_turned_is_a_status(void **state)
{
    (void)state;
    loop l;
    loop_create(&l, false);
    const weir_thread normal =
        test_thread_add(l.engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("other")));
    assert_int_equal(-1, weir_thread_fd(l.engine, normal));
    assert_int_equal(-1, weir_thread_fd(l.engine, (weir_thread){ 0 }));
    assert_int_equal(-1, weir_thread_fd(NULL, l.thread));
    assert_int_equal(WEIR_E_INVALID, weir_thread_run_once(NULL, l.thread, 0));
    assert_true(weir_thread_run_once(l.engine, (weir_thread){ 0 }, 0) < 0);
    assert_int_equal(WEIR_E_INVALID, weir_thread_run_once(l.engine, normal, 0));
    assert_int_equal(WEIR_OK, test_post(l.engine, l.to, 0));
    assert_true(weir_thread_run_once(l.engine, l.thread, 0) <= 0); /* not started yet */
    assert_int_equal(0, test_recorder_handled(&l.recorder));
    weir_engine_destroy(l.engine);
}

/* ---- its beginning and its end ---- */

static weir_status init_says(void *state, weir_turn *turn, void *argument)
{
    (void)turn;
    (void)argument;
    atomic_fetch_add((atomic_int *)state, 1);
    return WEIR_OK;
}

static weir_status init_fails(void *state, weir_turn *turn, void *argument)
{
    (void)argument;
    atomic_fetch_add((atomic_int *)state, 1);
    return weir_turn_fail(turn, WEIR_E_USER - 3, "no licence");
}

static weir_status count_one(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    atomic_fetch_add((atomic_int *)state, 100);
    return WEIR_OK;
}

static void inits_run_in_the_first_run_once_and_a_failing_one_stops_that_processor(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
    const weir_thread thread = test_thread_add(engine, WEIR_THREAD(.external = true));
    atomic_int good = 0, bad = 0;
    const weir_processor well = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = count_one, .init = init_says, .argument = &good));
    const weir_processor ill = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = count_one, .init = init_fails, .argument = &bad));
    assert_int_equal(WEIR_OK, test_post(engine, well, 0));
    assert_int_equal(WEIR_OK, test_post(engine, ill, 0));
    test_engine_start(engine);
    assert_int_equal(0, atomic_load(&good) + atomic_load(&bad));
    TEST_UNTIL(weir_thread_run_once(engine, thread, 0) == 0);
    assert_int_equal(101, atomic_load(&good));
    assert_int_equal(1, atomic_load(&bad));
    const weir_status gone = test_post(engine, ill, 0);
    assert_true(gone == WEIR_UNKNOWN || gone == WEIR_STOPPING);
    assert_int_equal(1, test_engine_counters(engine).dead); /* what waited for it */
    test_external_end(engine, thread);
}

static void *stop_from_elsewhere(void *argument)
{
    weir_stop_report *report = calloc(1, sizeof(*report));
    if (report != NULL) {
        report->struct_size = sizeof(*report);
        (void)weir_engine_stop(argument, TEST_PATIENCE, report);
    }
    return report;
}

static void a_stop_drains_by_way_of_the_loop(void **state)
{
    (void)state;
    enum { EVENTS = 1000 };
    loop l;
    loop_create(&l, false);
    loop_start(&l);
    for (uint64_t n = 0; n < EVENTS; n++) {
        assert_int_equal(WEIR_OK, test_post(l.engine, l.to, n));
    }
    pthread_t thread;
    assert_int_equal(0, pthread_create(&thread, NULL, stop_from_elsewhere, l.engine));
    while (weir_engine_wait(l.engine, WEIR_NOW, NULL) != WEIR_OK) {
        (void)is_readable(&l, 10);
        while (weir_thread_run_once(l.engine, l.thread, 10) > 0) {
        }
    }
    weir_stop_report *report = NULL;
    assert_int_equal(0, pthread_join(thread, (void **)&report));
    assert_non_null(report);
    assert_int_equal(EVENTS, report->handled);
    assert_int_equal(0, report->left);
    free(report);
    test_recorder_saw_run(&l.recorder, 0, EVENTS);
    assert_true(weir_thread_run_once(l.engine, l.thread, 0) <= 0); /* nothing after the end */
    weir_engine_destroy(l.engine);
}

static void a_stop_makes_the_descriptor_readable(void **state)
{
    (void)state;
    loop l;
    loop_create(&l, false);
    loop_start(&l);
    assert_false(is_readable(&l, 0));
    assert_int_equal(WEIR_OK, weir_engine_stop_async(l.engine, TEST_PATIENCE));
    while (weir_engine_wait(l.engine, WEIR_NOW, NULL) != WEIR_OK) {
        /* Either it has become readable, or the stop has ended without this thread. */
        assert_true(is_readable(&l, patience_ms() / 10) ||
                    weir_engine_wait(l.engine, WEIR_NOW, NULL) == WEIR_OK);
        (void)weir_thread_run_once(l.engine, l.thread, 0);
    }
    weir_engine_destroy(l.engine);
}

static void a_stop_that_nobody_turns_ends_at_its_timeout_and_says_what_is_left(void **state)
{
    (void)state;
    loop l;
    loop_create(&l, false);
    loop_start(&l);
    for (uint64_t n = 0; n < 10; n++) {
        assert_int_equal(WEIR_OK, test_post(l.engine, l.to, n));
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(1, weir_thread_run_once(l.engine, l.thread, 1));
    }
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_TIMEOUT, weir_engine_stop(l.engine, 10 * WEIR_MS, &report));
    assert_int_equal(10, report.accepted);
    assert_int_equal(4, report.handled);
    assert_int_equal(6, report.left);
    assert_true(weir_thread_run_once(l.engine, l.thread, 0) <= 0);
    assert_int_equal(4, test_recorder_handled(&l.recorder)); /* what is left is never handled */
    weir_engine_destroy(l.engine);
}

/* ---- beside weir's own threads ---- */

typedef struct pong {
    weir_processor other;
    uint64_t handled, failures;
    int task;
    bool moved; /* to another OS thread */
} pong;

static weir_status pong_handle(void *state, weir_turn *turn, const weir_event *event)
{
    pong *p = state;
    const uint64_t left = ((const number *)event->data)->value;
    const int task = test_gettid();
    p->moved = p->moved || (p->task != 0 && p->task != task);
    p->task = task;
    p->handled++;
    if (left > 0) {
        p->failures += weir_turn_post(turn, p->other, WEIR_EVENT(number, left - 1)) != WEIR_OK;
    }
    return WEIR_OK;
}

static void it_works_beside_threads_of_the_engine(void **state)
{
    (void)state;
    const uint64_t trips = test_load(10000, 2000);
    weir_engine *engine = test_engine_create(NULL);
    loop l = { .engine = engine };
    l.thread = test_thread_add(
        engine, WEIR_THREAD(.name = "ui", .external = true, .dispatchers = WEIR_NAMES("ui")));
    (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("work")));
    pong ui = { .handled = 0 }, work = { .handled = 0 };
    l.to = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = pong_handle, .argument = &ui, .dispatcher = "ui"));
    work.other = l.to;
    ui.other = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = pong_handle, .argument = &work, .dispatcher = "work"));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, l.to, 2 * trips - 1));
    while (ui.handled < trips) {
        assert_true(is_readable(&l, patience_ms()));
        while (weir_thread_run_once(engine, l.thread, 0) > 0) {
        }
    }
    test_external_end(engine, l.thread);
    assert_int_equal(trips, ui.handled);
    assert_int_equal(trips, work.handled);
    assert_int_equal(0, ui.failures + work.failures);
    assert_false(ui.moved);
    assert_false(work.moved);
    assert_int_equal(test_gettid(), ui.task);
    assert_int_not_equal(ui.task, work.task);
}

/* It comes to help where work waits already, and nothing new may ever come. */
static void one_that_is_added_where_work_waits_is_readable_at_once(void **state)
{
    (void)state;
    test_recorder busy;
    test_recorder_init(&busy, true);
    loop l;
    test_recorder_init(&l.recorder, false);
    l.engine = test_engine_create(WEIR_ENGINE(.threads = 1));
    const weir_processor first = test_processor_add(
        l.engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &busy));
    l.to = test_processor_add(
        l.engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &l.recorder));
    test_engine_start(l.engine);
    assert_int_equal(WEIR_OK, test_post(l.engine, first, 0));
    test_sem_wait(&busy.entered); /* the only thread is inside */
    assert_int_equal(WEIR_OK, test_post(l.engine, l.to, 0));
    l.thread = test_thread_add(l.engine, WEIR_THREAD(.external = true));
    assert_true(is_readable(&l, 0));
    assert_int_equal(1, turn_until_idle(&l, 0));
    assert_false(is_readable(&l, 0));
    test_recorder_saw_run(&l.recorder, 0, 1);
    test_recorder_pass(&busy, 1);
    test_external_end(l.engine, l.thread);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_descriptor_is_readable_exactly_while_there_is_work),
        cmocka_unit_test(one_that_is_turned_is_not_rung_for_what_its_handlers_post),
        cmocka_unit_test(a_start_without_work_leaves_it_quiet),
        cmocka_unit_test(a_fair_dispatcher_makes_it_readable_too),
        cmocka_unit_test(what_was_posted_before_the_start_makes_it_readable),
        cmocka_unit_test(a_poll_loop_handles_everything_that_is_posted),
        cmocka_unit_test(run_once_handles_at_most_its_limit_and_256_by_default),
        cmocka_unit_test(it_says_when_it_last_ran_out_of_work),
        cmocka_unit_test(two_threads_at_once_are_refused),
        cmocka_unit_test(the_thread_that_turns_it_may_change_and_runs_the_handlers),
        cmocka_unit_test(a_handler_may_neither_turn_its_thread_nor_wait),
        cmocka_unit_test(what_cannot_be_turned_is_a_status),
        cmocka_unit_test(inits_run_in_the_first_run_once_and_a_failing_one_stops_that_processor),
        cmocka_unit_test(a_stop_drains_by_way_of_the_loop),
        cmocka_unit_test(a_stop_makes_the_descriptor_readable),
        cmocka_unit_test(a_stop_that_nobody_turns_ends_at_its_timeout_and_says_what_is_left),
        cmocka_unit_test(it_works_beside_threads_of_the_engine),
        cmocka_unit_test(one_that_is_added_where_work_waits_is_readable_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
