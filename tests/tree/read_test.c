/*
 * tree/read_test.c - booleans, numbers, texts and lists, as HOCON's reference implementation reads
 * them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tree_support.h"

#include <locale.h>

typedef struct fixture {
    weir__tree *tree;
    weir__why why;
} fixture;

static int open_fixture(void **state)
{
    static fixture f;
    f = (fixture){ .tree = new_tree() };
    *state = &f;
    return 0;
}

static int close_fixture(void **state)
{
    weir__tree_destroy(((fixture *)*state)->tree);
    return 0;
}

/* As the reader of HOCON makes it of a word without quotes: a number if it begins like one. */
static weir__node *word(fixture *f, const char *text)
{
    const bool number = (text[0] >= '0' && text[0] <= '9') || text[0] == '-';
    return number ? number_of(f->tree, text) : string_of(f->tree, text);
}

/* --- booleans --------------------------------------------------------------------------------- */

static void a_boolean_is_one_of_six_words(void **state)
{
    fixture *f = *state;
    static const char *const words[] = { "true", "yes", "on", "false", "no", "off" };
    for (size_t i = 0; i < 6; i++) {
        bool value = i >= 3;
        assert_true(weir__read_boolean(string_of(f->tree, words[i]), &value, &f->why));
        assert_int_equal(i < 3, value);
    }
    bool value = false;
    assert_true(weir__read_boolean(weir__node_boolean(f->tree, nowhere, true), &value, &f->why));
    assert_true(value);
}

static void no_other_word_is_a_boolean(void **state)
{
    fixture *f = *state;
    static const char *const words[] = { "Yes",   "True", "TRUE", "y",  "n",     "",
                                         " yes",  "yes ", "tru",  "ON", "1",     "0",
                                         "truex", "t",    "null", "of", "false " };
    bool value;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        assert_false(weir__read_boolean(string_of(f->tree, words[i]), &value, &f->why));
    }
    assert_false(weir__read_boolean(number_of(f->tree, "1"), &value, &f->why));
    assert_string_equal("1 is no boolean: it is true, yes, on, false, no or off", f->why.text);
    assert_false(weir__read_boolean(weir__node_null(f->tree, nowhere), &value, &f->why));
    assert_string_equal("null is no boolean: it is true, yes, on, false, no or off", f->why.text);
    assert_false(weir__read_boolean(weir__node_list(f->tree, nowhere), &value, &f->why));
    assert_false(weir__read_boolean(weir__node_object(f->tree, nowhere), &value, NULL));
}

/* --- numbers ---------------------------------------------------------------------------------- */

static void a_whole_number_is_read_and_a_fraction_is_cut_off(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *text;
        int64_t value;
    } rows[] = {
        { "1", 1 },
        { "1.0", 1 },
        { "1.5", 1 },
        { "-1.9", -1 },
        { "-0.9", 0 },
        { "-0", 0 },
        { "007", 7 },
        { "1e3", 1000 },
        { "1E3", 1000 },
        { "1.", 1 },
        { "1.e3", 1000 },
        { "-.5e1", -5 },
        { "12345e-3", 12 },
        { "0e999999999999", 0 },
        { "1e18", 1000000000000000000 },
        { "9223372036854775807", INT64_MAX },
        { "9223372036854775807.9", INT64_MAX },
        { "9007199254740993.0", 9007199254740993 },
        { "-9223372036854775808", INT64_MIN },
        { "922337203685477580.7e1", INT64_MAX },
        { "1e-400", 0 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int64_t value = 77;
        assert_true(weir__read_long(number_of(f->tree, rows[i].text), &value, &f->why));
        assert_true(rows[i].value == value);
        assert_true(weir__read_long(string_of(f->tree, rows[i].text), &value, &f->why));
        assert_true(rows[i].value == value);
    }
}

