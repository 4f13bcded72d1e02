/*
 * tree/problem_test.c - findings: in order, once each, fit to be printed whatever a file holds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tree_support.h"

#include "tree/problem.h"

typedef struct fixture {
    test_memory memory;
    weir__problems problems;
} fixture;

static int open_fixture(void **state)
{
    static fixture f;
    test_memory_open(&f.memory, 0);
    f.problems = (weir__problems){ .allocator = &f.memory.allocator };
    *state = &f;
    return 0;
}

static int close_fixture(void **state)
{
    fixture *f = *state;
    weir__problems_close(&f->problems);
    test_memory_check(&f->memory);
    return 0;
}

static weir__origin at(const char *source, uint32_t line, uint32_t column)
{
    return (weir__origin){ .source = source, .line = line, .column = column };
}

static void error_at(weir__problems *problems, const char *source, uint32_t line, uint32_t column,
                     const char *text)
{
    weir__problems_add(problems, WEIR__ERROR, at(source, line, column), "a.b", "%s", text);
}

/* "a.conf:1:2 text; ..." */
static void assert_order(const weir__problems *problems, const char *expected)
{
    char all[2000] = "";
    for (size_t i = 0; i < problems->count; i++) {
        const size_t used = strlen(all);
        const weir__problem *p = &problems->items[i];
        snprintf(all + used, sizeof(all) - used, "%s%s:%u:%u %s", i > 0 ? "; " : "",
                 p->origin.source, p->origin.line, p->origin.column, p->text);
    }
    assert_string_equal(expected, all);
}

static void assert_shown(fixture *f, const char *given, const char *expected)
{
    weir__problems_add(&f->problems, WEIR__ERROR, at(given, 0, 0), given, "%s", given);
    const weir__problem *last = &f->problems.items[f->problems.count - 1];
    assert_string_equal(expected, last->text);
    assert_string_equal(expected, last->path);
    assert_string_equal(expected, last->origin.source);
}

static void texts_are_copied_and_nothing_need_be_known(void **state)
{
    fixture *f = *state;
    char source[] = "a.conf", path[] = "x.y";
    weir__problems_add(&f->problems, WEIR__WARNING, at(source, 1, 2), path, "%d of %s", 3, "them");
    memset(source, '?', 6);
    memset(path, '?', 3);
    weir__problems_add(&f->problems, WEIR__NOTE, nowhere, NULL, "so");
    assert_int_equal(2, f->problems.count);
    assert_int_equal(0, f->problems.errors);
    assert_false(weir__problems_failed(&f->problems));
    assert_string_equal("a.conf", f->problems.items[0].origin.source);
    assert_string_equal("x.y", f->problems.items[0].path);
    assert_string_equal("3 of them", f->problems.items[0].text);
    assert_string_equal("", f->problems.items[1].origin.source);
    assert_string_equal("", f->problems.items[1].path);
    assert_int_equal(WEIR_OK, weir__problems_error(&f->problems, NULL));
}

static void a_hostile_file_cannot_write_to_a_terminal(void **state)
{
    fixture *f = *state;
    assert_shown(f, "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x8c\x8a",
                 "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x8c\x8a");
    assert_shown(f, "\x1b[2J\a\b\r\n\t\x7f", "\\x1b[2J\\x07\\x08\\x0d\\x0a\\x09\\x7f");
    assert_shown(f,
                 "\xc2\x9b"
                 "2J",
                 "\\xc2\\x9b2J"); /* a C1 control */
    assert_shown(f,
                 "\xe2\x80\xae"
                 "fnoc",
                 "\\xe2\\x80\\xaefnoc");                /* right to left */
    assert_shown(f, "\xe2\x81\xa6", "\\xe2\\x81\\xa6"); /* isolates */
    assert_shown(f,
                 "a\xe2\x80\x8b"
                 "b\xe2\x80\x8f",
                 "a\\xe2\\x80\\x8bb\\xe2\\x80\\x8f");
    assert_shown(f, "\xd8\x9c", "\\xd8\\x9c");          /* an Arabic mark */
    assert_shown(f, "\xef\xbb\xbf", "\\xef\\xbb\\xbf"); /* a byte order mark */
}

static void what_is_not_utf_8_is_shown_byte_by_byte(void **state)
{
    fixture *f = *state;
    assert_shown(f, "\x80\xff", "\\x80\\xff");
    assert_shown(f, "a\xc3", "a\\xc3");
    assert_shown(f, "\xe2\x82", "\\xe2\\x82");
    assert_shown(f, "\xf0\x9f\x8c", "\\xf0\\x9f\\x8c");
    assert_shown(f, "\xc0\xaf", "\\xc0\\xaf"); /* too long for what it is */
    assert_shown(f, "\xe0\x80\xaf", "\\xe0\\x80\\xaf");
    assert_shown(f, "\xf0\x80\x80\xaf", "\\xf0\\x80\\x80\\xaf");
    assert_shown(f, "\xed\xa0\x80", "\\xed\\xa0\\x80");          /* half a surrogate pair */
    assert_shown(f, "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"); /* beyond Unicode */
    assert_shown(f, "\xf4\x8f\xbf\xbd", "\xf4\x8f\xbf\xbd");
    assert_shown(f, "\xc3(", "\\xc3(");
}

