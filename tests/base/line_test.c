/*
 * line_test.c - lines of a crash report: what is put in, what is cut, what cannot break one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/line.h"
#include "test_support.h"

static weir__line line;

static int empty_line(void **state)
{
    (void)state;
    line.length = 0;
    memset(line.text, '#', sizeof(line.text));
    return 0;
}

static void line_is(const char *text)
{
    char got[sizeof(line.text) + 1];
    memcpy(got, line.text, line.length);
    got[line.length] = '\0';
    assert_string_equal(text, got);
}

static void numbers_are_written_in_full(void **state)
{
    (void)state;
    weir__line_number(&line, 0);
    weir__line_text(&line, " ");
    weir__line_number(&line, 4711);
    weir__line_text(&line, " ");
    weir__line_number(&line, UINT64_MAX);
    weir__line_text(&line, " ");
    weir__line_hex(&line, 0);
    weir__line_text(&line, " ");
    weir__line_hex(&line, UINT64_C(0xfedcba9876543210));
    line_is("0 4711 18446744073709551615 0x0 0xfedcba9876543210");
}

static void a_name_is_cut_with_dots_and_its_control_characters_are_shown(void **state)
{
    (void)state;
    weir__line_name(&line, "orders", 6);
    weir__line_text(&line, "|");
    weir__line_name(&line, "orders", 5);
    weir__line_text(&line, "|");
    weir__line_name(&line, "orders", 3);
    weir__line_text(&line, "|");
    weir__line_name(&line, "", 5);
    weir__line_text(&line, "|");
    weir__line_name(&line, "a\nb\x1b\x7f\xc3\xa4", 20); /* UTF-8 stays */
    line_is("orders|or...|ord||a?b??\xc3\xa4");
}

static void a_column_is_at_least_one_space_away(void **state)
{
    (void)state;
    weir__line_text(&line, "a");
    weir__line_column(&line, 4);
    weir__line_text(&line, "bcd");
    weir__line_column(&line, 3);
    weir__line_text(&line, "e");
    line_is("a   bcd e");
}

static void what_does_not_fit_is_cut_and_the_line_ends_all_the_same(void **state)
{
    (void)state;
    for (int i = 0; i < 600; i++) {
        weir__line_text(&line, "12345");
    }
    weir__line_number(&line, 6);
    weir__line_name(&line, "name", 10);
    weir__line_column(&line, 5000);
    weir__line_end(&line);
    assert_int_equal(WEIR__LINE_MAX + 1, line.length);
    assert_int_equal('5', line.text[WEIR__LINE_MAX - 1]);
    assert_int_equal('\n', line.text[WEIR__LINE_MAX]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(numbers_are_written_in_full, empty_line),
        cmocka_unit_test_setup(a_name_is_cut_with_dots_and_its_control_characters_are_shown,
                               empty_line),
        cmocka_unit_test_setup(a_column_is_at_least_one_space_away, empty_line),
        cmocka_unit_test_setup(what_does_not_fit_is_cut_and_the_line_ends_all_the_same, empty_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
