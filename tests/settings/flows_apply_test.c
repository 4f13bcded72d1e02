/*
 * flows_apply_test.c - routers that a configuration describes run as it says, and another one for
 * the engine changes of them what can change.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "apply_support.h"

#include "engine/chore.h"
#include "flow/router.h"
#include "flow/tune.h"

#define ROWS(rows) "weir.engine.thread-dispatcher-assignment = [" rows "]\n"

typedef struct scene {
    weir_engine *engine;
    weir_router router;
    weir__router *inside;
    atomic_uint_least64_t handled, ended[WEIR_FLOW_STOPPED + 1];
    sem_t entered, pass; /* of events whose number is 0 */
} scene;

static scene *the_scene;

static weir_status handle(void *state, weir_turn *turn, const weir_event *event)
{
    const number *n = event->data;
    (void)state;
    (void)turn;
    if (n->value == 0) {
        (void)sem_post(&the_scene->entered);
        if (!test_sem_taken(&the_scene->pass)) {
            return WEIR_E_FAILED;
        }
    }
    (void)atomic_fetch_add(&the_scene->handled, 1);
    return WEIR_OK;
}

static void end_flow(void *state, weir_flow_end reason)
{
    (void)state;
    (void)atomic_fetch_add(&the_scene->ended[reason], 1);
}

static void open_scene(scene *s, const char *text, const weir_engine_options *code)
{
    weir_error error = WEIR_ERROR_INIT;
    weir_router_options o = WEIR_ROUTER_OPTIONS_INIT;
    memset(s, 0, sizeof(*s));
    the_scene = s;
    assert_int_equal(0, sem_init(&s->entered, 0, 0));
    assert_int_equal(0, sem_init(&s->pass, 0, 0));
    weir_config *config = parse(text);
    s->engine = weir_config_engine(config, code, &error);
    o.handler = handle;
    o.state_size = 8;
    o.destroy = end_flow;
    (void)weir_config_router_options(config, "r", &o, &error);
    s->router = weir_router_add(s->engine, &o, &error);
    weir_config_destroy(config);
    test_error_none(&error);
    s->inside = weir__router_named(s->engine, "r");
    assert_non_null(s->inside);
    test_engine_start(s->engine);
}

static weir_status submit(scene *s, uint64_t flow, uint64_t value)
{
    return weir_router_submit(s->engine, s->router, flow, WEIR_EVENT(number, value));
}

static uint64_t ended(scene *s, weir_flow_end reason)
{
    return atomic_load(&s->ended[reason]);
}

static const char *dispatcher_of(scene *s, uint32_t part)
{
    static char name[256];
    weir_processor processor;
    assert_true(weir__router_part(s->inside, part, &processor));
    assert_int_equal(WEIR_OK, weir_processor_dispatcher(s->engine, processor, name, sizeof(name)));
    return name;
}

static void a_router_from_a_file_routes(void **state)
{
    static scene s;
    weir_router_counters counters = WEIR_ROUTER_COUNTERS_INIT;
    (void)state;
    open_scene(&s,
               ROWS("[\"\"], [wide]") "weir.flows.r { workers = 3, dispatcher = wide, policy = "
                                      "fail, worker-capacity = 1, max-flows = 1000 }",
               NULL);
    for (uint32_t i = 0; i <= 3; i++) {
        assert_string_equal("wide", dispatcher_of(&s, i));
    }
    assert_int_equal(WEIR_OK, submit(&s, 7, 0));
    assert_true(test_sem_taken(&s.entered));
    weir_status status = WEIR_OK;
    for (int i = 0; i < 4 && status == WEIR_OK; i++) {
        status = submit(&s, 7, 1);
    }
    assert_int_equal(WEIR_FULL, status);
    assert_int_equal(0, sem_post(&s.pass));
    assert_int_equal(WEIR_OK, weir_router_counters_get(s.engine, s.router, &counters));
    assert_int_equal(3, counters.workers);
    test_engine_end(s.engine);
    assert_int_equal(1, ended(&s, WEIR_FLOW_STOPPED));
}

