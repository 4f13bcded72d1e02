/*
 * hocon/hostile_test.c - documents made to hurt: each is refused, or read, in little time and
 * memory, however deep, long, repeated or circular it is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "hocon_support.h"

#include <time.h>

#define MANY (TEST_SANITIZED ? 20000u : 100000u)

/* A text in the making. */
typedef struct text {
    char *bytes;
    size_t length, capacity;
} text;

__attribute__((format(printf, 2, 3))) static void put(text *t, const char *format, ...)
{
    va_list arguments;
    if (t->capacity - t->length < 300) {
        t->capacity = t->capacity == 0 ? 4096 : t->capacity * 2;
        t->bytes = realloc(t->bytes, t->capacity);
        assert_non_null(t->bytes);
    }
    va_start(arguments, format);
    t->length += (size_t)vsnprintf(t->bytes + t->length, 300, format, arguments);
    va_end(arguments);
}

static text repeated(const char *first, const char *what, uint32_t times, const char *last)
{
    text t = { 0 };
    put(&t, "%s", first);
    for (uint32_t i = 0; i < times; i++) {
        put(&t, "%s", what);
    }
    put(&t, "%s", last);
    return t;
}

/* Lines of a pattern: # is the number, < the number before it. */
static void lines(text *t, unsigned times, const char *pattern)
{
    for (unsigned i = 1; i <= times; i++) {
        for (const char *p = pattern; *p != '\0'; p++) {
            if (*p == '#' || *p == '<') {
                put(t, "%u", *p == '#' ? i : i - 1);
            } else {
                put(t, "%c", *p);
            }
        }
        put(t, "\n");
    }
}

/* Reads it within two seconds of a processor (more under a sanitizer), and says what is expected: a
 * word of the messages, or NULL if it is good. */
static void read_text(text t, const char *expected)
{
    char said[2000];
    struct timespec from, to;
    scene s;
    scene_open(&s, NULL);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    (void)weir__hocon_add_text(s.document, "a.conf", t.bytes, t.length);
    s.tree = weir__hocon_resolve(s.document);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    scene_said(&s, said, sizeof(said));
    if (expected == NULL) {
        assert_string_equal("", said);
        assert_non_null(s.tree);
    } else {
        assert_null(s.tree);
        assert_non_null(strstr(said, expected));
    }
    const double seconds =
        (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) * 1e-9;
    assert_true(seconds < (TEST_SANITIZED ? 20.0 : 2.0));
    scene_close(&s);
    free(t.bytes);
}

static void what_is_nested_too_deep_is_refused(void **state)
{
    (void)state;
    read_text(repeated("a = ", "[", MANY, ""), "nested more than 64 deep");
    read_text(repeated("a = ", "[", MANY, "x"), "nested more than 64 deep");
    read_text(repeated("", "{a:", MANY, ""), "nested more than 64 deep");
    read_text(repeated("a = ", "[{a=", MANY, ""), "nested more than 64 deep");
    read_text(repeated("a", ".a", MANY, " = 1"), "more than 65 names");
    read_text(repeated("a = ${a", ".a", MANY, "}"), "more than 65 names");
    read_text(repeated("a = ", "${", MANY, ""), "may not stand in ${path}");
    text t = { 0 };
    put(&t, "a0 = 1\n");
    lines(&t, 1000, "a# = [${a<}]");
    read_text(t, "deep");
}

static void what_is_long_is_read(void **state)
{
    (void)state;
    read_text(repeated("x = 1\na = ", "${x}", MANY, ""), NULL);
    read_text(repeated("a = ", "x ", MANY, ""), NULL);
    read_text(repeated("a = ", "\"x\" ", MANY, ""), NULL);
    read_text(repeated("a = ", "[] ", MANY, ""), NULL);
    read_text(repeated("a = ", "{} ", MANY, ""), NULL);
    read_text(repeated("a = ", "${?x}[] ", MANY, ""), NULL);
    read_text(repeated("", "a += 1\n", MANY, ""), NULL);
    read_text(repeated("x = 1\n", "a += ${x}\n", MANY, ""), NULL);
    read_text(repeated("x = 1\n", "a = ${x}\n", MANY, ""), NULL);
    read_text(repeated("x { b = 1 }\n", "a = ${x}\n", MANY, ""), NULL);
    read_text(repeated("", "#", MANY, ""), NULL);
    text t = { 0 };
    lines(&t, MANY, "a { k# = < }");
    read_text(t, NULL);
    t = (text){ 0 };
    lines(&t, MANY, "k# = ${?k<}<");
    read_text(t, "more than 1000 times");
}

