/*
 * admin_commands_test.c - every built-in admin command says what is so, and does what it says
 * (S-80).
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

static void fail_one(void)
{
    weir_counters c = WEIR_COUNTERS_INIT;
    assert_int_equal(WEIR_OK, weir_processor_counters(d.engine, d.book, &c));
    const uint64_t before = c.dead;
    assert_int_equal(WEIR_OK,
                     weir_engine_post(d.engine, d.book, &(const weir_event){ .type = &desk_fail }));
    TEST_UNTIL(weir_processor_counters(d.engine, d.book, &c) == WEIR_OK && c.dead == before + 1);
}

/* ---- about commands ---- */

static void commands_lists_all_of_them_by_name(void **state)
{
    (void)state;
    static const char *const names[] = { "commands",
                                         "components",
                                         "config show",
                                         "dead-letters",
                                         "dispatchers",
                                         "errors",
                                         "feeds",
                                         "flows",
                                         "health",
                                         "help",
                                         "latency disable",
                                         "latency enable",
                                         "latency reset",
                                         "latency status",
                                         "log level",
                                         "metrics json",
                                         "processors list",
                                         "processors move",
                                         "processors recent",
                                         "processors restart",
                                         "processors stop",
                                         "services",
                                         "threads",
                                         "timers",
                                         "trace read",
                                         "trace start",
                                         "trace stop" };
    assert_int_equal(WEIR_OK, desk_run(&d, "commands"));
    const char *at = desk_answer;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char wanted[64];
        (void)snprintf(wanted, sizeof(wanted), "{\"command\": \"%s\"", names[i]);
        at = strstr(at, wanted);
        assert_non_null(at);
    }
    assert_says("\"command\": \"processors stop\", \"arguments\": \"NAME\", \"changes\": true");
    assert_says("\"command\": \"threads\", \"arguments\": \"\", \"changes\": false");
}

static bool count_command(void *context, const weir_admin_options *command)
{
    assert_non_null(command->help);
    return ++*(int *)context < 3;
}

static void a_visit_ends_when_the_visitor_says_so(void **state)
{
    (void)state;
    int count = 0;
    weir_admin_visit(d.engine, count_command, &count);
    assert_int_equal(3, count);
    weir_admin_visit(NULL, count_command, &count);
    weir_admin_visit(d.engine, NULL, &count);
    assert_int_equal(3, count);
}

static void help_tells_of_all_or_of_those_that_begin_so(void **state)
{
    (void)state;
    assert_int_equal(WEIR_OK, desk_run(&d, "help"));
    assert_says("\"command\": \"threads\"");
    assert_int_equal(WEIR_OK, desk_run(&d, "help latency"));
    assert_says("\"command\": \"latency reset\"");
    assert_says_not("threads");
    assert_int_equal(WEIR_OK, desk_run(&d, "help latency reset"));
    assert_says_not("latency enable");
    assert_int_equal(WEIR_UNKNOWN, desk_run(&d, "help latency rest"));
    assert_says("did you mean 'latency reset'");
    assert_int_equal(WEIR_UNKNOWN, desk_run(&d, "help threads x"));
}

/* ---- about the engine ---- */

static void processors_list_tells_what_became_of_their_events(void **state)
{
    (void)state;
    fail_one();
    (void)weir_processor_add(d.engine, WEIR_PROCESSOR(.handler = desk_handle, .argument = &d),
                             &d.error);
    assert_int_equal(WEIR_OK, desk_run(&d, "processors list"));
    assert_says("{\"processor\": \"book\", \"dispatcher\": \"\", \"depth\": 0, \"accepted\": 1, "
                "\"handled\": 0, \"dropped\": 0, \"dead\": 1, \"retries\": 0, \"restarts\": 0}");
    assert_says("{\"processor\": \"#");
    assert_int_equal(WEIR_OK, desk_run(&d, "processors list bo"));
    assert_says("\"book\"");
    assert_says_not("\"#");
    assert_int_equal(WEIR_OK, desk_run(&d, "processors list nobody"));
    assert_says("\"rows\": []");
}

static bool count_processor(void *context, weir_processor processor)
{
    assert_true(processor.id != 0);
    ++*(int *)context;
    return true;
}

