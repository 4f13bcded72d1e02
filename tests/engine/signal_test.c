/*
 * signal_test.c - weir_signal_post, the one call for signal handlers (S-27).
 *
 * The handlers here are real ones: raised, sent to single threads, and fired by a timer while
 * every thread of the process is in the middle of something. What they were answered is counted
 * in atomics and compared with what the processor got.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "option_support.h"

#include <signal.h>
#include <sys/time.h>

static weir_signal current; /* written before its handler is installed */
static atomic_uint_least64_t next_value, answered_ok, answered_full, answered_else, errno_lost;

static void on_signal(int which)
{
    (void)which;
    const int before = errno;
    errno = 4242;
    const weir_status status = weir_signal_post(current, atomic_fetch_add(&next_value, 1));
    if (errno != 4242) {
        atomic_fetch_add(&errno_lost, 1);
    }
    errno = before;
    if (status == WEIR_OK) {
        atomic_fetch_add(&answered_ok, 1);
    } else {
        atomic_fetch_add(status == WEIR_FULL ? &answered_full : &answered_else, 1);
    }
}

static void install(int which, weir_signal signal)
{
    current = signal;
    atomic_store(&next_value, 0);
    atomic_store(&answered_ok, 0);
    atomic_store(&answered_full, 0);
    atomic_store(&answered_else, 0);
    atomic_store(&errno_lost, 0);
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
    assert_int_equal(0, sigaction(which, &action, NULL));
}

static void uninstall(int which)
{
    struct sigaction action = { .sa_handler = SIG_IGN };
    assert_int_equal(0, sigaction(which, &action, NULL));
}

typedef struct listener {
    atomic_uint_least64_t signals, numbers, wrong;
    uint64_t seen[64];
} listener;

static weir_status listen_to(void *state, weir_turn *turn, const weir_event *event)
{
    listener *l = state;
    (void)turn;
    const uint64_t *value = weir_event_as(event, &weir_signal_type);
    if (value == NULL) {
        atomic_fetch_add(event->type == &number_type ? &l->numbers : &l->wrong, 1);
        return WEIR_OK;
    }
    const uint64_t count = atomic_load(&l->signals);
    if (count < 64) {
        l->seen[count] = *value;
    }
    if (event->size != sizeof(uint64_t) || event->from.sender.id != 0) {
        atomic_fetch_add(&l->wrong, 1);
    }
    atomic_store(&l->signals, count + 1);
    return WEIR_OK;
}

static weir_processor add_listener(weir_engine *engine, listener *l, uint32_t mailbox_max)
{
    return test_processor_add(
        engine, WEIR_PROCESSOR(.handler = listen_to, .argument = l, .mailbox_max = mailbox_max));
}

static weir_signal open_signal(weir_engine *engine, weir_processor to, uint32_t capacity)
{
    weir_error error = WEIR_ERROR_INIT;
    const weir_signal signal = weir_signal_open(engine, to, capacity, &error);
    test_error_none(&error);
    assert_true(signal.id != 0);
    return signal;
}

static void a_signal_handler_posts_and_errno_is_kept(void **state)
{
    (void)state;
    listener l = { .signals = 0 };
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to = add_listener(engine, &l, 0);
    install(SIGUSR1, open_signal(engine, to, 0));
    test_engine_start(engine);
    for (uint64_t n = 0; n < 20; n++) {
        assert_int_equal(0, raise(SIGUSR1));
        TEST_UNTIL(atomic_load(&l.signals) == n + 1); /* it wakes a parked thread */
    }
    uninstall(SIGUSR1);
    assert_int_equal(20, test_engine_end(engine).handled);
    assert_int_equal(20, atomic_load(&answered_ok));
    assert_int_equal(0, atomic_load(&errno_lost));
    assert_int_equal(0, atomic_load(&l.wrong));
    for (uint64_t n = 0; n < 20; n++) {
        assert_int_equal(n, l.seen[n]);
    }
}

