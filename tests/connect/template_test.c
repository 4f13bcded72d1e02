/*
 * template_test.c - templates are filled exactly, wrong ones are errors that say what is right;
 * keys are spread as they should be, and the same seed gives the same.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_support.h"

#include <math.h>
#include <string.h>

#include "connect/keys.h"
#include "connect/template.h"

/* NOLINTNEXTLINE(readability-non-const-parameter): what is filled in draws from it */
static const char *filled(const char *text, size_t pad_to, uint64_t *random)
{
    static char out[512];
    weir_error error = WEIR_ERROR_INIT;
    weir__template t;
    assert_int_equal(weir__template_read(&t, text, true, "x", &error), WEIR_OK);
    const weir__template_values values = { .n = 42,
                                           .time_ms = UINT64_MAX,
                                           .key = "k-7",
                                           .key_size = 3,
                                           .random = random,
                                           .size = pad_to };
    const size_t size = weir__template_fill(&t, &values, out);
    assert_true(size <= weir__template_size_max(&t, 3, pad_to));
    out[size] = '\0';
    return out;
}

static void places_are_filled(void **unused)
{
    (void)unused;
    uint64_t random = 1;
    assert_string_equal(filled("", 0, &random), "");
    assert_string_equal(filled("plain $ { } text$", 0, &random), "plain $ { } text$");
    assert_string_equal(filled("${key}", 0, &random), "k-7");
    assert_string_equal(filled("<${n}|${time}>", 0, &random), "<42|18446744073709551615>");
    assert_string_equal(filled("${random:1}${random:1}", 0, &random), "00");
    assert_string_equal(filled("{\"k\":\"${key}\",\"n\":${n}}", 0, &random),
                        "{\"k\":\"k-7\",\"n\":42}");
}

static void a_pad_makes_up_the_size_and_no_more(void **unused)
{
    (void)unused;
    uint64_t random = 1;
    assert_string_equal(filled("<${pad}>", 6, &random), "<xxxx>");
    assert_string_equal(filled("${pad}", 3, &random), "xxx");
    assert_string_equal(filled("${n}${pad}", 2, &random), "42");
    assert_string_equal(filled("${n}${pad}${n}", 1, &random), "4242");
}

static void random_numbers_stay_below_their_bound_and_reach_it(void **unused)
{
    (void)unused;
    uint64_t random = test_seed();
    unsigned seen[6] = { 0 };
    for (int i = 0; i < 6000; i++) {
        const uint64_t number = weir__random_below(&random, 6);
        assert_true(number < 6);
        seen[number]++;
    }
    for (int i = 0; i < 6; i++) {
        assert_true(seen[i] > 700 && seen[i] < 1300);
    }
    (void)weir__random_below(&random, UINT64_MAX);
    for (int i = 0; i < 100; i++) {
        assert_true(strtoull(filled("${random}", 0, &random), NULL, 10) <= UINT32_MAX);
    }
}

static void a_wrong_template_is_an_error_that_says_what_is_right(void **unused)
{
    (void)unused;
    static const char *const wrong[] = {
        "${",
        "${}",
        "${nn}",
        "x${n",
        "${random:0}",
        "${random:}",
        "${random:x}",
        "${random:-1}",
        "${n:3}",
        "${pad}${pad}",
        "${random:99999999999999999999}",
        "${random:1 }",
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        weir_error error = WEIR_ERROR_INIT;
        weir__template t;
        assert_int_equal(weir__template_read(&t, wrong[i], true, "gen", &error), WEIR_E_CONFIG);
        assert_string_equal(error.path, "gen");
        assert_non_null(strstr(error.text, "template: "));
    }
    weir_error error = WEIR_ERROR_INIT;
    weir__template t;
    assert_int_equal(weir__template_read(&t, "${key}", false, "tick", &error), WEIR_E_CONFIG);
    assert_null(strstr(error.text, "${key}, "));
    char many[65 * 4 + 1] = "";
    for (int i = 0; i < 65; i++) {
        memcpy(many + (size_t)i * 4, "${n}", 5);
    }
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(weir__template_read(&t, many, true, "x", &error), WEIR_E_CONFIG);
}

