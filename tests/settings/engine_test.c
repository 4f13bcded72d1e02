/*
 * engine_test.c - from a configuration to an engine, in one call or in parts; and keys of the
 * application's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "settings_support.h"

#include "engine/options.h"

static void the_built_in_reference_is_what_an_engine_has_without_any_file(void **state)
{
    weir_engine_options code, file = WEIR_ENGINE_OPTIONS_INIT;
    (void)state;
    assert_int_equal(WEIR_OK, weir__options_engine(NULL, &code, NULL));
    weir_config *config = test_parse("");
    assert_int_equal(WEIR_OK, weir_config_engine_options(config, &file, NULL));
    assert_string_equal("weir", file.name);
    assert_int_equal(code.mailbox_max, file.mailbox_max);
    assert_int_equal(code.overflow, file.overflow);
    assert_int_equal(code.block_max, file.block_max);
    assert_int_equal(code.batch_max, file.batch_max);
    assert_int_equal(code.processors_max, file.processors_max);
    assert_int_equal(code.block_bytes_max, file.block_bytes_max);
    assert_int_equal(code.backoff_base, file.backoff_base);
    assert_int_equal(code.backoff_max, file.backoff_max);
    assert_true(code.backoff_multiplier == file.backoff_multiplier);
    assert_true(code.backoff_jitter == file.backoff_jitter);
    assert_int_equal(WEIR_LOG_WARNING, file.log_level);
    assert_int_equal(WEIR_CRASH_REPORT_ON, file.crash_report);
    assert_int_equal(code.scheduler_threads, file.scheduler_threads);
    assert_int_equal(code.timers_max, file.timers_max);
    assert_int_equal(code.stuck_after, file.stuck_after);
    assert_int_equal(code.channels_max, file.channels_max);
    weir_config_destroy(config);
}

/* What the table lets through the options take, at both ends; what it refuses they refuse, too. */
static void the_bounds_of_the_table_are_those_of_the_options(void **state)
{
    static const struct {
        const char *key, *least, *most, *too_little, *too_much;
    } rows[] = {
        { "scheduler-pool-size", "1", "64", "0", "65" },
        { "default-queue-size", "1", "1000000", "0", "1000001" },
        { "batch-max", "1", "65535", "0", "65536" },
        { "block-max", "1ns", "never", "0", NULL },
        { "processors-max", "1", "16000000", "0", "16000001" },
        { "block-bytes-max", "1", "8000000000000000000", "0", NULL },
        { "backoff.multiplier", "1.01", "100", "1", "100.1" },
        { "backoff.jitter", "0", "1", "-0.1", "1.1" },
        { "backoff.base-delay-micros", "1ns", "9ms", "0", "61m" },
        { "backoff.max-delay-micros", "11us", "1h", "0", "61m" },
        { "timers-max", "1", "16000000", "0", "16000001" },
        { "channels-max", "1", "1000000", "0", "1000001" },
        { "stuck-after", "1ms", "never", "999us", NULL },
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *const values[] = { rows[i].least, rows[i].most, rows[i].too_little,
                                       rows[i].too_much };
        for (size_t k = 0; k < 4; k++) {
            char text[120];
            weir_error error = WEIR_ERROR_INIT;
            weir_engine_options options = WEIR_ENGINE_OPTIONS_INIT, checked;
            if (values[k] == NULL) {
                continue;
            }
            snprintf(text, sizeof(text), "weir.engine.%s = %s", rows[i].key, values[k]);
            fprintf(stderr, "# %s\n", text);
            weir_config *config = weir_config_parse(
                "t.conf", text, strlen(text), WEIR_CONFIG(.ignore_environment = true), &error);
            assert_int_equal(k < 2, config != NULL);
            if (config != NULL) {
                assert_int_equal(WEIR_OK, weir_config_engine_options(config, &options, &error));
                assert_int_equal(WEIR_OK, weir__options_engine(&options, &checked, &error));
            }
            weir_config_destroy(config);
        }
    }
}

