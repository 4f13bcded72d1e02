/*
 * timer_test.c - timers: once, at, every; cancel and its answers; what becomes of each (S-40 to
 * S-44).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "timer_support.h"

static void an_event_comes_after_its_time_once_from_the_receiver_itself(void **state)
{
    (void)state;
    bed b;
    bed_make(&b, NULL, 0);
    const weir_ns before = test_now();
    const weir_timer timer = bed_add(&b, 7, WEIR_TIMER(.after = 20 * WEIR_MS));
    test_sem_wait(&b.receiver.came);
    assert_int_equal(1, received(&b.receiver));
    assert_true(b.receiver.notes[0].when >= before + 20 * WEIR_MS);
    assert_int_equal(7, b.receiver.notes[0].value);
    assert_int_equal(0, b.receiver.notes[0].tag);
    assert_int_equal(b.to.id, b.receiver.notes[0].sender);
    TEST_UNTIL(timer_outcome(b.engine, timer) == WEIR_TIMER_POSTED);
    assert_int_equal(WEIR_LATE, weir_timer_cancel(b.engine, timer));
    const weir_timer_counters c = timer_counters(b.engine);
    assert_int_equal(1, c.added);
    assert_int_equal(1, c.posted);
    assert_int_equal(0, c.pending);
    assert_true(c.late_max >= 0 && c.late_max < 10 * WEIR_S);
    assert_int_equal(1, test_engine_end(b.engine).handled);
}

static void at_is_a_moment_of_the_engines_clock_and_the_past_is_now(void **state)
{
    (void)state;
    bed b;
    bed_make(&b, NULL, 0);
    const weir_ns at = weir_time_now(b.engine) + 10 * WEIR_MS;
    (void)bed_add(&b, 1, WEIR_TIMER(.at = at));
    test_sem_wait(&b.receiver.came);
    assert_true(b.receiver.notes[0].when >= at);
    (void)bed_add(&b, 2, WEIR_TIMER(.at = 1));
    test_sem_wait(&b.receiver.came);
    (void)bed_add(&b, 3, WEIR_TIMER(.after = WEIR_NOW));
    test_sem_wait(&b.receiver.came);
    assert_int_equal(3, b.receiver.notes[2].value);
    test_engine_end(b.engine);
}

static void a_tag_comes_back_with_the_event(void **state)
{
    (void)state;
    bed b;
    bed_make(&b, NULL, 0);
    (void)bed_add(&b, 5, WEIR_TIMER(.after = WEIR_MS, .tag = 77));
    (void)bed_add(&b, 6, WEIR_TIMER(.after = WEIR_MS, .tag = 78, .reserve = true));
    test_sem_wait(&b.receiver.came);
    test_sem_wait(&b.receiver.came);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(b.receiver.notes[i].value + 72, b.receiver.notes[i].tag);
        assert_int_equal(b.to.id, b.receiver.notes[i].sender);
    }
    test_engine_end(b.engine);
}

static void a_cancelled_one_never_comes_and_says_so_once(void **state)
{
    (void)state;
    bed b;
    bed_make(&b, NULL, 0);
    const weir_timer timer = bed_add(&b, 1, WEIR_TIMER(.after = 400 * WEIR_MS));
    assert_int_equal(WEIR_TIMER_PENDING, timer_outcome(b.engine, timer));
    assert_int_equal(WEIR_OK, weir_timer_cancel(b.engine, timer));
    assert_int_equal(WEIR_TIMER_CANCELLED, timer_outcome(b.engine, timer));
    assert_int_equal(WEIR_UNKNOWN, weir_timer_cancel(b.engine, timer));
    (void)bed_add(&b, 2, WEIR_TIMER(.after = 500 * WEIR_MS));
    test_sem_wait(&b.receiver.came);
    assert_int_equal(2, b.receiver.notes[0].value);
    assert_books_balance(b.engine);
    assert_int_equal(1, timer_counters(b.engine).cancelled);
    assert_int_equal(1, test_engine_end(b.engine).accepted);
}

static void a_repeating_one_keeps_its_rate_without_drift_over_10000_periods(void **state)
{
    (void)state;
    bed b;
    const weir_ns every = (weir_ns)test_load(100, 400) * WEIR_US;
    bed_make(&b, NULL, 100000);
    const weir_ns first = weir_time_now(b.engine) + every;
    const weir_timer timer = bed_add(&b, 1, WEIR_TIMER(.at = first, .every = every));
    weir_timer_counters c;
    uint64_t least, most;
    const uint64_t periods = test_load(10000, 1000);
    TEST_UNTIL((c = timer_counters(b.engine), c.posted + c.missed >= periods));
    /* Its time number n is first + n x every, for ever: so many have come as there were times. */
    for (;;) {
        least = (uint64_t)((weir_time_now(b.engine) - first) / every);
        c = timer_counters(b.engine);
        most = (uint64_t)((weir_time_now(b.engine) - first) / every) + 1;
        if (c.posted + c.missed >= least) {
            break; /* else it is late: some other thread has the core */
        }
    }
    assert_true(c.posted + c.missed <= most);
    fprintf(stderr, "# %llu posted, %llu missed; late p50 %lld p99 %lld max %lld ns\n",
            (unsigned long long)c.posted, (unsigned long long)c.missed, (long long)c.late_p50,
            (long long)c.late_p99, (long long)c.late_max);
    const weir_status cancelled = weir_timer_cancel(b.engine, timer);
    assert_true(cancelled == WEIR_OK || cancelled == WEIR_LATE);
    TEST_UNTIL(timer_outcome(b.engine, timer) == WEIR_TIMER_CANCELLED);
    c = timer_counters(b.engine);
    assert_int_equal(0, c.pending);
    assert_int_equal(c.posted, test_engine_end(b.engine).handled);
}

