/*
 * monotonic_test.c - no counter of two looks in a row falls, whoever is busy, ends, and comes again
 * under the same name; and what processors have in all is what the engine has.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "metric_support.h"

enum { SERIES_MAX = 1 << 16, NAMES = 64, SOME = 300, CAP = 100 };

static scene s;

/* ---- two looks in a row ---- */

typedef struct seen {
    char *series; /* name{labels}; NULL: nothing here */
    double value;
} seen;

typedef struct memory {
    seen *before, *now; /* SERIES_MAX each, by the series' hash */
    uint32_t count, falls;
} memory;

static seen *place_of(seen *table, const char *series)
{
    uint64_t hash = UINT64_C(1469598103934665603);
    for (const char *at = series; *at != '\0'; at++) {
        hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
    }
    uint32_t i = (uint32_t)(hash >> 40) % SERIES_MAX;
    while (table[i].series != NULL && strcmp(table[i].series, series) != 0) {
        i = (i + 1) % SERIES_MAX;
    }
    return &table[i];
}

static void memory_open(memory *m)
{
    *m = (memory){ .before = calloc(SERIES_MAX, sizeof(seen)),
                   .now = calloc(SERIES_MAX, sizeof(seen)) };
    assert_non_null(m->before);
    assert_non_null(m->now);
}

static void forget(seen *table)
{
    for (uint32_t i = 0; i < SERIES_MAX; i++) {
        free(table[i].series);
        table[i] = (seen){ .series = NULL };
    }
}

static void memory_close(memory *m)
{
    forget(m->before);
    forget(m->now);
    free(m->before);
    free(m->now);
}

static bool note(void *context, const weir_metric *metric)
{
    memory *m = context;
    char series[1024];
    if (metric->kind != WEIR_METRIC_COUNTER || strncmp(metric->name, "weir_process_", 13) == 0) {
        return true; /* those of the process are the kernel's */
    }
    (void)snprintf(series, sizeof(series), "%s{%s}", metric->name, metric->labels);
    seen *now = place_of(m->now, series);
    if (now->series != NULL) {
        fprintf(stderr, "# twice: %s\n", series);
        m->falls++;
        return true;
    }
    const seen *before = place_of(m->before, series);
    if (before->series != NULL && before->value > metric->value) {
        fprintf(stderr, "# %s fell from %.0f to %.0f\n", series, before->value, metric->value);
        m->falls++;
    }
    *now = (seen){ strdup(series), metric->value };
    m->count++;
    return m->count < SERIES_MAX / 2;
}

/* False: some have fallen. */
static bool look(memory *m, uint32_t most)
{
    seen *const before = m->before;
    m->before = m->now;
    m->now = before;
    forget(m->now);
    m->count = 0;
    const weir_status status =
        weir_metric_visit(s.engine, WEIR_METRICS(.processors_max = most), note, m);
    return status == WEIR_OK && m->falls == 0 && m->count < SERIES_MAX / 2;
}

/* Of all series of that name whose labels have `part` in them. */
static double sum_of(const memory *m, const char *name, const char *part)
{
    double sum = 0;
    for (uint32_t i = 0; i < SERIES_MAX; i++) {
        const seen *one = &m->now[i];
        const size_t length = strlen(name);
        if (one->series != NULL && strncmp(one->series, name, length) == 0 &&
            one->series[length] == '{' && strstr(one->series, part) != NULL) {
            sum += one->value;
        }
    }
    return sum;
}

/* Nothing is under way. */
static void assert_adds_up(const memory *m)
{
    static const char *const figures[][2] = {
        { "accepted_total", "" },
        { "handled_total", "" },
        { "dropped_total", "reason=\"newest\"" },
        { "dropped_total", "reason=\"oldest\"" },
        { "dead_total", "reason=\"failed\"" },
        { "dead_total", "reason=\"stopped\"" },
        { "left_total", "" },
        { "failures_total", "" },
        { "retries_total", "" },
        { "restarts_total", "" },
    };
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
        char whole[64];
        char each[64];
        (void)snprintf(whole, sizeof(whole), "weir_%s", figures[i][0]);
        (void)snprintf(each, sizeof(each), "weir_processor_%s", figures[i][0]);
        const double all = sum_of(m, whole, figures[i][1]);
        const double parts = sum_of(m, each, figures[i][1]);
        if (all < parts || all > parts) {
            fprintf(stderr, "# %s{%s}: the engine has %.0f, its processors %.0f\n", figures[i][0],
                    figures[i][1], all, parts);
        }
        assert_true(all >= parts && all <= parts);
    }
}

