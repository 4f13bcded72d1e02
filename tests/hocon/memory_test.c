/*
 * hocon/memory_test.c - memory that fails at the first, second, third ... call: the reading says
 * so, gives all of it back, and never a tree that lacks something.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "hocon_support.h"

/* Some of everything, and enough of it that arrays grow. */
static const char everything[] =
    "# comment\n"
    "a { b = 1, c = [1, 2, \"x\\u0041\", {d = ${a.b}}], \"k y\".z = \"\"\"raw\"\"\" }\n"
    "base { k = 1, l = [1], o { p = ${a.b} } }\n"
    "x = ${base}\n"
    "x.l = ${x.l} [2]\n"
    "x { o { q = ${?none} }, m += 1 }\n"
    "y = ${x} { k = 2, w = ${y.k} } ${?none}\n"
    "path = a\npath = ${path}\":\"${a.b}\npath = ${path}c\n"
    "list += ${a.b}\nlist += 2\nlist += ${x}\n"
    "numbered { 1 = b, 0 = a }\nall = [z] ${numbered}\n"
    "self = 1\nother = ${self}\nself = ${other}\n"
    "env = ${?NOT_THERE[]}, home = ${?ONE}\n"
    "gone = ${?none}, n = null, t = true, f = -1.5e3 x\n"
    "include \"none-such\"\n"
    "k01=1,k02=2,k03=3,k04=4,k05=5,k06=6,k07=7,k08=8,k09=9,k10=10,k11=11,k12=12\n"
    "long = some unquoted words beside ${a.b} and ${a.c} = \n";

static const char *one(void *context, const char *name)
{
    (void)context;
    return strcmp(name, "ONE") == 0 ? "1" : NULL;
}

/* All of it once. True: there is a tree; it is all there. */
static bool read_all(test_memory *memory, const char *text, size_t length)
{
    const weir__hocon_options options = { .allocator = &memory->allocator, .environment = one };
    scene s;
    scene_open(&s, &options);
    if (s.document == NULL) {
        return false;
    }
    bool good = weir__hocon_add_text(s.document, "a.conf", text, length);
    good &= weir__hocon_add_setting(s.document, "-D", "set.\"a b\".c=[1, ${a.b}]");
    s.tree = weir__hocon_resolve(s.document);
    assert_true(s.tree == NULL || good);
    if (s.tree == NULL) {
        assert_true(weir__problems_failed(&s.problems));
    } else {
        good = weir__hocon_find(s.tree, "set.\"a b\".c", &s.problems) != NULL;
        assert_true(good || s.problems.out_of_memory);
        assert_int_equal(2, weir__tree_at(s.tree, s.tree->root, "x.l")->list.count);
    }
    const bool there = s.tree != NULL;
    scene_close(&s);
    return there && good;
}

static void sweep(const char *text, size_t length, bool good)
{
    for (uint32_t nth = 1;; nth++) {
        test_memory memory;
        test_memory_open(&memory, nth);
        const bool there = read_all(&memory, text, length);
        test_memory_check(&memory);
        if (weir__load(&memory.refused, relaxed) == 0) {
            assert_int_equal(good, there);
            assert_true(nth > 8);
            return;
        }
        assert_false(there);
        assert_true(nth < 10000);
    }
}

static void memory_that_fails_at_any_call_is_told_and_given_back(void **state)
{
    (void)state;
    /* Without its last line, which is wrong. */
    const char *last = strstr(everything, "long = ");
    sweep(everything, (size_t)(last - everything), true);
}

static void a_wrong_text_that_lacks_memory_too_is_given_back(void **state)
{
    (void)state;
    sweep(everything, sizeof(everything) - 1, false);
}

static void a_text_that_is_cut_off_anywhere_is_read_or_refused(void **state)
{
    (void)state;
    for (size_t length = 0; length < sizeof(everything); length++) {
        scene s;
        scene_open(&s, NULL);
        const bool good = weir__hocon_add_text(s.document, "a.conf", everything, length);
        s.tree = weir__hocon_resolve(s.document);
        assert_true(s.tree != NULL || s.problems.errors > 0);
        assert_true(good || s.tree == NULL);
        scene_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_that_fails_at_any_call_is_told_and_given_back),
        cmocka_unit_test(a_wrong_text_that_lacks_memory_too_is_given_back),
        cmocka_unit_test(a_text_that_is_cut_off_anywhere_is_read_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