static void a_visit_of_processors_sees_each_of_many(void **state)
{
    (void)state;
    int count = 0;
    weir_processor made[200];
    for (size_t i = 0; i < 200; i++) {
        made[i] = weir_processor_add(
            d.engine, WEIR_PROCESSOR(.handler = desk_handle, .argument = &d), &d.error);
    }
    assert_int_equal(WEIR_OK, weir_processor_stop(d.engine, made[7], 0, NULL));
    weir_processor_visit(d.engine, count_processor, &count);
    assert_int_equal(200, count); /* with the book */
}

static void processors_stop_drains_one_and_tells(void **state)
{
    (void)state;
    fail_one();
    assert_int_equal(WEIR_UNKNOWN, desk_run(&d, "processors stop bok"));
    assert_says("no processor is called 'bok'; did you mean 'book'?");
    assert_int_equal(WEIR_OK, desk_run(&d, "processors stop book"));
    assert_says("{\"processor\": \"book\", \"accepted\": 1, \"handled\": 0, \"dropped\": 0, "
                "\"dead\": 1, \"left\": 0}");
    assert_int_equal(0, weir_processor_find(d.engine, "book").id);
    assert_int_equal(WEIR_UNKNOWN, desk_run(&d, "processors stop book"));
}

static void processors_stop_finds_one_without_a_name(void **state)
{
    (void)state;
    char name[64];
    char line[96];
    const weir_processor p = weir_processor_add(
        d.engine, WEIR_PROCESSOR(.handler = desk_handle, .argument = &d), &d.error);
    assert_true(weir_processor_name(d.engine, p, name, sizeof(name)) > 0);
    (void)snprintf(line, sizeof(line), "processors stop %s", name);
    assert_int_equal(WEIR_OK, desk_run(&d, line));
    assert_int_equal(0, weir_processor_name(d.engine, p, name, sizeof(name)));
}

static void threads_tells_of_each_and_what_it_serves(void **state)
{
    (void)state;
    (void)weir_thread_add(
        d.engine, WEIR_THREAD(.name = "io", .dispatchers = WEIR_NAMES("api", "rt")), &d.error);
    assert_int_equal(WEIR_OK, desk_run(&d, "threads"));
    assert_says("\"thread\": \"io\", \"kind\": \"dispatcher\"");
    assert_says("\"dispatchers\": \"'api' 'rt'\"");
    assert_says("\"dispatchers\": \"''\"");
    assert_int_equal(WEIR_OK,
                     weir_thread_remove(d.engine, weir_thread_find(d.engine, "io"), &d.error));
    assert_int_equal(WEIR_OK, desk_run(&d, "threads"));
    assert_says_not("\"io\"");
}

static void dispatchers_tells_of_each(void **state)
{
    (void)state;
    fail_one();
    (void)weir_thread_add(d.engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("api")), &d.error);
    assert_int_equal(WEIR_OK, desk_run(&d, "dispatchers"));
    assert_says("{\"dispatcher\": \"\", \"threads\": 1, \"processors\": 1");
    assert_says("{\"dispatcher\": \"api\", \"threads\": 1, \"processors\": 0");
}

static void timers_counts_them(void **state)
{
    (void)state;
    weir_timer timer;
    assert_int_equal(WEIR_OK,
                     weir_timer_add(d.engine, d.book, &(const weir_event){ .type = &desk_fail },
                                    WEIR_TIMER(.after = 3600 * WEIR_S), &timer));
    assert_int_equal(WEIR_OK, desk_run(&d, "timers"));
    assert_says("{\"pending\": 1, \"added\": 1, \"posted\": 0, \"cancelled\": 0");
    assert_int_equal(WEIR_OK, weir_timer_cancel(d.engine, timer));
    assert_int_equal(WEIR_OK, desk_run(&d, "timers"));
    assert_says("{\"pending\": 0, \"added\": 1, \"posted\": 0, \"cancelled\": 1");
}