static void come_to_rest(void)
{
    weir_counters c = WEIR_COUNTERS_INIT;
    TEST_UNTIL(weir_engine_counters(s.engine, &c) == WEIR_OK && c.depth == 0);
}

/* ---- processors ---- */

static weir_processor add_named(uint32_t i, uint32_t life)
{
    char name[NAMES];
    /* Every second one comes again under its name. */
    (void)snprintf(name, sizeof(name), i % 2 == 0 ? "p%u" : "p%u-%u", i, life);
    return scene_add(&s, WEIR_PROCESSOR(.name = name, .mailbox_max = 64,
                                        .overflow = i % 3 == 0 ? WEIR_OVERFLOW_DROP_OLDEST
                                                               : WEIR_OVERFLOW_DROP_NEWEST));
}

/* Full is no error here: it is counted. */
static void send(weir_processor to, const weir_event *event, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++) {
        const weir_status status = weir_engine_post(s.engine, to, event);
        (void)status;
    }
}

static void no_counter_falls_while_other_processors_become_busy_end_and_come(void **state)
{
    (void)state;
    const uint32_t count = TEST_SANITIZED != 0 ? 1000 : 10000;
    const uint32_t rounds = 20;
    weir_processor *all = calloc(count, sizeof(*all));
    memory few;
    memory usual;
    memory_open(&few);
    memory_open(&usual);
    scene_make(&s, WEIR_ENGINE(.name = "many", .threads = 2));
    for (uint32_t i = 0; i < count; i++) {
        all[i] = add_named(i, 0);
    }
    assert_int_equal(WEIR_OK, weir_engine_start(s.engine, &s.error));
    for (uint32_t round = 1; round <= rounds; round++) {
        for (uint32_t i = 0; i < SOME; i++) { /* others each time, and ever busier */
            const uint32_t at = (round * 7919 + i * 31) % count;
            send(all[at], i % 50 == 0 ? TOLD(fail) : TOLD(work), round * round);
        }
        for (uint32_t i = 0; i < SOME; i++) { /* some of them end, some of those come again */
            const uint32_t at = (round * 7919 + i * 31 * 3) % count;
            if (all[at].id != 0) {
                assert_int_equal(WEIR_OK, weir_processor_stop(s.engine, all[at], 0, NULL));
            }
            all[at] = i % 4 != 0 ? add_named(at, round) : (weir_processor){ 0 };
        }
        assert_true(look(&few, CAP));
        assert_true(look(&usual, 0));
    }
    come_to_rest();
    assert_true(look(&few, CAP));
    assert_true(look(&usual, 0));
    assert_adds_up(&few);
    assert_adds_up(&usual);
    assert_int_equal(WEIR_OK, weir_engine_stop(s.engine, 0, NULL));
    assert_true(look(&few, CAP));
    assert_true(look(&usual, 0));
    assert_adds_up(&few);
    assert_adds_up(&usual);
    scene_close(&s);
    memory_close(&few);
    memory_close(&usual);
    free(all);
}

static void who_is_much_busier_gets_the_row_of_who_is_least_busy(void **state)
{
    (void)state;
    memory m;
    memory_open(&m);
    scene_make(&s, WEIR_ENGINE(.name = "rows", .threads = 1));
    const weir_processor a = scene_add(&s, WEIR_PROCESSOR(.name = "a"));
    const weir_processor b = scene_add(&s, WEIR_PROCESSOR(.name = "b"));
    assert_int_equal(WEIR_OK, weir_engine_start(s.engine, &s.error));
    scene_post(&s, a, TOLD(work), 10);
    scene_post(&s, b, TOLD(work), 9);
    come_to_rest();
    assert_true(look(&m, 1));
    assert_true(sum_of(&m, "weir_processor_handled_total", "\"a\"") == 10);
    scene_post(&s, b, TOLD(work), 10); /* 19 to 10: not twice as busy */
    come_to_rest();
    assert_true(look(&m, 1));
    assert_true(sum_of(&m, "weir_processor_handled_total", "\"a\"") == 10);
    assert_true(sum_of(&m, "weir_processor_handled_total", "\"(others)\"") == 19);
    scene_post(&s, b, TOLD(work), 20);
    come_to_rest();
    assert_true(look(&m, 1)); /* what was told as others' stays there */
    assert_true(sum_of(&m, "weir_processor_handled_total", "\"b\"") == 0);
    assert_true(sum_of(&m, "weir_processor_handled_total", "\"(others)\"") == 39);
    assert_true(sum_of(&m, "weir_processor_handled_total", "\"(earlier)\"") == 10);
    scene_post(&s, b, TOLD(work), 5);
    scene_post(&s, a, TOLD(work), 3);
    come_to_rest();
    assert_true(look(&m, 1));
    assert_true(sum_of(&m, "weir_processor_handled_total", "\"b\"") == 5);
    assert_true(sum_of(&m, "weir_processor_handled_total", "\"(others)\"") == 42);
    assert_true(sum_of(&m, "weir_processor_handled_total", "\"(earlier)\"") == 10);
    assert_adds_up(&m);
    scene_close(&s);
    memory_close(&m);
}