static void round_robin_gives_each_key_in_turn(void **unused)
{
    (void)unused;
    weir__keys keys;
    uint64_t random = 0;
    assert_true(weir__keys_open(&keys, WEIR__KEYS_ROUND_ROBIN, 3, 1));
    for (uint64_t i = 0; i < 30; i++) {
        assert_int_equal(weir__keys_next(&keys, &random), i % 3 + 1);
    }
    weir__keys_close(&keys);
}

/* How many of `total` were key k, for each k. */
static void draw(weir__keys_spread spread, uint64_t count, double exponent, unsigned total,
                 unsigned *seen)
{
    weir__keys keys;
    uint64_t random = test_seed();
    assert_true(weir__keys_open(&keys, spread, count, exponent));
    memset(seen, 0, (count + 1) * sizeof(*seen));
    for (unsigned i = 0; i < total; i++) {
        const uint64_t key = weir__keys_next(&keys, &random);
        assert_true(key >= 1 && key <= count);
        seen[key]++;
    }
    weir__keys_close(&keys);
}

static void uniform_keys_are_as_likely_each(void **unused)
{
    (void)unused;
    unsigned seen[101];
    draw(WEIR__KEYS_UNIFORM, 100, 1, 100000, seen);
    for (int i = 1; i <= 100; i++) {
        assert_true(seen[i] > 800 && seen[i] < 1200); /* 1,000, sigma 31 */
    }
}

static void zipf_keys_come_by_their_weights(void **unused)
{
    (void)unused;
    enum { KEYS = 1000, TOTAL = 1000000 };
    static unsigned seen[KEYS + 1];
    draw(WEIR__KEYS_ZIPF, KEYS, 1, TOTAL, seen);
    double sum = 0;
    for (int k = 1; k <= KEYS; k++) {
        sum += 1.0 / k;
    }
    for (int k = 1; k <= KEYS; k++) {
        const double expected = TOTAL / sum / k;
        assert_true(fabs(seen[k] - expected) < 6 * sqrt(expected) + 1);
    }
    draw(WEIR__KEYS_ZIPF, 10, 0, 100000, seen); /* exponent 0: all alike */
    for (int k = 1; k <= 10; k++) {
        assert_true(fabs(seen[k] - 10000.0) < 600);
    }
    draw(WEIR__KEYS_ZIPF, 1, 10, 100, seen);
    assert_int_equal(seen[1], 100);
}

static void the_same_seed_gives_the_same_keys(void **unused)
{
    (void)unused;
    weir__keys keys;
    assert_true(weir__keys_open(&keys, WEIR__KEYS_ZIPF, 500, 1.2));
    uint64_t first[100], a = 77, b = 77, c = 78;
    unsigned differ = 0;
    for (int i = 0; i < 100; i++) {
        first[i] = weir__keys_next(&keys, &a);
    }
    for (int i = 0; i < 100; i++) {
        assert_int_equal(weir__keys_next(&keys, &b), first[i]);
        differ += weir__keys_next(&keys, &c) != first[i];
    }
    assert_true(differ > 10);
    weir__keys_close(&keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_filled),
        cmocka_unit_test(a_pad_makes_up_the_size_and_no_more),
        cmocka_unit_test(random_numbers_stay_below_their_bound_and_reach_it),
        cmocka_unit_test(a_wrong_template_is_an_error_that_says_what_is_right),
        cmocka_unit_test(round_robin_gives_each_key_in_turn),
        cmocka_unit_test(uniform_keys_are_as_likely_each),
        cmocka_unit_test(zipf_keys_come_by_their_weights),
        cmocka_unit_test(the_same_seed_gives_the_same_keys),
    };
    return cmocka_run_group_tests_name("template", tests, NULL, NULL);
}
