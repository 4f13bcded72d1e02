/*
 * writers_test.c - figures as Prometheus reads them, as JSON and one by one: well-formed whatever
 * the names, true whatever happened, and short however many processors there are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "metric_support.h"

#include <math.h>

#include "metric/metric.h"
#include "metric/table.h"

static scene s;

static int set_up(void **state)
{
    (void)state;
    scene_open(&s);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scene_close(&s);
    return 0;
}

/* ---- the table ---- */

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text);
    return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

static void every_row_keeps_to_the_conventions(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < weir__metric_row_count; i++) {
        const weir__metric_row *row = &weir__metric_rows[i];
        assert_non_null(row->help);
        assert_true(row->help[0] >= 'A' || (row->help[0] >= '0' && row->help[0] <= '9'));
        assert_false(ends_with(row->help, "."));
        assert_true(row->key != NULL || row->name != NULL);
        if (row->name == NULL) {
            continue;
        }
        assert_memory_equal("weir_", row->name, 5);
        assert_true(row->type != WEIR__TYPE_NONE && row->value != WEIR__VALUE_TEXT);
        assert_int_equal(row->type == WEIR__TYPE_COUNTER, ends_with(row->name, "_total"));
        const bool time = row->value == WEIR__VALUE_NS || row->value == WEIR__VALUE_LATENCY;
        assert_int_equal(time, ends_with(row->name, "_seconds") ||
                                   ends_with(row->name, "_seconds_total"));
        if (row->key != NULL && row->value == WEIR__VALUE_NS) {
            assert_true(ends_with(row->key, "_ns"));
        }
    }
}

static void rows_of_a_group_and_of_a_name_stand_together(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < weir__metric_row_count; i++) {
        const weir__metric_row *a = &weir__metric_rows[i];
        for (uint32_t k = i + 1; k < weir__metric_row_count; k++) {
            const weir__metric_row *b = &weir__metric_rows[k];
            const weir__metric_row *before = &weir__metric_rows[k - 1];
            if (a->group == b->group) {
                assert_int_equal(a->group, before->group);
            }
            if (a->name != NULL && b->name != NULL && strcmp(a->name, b->name) == 0) {
                assert_string_equal(a->name, before->name);
                assert_string_equal(a->help, b->help);
                assert_int_equal(a->type, b->type);
                assert_string_not_equal(a->label, b->label);
            }
            if (a->group == b->group && a->key != NULL && b->key != NULL) {
                assert_string_not_equal(a->key, b->key);
            }
        }
    }
}

/* ---- Prometheus's text ---- */

/* "weir_x_seconds" of "weir_x_seconds_sum", if that is what it is. */
static void family_of(const char *line, const char *current, char *out, size_t size)
{
    const size_t length = strcspn(line, "{ ");
    (void)snprintf(out, size, "%.*s", (int)length, line);
    const size_t family = strlen(current);
    if (strncmp(out, current, family) == 0 &&
        (strcmp(out + family, "_sum") == 0 || strcmp(out + family, "_count") == 0)) {
        out[family] = '\0';
    }
}

/* Help and type once, before the first of a name; those of one name in a row; every value a
 * number. Returns how many series there are. */
static uint32_t check_text(const char *text)
{
    char families[512][128];
    uint32_t count = 0;
    uint32_t series = 0;
    char *copy = strdup(text);
    char *save = NULL;
    assert_int_equal('\n', text[strlen(text) - 1]);
    for (char *line = strtok_r(copy, "\n", &save); line != NULL;
         line = strtok_r(NULL, "\n", &save)) {
        if (strncmp(line, "# HELP ", 7) == 0) {
            assert_true(count < 512);
            (void)snprintf(families[count], sizeof(families[0]), "%.*s",
                           (int)strcspn(line + 7, " "), line + 7);
            for (uint32_t i = 0; i < count; i++) {
                assert_string_not_equal(families[i], families[count]);
            }
            count++;
        } else if (strncmp(line, "# TYPE ", 7) == 0) {
            assert_true(count > 0);
            assert_memory_equal(families[count - 1], line + 7, strlen(families[count - 1]));
        } else if (line[0] != '#') {
            char family[128];
            char *end = NULL;
            assert_true(count > 0);
            family_of(line, families[count - 1], family, sizeof(family));
            assert_string_equal(families[count - 1], family);
            const char *value = strrchr(line, ' ') + 1;
            (void)strtod(value, &end);
            assert_true(end != value && *end == '\0');
            series++;
        }
    }
    free(copy);
    return series;
}