static void one_that_comes_again_goes_on_with_its_row(void **state)
{
    (void)state;
    memory m;
    memory_open(&m);
    scene_make(&s, WEIR_ENGINE(.name = "again", .threads = 1));
    assert_int_equal(WEIR_OK, weir_engine_start(s.engine, &s.error));
    for (uint32_t life = 1; life <= 3; life++) {
        const weir_processor guest = scene_add(&s, WEIR_PROCESSOR(.name = "guest"));
        scene_post(&s, guest, TOLD(work), 10);
        come_to_rest();
        assert_true(look(&m, 0));
        assert_true(sum_of(&m, "weir_processor_handled_total", "\"guest\"") == 10 * life);
        scene_post(&s, guest, TOLD(work), 1); /* after the look: nobody's but the others' */
        assert_int_equal(WEIR_OK, weir_processor_stop(s.engine, guest, 0, NULL));
    }
    assert_true(look(&m, 0));
    assert_true(sum_of(&m, "weir_processor_handled_total", "\"guest\"") == 0);
    assert_true(sum_of(&m, "weir_processor_handled_total", "\"(others)\"") == 3);
    assert_true(sum_of(&m, "weir_processor_handled_total", "\"(earlier)\"") == 30);
    assert_adds_up(&m);
    scene_close(&s);
    memory_close(&m);
}

/* ---- under load ---- */

typedef struct storm {
    atomic_bool end;
    atomic_uint_least64_t changes;
    weir_processor stays[8];
} storm;

static void *change_on(void *context)
{
    storm *w = context;
    for (uint32_t i = 0; !atomic_load(&w->end); i++) {
        char name[NAMES];
        weir_error error = WEIR_ERROR_INIT;
        (void)snprintf(name, sizeof(name), "guest%u", i % 5);
        const weir_processor p = weir_processor_add(
            s.engine, WEIR_PROCESSOR(.name = name, .handler = scene_handle, .argument = &s),
            &error);
        send(p, TOLD(work), 1 + i % 40);
        send(w->stays[i % 8], i % 9 == 0 ? TOLD(fail) : TOLD(work), 1 + i % 70);
        (void)weir_processor_stop(s.engine, p, 0, NULL);
        atomic_fetch_add(&w->changes, 1);
    }
    return NULL;
}

static void no_counter_falls_while_a_look_is_taken_in_the_middle_of_it(void **state)
{
    (void)state;
    storm w = { .end = false };
    pthread_t thread;
    memory m;
    memory_open(&m);
    scene_make(&s, WEIR_ENGINE(.name = "storm", .threads = 2, .latency_every = 4));
    for (uint32_t i = 0; i < 8; i++) {
        char name[NAMES];
        (void)snprintf(name, sizeof(name), "stays%u", i);
        w.stays[i] =
            scene_add(&s, WEIR_PROCESSOR(.name = name, .mailbox_max = 16,
                                         .overflow = i % 2 == 0 ? WEIR_OVERFLOW_DROP_OLDEST
                                                                : WEIR_OVERFLOW_DROP_NEWEST));
    }
    assert_int_equal(WEIR_OK, weir_engine_start(s.engine, &s.error));
    assert_int_equal(WEIR_OK, weir_latency_enable(s.engine, "*", NULL));
    assert_int_equal(0, pthread_create(&thread, NULL, change_on, &w));
    const uint64_t wanted = test_load(2000, 200);
    while (atomic_load(&w.changes) < wanted && look(&m, 6)) {
    }
    atomic_store(&w.end, true);
    (void)pthread_join(thread, NULL);
    assert_int_equal(0, m.falls);
    come_to_rest();
    assert_true(look(&m, 6));
    assert_adds_up(&m);
    scene_close(&s);
    memory_close(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_counter_falls_while_other_processors_become_busy_end_and_come),
        cmocka_unit_test(who_is_much_busier_gets_the_row_of_who_is_least_busy),
        cmocka_unit_test(one_that_comes_again_goes_on_with_its_row),
        cmocka_unit_test(no_counter_falls_while_a_look_is_taken_in_the_middle_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
