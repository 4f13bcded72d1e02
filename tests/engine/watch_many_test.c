/*
 * watch_many_test.c - ten thousand watches of one, and ten thousand watchers of one: none of them
 * is looked for among the others.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "watch_support.h"

enum { MANY = 10000 };

static void one_watches_ten_thousand_and_ten_thousand_watch_one(void **state)
{
    (void)state;
    const size_t count = (size_t)test_load(MANY, MANY / 10);
    bed b;
    bed_make(&b);
    weir_processor *targets = calloc(count, sizeof(*targets));
    crowd *watchers = calloc(count, sizeof(*watchers));
    assert_non_null(targets);
    assert_non_null(watchers);
    crowd one = { .targets = targets, .count = count };
    const weir_processor centre = test_processor_add(
        b.engine, WEIR_PROCESSOR(.handler = watch_all, .argument = &one, .mailbox_max = 2 * MANY));
    for (size_t i = 0; i < count; i++) {
        watchers[i] = (crowd){ .targets = &centre, .count = 1 };
        targets[i] = test_processor_add(
            b.engine, WEIR_PROCESSOR(.handler = watch_all, .argument = &watchers[i]));
    }
    test_engine_start(b.engine);
    const weir_ns begin = test_now();
    assert_int_equal(WEIR_OK, test_post(b.engine, centre, 0));
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(WEIR_OK, test_post(b.engine, targets[i], 0));
    }
    bed_turn(&b);
    assert_int_equal(WEIR_OK, one.last);
    const weir_ns watched = test_now();
    for (size_t i = 0; i < count; i += 2) {
        bed_stop(&b, targets[i]);
    }
    assert_int_equal((count + 1) / 2, one.done);
    const weir_ns stopped = test_now();
    bed_stop(&b, centre);
    const weir_ns told = test_now();
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(WEIR_OK, watchers[i].last);
        assert_int_equal(i % 2, watchers[i].done);
    }
    fprintf(stderr,
            "# %zu: watched in %lld us, half of them stopped in %lld, the rest told in %lld\n",
            2 * count, (long long)(watched - begin) / 1000, (long long)(stopped - watched) / 1000,
            (long long)(told - stopped) / 1000);
    bed_end(&b);
    free(watchers);
    free(targets);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_watches_ten_thousand_and_ten_thousand_watch_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