static bool count_metric(void *context, const weir_metric *metric)
{
    assert_non_null(metric->labels);
    assert_non_null(metric->help);
    assert_true(metric->kind == WEIR_METRIC_COUNTER || metric->kind == WEIR_METRIC_GAUGE);
    ++*(uint32_t *)context;
    return true;
}

static bool count_three(void *context, const weir_metric *metric)
{
    (void)metric;
    return ++*(uint32_t *)context < 3;
}

static void a_text_has_every_name_once_and_a_visit_the_same_series(void **state)
{
    (void)state;
    uint32_t visited = 0;
    char *text = scene_text(&s, NULL);
    const uint32_t series = check_text(text);
    assert_int_equal(WEIR_OK, weir_metric_visit(s.engine, NULL, count_metric, &visited));
    assert_int_equal(series, visited);
    assert_true(series > 100);
    visited = 0;
    assert_int_equal(WEIR_OK, weir_metric_visit(s.engine, NULL, count_three, &visited));
    assert_int_equal(3, visited);
    free(text);
}

static bool find_uptime(void *context, const weir_metric *metric)
{
    if (strcmp(metric->name, "weir_processor_handled_total") == 0 &&
        strcmp(metric->labels, "processor=\"risk\",dispatcher=\"\"") == 0) {
        *(double *)context = metric->value;
    }
    return true;
}

static void a_visit_gives_names_labels_and_values(void **state)
{
    (void)state;
    double value = -1;
    scene_post(&s, s.risk, TOLD(work), 5);
    TEST_UNTIL(weir_metric_visit(s.engine, NULL, find_uptime, &value) == WEIR_OK && value >= 5);
    assert_true(value == 5.0);
}

static void what_is_no_engine_or_no_visitor_is_refused(void **state)
{
    (void)state;
    size_t size = 7;
    assert_null(weir_metrics_prometheus(NULL, NULL, &size));
    assert_int_equal(0, size);
    assert_null(weir_metrics_json(NULL, NULL, NULL));
    assert_int_equal(WEIR_E_INVALID, weir_metric_visit(NULL, NULL, count_metric, &size));
    assert_int_equal(WEIR_E_INVALID, weir_metric_visit(s.engine, NULL, NULL, NULL));
    weir_metrics_free(NULL, NULL);
    weir_metrics_free(s.engine, NULL);
}

/* ---- numbers ---- */

static const char *as(bool json, weir__number n)
{
    static char out[64];
    weir__textbuf text = { .allocator = &s.engine->allocator };
    assert_true(json ? weir__number_json(&text, &n) : weir__number_prometheus(&text, &n));
    (void)snprintf(out, sizeof(out), "%s", text.bytes);
    weir__textbuf_close(&text);
    return out;
}

static void numbers_are_exact_and_what_is_none_is_said(void **state)
{
    (void)state;
    const weir__number most = { .kind = WEIR__NUMBER_UNSIGNED, .bits = UINT64_MAX };
    const weir__number below = { .kind = WEIR__NUMBER_SIGNED, .bits = (uint64_t)-1 };
    const weir__number ns = { .kind = WEIR__NUMBER_NS, .bits = 12000000345 };
    const weir__number whole = { .kind = WEIR__NUMBER_NS, .bits = 3000000000 };
    const weir__number small = { .kind = WEIR__NUMBER_NS, .bits = 50 };
    const weir__number early = { .kind = WEIR__NUMBER_NS, .bits = (uint64_t)-1500000000 };
    const weir__number nothing = { .kind = WEIR__NUMBER_REAL, .real = (double)NAN };
    const weir__number much = { .kind = WEIR__NUMBER_REAL, .real = (double)INFINITY };
    const weir__number little = { .kind = WEIR__NUMBER_REAL, .real = -(double)INFINITY };
    const weir__number half = { .kind = WEIR__NUMBER_REAL, .real = 0.5 };
    assert_string_equal("18446744073709551615", as(false, most));
    assert_string_equal("-1", as(false, below));
    assert_string_equal("12.000000345", as(false, ns));
    assert_string_equal("12000000345", as(true, ns));
    assert_string_equal("3", as(false, whole));
    assert_string_equal("0.00000005", as(false, small));
    assert_string_equal("-1.5", as(false, early));
    assert_string_equal("NaN", as(false, nothing));
    assert_string_equal("null", as(true, nothing));
    assert_string_equal("+Inf", as(false, much));
    assert_string_equal("null", as(true, much));
    assert_string_equal("-Inf", as(false, little));
    assert_string_equal("0.5", as(true, half));
}

