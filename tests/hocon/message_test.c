/*
 * hocon/message_test.c - what is said of a mistake: where, what, and what would be right, word for
 * word; and that one mistake does not hide the next.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "hocon_support.h"

typedef struct saying {
    const char *text, *said;
} saying;

static void check(const saying *sayings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_says(sayings[i].text, sayings[i].said);
    }
}

#define CHECK(sayings) check(sayings, sizeof(sayings) / sizeof((sayings)[0]))

static void a_misplaced_bracket_is_shown_with_its_partner(void **state)
{
    (void)state;
    const saying sayings[] = {
        { "a = 1\n}\n", "a.conf:2:1: '}' without '{'\n" },
        { "a {\n b = 1\n", "a.conf:3:1: a: the object that begins with '{' at 1:3 is not closed by "
                           "'}'\n" },
        { "a = [1, 2\n", "a.conf:2:1: a: the end of the text in the list that begins with '[' at "
                         "1:5: ',' or ']' is missing before it\n" },
        { "s {\n p = [ /a, /b\n t = 1\n}\n", "a.conf:3:4: s.p: '=' in the list that begins with "
                                             "'[' at 2:6: ',' or ']' is missing before "
                                             "it\n" },
        { "a = b]\n", "a.conf:1:6: a: ']' without '['; quote it if it is part of a string\n" },
        { "{ a = 1 } b\n", "a.conf:1:11: 'b' behind the '}' that ends the document, which begins "
                           "with '{' at 1:1\n" },
        { "[1]\n",
          "a.conf:1:1: the root is an object, not a list: give the list a key, as in items = "
          "[...]\n" },
    };
    CHECK(sayings);
}

static void what_wants_quotes_is_shown_in_quotes(void **state)
{
    (void)state;
    const saying sayings[] = {
        { "u = http://x.org/y\n",
          "a.conf:1:9: u: ':' may not stand outside quotes in a value; quote the value: "
          "\"http://x.org/y\", or put a comma or a new line before the key that begins here\n" },
        { "m = me@home\n", "a.conf:1:7: m: '@' may not stand outside quotes in a value; quote the "
                           "value: \"me@home\"\n" },
        { "g = *.log\n", "a.conf:1:5: g: a value may not begin with '*'; quote it: \"*...\"\n" },
        { "n = 1+1\n",
          "a.conf:1:6: n: '+' may not stand outside quotes; write \"1+1\" if it is a string\n" },
        { "a = cost$5\n", "a.conf:1:9: a: '$' begins a substitution, ${path}, and is followed by "
                          "'5'; quote it if it is part of a string\n" },
        { "? = 1\n", "a.conf:1:1: a key may not begin with '?'; quote it if it is one\n" },
    };
    CHECK(sayings);
}

static void what_is_missing_is_named(void **state)
{
    (void)state;
    const saying sayings[] = {
        { "a\n",
          "a.conf:2:1: a: the key is followed by the end of the text: '=', ':', '+=' or '{' is "
          "missing\n" },
        { "a =\n", "a.conf:2:1: a: a value is missing before the end of the text\n" },
        { "a = , b = 1\n", "a.conf:1:5: a: a value is missing before ','\n" },
        { "a = [1,,2]\n", "a.conf:1:8: a: two commas with no item between them\n" },
        { "a..b = 1\n",
          "a.conf:1:1: a: a path has a name before and behind each dot; write \"\" for "
          "an empty one\n" },
        { "a = ${}\n", "a.conf:1:5: a: a substitution names a path: ${path}\n" },
        { "a = ${ ?b}\n", "a.conf:1:8: a: '?' may not stand in ${path}: an optional one is written "
                          "${?path}\n" },
        { "a = ${b\n", "a.conf:1:8: a: the end of the line may not stand in ${path}: '}' is "
                       "missing\n" },
    };
    CHECK(sayings);
}

static void a_broken_string_says_where_it_begins(void **state)
{
    (void)state;
    const saying sayings[] = {
        { "a = \"b", "a.conf:1:7: a: the string that begins at column 5 has no closing '\"'\n" },
        { "a = \"\"\"b\nc",
          "a.conf:2:2: a: the text that begins with \"\"\" at 1:5 is not closed by "
          "\"\"\"\n" },
        { "a = \"\\q\"",
          "a.conf:1:6: a: a backslash before 'q' means nothing: escapes are \\\" \\\\ "
          "\\/ \\b \\f \\n \\r \\t \\uXXXX; write \\\\ for a backslash\n" },
        { "a = \"\\u12\"",
          "a.conf:1:6: a: \\u is followed by four hexadecimal digits, as in \\u00e9\n" },
        { "a = \"\tb\"", "a.conf:1:6: a: a control character may not stand in a string as it is: "
                         "write \\u0009\n" },
        { "a = \"\\ud800\"",
          "a.conf:1:6: a: \\ud800 is half of a surrogate pair without its other half: no "
          "character\n" },
        { "# \xc3\xbc\n\xc3\xbc = \xff\n",
          "a.conf:2:5: the byte 0xff is not UTF-8 here: save the file as UTF-8\n" },
    };
    CHECK(sayings);
}

static void columns_count_characters(void **state)
{
    (void)state;
    assert_says(
        "\xc3\xbc\xe2\x82\xac = \xf0\x9f\x8e\x88 x@y",
        "a.conf:1:9: \xc3\xbc\xe2\x82\xac: '@' may not stand outside quotes in a value; quote "
        "the value: \"\xf0\x9f\x8e\x88 x@y\"\n");
}

static void an_include_that_cannot_be_is_explained(void **state)
{
    (void)state;
    const saying sayings[] = {
        { "include = 1\n",
          "a.conf:1:9: include is followed by a name in quotes, file(\"name\") or "
          "required(\"name\"), not by '='; to use it as a key, write \"include\"\n" },
        { "include url(\"http://x\")\n",
          "a.conf:1:9: include url(...) is not supported: only files are read, as in include "
          "\"other.conf\" or include file(\"/etc/other.conf\")\n" },
        { "include classpath(\"x\")\n",
          "a.conf:1:9: include classpath(...) is not supported: only files are read, as in include "
          "\"other.conf\" or include file(\"/etc/other.conf\")\n" },
        { "include \"http://x/y\"\n",
          "a.conf:1:1: an include from an address is not supported: only files are read\n" },
        { "a { include required(\"none.conf\") }\n",
          "a.conf:1:5: a: the required include none.conf is not there\n" },
        { "include file(\"x\"\n",
          "a.conf:2:1: ')' is missing in the include before the end of the text\n" },
    };
    CHECK(sayings);
}

static void a_substitution_that_fails_is_shown_as_it_was_written(void **state)
{
    (void)state;
    const saying sayings[] = {
        { "a { b = [${c.\"d e\"}] }\n",
          "a.conf:1:10: a.b: ${c.\"d e\"} is not defined: no such key; "
          "write ${?...} if it may be missing\n" },
        { "a = ${b}\nb = ${c}\nc = ${a}\n",
          "a.conf:3:5: c: ${a} leads back to itself: a cycle of ${b}, ${c}, ${a}\n" },
        { "a = [${a}]\n",
          "a.conf:1:6: a: ${a} is a part of the value that it stands for: a cycle\n" },
        { "a = null\na += 1\n",
          "a.conf:2:6: a: += adds to a list, and the value before it is null\n" },
        { "l = [1]\na = x${l}\n",
          "a.conf:2:5: a: a string and a list cannot stand side by side in one value; a list is "
          "joined with lists only (and objects whose keys are numbers)\n" },
        { "a = [1] x\n",
          "a.conf:1:9: a: a string and a list cannot stand side by side in one value; "
          "put the text into quotes and a comma or a new line between them\n" },
        { "a = [ { b += 1 } ]\n", "a.conf:1:11: a.b: += does not work inside a list: it stands for "
                                  "a substitution of the key's "
                                  "own path, and what is in a list has no path\n" },
    };
    CHECK(sayings);
}

static void all_mistakes_of_a_text_are_told_at_once(void **state)
{
    (void)state;
    assert_says(
        "a = @\nb { c = ?\n d = 1 }\ne = [1, *]\nf = \"x\ng = 2\n",
        "a.conf:1:5: a: a value may not begin with '@'; quote it: \"@...\"\n"
        "a.conf:2:9: b.c: a value may not begin with '?'; quote it: \"?...\"\n"
        "a.conf:4:9: e: a value may not begin with '*'; quote it: \"*...\"\n"
        "a.conf:5:7: f: the string that begins at column 5 does not end in its line: close it "
        "with '\"', write \\n for a new line, or use \"\"\"three quotes\"\"\"\n");
    assert_says(
        "a = ${x}\nb = 1\nc { d = ${y.z} }\n",
        "a.conf:1:5: a: ${x} is not defined: no such key; write ${?...} if it may be missing\n"
        "a.conf:3:9: c.d: ${y.z} is not defined: no such key; write ${?...} if it may be "
        "missing\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_misplaced_bracket_is_shown_with_its_partner),
        cmocka_unit_test(what_wants_quotes_is_shown_in_quotes),
        cmocka_unit_test(what_is_missing_is_named),
        cmocka_unit_test(a_broken_string_says_where_it_begins),
        cmocka_unit_test(columns_count_characters),
        cmocka_unit_test(an_include_that_cannot_be_is_explained),
        cmocka_unit_test(a_substitution_that_fails_is_shown_as_it_was_written),
        cmocka_unit_test(all_mistakes_of_a_text_are_told_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
