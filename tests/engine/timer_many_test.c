/*
 * timer_many_test.c - many timers: never early, exact outcomes when cancel meets fire, a million
 * pending within 128 bytes each, memory that goes with them, an idle wheel that does not tick.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "timer_support.h"

#include <dirent.h>

/* ---- never early ---- */

typedef struct due {
    weir_ns at;
    uint64_t number;
} due;
WEIR_EVENT_TYPE(due, "test.due");

typedef struct watcher {
    weir_engine *engine;
    uint64_t early, handled, expected;
    weir_ns late_max;
    uint64_t late[7]; /* below 10 us, 100 us, 1 ms, 10 ms, 100 ms, 1 s, more */
    sem_t done;
} watcher;

static weir_status watch(void *state, weir_turn *turn, const weir_event *event)
{
    watcher *w = state;
    const due *d = weir_event_as(event, &due_type);
    const weir_ns late = weir_time_now(weir_turn_engine(turn)) - d->at;
    w->early += late < 0 ? 1 : 0;
    w->late_max = late > w->late_max ? late : w->late_max;
    size_t bucket = 0;
    for (weir_ns bound = 10 * WEIR_US; bucket < 6 && late >= bound; bound *= 10) {
        bucket++;
    }
    w->late[bucket]++;
    if (++w->handled == w->expected) {
        (void)sem_post(&w->done);
    }
    return WEIR_OK;
}

static void of_100000_random_timers_none_is_early(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    watcher w = { .expected = test_load(100000, 20000) };
    weir_engine *engine = test_engine_create(NULL);
    assert_int_equal(0, sem_init(&w.done, 0, 0));
    const weir_processor to = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = watch, .argument = &w, .mailbox_max = 1000000));
    test_engine_start(engine);
    for (uint64_t i = 0; i < w.expected; i++) {
        const uint32_t bits = 1 + (uint32_t)(test_random(&random) % 31); /* to 2 s */
        const weir_ns after = (weir_ns)(test_random(&random) & ((UINT64_C(1) << bits) - 1));
        const weir_ns at = weir_time_now(engine) + after;
        assert_int_equal(WEIR_OK, weir_timer_add(engine, to, WEIR_EVENT(due, at, i),
                                                 WEIR_TIMER(.at = at), NULL));
    }
    test_sem_wait(&w.done);
    const weir_timer_counters c = timer_counters(engine);
    test_engine_end(engine);
    assert_int_equal(0, w.early);
    assert_int_equal(w.expected, w.handled);
    fprintf(stderr,
            "# handled late by < 10 us %llu, < 100 us %llu, < 1 ms %llu, < 10 ms %llu, "
            "< 100 ms %llu, < 1 s %llu, more %llu; most %lld ns\n",
            (unsigned long long)w.late[0], (unsigned long long)w.late[1],
            (unsigned long long)w.late[2], (unsigned long long)w.late[3],
            (unsigned long long)w.late[4], (unsigned long long)w.late[5],
            (unsigned long long)w.late[6], (long long)w.late_max);
    fprintf(stderr, "# posted late by p50 %lld p99 %lld p99.9 %lld max %lld ns\n",
            (long long)c.late_p50, (long long)c.late_p99, (long long)c.late_p999,
            (long long)c.late_max);
}

/* ---- what has no event ---- */

static void count_posted(void *context, weir_timer timer, weir_timer_outcome outcome)
{
    (void)timer;
    if (outcome == WEIR_TIMER_POSTED) {
        (void)sem_post(context);
    }
}

/* Its load is shorter: what only events have would lie in the next one's. */
static void a_hook_leaves_its_neighbours_alone_whatever_its_tag(void **state)
{
    (void)state;
    enum { HOOKS = 1000 };
    weir_engine *engine = test_engine_create(NULL);
    weir_timer timers[HOOKS];
    sem_t called;
    assert_int_equal(0, sem_init(&called, 0, 0));
    test_engine_start(engine);
    const weir_ns at = weir_time_now(engine) + 200 * WEIR_MS;
    for (int again = 0; again < 2; again++) { /* then in places between others */
        for (size_t i = 0; i < HOOKS; i += 1 + (size_t)again) {
            assert_int_equal(WEIR_OK,
                             weir_timer_add(engine, (weir_processor){ 0 }, NULL,
                                            WEIR_TIMER(.at = at, .tag = UINT64_MAX,
                                                       .hook = count_posted, .context = &called),
                                            &timers[i]));
        }
        for (size_t i = 0; again == 0 && i < HOOKS; i += 2) {
            assert_int_equal(WEIR_OK, weir_timer_cancel(engine, timers[i]));
        }
    }
    for (size_t i = 0; i < HOOKS; i++) {
        test_sem_wait(&called);
    }
    assert_int_equal(HOOKS, timer_counters(engine).posted);
    test_engine_end(engine);
}