static void a_fixed_delay_is_counted_from_the_last_time(void **state)
{
    (void)state;
    bed b;
    bed_make(&b, NULL, 0);
    (void)bed_add(&b, 1, WEIR_TIMER(.every = 2 * WEIR_MS, .fixed_delay = true));
    for (size_t i = 0; i < 20; i++) {
        test_sem_wait(&b.receiver.came);
    }
    assert_int_equal(0, timer_counters(b.engine).missed);
    TEST_UNTIL(timer_counters(b.engine).pending == 1); /* while it is being posted it is not */
    test_engine_end(b.engine);
}

typedef struct calls {
    weir_engine *engine;
    weir_ns hold; /* so long each call takes */
    weir_ns begun[TEST_NOTES_MAX], ended[TEST_NOTES_MAX];
    weir_timer_outcome outcomes[TEST_NOTES_MAX];
    weir_timer timers[TEST_NOTES_MAX];
    weir_status blocking, cancelled;
    bool cancels;
    atomic_uint_least64_t count;
    sem_t came;
} calls;

static void call(void *context, weir_timer timer, weir_timer_outcome outcome)
{
    calls *c = context;
    const uint64_t count = atomic_load_explicit(&c->count, memory_order_relaxed);
    if (count < TEST_NOTES_MAX) {
        c->begun[count] = test_now();
        while (test_now() < c->begun[count] + c->hold) {
        }
        c->outcomes[count] = outcome;
        c->timers[count] = timer;
        c->blocking = weir_engine_stop(c->engine, 0, NULL);
        if (c->cancels) {
            c->cancelled = weir_timer_cancel(c->engine, timer);
        }
        c->ended[count] = test_now();
    }
    atomic_store_explicit(&c->count, count + 1, memory_order_release);
    (void)sem_post(&c->came);
}

static void calls_init(calls *c, weir_engine *engine)
{
    memset(c, 0, sizeof(*c));
    c->engine = engine;
    assert_int_equal(0, sem_init(&c->came, 0, 0));
}

static void a_hook_is_called_with_its_timer_and_may_not_wait(void **state)
{
    (void)state;
    static calls c;
    bed b;
    weir_timer timer;
    bed_make(&b, NULL, 0);
    calls_init(&c, b.engine);
    assert_int_equal(
        WEIR_OK, weir_timer_add(b.engine, (weir_processor){ 0 }, NULL,
                                WEIR_TIMER(.after = WEIR_MS, .hook = call, .context = &c), &timer));
    test_sem_wait(&c.came);
    assert_int_equal(timer.id, c.timers[0].id);
    assert_int_equal(WEIR_TIMER_POSTED, c.outcomes[0]);
    assert_int_equal(WEIR_E_BLOCKING, c.blocking);
    assert_int_equal(0, received(&b.receiver));
    test_engine_end(b.engine);
}

