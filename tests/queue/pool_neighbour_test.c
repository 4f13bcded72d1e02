/*
 * queue/pool_neighbour_test.c - the pool writes into objects that it has, never into those that are
 * out: not a byte of a held object changes, whatever its neighbours go through.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "inner_support.h"

#include "queue/pool.h"

enum { OBJECT_SIZE = 64, MAGAZINE = 4, HELD = 64 };

static void assert_untouched(weir__pooled *object, int value)
{
    const unsigned char *bytes = (const unsigned char *)(const void *)object;
    for (size_t i = 0; i < OBJECT_SIZE; i++) {
        assert_int_equal(value, bytes[i]);
    }
}

/* Every other object goes back, in an order of chance, by way of the cache or past it. */
static void no_byte_of_an_object_that_is_out_changes(void **state)
{
    (void)state;
    weir__pool pool;
    test_memory memory;
    weir__pool_cache cache = { NULL, NULL, 0 };
    weir__pooled *objects[2 * HELD];
    uint64_t seed = test_seed();
    test_memory_open(&memory, 0);
    weir__pool_open(&pool, &memory.allocator, OBJECT_SIZE, MAGAZINE);
    for (size_t i = 0; i < 2 * HELD; i++) {
        objects[i] = weir__pool_get(&pool, &cache);
        assert_non_null(objects[i]);
        memset((void *)objects[i], (int)(i & 0x7f) + 1, OBJECT_SIZE);
    }
    for (size_t round = 0; round < 20; round++) {
        for (size_t i = 1; i < 2 * HELD; i += 2) {
            if (test_random(&seed) % 4 == 0) {
                weir__pool_put_shared(&pool, objects[i]);
            } else {
                weir__pool_put(&pool, &cache, objects[i]);
            }
        }
        if (test_random(&seed) % 2 == 0) {
            weir__pool_flush(&pool, &cache);
        }
        for (size_t i = 1; i < 2 * HELD; i += 2) {
            objects[i] = weir__pool_get(&pool, &cache);
            assert_non_null(objects[i]);
        }
        for (size_t i = 0; i < 2 * HELD; i += 2) {
            assert_untouched(objects[i], (int)(i & 0x7f) + 1);
        }
    }
    weir__pool_close(&pool);
    test_memory_check(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_byte_of_an_object_that_is_out_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