static void long_texts_are_cut_between_characters(void **state)
{
    fixture *f = *state;
    enum { SIZE = 100000 };
    char *text = malloc(SIZE + 1);
    assert_non_null(text);
    for (size_t shift = 0; shift < 4; shift++) {
        memset(text, 'a', SIZE);
        for (size_t i = shift; i + 3 < SIZE; i += 3) {
            memcpy(text + i, "\xe2\x82\xac", 3);
        }
        text[SIZE] = '\0';
        weir__problems_add(&f->problems, WEIR__ERROR, at(text, 1, 1), text, "%s", text);
        const weir__problem *last = &f->problems.items[f->problems.count - 1];
        const char *const all[] = { last->text, last->path, last->origin.source };
        for (size_t i = 0; i < 3; i++) {
            const size_t length = strlen(all[i]);
            assert_true(length > 900 && length < 1000);
            assert_string_equal("...", all[i] + length - 3);
            assert_null(strchr(all[i], '\\'));
        }
    }
    free(text);
}

static void a_file_of_garbage_is_not_worth_more_than_the_first_200(void **state)
{
    fixture *f = *state;
    for (uint32_t i = 1; i <= 1000; i++) {
        error_at(&f->problems, "a", i, 1, "x");
    }
    assert_int_equal(WEIR__PROBLEMS_MAX, f->problems.count);
    assert_int_equal(1000, f->problems.errors);
    assert_int_equal(1000 - WEIR__PROBLEMS_MAX, f->problems.left_out);
    assert_int_equal(WEIR__PROBLEMS_MAX, f->problems.items[WEIR__PROBLEMS_MAX - 1].origin.line);
}

static void no_number_of_warnings_hides_an_error(void **state)
{
    fixture *f = *state;
    for (uint32_t i = 1; i <= 1000; i++) {
        weir__problems_add(&f->problems, i % 2 != 0 ? WEIR__NOTE : WEIR__WARNING, at("a", i, 1), "",
                           "x");
    }
    assert_int_equal(0, f->problems.left_out);
    error_at(&f->problems, "b.conf", 7, 9, "the error");
    assert_true(weir__problems_failed(&f->problems));
    weir_error error = { 0 };
    assert_int_equal(WEIR_E_CONFIG, weir__problems_error(&f->problems, &error));
    assert_string_equal("b.conf", error.file);
    assert_int_equal(7, error.line);
    assert_int_equal(9, error.column);
    assert_non_null(strstr(error.text, "the error"));
    assert_string_equal("a.b", error.path);
}

static void an_error_that_is_set_already_stays(void **state)
{
    fixture *f = *state;
    error_at(&f->problems, "b.conf", 7, 9, "the error");
    weir_error error = { .status = WEIR_E_USER };
    assert_int_equal(WEIR_E_CONFIG, weir__problems_error(&f->problems, &error));
    assert_int_equal(WEIR_E_USER, error.status);
}

static void findings_are_sorted_by_source_and_place(void **state)
{
    fixture *f = *state;
    error_at(&f->problems, "b", 2, 1, "1");
    error_at(&f->problems, "a", 9, 1, "2");
    error_at(&f->problems, "b", 1, 9, "3");
    error_at(&f->problems, "b", 1, 2, "4");
    error_at(&f->problems, "a", 1, 1, "5");
    error_at(&f->problems, "b", 0, 0, "6");
    error_at(&f->problems, "a", 9, 1, "7");
    error_at(&f->problems, "b", 1, 2, "0");
    weir__problems_sort(&f->problems);
    assert_order(&f->problems,
                 "b:0:0 6; b:1:2 4; b:1:2 0; b:1:9 3; b:2:1 1; a:1:1 5; a:9:1 2; a:9:1 7");
}

static void any_order_of_findings_sorts_to_the_same(void **state)
{
    fixture *f = *state;
    uint64_t random = test_seed();
    for (int round = 0; round < 50; round++) {
        /* The sources are named in order first: that is what they are sorted by. */
        for (char source[] = "a"; source[0] < 'e'; source[0]++) {
            error_at(&f->problems, source, 0, 0, "first");
        }
        for (int i = 0; i < 150; i++) {
            const uint64_t choice = test_random(&random);
            const char source[] = { (char)('a' + choice % 4), '\0' };
            error_at(&f->problems, source, 1 + (uint32_t)(choice >> 8) % 20,
                     (uint32_t)(choice >> 16) % 5, "x");
        }
        weir__problems_sort(&f->problems);
        assert_int_equal(f->problems.count, f->problems.errors);
        for (size_t i = 1; i < f->problems.count; i++) {
            const weir__origin a = f->problems.items[i - 1].origin, b = f->problems.items[i].origin;
            const int order = strcmp(a.source, b.source);
            assert_true(order < 0 || (order == 0 && (a.line < b.line ||
                                                     (a.line == b.line && a.column < b.column))));
        }
        weir__problems_close(&f->problems);
    }
}

