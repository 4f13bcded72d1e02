/*
 * sample_test.c - /metrics.json has every section and key of the sample that its readers were
 * written by, each of the sample's type; and what names hold it keeps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <jansson.h>

#include "metric_support.h"

static scene s;
static weir_feed ticks;

static json_t *sample(void)
{
    char path[512];
    json_error_t error;
    const char *source = getenv("WEIR_SOURCE_ROOT");
    (void)snprintf(path, sizeof(path), "%s/tests/metric/sample.json",
                   source != NULL ? source : ".");
    json_t *root = json_load_file(path, 0, &error);
    if (root == NULL) {
        fprintf(stderr, "# %s: %s\n", path, error.text);
    }
    assert_non_null(root);
    return root;
}

static json_t *now(const weir_metrics_options *options)
{
    json_error_t error;
    char *text = scene_json(&s, options);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL) {
        fprintf(stderr, "# %s at %d of %.200s\n", error.text, error.position, text);
    }
    free(text);
    assert_non_null(root);
    return root;
}

static const char *kind_of(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "object";
    case JSON_ARRAY:
        return "array";
    case JSON_STRING:
        return "string";
    case JSON_TRUE:
    case JSON_FALSE:
        return "bool";
    case JSON_NULL:
        return "null";
    default:
        return "number";
    }
}

static uint32_t missing;

static void compare(const json_t *wanted, const json_t *found, const char *path)
{
    char below[256];
    if (strcmp(kind_of(wanted), kind_of(found)) != 0) {
        fprintf(stderr, "# %s is %s, not %s\n", path, kind_of(found), kind_of(wanted));
        missing++;
        return;
    }
    if (json_is_array(wanted)) {
        if (json_array_size(found) == 0) {
            fprintf(stderr, "# %s is empty\n", path);
            missing++;
            return;
        }
        for (size_t i = 0; i < json_array_size(found); i++) {
            (void)snprintf(below, sizeof(below), "%s[%zu]", path, i);
            compare(json_array_get(wanted, 0), json_array_get(found, i), below);
        }
    }
    const char *key;
    const json_t *value;
    json_object_foreach((json_t *)(uintptr_t)wanted, key, value)
    {
        const json_t *there = json_object_get(found, key);
        (void)snprintf(below, sizeof(below), "%s.%s", path, key);
        if (there == NULL) {
            fprintf(stderr, "# %s is missing\n", below);
            missing++;
            continue;
        }
        compare(value, there, below);
    }
}

static double read_one(void *context)
{
    (void)context;
    return 1;
}

/* Something in every section. */
static void fill(void)
{
    scene_make(&s, WEIR_ENGINE(.name = "sample", .latency_every = 1));
    assert_int_equal(WEIR_OK, weir_component_add(s.engine, &weir_memory_type,
                                                 WEIR_COMPONENT(.name = "orders"), NULL, &s.error));
    assert_int_equal(
        WEIR_OK, weir_component_add(s.engine, &weir_memory_sink_type,
                                    WEIR_COMPONENT(.name = "store", .feeds = WEIR_NAMES("orders")),
                                    NULL, &s.error));
    s.risk = scene_add(&s, WEIR_PROCESSOR(.name = "risk", .mailbox_max = 10));
    (void)weir_router_add(
        s.engine,
        WEIR_ROUTER(.name = "flows", .workers = 2, .argument = &s, .handler = scene_handle),
        &s.error);
    assert_int_equal(
        WEIR_OK,
        weir_metric_add(s.engine,
                        WEIR_METRIC(.kind = WEIR_METRIC_COUNTER, .name = "one_total",
                                    .labels = "reason=\"price\"", .help = "h", .read = read_one),
                        &s.error));
    assert_int_equal(WEIR_OK, weir_latency_enable(s.engine, NULL, NULL));
    assert_int_equal(WEIR_OK, weir_components_start(s.engine, &s.error));
    ticks = weir_feed_find(s.engine, "orders");
    weir_counters c = WEIR_COUNTERS_INIT;
    scene_post(&s, s.risk, TOLD(fail), 3);
    TEST_UNTIL(weir_engine_counters(s.engine, &c) == WEIR_OK && c.letters == 3);
}

