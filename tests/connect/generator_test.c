/*
 * generator_test.c - a generator and a timer give exactly what they were told to, no faster and no
 * slower.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "connect_support.h"

#include <jansson.h>

static void a_count_is_exact_and_numbers_have_no_gap(void **unused)
{
    (void)unused;
    bench b;
    bench_open(&b);
    bench_source(&b, &weir__generator_type, "gen",
                 "rate = 0, count = 20000, keys = 7, distribution = round-robin");
    bench_start(&b);
    assert_true(TEST_AWAIT(bench_figure(&b, "gen", "done") == 1));
    assert_true(TEST_AWAIT(bench_count(&b) == 20000));
    for (uint64_t i = 0; i < 20000; i++) {
        char expected[64];
        snprintf(expected, sizeof(expected), "key-%" PRIu64 " %" PRIu64, i % 7 + 1, i + 1);
        assert_string_equal(bench_text(&b, i), expected);
    }
    bench_stop(&b);
    assert_int_equal(bench_count(&b), 20000);
    bench_close(&b);
}

static void the_same_seed_gives_the_same_events(void **unused)
{
    (void)unused;
    static char first[500][KEPT_MAX + 1];
    unsigned differ = 0;
    for (int round = 0; round < 3; round++) {
        bench b;
        bench_open(&b);
        char options[256];
        snprintf(options, sizeof(options),
                 "rate = 0, count = 500, distribution = zipf, exponent = 1.1, seed = %d, "
                 "template = \"${key} ${random} ${random:10}\"",
                 round < 2 ? 7 : 8);
        bench_source(&b, &weir__generator_type, "gen", options);
        bench_start(&b);
        assert_true(TEST_AWAIT(bench_count(&b) == 500));
        bench_stop(&b);
        for (size_t i = 0; i < 500; i++) {
            if (round == 0) {
                snprintf(first[i], sizeof(first[i]), "%s", bench_text(&b, i));
            } else if (round == 1) {
                assert_string_equal(bench_text(&b, i), first[i]);
            } else {
                differ += strcmp(bench_text(&b, i), first[i]) != 0;
            }
        }
        bench_close(&b);
    }
    assert_true(differ > 400);
}

static void json_events_are_json_of_the_size_that_was_asked_for(void **unused)
{
    (void)unused;
    bench b;
    bench_open(&b);
    bench_source(&b, &weir__generator_type, "gen",
                 "rate = 0, count = 100, format = json, size = 40, "
                 "template = \"{\\\"k\\\":\\\"${key}\\\",\\\"p\\\":\\\"${pad}\\\"}\"");
    bench_start(&b);
    assert_true(TEST_AWAIT(bench_count(&b) == 100));
    bench_stop(&b);
    for (size_t i = 0; i < 100; i++) {
        assert_int_equal(b.heard.sizes[i], 40);
        json_t *json = json_loads(bench_text(&b, i), 0, NULL);
        assert_non_null(json);
        json_decref(json);
    }
    bench_close(&b);
}

static void a_wrong_generator_says_what_is_wrong(void **unused)
{
    (void)unused;
    static const char *const wrong[][2] = {
        { "template = \"${keys}\"", "no place to fill" },
        { "size = 10, template = \"${n}\"", "no ${pad}" },
        { "format = json, template = \"{${n}}\"", "must be JSON" },
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        bench b;
        bench_open(&b);
        weir_status status = bench_add(&b, &weir__generator_type, "gen", wrong[i][0], NULL);
        if (status == WEIR_OK) {
            status = weir_components_start(b.engine, &b.error);
        }
        assert_int_equal(status, WEIR_E_CONFIG);
        assert_non_null(strstr(b.error.text, wrong[i][1]));
        assert_non_null(strstr(b.error.path, "gen"));
        bench_close(&b);
    }
}

static double rate_over_a_second(bench *b)
{
    const weir_ns began = weir_time_now(b->engine);
    const uint64_t before = bench_figure(b, "gen", "events");
    assert_true(TEST_AWAIT(weir_time_now(b->engine) - began >= WEIR_S));
    const uint64_t events = bench_figure(b, "gen", "events") - before;
    const double rate = (double)events * 1e9 / (double)(weir_time_now(b->engine) - began);
    fprintf(stderr, "# %.1f events a second\n", rate);
    return rate;
}

/* A machine that is busy elsewhere may delay either end of a second: one of ten must be as it
 * should, which none of a wrong rate is. */