static void a_string_may_hold_what_the_reference_takes_for_a_number(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *text;
        int32_t value;
    } rows[] = { { "+5", 5 },   { " 5 ", 5 },     { "\t5\n", 5 },  { ".5", 0 },        { "1f", 1 },
                 { "2.9D", 2 }, { "1e3d", 1000 }, { "0x1p4", 16 }, { "-0X1.8P1f", -3 } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int32_t value = 77;
        assert_true(weir__read_int(string_of(f->tree, rows[i].text), &value, &f->why));
        assert_int_equal(rows[i].value, value);
    }
}

static void what_is_no_number_is_refused(void **state)
{
    fixture *f = *state;
    static const char *const texts[] = {
        "",    " ",  "abc", "1L",  "5K",  "0x10", "0x",   "0x.p1", "1 2",          "--1",
        "+",   "-",  ".",   "e5",  "1e",  "1e+",  "1ee",  "1.2.3", "NaN",          "Infinity",
        "inf", "-.", "1fd", "1_0", "1,5", "٣",    "0xp1", "nan",   "\xc2\xa0\x35", "1e5.5",
    };
    int32_t i32;
    int64_t i64;
    double real;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const weir__node *node = string_of(f->tree, texts[i]);
        assert_false(weir__read_int(node, &i32, &f->why));
        assert_false(weir__read_long(node, &i64, &f->why));
        assert_false(weir__read_double(node, &real, &f->why));
    }
    assert_string_equal("'1e5.5' is no number: it is written like 1.5, -7 or 1e-3", f->why.text);
    assert_false(weir__read_int(weir__node_boolean(f->tree, nowhere, true), &i32, &f->why));
    assert_string_equal("true is no whole number: it is written like 42, -7 or 1e6", f->why.text);
    assert_false(weir__read_long(weir__node_null(f->tree, nowhere), &i64, &f->why));
    assert_false(weir__read_double(weir__node_list(f->tree, nowhere), &real, &f->why));
}

static void a_number_that_does_not_fit_is_refused(void **state)
{
    fixture *f = *state;
    static const char *const beyond_32[] = { "2147483648", "-2147483649", "2147483648.0",
                                             "1e10",       "-1e400",      "99999999999999999999" };
    static const char *const beyond_64[] = {
        "9223372036854775808", "-9223372036854775809", "1e19", "1e400", "9.3e18", "0x1p63",
        "1e999999999999999999"
    };
    int32_t i32;
    int64_t i64;
    double real;
    for (size_t i = 0; i < sizeof(beyond_32) / sizeof(beyond_32[0]); i++) {
        assert_false(weir__read_int(word(f, beyond_32[i]), &i32, &f->why));
        assert_non_null(strstr(f->why.text, " is beyond 32 bits"));
    }
    for (size_t i = 0; i < sizeof(beyond_64) / sizeof(beyond_64[0]); i++) {
        assert_false(weir__read_long(word(f, beyond_64[i]), &i64, &f->why));
        assert_non_null(strstr(f->why.text, " is beyond 64 bits"));
    }
    assert_false(weir__read_double(number_of(f->tree, "1e400"), &real, &f->why));
    assert_string_equal("1e400 is beyond what a number can hold, about 1.8e308", f->why.text);
    assert_true(weir__read_int(number_of(f->tree, "-2147483648"), &i32, &f->why));
    assert_true(weir__read_int(number_of(f->tree, "2147483647.9"), &i32, &f->why));
    assert_int_equal(INT32_MAX, i32);
}

