/*
 * fairness_test.c - how work is shared among the threads of one dispatcher. SPEC: S-05.
 *
 * Fair mode: equal shares and first waiting, first woken. Default mode: no equal shares promised,
 * but every thread is active for a good part of the time. Both are measured by the handlers
 * themselves (a page per thread) and compared with what the engine says of its threads.
 *
 * Shares depend on what the system gives the threads, and the machine of a check is small and
 * shared: a measurement is tried up to ATTEMPTS times and the best one counts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine_support.h"

enum { THREADS = 8, PROCESSORS = 64, ATTEMPTS = 5 };

/* What one engine thread did, written by it alone, read after the stop. */
typedef struct page {
    uint64_t handled;
    int64_t first, last;
} page;

typedef struct diary {
    page pages[THREADS];
    _Atomic uint32_t used;
    _Atomic uint32_t edition; /* so that a thread of an earlier engine finds no old page */
    int64_t busy_ns;
} diary;

static diary the_diary;

static page *diary_page(void)
{
    static _Thread_local page *mine;
    static _Thread_local uint32_t edition;
    const uint32_t current = atomic_load_explicit(&the_diary.edition, memory_order_relaxed);
    if (mine == NULL || edition != current) {
        const uint32_t index = atomic_fetch_add(&the_diary.used, 1);
        mine = index < THREADS ? &the_diary.pages[index] : NULL;
        edition = current;
    }
    return mine;
}

static weir_status work(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    page *mine = diary_page();
    const int64_t begin = now_ns();
    busy_for_ns(the_diary.busy_ns);
    if (mine != NULL) {
        mine->first = mine->handled == 0 ? begin : mine->first;
        mine->last = now_ns();
        mine->handled++;
    }
    return WEIR_OK;
}

static void diary_clear(int64_t busy_ns)
{
    memset(the_diary.pages, 0, sizeof(the_diary.pages));
    atomic_store(&the_diary.used, 0);
    atomic_fetch_add(&the_diary.edition, 1);
    the_diary.busy_ns = busy_ns;
}

/* Runs `events` events that wait in 64 mailboxes when the threads start: a second or so of work
 * for all. `counters` gets what the engine says of each thread. */
static void run_load(bool fair, uint64_t events, int64_t busy_ns, weir_thread_counters *counters)
{
    weir_thread threads[THREADS];
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = engine_make(WEIR_ENGINE(.log_level = WEIR_LOG_OFF, .batch_max = 4));
    diary_clear(busy_ns);
    engine_add_threads(engine, "", THREADS, WEIR_IDLE_DEFAULT, threads);
    if (fair) {
        assert_int_equal(WEIR_OK, weir_dispatcher_tune(
                                      engine, WEIR_DISPATCHER(.name = "", .fair = true), &error));
        assert_no_error(&error);
    }
    weir_processor targets[PROCESSORS];
    for (size_t i = 0; i < PROCESSORS; i++) {
        targets[i] = engine_add(engine, WEIR_PROCESSOR(.handler = work));
    }
    for (uint64_t i = 0; i < events; i++) {
        assert_int_equal(WEIR_OK,
                         weir_engine_post(engine, targets[i % PROCESSORS], WEIR_EVENT(mark, 0)));
    }
    engine_start(engine);
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_OK, weir_engine_stop(engine, 0, &report));
    assert_int_equal(events, report.handled);
    for (size_t i = 0; i < THREADS; i++) {
        counters[i] = (weir_thread_counters)WEIR_THREAD_COUNTERS_INIT;
        assert_int_equal(WEIR_OK, weir_thread_counters_get(engine, threads[i], &counters[i]));
    }
    weir_engine_destroy(engine);
}

/* The farthest that a share is from the mean, as a part of the mean. */
static double worst_share(const uint64_t *handled, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += handled[i];
    }
    const double mean = (double)sum / (double)count;
    double worst = 0;
    for (size_t i = 0; i < count; i++) {
        const double off =
            (double)handled[i] > mean ? (double)handled[i] - mean : mean - (double)handled[i];
        worst = off / mean > worst ? off / mean : worst;
    }
    return worst;
}

