/*
 * tree/write_test.c - trees as JSON and as HOCON: order, escapes, numbers, depth, sinks that
 * refuse.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tree_support.h"

static void assert_json_line(const weir__tree *tree, const weir__node *node, const char *expected)
{
    written out = { 0 };
    assert_true(weir__write_json_line(tree, node, write_down, &out));
    assert_string_equal(expected, out.text);
}

static weir__node *example(weir__tree *tree)
{
    weir__node *root = weir__node_object(tree, nowhere), *list = weir__node_list(tree, nowhere);
    weir__node *inner = weir__node_object(tree, nowhere);
    assert_true(weir__list_append(tree, list, number_of(tree, "1")));
    assert_true(weir__list_append(tree, list, inner));
    assert_true(weir__list_append(tree, list, weir__node_list(tree, nowhere)));
    set(tree, inner, "x y", weir__node_null(tree, nowhere));
    set(tree, root, "b", list);
    set(tree, root, "a-1", weir__node_boolean(tree, nowhere, true));
    set(tree, root, "c", weir__node_object(tree, nowhere));
    set(tree, root, "include", string_of(tree, "x"));
    return root;
}

static void keys_are_sorted_two_spaces_a_level_a_newline_at_the_end(void **state)
{
    (void)state;
    weir__tree *tree = new_tree();
    written out = { 0 };
    assert_true(weir__write_json(tree, example(tree), write_down, &out));
    assert_string_equal("{\n"
                        "  \"a-1\": true,\n"
                        "  \"b\": [\n"
                        "    1,\n"
                        "    {\n"
                        "      \"x y\": null\n"
                        "    },\n"
                        "    []\n"
                        "  ],\n"
                        "  \"c\": {},\n"
                        "  \"include\": \"x\"\n"
                        "}\n",
                        out.text);
    assert_json_line(tree, example(tree),
                     "{\"a-1\": true, \"b\": [1, {\"x y\": null}, []], \"c\": {}, "
                     "\"include\": \"x\"}");
    weir__tree_destroy(tree);
}

static void hocon_keeps_the_order_and_quotes_keys_where_it_must(void **state)
{
    (void)state;
    weir__tree *tree = new_tree();
    written out = { 0 };
    assert_true(weir__write_hocon(tree, example(tree), write_down, &out));
    assert_string_equal("{b = [1, {\"x y\" = null}, []], a-1 = true, c = {}, \"include\" = \"x\"}",
                        out.text);
    weir__node *object = weir__node_object(tree, nowhere);
    static const char *const keys[] = { "", "1", "a.b", "_a9-", "-a", "a$", "\xc3\xa9" };
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        set(tree, object, keys[i], number_of(tree, "0"));
    }
    out.length = 0;
    assert_true(weir__write_hocon(tree, object, write_down, &out));
    assert_string_equal("{\"\" = 0, \"1\" = 0, \"a.b\" = 0, _a9- = 0, \"-a\" = 0, \"a$\" = 0, "
                        "\"\xc3\xa9\" = 0}",
                        out.text);
    weir__tree_destroy(tree);
}

static void keys_are_compared_byte_by_byte(void **state)
{
    (void)state;
    weir__tree *tree = new_tree();
    weir__node *object = weir__node_object(tree, nowhere);
    static const char *const keys[] = { "\xff", "b", "ab", "a", "B", "", "a\xc3\xa9", "a b" };
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        set(tree, object, keys[i], number_of(tree, "0"));
    }
    assert_true(weir__object_set(tree, object, "a\0", 2, number_of(tree, "0")));
    assert_json_line(tree, object,
                     "{\"\": 0, \"B\": 0, \"a\": 0, \"a\\u0000\": 0, \"a b\": 0, \"ab\": 0, "
                     "\"a\xc3\xa9\": 0, \"b\": 0, \"\xff\": 0}");
    weir__tree_destroy(tree);
}

static void strings_are_escaped_as_json_wants_it(void **state)
{
    (void)state;
    weir__tree *tree = new_tree();
    assert_json_line(tree, string_of(tree, "\"\\/\b\f\n\r\t"), "\"\\\"\\\\/\\b\\f\\n\\r\\t\"");
    assert_json_line(tree, weir__node_string(tree, nowhere, "\0\x01\x1f\x7f", 4),
                     "\"\\u0000\\u0001\\u001f\\u007f\"");
    assert_json_line(tree, string_of(tree, "\xc2\x9b\xc2\xa0\xf0\x9f\x8c\x8a"),
                     "\"\\u009b\xc2\xa0\xf0\x9f\x8c\x8a\"");
    assert_json_line(tree, string_of(tree, "\xc2"), "\"\xc2\"");
    assert_json_line(tree, string_of(tree, ""), "\"\"");
    weir__tree_destroy(tree);
}

static void numbers_are_written_as_they_were_but_for_what_json_does_not_know(void **state)
{
    (void)state;
    weir__tree *tree = new_tree();
    static const char *const rows[][2] = {
        { "0", "0" },
        { "1.50", "1.50" },
        { "-0", "-0" },
        { "1e5", "1e5" },
        { "1E+05", "1E+05" },
        { "007", "7" },
        { "000", "0" },
        { "-00.5", "-0.5" },
        { "1.", "1" },
        { "-.5", "-0.5" },
        { "1.e3", "1e3" },
        { "1e400", "1e400" },
        { "123456789012345678901234567890", "123456789012345678901234567890" },
        { "0x10", "\"0x10\"" },
        { "5f", "\"5f\"" },
        { "1e5d", "\"1e5d\"" },
        { "", "\"\"" },
        { "0x1p3", "\"0x1p3\"" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_json_line(tree, number_of(tree, rows[i][0]), rows[i][1]);
    }
    weir__tree_destroy(tree);
}

static void a_scalar_alone_is_a_document(void **state)
{
    (void)state;
    weir__tree *tree = new_tree();
    written out = { 0 };
    assert_true(weir__write_json(tree, weir__node_null(tree, nowhere), write_down, &out));
    assert_string_equal("null\n", out.text);
    weir__tree_destroy(tree);
}

static bool count_bytes(void *context, const char *bytes, size_t length)
{
    (void)bytes;
    *(size_t *)context += length;
    return true;
}

static void a_hundred_thousand_levels_do_not_overflow_the_stack(void **state)
{
    (void)state;
    weir__tree *tree = new_tree();
    enum { LEVELS = 100000 };
    weir__node *root = weir__node_list(tree, nowhere), *list = root;
    for (int i = 1; i < LEVELS; i++) {
        weir__node *inner = weir__node_list(tree, nowhere);
        assert_true(weir__list_append(tree, list, inner));
        list = inner;
    }
    size_t length = 0;
    assert_true(weir__write_hocon(tree, root, count_bytes, &length));
    assert_int_equal(2 * LEVELS, length);
    weir__tree_destroy(tree);
}

static void long_texts_arrive_whole_and_in_pieces(void **state)
{
    (void)state;
    weir__tree *tree = new_tree();
    char text[7000];
    memset(text, 'x', sizeof(text));
    written out = { 0 };
    assert_true(weir__write_json_line(tree, weir__node_string(tree, nowhere, text, sizeof(text)),
                                      write_down, &out));
    assert_int_equal(sizeof(text) + 2, out.length);
    assert_memory_equal(text, out.text + 1, sizeof(text));
    weir__tree_destroy(tree);
}

/* Keys out of order at every level, so that each is sorted. */
static weir__node *unsorted(weir__tree *tree, int levels)
{
    weir__node *object = weir__node_object(tree, nowhere);
    for (int i = 0; i < levels; i++) {
        weir__node *outer = weir__node_object(tree, nowhere);
        set(tree, outer, "b", object);
        set(tree, outer, "a", weir__node_null(tree, nowhere));
        object = outer;
    }
    return object;
}

