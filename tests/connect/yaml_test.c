/*
 * connect/yaml_test.c - YAML as the same tree: values, places, aliases, tags, and everything that
 * is refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../tree/tree_support.h"

#include <sys/stat.h>

#include "connect/yaml.h"

typedef struct fixture {
    weir__problems problems;
    weir__tree *tree;
    weir__yaml_options options;
} fixture;

static int open_fixture(void **state)
{
    static fixture f;
    f = (fixture){ .problems = { .allocator = weir__allocator_default() } };
    *state = &f;
    return 0;
}

static int close_fixture(void **state)
{
    fixture *f = *state;
    weir__tree_destroy(f->tree);
    weir__problems_close(&f->problems);
    return 0;
}

/* Each time anew. */
static weir__tree *read_text(fixture *f, const char *text, size_t size)
{
    weir__tree_destroy(f->tree);
    weir__problems_close(&f->problems);
    f->tree = weir__yaml_read_text(&f->options, "a.yaml", text, size, &f->problems);
    assert_int_equal(f->tree == NULL, weir__problems_failed(&f->problems));
    weir__problems_sort(&f->problems);
    return f->tree;
}

static void assert_reads(fixture *f, const char *text, const char *json)
{
    written out = { 0 };
    if (read_text(f, text, strlen(text)) == NULL) {
        print_error("%s: %s\n", text, f->problems.count > 0 ? f->problems.items[0].text : "?");
        fail();
    }
    assert_true(weir__write_json_line(f->tree, f->tree->root, write_down, &out));
    assert_string_equal(json, out.text);
}

/* `expected` is all that was found, a line each. */
static void assert_says(fixture *f, const char *text, const char *expected)
{
    read_text(f, text, strlen(text));
    char all[2000] = "";
    for (size_t i = 0; i < f->problems.count; i++) {
        const size_t used = strlen(all);
        (void)weir__problem_format(&f->problems.items[i], all + used, sizeof(all) - used - 1);
        snprintf(all + strlen(all), 2, "\n");
    }
    assert_string_equal(expected, all);
}

/* --- values ----------------------------------------------------------------------------------- */

static void the_core_schema_says_what_a_word_is(void **state)
{
    fixture *f = *state;
    static const char *const rows[][2] = {
        { "null", "null" },
        { "~", "null" },
        { "", "null" },
        { "Null", "null" },
        { "nUll", "\"nUll\"" },
        { "true", "true" },
        { "False", "false" },
        { "TRUE", "true" },
        { "yes", "\"yes\"" },
        { "on", "\"on\"" },
        { "0", "0" },
        { "-12", "-12" },
        { "+12", "12" },
        { "007", "7" },
        { "0x1F", "31" },
        { "0o17", "15" },
        { "0o18", "\"0o18\"" },
        { "0xg", "\"0xg\"" },
        { "-0x1", "\"-0x1\"" },
        { "0x", "\"0x\"" },
        { "1.50", "1.50" },
        { ".5", "0.5" },
        { "5.", "5" },
        { "1e3", "1e3" },
        { "-1.5E-3", "-1.5E-3" },
        { "1e", "\"1e\"" },
        { ".", "\".\"" },
        { "1_000", "\"1_000\"" },
        { "12:30", "\"12:30\"" },
        { ".inf", "\".inf\"" },
        { "-.inf", "\"-.inf\"" },
        { ".nan", "\".nan\"" },
        { "0xffffffffffffffff", "18446744073709551615" },
        { "0x10000000000000000", "\"0x10000000000000000\"" },
        { "10s", "\"10s\"" },
        { "\"5\"", "\"5\"" },
        { "'true'", "\"true\"" },
        { "\"\"", "\"\"" },
        { "2024-01-31", "\"2024-01-31\"" },
        { "1.2.3", "\"1.2.3\"" },
        { "a b # c", "\"a b\"" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[100], json[100];
        snprintf(text, sizeof(text), "a: %s\n", rows[i][0]);
        snprintf(json, sizeof(json), "{\"a\": %s}", rows[i][1]);
        assert_reads(f, text, json);
    }
}

static void mappings_lists_and_blocks_become_the_same_tree(void **state)
{
    fixture *f = *state;
    assert_reads(f,
                 "# a comment\n"
                 "---\n"
                 "weir:\n"
                 "  engine: {batch-max: 8, names: [a, 'b c', \"d\\n\"]}\n"
                 "  list:\n"
                 "    - 1\n"
                 "    - x: 1\n"
                 "      y: [[]]\n"
                 "    -\n"
                 "  text: |\n"
                 "    one\n"
                 "    two\n"
                 "  folded: >-\n"
                 "    one\n"
                 "    two\n"
                 "8080: {}\n"
                 "true: ${x}\n",
                 "{\"8080\": {}, \"true\": \"${x}\", \"weir\": {\"engine\": {\"batch-max\": 8, "
                 "\"names\": [\"a\", \"b c\", \"d\\n\"]}, \"folded\": \"one two\", \"list\": [1, "
                 "{\"x\": 1, \"y\": [[]]}, null], \"text\": \"one\\ntwo\\n\"}}");
}

static void a_file_without_content_is_an_empty_object(void **state)
{
    fixture *f = *state;
    static const char *const texts[] = { "",      "\n\n",         "# only a comment",
                                         "---\n", "---\n...\n",   "null",
                                         "{}",    "\xef\xbb\xbf", "%YAML 1.2\n---\n" };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_reads(f, texts[i], "{}");
        assert_int_equal(0, f->problems.count);
    }
}