static void a_double_is_the_nearest_whatever_the_locale(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *text;
        double value;
    } rows[] = { { "1.5", 1.5 },
                 { ".5", 0.5 },
                 { "1e5", 1e5 },
                 { "-0.1", -0.1 },
                 { "5.", 5 },
                 { "2.5f", 2.5 },
                 { "1e-400", 0 },
                 { "0x1.8p1", 3 },
                 { "+7", 7 },
                 { " 1.5 ", 1.5 },
                 { "12345678901234567890", 12345678901234567890.0 } };
    char *before = setlocale(LC_NUMERIC, NULL);
    char kept[64];
    snprintf(kept, sizeof(kept), "%s", before);
    setlocale(LC_NUMERIC, "de_DE.UTF-8"); /* where it is installed */
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double value = 77;
        assert_true(weir__read_double(string_of(f->tree, rows[i].text), &value, &f->why));
        assert_true(rows[i].value == value);
    }
    setlocale(LC_NUMERIC, kept);
}

static void a_number_of_a_million_digits_is_read_in_no_time(void **state)
{
    fixture *f = *state;
    enum { DIGITS = 1000000 };
    char *text = malloc(DIGITS);
    assert_non_null(text);
    memset(text, '9', DIGITS);
    const weir__node *node = weir__node_number(f->tree, nowhere, text, DIGITS);
    int64_t value;
    double real;
    assert_false(weir__read_long(node, &value, &f->why));
    assert_false(weir__read_double(node, &real, &f->why));
    text[0] = '7';
    text[1] = '.';
    node = weir__node_number(f->tree, nowhere, text, DIGITS);
    assert_true(weir__read_long(node, &value, &f->why));
    assert_int_equal(7, value);
    memset(text, '0', DIGITS);
    text[DIGITS - 1] = '3';
    node = weir__node_number(f->tree, nowhere, text, DIGITS);
    assert_true(weir__read_long(node, &value, &f->why));
    assert_int_equal(3, value);
    free(text);
}

/* --- texts ------------------------------------------------------------------------------------ */

static void a_scalar_is_a_text_as_it_was_written(void **state)
{
    fixture *f = *state;
    weir__text text;
    assert_true(weir__read_text(number_of(f->tree, "1.50"), &text, &f->why));
    assert_string_equal("1.50", text.bytes);
    assert_true(weir__read_text(string_of(f->tree, "a b"), &text, &f->why));
    assert_string_equal("a b", text.bytes);
    assert_true(weir__read_text(weir__node_boolean(f->tree, nowhere, false), &text, &f->why));
    assert_string_equal("false", text.bytes);
    assert_int_equal(5, text.length);
    assert_false(weir__read_text(weir__node_null(f->tree, nowhere), &text, &f->why));
    assert_false(weir__read_text(weir__node_object(f->tree, nowhere), &text, &f->why));
    assert_string_equal("an object is no text: it is a string, a number or a boolean", f->why.text);
}

static void a_message_quotes_a_hostile_value_cut_and_whole_characters_only(void **state)
{
    fixture *f = *state;
    bool value;
    char text[100];
    for (size_t shift = 0; shift < 4; shift++) {
        memset(text, 'a', shift);
        for (size_t i = shift; i + 3 < sizeof(text); i += 3) {
            memcpy(text + i, "\xe2\x82\xac", 4);
        }
        assert_false(weir__read_boolean(string_of(f->tree, text), &value, &f->why));
        const char *end = strstr(f->why.text, "...' is no boolean");
        assert_non_null(end);
        assert_int_equal(0, ((size_t)(end - f->why.text) - 1 - shift) % 3);
        assert_true(end - f->why.text <= 41);
    }
    assert_false(
        weir__read_boolean(weir__node_string(f->tree, nowhere, "a\0b", 3), &value, &f->why));
    assert_string_equal("'a b' is no boolean: it is true, yes, on, false, no or off", f->why.text);
}

/* --- lists ------------------------------------------------------------------------------------ */

static void a_list_is_its_items(void **state)
{
    fixture *f = *state;
    weir__node *list = weir__node_list(f->tree, nowhere);
    weir__node **items;
    size_t count = 77;
    assert_true(weir__read_list(f->tree, list, &items, &count, &f->why));
    assert_int_equal(0, count);
    weir__node *item = string_of(f->tree, "x");
    assert_true(weir__list_append(f->tree, list, item));
    assert_true(weir__read_list(f->tree, list, &items, &count, &f->why));
    assert_int_equal(1, count);
    assert_ptr_equal(item, items[0]);
}

