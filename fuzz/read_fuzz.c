/*
 * read_fuzz.c - any text as a number, a string, a key and a message: the getters agree with each
 * other, and what is said of it can be printed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include "tree/read.h"
#include "tree/write.h"

static const weir__origin nowhere;

static void promise_why(bool read, const weir__why *why)
{
    if (!read) {
        FUZZ_PROMISE(why->text[0] != '\0' && strlen(why->text) < sizeof(why->text) - 1);
    }
}

static void ask_all(weir__tree *tree, const weir__node *node)
{
    weir__why why = { "" };
    bool truth;
    int32_t i32 = 0;
    int64_t i64 = 0, nanoseconds;
    uint64_t bytes = 0;
    double real = 0;
    weir__text text;
    weir__node **items;
    size_t count;
    promise_why(weir__read_boolean(node, &truth, &why), &why);
    const bool is_long = weir__read_long(node, &i64, &why);
    promise_why(is_long, &why);
    const bool is_int = weir__read_int(node, &i32, &why);
    promise_why(is_int, &why);
    FUZZ_PROMISE(!is_int || (is_long && i32 == i64));
    const bool is_double = weir__read_double(node, &real, &why);
    promise_why(is_double, &why);
    FUZZ_PROMISE(!is_long || is_double);
    FUZZ_PROMISE(!is_long || (real >= -0x1p63 && real <= 0x1p63));
    const bool is_bytes = weir__read_bytes(node, &bytes, &why);
    promise_why(is_bytes, &why);
    FUZZ_PROMISE(!is_bytes || bytes <= INT64_MAX);
    const bool is_duration = weir__read_nanoseconds(node, &nanoseconds, &why);
    promise_why(is_duration, &why);
    int64_t seconds;
    FUZZ_PROMISE(is_duration == weir__read_duration(node, 1000000000, &seconds, &why));
    promise_why(weir__read_list(tree, node, &items, &count, &why), &why);
    FUZZ_PROMISE(weir__read_text(node, &text, &why));
}

static void write_all(const weir__tree *tree, const weir__node *node)
{
    fuzz_sink sink = { 0 };
    FUZZ_PROMISE(weir__write_json(tree, node, fuzz_take, &sink) && !sink.quoted);
    sink = (fuzz_sink){ 0 };
    FUZZ_PROMISE(weir__write_hocon(tree, node, fuzz_take, &sink) && !sink.quoted);
}

static void print_message(const char *text)
{
    weir__problems problems = { 0 };
    weir__tree *tree = weir__tree_create(NULL, 0);
    problems.allocator = tree->allocator;
    weir__problems_add(&problems, WEIR__ERROR, (weir__origin){ .source = text }, text, "%s", text);
    char shown[8192];
    const size_t length = weir__problem_format(&problems.items[0], shown, sizeof(shown));
    FUZZ_PROMISE(length < sizeof(shown) && fuzz_is_harmless(shown, length, false));
    weir__problems_close(&problems);
    weir__tree_destroy(tree);
}

/* The lines of the text as keys. */
static weir__node *object_of(weir__tree *tree, const char *text, size_t size, weir__node *value)
{
    weir__node *object = weir__node_object(tree, nowhere);
    for (size_t from = 0; from <= size;) {
        const char *end = from < size ? memchr(text + from, '\n', size - from) : NULL;
        const size_t length = end != NULL ? (size_t)(end - text) - from : size - from;
        FUZZ_PROMISE(weir__object_set(tree, object, text + from, length, value));
        FUZZ_PROMISE(weir__object_get(tree, object, text + from, length) == value);
        from += length + 1;
    }
    return object;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    weir__tree *tree = weir__tree_create(NULL, 0);
    FUZZ_PROMISE(text != NULL && tree != NULL);
    if (size > 0) {
        memcpy(text, data, size);
    }
    text[size] = '\0';
    weir__node *string = weir__node_string(tree, nowhere, text, size);
    weir__node *number = weir__node_number(tree, nowhere, text, size);
    ask_all(tree, string);
    ask_all(tree, number);
    print_message(text);
    weir__node *object = object_of(tree, text, size, weir__node_null(tree, nowhere));
    weir__why why = { "" };
    weir__node **items;
    size_t count;
    promise_why(weir__read_list(tree, object, &items, &count, &why), &why);
    FUZZ_PROMISE(weir__object_set(tree, object, "number", 6, number));
    FUZZ_PROMISE(weir__object_set(tree, object, "string", 6, string));
    write_all(tree, object);
    weir__tree_destroy(tree);
    free(text);
    return 0;
}