static void threads_that_serve_no_dispatcher_are_what_the_file_says(void **state)
{
    weir_engine_options o = WEIR_ENGINE_OPTIONS_INIT;
    weir_error error = WEIR_ERROR_INIT;
    (void)state;
    weir_config *config = test_parse("weir.engine {\n"
                                     "  scheduler-thread { name = clock, cores = [0, 1], "
                                     "core-required = on, priority = fifo, priority-value = 7 }\n"
                                     "  helper-thread { priority = nice, priority-value = -3 }\n"
                                     "}\n");
    assert_int_equal(WEIR_OK, weir_config_engine_options(config, &o, &error));
    assert_string_equal("clock", o.scheduler_thread->name);
    assert_int_equal(2, o.scheduler_thread->core_count);
    assert_int_equal(1, o.scheduler_thread->cores[1]);
    assert_true(o.scheduler_thread->core_required);
    assert_int_equal(WEIR_PRIORITY_FIFO, o.scheduler_thread->priority);
    assert_int_equal(7, o.scheduler_thread->priority_value);
    assert_null(o.helper_thread->name);
    assert_int_equal(0, o.helper_thread->core_count);
    assert_int_equal(WEIR_PRIORITY_NICE, o.helper_thread->priority);
    assert_int_equal(-3, o.helper_thread->priority_value);
    weir_config_destroy(config);
    static const char *const wrong[] = {
        "weir.engine.scheduler-thread { priority = nice, priority-value = 20 }",
        "weir.engine.helper-thread { priority = round-robin, priority-value = 0 }",
        "weir.engine.helper-thread { priority = fifo }",
        "weir.engine.scheduler-thread { cores = [-1] }",
        "weir.engine.scheduler-thread { corse = 1 }",
        "weir.engine.scheduler-thread { core = 1, cores = [2] }",
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        error = (weir_error)WEIR_ERROR_INIT;
        config = weir_config_parse("t.conf", wrong[i], strlen(wrong[i]),
                                   WEIR_CONFIG(.ignore_environment = true), &error);
        assert_null(config);
        assert_int_equal(1, error.line);
        assert_non_null(strstr(error.path, "-thread."));
    }
}

static const char whole[] =
    "weir.engine {\n"
    "  name = shop\n"
    "  threads = [\n"
    "    { name = front, dispatchers = [api, \"\"], idle = park }\n"
    "    { dispatchers = [batch], idle-spin-max = 0, idle = sleep, idle-sleep = 2ms, max-park = "
    "3ms }\n"
    "    { dispatchers = [batch] }\n"
    "  ]\n"
    "  dispatchers { batch { fair = on, batch-max = 5, backoff.multiplier = 2 } }\n"
    "  processors {\n"
    "    journal { dispatcher = batch, mailbox-max = 7, overflow = drop-oldest, on-failure = retry,"
    " retry-max = 2, block-max = 30ms, batch-max = 9, retry-delay = 1s, retry-then = stop }\n"
    "    loner { dedicated = true }\n"
    "  }\n"
    "}\n";

static bool count_names(void *context, const char *name)
{
    (void)name;
    ++*(int *)context;
    return true;
}

static void an_engine_has_the_threads_and_dispatchers_that_the_file_names(void **state)
{
    int names = 0;
    weir_error error = WEIR_ERROR_INIT;
    (void)state;
    weir_config *config = test_parse(whole);
    weir_engine *engine = weir_config_engine(config, WEIR_ENGINE(.name = "mine"), &error);
    test_error_none(&error);
    weir_config_destroy(config); /* the engine has what it needs */
    assert_true(weir_thread_find(engine, "front").id != 0);
    assert_true(weir_thread_find(engine, "batch-1").id != 0);
    assert_true(weir_thread_find(engine, "batch-2").id != 0);
    weir_dispatcher_visit(engine, count_names, &names);
    assert_int_equal(3, names);
    test_engine_start(engine);
    const weir_processor to =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = test_nothing, .dispatcher = "batch"));
    assert_true(to.id != 0);
    weir_engine_destroy(engine);
}

