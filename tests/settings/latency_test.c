/*
 * latency_test.c - the keys of latencies: their bounds and what is said beyond them, what they do
 * from the start, and what another configuration changes of a running engine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "apply_support.h"

#include "weir/latency.h"
#include "weir/metrics.h"

#define EVENTS 60u

static weir_status handle(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    return WEIR_OK;
}

static const weir_event_type told_type = { .struct_size = sizeof(weir_event_type), .name = "told" };

static weir_processor add(weir_engine *engine, const char *name)
{
    weir_error error = WEIR_ERROR_INIT;
    const weir_processor p =
        weir_processor_add(engine, WEIR_PROCESSOR(.name = name, .handler = handle), &error);
    test_error_none(&error);
    return p;
}

static void send(weir_engine *engine, weir_processor to, uint64_t times)
{
    weir_counters c = WEIR_COUNTERS_INIT;
    for (uint64_t i = 0; i < times; i++) {
        weir_status status;
        TEST_UNTIL((status = weir_engine_post(engine, to, &(weir_event){ .type = &told_type })) !=
                   WEIR_FULL);
        assert_int_equal(WEIR_OK, status);
    }
    TEST_UNTIL(weir_engine_counters(engine, &c) == WEIR_OK && c.depth == 0);
}

/* Events of the default dispatcher that were measured so far. */
static uint64_t measured(weir_engine *engine)
{
    weir_latency queueing = WEIR_LATENCY_INIT;
    assert_int_equal(WEIR_OK, weir_dispatcher_latency(engine, "", &queueing, NULL));
    return queueing.count;
}

static bool is_measured(weir_engine *engine, weir_processor p)
{
    weir_latency queueing = WEIR_LATENCY_INIT;
    return weir_processor_latency(engine, p, &queueing, NULL) == WEIR_OK;
}

static bool take_every(void *context, const weir_metric *metric)
{
    if (strcmp(metric->name, "weir_latency_every") == 0) {
        *(double *)context = metric->value;
        return false;
    }
    return true;
}

/* As the figures say it. */
static uint64_t every_of(weir_engine *engine)
{
    double every = -1;
    assert_int_equal(WEIR_OK, weir_metric_visit(engine, NULL, take_every, &every));
    return (uint64_t)every;
}

static void the_bounds_are_kept_and_said(void **state)
{
    static const struct {
        const char *key, *value, *said; /* NULL: it is good */
    } rows[] = {
        { "latency-every", "0", NULL },
        { "latency-every", "1", NULL },
        { "latency-every", "4000000000", NULL },
        { "latency-every", "-1", "-1 is not >= 0" },
        { "latency-every", "4000000001", "is not <= " },
        { "latency-every", "often", "often" },
        { "latency-max-processors", "1", NULL },
        { "latency-max-processors", "100000", NULL },
        { "latency-max-processors", "0", "0 is not >= 1" },
        { "latency-max-processors", "100001", "is not <= 100000" },
        { "latency", "[a, \"b*\"]", NULL },
        { "latency", "[{}]", "" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[160];
        weir_error error = WEIR_ERROR_INIT;
        snprintf(text, sizeof(text), "weir.engine.%s = %s", rows[i].key, rows[i].value);
        weir_config *config = parse_with(text, NULL, &error);
        fprintf(stderr, "# %s: %s: %s\n", text, error.path, error.text);
        assert_int_equal(rows[i].said == NULL, config != NULL);
        if (config == NULL) { /* which key, and what would be right */
            assert_non_null(strstr(error.path, rows[i].key));
            assert_non_null(strstr(error.text, rows[i].said));
        }
        weir_config_destroy(config);
    }
}

static void every_so_many_events_are_measured_and_a_reload_changes_it(void **state)
{
    (void)state;
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = engine_of("weir.engine { latency-every = 1 }", NULL);
    const weir_processor p = add(engine, "p");
    assert_int_equal(WEIR_OK, weir_engine_start(engine, &error));
    send(engine, p, EVENTS);
    assert_int_equal(EVENTS, measured(engine));
    assert_int_equal(1, every_of(engine));
    apply_well(engine, "weir.engine { latency-every = 0 }", 0);
    assert_int_equal(0, every_of(engine));
    /* A thread that counts down to the next measured one may have one to come. */
    send(engine, p, EVENTS);
    const uint64_t late = measured(engine);
    assert_true(late <= EVENTS + 2);
    send(engine, p, EVENTS);
    assert_int_equal(late, measured(engine));
    apply_well(engine, "weir.engine { latency-every = 4000000000 }", 0);
    assert_int_equal(4000000000, every_of(engine));
    weir_engine_destroy(engine);
}

static void patterns_are_measured_up_to_the_bound_and_a_reload_changes_them(void **state)
{
    (void)state;
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = engine_of("weir.engine { latency = [\"a*\"], latency-max-processors = 2, "
                                    "log-level = off }",
                                    NULL);
    const weir_processor a = add(engine, "a");
    const weir_processor b = add(engine, "b");
    const weir_processor a2 = add(engine, "a2");
    const weir_processor a3 = add(engine, "a3"); /* one too many */
    assert_int_equal(WEIR_OK, weir_engine_start(engine, &error));
    assert_true(is_measured(engine, a) && is_measured(engine, a2));
    assert_false(is_measured(engine, b) || is_measured(engine, a3));
    apply_well(engine, "weir.engine { latency = [b], latency-max-processors = 2, log-level = off }",
               0);
    assert_true(is_measured(engine, b));
    assert_false(is_measured(engine, a) || is_measured(engine, a2) || is_measured(engine, a3));
    apply_well(engine,
               "weir.engine { latency = [b, \"a*\"], latency-max-processors = 4, log-level = off }",
               0);
    assert_true(is_measured(engine, a) && is_measured(engine, a2) && is_measured(engine, a3) &&
                is_measured(engine, b));
    /* Fewer than are measured: those stay, no more come. */
    apply_well(engine,
               "weir.engine { latency = [b, \"a*\"], latency-max-processors = 1, log-level = off }",
               0);
    assert_true(is_measured(engine, a) && is_measured(engine, b));
    assert_false(is_measured(engine, add(engine, "a4")));
    weir_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bounds_are_kept_and_said),
        cmocka_unit_test(every_so_many_events_are_measured_and_a_reload_changes_it),
        cmocka_unit_test(patterns_are_measured_up_to_the_bound_and_a_reload_changes_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