static void the_same_finding_twice_at_one_place_becomes_one(void **state)
{
    fixture *f = *state;
    error_at(&f->problems, "a", 1, 1, "x");
    error_at(&f->problems, "a", 1, 1, "y");
    error_at(&f->problems, "a", 1, 1, "x");
    error_at(&f->problems, "b", 1, 1, "x");
    error_at(&f->problems, "a", 1, 2, "x");
    weir__problems_add(&f->problems, WEIR__WARNING, at("a", 1, 1), "a.b", "x");
    weir__problems_add(&f->problems, WEIR__WARNING, at("a", 1, 1), "a.c", "x");
    weir__problems_sort(&f->problems);
    assert_order(&f->problems, "a:1:1 x; a:1:1 y; a:1:1 x; a:1:1 x; a:1:2 x; b:1:1 x");
    assert_int_equal(4, f->problems.errors);
    weir__problems_sort(&f->problems);
    assert_int_equal(6, f->problems.count);
}

static void a_finding_is_shown_with_what_is_known_of_it(void **state)
{
    (void)state;
    static const struct {
        weir__problem problem;
        const char *expected;
    } rows[] = {
        { { WEIR__ERROR, { "app.conf", 12, 5 }, "weir.x", "0.9 is not > 1.0" },
          "app.conf:12:5: weir.x: 0.9 is not > 1.0" },
        { { WEIR__WARNING, { "app.conf", 12, 0 }, "weir.x", "much" },
          "app.conf:12: weir.x: warning: much" },
        { { WEIR__NOTE, { "environment", 0, 0 }, "", "so" }, "environment: note: so" },
        { { WEIR__ERROR, { "", 0, 0 }, "a", "so" }, "a: so" },
        { { WEIR__ERROR, { "", 0, 0 }, "", "so" }, "so" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[100];
        const size_t length = strlen(rows[i].expected);
        assert_int_equal(length, weir__problem_format(&rows[i].problem, text, sizeof(text)));
        assert_string_equal(rows[i].expected, text);
        assert_int_equal(length, weir__problem_format(&rows[i].problem, text, 3));
        assert_int_equal(2, strlen(text));
        assert_int_equal(length, weir__problem_format(&rows[i].problem, NULL, 0));
    }
}

static void no_memory_is_a_failure_of_its_own(void **state)
{
    fixture *f = *state;
    weir__problems_memory(&f->problems);
    assert_true(weir__problems_failed(&f->problems));
    weir_error error = { 0 };
    assert_int_equal(WEIR_E_NOMEM, weir__problems_error(&f->problems, &error));
    assert_int_equal(WEIR_E_NOMEM, error.status);
}

static void a_finding_that_cannot_be_kept_is_a_failure_all_the_same(void **state)
{
    (void)state;
    for (uint32_t nth = 1; nth <= 12; nth++) {
        test_memory memory;
        test_memory_open(&memory, nth);
        weir__problems problems = { .allocator = &memory.allocator };
        for (uint32_t i = 0; i < 20; i++) {
            weir__problems_add(&problems, WEIR__NOTE, at("a", i, 1), "path", "text");
        }
        assert_true(weir__problems_failed(&problems));
        assert_true(problems.out_of_memory && problems.count < 20);
        weir__problems_sort(&problems);
        weir__problems_close(&problems);
        test_memory_check(&memory);
    }
}

static void a_closed_list_can_be_used_again(void **state)
{
    fixture *f = *state;
    error_at(&f->problems, "a", 1, 1, "x");
    weir__problems_close(&f->problems);
    assert_false(weir__problems_failed(&f->problems));
    error_at(&f->problems, "a", 1, 1, "y");
    assert_order(&f->problems, "a:1:1 y");
}

#define sentence(test) cmocka_unit_test_setup_teardown(test, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        sentence(texts_are_copied_and_nothing_need_be_known),
        sentence(a_hostile_file_cannot_write_to_a_terminal),
        sentence(what_is_not_utf_8_is_shown_byte_by_byte),
        sentence(long_texts_are_cut_between_characters),
        sentence(a_file_of_garbage_is_not_worth_more_than_the_first_200),
        sentence(no_number_of_warnings_hides_an_error),
        sentence(an_error_that_is_set_already_stays),
        sentence(findings_are_sorted_by_source_and_place),
        sentence(any_order_of_findings_sorts_to_the_same),
        sentence(the_same_finding_twice_at_one_place_becomes_one),
        sentence(a_finding_is_shown_with_what_is_known_of_it),
        sentence(no_memory_is_a_failure_of_its_own),
        sentence(a_finding_that_cannot_be_kept_is_a_failure_all_the_same),
        sentence(a_closed_list_can_be_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