static void dead_letters_shows_the_newest(void **state)
{
    (void)state;
    assert_int_equal(WEIR_OK, desk_run(&d, "dead-letters"));
    assert_says("\"rows\": []");
    for (int i = 0; i < 25; i++) {
        fail_one();
    }
    assert_int_equal(WEIR_OK, desk_run(&d, "dead-letters"));
    assert_says("{\"number\": 25, \"time\": \"20");
    assert_says("\"reason\": \"failed\", \"status\": \"WEIR_E_USER\", \"from\": \"\", \"to\": "
                "\"book\", \"type\": \"test.fail\", \"size\": 0, \"text\": \"it was to "
                "\\\"fail\\\"\"}");
    assert_says("\"number\": 6,");
    assert_says_not("\"number\": 5,");
    assert_int_equal(WEIR_OK, desk_run(&d, "dead-letters 1"));
    assert_says_not("\"number\": 24,");
    assert_int_equal(WEIR_E_INVALID, desk_run(&d, "dead-letters x"));
    assert_int_equal(WEIR_E_INVALID, desk_run(&d, "dead-letters -1"));
    assert_int_equal(WEIR_E_INVALID, desk_run(&d, "dead-letters 1001"));
    assert_int_equal(WEIR_E_INVALID, desk_run(&d, "dead-letters 99999999999999999999"));
}

static void log_level_is_told_and_changed(void **state)
{
    (void)state;
    assert_int_equal(WEIR_OK, desk_run(&d, "log level"));
    assert_says("{\"level\": \"off\"}");
    assert_int_equal(WEIR_OK, desk_run(&d, "log level debug"));
    assert_says("{\"level\": \"debug\"}");
    assert_true(weir_log_enabled(d.engine, WEIR_LOG_DEBUG));
    assert_int_equal(WEIR_OK, desk_run(&d, "log level error"));
    assert_false(weir_log_enabled(d.engine, WEIR_LOG_WARNING));
    assert_int_equal(WEIR_OK, desk_run(&d, "log level"));
    assert_says("{\"level\": \"error\"}");
    assert_int_equal(WEIR_E_INVALID, desk_run(&d, "log level loud"));
    assert_int_equal(WEIR_OK, desk_run(&d, "log level off"));
}

/* ---- about flows ---- */

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

static void flows_tells_of_routers_and_of_the_workers_of_one(void **state)
{
    (void)state;
    assert_int_equal(WEIR_OK, desk_run(&d, "flows"));
    assert_says("\"rows\": []");
    submit(add_router("orders"), 3);
    assert_int_equal(WEIR_OK, desk_run(&d, "flows"));
    assert_says("{\"router\": \"orders\", \"flows\": 3, \"workers\": 1, \"depth\": 0, "
                "\"submitted\": 3, \"handled\": 3,");
    assert_int_equal(WEIR_OK, desk_run(&d, "flows orders"));
    assert_says("{\"worker\": 0, \"processor\": \"flows:orders/0\", \"depth\": 0, \"beyond\": 0, "
                "\"handled\": 3,");
    assert_int_equal(WEIR_UNKNOWN, desk_run(&d, "flows nobody"));
}

/* ---- about components ---- */

/* NOLINTNEXTLINE(readability-non-const-parameter): the hook's form */
static int32_t do_nothing(void *state, weir_component *self, weir_ns *next)
{
    (void)state;
    (void)self;
    (void)next;
    return 0;
}

static weir_status report_one(void *state, weir_component *self, weir_error *error)
{
    (void)state;
    (void)error;
    weir_component_report(self, WEIR_E_SYSTEM, "a \"cable\" is out");
    return WEIR_OK;
}

static const weir_component_type ticker = { .struct_size = sizeof(weir_component_type),
                                            .kind = WEIR_KIND_SOURCE,
                                            .name = "ticker",
                                            .help = "ticks",
                                            .do_work = do_nothing };
static const weir_component_type clerk = { .struct_size = sizeof(weir_component_type),
                                           .kind = WEIR_KIND_SERVICE,
                                           .name = "clerk",
                                           .help = "works",
                                           .start = report_one,
                                           .do_work = do_nothing };