static void every_key_of_the_sample_is_there(void **state)
{
    (void)state;
    fill();
    json_t *wanted = sample();
    json_t *found = now(NULL);
    missing = 0;
    compare(wanted, found, "");
    assert_int_equal(0, missing);
    json_decref(found);
    json_decref(wanted);
    scene_close(&s);
}

static const json_t *processor_of(const json_t *root, const char *name)
{
    const json_t *all = json_object_get(root, "processors");
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *one = json_array_get(all, i);
        if (strcmp(json_string_value(json_object_get(one, "processor")), name) == 0) {
            return one;
        }
    }
    return NULL;
}

static int64_t number_at(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static void its_figures_are_those_of_the_counters(void **state)
{
    (void)state;
    fill();
    weir_counters c = WEIR_COUNTERS_INIT;
    assert_int_equal(WEIR_OK, weir_components_stop(s.engine, 0, NULL));
    assert_int_equal(WEIR_OK, weir_engine_counters(s.engine, &c));
    json_t *root = now(NULL);
    const json_t *engine = json_object_get(root, "engine");
    assert_string_equal("stopped", json_string_value(json_object_get(engine, "phase")));
    assert_int_equal(c.accepted, number_at(engine, "accepted"));
    assert_int_equal(number_at(engine, "accepted"),
                     number_at(engine, "handled") + number_at(engine, "dropped") +
                         number_at(engine, "dead") + number_at(engine, "left"));
    assert_int_equal(3, number_at(engine, "dead"));
    assert_int_equal(3, number_at(engine, "letters"));
    assert_string_equal(
        "down", json_string_value(json_object_get(json_object_get(root, "health"), "status")));
    json_decref(root);
    scene_close(&s);
}

static void hostile_names_come_back_as_they_were(void **state)
{
    (void)state;
    static const char *const names[] = { "a\"b\\c\n\t\r\x01", "gr\xc3\xbc\xc3\x9f \xe2\x82\xac",
                                         "</script>", "{}[],:", "\xf0\x9f\x8c\x8a" };
    fill();
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)scene_add(&s, WEIR_PROCESSOR(.name = names[i]));
    }
    (void)scene_add(&s, WEIR_PROCESSOR(.name = "not \xff utf-8 \xed\xa0\x80"));
    json_t *root = now(NULL);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_non_null(processor_of(root, names[i]));
    }
    assert_non_null(
        processor_of(root, "not \xef\xbf\xbd utf-8 \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"));
    json_decref(root);
    scene_close(&s);
}

static void its_time_grows_with_the_monotonic_clock(void **state)
{
    (void)state;
    fill();
    json_t *first = now(NULL);
    const weir_ns begin = test_now();
    TEST_UNTIL(test_now() - begin > 20 * WEIR_MS);
    json_t *second = now(NULL);
    const int64_t grown = number_at(json_object_get(second, "engine"), "time_ns") -
                          number_at(json_object_get(first, "engine"), "time_ns");
    assert_true(grown >= 20 * WEIR_MS && grown < TEST_PATIENCE);
    assert_int_equal(grown, number_at(json_object_get(second, "engine"), "uptime_ns") -
                                number_at(json_object_get(first, "engine"), "uptime_ns"));
    assert_true(number_at(json_object_get(first, "engine"), "time_ns") / WEIR_S > 1700000000);
    json_decref(first);
    json_decref(second);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_of_the_sample_is_there),
        cmocka_unit_test(its_figures_are_those_of_the_counters),
        cmocka_unit_test(hostile_names_come_back_as_they_were),
        cmocka_unit_test(its_time_grows_with_the_monotonic_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