static int compare_u64(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The engine's figures are those of the diary, thread for thread (in what order is its matter). */
static void assert_same_books(const weir_thread_counters *counters)
{
    uint64_t mine[THREADS], its[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        mine[i] = the_diary.pages[i].handled;
        its[i] = counters[i].handled;
    }
    qsort(mine, THREADS, sizeof(mine[0]), compare_u64);
    qsort(its, THREADS, sizeof(its[0]), compare_u64);
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(mine[i], its[i]);
    }
}

static void
in_fair_mode_the_share_of_each_of_eight_threads_is_within_30_percent_of_the_mean(void **unused)
{
    (void)unused;
    const uint64_t events = test_scaled(40000, 2);
    double best = 1e9;
    for (int attempt = 0; attempt < ATTEMPTS && best > 0.30; attempt++) {
        weir_thread_counters counters[THREADS];
        uint64_t handled[THREADS];
        run_load(true, events, 40000, counters);
        assert_same_books(counters);
        for (size_t i = 0; i < THREADS; i++) {
            handled[i] = the_diary.pages[i].handled;
        }
        const double worst = worst_share(handled, THREADS);
        best = worst < best ? worst : best;
    }
    fprintf(stderr, "# farthest from the mean: %.1f %%\n", best * 100);
    assert_true(best <= 0.30);
}

/* Eight parked threads, one event at a time, the next one when all are parked again: in fair mode
 * the one that has waited longest is woken, so everybody has a turn in every round of eight. */
static void in_fair_mode_the_thread_that_waited_first_is_woken_first(void **unused)
{
    (void)unused;
    enum { ROUNDS = 12 };
    static ledger book;
    static collector c;
    weir_thread threads[THREADS];
    pid_t tids[THREADS];
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = engine_quiet();
    engine_add_threads(engine, "", THREADS, WEIR_IDLE_PARK, threads);
    (void)weir_dispatcher_tune(engine, WEIR_DISPATCHER(.name = "", .fair = true), &error);
    assert_no_error(&error);
    c = (collector){ .book = &book };
    const weir_processor p = engine_add(engine, WEIR_PROCESSOR(.handler = collect, .argument = &c));
    engine_start(engine);
    engine_thread_ids(engine, threads, THREADS, tids);
    assert_true(tasks_settle(tids, THREADS, 2000000));
    uint64_t before[THREADS], after[THREADS];
    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < THREADS; i++) {
            before[i] = task_switches(tids[i]);
        }
        for (size_t i = 0; i < THREADS; i++) {
            ledger_open(&book, 1);
            assert_int_equal(WEIR_OK, weir_engine_post(engine, p, WEIR_EVENT(mark, 0)));
            assert_true(goal_wait(&book.done));
            assert_true(tasks_settle(tids, THREADS, 1000000));
            ledger_close(&book);
        }
        for (size_t i = 0; i < THREADS; i++) { /* woken: the system itself saw it run */
            after[i] = task_switches(tids[i]);
            assert_true(after[i] > before[i]);
        }
    }
    uint64_t handled[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        weir_thread_counters counters = WEIR_THREAD_COUNTERS_INIT;
        assert_int_equal(WEIR_OK, weir_thread_counters_get(engine, threads[i], &counters));
        handled[i] = counters.handled;
    }
    assert_int_equal(THREADS, c.thread_count);
    assert_true(worst_share(handled, THREADS) <= 0.30);
    engine_finish(engine, ROUNDS * THREADS);
}