static void a_byte_order_mark_and_windows_lines_are_fine(void **state)
{
    fixture *f = *state;
    assert_reads(f,
                 "\xef\xbb\xbf"
                 "a: 1\r\nb:\r\n  - x\r\n",
                 "{\"a\": 1, \"b\": [\"x\"]}");
    assert_int_equal(1, weir__tree_at(f->tree, f->tree->root, "a")->origin.line);
    assert_int_equal(4, weir__tree_at(f->tree, f->tree->root, "a")->origin.column);
}

static void every_value_knows_where_it_was_written(void **state)
{
    fixture *f = *state;
    static const char text[] = "a: 1\n"
                               "b:\n"
                               "  c: [x, {y: 2}]\n"
                               "\xc3\xa9\xc3\xa9: \"\xe2\x82\xac\" # columns are characters\n"
                               "d:\n"
                               "e: !Some\n"
                               "f: &anchor {g: 1}\n"
                               "h: *anchor\n";
    static const struct {
        const char *path;
        uint32_t line, column;
    } rows[] = { { "a", 1, 4 }, { "b", 3, 3 }, { "b.c", 3, 6 },  { "\xc3\xa9\xc3\xa9", 4, 5 },
                 { "d", 5, 1 }, { "e", 6, 4 }, { "f.g", 7, 16 }, { "h.g", 7, 16 } };
    assert_non_null(read_text(f, text, sizeof(text) - 1));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const weir__node *node = weir__tree_at(f->tree, f->tree->root, rows[i].path);
        assert_non_null(node);
        assert_string_equal("a.yaml", node->origin.source);
        assert_int_equal(rows[i].line, node->origin.line);
        assert_int_equal(rows[i].column, node->origin.column);
    }
    const weir__node *list = weir__tree_at(f->tree, f->tree->root, "b.c");
    assert_int_equal(7, list->list.items[0]->origin.column);
    assert_int_equal(10, list->list.items[1]->origin.column);
}

/* --- aliases and merges ----------------------------------------------------------------------- */

static void an_alias_is_a_copy_of_what_has_the_anchor(void **state)
{
    fixture *f = *state;
    assert_reads(f, "a: &x [1, {b: 2}]\nc: *x\nd: [*x, *x]\n",
                 "{\"a\": [1, {\"b\": 2}], \"c\": [1, {\"b\": 2}], \"d\": [[1, {\"b\": 2}], [1, "
                 "{\"b\": 2}]]}");
    const weir__node *root = f->tree->root;
    assert_ptr_not_equal(weir__tree_at(f->tree, root, "a"), weir__tree_at(f->tree, root, "c"));
    assert_reads(f, "a: &x 1\nb: *x\nc: &x 2\nd: *x\n", "{\"a\": 1, \"b\": 1, \"c\": 2, \"d\": 2}");
    assert_reads(f, "&k a: *k\n", "{\"a\": \"a\"}");
    assert_reads(f, "a: &e !Thing {}\nb: *e\n", "{\"a\": \"Thing\", \"b\": \"Thing\"}");
}

