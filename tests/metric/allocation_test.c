/*
 * allocation_test.c - figures, figures of one's own and health with their nth allocation failing, n
 * = 1, 2, 3, ...: no text or a whole one, nothing lost, and with memory it is there again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "metric_support.h"

enum { NTH_MAX = 2000 };

static scene s;

static double read_one(void *context)
{
    (void)context;
    return 1;
}

static void scene_fill(void)
{
    scene_open(&s);
    assert_int_equal(WEIR_OK, weir_component_add(s.engine, &weir_memory_sink_type,
                                                 WEIR_COMPONENT(.name = "store"), NULL, &s.error));
    const weir_feed feed = weir_feed_open(s.engine, WEIR_FEED(.name = "ticks"), &s.error);
    (void)weir_router_add(
        s.engine,
        WEIR_ROUTER(.name = "flows", .workers = 2, .argument = &s, .handler = scene_handle),
        &s.error);
    test_error_none(&s.error);
    assert_int_equal(WEIR_OK, weir_feed_subscribe(s.engine, feed, s.risk));
    for (uint32_t i = 0; i < 40; i++) {
        (void)scene_add(&s, WEIR_PROCESSOR(.name = NULL));
    }
    weir_counters c = WEIR_COUNTERS_INIT;
    scene_post(&s, s.risk, TOLD(fail), 3);
    TEST_UNTIL(weir_engine_counters(s.engine, &c) == WEIR_OK && c.letters == 3);
}

static bool go_on(void *context, const weir_metric *metric)
{
    (void)context;
    (void)metric;
    return true;
}

static bool read_prometheus(void)
{
    char *text = weir_metrics_prometheus(s.engine, WEIR_METRICS(.processors_max = 5), NULL);
    const bool there = text != NULL;
    if (there) {
        assert_has(text, "weir_timers_memory_bytes"); /* all of it */
        assert_has(text, "weir_processor_depth{processor=\"(others)\"");
    }
    weir_metrics_free(s.engine, text);
    return there;
}

static bool read_json(void)
{
    char *text = weir_metrics_json(s.engine, NULL, NULL);
    const bool there = text != NULL;
    if (there) {
        assert_has(text, "\"own\":[");
        assert_int_equal('}', text[strlen(text) - 1]);
    }
    weir_metrics_free(s.engine, text);
    return there;
}

static bool visit_all(void)
{
    const weir_status status = weir_metric_visit(s.engine, NULL, go_on, NULL);
    assert_true(status == WEIR_OK || status == WEIR_E_NOMEM);
    return status == WEIR_OK;
}

static bool add_figure(void)
{
    weir_error error = WEIR_ERROR_INIT;
    const weir_status status =
        weir_metric_add(s.engine,
                        WEIR_METRIC(.kind = WEIR_METRIC_GAUGE, .name = "one", .labels = "a=\"b\"",
                                    .help = "h", .read = read_one),
                        &error);
    assert_int_equal(status, error.status);
    assert_true(status == WEIR_OK || status == WEIR_E_NOMEM);
    if (status == WEIR_OK) {
        assert_int_equal(WEIR_OK, weir_metric_remove(s.engine, "one", "a=\"b\""));
    }
    return status == WEIR_OK;
}

/* Never up for want of memory: what is wrong is said as far as it can be. */
static bool look_at_health(void)
{
    char why[256];
    assert_int_not_equal(WEIR_UP, weir_engine_health(s.engine, why, sizeof(why)));
    assert_true(why[0] != '\0');
    return strstr(why, "component store") != NULL || strstr(why, "dead letters") != NULL;
}

static void each_does_all_or_nothing(void **state)
{
    static bool (*const calls[])(void) = { read_prometheus, read_json, visit_all, add_figure,
                                           look_at_health };
    (void)state;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        for (uint32_t lasting = 0; lasting < 2; lasting++) {
            long nth = 0;
            long refused = 1;
            for (; nth < NTH_MAX && refused > 0; nth++) {
                scene_fill();
                test_fault_arm(&s.fault, nth, lasting == 1);
                (void)calls[i]();
                refused = test_fault_disarm(&s.fault);
                assert_true(calls[i]());
                scene_close(&s);
            }
            assert_true(nth > 1 && nth < NTH_MAX);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_does_all_or_nothing) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
