/*
 * flows_test.c - routers in a configuration: what a file may say of them, what it may not, and that
 * a program gets it by name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "settings_support.h"

#include "flow/options.h"

static const char whole[] =
    "weir.engine.thread-dispatcher-assignment = [[\"\"], [wide]]\n"
    "weir.flows {\n"
    "  sessions { workers = 3, ingress-capacity = 100, worker-capacity = 10, batch-max = 7,\n"
    "    policy = drop-oldest, block-max = 30ms, flow-idle-timeout = never, max-flows = 5000,\n"
    "    migrate = on, keys = bytes, dispatcher = wide, latency-every = 4 }\n"
    "  feeds { own-threads = yes, workers = 2, idle-strategy = park, cores = [0, 0] }\n"
    "  plain { migrate = off }\n"
    "}\n";

static weir_router_options options_of(const weir_config *config, const char *name,
                                      weir_router_options o)
{
    weir_error error = WEIR_ERROR_INIT;
    o.struct_size = sizeof(o);
    assert_int_equal(WEIR_OK, weir_config_router_options(config, name, &o, &error));
    test_error_none(&error);
    return o;
}

static void a_router_has_what_the_file_says_of_its_name(void **state)
{
    (void)state;
    weir_config *config = test_parse(whole);
    weir_router_options o = options_of(config, "sessions", (weir_router_options){ 0 });
    assert_string_equal("sessions", o.name);
    assert_int_equal(3, o.workers);
    assert_int_equal(100, o.ingress_max);
    assert_int_equal(10, o.worker_max);
    assert_int_equal(7, o.batch_max);
    assert_int_equal(WEIR_OVERFLOW_DROP_OLDEST, o.overflow);
    assert_int_equal(30 * WEIR_MS, o.block_max);
    assert_int_equal(WEIR_FOREVER, o.idle_timeout);
    assert_int_equal(5000, o.flows_max);
    assert_true(o.migrate);
    assert_int_equal(WEIR_FLOW_KEYS_BYTES, o.keys);
    assert_string_equal("wide", o.dispatcher);
    assert_int_equal(4, o.latency_every);
    assert_false(o.own_threads);
    o = options_of(config, "feeds", (weir_router_options){ 0 });
    assert_true(o.own_threads);
    assert_int_equal(WEIR_IDLE_PARK, o.idle);
    assert_int_equal(2, o.core_count);
    assert_int_equal(0, o.cores[1]);
    weir_config_destroy(config);
}

static void what_the_file_does_not_say_is_the_programs(void **state)
{
    static const int32_t cores[] = { 0 };
    (void)state;
    weir_config *config = test_parse(whole);
    const weir_router_options code = {
        .handler = test_nothing,
        .state_size = 48,
        .workers = 9,
        .worker_max = 77,
        .dispatcher = "wide",
        .overflow = WEIR_OVERFLOW_FAIL,
        .migrate = true,
        .idle_timeout = WEIR_S,
    };
    weir_router_options o = options_of(config, "plain", code);
    assert_ptr_equal(test_nothing, o.handler);
    assert_int_equal(48, o.state_size);
    assert_int_equal(9, o.workers);
    assert_int_equal(77, o.worker_max);
    assert_string_equal("wide", o.dispatcher);
    assert_int_equal(WEIR_OVERFLOW_FAIL, o.overflow);
    assert_int_equal(WEIR_S, o.idle_timeout);
    assert_false(o.migrate); /* that it does say */
    o = options_of(config, "feeds", code);
    assert_true(o.own_threads && o.dispatcher == NULL && o.migrate);
    assert_int_equal(2, o.workers);
    o = options_of(
        config, "sessions",
        (weir_router_options){
            .own_threads = true, .idle = WEIR_IDLE_PARK, .cores = cores, .core_count = 1 });
    assert_true(!o.own_threads && o.idle == WEIR_IDLE_DEFAULT && o.core_count == 0);
    o = code;
    o.struct_size = sizeof(o);
    assert_int_equal(WEIR_UNKNOWN, weir_config_router_options(config, "other", &o, NULL));
    assert_string_equal("other", o.name);
    assert_true(o.migrate && o.workers == 9);
    weir_config_destroy(config);
}

static void it_is_refused_where_it_cannot_be(void **state)
{
    (void)state;
    weir_error error = WEIR_ERROR_INIT;
    weir_router_options o = WEIR_ROUTER_OPTIONS_INIT;
    weir_config *config = test_parse(whole), *wrong = test_config("weir.flows.x.workers = 0");
    assert_int_equal(WEIR_E_INVALID, weir_config_router_options(config, NULL, &o, NULL));
    assert_int_equal(WEIR_E_INVALID, weir_config_router_options(config, "x", NULL, NULL));
    assert_int_equal(WEIR_E_INVALID, weir_config_router_options(NULL, "x", &o, NULL));
    assert_int_equal(WEIR_E_CONFIG, weir_config_router_options(wrong, "x", &o, &error));
    assert_string_equal("weir.flows.x.workers", error.path);
    o.struct_size = 1;
    assert_int_equal(WEIR_E_INVALID, weir_config_router_options(config, "sessions", &o, NULL));
    weir_config_destroy(wrong);
    weir_config_destroy(config);
}

