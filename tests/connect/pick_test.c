/*
 * connect/pick_test.c - a piece of a line: a field of JSON, a group of a pattern; and what becomes
 * of lines that were made to hurt.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "connect/pick.h"
#include "engine/option_support.h"

static weir__pick *open_pick(const weir__pick_config *config)
{
    weir_error error = WEIR_ERROR_INIT;
    weir__pick *pick = weir__pick_open(config, false, "it", &error);
    test_error_none(&error);
    assert_non_null(pick);
    return pick;
}

/* `wanted` NULL: nothing is picked, because of `why`. */
static void expect(weir__pick *pick, const char *line, const char *wanted, weir__picked why)
{
    const char *data = NULL;
    size_t size = 0;
    const weir__picked picked = weir__pick_run(pick, line, strlen(line), &data, &size);
    assert_int_equal(wanted != NULL ? WEIR__PICKED : why, picked);
    if (wanted != NULL) {
        assert_int_equal(strlen(wanted), size);
        assert_memory_equal(wanted, data, size);
    }
}

static void a_field_is_found_in_objects_and_arrays(void **state)
{
    (void)state;
    weir__pick *pick = open_pick(&(weir__pick_config){ .field = "user.ids.1" });
    expect(pick, "{\"user\": {\"ids\": [1, \"two\"]}}", "two", 0);
    expect(pick, "{\"user\": {\"ids\": {\"1\": \"named\"}}}", "named", 0);
    expect(pick, "{\"user\": {\"ids\": [1]}}", NULL, WEIR__PICK_MISSING);
    expect(pick, "{\"user\": 7}", NULL, WEIR__PICK_MISSING);
    expect(pick, "[]", NULL, WEIR__PICK_MISSING);
    weir__pick_close(pick);
}

static void numbers_and_words_are_picked_as_text_and_whole_objects_are_not(void **state)
{
    (void)state;
    weir__pick *pick = open_pick(&(weir__pick_config){ .field = "v" });
    expect(pick, "{\"v\": -12}", "-12", 0);
    expect(pick, "{\"v\": 0.5}", "0.5", 0);
    expect(pick, "{\"v\": true}", "true", 0);
    expect(pick, "{\"v\": false}", "false", 0);
    expect(pick, "{\"v\": null}", "null", 0);
    expect(pick, "{\"v\": \"\"}", "", 0);
    expect(pick, "{\"v\": {}}", NULL, WEIR__PICK_MISSING);
    expect(pick, "{\"v\": []}", NULL, WEIR__PICK_MISSING);
    weir__pick_close(pick);
}

static void what_is_not_json_is_told_apart_from_a_field_that_is_missing(void **state)
{
    (void)state;
    weir__pick *pick = open_pick(&(weir__pick_config){ .field = "v" });
    static const char line[] = "{\"v\": \"some text\", \"w\": [1, 2, {\"x\": 3}]}";
    for (size_t cut = 0; cut < sizeof(line) - 1; cut++) {
        const char *data = NULL;
        size_t size = 0;
        assert_int_equal(WEIR__PICK_NOT_JSON, weir__pick_run(pick, line, cut, &data, &size));
    }
    expect(pick, line, "some text", 0);
    expect(pick, "{\"v\": \"\xff\"}", NULL, WEIR__PICK_NOT_JSON);
    expect(pick, "{\"v\": 1} 2", NULL, WEIR__PICK_NOT_JSON);
    weir__pick_close(pick);
}

static void json_of_a_million_brackets_is_refused(void **state)
{
    (void)state;
    weir__pick *pick = open_pick(&(weir__pick_config){ .field = "v" });
    const size_t many = 1000000;
    char *line = malloc(many);
    assert_non_null(line);
    memset(line, '[', many);
    const char *data = NULL;
    size_t size = 0;
    assert_int_equal(WEIR__PICK_NOT_JSON, weir__pick_run(pick, line, many, &data, &size));
    free(line);
    weir__pick_close(pick);
}

