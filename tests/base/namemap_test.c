/*
 * base/namemap_test.c - the promises of namemap.h, against a plain array of what is in it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "inner_support.h"

#include "base/namemap.h"

enum { NAMES = 300, NAME_SIZE = 16 };

/* The model: names[i] is in the map iff values[i] != 0. */
typedef struct model {
    char names[NAMES][NAME_SIZE];
    uint64_t values[NAMES];
    size_t count;
} model;

static void model_open(model *m, uint64_t salt)
{
    memset(m, 0, sizeof(*m));
    for (uint32_t i = 0; i < NAMES; i++) {
        snprintf(m->names[i], NAME_SIZE, "%x.%u", (unsigned)(salt & 0xffff), (unsigned)i);
    }
}

static void assert_same(const model *m, const weir__namemap *map)
{
    assert_int_equal(m->count, map->count);
    for (uint32_t i = 0; i < NAMES; i++) {
        char copy[NAME_SIZE]; /* by content, not by address */
        memcpy(copy, m->names[i], sizeof(copy));
        assert_int_equal(m->values[i], weir__namemap_find(map, copy));
    }
}

static void put(model *m, weir__namemap *map, uint32_t i, uint64_t value)
{
    assert_true(weir__namemap_prepare(map, 1));
    weir__namemap_put(map, m->names[i], value);
    m->values[i] = value;
    m->count++;
}

static void drop(model *m, weir__namemap *map, uint32_t i)
{
    weir__namemap_remove(map, m->names[i]);
    m->count -= m->values[i] != 0;
    m->values[i] = 0;
}

static void an_empty_map_finds_nothing_and_owns_no_memory(void **state)
{
    (void)state;
    test_memory memory;
    test_memory_open(&memory, 0);
    weir__namemap map = { .allocator = &memory.allocator };
    assert_int_equal(0, weir__namemap_find(&map, "a"));
    assert_int_equal(0, weir__namemap_find(&map, NULL));
    weir__namemap_remove(&map, "a");
    assert_int_equal(0, weir__load(&memory.calls, relaxed));
    weir__namemap_close(&map);
    test_memory_check(&memory);
}

static void the_empty_name_is_a_name(void **state)
{
    (void)state;
    test_memory memory;
    test_memory_open(&memory, 0);
    weir__namemap map = { .allocator = &memory.allocator };
    assert_true(weir__namemap_prepare(&map, 1));
    weir__namemap_put(&map, "", UINT64_MAX);
    assert_int_equal(UINT64_MAX, weir__namemap_find(&map, ""));
    assert_int_equal(0, weir__namemap_find(&map, NULL));
    weir__namemap_close(&map);
    test_memory_check(&memory);
}

static void a_random_walk_agrees_with_a_plain_array(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    const uint32_t steps = test_load(200000);
    test_memory memory;
    test_memory_open(&memory, 0);
    weir__namemap map = { .allocator = &memory.allocator };
    model m;
    model_open(&m, random);
    for (uint32_t step = 0; step < steps; step++) {
        const uint64_t choice = test_random(&random);
        const uint32_t i = (uint32_t)(choice >> 32) % NAMES;
        assert_int_equal(m.values[i], weir__namemap_find(&map, m.names[i]));
        /* The walk leans towards full for a while, then towards empty. */
        const uint64_t puts_of_8 = (step / 4096) % 2 == 0 ? 6 : 2;
        if (choice % 8 >= puts_of_8) {
            drop(&m, &map, i);
        } else if (m.values[i] == 0) {
            put(&m, &map, i, choice | 1);
        }
        assert_int_equal(m.count, map.count);
        assert_true(map.count * 4 <= map.capacity * 3);
        if (step % 512 == 0) {
            assert_same(&m, &map);
        }
    }
    assert_same(&m, &map);
    weir__namemap_close(&map);
    test_memory_check(&memory);
}

/* As full as it gets, so that most names probe past others and round the end of the table. */
static void a_removal_closes_its_gap_wherever_it_is(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    enum { FULL = 12, CAPACITY = 16 };
    for (uint32_t round = 0; round < test_load(2000); round++) {
        test_memory memory;
        test_memory_open(&memory, 0);
        weir__namemap map = { .allocator = &memory.allocator };
        model m;
        model_open(&m, test_random(&random));
        for (uint32_t i = 0; i < FULL; i++) {
            put(&m, &map, i, i + 1);
        }
        assert_int_equal(CAPACITY, map.capacity);
        for (uint32_t left = FULL; left > 0; left--) {
            uint32_t nth = (uint32_t)(test_random(&random) % left);
            uint32_t i = 0;
            for (; m.values[i] == 0 || nth-- > 0; i++) {
            }
            drop(&m, &map, i);
            for (uint32_t k = 0; k < FULL; k++) {
                assert_int_equal(m.values[k], weir__namemap_find(&map, m.names[k]));
            }
        }
        for (uint32_t i = 0; i < CAPACITY; i++) {
            assert_null(map.entries[i].name); /* no tombstones */
        }
        weir__namemap_close(&map);
        test_memory_check(&memory);
    }
}