/* ---- hostile names ---- */

static void names_of_any_bytes_become_labels_and_strings(void **state)
{
    (void)state;
    (void)scene_add(&s, WEIR_PROCESSOR(.name = "a\"b\\c\nd} 1\nweir_handled_total 9"));
    (void)scene_add(&s, WEIR_PROCESSOR(.name = "\xff\xfe\xc3"));
    (void)scene_add(&s, WEIR_PROCESSOR(.name = "gr\xc3\xbc\xc3\x9f\x01\x7f"));
    char *text = scene_text(&s, NULL);
    (void)check_text(text);
    assert_has(text, "weir_processor_depth{processor=\"a\\\"b\\\\c\\nd} 1\\nweir_handled_total 9\","
                     "dispatcher=\"\"} 0\n");
    assert_has(text, "processor=\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    assert_has(text, "processor=\"gr\xc3\xbc\xc3\x9f\x01\x7f\"");
    free(text);
    char *json = scene_json(&s, NULL);
    assert_has(json, "\"processor\":\"a\\\"b\\\\c\\nd} 1\\nweir_handled_total 9\"");
    assert_has(json, "\"processor\":\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    assert_has(json, "gr\xc3\xbc\xc3\x9f\\u0001\\u007f");
    free(json);
}

/* ---- P-3 ---- */

static uint64_t count_of(const char *text, const char *name, const char *labels, const char *more)
{
    char series[256];
    const bool both = labels[0] != '\0' && more[0] != '\0';
    const bool any = labels[0] != '\0' || more[0] != '\0';
    (void)snprintf(series, sizeof(series), "%s%s%s%s%s%s", name, any ? "{" : "", labels,
                   both ? "," : "", more, any ? "}" : "");
    return series_count(text, series);
}

/* What was accepted, and what became of it. */
static void add_up(const char *text, const char *prefix, const char *labels, uint64_t *accepted,
                   uint64_t *done)
{
    static const char *const parts[][2] = {
        { "handled_total", "" },
        { "left_total", "" },
        { "dropped_total", "reason=\"newest\"" },
        { "dropped_total", "reason=\"oldest\"" },
        { "dead_total", "reason=\"failed\"" },
        { "dead_total", "reason=\"stopped\"" },
    };
    char name[128];
    (void)snprintf(name, sizeof(name), "%saccepted_total", prefix);
    *accepted = count_of(text, name, labels, "");
    *done = 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        (void)snprintf(name, sizeof(name), "%s%s", prefix, parts[i][0]);
        *done += count_of(text, name, labels, parts[i][1]);
    }
}

static void a_stopped_engine_adds_up_exactly(void **state)
{
    (void)state;
    uint64_t accepted;
    uint64_t done;
    const weir_processor bin = scene_add(
        &s, WEIR_PROCESSOR(.name = "bin", .mailbox_max = 2, .overflow = WEIR_OVERFLOW_DROP_NEWEST));
    const weir_processor old = scene_add(
        &s, WEIR_PROCESSOR(.name = "old", .mailbox_max = 2, .overflow = WEIR_OVERFLOW_DROP_OLDEST));
    scene_hold(&s); /* the one thread: nothing is handled meanwhile */
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(i < 2 ? WEIR_OK : WEIR_DROPPED,
                         weir_engine_post(s.engine, bin, TOLD(work)));
        assert_int_equal(WEIR_OK, weir_engine_post(s.engine, old, TOLD(fail)));
    }
    assert_int_equal(WEIR_OK, weir_engine_post(s.engine, old, TOLD(fail)));
    scene_post(&s, s.risk, TOLD(fail), 3);
    assert_int_equal(WEIR_UNKNOWN, weir_engine_post(s.engine, (weir_processor){ 0 }, TOLD(work)));
    (void)sem_post(&s.go);
    assert_int_equal(WEIR_OK, weir_engine_stop(s.engine, 0, NULL));
    char *text = scene_text(&s, NULL);
    add_up(text, "weir_", "", &accepted, &done);
    assert_int_equal(15, accepted);
    assert_int_equal(accepted, done);
    assert_int_equal(3, series_count(text, "weir_dropped_total{reason=\"newest\"}"));
    assert_int_equal(4, series_count(text, "weir_dropped_total{reason=\"oldest\"}"));
    assert_int_equal(5, series_count(text, "weir_dead_total{reason=\"failed\"}"));
    assert_int_equal(1, series_count(text, "weir_refused_total{reason=\"unknown\"}"));
    free(text);
}

