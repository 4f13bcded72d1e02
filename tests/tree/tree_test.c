/*
 * tree/tree_test.c - the promises of tree.h: what is put in is found, memory that fails leaves the
 * tree whole, a hundred thousand keys cost what they should.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tree_support.h"

#include <time.h>

static void a_new_node_is_what_was_asked_for_and_knows_its_place(void **state)
{
    (void)state;
    weir__tree *tree = new_tree();
    const weir__origin origin = { .source = "a.conf", .line = 3, .column = 5 };
    const weir__node *nodes[] = {
        weir__node_null(tree, origin),
        weir__node_boolean(tree, origin, true),
        weir__node_number(tree, origin, "1.50", 4),
        weir__node_string(tree, origin, "a\0b", 3),
        weir__node_list(tree, origin),
        weir__node_object(tree, origin),
    };
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(i, nodes[i]->kind);
        assert_ptr_equal(origin.source, nodes[i]->origin.source);
        assert_int_equal(3, nodes[i]->origin.line);
        assert_int_equal(5, nodes[i]->origin.column);
    }
    assert_string_equal("true", nodes[1]->text.bytes);
    assert_string_equal("1.50", nodes[2]->text.bytes);
    assert_int_equal(3, nodes[3]->text.length);
    assert_memory_equal("a\0b", nodes[3]->text.bytes, 4);
    assert_int_equal(0, nodes[4]->list.count);
    assert_int_equal(0, nodes[5]->object.count);
    weir__tree_destroy(tree);
    weir__tree_destroy(NULL);
}

static void texts_and_sources_are_copies(void **state)
{
    (void)state;
    weir__tree *tree = new_tree();
    char text[] = "text", source[] = "a.conf", key[] = "key";
    weir__text copy;
    assert_true(weir__tree_text(tree, text, 4, &copy));
    const char *name = weir__tree_source(tree, source);
    weir__node *object = weir__node_object(tree, nowhere);
    set(tree, object, key, weir__node_null(tree, nowhere));
    memset(text, 'x', 4);
    memset(source, 'x', 6);
    memset(key, 'x', 3);
    assert_string_equal("text", copy.bytes);
    assert_string_equal("a.conf", name);
    assert_non_null(weir__object_get(tree, object, "key", 3));
    assert_true(weir__tree_text(tree, NULL, 0, &copy));
    assert_string_equal("", copy.bytes);
    weir__tree_destroy(tree);
}

static void a_key_that_is_there_already_keeps_its_place(void **state)
{
    (void)state;
    weir__tree *tree = new_tree();
    for (size_t count = 3; count < 100; count += 48) { /* few, and with an index */
        weir__node *object = weir__node_object(tree, nowhere);
        for (size_t i = 0; i < count; i++) {
            char key[16];
            snprintf(key, sizeof(key), "%zu", i);
            set(tree, object, key, number_of(tree, key));
        }
        weir__node *new_value = string_of(tree, "new");
        set(tree, object, "1", new_value);
        assert_int_equal(count, object->object.count);
        assert_string_equal("1", object->object.members[1].key.bytes);
        assert_ptr_equal(new_value, object->object.members[1].value);
        assert_ptr_equal(new_value, weir__object_get(tree, object, "1", 1));
        assert_string_equal("2", object->object.members[2].value->text.bytes);
    }
    weir__tree_destroy(tree);
}

static void keys_are_bytes_with_a_length(void **state)
{
    (void)state;
    weir__tree *tree = new_tree();
    weir__node *object = weir__node_object(tree, nowhere);
    static const struct {
        const char *bytes;
        size_t length;
    } keys[] = { { "", 0 },          { "\0", 1 },   { "\0\0", 2 },     { "a", 1 },
                 { "a\0", 2 },       { "a\0b", 3 }, { "aaaaaaaa", 8 }, { "aaaaaaaa\0", 9 },
                 { "aaaaaaaab", 9 }, { "\xff", 1 }, { "\xff\xff", 2 }, { "aaaaaaa", 7 } };
    enum { KEYS = sizeof(keys) / sizeof(keys[0]) };
    weir__node *values[KEYS];
    for (int round = 0; round < 2; round++) { /* the second time with an index */
        for (size_t i = 0; i < KEYS; i++) {
            values[i] = weir__node_null(tree, nowhere);
            assert_true(weir__object_set(tree, object, keys[i].bytes, keys[i].length, values[i]));
        }
        for (size_t i = 0; i < KEYS; i++) {
            assert_ptr_equal(values[i],
                             weir__object_get(tree, object, keys[i].bytes, keys[i].length));
        }
        assert_null(weir__object_get(tree, object, "b", 1));
        for (int i = 0; i < 20 && round == 0; i++) {
            char key[16];
            snprintf(key, sizeof(key), "more %d", i);
            set(tree, object, key, weir__node_null(tree, nowhere));
        }
    }
    assert_non_null(object->object.index);
    weir__tree_destroy(tree);
}