static void removing_an_absent_name_changes_nothing(void **state)
{
    (void)state;
    test_memory memory;
    test_memory_open(&memory, 0);
    weir__namemap map = { .allocator = &memory.allocator };
    model m;
    model_open(&m, 7);
    for (uint32_t i = 0; i < 12; i++) {
        put(&m, &map, i, i + 1);
    }
    for (uint32_t i = 12; i < NAMES; i++) {
        weir__namemap_remove(&map, m.names[i]);
    }
    assert_same(&m, &map);
    weir__namemap_close(&map);
    test_memory_check(&memory);
}

static void what_was_prepared_is_put_without_memory(void **state)
{
    (void)state;
    test_memory memory;
    test_memory_open(&memory, 0);
    weir__namemap map = { .allocator = &memory.allocator };
    model m;
    model_open(&m, 3);
    assert_true(weir__namemap_prepare(&map, NAMES));
    const uint32_t calls = weir__load(&memory.calls, relaxed);
    for (uint32_t i = 0; i < NAMES; i++) {
        weir__namemap_put(&map, m.names[i], i + 1);
        m.values[i] = i + 1;
        m.count++;
    }
    assert_int_equal(calls, weir__load(&memory.calls, relaxed));
    assert_same(&m, &map);
    weir__namemap_close(&map);
    test_memory_check(&memory);
}

static void a_prepare_that_fails_leaves_the_map_as_it_was(void **state)
{
    (void)state;
    test_memory memory;
    uint32_t grown = 0;
    for (uint32_t nth = 1; nth <= 4; nth++) {
        test_memory_open(&memory, nth);
        weir__namemap map = { .allocator = &memory.allocator };
        model m;
        model_open(&m, nth);
        uint32_t i = 0;
        for (; i < NAMES && weir__namemap_prepare(&map, 1); i++) {
            weir__namemap_put(&map, m.names[i], i + 1);
            m.values[i] = i + 1;
            m.count++;
        }
        assert_true(i < NAMES);
        assert_true(nth == 1 || i > grown); /* each further call of memory holds more names */
        grown = i;
        assert_false(weir__namemap_prepare(&map, 1));
        assert_same(&m, &map);
        memory.refuse_from = 0;
        put(&m, &map, i, 99);
        assert_same(&m, &map);
        weir__namemap_close(&map);
        test_memory_check(&memory);
    }
}

static void close_leaves_an_empty_map_that_can_be_used_again(void **state)
{
    (void)state;
    test_memory memory;
    test_memory_open(&memory, 0);
    weir__namemap map = { .allocator = &memory.allocator };
    for (int round = 0; round < 2; round++) {
        assert_true(weir__namemap_prepare(&map, 1));
        weir__namemap_put(&map, "a", 5);
        assert_int_equal(5, weir__namemap_find(&map, "a"));
        weir__namemap_close(&map);
        assert_int_equal(0, weir__namemap_find(&map, "a"));
        test_memory_check(&memory);
    }
}

static void put_without_room(void)
{
    weir__namemap map = { .allocator = weir__allocator_default() };
    weir__namemap_put(&map, "a", 1);
}

static void put_twice(void)
{
    weir__namemap map = { .allocator = weir__allocator_default() };
    if (weir__namemap_prepare(&map, 2)) {
        weir__namemap_put(&map, "a", 1);
        weir__namemap_put(&map, "a", 2);
    }
}

static void put_zero(void)
{
    weir__namemap map = { .allocator = weir__allocator_default() };
    if (weir__namemap_prepare(&map, 1)) {
        weir__namemap_put(&map, "a", 0);
    }
}

static void a_put_that_breaks_its_contract_aborts(void **state)
{
    (void)state;
    assert_true(test_aborts(put_without_room));
    assert_true(test_aborts(put_twice));
    assert_true(test_aborts(put_zero));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_map_finds_nothing_and_owns_no_memory),
        cmocka_unit_test(the_empty_name_is_a_name),
        cmocka_unit_test(a_random_walk_agrees_with_a_plain_array),
        cmocka_unit_test(a_removal_closes_its_gap_wherever_it_is),
        cmocka_unit_test(removing_an_absent_name_changes_nothing),
        cmocka_unit_test(what_was_prepared_is_put_without_memory),
        cmocka_unit_test(a_prepare_that_fails_leaves_the_map_as_it_was),
        cmocka_unit_test(close_leaves_an_empty_map_that_can_be_used_again),
        cmocka_unit_test(a_put_that_breaks_its_contract_aborts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