static void a_merge_key_fills_in_what_is_not_there(void **state)
{
    fixture *f = *state;
    static const char defaults[] = "x: &x {a: 1, b: 1}\ny: &y {b: 2, c: 2}\n";
    static const char *const rows[][2] = {
        { "z: {<<: *x, a: 0}", "{\"a\": 0, \"b\": 1}" },
        { "z: {a: 0, <<: *x}", "{\"a\": 0, \"b\": 1}" },
        { "z: {<<: [*x, *y]}", "{\"a\": 1, \"b\": 1, \"c\": 2}" },
        { "z: {<<: [*y, *x]}", "{\"a\": 1, \"b\": 2, \"c\": 2}" },
        { "z: {<<: {d: 4}, e: 5}", "{\"d\": 4, \"e\": 5}" },
        { "z: {<<: []}", "{}" },
        { "z: {'<<': 1}", "{\"<<\": 1}" },
        { "z: {<<: *x, <<: *y}", "{\"a\": 1, \"b\": 1, \"c\": 2}" },
        { "z: &z {<<: *x}\nw: {<<: *z}", "{\"a\": 1, \"b\": 1}" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[200];
        snprintf(text, sizeof(text), "%s%s\n", defaults, rows[i][0]);
        if (read_text(f, text, strlen(text)) == NULL) {
            fail_msg("%s: %s", text, f->problems.items[0].text);
        }
        written out = { 0 };
        assert_true(weir__write_json_line(f->tree, weir__tree_at(f->tree, f->tree->root, "z"),
                                          write_down, &out));
        assert_string_equal(rows[i][1], out.text);
    }
}

static void aliases_that_cannot_be_are_explained(void **state)
{
    fixture *f = *state;
    assert_says(f, "a: *x\nb: *y\n",
                "a.yaml:1:5: there is no anchor &x above this alias\n"
                "a.yaml:2:5: there is no anchor &y above this alias\n");
    assert_says(f, "a: &x [*x]\n", "a.yaml:1:9: the alias *x stands in what it stands for\n");
    assert_says(f, "a: {<<: 1}\nb: {<<: [1]}\n",
                "a.yaml:1:5: << takes a mapping or a list of mappings, as in <<: *defaults\n"
                "a.yaml:2:5: << takes a mapping or a list of mappings, as in <<: *defaults\n");
    assert_says(f, "a: &x 1\n? *x\n: 2\nb: 1\nb: 2\n",
                "a.yaml:2:4: an alias cannot be a key here: a key is a text\n"
                "a.yaml:5:1: the key 'b' is there already, at line 4, column 1: one of them has "
                "to go\n");
}

static void a_billion_laughs_end_in_an_error(void **state)
{
    fixture *f = *state;
    char text[4000] = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n";
    for (int i = 1; i < 20; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof(text) - used,
                 "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i, i - 1,
                 i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    }
    assert_null(read_text(f, text, strlen(text)));
    assert_int_equal(1, f->problems.count);
    assert_string_equal("aliases stand for more than can be read: this one passes the bound",
                        f->problems.items[0].text);
}

static void long_keys_and_texts_count_in_the_bound_of_aliases(void **state)
{
    fixture *f = *state;
    f->options.alias_size_max = 100000;
    char *text = malloc(120000);
    assert_non_null(text);
    for (int key = 0; key < 2; key++) {
        size_t used = (size_t)snprintf(text, 100, "a: &a {\"");
        memset(text + used, 'x', 20000);
        used += 20000;
        used += (size_t)snprintf(text + used, 100, key ? "\": 1}\nb: [" : "\"}\nb: [");
        for (int i = 0; i < 6; i++) {
            used += (size_t)snprintf(text + used, 100, "*a, ");
        }
        used += (size_t)snprintf(text + used, 100, "]\n");
        assert_null(read_text(f, text, used));
        assert_non_null(strstr(f->problems.items[0].text, "aliases stand for more"));
    }
    free(text);
}

static void aliases_cannot_nest_deeper_than_the_bound(void **state)
{
    fixture *f = *state;
    char text[4000] = "a0: &a0 [1]\n";
    for (int i = 1; i < 100; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof(text) - used, "a%d: &a%d [*a%d]\n", i, i, i - 1);
    }
    assert_null(read_text(f, text, strlen(text)));
    assert_non_null(strstr(f->problems.items[0].text, "nested deeper than 64 levels"));
}

/* --- tags ------------------------------------------------------------------------------------- */