/* ---- cancel against fire ---- */

enum { RACES_AT_ONCE = 64 };

typedef struct race_book {
    atomic_uint_least32_t *came; /* how often each came */
    uint64_t count;
} race_book;

static weir_status note_race(void *state, weir_turn *turn, const weir_event *event)
{
    race_book *book = state;
    const number *n = weir_event_as(event, &number_type);
    (void)turn;
    if (n != NULL && n->value < book->count) {
        atomic_fetch_add(&book->came[n->value], 1);
    }
    return WEIR_OK;
}

static void of_200000_that_are_cancelled_as_they_fire_each_has_one_outcome(void **state)
{
    (void)state;
    race_book book = { .count = test_load(200000, 20000) };
    uint64_t random = test_seed();
    book.came = calloc(book.count, sizeof(*book.came));
    weir_status *answers = calloc(book.count, sizeof(*answers));
    assert_non_null(book.came);
    assert_non_null(answers);
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = note_race, .argument = &book, .mailbox_max = 1000000));
    uint64_t in_time = 0;
    test_engine_start(engine);
    for (uint64_t i = 0; i < book.count; i += RACES_AT_ONCE) {
        weir_timer timers[RACES_AT_ONCE];
        const uint64_t here = book.count - i < RACES_AT_ONCE ? book.count - i : RACES_AT_ONCE;
        const weir_ns at = weir_time_now(engine) + 20 * WEIR_US;
        for (uint64_t k = 0; k < here; k++) {
            assert_int_equal(WEIR_OK,
                             weir_timer_add(engine, to, WEIR_EVENT(number, i + k),
                                            WEIR_TIMER(.at = at + (weir_ns)(k * 500)), &timers[k]));
        }
        const weir_ns begin = at + (weir_ns)(test_random(&random) % 80000);
        while (weir_time_now(engine) < begin) {
        }
        for (uint64_t k = 0; k < here; k++) {
            answers[i + k] = weir_timer_cancel(engine, timers[k]);
        }
    }
    TEST_UNTIL(all_have_ended(engine)); /* else the stop is the outcome of the last */
    const weir_stop_report report = test_engine_stop(engine);
    for (uint64_t i = 0; i < book.count; i++) {
        const uint32_t came = atomic_load(&book.came[i]);
        in_time += answers[i] == WEIR_OK ? 1 : 0;
        assert_true(answers[i] == WEIR_OK || answers[i] == WEIR_LATE);
        assert_int_equal(answers[i] == WEIR_OK ? 0 : 1, came);
    }
    const weir_timer_counters c = timer_counters(engine);
    assert_int_equal(book.count, c.added);
    assert_int_equal(in_time, c.cancelled);
    assert_int_equal(book.count - in_time, c.posted);
    assert_int_equal(c.posted, report.handled);
    assert_books_balance(engine);
    fprintf(stderr, "# %llu of %llu were cancelled in time\n", (unsigned long long)in_time,
            (unsigned long long)book.count);
    weir_engine_destroy(engine);
    free(book.came);
    free(answers);
}

/* ---- memory ---- */

typedef struct meter {
    atomic_uint_least64_t bytes, calls;
    atomic_uint_least64_t fails_at; /* 0: never */
} meter;

static void *meter_allocate(void *context, size_t size, size_t alignment)
{
    meter *m = context;
    if (atomic_fetch_add(&m->calls, 1) + 1 == atomic_load(&m->fails_at)) {
        return NULL;
    }
    void *memory = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (memory != NULL) {
        atomic_fetch_add(&m->bytes, size);
    }
    return memory;
}

static void meter_release(void *context, void *memory, size_t size)
{
    meter *m = context;
    atomic_fetch_sub(&m->bytes, size);
    free(memory);
}