static void a_router_from_a_file_has_threads_of_its_own(void **state)
{
    static scene s;
    (void)state;
    open_scene(&s, "weir.flows.r { workers = 2, own-threads = on, idle-strategy = park }", NULL);
    assert_string_equal("r", dispatcher_of(&s, 0));
    assert_string_equal("r", dispatcher_of(&s, 2));
    assert_int_equal(WEIR_OK, submit(&s, 7, 1));
    TEST_UNTIL(atomic_load(&s.handled) == 1);
    test_engine_end(s.engine);
}

static void a_shorter_idle_timeout_counts_for_flows_that_are_there(void **state)
{
    static scene s;
    (void)state;
    open_scene(&s, "weir.flows.r.flow-idle-timeout = 1h", NULL);
    assert_int_equal(WEIR_OK, submit(&s, 1, 1));
    assert_int_equal(WEIR_OK, submit(&s, 2, 1));
    TEST_UNTIL(atomic_load(&s.handled) == 2);
    apply_well(s.engine, "weir.flows.r.flow-idle-timeout = 20ms", 0);
    TEST_UNTIL(ended(&s, WEIR_FLOW_IDLE) == 2);
    /* And for those that come. */
    assert_int_equal(WEIR_OK, submit(&s, 3, 1));
    TEST_UNTIL(ended(&s, WEIR_FLOW_IDLE) == 3);
    test_engine_end(s.engine);
    assert_int_equal(0, ended(&s, WEIR_FLOW_STOPPED));
}

static void an_idle_timeout_comes_and_goes(void **state)
{
    static scene s;
    (void)state;
    open_scene(&s, "weir.flows.r.flow-idle-timeout = never", NULL);
    assert_int_equal(WEIR_OK, submit(&s, 1, 1));
    TEST_UNTIL(atomic_load(&s.handled) == 1);
    apply_well(s.engine, "weir.flows.r.flow-idle-timeout = 10ms", 0);
    TEST_UNTIL(ended(&s, WEIR_FLOW_IDLE) == 1);
    apply_well(s.engine, "weir.flows.r.flow-idle-timeout = never", 0);
    assert_int_equal(WEIR_OK, submit(&s, 2, 1));
    TEST_UNTIL(atomic_load(&s.handled) == 2);
    apply_well(s.engine, "weir.flows.r.flow-idle-timeout = 1h", 0);
    apply_well(s.engine, "weir.flows.r.flow-idle-timeout = never", 0); /* with a flow there */
    const weir_ns end = test_now() + 60 * WEIR_MS;
    const uint64_t before = test_engine_counters(s.engine).handled;
    while (test_now() < end) {
        (void)sched_yield();
    }
    assert_int_equal(1, ended(&s, WEIR_FLOW_IDLE));
    assert_true(test_engine_counters(s.engine).handled <= before + 2); /* nobody ticks */
    /* Said no more: ten minutes, as without any file. */
    apply_well(s.engine, "", 0);
    assert_int_equal(600 * WEIR_S, weir__load(&s.inside->idle_timeout, relaxed));
    test_engine_end(s.engine);
    assert_int_equal(1, ended(&s, WEIR_FLOW_STOPPED));
}

/* Whether the caretaker has still to look at another timeout, and how many triggers it has out. */
static bool caretaker_is_asked(scene *s, uint32_t *triggers)
{
    weir__mutex_lock(&s->engine->registry.lock);
    weir__processor *p = weir__registry_find(&s->engine->registry, s->inside->caretaker);
    const bool asked = (weir__load(&p->control, acquire) & WEIR__CONTROL_CHORE) != 0;
    *triggers = weir__mailbox_owed(weir__load(&p->mailbox.word, acquire));
    weir__mutex_unlock(&s->engine->registry.lock);
    return asked;
}

/* Two threads, since one is held in a handler; a mailbox that is not the caretaker's. */
#define NARROW ROWS("[\"\"], [\"\"]") "weir.engine.default-queue-size = 1\n"