static void the_rate_is_held_within_two_percent(void **unused)
{
    (void)unused;
    bench b;
    bench_open(&b);
    b.heard.keep = 0;
    bench_source(&b, &weir__generator_type, "gen", "rate = 5000, keys = 10");
    bench_start(&b);
    assert_true(TEST_AWAIT(bench_figure(&b, "gen", "events") >= 1));
    bool held = false;
    for (int i = 0; i < 10 && !held; i++) {
        const double rate = rate_over_a_second(&b);
        held = rate > 4900 && rate < 5100;
    }
    assert_true(held);
    bench_stop(&b);
    bench_close(&b);
}

static void who_has_no_room_makes_it_wait_and_loses_nothing(void **unused)
{
    (void)unused;
    bench b;
    bench_open(&b);
    weir__store(&b.heard.shut, 1, release);
    bench_source(&b, &weir__generator_type, "gen", "rate = 0, count = 50000, template = \"${n}\"");
    bench_start(&b);
    assert_true(TEST_AWAIT(bench_figure(&b, "gen", "pauses") >= 1));
    assert_true(bench_figure(&b, "gen", "events") < 50000);
    weir__store(&b.heard.shut, 0, release);
    assert_true(TEST_AWAIT(bench_count(&b) == 50000));
    for (size_t i = 0; i < 50000; i++) {
        assert_int_equal(strtoull(bench_text(&b, i), NULL, 10), i + 1);
    }
    bench_stop(&b);
    bench_close(&b);
}

static void a_timer_ticks_in_its_time_and_ends_after_its_count(void **unused)
{
    (void)unused;
    bench b;
    bench_open(&b);
    bench_source(&b, &weir__timer_type, "tick",
                 "interval = 5 ms, count = 20, template = \"tick ${n}\"");
    const weir_ns began = weir_time_now(b.engine);
    bench_start(&b);
    assert_true(TEST_AWAIT(bench_figure(&b, "tick", "done") == 1));
    assert_true(TEST_AWAIT(bench_count(&b) == 20));
    assert_true(weir_time_now(b.engine) - began >= 19 * 5 * WEIR_MS);
    assert_string_equal(bench_text(&b, 0), "tick 1");
    assert_string_equal(bench_text(&b, 19), "tick 20");
    bench_stop(&b);
    bench_close(&b);
}

static void times_that_were_missed_are_one_event_and_counted(void **unused)
{
    (void)unused;
    bench b;
    bench_open(&b);
    weir__store(&b.heard.shut, 1, release);
    bench_source(&b, &weir__timer_type, "tick", "interval = 100 us");
    bench_start(&b);
    assert_true(TEST_AWAIT(bench_figure(&b, "tick", "pauses") >= 1));
    const weir_ns began = weir_time_now(b.engine);
    assert_true(TEST_AWAIT(weir_time_now(b.engine) - began >= 50 * WEIR_MS));
    weir__store(&b.heard.shut, 0, release);
    assert_true(TEST_AWAIT(bench_figure(&b, "tick", "missed") >= 400));
    bench_stop(&b);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_count_is_exact_and_numbers_have_no_gap),
        cmocka_unit_test(the_same_seed_gives_the_same_events),
        cmocka_unit_test(json_events_are_json_of_the_size_that_was_asked_for),
        cmocka_unit_test(a_wrong_generator_says_what_is_wrong),
        cmocka_unit_test(the_rate_is_held_within_two_percent),
        cmocka_unit_test(who_has_no_room_makes_it_wait_and_loses_nothing),
        cmocka_unit_test(a_timer_ticks_in_its_time_and_ends_after_its_count),
        cmocka_unit_test(times_that_were_missed_are_one_event_and_counted),
    };
    return cmocka_run_group_tests_name("generator", tests, NULL, NULL);
}
