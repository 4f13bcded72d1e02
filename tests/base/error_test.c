/*
 * base/error_test.c - the first error stays, in words, and fits its buffers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "inner_support.h"
#include "stderr_support.h"

#include <errno.h>

#include "base/error.h"

static const char *formatted(const weir_error *error)
{
    static char line[1024];
    const size_t length = weir_error_format(error, line, sizeof(line));
    assert_int_equal(strlen(line), length);
    return line;
}

static void a_fresh_error_says_that_nothing_happened(void **state)
{
    (void)state;
    const weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(sizeof(error), error.struct_size);
    assert_int_equal(WEIR_OK, error.status);
    assert_false(weir__error_is_set(&error));
    assert_false(weir__error_is_set(NULL));
}

static void the_first_error_stays_and_each_call_answers_its_own_status(void **state)
{
    (void)state;
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(WEIR_E_LIMIT, weir__error_at(&error, WEIR_E_LIMIT, "a.b", "is %d", 7));
    assert_true(weir__error_is_set(&error));
    assert_int_equal(WEIR_E_TAKEN, weir__error_at(&error, WEIR_E_TAKEN, "c", "later"));
    assert_int_equal(WEIR_E_SYSTEM, weir__error_system(&error, EPERM, "d", "later still"));
    assert_int_equal(WEIR_E_NOMEM, weir__error_memory(&error, "e"));
    assert_int_equal(WEIR_E_LIMIT, error.status);
    assert_int_equal(0, error.os_errno);
    assert_string_equal("a.b", error.path);
    assert_string_equal("is 7", error.text);
}

static void who_brings_no_error_still_gets_the_status(void **state)
{
    (void)state;
    assert_int_equal(WEIR_E_LIMIT, weir__error_at(NULL, WEIR_E_LIMIT, "a", "text"));
    assert_int_equal(WEIR_E_SYSTEM, weir__error_system(NULL, EPERM, "a", "text"));
    assert_int_equal(WEIR_E_NOMEM, weir__error_memory(NULL, NULL));
    assert_int_equal(WEIR_E_USER, weir_error_set(NULL, WEIR_E_USER, NULL, NULL));
}

static void set_answers_what_the_error_holds_afterwards(void **state)
{
    (void)state;
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(WEIR_E_USER - 3, weir_error_set(&error, WEIR_E_USER - 3, "x", "100%s"));
    assert_string_equal("100%s", error.text); /* text, not a format */
    assert_int_equal(WEIR_E_USER - 3, weir_error_set(&error, WEIR_E_TYPE, "y", "z"));
    assert_string_equal("x", error.path);
}

static void set_takes_null_texts(void **state)
{
    (void)state;
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(WEIR_E_TYPE, weir_error_set(&error, WEIR_E_TYPE, NULL, NULL));
    assert_string_equal("", error.path);
    assert_string_equal("payload does not fit its event type (WEIR_E_TYPE)", formatted(&error));
}

static void a_system_error_keeps_its_errno(void **state)
{
    (void)state;
    weir_error error = WEIR_ERROR_INIT;
    weir__error_system(&error, EMFILE, "weir_thread_add", "no descriptor for \"%s\"", "io");
    assert_int_equal(WEIR_E_SYSTEM, error.status);
    assert_int_equal(EMFILE, error.os_errno);
    char expected[128];
    snprintf(expected, sizeof(expected),
             "weir_thread_add: no descriptor for \"io\" (WEIR_E_SYSTEM, errno %d)", EMFILE);
    assert_string_equal(expected, formatted(&error));
}

static void out_of_memory_says_so(void **state)
{
    (void)state;
    weir_error error = WEIR_ERROR_INIT;
    weir__error_memory(&error, "weir_engine_create");
    assert_string_equal("weir_engine_create: out of memory (WEIR_E_NOMEM)", formatted(&error));
}