static void a_group_of_a_pattern_is_found(void **state)
{
    (void)state;
    weir__pick *pick = open_pick(&(weir__pick_config){ .pattern = "^(\\S+) (a|(b)) ", .group = 1 });
    expect(pick, "10.0.0.1 a GET", "10.0.0.1", 0);
    expect(pick, " a GET", NULL, WEIR__PICK_MISSING);
    expect(pick, "", NULL, WEIR__PICK_MISSING);
    expect(pick, "\xff\xfe b ", "\xff\xfe", 0);
    weir__pick_close(pick);
    pick = open_pick(&(weir__pick_config){ .pattern = "^(\\S+) (a|(b)) ", .group = 3 });
    expect(pick, "x b ", "b", 0);
    expect(pick, "x a ", NULL, WEIR__PICK_MISSING); /* the group took no part */
    weir__pick_close(pick);
}

static void without_a_group_it_is_all_that_matched(void **state)
{
    (void)state;
    weir__pick *pick = open_pick(&(weir__pick_config){ .pattern = "[0-9]+" });
    expect(pick, "order 4711 of 12", "4711", 0);
    weir__pick_close(pick);
}

static void a_pattern_that_would_search_for_ever_gives_up(void **state)
{
    (void)state;
    weir__pick *pick = open_pick(&(weir__pick_config){ .pattern = "^(a+)+$" });
    char line[64];
    memset(line, 'a', sizeof(line) - 2);
    line[sizeof(line) - 2] = 'b';
    line[sizeof(line) - 1] = '\0';
    expect(pick, line, NULL, WEIR__PICK_GAVE_UP);
    expect(pick, "aaa", "aaa", 0);
    weir__pick_close(pick);
}

static void wrong(const weir__pick_config *config, const char *says)
{
    weir_error error = WEIR_ERROR_INIT;
    assert_null(weir__pick_open(config, false, "it", &error));
    assert_int_equal(WEIR_E_CONFIG, error.status);
    assert_string_equal("it", error.path);
    if (strstr(error.text, says) == NULL) {
        fail_msg("'%s' is not in: %s", says, error.text);
    }
}

static void what_cannot_be_picked_is_refused_with_the_reason(void **state)
{
    (void)state;
    wrong(&(weir__pick_config){ 0 }, "neither field nor pattern");
    wrong(&(weir__pick_config){ .field = "a", .pattern = "b" }, "both");
    wrong(&(weir__pick_config){ .field = "a..b" }, "names with dots");
    wrong(&(weir__pick_config){ .field = "" }, "names with dots");
    wrong(&(weir__pick_config){ .pattern = "(a" }, "character 3");
    wrong(&(weir__pick_config){ .pattern = "(a)", .group = 2 }, "has 1");
}

static void nothing_to_pick_is_the_whole_line_where_that_is_allowed(void **state)
{
    (void)state;
    weir_error error = WEIR_ERROR_INIT;
    weir__pick *pick = weir__pick_open(&(weir__pick_config){ 0 }, true, "it", &error);
    test_error_none(&error);
    expect(pick, "any line", "any line", 0);
    weir__pick_close(pick);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_field_is_found_in_objects_and_arrays),
        cmocka_unit_test(numbers_and_words_are_picked_as_text_and_whole_objects_are_not),
        cmocka_unit_test(what_is_not_json_is_told_apart_from_a_field_that_is_missing),
        cmocka_unit_test(json_of_a_million_brackets_is_refused),
        cmocka_unit_test(a_group_of_a_pattern_is_found),
        cmocka_unit_test(without_a_group_it_is_all_that_matched),
        cmocka_unit_test(a_pattern_that_would_search_for_ever_gives_up),
        cmocka_unit_test(what_cannot_be_picked_is_refused_with_the_reason),
        cmocka_unit_test(nothing_to_pick_is_the_whole_line_where_that_is_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