static void options_are_filled_in_parts_and_what_the_file_does_not_say_stays(void **state)
{
    weir_processor_options p = WEIR_PROCESSOR_OPTIONS_INIT;
    weir_thread_options t = WEIR_THREAD_OPTIONS_INIT;
    weir_dispatcher_options d = WEIR_DISPATCHER_OPTIONS_INIT;
    (void)state;
    weir_config *config = test_parse(whole);
    p.handler = test_nothing;
    p.restart_max = 4;
    assert_int_equal(WEIR_OK, weir_config_processor_options(config, "journal", &p, NULL));
    assert_string_equal("journal", p.name);
    assert_string_equal("batch", p.dispatcher);
    assert_int_equal(7, p.mailbox_max);
    assert_int_equal(WEIR_OVERFLOW_DROP_OLDEST, p.overflow);
    assert_int_equal(WEIR_RETRY, p.on_failure);
    assert_int_equal(2, p.retry_max);
    assert_int_equal(30 * WEIR_MS, p.block_max);
    assert_int_equal(9, p.batch_max);
    assert_int_equal(WEIR_S, p.retry_delay);
    assert_int_equal(WEIR_STOP, p.retry_then);
    assert_int_equal(4, p.restart_max);
    assert_ptr_equal(test_nothing, p.handler);
    p = (weir_processor_options)WEIR_PROCESSOR_OPTIONS_INIT;
    p.dispatcher = "api";
    assert_int_equal(WEIR_OK, weir_config_processor_options(config, "loner", &p, NULL));
    assert_true(p.dedicated && p.dispatcher == NULL);
    p = (weir_processor_options)WEIR_PROCESSOR_OPTIONS_INIT;
    assert_int_equal(WEIR_UNKNOWN, weir_config_processor_options(config, "other", &p, NULL));
    assert_string_equal("other", p.name);
    assert_int_equal(WEIR_OK, weir_config_thread_options(config, 1, &t, NULL));
    assert_string_equal("batch-1", t.name);
    assert_int_equal(WEIR_IDLE_SLEEP, t.idle);
    assert_int_equal(WEIR_NOW, t.idle_spin_max);
    assert_int_equal(2 * WEIR_MS, t.idle_sleep);
    assert_int_equal(3 * WEIR_MS, t.max_park);
    assert_int_equal(WEIR_OK, weir_config_dispatcher_options(config, 0, &d, NULL));
    assert_string_equal("batch", d.name);
    assert_true(d.fair && d.batch_max == 5 && d.backoff_multiplier == 2.0 && d.backoff_base == 0);
    assert_int_equal(WEIR_UNKNOWN, weir_config_dispatcher_options(config, 1, &d, NULL));
    p.struct_size = 1;
    assert_int_equal(WEIR_E_INVALID, weir_config_processor_options(config, "other", &p, NULL));
    assert_int_equal(WEIR_E_INVALID, weir_config_processor_options(config, NULL, &p, NULL));
    assert_int_equal(WEIR_E_INVALID, weir_config_thread_options(NULL, 0, &t, NULL));
    assert_int_equal(WEIR_E_INVALID, weir_config_engine_options(config, NULL, NULL));
    weir_config_destroy(config);
}

static void threads_without_a_name_are_called_after_what_they_serve(void **state)
{
    static const char *const wanted[] = { "weir-1", "api+realtime-1", "api-1", "api-2",
                                          "api+realtime-2" };
    (void)state;
    weir_config *config = test_parse("weir.engine.thread-dispatcher-assignment = [[\"\"], [api, "
                                     "realtime], [api], [api], [api, realtime]]");
    for (size_t i = 0; i < 5; i++) {
        weir_thread_options t = WEIR_THREAD_OPTIONS_INIT;
        assert_int_equal(WEIR_OK, weir_config_thread_options(config, i, &t, NULL));
        assert_string_equal(wanted[i], t.name);
    }
    weir_config_destroy(config);
    config = test_parse("weir.engine.threads = [{name=\"a-1\", dispatchers=[b]}, "
                        "{dispatchers=[a]}]");
    assert_string_equal("a-2", config->threads[1].name);
    weir_config_destroy(config);
}

static void strategies_make_the_threads_that_the_call_would_make(void **state)
{
    (void)state;
    weir_config *config = test_config(
        "weir.engine.assignment { strategy = partition, dispatchers = [a, b, c], threads = 2 }");
    assert_int_equal(2, config->thread_count);
    assert_string_equal("a", config->threads[0].dispatchers[0]);
    assert_string_equal("c", config->threads[0].dispatchers[1]);
    assert_string_equal("b", config->threads[1].dispatchers[0]);
    weir_config_destroy(config);
    config = test_config("weir.engine.assignment { strategy = shared, dispatchers = [a, b] }");
    assert_int_equal(TEST_CORES, config->thread_count);
    assert_string_equal("b", config->threads[1].dispatchers[0]);
    weir_config_destroy(config);
    config = test_config("weir.engine.assignment { strategy = per-dispatcher, dispatchers = [a, "
                         "b], counts = [1, 2], idle = yield }");
    assert_int_equal(3, config->thread_count);
    assert_int_equal(WEIR_IDLE_YIELD, config->threads[2].idle);
    assert_string_equal("b-2", config->threads[2].name);
    weir_config_destroy(config);
}