static void what_is_no_object_has_no_keys(void **state)
{
    (void)state;
    weir__tree *tree = new_tree();
    assert_null(weir__object_get(tree, NULL, "a", 1));
    assert_null(weir__object_get(tree, string_of(tree, "a"), "a", 1));
    assert_null(weir__object_get(tree, weir__node_list(tree, nowhere), "a", 1));
    assert_null(weir__object_get(tree, weir__node_object(tree, nowhere), "a", 1));
    weir__tree_destroy(tree);
}

static void a_path_of_names_leads_down(void **state)
{
    (void)state;
    weir__tree *tree = new_tree();
    weir__node *root = weir__node_object(tree, nowhere), *a = weir__node_object(tree, nowhere);
    weir__node *leaf = string_of(tree, "leaf"), *empty = weir__node_object(tree, nowhere);
    set(tree, root, "a", a);
    set(tree, a, "b", leaf);
    set(tree, root, "", empty);
    set(tree, empty, "", leaf);
    assert_ptr_equal(a, weir__tree_at(tree, root, "a"));
    assert_ptr_equal(leaf, weir__tree_at(tree, root, "a.b"));
    assert_ptr_equal(empty, weir__tree_at(tree, root, ""));
    assert_ptr_equal(leaf, weir__tree_at(tree, root, "."));
    assert_null(weir__tree_at(tree, root, "a.b.c"));
    assert_null(weir__tree_at(tree, root, "a.c"));
    assert_null(weir__tree_at(tree, root, "b"));
    assert_null(weir__tree_at(tree, NULL, "a"));
    weir__tree_destroy(tree);
}

static void a_random_walk_of_keys_agrees_with_a_plain_array(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    enum { KEYS = 500 };
    weir__tree *tree = new_tree();
    weir__node *object = weir__node_object(tree, nowhere);
    weir__node *values[KEYS] = { NULL };
    size_t count = 0;
    for (uint32_t step = 0; step < test_load(50000); step++) {
        const uint64_t choice = test_random(&random);
        const size_t i = (size_t)(choice >> 32) % KEYS;
        char key[32];
        const size_t length = (size_t)snprintf(key, sizeof(key), "%zu-key-of-some-length", i);
        assert_ptr_equal(values[i], weir__object_get(tree, object, key, length));
        if (choice % 4 == 0) {
            count += values[i] == NULL ? 1 : 0;
            values[i] = weir__node_null(tree, nowhere);
            set(tree, object, key, values[i]);
        }
        assert_int_equal(count, object->object.count);
    }
    weir__tree_destroy(tree);
}

static double seconds_for(size_t count)
{
    struct timespec begin, end;
    timespec_get(&begin, TIME_UTC);
    weir__tree *tree = new_tree();
    weir__node *object = weir__node_object(tree, nowhere);
    weir__node *list = weir__node_list(tree, nowhere);
    for (size_t i = 0; i < count; i++) {
        char key[32];
        const size_t length = (size_t)snprintf(key, sizeof(key), "key-%zu", i);
        weir__node *value = weir__node_number(tree, nowhere, key, length);
        assert_true(weir__object_set(tree, object, key, length, value));
        assert_true(weir__list_append(tree, list, value));
    }
    for (size_t i = 0; i < count; i++) {
        char key[32];
        const size_t length = (size_t)snprintf(key, sizeof(key), "key-%zu", i);
        assert_ptr_equal(list->list.items[i], weir__object_get(tree, object, key, length));
    }
    weir__tree_destroy(tree);
    timespec_get(&end, TIME_UTC);
    return difftime(end.tv_sec, begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
}

/* Were a key searched among all others, ten times as many would take a hundred times as long, and
 * the larger run half a minute. */
static void a_hundred_thousand_keys_cost_ten_times_ten_thousand(void **state)
{
    (void)state;
    const double small = seconds_for(10000), large = seconds_for(100000);
    print_message("# 10,000 keys %.4f s, 100,000 keys %.4f s\n", small, large);
    assert_true(large < 60 * small + 0.5);
}

static void the_limit_counts_all_bytes_and_leaves_the_tree_whole(void **state)
{
    (void)state;
    test_memory memory;
    test_memory_open(&memory, 0);
    enum { LIMIT = 100000 };
    weir__tree *tree = weir__tree_create(&memory.allocator, LIMIT);
    weir__node *object = weir__node_object(tree, nowhere);
    size_t count = 0;
    for (;; count++) {
        char key[32];
        const size_t length = (size_t)snprintf(key, sizeof(key), "key-%zu", count);
        weir__node *value = weir__node_null(tree, nowhere);
        if (value == NULL || !weir__object_set(tree, object, key, length, value)) {
            break;
        }
    }
    assert_true(count > 300 && count < LIMIT / 64);
    assert_true(tree->used <= LIMIT);
    assert_int_equal(count, object->object.count);
    for (size_t i = 0; i < count; i++) {
        char key[32];
        const size_t length = (size_t)snprintf(key, sizeof(key), "key-%zu", i);
        assert_ptr_equal(object->object.members[i].value,
                         weir__object_get(tree, object, key, length));
    }
    assert_null(weir__tree_memory(tree, LIMIT + 1));
    assert_null(weir__tree_memory(tree, SIZE_MAX));
    weir__tree_destroy(tree);
    test_memory_check(&memory);
}

static void memory_of_a_tree_is_zeroed_and_fit_for_anything(void **state)
{
    (void)state;
    test_memory memory;
    test_memory_open(&memory, 0);
    weir__tree *tree = weir__tree_create(&memory.allocator, 0);
    static const size_t sizes[] = {
        1, 0, 7, 16, 4095, 4096, 4097, 16384, 100000, 33, 15000, 15000
    };
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        unsigned char *bytes = weir__tree_memory(tree, sizes[i]);
        assert_non_null(bytes);
        assert_int_equal(0, (uintptr_t)bytes % 16);
        for (size_t k = 0; k < sizes[i]; k++) {
            assert_int_equal(0, bytes[k]);
        }
        memset(bytes, 0xff, sizes[i]);
    }
    weir__tree_destroy(tree);
    test_memory_check(&memory);
}