static void a_hook_that_takes_long_misses_times_at_a_rate_and_none_with_a_delay(void **state)
{
    (void)state;
    for (int delay = 0; delay < 2; delay++) {
        static calls c;
        bed b;
        bed_make(&b, NULL, 0);
        calls_init(&c, b.engine);
        c.hold = 5 * WEIR_MS;
        assert_int_equal(WEIR_OK,
                         weir_timer_add(b.engine, (weir_processor){ 0 }, NULL,
                                        WEIR_TIMER(.every = 2 * WEIR_MS, .hook = call,
                                                   .context = &c, .fixed_delay = delay != 0),
                                        NULL));
        for (size_t i = 0; i < 5; i++) {
            test_sem_wait(&c.came);
        }
        const weir_timer_counters counters = timer_counters(b.engine);
        for (size_t i = 1; i < 5; i++) {
            const weir_ns gap = c.begun[i] - c.ended[i - 1];
            assert_true(gap >= 0);
            if (delay != 0) {
                assert_true(gap >= 2 * WEIR_MS);
            }
        }
        if (delay != 0) {
            assert_int_equal(0, counters.missed);
        } else {
            assert_true(counters.missed >= 8); /* two of three times, at least */
        }
        test_engine_end(b.engine);
    }
}

static void a_hook_may_cancel_its_own_timer(void **state)
{
    (void)state;
    static calls c;
    bed b;
    weir_timer timer;
    bed_make(&b, NULL, 0);
    calls_init(&c, b.engine);
    c.cancels = true;
    assert_int_equal(
        WEIR_OK, weir_timer_add(b.engine, (weir_processor){ 0 }, NULL,
                                WEIR_TIMER(.every = WEIR_MS, .hook = call, .context = &c), &timer));
    test_sem_wait(&c.came);
    assert_int_equal(WEIR_LATE, c.cancelled); /* this call is its last */
    TEST_UNTIL(timer_outcome(b.engine, timer) == WEIR_TIMER_CANCELLED);
    assert_int_equal(1, atomic_load(&c.count));
    test_engine_end(b.engine);
}

static void a_hook_beside_an_event_is_told_what_became_of_it(void **state)
{
    (void)state;
    static calls c;
    bed b;
    bed_make(&b, NULL, 0);
    calls_init(&c, b.engine);
    (void)bed_add(&b, 1, WEIR_TIMER(.after = WEIR_MS, .hook = call, .context = &c));
    test_sem_wait(&c.came);
    test_sem_wait(&b.receiver.came);
    assert_int_equal(WEIR_TIMER_POSTED, c.outcomes[0]);
    const weir_timer timer =
        bed_add(&b, 2, WEIR_TIMER(.after = 500 * WEIR_MS, .hook = call, .context = &c));
    assert_int_equal(WEIR_OK, weir_processor_stop(b.engine, b.to, 0, NULL));
    test_sem_wait(&c.came);
    assert_int_equal(WEIR_TIMER_FAILED_UNKNOWN, c.outcomes[1]);
    TEST_UNTIL(timer_outcome(b.engine, timer) == WEIR_TIMER_FAILED_UNKNOWN);
    assert_int_equal(WEIR_LATE, weir_timer_cancel(b.engine, timer));
    assert_books_balance(b.engine);
    test_engine_end(b.engine);
}

static void to_a_full_mailbox_it_fails_and_a_repeating_one_goes_on(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, true);
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = test_recorder_handle,
                                                  .argument = &recorder, .mailbox_max = 1));
    weir_timer timer, once;
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, to, 1));
    test_sem_wait(&recorder.entered);
    assert_int_equal(WEIR_OK, test_post(engine, to, 2));
    assert_int_equal(WEIR_OK, weir_timer_add(engine, to, WEIR_EVENT(number, 3),
                                             WEIR_TIMER(.after = WEIR_MS), &once));
    TEST_UNTIL(timer_outcome(engine, once) == WEIR_TIMER_FAILED_FULL);
    assert_int_equal(WEIR_OK, weir_timer_add(engine, to, WEIR_EVENT(number, 4),
                                             WEIR_TIMER(.every = WEIR_MS), &timer));
    TEST_UNTIL(timer_counters(engine).failed_full >= 3);
    assert_int_equal(WEIR_TIMER_PENDING, timer_outcome(engine, timer));
    test_recorder_pass(&recorder, 1000);
    TEST_UNTIL(test_recorder_handled(&recorder) >= 4);
    (void)weir_timer_cancel(engine, timer);
    TEST_UNTIL(timer_outcome(engine, timer) == WEIR_TIMER_CANCELLED);
    test_recorder_pass(&recorder, 1000);
    test_engine_end(engine);
}