static void a_ring_that_is_full_answers_full_and_is_counted(void **state)
{
    (void)state;
    listener l = { .signals = 0 };
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to = add_listener(engine, &l, 0);
    install(SIGUSR1, open_signal(engine, to, 8));
    for (int n = 0; n < 13; n++) { /* nothing runs yet, so nothing is taken out */
        assert_int_equal(0, raise(SIGUSR1));
    }
    uninstall(SIGUSR1);
    assert_int_equal(8, atomic_load(&answered_ok));
    assert_int_equal(5, atomic_load(&answered_full));
    assert_int_equal(0, atomic_load(&errno_lost));
    assert_int_equal(5, test_engine_counters(engine).refused_full);
    test_engine_start(engine);
    const weir_stop_report report = test_engine_end(engine);
    assert_int_equal(8, report.accepted);
    assert_int_equal(8, report.handled);
    for (uint64_t n = 0; n < 8; n++) {
        assert_int_equal(n, l.seen[n]);
    }
}

static void a_ring_holds_64_by_default(void **state)
{
    (void)state;
    listener l = { .signals = 0 };
    weir_engine *engine = test_engine_create(NULL);
    const weir_signal signal = open_signal(engine, add_listener(engine, &l, 0), 0);
    uint64_t ok = 0, full = 0;
    for (uint64_t n = 0; n < 100; n++) {
        const weir_status status = weir_signal_post(signal, n);
        ok += status == WEIR_OK;
        full += status == WEIR_FULL;
    }
    assert_int_equal(64, ok);
    assert_int_equal(36, full);
    test_engine_start(engine);
    assert_int_equal(64, test_engine_end(engine).handled);
}

static void a_mailbox_that_is_full_answers_full_and_is_counted(void **state)
{
    (void)state;
    listener l = { .signals = 0 };
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to = add_listener(engine, &l, 3);
    const weir_signal signal = open_signal(engine, to, 8);
    assert_int_equal(WEIR_OK, test_post(engine, to, 0));
    assert_int_equal(WEIR_OK, weir_signal_post(signal, 0));
    assert_int_equal(WEIR_OK, weir_signal_post(signal, 1));
    assert_int_equal(WEIR_FULL, weir_signal_post(signal, 2));
    assert_int_equal(WEIR_FULL, test_post(engine, to, 1));
    assert_int_equal(2, test_engine_counters(engine).refused_full);
    test_engine_start(engine);
    TEST_UNTIL(atomic_load(&l.signals) == 2);
    TEST_UNTIL(weir_signal_post(signal, 3) == WEIR_OK); /* the places are used again */
    assert_int_equal(4, test_engine_end(engine).handled);
    assert_int_equal(3, atomic_load(&l.signals));
}

static void a_signal_whose_target_or_engine_is_gone_is_a_status(void **state)
{
    (void)state;
    listener l = { .signals = 0 };
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor first = add_listener(engine, &l, 0);
    const weir_processor second = add_listener(engine, &l, 0);
    const weir_signal of_first = open_signal(engine, first, 8);
    const weir_signal of_second = open_signal(engine, second, 8);
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, weir_processor_stop(engine, first, 0, NULL));
    errno = 4242;
    assert_int_equal(WEIR_UNKNOWN, weir_signal_post(of_first, 1));
    assert_true(weir_signal_post((weir_signal){ 0 }, 1) != WEIR_OK);
    assert_true(weir_signal_post((weir_signal){ UINT64_MAX }, 1) != WEIR_OK);
    (void)test_engine_stop(engine);
    assert_int_equal(WEIR_STOPPING, weir_signal_post(of_second, 1));
    weir_engine_destroy(engine);
    assert_int_equal(WEIR_UNKNOWN, weir_signal_post(of_second, 1));
    assert_int_equal(4242, errno);

    weir_engine *next = test_engine_create(NULL); /* it may reuse the place, not the handle */
    const weir_processor to = add_listener(next, &l, 0);
    (void)open_signal(next, to, 8);
    assert_int_equal(WEIR_UNKNOWN, weir_signal_post(of_first, 1));
    assert_int_equal(WEIR_UNKNOWN, weir_signal_post(of_second, 1));
    weir_engine_destroy(next);
    assert_int_equal(0, atomic_load(&l.signals));
}