static void
in_default_mode_every_threads_active_span_is_at_least_10_percent_of_the_longest(void **unused)
{
    (void)unused;
    const uint64_t events = test_scaled(40000, 2);
    double best = 0;
    for (int attempt = 0; attempt < ATTEMPTS && best < 0.10; attempt++) {
        weir_thread_counters counters[THREADS];
        run_load(false, events, 40000, counters);
        assert_same_books(counters);
        int64_t longest = 0, shortest = INT64_MAX;
        for (size_t i = 0; i < THREADS; i++) {
            const page *p = &the_diary.pages[i];
            const int64_t span = p->handled > 0 ? p->last - p->first : 0;
            longest = span > longest ? span : longest;
            shortest = span < shortest ? span : shortest;
            if (counters[i].handled > 0) {
                assert_true(counters[i].first_work > 0);
                assert_true(counters[i].last_work >= counters[i].first_work);
            }
        }
        const double part = longest > 0 ? (double)shortest / (double)longest : 0;
        best = part > best ? part : best;
    }
    fprintf(stderr, "# shortest span: %.1f %% of the longest\n", best * 100);
    assert_true(best >= 0.10);
}

/* No processor starves: with far more ready processors than threads, all go on together. When one
 * has finished its mail, no other can be far behind. */
enum { RUNNERS = 40, MAIL = 2000 };

typedef struct runner {
    uint64_t handled;
    struct race *race;
} runner;

typedef struct race {
    runner runners[RUNNERS];
    _Atomic uint64_t progress[RUNNERS];
    _Atomic uint64_t slowest_when_first_finished; /* + 1; 0: nobody has */
} race;

static weir_status run(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    runner *r = state;
    race *all = r->race;
    busy_for_ns(2000);
    atomic_store_explicit(&all->progress[r - all->runners], ++r->handled, memory_order_relaxed);
    if (r->handled < MAIL) {
        return WEIR_OK;
    }
    uint64_t slowest = MAIL;
    for (size_t i = 0; i < RUNNERS; i++) {
        const uint64_t p = atomic_load_explicit(&all->progress[i], memory_order_relaxed);
        slowest = p < slowest ? p : slowest;
    }
    uint64_t none = 0;
    (void)atomic_compare_exchange_strong(&all->slowest_when_first_finished, &none, slowest + 1);
    return WEIR_OK;
}

static void no_processor_starves_in_either_mode(void **unused)
{
    (void)unused;
    static race all;
    for (int fair = 0; fair < 2; fair++) {
        uint64_t best = 0;
        for (int attempt = 0; attempt < ATTEMPTS && best < MAIL / 2; attempt++) {
            weir_error error = WEIR_ERROR_INIT;
            weir_engine *engine =
                engine_make(WEIR_ENGINE(.log_level = WEIR_LOG_OFF, .batch_max = 10));
            engine_add_threads(engine, "", 4, WEIR_IDLE_DEFAULT, NULL);
            (void)weir_dispatcher_tune(engine, WEIR_DISPATCHER(.name = "", .fair = fair == 1),
                                       &error);
            assert_no_error(&error);
            atomic_store(&all.slowest_when_first_finished, 0);
            for (size_t i = 0; i < RUNNERS; i++) {
                all.runners[i] = (runner){ 0, &all };
                atomic_store(&all.progress[i], 0);
                const weir_processor p =
                    engine_add(engine, WEIR_PROCESSOR(.handler = run, .argument = &all.runners[i]));
                for (int n = 0; n < MAIL; n++) {
                    assert_int_equal(WEIR_OK, weir_engine_post(engine, p, WEIR_EVENT(mark, 0)));
                }
            }
            engine_start(engine);
            engine_finish(engine, RUNNERS * MAIL);
            const uint64_t slowest = atomic_load(&all.slowest_when_first_finished) - 1;
            best = slowest > best ? slowest : best;
        }
        fprintf(stderr, "# slowest at %" PRIu64 " of %d when the first was done\n", best, MAIL);
        assert_true(best >= MAIL / 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            in_fair_mode_the_share_of_each_of_eight_threads_is_within_30_percent_of_the_mean),
        cmocka_unit_test(in_fair_mode_the_thread_that_waited_first_is_woken_first),
        cmocka_unit_test(
            in_default_mode_every_threads_active_span_is_at_least_10_percent_of_the_longest),
        cmocka_unit_test(no_processor_starves_in_either_mode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