static void components_services_feeds_and_errors_tell_of_what_was_added(void **state)
{
    (void)state;
    assert_int_equal(WEIR_OK, weir_component_add(d.engine, &ticker, WEIR_COMPONENT(.name = "ticks"),
                                                 NULL, &d.error));
    assert_int_equal(WEIR_OK, weir_component_add(d.engine, &clerk, WEIR_COMPONENT(.name = "desk"),
                                                 NULL, &d.error));
    (void)weir_components_start(d.engine, &d.error);
    assert_int_equal(WEIR_OK, desk_run(&d, "components"));
    assert_says("{\"component\": \"ticks\", \"kind\": \"source\", \"type\": \"ticker\", "
                "\"thread\": \"");
    assert_says("\"phase\": \"running\"");
    assert_int_equal(WEIR_OK, desk_run(&d, "services"));
    assert_says("{\"service\": \"desk\", \"kind\": \"service\", \"type\": \"clerk\"");
    assert_says_not("ticks");
    assert_int_equal(WEIR_OK, desk_run(&d, "feeds"));
    assert_says("{\"feed\": \"ticks\", \"subscribers\": 0, \"published\": 0");
    fail_one();
    assert_int_equal(WEIR_OK, desk_run(&d, "errors"));
    assert_says("\"component\": \"desk\", \"status\": \"WEIR_E_SYSTEM\", \"text\": \"a "
                "\\\"cable\\\" is out\"}");
    assert_says("\"component\": \"book\", \"status\": \"WEIR_E_USER\"");
    assert_true(strstr(desk_answer, "cable") < strstr(desk_answer, "\"book\""));
    assert_int_equal(WEIR_OK, weir_components_stop(d.engine, 0, NULL));
}

static weir_status take_any(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    return WEIR_OK;
}

static const weir_component_type drain = { .struct_size = sizeof(weir_component_type),
                                           .kind = WEIR_KIND_SINK,
                                           .name = "drain",
                                           .help = "takes",
                                           .handler = take_any };

static void processors_stop_removes_a_component_as_a_whole(void **state)
{
    (void)state;
    assert_int_equal(WEIR_OK, weir_component_add(d.engine, &drain, WEIR_COMPONENT(.name = "out"),
                                                 NULL, &d.error));
    (void)weir_components_start(d.engine, &d.error);
    assert_int_equal(WEIR_OK, desk_run(&d, "processors list out"));
    assert_says("{\"processor\": \"out\"");
    assert_int_equal(WEIR_OK, desk_run(&d, "processors stop out"));
    assert_says("{\"component\": \"out\", \"removed\": true}");
    assert_int_equal(WEIR_OK, desk_run(&d, "components"));
    assert_says("\"rows\": []");
}

static void processors_stop_leaves_the_parts_of_a_router_alone(void **state)
{
    (void)state;
    (void)add_router("orders");
    assert_int_equal(WEIR_E_INVALID, desk_run(&d, "processors stop flows:orders/0"));
    assert_says("is a part of a router");
}

static void errors_are_the_last_hundred(void **state)
{
    (void)state;
    for (int i = 0; i < 120; i++) {
        fail_one();
    }
    assert_int_equal(WEIR_OK, desk_run(&d, "errors"));
    int rows = 0;
    for (const char *at = desk_answer; (at = strstr(at, "{\"time\"")) != NULL; at++) {
        rows++;
    }
    assert_int_equal(100, rows);
}

/* ---- health ---- */

static void health_is_up_degraded_by_errors_and_down_at_the_end(void **state)
{
    (void)state;
    assert_int_equal(WEIR_OK, desk_run(&d, "health"));
    assert_says("\"rows\": [{\"what\": \"engine weir\", \"status\": \"up\", \"reason\": \"\"}]");
    fail_one();
    assert_int_equal(WEIR_OK, desk_run(&d, "health"));
    assert_says(
        "{\"what\": \"errors\", \"status\": \"degraded\", \"reason\": \"1 error in the last "
        "minute, the last of 'book': it was to \\\"fail\\\"\"}");
    assert_says(
        "{\"what\": \"dead letters\", \"status\": \"degraded\", \"reason\": \"1 in the last "
        "10 s, the last to 'book': failed\"}");
    assert_int_equal(WEIR_OK, weir_engine_stop(d.engine, 0, NULL));
    assert_int_equal(WEIR_OK, desk_run(&d, "health"));
    assert_says(
        "\"rows\": [{\"what\": \"engine weir\", \"status\": \"down\", \"reason\": \"the engine "
        "has stopped\"}");
}

/* ---- the configuration ---- */

typedef struct secret {
    const char *token;
} secret;

