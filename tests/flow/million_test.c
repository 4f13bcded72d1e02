/*
 * million_test.c - 1,000,000 live flows with 16 bytes of state each fit into 256 MiB (S-55): by the
 * router's own figure, and by what the system says of the process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_support.h"

enum { BOUND_MIB = 256, BATCH = 64 };

/* 16 bytes: how often, and which key, so that a state that is not its own is seen. */
typedef struct tally {
    uint64_t key;
    uint64_t events;
} tally;

static atomic_uint_least64_t handled, odd, ended;

static weir_status count_event(void *state, weir_turn *turn, const weir_event *event)
{
    tally *t = state;
    (void)turn;
    if (t->key != 0 && t->key != event->flow) {
        atomic_fetch_add(&odd, 1);
    }
    t->key = event->flow;
    t->events++;
    atomic_fetch_add_explicit(&handled, 1, memory_order_relaxed);
    return WEIR_OK;
}

static void count_end(void *state, weir_flow_end reason)
{
    const tally *t = state;
    if (t->events != 2 || reason != WEIR_FLOW_STOPPED) {
        atomic_fetch_add(&odd, 1);
    }
    atomic_fetch_add_explicit(&ended, 1, memory_order_relaxed);
}

static void submit_all(weir_engine *engine, weir_router router, uint64_t count, bool bytes)
{
    const weir_event event = { .type = &number_type,
                               .data = &(number){ 1 },
                               .size = sizeof(number) };
    for (uint64_t first = 1; first <= count; first += BATCH) {
        uint64_t flows[BATCH];
        const weir_event *events[BATCH];
        const uint64_t most = count + 1 - first;
        const size_t size = most < BATCH ? (size_t)most : BATCH;
        for (size_t i = 0; i < size; i++) {
            flows[i] = first + i;
            events[i] = &event;
            if (bytes) {
                const uint64_t key[2] = { first + i, ~(first + i) };
                assert_int_equal(
                    WEIR_OK, weir_router_submit_bytes(engine, router, key, sizeof(key), &event));
            }
        }
        if (!bytes) {
            assert_int_equal(size,
                             weir_router_submit_batch(engine, router, flows, events, size, NULL));
        }
    }
}

static void a_million_live_flows(bool bytes)
{
    const uint64_t count = test_load(1000000, 50000);
    atomic_store(&handled, 0);
    atomic_store(&odd, 0);
    atomic_store(&ended, 0);
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.threads = 2));
    const weir_router router = flow_router_add(
        engine, WEIR_ROUTER(.name = "many", .handler = count_event, .state_size = sizeof(tally),
                            .destroy = count_end, .workers = 2, .flows_max = count,
                            .block_max = TEST_PATIENCE,
                            .keys = bytes ? WEIR_FLOW_KEYS_BYTES : WEIR_FLOW_KEYS_U64));
    test_engine_start(engine);
    const uint64_t before = test_resident_bytes();
    submit_all(engine, router, count, bytes);
    submit_all(engine, router, count, bytes); /* each is found again */
    TEST_UNTIL(atomic_load(&handled) == 2 * count);
    const uint64_t after = test_resident_bytes();
    const weir_router_counters c = router_counters(engine, router);
    fprintf(stderr,
            "# %" PRIu64 " flows: %" PRIu64 " MiB by the router, %" PRIu64 " MiB more resident\n",
            c.flows, c.bytes >> 20, (after - before) >> 20);
    assert_int_equal(count, c.flows);
    assert_int_equal(count, c.flows_made);
    assert_int_equal(0, c.evicted);
    assert_true(c.bytes <= (uint64_t)BOUND_MIB << 20);
    if (!TEST_SANITIZED) {
        assert_true(after - before <= (uint64_t)BOUND_MIB << 20);
        assert_true(c.bytes <= after - before + (32u << 20)); /* it does not hide anything */
    }
    (void)test_engine_end(engine);
    assert_int_equal(0, atomic_load(&odd));
    assert_int_equal(count, atomic_load(&ended));
}

static void a_million_live_flows_fit_into_256_mib(void **state)
{
    (void)state;
    a_million_live_flows(false);
}

static void with_keys_of_16_bytes_too(void **state)
{
    (void)state;
    a_million_live_flows(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_million_live_flows_fit_into_256_mib),
        cmocka_unit_test(with_keys_of_16_bytes_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