static void a_repeating_one_ends_with_its_receiver(void **state)
{
    (void)state;
    bed b;
    bed_make(&b, NULL, 0);
    const weir_timer timer = bed_add(&b, 1, WEIR_TIMER(.every = WEIR_MS));
    test_sem_wait(&b.receiver.came);
    assert_int_equal(WEIR_OK, weir_processor_stop(b.engine, b.to, 0, NULL));
    TEST_UNTIL(timer_outcome(b.engine, timer) == WEIR_TIMER_FAILED_UNKNOWN);
    assert_int_equal(0, timer_counters(b.engine).pending);
    assert_int_equal(WEIR_UNKNOWN, weir_timer_add(b.engine, b.to, WEIR_EVENT(number, 1),
                                                  WEIR_TIMER(.after = WEIR_MS), NULL));
    test_engine_end(b.engine);
}

static void a_reserved_place_cannot_be_refused_and_a_cancel_gives_it_back(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, true);
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = test_recorder_handle,
                                                  .argument = &recorder, .mailbox_max = 2));
    weir_timer first, second;
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, to, 1));
    test_sem_wait(&recorder.entered);
    const weir_timer_options *reserved =
        WEIR_TIMER(.at = weir_time_now(engine) + 500 * WEIR_MS, .reserve = true);
    assert_int_equal(WEIR_OK, weir_timer_add(engine, to, WEIR_EVENT(number, 2), reserved, &first));
    assert_int_equal(WEIR_OK, weir_timer_add(engine, to, WEIR_EVENT(number, 3), reserved, &second));
    assert_int_equal(WEIR_FULL, weir_timer_add(engine, to, WEIR_EVENT(number, 9), reserved, NULL));
    assert_int_equal(WEIR_FULL, test_post(engine, to, 9));
    assert_int_equal(WEIR_OK, weir_timer_cancel(engine, first));
    assert_int_equal(WEIR_OK, test_post(engine, to, 4));
    assert_int_equal(WEIR_FULL, test_post(engine, to, 9));
    TEST_UNTIL(timer_outcome(engine, second) == WEIR_TIMER_POSTED);
    test_recorder_pass(&recorder, 3);
    TEST_UNTIL(test_recorder_handled(&recorder) == 3);
    assert_int_equal(1, recorder.seen[0]);
    assert_int_equal(4, recorder.seen[1]);
    assert_int_equal(3, recorder.seen[2]);
    assert_int_equal(0, test_processor_counters(engine, to).rooms);
    test_engine_end(engine);
}

static void a_stop_cancels_those_that_are_pending_counts_them_and_tells_their_hooks(void **state)
{
    (void)state;
    static calls c;
    bed b;
    enum { COUNT = 2000 };
    bed_make(&b, NULL, 0);
    calls_init(&c, b.engine);
    for (uint64_t i = 0; i < COUNT; i++) {
        (void)bed_add(&b, i,
                      i % 2 == 0 ? WEIR_TIMER(.after = 3600 * WEIR_S)
                                 : WEIR_TIMER(.every = 3600 * WEIR_S, .tag = i));
    }
    const weir_timer last =
        bed_add(&b, 1, WEIR_TIMER(.after = 9 * WEIR_S, .hook = call, .context = &c));
    (void)bed_add(&b, 1, WEIR_TIMER(.after = 9 * WEIR_S, .reserve = true));
    assert_int_equal(0, test_engine_stop(b.engine).accepted);
    assert_int_equal(1, atomic_load(&c.count));
    assert_int_equal(WEIR_TIMER_CANCELLED, c.outcomes[0]);
    const weir_timer_counters counters = timer_counters(b.engine);
    assert_int_equal(COUNT + 2, counters.stopped);
    assert_int_equal(0, counters.pending);
    assert_int_equal(0, counters.cancelled);
    assert_int_equal(WEIR_UNKNOWN, weir_timer_cancel(b.engine, last));
    assert_int_equal(WEIR_STOPPING, weir_timer_add(b.engine, b.to, WEIR_EVENT(number, 1),
                                                   WEIR_TIMER(.after = WEIR_MS), NULL));
    weir_engine_destroy(b.engine);
}