static void an_object_with_numeric_keys_is_a_list_by_number_without_gaps(void **state)
{
    fixture *f = *state;
    weir__node *object = weir__node_object(f->tree, nowhere);
    static const char *const keys[] = { "10", "9",  "-1", "1.5", "x",   "2147483647", "2147483648",
                                        "+3", "-0", "",   "-",   "1e1", " 4",         "5 " };
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        set(f->tree, object, keys[i], string_of(f->tree, keys[i]));
    }
    weir__node **items;
    size_t count;
    assert_true(weir__read_list(f->tree, object, &items, &count, &f->why));
    static const char *const expected[] = { "-0", "+3", "9", "10", "2147483647" };
    assert_int_equal(5, count);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(expected[i], items[i]->text.bytes);
    }
}

static void of_two_keys_with_one_number_the_later_counts(void **state)
{
    fixture *f = *state;
    weir__node *object = weir__node_object(f->tree, nowhere);
    set(f->tree, object, "01", string_of(f->tree, "first"));
    set(f->tree, object, "1", string_of(f->tree, "second"));
    weir__node **items;
    size_t count;
    assert_true(weir__read_list(f->tree, object, &items, &count, &f->why));
    assert_int_equal(1, count);
    assert_string_equal("second", items[0]->text.bytes);
}

static void nothing_else_is_a_list(void **state)
{
    fixture *f = *state;
    weir__node *object = weir__node_object(f->tree, nowhere);
    weir__node **items;
    size_t count;
    assert_false(weir__read_list(f->tree, object, &items, &count, &f->why));
    set(f->tree, object, "a", string_of(f->tree, "x"));
    assert_false(weir__read_list(f->tree, object, &items, &count, &f->why));
    assert_string_equal("an object is no list: it is written like [1, 2], or as an object whose "
                        "keys are numbers",
                        f->why.text);
    assert_false(weir__read_list(f->tree, string_of(f->tree, "[1]"), &items, &count, &f->why));
    assert_false(
        weir__read_list(f->tree, weir__node_null(f->tree, nowhere), &items, &count, &f->why));
}

static void a_list_without_memory_says_so(void **state)
{
    fixture *f = *state;
    weir__node *object = weir__node_object(f->tree, nowhere);
    set(f->tree, object, "0", string_of(f->tree, "x"));
    weir__node **items;
    size_t count;
    f->tree->limit = f->tree->used;
    assert_false(weir__read_list(f->tree, object, &items, &count, &f->why));
    assert_string_equal("no memory to read it", f->why.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_boolean_is_one_of_six_words),
        cmocka_unit_test(no_other_word_is_a_boolean),
        cmocka_unit_test(a_whole_number_is_read_and_a_fraction_is_cut_off),
        cmocka_unit_test(a_string_may_hold_what_the_reference_takes_for_a_number),
        cmocka_unit_test(what_is_no_number_is_refused),
        cmocka_unit_test(a_number_that_does_not_fit_is_refused),
        cmocka_unit_test(a_double_is_the_nearest_whatever_the_locale),
        cmocka_unit_test(a_number_of_a_million_digits_is_read_in_no_time),
        cmocka_unit_test(a_scalar_is_a_text_as_it_was_written),
        cmocka_unit_test(a_message_quotes_a_hostile_value_cut_and_whole_characters_only),
        cmocka_unit_test(a_list_is_its_items),
        cmocka_unit_test(an_object_with_numeric_keys_is_a_list_by_number_without_gaps),
        cmocka_unit_test(of_two_keys_with_one_number_the_later_counts),
        cmocka_unit_test(nothing_else_is_a_list),
        cmocka_unit_test(a_list_without_memory_says_so),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
