/*
 * report_test.c - the line that a program ends with, and what main returns then.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>
#include <unistd.h>

#include "test_support.h"
#include "weir/engine.h"

/* What weir_stop_report_print writes to standard output, which is TAP's at other times. */
static int printed(const weir_stop_report *report, char *out, size_t size)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stdout);
    const int saved = dup(STDOUT_FILENO);
    assert_true(saved >= 0 && dup2(fileno(file), STDOUT_FILENO) >= 0);
    const int result = weir_stop_report_print(report);
    fflush(stdout);
    const int restored = dup2(saved, STDOUT_FILENO);
    close(saved);
    assert_true(restored >= 0);
    rewind(file);
    const size_t length = fread(out, 1, size - 1, file);
    out[length] = '\0';
    fclose(file);
    return result;
}

static weir_stop_report report_of(uint64_t accepted, uint64_t handled, uint64_t dropped,
                                  uint64_t dead, uint64_t left)
{
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    report.accepted = accepted;
    report.handled = handled;
    report.dropped = dropped;
    report.dead = dead;
    report.left = left;
    return report;
}

static void the_sums_are_printed_as_an_equation(void **state)
{
    (void)state;
    char text[256];
    const weir_stop_report report = report_of(9, 7, 1, 1, 0);
    assert_int_equal(0, printed(&report, text, sizeof(text)));
    assert_string_equal("9 accepted = 7 handled + 1 dropped + 1 dead + 0 left\n", text);
}

static void main_returns_one_if_something_is_left_or_the_sums_are_not(void **state)
{
    (void)state;
    char text[256];
    const weir_stop_report left = report_of(UINT64_MAX, UINT64_MAX - 4, 1, 1, 2);
    assert_int_equal(1, printed(&left, text, sizeof(text)));
    assert_string_equal("18446744073709551615 accepted = 18446744073709551611 handled + 1 dropped "
                        "+ 1 dead + 2 left\n",
                        text);
    const weir_stop_report wrong[] = { report_of(9, 7, 1, 0, 0), report_of(9, 7, 0, 1, 0),
                                       report_of(9, 9, 1, 1, 0), report_of(0, 0, 0, 1, 0) };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(1, printed(&wrong[i], text, sizeof(text)));
    }
    assert_int_equal(1, printed(NULL, text, sizeof(text)));
    assert_string_equal("", text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sums_are_printed_as_an_equation),
        cmocka_unit_test(main_returns_one_if_something_is_left_or_the_sums_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