static void before_the_start_it_waits_in_the_mailbox(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, false);
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &recorder));
    weir_timer timer;
    assert_int_equal(WEIR_OK, weir_timer_add(engine, to, WEIR_EVENT(number, 4),
                                             WEIR_TIMER(.after = WEIR_MS), &timer));
    TEST_UNTIL(timer_outcome(engine, timer) == WEIR_TIMER_POSTED);
    test_engine_start(engine);
    TEST_UNTIL(test_recorder_handled(&recorder) == 1);
    test_engine_end(engine);
}

static void an_engine_that_was_never_started_ends_with_its_timers(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    static calls c;
    calls_init(&c, engine);
    assert_int_equal(WEIR_OK,
                     weir_timer_add(engine, (weir_processor){ 0 }, NULL,
                                    WEIR_TIMER(.after = 3600 * WEIR_S, .hook = call, .context = &c),
                                    NULL));
    weir_engine_destroy(engine);
    assert_int_equal(WEIR_TIMER_CANCELLED, c.outcomes[0]);
}

static void large_payloads_and_blocks_come_whole_each_time(void **state)
{
    (void)state;
    test_recorder unused;
    (void)unused;
    bed b;
    bed_make(&b, NULL, 0);
    static unsigned char bytes[1000];
    memset(bytes, 0x5a, sizeof(bytes));
    weir_block *block;
    assert_int_equal(WEIR_OK, weir_block_reserve(b.engine, 4000, &block));
    memset(weir_block_data(block), 1, 4000);
    weir_timer first, second, third;
    const weir_event copied = { .type = &weir_bytes_type, .data = bytes, .size = sizeof(bytes) };
    const weir_event shared = {
        .type = &weir_bytes_type, .data = weir_block_data(block), .block = block, .size = 4000
    };
    assert_int_equal(WEIR_OK,
                     weir_timer_add(b.engine, b.to, &copied, WEIR_TIMER(.every = WEIR_MS), &first));
    assert_int_equal(WEIR_OK, weir_timer_add(b.engine, b.to, &shared,
                                             WEIR_TIMER(.after = WEIR_MS, .tag = 3), &second));
    assert_int_equal(WEIR_OK,
                     weir_timer_add(b.engine, b.to, &shared,
                                    WEIR_TIMER(.after = 3600 * WEIR_S, .reserve = true), &third));
    weir_block_release(block);
    for (int i = 0; i < 10; i++) {
        test_sem_wait(&b.receiver.came);
    }
    assert_int_equal(WEIR_OK, weir_timer_cancel(b.engine, third));
    (void)weir_timer_cancel(b.engine, first);
    TEST_UNTIL(timer_outcome(b.engine, first) == WEIR_TIMER_CANCELLED);
    TEST_UNTIL(test_engine_counters(b.engine).depth == 0 &&
               test_engine_counters(b.engine).block_bytes == 0);
    test_engine_end(b.engine);
}

