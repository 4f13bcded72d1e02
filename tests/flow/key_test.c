/*
 * key_test.c - two keys of one hash are two flows: the bytes are kept and compared (S-51). No two
 * such keys are known, so they are forged, below the public calls.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow/submit.h" /* first: it has variables of the names of events */

#include "flow_support.h"

enum { KEYS = 60, ROUNDS = 3, HASHES = 2 };

static unsigned char keys[KEYS][4];
static atomic_uint_least64_t handled, lives, odd;

/* The state is the first byte that it saw, plus one. */
static weir_status compare_key(void *state, weir_turn *turn, const weir_event *event)
{
    uint64_t *mine = state;
    size_t size = 0;
    const unsigned char *key = weir_turn_flow_key(turn, &size);
    const number *n = weir_event_as(event, &number_type);
    atomic_fetch_add(&odd, size != sizeof(keys[0]) || memcmp(key, keys[n->value], size) != 0);
    atomic_fetch_add(&lives, *mine == 0);
    atomic_fetch_add(&odd, *mine != 0 && *mine != n->value + 1);
    *mine = n->value + 1;
    atomic_fetch_add(&handled, 1);
    return WEIR_OK;
}

static weir__flow_key forged(uint64_t i)
{
    const uint64_t hash = UINT64_C(0x0102030405060708) + i % HASHES;
    return (weir__flow_key){ .id = hash, .hash = hash, .bytes = keys[i], .size = sizeof(keys[i]) };
}

static void keys_of_one_hash_are_flows_of_their_own(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    const weir_router handle = flow_router_add(
        engine, WEIR_ROUTER(.name = "keys", .handler = compare_key, .state_size = sizeof(uint64_t),
                            .workers = 2, .keys = WEIR_FLOW_KEYS_BYTES));
    weir__router *router = weir__router_find(engine, handle);
    weir__posting by = { 0 }; /* gcc cannot tell that the next line ends the test if it fails */
    assert_true(weir__post_outside(engine, &by));
    test_engine_start(engine);
    for (uint64_t i = 0; i < KEYS; i++) {
        keys[i][3] = (unsigned char)i;
    }
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        for (uint64_t i = 0; i < KEYS; i++) {
            const weir__flow_key key = forged(i);
            assert_int_equal(WEIR_OK, weir__submit(by, router, &key, WEIR_EVENT(number, i)));
        }
        TEST_UNTIL(atomic_load(&handled) == round * KEYS);
    }
    assert_int_equal(KEYS, router_counters(engine, handle).flows);
    /* One of them goes: the others, pushed aside in the table, are found all the same. */
    for (uint64_t i = 0; i < KEYS; i += 3) {
        const weir__flow_key key = forged(i);
        weir_event last = *WEIR_EVENT(number, i);
        last.flags = WEIR_EVENT_FINISH;
        assert_int_equal(WEIR_OK, weir__submit(by, router, &key, &last));
    }
    TEST_UNTIL(router_counters(engine, handle).flows == KEYS - KEYS / 3);
    for (uint64_t i = 0; i < KEYS; i++) {
        const weir__flow_key key = forged(i);
        assert_int_equal(WEIR_OK, weir__submit(by, router, &key, WEIR_EVENT(number, i)));
    }
    TEST_UNTIL(atomic_load(&handled) == (ROUNDS + 1) * KEYS + KEYS / 3);
    assert_int_equal(KEYS + KEYS / 3, atomic_load(&lives));
    assert_int_equal(0, atomic_load(&odd));
    (void)test_engine_end(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_of_one_hash_are_flows_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