static void a_chain_of_substitutions_of_any_length_is_followed(void **state)
{
    (void)state;
    text t = { 0 };
    put(&t, "a0 = 1\n");
    lines(&t, MANY, "a# = ${a<}");
    read_text(t, NULL);
    t = (text){ 0 };
    lines(&t, MANY, "a< = ${a#}");
    put(&t, "a%u { b = 1 }\n", MANY);
    read_text(t, NULL);
    t = (text){ 0 };
    lines(&t, MANY, "a# = ${?a<}");
    read_text(t, NULL);
}

static void what_multiplies_is_refused(void **state)
{
    (void)state;
    text t = { 0 };
    put(&t, "a0 = lol\n");
    lines(&t, 40, "a# = ${a<}${a<}${a<}${a<}");
    read_text(t, "grow without measure");
    t = (text){ 0 };
    put(&t, "a0 = [lol]\n");
    lines(&t, 40, "a# = [${a<}, ${a<}, ${a<}, ${a<}]");
    read_text(t, "grow without measure");
    t = (text){ 0 };
    put(&t, "a0 = [lol]\n");
    lines(&t, 40, "a# = ${a<} ${a<} ${a<} ${a<}");
    read_text(t, "grow without measure");
    t = (text){ 0 };
    put(&t, "a0 { x = 1 }\n");
    lines(&t, 50, "a# { p = ${a<}, q = ${a<}, r = ${a<} }");
    read_text(t, "grow without measure");
    t = (text){ 0 };
    put(&t, "a0 { x = 1 }\n");
    lines(&t, 50, "a# = { p = ${a<}, q = ${a<} } ${a<}");
    read_text(t, "grow without measure");
    read_text(repeated("a = x\n", "a = ${a}${a}\n", 1000, ""), "grow without measure");
    t = (text){ 0 };
    put(&t, "o {}\n");
    lines(&t, 20000, "o = ${o} { k# = 1 }");
    read_text(t, "grow without measure");
}

static void a_limit_of_the_size_is_kept(void **state)
{
    (void)state;
    const weir__hocon_options options = { .ignore_environment = true, .resolved_size_max = 10000 };
    for (int i = 0; i < 2; i++) {
        scene s;
        scene_open(&s, &options);
        assert_true(scene_add(&s, i == 0 ? "a = [1,2,3,4,5,6,7,8,9,10], b = [${a},${a}]"
                                         : "a = [1,2,3,4,5,6,7,8,9,10], b = [${a},${a},${a},${a},"
                                           "${a},${a},${a},${a},${a},${a},${a},${a}]"));
        scene_resolve(&s);
        assert_int_equal(i == 0, s.tree != NULL);
        scene_close(&s);
    }
}

static void a_cycle_of_any_length_is_found(void **state)
{
    (void)state;
    text t = { 0 };
    put(&t, "a0 = ${a900}\n");
    lines(&t, 900, "a# = ${a<}");
    read_text(t, "leads back to itself");
    t = (text){ 0 };
    put(&t, "a0 = ${?a900}\n");
    lines(&t, 900, "a# = ${?a<}");
    read_text(t, NULL);
}

static void a_file_of_garbage_ends_in_some_errors(void **state)
{
    (void)state;
    read_text(repeated("", "= 1\n", MANY, ""), "a key may not begin with '='");
    read_text(repeated("", "\"", MANY, ""), "is missing");
    read_text(repeated("a = ", "$", MANY, ""), "'$' begins a substitution");
    read_text(repeated("", "}", MANY, ""), "'}' without '{'");
    text t = { 0 };
    lines(&t, MANY, "k# = ${u<}");
    read_text(t, "is not defined");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_nested_too_deep_is_refused),
        cmocka_unit_test(what_is_long_is_read),
        cmocka_unit_test(a_chain_of_substitutions_of_any_length_is_followed),
        cmocka_unit_test(what_multiplies_is_refused),
        cmocka_unit_test(a_limit_of_the_size_is_kept),
        cmocka_unit_test(a_cycle_of_any_length_is_found),
        cmocka_unit_test(a_file_of_garbage_ends_in_some_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