static void a_million_pending_take_128_bytes_each_at_most_and_give_them_back(void **state)
{
    (void)state;
    const uint64_t count = test_load(1000000, 100000);
    meter m = { 0 };
    const weir_allocator allocator = { meter_allocate, meter_release, &m };
    weir_timer *timers = calloc(count, sizeof(*timers));
    bed b;
    assert_non_null(timers);
    bed_make(&b, WEIR_ENGINE(.allocator = &allocator), 0);
    timers[0] = bed_add(&b, 0, WEIR_TIMER(.after = 3600 * WEIR_S));
    assert_int_equal(WEIR_OK, weir_timer_cancel(b.engine, timers[0]));
    for (int round = 0; round < 3; round++) {
        const uint64_t before = atomic_load(&m.bytes);
        for (uint64_t i = 0; i < count; i++) {
            timers[i] = bed_add(&b, i, WEIR_TIMER(.after = 3600 * WEIR_S + (weir_ns)i * WEIR_MS));
        }
        assert_int_equal(count, timer_counters(b.engine).pending);
        const uint64_t full = atomic_load(&m.bytes);
        if (round == 0) {
            fprintf(stderr, "# %.1f bytes each, all in all\n",
                    (double)timer_counters(b.engine).bytes / (double)count);
        }
        assert_true(full - before <= 128 * count);
        if (count >= 1000000) {
            assert_true(timer_counters(b.engine).bytes <= 128 * count);
        }
        for (uint64_t i = 0; i < count; i++) {
            /* In another order than they came. */
            const uint64_t at = (i * 7919) % count;
            assert_int_equal(WEIR_OK, weir_timer_cancel(b.engine, timers[at]));
        }
        assert_int_equal(0, timer_counters(b.engine).pending);
        assert_true(atomic_load(&m.bytes) <= before + 65536);
    }
    free(timers);
    test_engine_end(b.engine);
    assert_int_equal(0, atomic_load(&m.bytes));
}

static void a_wheel_whose_numbers_are_used_up_leaves_the_rest_to_the_next(void **state)
{
    (void)state;
    enum { MOST = 270000 }; /* 64 wheels share 2^24 numbers */
    weir_timer *timers = calloc(MOST, sizeof(*timers));
    bed b;
    assert_non_null(timers);
    bed_make(&b, WEIR_ENGINE(.scheduler_threads = 64, .timers_max = MOST), 0);
    for (uint64_t i = 0; i < MOST; i++) {
        timers[i] = bed_add(&b, i, WEIR_TIMER(.at = WEIR_FOREVER));
    }
    assert_int_equal(MOST, timer_counters(b.engine).pending);
    assert_int_equal(WEIR_E_LIMIT, weir_timer_add(b.engine, b.to, WEIR_EVENT(number, 1),
                                                  WEIR_TIMER(.after = WEIR_S), NULL));
    for (uint64_t i = 0; i < MOST; i++) {
        assert_int_equal(WEIR_OK, weir_timer_cancel(b.engine, timers[i]));
    }
    free(timers);
    test_engine_end(b.engine);
}

/* Everything that timers do, once; whatever is refused is refused for want of memory. */
static void use_timers(meter *m, weir_engine *engine, weir_processor to)
{
    static unsigned char bytes[500];
    weir_timer timers[4] = { { 0 } };
    const weir_event large = { .type = &weir_bytes_type, .data = bytes, .size = sizeof(bytes) };
    const weir_status statuses[] = {
        weir_timer_add(engine, to, WEIR_EVENT(number, 1), WEIR_TIMER(.after = WEIR_NOW),
                       &timers[0]),
        weir_timer_add(engine, to, &large, WEIR_TIMER(.after = WEIR_NOW, .tag = 1), &timers[1]),
        weir_timer_add(engine, to, &large, WEIR_TIMER(.after = 3600 * WEIR_S, .reserve = true),
                       &timers[2]),
        weir_timer_add(engine, to, &large, WEIR_TIMER(.every = 3600 * WEIR_S), &timers[3]),
    };
    for (size_t i = 0; i < 4; i++) {
        assert_true(statuses[i] == WEIR_OK || statuses[i] == WEIR_E_NOMEM);
        assert_true((statuses[i] == WEIR_OK) == (timers[i].id != 0));
    }
    if (timers[2].id != 0) {
        assert_int_equal(WEIR_OK, weir_timer_cancel(engine, timers[2]));
    }
    weir_timer_counters c = WEIR_TIMER_COUNTERS_INIT;
    TEST_UNTIL(weir_timer_counters_get(engine, &c) == WEIR_OK && c.pending <= 1 &&
               c.added == c.pending + c.posted + c.cancelled + c.failed_other);
    atomic_store(&m->fails_at, 0);
}