static void a_file_cannot_change_what_keys_a_program_submits_with(void **state)
{
    (void)state;
    weir_error error = WEIR_ERROR_INIT;
    weir_router_options o = WEIR_ROUTER_OPTIONS_INIT;
    weir_config *config = test_parse(whole);
    o.keys = WEIR_FLOW_KEYS_U64;
    assert_int_equal(WEIR_E_CONFIG, weir_config_router_options(config, "sessions", &o, &error));
    assert_string_equal("weir.flows.sessions.keys", error.path);
    assert_string_equal("is bytes, but the program submits with u64", error.text);
    assert_string_equal("t.conf", error.file);
    assert_int_equal(5, error.line);
    assert_null(o.name); /* nothing was filled */
    o.keys = WEIR_FLOW_KEYS_BYTES;
    assert_int_equal(WEIR_OK, weir_config_router_options(config, "sessions", &o, NULL));
    weir_config_destroy(config);
}

/* What the table lets through the options take, at both ends; what it refuses they refuse, too. */
static void the_bounds_of_the_table_are_those_of_the_options(void **state)
{
    static const struct {
        const char *key, *least, *most, *too_little, *too_much;
    } rows[] = {
        { "workers", "1", "256", "0", "257" },
        { "ingress-capacity", "1", "900000", "0", "1000000" },
        { "policy = fail, ingress-capacity", "1", "999999", "0", "1000000" },
        { "worker-capacity", "1", "900000", "0", "1000001" },
        { "policy = fail, worker-capacity", "1", "1000000", "0", "1000001" },
        { "batch-max", "1", "65535", "0", "65536" },
        { "block-max", "1ns", "never", "0", NULL },
        { "flow-idle-timeout", "1ns", "never", "0", NULL },
        { "max-flows", "1", "16000000", "0", "16000001" },
        { "latency-every", "1", "4294967295", "0", "4294967296" },
    };
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *const values[] = { rows[i].least, rows[i].most, rows[i].too_little,
                                       rows[i].too_much };
        for (size_t k = 0; k < 4; k++) {
            char text[120];
            weir_error error = WEIR_ERROR_INIT;
            if (values[k] == NULL) {
                continue;
            }
            snprintf(text, sizeof(text), "weir.flows.r { %s = %s }", rows[i].key, values[k]);
            fprintf(stderr, "# %s\n", text);
            weir_config *config = weir_config_parse(
                "t.conf", text, strlen(text), WEIR_CONFIG(.ignore_environment = true), &error);
            assert_int_equal(k < 2, config != NULL);
            if (config != NULL) {
                weir_router_options checked;
                const weir_router_options o =
                    options_of(config, "r", (weir_router_options){ .handler = test_nothing });
                assert_int_equal(WEIR_OK, weir__options_router(engine, &o, &checked, &error));
                test_error_none(&error);
            }
            weir_config_destroy(config);
        }
    }
    weir_engine_destroy(engine);
}

static void what_is_wrong_with_a_router_has_its_place(void **state)
{
    (void)state;
    test_says("weir.engine.thread-dispatcher-assignment = [[\"\"], [api]]\n"
              "weir.flows.x {\n"
              "  wokers = 2\n"
              "  policy = drop\n"
              "  max-flows = 0\n"
              "  flow-idle-timeout = soon\n"
              "  dispatcher = apj\n"
              "  keys = text\n"
              "}",
              "t.conf:3:12: weir.flows.x.wokers: is no key; did you mean weir.flows.x.workers?\n"
              "t.conf:4:12: weir.flows.x.policy: 'drop' is none of default, fail, drop-newest, "
              "drop-oldest, block\n"
              "t.conf:5:15: weir.flows.x.max-flows: 0 is not >= 1\n"
              "t.conf:6:23: weir.flows.x.flow-idle-timeout: 'soon' is no duration: units are "
              "ns, us, ms, s, m, h, d; or never\n"
              "t.conf:7:16: weir.flows.x.dispatcher: no thread serves \"apj\"; did you mean "
              "\"api\"?\n"
              "t.conf:8:10: weir.flows.x.keys: 'text' is none of default, u64, bytes\n");
    test_says(
        "weir.flows.x { overflow = fail, idle = park, flows-max = 3 }",
        "t.conf:1:27: weir.flows.x.overflow: is no key; did you mean weir.flows.x.policy?\n"
        "t.conf:1:40: weir.flows.x.idle: is no key; did you mean weir.flows.x.idle-strategy?\n"
        "t.conf:1:58: weir.flows.x.flows-max: is no key; did you mean "
        "weir.flows.x.max-flows?\n");
    test_says("weir.flows = [x]",
              "t.conf:1:14: weir.flows: is a list, must be an object: { name { ... } }\n");
    test_says("weir.flows.x = 3",
              "t.conf:1:16: weir.flows.x: is a number, must be an object: { key = value }\n");
    test_says("weir.flow.x.workers = 3",
              "t.conf:1:23: weir.flow: is no key; did you mean weir.flows?\n");
    test_says("weir.flows.\"\" {}",
              "t.conf:1:15: weir.flows.\"\": is empty: no router has that name\n");
}