static void a_tag_of_ones_own_can_be_read(void **state)
{
    fixture *f = *state;
    assert_reads(f,
                 "agentThreads:\n"
                 "  - agentName: market-data\n"
                 "    idleStrategy: !!com.fluxtion.agrona.concurrent.BusySpinIdleStrategy {}\n"
                 "  - agentName: background-workers\n"
                 "    idleStrategy: !!com.fluxtion.agrona.concurrent.BackoffIdleStrategy { }\n",
                 "{\"agentThreads\": [{\"agentName\": \"market-data\", \"idleStrategy\": "
                 "\"BusySpinIdleStrategy\"}, {\"agentName\": \"background-workers\", "
                 "\"idleStrategy\": \"BackoffIdleStrategy\"}]}");
    assert_int_equal(0, f->problems.count);
    assert_reads(f, "a: !Sleep\nb: !!x.y.Outer$Inner\nc: !<tag:example.com,2026:z/Last> ~\n",
                 "{\"a\": \"Sleep\", \"b\": \"Inner\", \"c\": \"Last\"}");
    assert_reads(f, "a: !!x.SleepingIdleStrategy {sleepPeriodNs: 1000}\n",
                 "{\"a\": {\"!\": \"SleepingIdleStrategy\", \"sleepPeriodNs\": 1000}}");
    assert_says(f, "a: !x 5\nb: !y [1]\n",
                "a.yaml:1:7: note: the tag !x has no meaning here: the value is read as a string\n"
                "a.yaml:2:4: note: the tag !y has no meaning here: the list is read without it\n");
}

static void tags_of_yaml_mean_what_they_say(void **state)
{
    fixture *f = *state;
    assert_reads(f,
                 "a: !!str 5\nb: !!int '5'\nc: !!float 5\nd: !!bool \"true\"\ne: !!null ''\n"
                 "f: !!str\ng: ! 5\nh: !!map {}\ni: !!seq []\n",
                 "{\"a\": \"5\", \"b\": 5, \"c\": 5, \"d\": true, \"e\": null, \"f\": \"\", "
                 "\"g\": \"5\", \"h\": {}, \"i\": []}");
    assert_says(f, "a: !!int x\nb: !!int 1.5\nc: !!bool yes\n",
                "a.yaml:1:10: 'x' is no !!int, which its tag says\n"
                "a.yaml:2:10: '1.5' is no !!int, which its tag says\n"
                "a.yaml:3:11: 'yes' is no !!bool, which its tag says\n");
}

/* --- what is refused -------------------------------------------------------------------------- */

static void a_key_that_is_there_twice_is_told_with_both_places(void **state)
{
    fixture *f = *state;
    assert_says(f, "a:\n  b: 1\n  c: {}\n  b: {d: 1, d: 2}\na: 3\n",
                "a.yaml:4:3: the key 'b' is there already, at line 2, column 3: one of them has "
                "to go\n"
                "a.yaml:4:13: the key 'd' is there already, at line 4, column 7: one of them has "
                "to go\n"
                "a.yaml:5:1: the key 'a' is there already, at line 1, column 1: one of them has "
                "to go\n");
}

static void what_is_no_text_cannot_be_a_key(void **state)
{
    fixture *f = *state;
    assert_says(f, "? [a, {b: 1}]\n: 1\n? {c: 1}\n: {d: 2}\ne: 1\n",
                "a.yaml:1:3: a list cannot be a key here: a key is a text\n"
                "a.yaml:3:3: a mapping cannot be a key here: a key is a text\n");
}

static void one_file_is_one_document_and_that_is_a_mapping(void **state)
{
    fixture *f = *state;
    assert_says(f, "a: 1\n---\nb: 2\n",
                "a.yaml:2:1: another document begins here: a configuration is one document\n");
    assert_says(f, "- a\n",
                "a.yaml:1:1: a list is no configuration: a file is a mapping, as in "
                "key: value\n");
    assert_says(f, "# x\n  hello\n",
                "a.yaml:2:3: a string is no configuration: a file is a mapping, as in key: "
                "value\n");
}

