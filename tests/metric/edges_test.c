/*
 * edges_test.c - who sends to whom: by the names of components, feeds, routers and processors, seen
 * or known from the configuration.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "metric_support.h"

#include "metric/metric.h"

typedef struct relay_config {
    weir_target target;
} relay_config;

typedef struct relay {
    const relay_config *config;
} relay;

static const weir_option relay_options[] = {
    WEIR_KEY(TARGET, relay_config, target, "target"),
};

static weir_status relay_init(void *state, weir_component *self, const void *config,
                              weir_error *error)
{
    (void)self;
    (void)error;
    ((relay *)state)->config = config;
    return WEIR_OK;
}

static weir_status relay_handle(void *state, weir_turn *turn, const weir_event *event)
{
    const relay *r = state;
    return weir_turn_send(turn, &r->config->target, event);
}

static const weir_component_type relay_type = { .struct_size = sizeof(weir_component_type),
                                                .kind = WEIR_KIND_PROCESSOR,
                                                .name = "relay",
                                                .state_size = sizeof(relay),
                                                .config_size = sizeof(relay_config),
                                                .options = relay_options,
                                                .option_count = 1,
                                                .init = relay_init,
                                                .handler = relay_handle };

#define RELAY(name_) (&(const relay_config){ .target = { .name = name_ } })

static scene s;
static weir__figures f;

/* How many events go that way; -1: there is no such edge. */
static int64_t events(const char *from, const char *to)
{
    const weir__edge_item *items = f.edges.items;
    for (uint32_t i = 0; i < f.edges.count; i++) {
        if (strcmp(items[i].from, from) == 0 && strcmp(items[i].to, to) == 0) {
            return (int64_t)items[i].events;
        }
    }
    return -1;
}

static void look(const weir_metrics_options *options)
{
    assert_true(weir__figures_take(&f, s.engine, options));
}

static void component(const weir_component_type *type, const weir_component_options *options)
{
    assert_int_equal(WEIR_OK, weir_component_add(s.engine, type, options, NULL, &s.error));
}

static uint64_t stored(void)
{
    uint64_t total = 0;
    (void)weir_memory_visit(s.engine, "store", NULL, NULL, &total);
    return total;
}

static void the_picture_is_whole_before_anything_flows(void **state)
{
    (void)state;
    scene_make(&s, WEIR_ENGINE(.name = "edges", .latency_every = 1));
    component(&weir_memory_type, WEIR_COMPONENT(.name = "orders"));
    component(&relay_type, WEIR_COMPONENT(.name = "mill", .feeds = WEIR_NAMES("orders"),
                                          .config = RELAY("store")));
    component(&weir_memory_sink_type, WEIR_COMPONENT(.name = "store"));
    const weir_processor audit = scene_add(&s, WEIR_PROCESSOR(.name = "audit"));
    assert_int_equal(WEIR_OK, weir_components_start(s.engine, &s.error));
    look(NULL);
    assert_int_equal(0, events("component:orders", "feed:orders"));
    assert_int_equal(0, events("feed:orders", "component:mill"));
    assert_int_equal(0, events("component:mill", "component:store"));
    assert_int_equal(3, f.edges.count);
    weir__figures_close(&f);

    for (uint32_t i = 0; i < 50; i++) {
        assert_int_equal(WEIR_OK, weir_memory_push(s.engine, "orders", TOLD(work)));
    }
    TEST_UNTIL(stored() == 50);
    scene_post(&s, audit, TOLD(work), 20);
    weir_counters c = WEIR_COUNTERS_INIT;
    TEST_UNTIL(weir_engine_counters(s.engine, &c) == WEIR_OK && c.handled == 120);
    look(NULL);
    assert_int_equal(50, events("component:orders", "feed:orders"));
    assert_int_equal(50, events("feed:orders", "component:mill"));
    assert_int_equal(50, events("component:mill", "component:store"));
    assert_int_equal(20, events("outside", "processor:audit"));
    assert_int_equal(-1, events("outside", "component:mill")); /* that was the feed */
    assert_int_equal(4, f.edges.count);
    weir__figures_close(&f);
    assert_int_equal(WEIR_OK, weir_components_stop(s.engine, 0, NULL));
    scene_close(&s);
}

