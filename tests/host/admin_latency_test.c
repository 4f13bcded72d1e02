/*
 * admin_latency_test.c - the admin commands about latencies (S-80): what is measured, and what is
 * said of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "admin_support.h"

static desk d;

static int set_up(void **state)
{
    (void)state;
    desk_open(&d);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    desk_close(&d);
    return 0;
}

static weir_status on_flow(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    return WEIR_OK;
}

static weir_router add_router(const char *name)
{
    return weir_router_add(
        d.engine, WEIR_ROUTER(.name = name, .handler = on_flow, .workers = 1, .latency_every = 1),
        &d.error);
}

static void submit(weir_router router, uint64_t count)
{
    weir_router_counters c = WEIR_ROUTER_COUNTERS_INIT;
    assert_int_equal(WEIR_OK, weir_router_counters_get(d.engine, router, &c));
    const uint64_t before = c.handled;
    for (uint64_t i = 1; i <= count; i++) {
        assert_int_equal(WEIR_OK, weir_router_submit(d.engine, router, i,
                                                     &(const weir_event){ .type = &desk_fail }));
    }
    TEST_UNTIL(weir_router_counters_get(d.engine, router, &c) == WEIR_OK &&
               c.handled == before + count);
}

static void latency_is_measured_until_disabled_and_begins_anew(void **state)
{
    (void)state;
    const weir_router orders = add_router("orders");
    submit(orders, 5);
    assert_int_equal(WEIR_OK, desk_run(&d, "latency status"));
    assert_says("{\"what\": \"handlers of flows\", \"name\": \"orders\", \"measured\": true, "
                "\"count\": 5,");
    assert_says("{\"what\": \"lateness of timers\"");
    assert_says("{\"what\": \"waiting, of a dispatcher\", \"name\": ");
    assert_says("{\"what\": \"handlers, of a dispatcher\", \"name\": ");
    assert_says_not("of a processor");
    assert_int_equal(WEIR_OK, desk_run(&d, "latency disable orders"));
    submit(orders, 4);
    assert_int_equal(WEIR_OK, desk_run(&d, "latency status"));
    assert_says("\"measured\": false, \"count\": 5,");
    assert_int_equal(WEIR_OK, desk_run(&d, "latency enable"));
    submit(orders, 2);
    assert_int_equal(WEIR_OK, desk_run(&d, "latency status"));
    assert_says("\"measured\": true, \"count\": 7,");
    assert_int_equal(WEIR_OK, desk_run(&d, "latency reset"));
    assert_int_equal(WEIR_OK, desk_run(&d, "latency status"));
    assert_says("\"count\": 0, \"p50-ns\": 0, \"p95-ns\": 0, \"p99-ns\": 0, "
                "\"p999-ns\": null, \"max-ns\": 0}");
    submit(orders, 1);
    assert_int_equal(WEIR_OK, desk_run(&d, "latency reset orders"));
    submit(orders, 3);
    assert_int_equal(WEIR_OK, desk_run(&d, "latency status"));
    assert_says("\"count\": 3,");
    assert_int_equal(WEIR_UNKNOWN, desk_run(&d, "latency reset nobody"));
}

static void latency_of_processors_is_measured_by_pattern(void **state)
{
    (void)state;
    (void)add_router("orders");
    assert_int_equal(WEIR_OK, desk_run(&d, "latency enable flows:ord*"));
    assert_int_equal(WEIR_OK, desk_run(&d, "latency status flows:*"));
    assert_says("{\"what\": \"waiting, of a processor\", \"name\": \"flows:orders/0\"");
    assert_says_not("of a dispatcher"); /* the pattern is for all names */
    assert_int_equal(WEIR_OK, desk_run(&d, "latency disable flows:*"));
    assert_int_equal(WEIR_OK, desk_run(&d, "latency status"));
    assert_says_not("of a processor");
    assert_int_equal(WEIR_OK, desk_run(&d, "latency enable nobody*")); /* they may come */
    assert_int_equal(WEIR_UNKNOWN, desk_run(&d, "latency disable nobody"));
}

static void latency_of_targets_is_said_not_to_be_measured(void **state)
{
    (void)state;
    (void)weir_router_add(
        d.engine, WEIR_ROUTER(.name = "to", .targets = &d.book, .target_count = 1), &d.error);
    assert_int_equal(WEIR_OK, d.error.status);
    assert_int_equal(WEIR_OK, desk_run(&d, "latency enable"));
    assert_says("not measured: its targets handle its events");
    assert_int_equal(WEIR_OK, desk_run(&d, "latency status"));
    assert_says("\"name\": \"to\", \"measured\": false");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(latency_is_measured_until_disabled_and_begins_anew),
        TEST(latency_of_processors_is_measured_by_pattern),
        TEST(latency_of_targets_is_said_not_to_be_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