static void an_error_of_syntax_is_told_with_its_place_and_what_to_do(void **state)
{
    fixture *f = *state;
    assert_says(f, "a:\n\tb: 1\n",
                "a.yaml:2:1: tab character may not be used as indentation: use spaces\n");
    assert_says(f, "a: b: c\n",
                "a.yaml:1:5: invalid nested block mapping on the same line: quote "
                "the text if the second colon is part of it\n");
    assert_says(f, "a: @x\n", "a.yaml:1:4: plain scalar cannot start with '@': put it in quotes\n");
    assert_says(f, "b: 1\nb: 2\na: [1\n",
                "a.yaml:2:1: the key 'b' is there already, at line 1, column 1: one of them has "
                "to go\n"
                "a.yaml:4:1: flow sequence without a closing bracket\n");
    assert_says(f, "%YAML 9.9\n---\na: 1\n", "a.yaml: is no YAML 1.2 that can be read\n");
    static const char *const texts[] = { "a: 'x",         "a: \"\\q\"", "}",        "a: 1\n b: 2",
                                         "a: !x!y z",     "a: {b: 1]",  "a: &x *x", "a: b\nc",
                                         "a: |\n x\n- y", "[",          "{",        "\"",
                                         "? ? ?\n- [" };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_null(read_text(f, texts[i], strlen(texts[i])));
        assert_true(f->problems.count > 0 && f->problems.items[0].origin.line > 0);
    }
}

static void what_is_not_utf_8_or_a_control_is_refused_with_its_place(void **state)
{
    fixture *f = *state;
    assert_says(f, "a: 1\n\xc3\xa9: \xff\n",
                "a.yaml:2:4: the byte 0xff is not UTF-8 here: save the file as UTF-8\n");
    assert_says(f, "a: \xc0\xaf",
                "a.yaml:1:4: the byte 0xc0 is not UTF-8 here: save the file as UTF-8\n");
    assert_says(f, "a: \x1b[1m\n",
                "a.yaml:1:4: the control character \\x1b: in double quotes it "
                "is written as \\x1b\n");
    assert_null(read_text(f, "a: \0", 4));
    assert_null(read_text(f,
                          "\xff\xfe"
                          "a\0",
                          4));
    static const char *const cut[] = { "\xc3", "\xe2\x82", "\xf0\x9f\x8c", "\xed\xa0\x80",
                                       "\xf4\x90\x80\x80" };
    for (size_t i = 0; i < sizeof(cut) / sizeof(cut[0]); i++) {
        assert_null(read_text(f, cut[i], strlen(cut[i])));
    }
}

static void a_tab_before_an_indicator_is_refused_where_keys_are_written_at_length(void **state)
{
    fixture *f = *state;
    assert_says(f, "? k:\t: 2\n", "a.yaml:1:5: a tab before ':': write spaces there\n");
    assert_says(f, "? a:\n    k:\t- 2\n", "a.yaml:2:7: a tab before '-': write spaces there\n");
    assert_says(f, "a: b\n- ?\n  k: \t? 2\n", "a.yaml:3:6: a tab before '?': write spaces there\n");
    assert_reads(f, "? k\n:\tv\n", "{\"k\": \"v\"}");
}

static void depth_has_a_bound(void **state)
{
    fixture *f = *state;
    char text[400];
    for (size_t depth = 60; depth < 70; depth++) {
        memset(text, 0, sizeof(text));
        size_t used = (size_t)snprintf(text, sizeof(text), "a: ");
        memset(text + used, '[', depth);
        memset(text + used + depth, ']', depth);
        assert_int_equal(depth + 1 <= 64, read_text(f, text, strlen(text)) != NULL);
    }
    assert_string_equal("is nested deeper than 64 levels, the most that is read",
                        f->problems.items[0].text);
    f->options.depth_max = 2;
    assert_non_null(read_text(f, "a: [1]", 6));
    assert_null(read_text(f, "a: [[]]", 7));
}

static void no_more_than_the_first_errors_are_told(void **state)
{
    fixture *f = *state;
    enum { COUNT = 2000, LINE = 5 };
    char *text = malloc(COUNT * LINE + 1);
    assert_non_null(text);
    for (size_t i = 0; i < COUNT; i++) {
        memcpy(text + i * LINE, "a: 1\n", LINE);
    }
    assert_null(read_text(f, text, (size_t)COUNT * LINE));
    assert_int_equal(WEIR__PROBLEMS_MAX, f->problems.count);
    assert_int_equal(COUNT - 1, f->problems.errors);
    free(text);
}

/* --- files ------------------------------------------------------------------------------------ */