/* Handlers may still post while an engine drains; a signal is outside of them, and is refused. */
static void a_signal_is_refused_and_counted_from_the_first_moment_of_a_stop(void **state)
{
    (void)state;
    listener l = { .signals = 0 };
    test_recorder busy;
    test_recorder_init(&busy, true);
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.threads = 2));
    const weir_processor to = add_listener(engine, &l, 0);
    const weir_processor long_one = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &busy));
    const weir_signal signal = open_signal(engine, to, 8);
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, long_one, 1));
    test_sem_wait(&busy.entered); /* it keeps the engine draining */
    assert_int_equal(WEIR_OK, weir_signal_post(signal, 1));
    assert_int_equal(WEIR_OK, weir_engine_stop_async(engine, TEST_PATIENCE));
    assert_int_equal(WEIR_STOPPING, weir_signal_post(signal, 2));
    assert_int_equal(WEIR_STOPPING, weir_signal_post(signal, 3));
    assert_int_equal(2, test_engine_counters(engine).refused_stopping);
    test_recorder_pass(&busy, 1);
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_OK, weir_engine_wait(engine, TEST_PATIENCE, &report));
    assert_int_equal(2, report.accepted);
    assert_int_equal(2, report.handled);
    assert_int_equal(1, atomic_load(&l.signals));
    weir_engine_destroy(engine);
}

static void there_are_at_most_64_in_a_process_and_they_come_back(void **state)
{
    (void)state;
    for (int round = 0; round < 3; round++) {
        listener l = { .signals = 0 };
        weir_engine *engine = test_engine_create(NULL);
        const weir_processor to = add_listener(engine, &l, 0);
        for (int n = 0; n < 64; n++) {
            (void)open_signal(engine, to, 1);
        }
        weir_error error = WEIR_ERROR_INIT;
        assert_int_equal(0, weir_signal_open(engine, to, 1, &error).id);
        assert_int_equal(WEIR_E_LIMIT, error.status);
        assert_non_null(strstr(error.text, "64"));
        weir_engine_destroy(engine);
    }
}

static void opening_one_wrongly_says_what_would_be_right(void **state)
{
    (void)state;
    listener l = { .signals = 0 };
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to = add_listener(engine, &l, 0);
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(0, weir_signal_open(engine, to, 65537, &error).id);
    assert_int_equal(WEIR_E_INVALID, error.status);
    assert_non_null(strstr(error.text, "65537"));
    assert_non_null(strstr(error.text, "65536"));
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(0, weir_signal_open(engine, (weir_processor){ 0 }, 1, &error).id);
    assert_true(error.status < 0);
    assert_int_equal(0, weir_signal_open(NULL, to, 1, NULL).id);
    assert_true(open_signal(engine, to, 65536).id != 0);
    weir_engine_destroy(engine);
}

/* ---- a storm ---- */

static void storm_begins(void)
{
    const struct itimerval often = { { 0, 150 }, { 0, 150 } };
    assert_int_equal(0, setitimer(ITIMER_REAL, &often, NULL));
}

static void storm_ends(void)
{
    const struct itimerval never = { { 0, 0 }, { 0, 0 } };
    assert_int_equal(0, setitimer(ITIMER_REAL, &never, NULL));
    uninstall(SIGALRM);
    uninstall(SIGUSR1);
}

/* Sends the signal to that thread of ours, if the engine lets it through. */
static void strike(weir_engine *engine, const char *thread)
{
    weir_thread_counters counters = WEIR_THREAD_COUNTERS_INIT;
    const weir_thread handle = weir_thread_find(engine, thread);
    if (weir_thread_counters_get(engine, handle, &counters) == WEIR_OK && counters.system_id > 0) {
        (void)syscall(SYS_tgkill, getpid(), counters.system_id, SIGUSR1);
    }
}

enum { RING = 16, KEEPERS = 2 };