static void config_show_tells_where_each_setting_was_said_and_no_secret(void **state)
{
    (void)state;
    static const weir_option rows[] = { WEIR_KEY(SECRET, secret, token, "token") };
    static const weir_option_table table = { sizeof(weir_option_table), "mine", rows, 1, NULL };
    const weir_option_table *const tables[] = { &table, NULL };
    static const char text[] = "weir.engine.batch-max = 7\nmine.token = hunter2\n";
    desk own = { .error = WEIR_ERROR_INIT };
    weir_config *config =
        weir_config_parse("app.conf", text, sizeof(text) - 1,
                          WEIR_CONFIG(.tables = tables, .ignore_environment = true), &own.error);
    own.engine = weir_config_engine(config, NULL, &own.error);
    weir_config_destroy(config);
    assert_int_equal(WEIR_OK, own.error.status);
    assert_int_equal(WEIR_OK, desk_run(&own, "config show"));
    assert_says("{\"key\": \"weir.engine.batch-max\", \"value\": \"7\", \"from\": "
                "\"app.conf:1:");
    assert_says("{\"key\": \"mine.token\", \"value\": \"***\"");
    assert_says_not("hunter2");
    assert_int_equal(WEIR_OK, desk_run(&own, "config show mine."));
    assert_says_not("batch-max");
    weir_engine_destroy(own.engine);
    assert_int_equal(WEIR_UNKNOWN, desk_run(&d, "config show"));
    assert_says("not made from a configuration");
}

static void metrics_json_is_a_document_in_a_field(void **state)
{
    (void)state;
    assert_int_equal(WEIR_OK, desk_run(&d, "metrics json"));
    assert_says("\"rows\": [{\"json\": \"{");
    assert_says("\\\"processors_total\\\"");
    assert_int_equal(WEIR_OK, desk_run(&d, "metrics json 1"));
    assert_says("\\\"processors_shown\\\":1");
    static const char *const wrong[] = { "metrics json 0", "metrics json -1", "metrics json x",
                                         "metrics json 1x", "metrics json 4294967296" };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(WEIR_E_INVALID, desk_run(&d, wrong[i]));
        assert_says("how many processors");
    }
}

/* ---- memory ---- */

static void without_memory_each_says_so_or_does_without(void **state)
{
    (void)state;
    static const char *const lines[] = { "commands",       "components",      "dead-letters",
                                         "dispatchers",    "errors",          "feeds",
                                         "flows",          "health",          "help",
                                         "latency status", "latency reset",   "log level",
                                         "metrics json",   "processors list", "services",
                                         "threads",        "timers" };
    (void)add_router("orders");
    fail_one();
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        assert_int_equal(WEIR_OK, desk_run(&d, lines[i]));
        bool refused = true;
        for (long nth = 0; refused && nth < 100; nth++) {
            test_fault_arm(&d.fault, nth, true);
            const weir_status status = desk_run(&d, lines[i]);
            refused = test_fault_disarm(&d.fault) > 0;
            assert_true(status == WEIR_OK || status == WEIR_E_NOMEM);
        }
        assert_false(refused);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(commands_lists_all_of_them_by_name),
        TEST(a_visit_ends_when_the_visitor_says_so),
        TEST(help_tells_of_all_or_of_those_that_begin_so),
        TEST(processors_list_tells_what_became_of_their_events),
        TEST(a_visit_of_processors_sees_each_of_many),
        TEST(processors_stop_drains_one_and_tells),
        TEST(processors_stop_finds_one_without_a_name),
        TEST(threads_tells_of_each_and_what_it_serves),
        TEST(dispatchers_tells_of_each),
        TEST(timers_counts_them),
        TEST(dead_letters_shows_the_newest),
        TEST(log_level_is_told_and_changed),
        TEST(flows_tells_of_routers_and_of_the_workers_of_one),
        TEST(components_services_feeds_and_errors_tell_of_what_was_added),
        TEST(processors_stop_removes_a_component_as_a_whole),
        TEST(processors_stop_leaves_the_parts_of_a_router_alone),
        TEST(errors_are_the_last_hundred),
        TEST(health_is_up_degraded_by_errors_and_down_at_the_end),
        TEST(config_show_tells_where_each_setting_was_said_and_no_secret),
        TEST(metrics_json_is_a_document_in_a_field),
        TEST(without_memory_each_says_so_or_does_without),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
