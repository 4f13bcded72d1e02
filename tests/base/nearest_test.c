/*
 * nearest_test.c - how far two words are apart, and when that is near.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../test_support.h"

#include <string.h>

#include "base/nearest.h"

static void letters_that_are_wrong_missing_too_many_or_swapped_count_one_each(void **state)
{
    (void)state;
    assert_int_equal(0, weir__distance("demo", "demo"));
    assert_int_equal(1, weir__distance("demo", "dema"));
    assert_int_equal(1, weir__distance("demo", "deo"));
    assert_int_equal(1, weir__distance("demo", "demmo"));
    assert_int_equal(1, weir__distance("demo", "dmeo"));
    assert_int_equal(4, weir__distance("", "demo"));
    assert_int_equal(2, weir__distance("batch-max", "btach-mx"));
}

static void capitals_and_hyphens_make_no_difference(void **state)
{
    (void)state;
    assert_int_equal(0, weir__distance("defaultQueueSize", "default-queue-size"));
    assert_int_equal(0, weir__distance("DEFAULT_QUEUE_SIZE", "default-queue-size"));
}

static void long_words_are_far_from_everything(void **state)
{
    char word[66];
    (void)state;
    memset(word, 'a', sizeof(word));
    word[64] = '\0';
    assert_int_equal(0, weir__distance(word, word));
    word[64] = 'a';
    word[65] = '\0';
    assert_true(weir__distance(word, word) == SIZE_MAX);
    assert_false(weir__distance_is_near(SIZE_MAX, word, word));
}

static void near_is_a_third_of_the_longer_word_and_three_at_most(void **state)
{
    (void)state;
    assert_true(weir__distance_is_near(1, "a", "b"));
    assert_false(weir__distance_is_near(2, "abc", "b"));
    assert_true(weir__distance_is_near(2, "abcd", "b"));
    assert_true(weir__distance_is_near(3, "abcdefghijklmnop", "b"));
    assert_false(weir__distance_is_near(4, "abcdefghijklmnop", "b"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_that_are_wrong_missing_too_many_or_swapped_count_one_each),
        cmocka_unit_test(capitals_and_hyphens_make_no_difference),
        cmocka_unit_test(long_words_are_far_from_everything),
        cmocka_unit_test(near_is_a_third_of_the_longer_word_and_three_at_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