static void threads_are_its_own_or_a_dispatchers(void **state)
{
    (void)state;
    test_says("weir.flows.x { dispatcher = \"\", own-threads = true }",
              "t.conf:1:29: weir.flows.x.dispatcher: stands beside own-threads = true, which has "
              "a dispatcher of its own: keep one\n");
    test_says("weir.flows.x { idle-strategy = park, cores = [0] }",
              "t.conf:1:32: weir.flows.x.idle-strategy: is for threads of its own: say "
              "own-threads = true, too\n"
              "t.conf:1:46: weir.flows.x.cores: is for threads of its own: say own-threads = "
              "true, too\n");
    test_says("weir.flows.x { own-threads = true, idle-strategy = park, cores = [0] }", "");
}

static void both_capacities_fit_into_a_mailbox(void **state)
{
    (void)state;
    test_says("weir.flows.x { worker-capacity = 500000, ingress-capacity = 500001 }",
              "t.conf:1:61: weir.flows.x.ingress-capacity: 500001 and worker-capacity (500000) "
              "together are not <= 1000000\n");
    test_says("weir.flows.x { worker-capacity = 500000, ingress-capacity = 500000 }", "");
    test_says("weir.flows.x { policy = fail, worker-capacity = 500000, ingress-capacity = 500001 }",
              "");
}

static void a_name_has_room_for_those_of_its_workers(void **state)
{
    char text[300], wanted[400];
    (void)state;
    snprintf(text, sizeof(text), "weir.flows.%0199d {}", 0);
    test_says(text, "");
    snprintf(text, sizeof(text), "weir.flows.%0200d {}", 0);
    snprintf(wanted, sizeof(wanted),
             "t.conf:1:213: weir.flows.%0200d: '%040d...' has 200 bytes, which is not <= 199\n", 0,
             0);
    test_says(text, wanted);
}

static void threads_of_routers_are_threads_among_the_others(void **state)
{
    (void)state;
    test_says("weir.engine.assignment { strategy = shared, dispatchers = [a], threads = 3, idle = "
              "busy-spin }\n"
              "weir.flows { x { own-threads = on, workers = 1, idle-strategy = busy-spin }\n"
              "y { own-threads = on, workers = 1, idle-strategy = noop }\n"
              "z { own-threads = on, workers = 1, idle-strategy = noop } }",
              "t.conf:3:19: weir.flows.y.own-threads: warning: 5 threads idle by spinning "
              "(busy-spin, noop) on 4 usable cores: they take the cores from those with work\n");
    test_says("weir.flows.x { own-threads = on, workers = 100 }",
              "t.conf:1:30: weir.flows.x.own-threads: warning: 101 threads: more than 100 cost "
              "more than they bring, unless most of them wait\n"
              "t.conf:1:30: weir.flows.x.own-threads: warning: 101 threads on 4 usable cores: more "
              "than 10 a core are busy with taking turns\n");
}

static void words_of_flows_are_free_at_the_root(void **state)
{
    (void)state;
    test_says("workers { a = 1 }, keys = [1], policy { b = 2 }, migrate = on", "");
    test_says("flows { sessions { workers = 2 } }",
              "t.conf:1:7: flows: warning: is not read by weir; did you mean weir.flows?\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_router_has_what_the_file_says_of_its_name),
        cmocka_unit_test(what_the_file_does_not_say_is_the_programs),
        cmocka_unit_test(it_is_refused_where_it_cannot_be),
        cmocka_unit_test(a_file_cannot_change_what_keys_a_program_submits_with),
        cmocka_unit_test(the_bounds_of_the_table_are_those_of_the_options),
        cmocka_unit_test(what_is_wrong_with_a_router_has_its_place),
        cmocka_unit_test(threads_are_its_own_or_a_dispatchers),
        cmocka_unit_test(both_capacities_fit_into_a_mailbox),
        cmocka_unit_test(a_name_has_room_for_those_of_its_workers),
        cmocka_unit_test(threads_of_routers_are_threads_among_the_others),
        cmocka_unit_test(words_of_flows_are_free_at_the_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