static void a_file_that_cannot_be_read_says_why(void **state)
{
    fixture *f = *state;
    assert_null(weir__yaml_read_file(NULL, "no/such.yaml", &f->problems));
    assert_string_equal("cannot read it: No such file or directory", f->problems.items[0].text);
    assert_string_equal("no/such.yaml", f->problems.items[0].origin.source);
    assert_null(weir__yaml_read_file(NULL, "/", &f->problems));
    assert_string_equal("cannot read it: it is a folder", f->problems.items[1].text);
    f->options.file_size_max = 1000;
    assert_null(weir__yaml_read_file(&f->options, "/dev/zero", &f->problems));
    assert_string_equal("cannot read it: it is larger than 1000 bytes", f->problems.items[2].text);
}

static void a_file_is_read_up_to_its_bound(void **state)
{
    fixture *f = *state;
    char path[] = "/tmp/weir-yaml-XXXXXX";
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    FILE *file = fdopen(descriptor, "w");
    assert_non_null(file);
    size_t size = 0;
    for (int i = 0; i < 20000; i++) {
        size += (size_t)fprintf(file, "key%d: %d\n", i, i);
    }
    fclose(file);
    f->options.file_size_max = size;
    f->tree = weir__yaml_read_file(&f->options, path, &f->problems);
    assert_non_null(f->tree);
    assert_int_equal(20000, f->tree->root->object.count);
    f->options.file_size_max = size - 1;
    assert_null(weir__yaml_read_file(&f->options, path, &f->problems));
    unlink(path);
}

/* --- memory ----------------------------------------------------------------------------------- */

static void whichever_allocation_fails_nothing_leaks(void **state)
{
    fixture *f = *state;
    static const char text[] = "a: &a {b: [1, x, {c: !T {}}], d: !!x.Y {e: 1}}\n"
                               "f: {<<: *a, g: *a}\nh: [*a, *a]\n"
                               "1: 1\n2: 2\n3: 3\n4: 4\n5: 5\n6: 6\n7: 7\n8: 8\n9: 9\n";
    bool done = false;
    for (uint32_t nth = 1; !done; nth++) {
        test_memory memory;
        test_memory_open(&memory, nth);
        const weir__yaml_options options = { .allocator = &memory.allocator };
        weir__problems problems = { .allocator = weir__allocator_default() };
        weir__tree *tree =
            weir__yaml_read_text(&options, "a.yaml", text, sizeof(text) - 1, &problems);
        done = tree != NULL;
        assert_int_equal(!done, problems.out_of_memory);
        weir__tree_destroy(tree);
        weir__problems_close(&problems);
        test_memory_check(&memory);
        assert_true(nth < 200);
    }
    assert_non_null(f);
}

#define sentence(test) cmocka_unit_test_setup_teardown(test, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        sentence(the_core_schema_says_what_a_word_is),
        sentence(mappings_lists_and_blocks_become_the_same_tree),
        sentence(a_file_without_content_is_an_empty_object),
        sentence(a_byte_order_mark_and_windows_lines_are_fine),
        sentence(every_value_knows_where_it_was_written),
        sentence(an_alias_is_a_copy_of_what_has_the_anchor),
        sentence(a_merge_key_fills_in_what_is_not_there),
        sentence(aliases_that_cannot_be_are_explained),
        sentence(a_billion_laughs_end_in_an_error),
        sentence(long_keys_and_texts_count_in_the_bound_of_aliases),
        sentence(aliases_cannot_nest_deeper_than_the_bound),
        sentence(a_tag_of_ones_own_can_be_read),
        sentence(tags_of_yaml_mean_what_they_say),
        sentence(a_key_that_is_there_twice_is_told_with_both_places),
        sentence(what_is_no_text_cannot_be_a_key),
        sentence(one_file_is_one_document_and_that_is_a_mapping),
        sentence(an_error_of_syntax_is_told_with_its_place_and_what_to_do),
        sentence(what_is_not_utf_8_or_a_control_is_refused_with_its_place),
        sentence(a_tab_before_an_indicator_is_refused_where_keys_are_written_at_length),
        sentence(depth_has_a_bound),
        sentence(no_more_than_the_first_errors_are_told),
        sentence(a_file_that_cannot_be_read_says_why),
        sentence(a_file_is_read_up_to_its_bound),
        sentence(whichever_allocation_fails_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