static void a_line_has_the_parts_that_are_there(void **state)
{
    (void)state;
    weir_error error = WEIR_ERROR_INIT;
    weir_error_set(&error, WEIR_E_INVALID, "", "is wrong");
    assert_string_equal("is wrong (WEIR_E_INVALID)", formatted(&error));
    snprintf(error.file, sizeof(error.file), "weir.conf");
    assert_string_equal("weir.conf: is wrong (WEIR_E_INVALID)", formatted(&error));
    error.line = 3;
    error.column = 14;
    assert_string_equal("weir.conf:3:14: is wrong (WEIR_E_INVALID)", formatted(&error));
    snprintf(error.path, sizeof(error.path), "a.b");
    assert_string_equal("weir.conf:3:14: a.b: is wrong (WEIR_E_INVALID)", formatted(&error));
}

static void a_long_text_is_cut_and_ends_in_dots(void **state)
{
    (void)state;
    char text[600];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    weir_error error = WEIR_ERROR_INIT;
    const size_t size = sizeof(error.text);
    weir_error_set(&error, WEIR_E_INVALID, text, text);
    assert_int_equal(size - 1, strlen(error.text));
    assert_string_equal("xxx...", error.text + size - 7);
    assert_int_equal(sizeof(error.path) - 1, strlen(error.path));

    weir_error fits = WEIR_ERROR_INIT; /* one byte less than the buffer: nothing is cut */
    text[size - 1] = '\0';
    weir_error_set(&fits, WEIR_E_INVALID, NULL, text);
    assert_string_equal(text, fits.text);
}

static void format_cuts_at_the_buffer_and_tells_the_full_length(void **state)
{
    (void)state;
    weir_error error = WEIR_ERROR_INIT;
    weir_error_set(&error, WEIR_E_INVALID, "path", "text");
    const char *full = "path: text (WEIR_E_INVALID)";
    char small[8] = "#######";
    assert_int_equal(strlen(full), weir_error_format(&error, small, 6));
    assert_string_equal("path:", small);
    assert_int_equal('#', small[6]);
    assert_int_equal(strlen(full), weir_error_format(&error, NULL, 0));
    assert_int_equal(strlen("no error given"), weir_error_format(NULL, NULL, 0));
}

static void the_longest_error_is_printed_whole(void **state)
{
    (void)state;
    weir_error error = WEIR_ERROR_INIT;
    memset(error.file, 'f', sizeof(error.file) - 1);
    memset(error.path, 'p', sizeof(error.path) - 1);
    memset(error.text, 't', sizeof(error.text) - 1);
    error.line = error.column = UINT32_MAX;
    error.status = WEIR_E_BLOCKING;
    error.os_errno = INT32_MIN;
    char expected[1024];
    snprintf(expected, sizeof(expected), "%s:%u:%u: %s: %s (WEIR_E_BLOCKING, errno %d)", error.file,
             UINT32_MAX, UINT32_MAX, error.path, error.text, INT32_MIN);
    assert_string_equal(expected, formatted(&error));
}

/* What weir_error_print writes to standard error. */
static int printed(const weir_error *error, char *out, size_t size)
{
    const test_paper paper = test_hear();
    const int result = weir_error_print(error);
    test_heard(paper, out, size);
    return result;
}

static void print_answers_what_main_should_return(void **state)
{
    (void)state;
    char text[1024];
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(0, printed(&error, text, sizeof(text)));
    assert_string_equal("", text);
    assert_int_equal(0, printed(NULL, text, sizeof(text)));
    assert_string_equal("", text);
    error.status = WEIR_FULL; /* of a post: the caller put it there */
    assert_int_equal(1, printed(&error, text, sizeof(text)));
    assert_string_equal("no room now (WEIR_FULL)\n", text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fresh_error_says_that_nothing_happened),
        cmocka_unit_test(the_first_error_stays_and_each_call_answers_its_own_status),
        cmocka_unit_test(who_brings_no_error_still_gets_the_status),
        cmocka_unit_test(set_answers_what_the_error_holds_afterwards),
        cmocka_unit_test(set_takes_null_texts),
        cmocka_unit_test(a_system_error_keeps_its_errno),
        cmocka_unit_test(out_of_memory_says_so),
        cmocka_unit_test(a_line_has_the_parts_that_are_there),
        cmocka_unit_test(a_long_text_is_cut_and_ends_in_dots),
        cmocka_unit_test(format_cuts_at_the_buffer_and_tells_the_full_length),
        cmocka_unit_test(the_longest_error_is_printed_whole),
        cmocka_unit_test(print_answers_what_main_should_return),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