static void retime(scene *s, const char *timeout)
{
    char text[200];
    uint32_t triggers;
    snprintf(text, sizeof(text), NARROW "weir.flows.r.flow-idle-timeout = %s", timeout);
    apply_well(s->engine, text, 0);
    TEST_UNTIL(!caretaker_is_asked(s, &triggers));
}

static void many_timeouts_leave_one_that_counts(void **state)
{
    static scene s;
    uint32_t triggers;
    (void)state;
    open_scene(&s, NARROW "weir.flows.r.flow-idle-timeout = 22ms", NULL);
    assert_int_equal(WEIR_OK, submit(&s, 1, 0)); /* while it is at hand, the flow does not end */
    assert_true(test_sem_taken(&s.entered));
    for (int i = 0; i < 20; i++) {
        retime(&s, i % 2 == 0 ? "20ms" : "21ms");
    }
    retime(&s, "1h");
    TEST_UNTIL(!caretaker_is_asked(&s, &triggers) && triggers == 1);
    assert_int_equal(0, sem_post(&s.pass));
    TEST_UNTIL(atomic_load(&s.handled) == 1);
    assert_int_equal(0, ended(&s, WEIR_FLOW_IDLE));
    retime(&s, "10ms");
    TEST_UNTIL(ended(&s, WEIR_FLOW_IDLE) == 1);
    test_engine_end(s.engine);
}

static void another_longest_wait_counts_for_who_comes(void **state)
{
    static scene s;
    static const char beginning[] = "weir.flows.r { workers = 1, worker-capacity = 1, "
                                    "ingress-capacity = 1, block-max = ";
    char text[200];
    (void)state;
    snprintf(text, sizeof(text), "%s1h }", beginning);
    open_scene(&s, text, NULL);
    snprintf(text, sizeof(text), "%s1ms }", beginning);
    apply_well(s.engine, text, 0);
    assert_int_equal(WEIR_OK, submit(&s, 1, 0));
    assert_true(test_sem_taken(&s.entered));
    weir_status status = WEIR_OK;
    for (int i = 0; i < 8 && status == WEIR_OK; i++) {
        status = submit(&s, 1, 1); /* with the wait of before it would take an hour */
    }
    assert_int_equal(WEIR_FULL, status);
    assert_int_equal(0, sem_post(&s.pass));
    /* Said no more: the engine's. */
    apply_well(s.engine,
               "weir.engine.block-max = 3s\nweir.flows.r { workers = 1, worker-capacity = 1, "
               "ingress-capacity = 1 }",
               0);
    assert_int_equal(3 * WEIR_S, weir__load(&s.inside->block_max, relaxed));
    test_engine_end(s.engine);
}

static void workers_take_other_turns_and_move(void **state)
{
    static scene s;
    weir_processor worker;
    (void)state;
    open_scene(&s, ROWS("[a], [b]") "weir.flows.r { workers = 2, dispatcher = a }", NULL);
    assert_true(weir__router_part(s.inside, 2, &worker));
    assert_int_equal(128, batch_of(s.engine, worker));
    apply_well(s.engine, ROWS("[b]") "weir.flows.r { workers = 2, dispatcher = b, batch-max = 5 }",
               0);
    assert_int_equal(5, batch_of(s.engine, worker));
    assert_string_equal("/b", served(s.engine));
    for (uint32_t i = 0; i <= 2; i++) {
        assert_string_equal("b", dispatcher_of(&s, i));
    }
    assert_int_equal(WEIR_OK, submit(&s, 7, 1));
    TEST_UNTIL(atomic_load(&s.handled) == 1);
    /* Said no more: what routers have; not the engine's. */
    apply_well(s.engine,
               ROWS("[b]") "weir.engine.batch-max = 3\nweir.flows.r { workers = 2, dispatcher = b "
                           "}",
               0);
    assert_int_equal(128, batch_of(s.engine, worker));
    test_engine_end(s.engine);
}