static void routers_are_named_and_lead_to_their_targets(void **state)
{
    (void)state;
    scene_make(&s, WEIR_ENGINE(.name = "edges", .latency_every = 1));
    const weir_processor a = scene_add(&s, WEIR_PROCESSOR(.name = "a"));
    const weir_router spread = weir_router_add(
        s.engine, WEIR_ROUTER(.name = "spread", .targets = &a, .target_count = 1), &s.error);
    const weir_router flows = weir_router_add(
        s.engine,
        WEIR_ROUTER(.name = "flows", .workers = 2, .argument = &s, .handler = scene_handle),
        &s.error);
    test_error_none(&s.error);
    assert_int_equal(WEIR_OK, weir_engine_start(s.engine, &s.error));
    look(NULL);
    assert_int_equal(0, events("router:spread", "processor:a"));
    weir__figures_close(&f);
    for (uint64_t key = 1; key <= 10; key++) {
        assert_int_equal(WEIR_OK, weir_router_submit(s.engine, spread, key, TOLD(work)));
        assert_int_equal(WEIR_OK, weir_router_submit(s.engine, flows, key, TOLD(work)));
    }
    weir_counters c = WEIR_COUNTERS_INIT;
    TEST_UNTIL(weir_engine_counters(s.engine, &c) == WEIR_OK && c.handled == 20);
    look(NULL);
    assert_true(events("router:spread", "processor:a") >= 0);
    assert_int_equal(10, events("outside", "router:flows")); /* by the name of the router */
    weir__figures_close(&f);
    scene_close(&s);
}

static void what_a_component_submits_goes_by_the_router_that_it_names(void **state)
{
    (void)state;
    scene_make(&s, WEIR_ENGINE(.name = "edges", .latency_every = 1));
    weir_processor targets[2];
    assert_int_equal(WEIR_OK,
                     weir_component_add(s.engine, &weir_memory_sink_type,
                                        WEIR_COMPONENT(.name = "store"), &targets[0], &s.error));
    targets[1] = scene_add(&s, WEIR_PROCESSOR(.name = "b"));
    (void)weir_router_add(
        s.engine, WEIR_ROUTER(.name = "spread", .targets = targets, .target_count = 2), &s.error);
    component(&relay_type, WEIR_COMPONENT(.name = "mill", .config = RELAY("spread")));
    assert_int_equal(WEIR_OK, weir_components_start(s.engine, &s.error));
    for (uint64_t key = 1; key <= 20; key++) {
        const weir_event event = { .type = &told_work, .flow = key };
        scene_post(&s, weir_processor_find(s.engine, "mill"), &event, 1);
    }
    weir_counters c = WEIR_COUNTERS_INIT;
    TEST_UNTIL(weir_engine_counters(s.engine, &c) == WEIR_OK && c.handled == 40);
    look(NULL);
    assert_int_equal(20, events("outside", "component:mill"));
    assert_int_equal(20, events("component:mill", "router:spread"));
    assert_int_equal(20, events("router:spread", "component:store") +
                             events("router:spread", "processor:b"));
    assert_int_equal(-1, events("component:mill", "component:store"));
    assert_int_equal(-1, events("component:mill", "processor:b"));
    weir__figures_close(&f);
    scene_close(&s);
}

static void those_without_figures_are_one_node(void **state)
{
    (void)state;
    scene_make(&s, WEIR_ENGINE(.name = "edges", .latency_every = 1));
    const weir_processor first = scene_add(&s, WEIR_PROCESSOR(.name = "first"));
    weir_processor others[20];
    for (uint32_t i = 0; i < 20; i++) {
        others[i] = scene_add(&s, WEIR_PROCESSOR(.name = NULL));
    }
    assert_int_equal(WEIR_OK, weir_engine_start(s.engine, &s.error));
    scene_post(&s, first, TOLD(work), 100);
    for (uint32_t i = 0; i < 20; i++) {
        scene_post(&s, others[i], TOLD(work), 2);
    }
    weir_counters c = WEIR_COUNTERS_INIT;
    TEST_UNTIL(weir_engine_counters(s.engine, &c) == WEIR_OK && c.handled == 140);
    look(WEIR_METRICS(.processors_max = 1));
    assert_int_equal(100, events("outside", "processor:first"));
    assert_int_equal(40, events("outside", "processor:(others)"));
    assert_int_equal(2, f.edges.count);
    weir__figures_close(&f);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_picture_is_whole_before_anything_flows),
        cmocka_unit_test(routers_are_named_and_lead_to_their_targets),
        cmocka_unit_test(what_a_component_submits_goes_by_the_router_that_it_names),
        cmocka_unit_test(those_without_figures_are_one_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