/* Everything that a builder does, until something is refused. */
static bool build(const weir_allocator *allocator)
{
    weir__tree *tree = weir__tree_create(allocator, 0);
    if (tree == NULL) {
        return false;
    }
    bool good = weir__tree_source(tree, "a.conf") != NULL;
    weir__node *object = weir__node_object(tree, nowhere);
    weir__node *list = weir__node_list(tree, nowhere);
    for (int i = 0; good && object != NULL && list != NULL && i < 2000; i++) {
        char key[300];
        memset(key, 'k', sizeof(key));
        snprintf(key, 8, "%d", i);
        weir__node *node = weir__node_string(tree, nowhere, key, sizeof(key));
        const size_t before = object->object.count;
        good = node != NULL && weir__list_append(tree, list, node) &&
               weir__object_set(tree, object, key, sizeof(key), node);
        assert_int_equal(before + (good ? 1 : 0), object->object.count);
    }
    for (size_t i = 0; object != NULL && i < object->object.count; i++) {
        const weir__member *member = &object->object.members[i];
        assert_ptr_equal(member->value,
                         weir__object_get(tree, object, member->key.bytes, member->key.length));
    }
    good = good && object != NULL && list != NULL;
    weir__tree_destroy(tree);
    return good;
}

static void whichever_allocation_fails_the_tree_stays_whole(void **state)
{
    (void)state;
    bool done = false;
    for (uint32_t nth = 1; !done; nth++) {
        test_memory memory;
        test_memory_open(&memory, nth);
        done = build(&memory.allocator);
        assert_int_equal(done, weir__load(&memory.refused, relaxed) == 0);
        test_memory_check(&memory);
        assert_true(nth < 500);
    }
}

static void every_kind_has_a_name_for_sentences(void **state)
{
    (void)state;
    assert_string_equal("null", weir__kind_name(WEIR__NULL));
    assert_string_equal("a boolean", weir__kind_name(WEIR__BOOLEAN));
    assert_string_equal("a number", weir__kind_name(WEIR__NUMBER));
    assert_string_equal("a string", weir__kind_name(WEIR__STRING));
    assert_string_equal("a list", weir__kind_name(WEIR__LIST));
    assert_string_equal("an object", weir__kind_name(WEIR__OBJECT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_node_is_what_was_asked_for_and_knows_its_place),
        cmocka_unit_test(texts_and_sources_are_copies),
        cmocka_unit_test(a_key_that_is_there_already_keeps_its_place),
        cmocka_unit_test(keys_are_bytes_with_a_length),
        cmocka_unit_test(what_is_no_object_has_no_keys),
        cmocka_unit_test(a_path_of_names_leads_down),
        cmocka_unit_test(a_random_walk_of_keys_agrees_with_a_plain_array),
        cmocka_unit_test(a_hundred_thousand_keys_cost_ten_times_ten_thousand),
        cmocka_unit_test(the_limit_counts_all_bytes_and_leaves_the_tree_whole),
        cmocka_unit_test(memory_of_a_tree_is_zeroed_and_fit_for_anything),
        cmocka_unit_test(whichever_allocation_fails_the_tree_stays_whole),
        cmocka_unit_test(every_kind_has_a_name_for_sentences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