/* ---- the application's own keys ---- */

typedef struct feed {
    const char *name;
    int64_t port;
    bool on;
} feed;

typedef struct shop {
    const char *title;
    const char *password;
    weir_ns poll;
    double rate;
    uint64_t cache;
    int64_t mode;
    const char *const *tags;
    weir_option_ints ports;
    weir_option_items feeds;
    int64_t depth;
} shop;

static const char *const modes[] = { "earliest", "latest", NULL };
static const weir_option feed_rows[] = {
    WEIR_KEY(NAME, feed, name, "name", .help = "The name itself."),
    WEIR_KEY(INT, feed, port, "port", .required = true, .min = 1, .max = 65535),
    WEIR_KEY(BOOL, feed, on, "on", .fallback = "true"),
};
static const weir_option inner_rows[] = {
    WEIR_KEY(INT, shop, depth, "depth", .fallback = "4"),
};
static const weir_option shop_rows[] = {
    WEIR_KEY(STRING, shop, title, "title", .fallback = "a shop"),
    WEIR_KEY(SECRET, shop, password, "password"),
    WEIR_KEY(DURATION, shop, poll, "poll", .fallback = "250ms", .min = 1e6, .max = 1e9),
    WEIR_KEY(DOUBLE, shop, rate, "rate", .fallback = "0.5"),
    WEIR_KEY(BYTES, shop, cache, "cache", .fallback = "64KiB"),
    WEIR_KEY(ENUM, shop, mode, "mode", .fallback = "latest", .words = modes),
    WEIR_KEY(LIST, shop, tags, "tags", .fallback = "[a, \"b c\"]"),
    WEIR_KEY(INTS, shop, ports, "ports", .fallback = "[1, 2]"),
    WEIR_KEY(MAP, shop, feeds, "feeds", .rows = feed_rows, .row_count = 3,
             .item_size = sizeof(feed)),
    WEIR_KEY(GROUP, shop, depth, "inner", .rows = inner_rows, .row_count = 1),
};
enum { SHOP_ROWS = sizeof(shop_rows) / sizeof(shop_rows[0]) };
static const weir_option_table shop_table = {
    .struct_size = sizeof(shop_table), .path = "app.shop", .rows = shop_rows, .row_count = SHOP_ROWS
};

static void rows_of_ones_own_fill_a_struct(void **state)
{
    shop s = { 0 };
    (void)state;
    weir_config *config = test_parse("app.shop { poll = 20 ms, mode = earliest, inner.depth = 9,\n"
                                     "feeds { x.port = 80, y { port = 81, on = no } } }");
    assert_int_equal(WEIR_OK, weir_config_read(config, "app.shop", shop_rows, SHOP_ROWS, &s, NULL));
    assert_string_equal("a shop", s.title);
    assert_null(s.password);
    assert_int_equal(20 * WEIR_MS, s.poll);
    assert_true(s.rate == 0.5);
    assert_int_equal(65536, s.cache);
    assert_int_equal(0, s.mode);
    assert_string_equal("b c", s.tags[1]);
    assert_null(s.tags[2]);
    assert_int_equal(2, s.ports.count);
    assert_int_equal(2, s.ports.items[1]);
    assert_int_equal(2, s.feeds.count);
    const feed *feeds = s.feeds.items;
    assert_string_equal("y", feeds[1].name);
    assert_int_equal(81, feeds[1].port);
    assert_true(feeds[0].on && !feeds[1].on);
    assert_int_equal(9, s.depth);
    s = (shop){ 0 };
    assert_int_equal(WEIR_OK,
                     weir_config_read(config, "elsewhere", shop_rows, SHOP_ROWS, &s, NULL));
    assert_int_equal(1, s.mode);
    assert_int_equal(4, s.depth);
    weir_config_destroy(config);
}