static void a_sink_that_refuses_ends_the_writing_and_nothing_leaks(void **state)
{
    (void)state;
    test_memory memory;
    test_memory_open(&memory, 0);
    weir__tree *tree = weir__tree_create(&memory.allocator, 0);
    const weir__node *node = unsorted(tree, 40);
    const uint64_t before = weir__load(&memory.bytes, relaxed);
    written all = { 0 };
    assert_true(weir__write_json(tree, node, write_down, &all));
    for (size_t refuse = 1; refuse <= all.length; refuse += 97) {
        written out = { .refuse_from = refuse };
        assert_false(weir__write_json(tree, node, write_down, &out));
        assert_int_equal(before, weir__load(&memory.bytes, relaxed));
    }
    weir__tree_destroy(tree);
    test_memory_check(&memory);
}

static void whichever_allocation_fails_nothing_leaks(void **state)
{
    (void)state;
    test_memory memory;
    test_memory_open(&memory, 0);
    weir__tree *tree = weir__tree_create(&memory.allocator, 0);
    const weir__node *node = unsorted(tree, 40);
    const uint64_t before = weir__load(&memory.bytes, relaxed);
    const uint32_t calls = weir__load(&memory.calls, relaxed);
    bool done = false;
    uint32_t nth = 1;
    for (; !done; nth++) {
        memory.refuse_from = weir__load(&memory.calls, relaxed) + nth;
        written out = { 0 };
        done = weir__write_json(tree, node, write_down, &out);
        assert_int_equal(before, weir__load(&memory.bytes, relaxed));
    }
    assert_true(nth > 40 && calls > 0);
    memory.refuse_from = 0;
    weir__tree_destroy(tree);
    test_memory_check(&memory);
}

static void a_hundred_thousand_keys_are_sorted(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    weir__tree *tree = new_tree();
    weir__node *object = weir__node_object(tree, nowhere), *zero = number_of(tree, "0");
    const uint32_t count = test_load(100000);
    for (uint32_t i = 0; i < count; i++) {
        char key[32];
        snprintf(key, sizeof(key), "%016llx.%u", (unsigned long long)test_random(&random), i);
        set(tree, object, key, zero);
    }
    size_t length = 0;
    assert_true(weir__write_json(tree, object, count_bytes, &length));
    assert_true(length > (size_t)count * 20);
    weir__tree_destroy(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_sorted_two_spaces_a_level_a_newline_at_the_end),
        cmocka_unit_test(hocon_keeps_the_order_and_quotes_keys_where_it_must),
        cmocka_unit_test(keys_are_compared_byte_by_byte),
        cmocka_unit_test(strings_are_escaped_as_json_wants_it),
        cmocka_unit_test(numbers_are_written_as_they_were_but_for_what_json_does_not_know),
        cmocka_unit_test(a_scalar_alone_is_a_document),
        cmocka_unit_test(a_hundred_thousand_levels_do_not_overflow_the_stack),
        cmocka_unit_test(long_texts_arrive_whole_and_in_pieces),
        cmocka_unit_test(a_sink_that_refuses_ends_the_writing_and_nothing_leaks),
        cmocka_unit_test(whichever_allocation_fails_nothing_leaks),
        cmocka_unit_test(a_hundred_thousand_keys_are_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