static void so_many_as_timers_max_are_pending_and_not_one_more(void **state)
{
    (void)state;
    enum { MOST = 1000 };
    static weir_timer timers[MOST];
    bed b;
    bed_make(&b, WEIR_ENGINE(.timers_max = MOST, .scheduler_threads = 3), 0);
    for (int round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < MOST; i++) {
            timers[i] = bed_add(&b, i, WEIR_TIMER(.after = 3600 * WEIR_S));
        }
        assert_int_equal(WEIR_E_LIMIT, weir_timer_add(b.engine, b.to, WEIR_EVENT(number, 1),
                                                      WEIR_TIMER(.after = WEIR_S), NULL));
        for (uint64_t i = 0; i < MOST; i++) {
            assert_int_equal(WEIR_OK, weir_timer_cancel(b.engine, timers[i]));
        }
    }
    assert_books_balance(b.engine);
    test_engine_end(b.engine);
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    bed b, other;
    bed_make(&b, NULL, 0);
    bed_make(&other, NULL, 0);
    const weir_event *event = WEIR_EVENT(number, 1);
    const weir_timer_options *wrong[] = {
        NULL,
        WEIR_TIMER(.tag = 1),
        WEIR_TIMER(.after = WEIR_S, .at = WEIR_S),
        WEIR_TIMER(.after = -5),
        WEIR_TIMER(.at = -1),
        WEIR_TIMER(.every = 999),
        WEIR_TIMER(.every = -WEIR_S),
        WEIR_TIMER(.every = WEIR_S, .reserve = true),
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        weir_timer timer = { 1 };
        assert_int_equal(WEIR_E_INVALID, weir_timer_add(b.engine, b.to, event, wrong[i], &timer));
        assert_int_equal(0, timer.id);
    }
    const weir_timer_options *good = WEIR_TIMER(.after = WEIR_S);
    weir_timer_outcome outcome;
    assert_int_equal(WEIR_E_INVALID, weir_timer_add(NULL, b.to, event, good, NULL));
    assert_int_equal(WEIR_E_INVALID, weir_timer_add(b.engine, b.to, NULL, good, NULL));
    assert_int_equal(WEIR_E_INVALID,
                     weir_timer_add(b.engine, b.to, &(weir_event){ .size = 1 }, good, NULL));
    assert_int_equal(
        WEIR_E_TYPE,
        weir_timer_add(b.engine, b.to, &(weir_event){ .type = &number_type }, good, NULL));
    assert_int_equal(WEIR_UNKNOWN, weir_timer_add(b.engine, other.to, event, good, NULL));
    assert_int_equal(WEIR_E_INVALID, weir_timer_cancel(NULL, (weir_timer){ 1 }));
    assert_int_equal(WEIR_UNKNOWN, weir_timer_cancel(b.engine, (weir_timer){ 0 }));
    assert_int_equal(WEIR_UNKNOWN, weir_timer_cancel(b.engine, (weir_timer){ UINT64_MAX }));
    assert_int_equal(WEIR_E_INVALID, weir_timer_outcome_get(b.engine, (weir_timer){ 1 }, NULL));
    assert_int_equal(WEIR_UNKNOWN, weir_timer_outcome_get(b.engine, (weir_timer){ 1 }, &outcome));
    assert_int_equal(WEIR_E_INVALID, weir_timer_counters_get(NULL, NULL));
    assert_int_equal(WEIR_E_INVALID, weir_timer_counters_get(b.engine, NULL));
    const weir_timer timer = bed_add(&b, 1, WEIR_TIMER(.after = 3600 * WEIR_S));
    assert_int_equal(WEIR_UNKNOWN, weir_timer_cancel(other.engine, timer));
    assert_int_equal(WEIR_TIMER_PENDING, timer_outcome(b.engine, timer));
    assert_string_equal("failed-full", weir_timer_outcome_name(WEIR_TIMER_FAILED_FULL));
    assert_string_equal("no outcome", weir_timer_outcome_name((weir_timer_outcome)99));
    test_engine_end(b.engine);
    test_engine_end(other.engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_comes_after_its_time_once_from_the_receiver_itself),
        cmocka_unit_test(at_is_a_moment_of_the_engines_clock_and_the_past_is_now),
        cmocka_unit_test(a_tag_comes_back_with_the_event),
        cmocka_unit_test(a_cancelled_one_never_comes_and_says_so_once),
        cmocka_unit_test(a_repeating_one_keeps_its_rate_without_drift_over_10000_periods),
        cmocka_unit_test(a_fixed_delay_is_counted_from_the_last_time),
        cmocka_unit_test(a_hook_is_called_with_its_timer_and_may_not_wait),
        cmocka_unit_test(a_hook_that_takes_long_misses_times_at_a_rate_and_none_with_a_delay),
        cmocka_unit_test(a_hook_may_cancel_its_own_timer),
        cmocka_unit_test(a_hook_beside_an_event_is_told_what_became_of_it),
        cmocka_unit_test(to_a_full_mailbox_it_fails_and_a_repeating_one_goes_on),
        cmocka_unit_test(a_repeating_one_ends_with_its_receiver),
        cmocka_unit_test(a_reserved_place_cannot_be_refused_and_a_cancel_gives_it_back),
        cmocka_unit_test(a_stop_cancels_those_that_are_pending_counts_them_and_tells_their_hooks),
        cmocka_unit_test(before_the_start_it_waits_in_the_mailbox),
        cmocka_unit_test(an_engine_that_was_never_started_ends_with_its_timers),
        cmocka_unit_test(large_payloads_and_blocks_come_whole_each_time),
        cmocka_unit_test(so_many_as_timers_max_are_pending_and_not_one_more),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