static void whichever_allocation_fails_nothing_is_lost_or_left(void **state)
{
    (void)state;
    for (uint64_t nth = 0;; nth++) {
        meter m = { 0 };
        receiver r;
        const weir_allocator allocator = { meter_allocate, meter_release, &m };
        memset(&r, 0, sizeof(r));
        assert_int_equal(0, sem_init(&r.came, 0, 0));
        weir_engine *engine = test_engine_create(WEIR_ENGINE(.allocator = &allocator));
        const weir_processor to =
            test_processor_add(engine, WEIR_PROCESSOR(.handler = receive, .argument = &r));
        test_engine_start(engine);
        const uint64_t before = atomic_load(&m.calls);
        atomic_store(&m.fails_at, nth != 0 ? before + nth : 0);
        weir_timer_counters c = WEIR_TIMER_COUNTERS_INIT;
        use_timers(&m, engine, to);
        const uint64_t calls = atomic_load(&m.calls) - before;
        assert_int_equal(WEIR_OK, weir_timer_counters_get(engine, &c));
        const weir_stop_report report = test_engine_end(engine);
        assert_int_equal(received(&r), report.handled);
        assert_int_equal(c.posted, report.handled);
        assert_int_equal(0, atomic_load(&m.bytes));
        if (nth != 0 && nth > calls + 8) {
            assert_true(nth > 8);
            return;
        }
    }
}

/* ---- an idle wheel ---- */

/* The threads of that name, by the system. */
static size_t find_tasks(const char *name, int *out, size_t max)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/task");
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL && count < max;) {
        char text[64] = "";
        const int task = (int)strtol(entry->d_name, NULL, 10);
        if (task > 0 && test_task_line(task, "status", "Name:", text, sizeof(text)) &&
            strcmp(text, name) == 0) {
            out[count++] = task;
        }
    }
    (void)closedir(folder);
    return count;
}

static uint64_t switches_of(int task)
{
    char text[64] = "0";
    assert_true(test_task_line(task, "status", "voluntary_ctxt_switches:", text, sizeof(text)));
    return strtoull(text, NULL, 10);
}

static void a_wheel_with_nothing_due_soon_sleeps_and_one_without_timers_for_ever(void **state)
{
    (void)state;
    bed b;
    int tasks[4];
    bed_make(&b, NULL, 0);
    assert_int_equal(0, find_tasks("weir-timer", tasks, 4)); /* none before the first timer */
    (void)bed_add(&b, 1, WEIR_TIMER(.after = WEIR_MS));
    test_sem_wait(&b.receiver.came);
    assert_int_equal(1, find_tasks("weir-timer", tasks, 4)); /* one wheel for one thread */
    TEST_UNTIL(timer_counters(b.engine).pending == 0 && test_task_sleeps(tasks[0]));
    for (int far = 0; far < 2; far++) {
        if (far == 1) {
            (void)bed_add(&b, 2, WEIR_TIMER(.after = 3600 * WEIR_S));
        }
        uint64_t before;
        weir_ns since;
        /* Quiet for a fifth of a second: a wheel that ticks never is. */
        do {
            before = switches_of(tasks[0]);
            since = test_now();
            while (test_now() < since + WEIR_S / 5 && switches_of(tasks[0]) == before) {
                (void)sched_yield();
            }
        } while (switches_of(tasks[0]) != before && test_now() < since + 20 * WEIR_S);
        assert_int_equal(before, switches_of(tasks[0]));
    }
    test_engine_end(b.engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_100000_random_timers_none_is_early),
        cmocka_unit_test(a_hook_leaves_its_neighbours_alone_whatever_its_tag),
        cmocka_unit_test(of_200000_that_are_cancelled_as_they_fire_each_has_one_outcome),
        cmocka_unit_test(a_million_pending_take_128_bytes_each_at_most_and_give_them_back),
        cmocka_unit_test(a_wheel_whose_numbers_are_used_up_leaves_the_rest_to_the_next),
        cmocka_unit_test(whichever_allocation_fails_nothing_is_lost_or_left),
        cmocka_unit_test(a_wheel_with_nothing_due_soon_sleeps_and_one_without_timers_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