static void each_processor_of_a_running_engine_adds_up_when_it_is_at_rest(void **state)
{
    (void)state;
    uint64_t accepted;
    uint64_t done;
    weir_counters c = WEIR_COUNTERS_INIT;
    scene_post(&s, s.risk, TOLD(work), 100);
    scene_post(&s, s.risk, TOLD(fail), 4);
    TEST_UNTIL(weir_engine_counters(s.engine, &c) == WEIR_OK && c.handled + c.dead == 104);
    char *text = scene_text(&s, NULL);
    add_up(text, "weir_processor_", "processor=\"risk\",dispatcher=\"\"", &accepted, &done);
    assert_int_equal(104, accepted);
    assert_int_equal(accepted, done);
    add_up(text, "weir_", "", &accepted, &done);
    assert_int_equal(accepted, done + series_count(text, "weir_depth"));
    free(text);
}

/* ---- many processors ---- */

static void the_busiest_have_series_and_the_others_one(void **state)
{
    (void)state;
    weir_processor made[50];
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 50; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "p%u", i);
        made[i] = scene_add(&s, WEIR_PROCESSOR(.name = name));
        scene_post(&s, made[i], TOLD(work), (i * 7) % 50); /* each number once */
        sum += (i * 7) % 50;
    }
    weir_counters c = WEIR_COUNTERS_INIT;
    TEST_UNTIL(weir_engine_counters(s.engine, &c) == WEIR_OK && c.handled == sum);
    char *text = scene_text(&s, WEIR_METRICS(.processors_max = 5));
    (void)check_text(text);
    for (uint32_t i = 0; i < 50; i++) {
        char name[96];
        (void)snprintf(name, sizeof(name),
                       "weir_processor_handled_total{processor=\"p%u\",dispatcher=\"\"}", i);
        if ((i * 7) % 50 >= 45) {
            assert_int_equal((i * 7) % 50, series_count(text, name));
            sum -= (i * 7) % 50;
        } else {
            assert_null(series_text(text, name));
        }
    }
    assert_int_equal(
        sum,
        series_count(text, "weir_processor_handled_total{processor=\"(others)\",dispatcher=\"\"}"));
    assert_int_equal(46, series_count(text, "weir_metrics_processors_hidden"));
    assert_has(text, "# 46 of 51 processors have no series of their own");
    free(text);
    char *json = scene_json(&s, WEIR_METRICS(.processors_max = 5));
    assert_has(json, "\"processors_total\":51,\"processors_shown\":5,");
    assert_has(json, "{\"processor\":\"(others)\",");
    free(json);
    text = scene_text(&s, NULL);
    assert_has_not(text, "(others)\",");
    assert_has_not(text, "no series of their own");
    free(text);
}

static void the_cap_on_processors_is_a_setting(void **state)
{
    (void)state;
    static const char text[] = "weir.metrics.processors-max = 2";
    weir_error error = WEIR_ERROR_INIT;
    weir_config *config = weir_config_parse("t.conf", text, strlen(text),
                                            WEIR_CONFIG(.ignore_environment = true), &error);
    test_error_none(&error);
    scene c = { .error = WEIR_ERROR_INIT };
    c.engine = weir_config_engine(config, NULL, &c.error);
    test_error_none(&c.error);
    for (uint32_t i = 0; i < 4; i++) {
        (void)scene_add(&c, WEIR_PROCESSOR(.name = NULL));
    }
    char *json = scene_json(&c, NULL);
    assert_has(json, "\"processors_total\":4,\"processors_shown\":2,");
    free(json);
    json = scene_json(&c, WEIR_METRICS(.processors_max = 3));
    assert_has(json, "\"processors_total\":4,\"processors_shown\":3,");
    free(json);
    weir_engine_destroy(c.engine);
    weir_config_destroy(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_row_keeps_to_the_conventions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rows_of_a_group_and_of_a_name_stand_together, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_text_has_every_name_once_and_a_visit_the_same_series,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_visit_gives_names_labels_and_values, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_engine_or_no_visitor_is_refused, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(numbers_are_exact_and_what_is_none_is_said, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(names_of_any_bytes_become_labels_and_strings, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_stopped_engine_adds_up_exactly, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            each_processor_of_a_running_engine_adds_up_when_it_is_at_rest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_busiest_have_series_and_the_others_one, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_cap_on_processors_is_a_setting, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