static void a_refusal_changes_nothing_of_a_router(void **state)
{
    static scene s;
    weir_error error = WEIR_ERROR_INIT;
    (void)state;
    open_scene(&s,
               ROWS("[a], [b]") "weir.flows.r { workers = 2, dispatcher = a, block-max = 7s, "
                                "flow-idle-timeout = 8s }",
               NULL);
    (void)add_plain(s.engine, "other", "b");
    assert_int_equal(WEIR_E_INVALID,
                     apply(s.engine,
                           ROWS("[a], [c]") "weir.flows.r { workers = 2, dispatcher = c, block-max "
                                            "= 1s, flow-idle-timeout = 2s, batch-max = 2 }",
                           NULL, &error));
    for (uint32_t i = 0; i <= 2; i++) {
        assert_string_equal("a", dispatcher_of(&s, i));
    }
    assert_string_equal("/a/b", served(s.engine));
    assert_int_equal(7 * WEIR_S, weir__load(&s.inside->block_max, relaxed));
    assert_int_equal(8 * WEIR_S, weir__load(&s.inside->idle_timeout, relaxed));
    weir_processor worker;
    assert_true(weir__router_part(s.inside, 1, &worker));
    assert_int_equal(128, batch_of(s.engine, worker));
    test_engine_end(s.engine);
}

static void what_a_router_is_built_with_needs_a_restart_and_is_named(void **state)
{
    static test_log log;
    static scene s;
    static const char *const keys[] = { "workers", "ingress-capacity", "worker-capacity",
                                        "policy",  "max-flows",        "migrate",
                                        "keys",    "own-threads",      "latency-every" };
    (void)state;
    test_log_init(&log);
    open_scene(&s, "", WEIR_ENGINE(.log = test_log_hook, .log_context = &log));
    apply_well(s.engine,
               "weir.flows.r { workers = 5, ingress-capacity = 5, worker-capacity = 5, policy = "
               "fail, max-flows = 5, migrate = on, keys = bytes, own-threads = off, latency-every "
               "= 5, batch-max = 5, block-max = 5s, flow-idle-timeout = 5m, dispatcher = \"\" }\n"
               "weir.flows.later { workers = 5, policy = fail }",
               sizeof(keys) / sizeof(keys[0]));
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        char wanted[80];
        snprintf(wanted, sizeof(wanted), "key=weir.flows.r.%s", keys[i]);
        assert_int_equal(
            1, test_log_matches(&log, WEIR_LOG_WARNING, "this key needs a restart", wanted));
    }
    assert_int_equal(WEIR_OVERFLOW_BLOCK, s.inside->options.overflow);
    assert_int_equal(WEIR_OK, submit(&s, 1, 1));
    test_engine_end(s.engine);
}

static void a_policy_of_the_engine_is_not_a_routers(void **state)
{
    static scene s;
    weir_processor worker;
    (void)state;
    open_scene(&s, "", NULL);
    apply_well(s.engine, "weir.engine.overflow = drop-oldest", 0);
    assert_true(weir__router_part(s.inside, 1, &worker));
    assert_int_equal(WEIR_OVERFLOW_BLOCK, policy_of(s.engine, worker));
    test_engine_end(s.engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_router_from_a_file_routes),
        cmocka_unit_test(a_router_from_a_file_has_threads_of_its_own),
        cmocka_unit_test(a_shorter_idle_timeout_counts_for_flows_that_are_there),
        cmocka_unit_test(an_idle_timeout_comes_and_goes),
        cmocka_unit_test(many_timeouts_leave_one_that_counts),
        cmocka_unit_test(another_longest_wait_counts_for_who_comes),
        cmocka_unit_test(workers_take_other_turns_and_move),
        cmocka_unit_test(a_refusal_changes_nothing_of_a_router),
        cmocka_unit_test(what_a_router_is_built_with_needs_a_restart_and_is_named),
        cmocka_unit_test(a_policy_of_the_engine_is_not_a_routers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