/* With every thread held, nothing leaves the ring: it takes as many as it was made for. */
static void assert_ring_is_whole(weir_engine *engine, const weir_processor *keepers,
                                 test_recorder *held)
{
    TEST_UNTIL(test_engine_counters(engine).depth == 0);
    for (size_t i = 0; i < KEEPERS; i++) {
        assert_int_equal(WEIR_OK, test_post(engine, keepers[i], i));
        test_sem_wait(&held[i].entered);
    }
    for (uint64_t i = 0; i < RING; i++) {
        assert_int_equal(WEIR_OK, weir_signal_post(current, i));
    }
    assert_int_equal(WEIR_FULL, weir_signal_post(current, RING));
    for (size_t i = 0; i < KEEPERS; i++) {
        test_recorder_pass(&held[i], 1);
    }
}

static void a_storm_of_signals_on_every_thread_loses_nothing_that_was_ok(void **state)
{
    (void)state;
    const uint64_t wanted = test_load(20000, 4000);
    listener l = { .signals = 0 };
    weir_processor keepers[KEEPERS];
    test_recorder held[KEEPERS];
    weir_engine *engine = test_engine_create(NULL);
    (void)test_thread_add(engine, WEIR_THREAD(.name = "one"));
    (void)test_thread_add(engine, WEIR_THREAD(.name = "two"));
    const weir_processor to = add_listener(engine, &l, 100);
    for (size_t i = 0; i < KEEPERS; i++) {
        test_recorder_init(&held[i], true);
        keepers[i] = test_processor_add(
            engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &held[i]));
    }
    install(SIGALRM, open_signal(engine, to, RING));
    install(SIGUSR1, current);
    test_engine_start(engine);
    storm_begins();
    uint64_t posted = 0, refused = 0;
    const weir_ns end = test_now() + TEST_PATIENCE;
    while (atomic_load(&answered_ok) < wanted && test_now() < end) {
        const weir_status status = test_post(engine, to, posted);
        posted += status == WEIR_OK;
        refused += status == WEIR_FULL;
        if ((posted + refused) % 4 == 0) {
            (void)raise(SIGUSR1);
            strike(engine, (posted + refused) % 8 == 0 ? "one" : "two");
        }
    }
    storm_ends();
    assert_ring_is_whole(engine, keepers, held);
    const weir_stop_report report = test_engine_stop(engine);
    fprintf(stderr,
            "# signals: %" PRIuLEAST64 " ok, %" PRIuLEAST64 " full; posts: %" PRIu64 " ok, %" PRIu64
            " full\n",
            atomic_load(&answered_ok), atomic_load(&answered_full), posted, refused);
    assert_true(atomic_load(&answered_ok) >= wanted);
    assert_int_equal(0, atomic_load(&answered_else));
    assert_int_equal(0, atomic_load(&errno_lost));
    assert_int_equal(0, atomic_load(&l.wrong));
    assert_int_equal(atomic_load(&answered_ok) + RING, atomic_load(&l.signals));
    assert_int_equal(posted, atomic_load(&l.numbers));
    assert_int_equal(posted + atomic_load(&answered_ok) + RING + KEEPERS, report.accepted);
    assert_int_equal(refused + atomic_load(&answered_full) + 1,
                     test_engine_counters(engine).refused_full);
    weir_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signal_handler_posts_and_errno_is_kept),
        cmocka_unit_test(a_ring_that_is_full_answers_full_and_is_counted),
        cmocka_unit_test(a_ring_holds_64_by_default),
        cmocka_unit_test(a_mailbox_that_is_full_answers_full_and_is_counted),
        cmocka_unit_test(a_signal_whose_target_or_engine_is_gone_is_a_status),
        cmocka_unit_test(a_signal_is_refused_and_counted_from_the_first_moment_of_a_stop),
        cmocka_unit_test(there_are_at_most_64_in_a_process_and_they_come_back),
        cmocka_unit_test(opening_one_wrongly_says_what_would_be_right),
        cmocka_unit_test(a_storm_of_signals_on_every_thread_loses_nothing_that_was_ok),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