static void mistakes_in_ones_own_keys_are_told_like_weirs(void **state)
{
    shop s = { 0 };
    weir_error error = WEIR_ERROR_INIT;
    (void)state;
    weir_config *config = test_parse("app.shop { pol = 20 ms }");
    assert_int_equal(WEIR_E_CONFIG,
                     weir_config_read(config, "app.shop", shop_rows, SHOP_ROWS, &s, &error));
    assert_string_equal("app.shop.pol", error.path);
    assert_string_equal("is no key; did you mean app.shop.poll?", error.text);
    weir_config_destroy(config);
    error = (weir_error)WEIR_ERROR_INIT;
    config = test_parse("app.shop.feeds.x {}");
    assert_int_equal(WEIR_E_CONFIG,
                     weir_config_read(config, "app.shop", shop_rows, SHOP_ROWS, &s, &error));
    assert_string_equal("app.shop.feeds.x.port", error.path);
    assert_string_equal("is missing, and has no default", error.text);
    weir_config_destroy(config);
}

static void a_table_of_ones_own_is_checked_at_the_load_and_shown_without_secrets(void **state)
{
    static const char text[] = "app.shop { password = hunter2, poll = 5s }";
    static const char good[] = "app.shop { password = hunter2 }";
    static char shown[32768];
    static const weir_option_table *const tables[] = { &shop_table, NULL };
    weir_error error = WEIR_ERROR_INIT;
    (void)state;
    assert_null(
        weir_config_parse("t", text, sizeof(text) - 1, WEIR_CONFIG(.tables = tables), &error));
    assert_string_equal("app.shop.poll", error.path);
    assert_string_equal("5s is not <= 1s", error.text);
    error = (weir_error)WEIR_ERROR_INIT;
    weir_config *config =
        weir_config_parse("t", good, sizeof(good) - 1, WEIR_CONFIG(.tables = tables), &error);
    test_error_none(&error);
    const size_t length = weir_config_show(config, shown, sizeof(shown));
    assert_true(length > 0 && length < sizeof(shown));
    assert_null(strstr(shown, "hunter2"));
    assert_non_null(strstr(shown, "{\"key\": \"app.shop.password\", \"value\": \"***\", \"from\": "
                                  "\"t:1:23\"}"));
    assert_non_null(strstr(shown, "{\"key\": \"app.shop.tags\", \"value\": [\"a\", \"b c\"], "
                                  "\"from\": \"built-in\"}"));
    char cut[10];
    assert_int_equal(length, weir_config_show(config, cut, sizeof(cut)));
    assert_int_equal(9, strlen(cut));
    assert_int_equal(length, weir_config_show(config, NULL, 0));
    weir_config_destroy(config);
}

/* Rows of a program that was built against an older header, whose rows were shorter. */
static void older_rows_are_read(void **state)
{
    enum { OLD = offsetof(weir_option, help) };
    _Alignas(weir_option) static char rows[2 * OLD];
    weir_option row = shop_rows[0];
    shop s = { 0 };
    (void)state;
    row.struct_size = OLD;
    memcpy(rows, &row, OLD);
    row = shop_rows[3];
    row.struct_size = OLD;
    memcpy(rows + OLD, &row, OLD);
    weir_config *config = test_parse("a.rate = 7");
    assert_int_equal(WEIR_OK,
                     weir_config_read(config, "a", (const weir_option *)rows, 2, &s, NULL));
    assert_string_equal("a shop", s.title);
    assert_true(s.rate == 7.0);
    weir_config_destroy(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_built_in_reference_is_what_an_engine_has_without_any_file),
        cmocka_unit_test(the_bounds_of_the_table_are_those_of_the_options),
        cmocka_unit_test(threads_that_serve_no_dispatcher_are_what_the_file_says),
        cmocka_unit_test(an_engine_has_the_threads_and_dispatchers_that_the_file_names),
        cmocka_unit_test(options_are_filled_in_parts_and_what_the_file_does_not_say_stays),
        cmocka_unit_test(threads_without_a_name_are_called_after_what_they_serve),
        cmocka_unit_test(strategies_make_the_threads_that_the_call_would_make),
        cmocka_unit_test(rows_of_ones_own_fill_a_struct),
        cmocka_unit_test(mistakes_in_ones_own_keys_are_told_like_weirs),
        cmocka_unit_test(a_table_of_ones_own_is_checked_at_the_load_and_shown_without_secrets),
        cmocka_unit_test(older_rows_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
