/*
 * connect/builtin_test.c - log, count, filter, key-by: lines go in by post, and come out at a sink
 * that writes them down.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "connect/builtin.h"

#include "engine/option_support.h"
#include "connect/payload.h"
#include "weir/feed.h"
#include "weir/flow.h"
#include "weir/turn.h"

enum { SEEN_MAX = 262144, CONFIG_MAX = 1024 };

/* Two sinks, "out" and "rest", and what came there: "[line] [line] " */
typedef struct seen {
    pthread_mutex_t lock;
    char text[SEEN_MAX];
} seen;
static seen all[2] = { { .lock = PTHREAD_MUTEX_INITIALIZER },
                       { .lock = PTHREAD_MUTEX_INITIALIZER } };

static weir_status write_down(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    seen *s = *(seen **)state;
    (void)pthread_mutex_lock(&s->lock);
    const size_t used = strlen(s->text);
    assert_true(used + event->size + 4 < sizeof(s->text));
    (void)snprintf(s->text + used, sizeof(s->text) - used, "[%.*s] ", (int)event->size,
                   (const char *)event->data);
    (void)pthread_mutex_unlock(&s->lock);
    return WEIR_OK;
}

static weir_status sink_init(void *state, weir_component *self, const void *config,
                             weir_error *error)
{
    (void)config, (void)error;
    *(seen **)state = &all[strcmp(weir_component_name(self), "rest") == 0];
    return WEIR_OK;
}

static const weir_component_type sink = {
    .struct_size = sizeof(weir_component_type),
    .kind = WEIR_KIND_SINK,
    .name = "sink",
    .help = "writes down",
    .state_size = sizeof(seen *),
    .init = sink_init,
    .handler = write_down,
};

/* One processor of a type, configured by text, between the test and its two sinks. */
typedef struct stage {
    weir_engine *engine;
    weir_config *config;
    weir_processor it;
    weir_error error;
} stage;

static void stage_open(stage *s, const weir_component_type *type, const char *text)
{
    static _Alignas(16) unsigned char filled[CONFIG_MAX];
    char document[2048];
    memset(s, 0, sizeof(*s));
    memset(filled, 0, sizeof(filled));
    all[0].text[0] = all[1].text[0] = '\0';
    s->error = (weir_error)WEIR_ERROR_INIT;
    (void)snprintf(document, sizeof(document), "app { %s }", text);
    s->config = weir_config_parse("test", document, strlen(document),
                                  WEIR_CONFIG(.ignore_environment = true), &s->error);
    assert_true(type->config_size <= sizeof(filled));
    (void)weir_config_read(s->config, "app", type->options, type->option_count, filled, &s->error);
    test_error_none(&s->error);
    s->engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
    (void)weir_thread_add(s->engine, NULL, &s->error);
    (void)weir_component_add(s->engine, &sink, WEIR_COMPONENT(.name = "out"), NULL, &s->error);
    (void)weir_component_add(s->engine, &sink, WEIR_COMPONENT(.name = "rest"), NULL, &s->error);
    test_error_none(&s->error);
    (void)weir_component_add(s->engine, type, WEIR_COMPONENT(.name = "it", .config = filled),
                             &s->it, &s->error);
}

static void stage_start(stage *s)
{
    (void)weir_components_start(s->engine, &s->error);
    test_error_none(&s->error);
    s->it = weir_processor_find(s->engine, "it");
}

static void put(stage *s, const char *line, size_t size)
{
    const weir_event event = { .type = &weir_text_type, .data = line, .size = (uint32_t)size };
    assert_int_equal(WEIR_OK, weir_engine_post(s->engine, s->it, &event));
}

static void put_all(stage *s, const char *const *lines)
{
    for (; *lines != NULL; lines++) {
        put(s, *lines, strlen(*lines));
    }
}

static void stage_close(stage *s)
{
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    (void)weir_components_stop(s->engine, TEST_PATIENCE, &report);
    weir_engine_destroy(s->engine);
    weir_config_destroy(s->config);
    assert_int_equal(0, report.left);
    assert_int_equal(0, report.dead);
}

static void run(const weir_component_type *type, const char *text, const char *const *lines,
                const char *out, const char *rest)
{
    stage s;
    stage_open(&s, type, text);
    stage_start(&s);
    put_all(&s, lines);
    stage_close(&s);
    assert_string_equal(out, all[0].text);
    assert_string_equal(rest, all[1].text);
}

static void refused(const weir_component_type *type, const char *text, const char *says)
{
    stage s;
    stage_open(&s, type, text);
    if (s.error.status == WEIR_OK) {
        (void)weir_components_start(s.engine, &s.error);
    }
    assert_int_not_equal(WEIR_OK, s.error.status);
    if (strstr(s.error.text, says) == NULL) {
        fail_msg("'%s' is not in: %s", says, s.error.text);
    }
    weir_engine_destroy(s.engine);
    weir_config_destroy(s.config);
}

#define LINES(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* ---- payloads ---- */

static void what_a_feed_has_wrapped_is_read_as_what_it_was(void **state)
{
    (void)state;
    struct {
        weir_named head;
        char text[8];
    } wrapped = { { .type = &weir_text_type, .size = 5 }, "a line" };
    const weir_event event = { .type = &weir_named_type,
                               .data = &wrapped,
                               .size = sizeof(wrapped) };
    weir__payload payload;
    assert_true(weir__payload_read(&payload, &event));
    assert_int_equal(5, payload.size);
    assert_memory_equal("a lin", payload.data, 5);
    wrapped.head.type = &weir_timeout_type;
    assert_false(weir__payload_read(&payload, &event));
}

/* ---- filter ---- */

static void a_filter_passes_what_compares_as_wanted(void **state)
{
    (void)state;
    const char *const *lines = LINES("{\"v\": 1}", "{\"v\": 2}", "{\"v\": \"2\"}", "{\"v\": 2.0}",
                                     "{\"w\": 2}", "no JSON");
    run(&weir__filter_component, "field = v, is = equal, value = 2, to = out", lines,
        "[{\"v\": 2}] [{\"v\": \"2\"}] [{\"v\": 2.0}] ", "");
    run(&weir__filter_component, "field = v, is = other, value = 2, to = out", lines,
        "[{\"v\": 1}] ", "");
    run(&weir__filter_component, "field = v, is = below, value = 2, to = out", lines,
        "[{\"v\": 1}] ", "");
    run(&weir__filter_component, "field = v, is = at-most, value = 1, to = out", lines,
        "[{\"v\": 1}] ", "");
    run(&weir__filter_component, "field = v, is = above, value = 1, to = out", lines,
        "[{\"v\": 2}] [{\"v\": \"2\"}] [{\"v\": 2.0}] ", "");
    run(&weir__filter_component, "field = v, is = at-least, value = 3, to = out", lines, "", "");
    run(&weir__filter_component, "field = w, to = out, else = rest", lines, "[{\"w\": 2}] ",
        "[{\"v\": 1}] [{\"v\": 2}] [{\"v\": \"2\"}] [{\"v\": 2.0}] [no JSON] ");
}

static void a_filter_that_cannot_compare_is_refused(void **state)
{
    (void)state;
    refused(&weir__filter_component, "field = v, is = below, value = two, to = out", "numbers");
    refused(&weir__filter_component, "field = v, is = equal, to = out", "value is not there");
    refused(&weir__filter_component, "to = out", "neither field nor pattern");
    refused(&weir__filter_component, "pattern = \"(\", to = out", "pattern");
}

/* ---- log ---- */

static void a_log_passes_everything_on(void **state)
{
    (void)state;
    run(&weir__log_component, "to = out, each = 2, cut = 3", LINES("one", "", "three\001\n"),
        "[one] [] [three\001\n] ", "");
    run(&weir__log_component, "", LINES("one"), "", "");
}

/* ---- count ---- */

static void counts_are_told_at_the_end(void **state)
{
    (void)state;
    run(&weir__count_component, "field = k, to = rest, totals = out",
        LINES("{\"k\": \"a\"}", "{\"k\": \"b\"}", "{\"k\": \"a\"}", "{}", "no JSON"),
        "[{\"key\":\"a\",\"count\":2}] [{\"key\":\"b\",\"count\":1}] ",
        "[{\"k\": \"a\"}] [{\"k\": \"b\"}] [{\"k\": \"a\"}] [{}] [no JSON] ");
    run(&weir__count_component, "totals = out", LINES("a", "b", "c"), "[{\"count\":3}] ", "");
}

static void beyond_so_many_keys_they_are_counted_together(void **state)
{
    (void)state;
    run(&weir__count_component, "pattern = \"^.\", totals = out, keys-max = 2",
        LINES("a", "b", "c", "d", "a"),
        "[{\"key\":\"a\",\"count\":2}] [{\"key\":\"b\",\"count\":1}] [{\"key\":null,\"count\":2}] ",
        "");
}

static void counts_are_told_every_so_often(void **state)
{
    (void)state;
    stage s;
    stage_open(&s, &weir__count_component, "totals = out, every = 1 ms");
    stage_start(&s);
    put(&s, "x", 1);
    for (bool told = false; !told;) {
        (void)pthread_mutex_lock(&all[0].lock);
        told = strstr(all[0].text, "[{\"count\":1}] ") != NULL;
        (void)pthread_mutex_unlock(&all[0].lock);
        (void)sched_yield();
    }
    stage_close(&s);
}

/* ---- key-by ---- */

/* A router's handler that writes down `KEY:line`. */
static weir_status write_key(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    size_t size = 0;
    const char *key = weir_turn_flow_key(turn, &size);
    (void)pthread_mutex_lock(&all[0].lock);
    const size_t used = strlen(all[0].text);
    (void)snprintf(all[0].text + used, sizeof(all[0].text) - used, "[%.*s%s%.*s] ", (int)size,
                   key != NULL ? key : "", key != NULL ? ":" : "", (int)event->size,
                   (const char *)event->data);
    (void)pthread_mutex_unlock(&all[0].lock);
    return WEIR_OK;
}

static void run_keys(const char *text, weir_flow_keys keys, const char *const *lines,
                     const char *out, const char *rest)
{
    stage s;
    stage_open(&s, &weir__key_by_component, text);
    test_error_none(&s.error);
    (void)weir_router_add(
        s.engine, WEIR_ROUTER(.name = "flows", .keys = keys, .workers = 1, .handler = write_key),
        &s.error);
    stage_start(&s);
    put_all(&s, lines);
    stage_close(&s);
    assert_string_equal(out, all[0].text);
    assert_string_equal(rest, all[1].text);
}

static void key_by_submits_each_line_under_its_key(void **state)
{
    (void)state;
    run_keys("pattern = \"^(\\\\S+) \", group = 1, to = flows", WEIR_FLOW_KEYS_BYTES,
             LINES("a 1", "b 2", "nothing", "a 3", " 4"), "[a:a 1] [b:b 2] [a:a 3] ", "");
    run_keys("field = id, to = flows", WEIR_FLOW_KEYS_U64, LINES("{\"id\": 7}", "{\"id\": \"x\"}"),
             "[{\"id\": 7}] [{\"id\": \"x\"}] ", "");
}

static void a_line_without_its_key_goes_where_it_was_said(void **state)
{
    (void)state;
    run_keys("field = id, to = flows, missing = send, missing-to = rest", WEIR_FLOW_KEYS_BYTES,
             LINES("{\"id\": 7}", "{}", "no JSON", "{\"id\": \"\"}"), "[7:{\"id\": 7}] ",
             "[{}] [no JSON] [{\"id\": \"\"}] ");
    run_keys("field = id, to = flows, missing = no-flow", WEIR_FLOW_KEYS_BYTES, LINES("{}"),
             "[{}] ", "");
}

static void a_key_longer_than_a_key_can_be_is_no_key(void **state)
{
    (void)state;
    static char line[70001];
    memset(line, 'k', sizeof(line) - 1);
    stage s;
    stage_open(&s, &weir__key_by_component,
               "pattern = \".*\", to = flows, missing = send, missing-to = rest");
    (void)weir_router_add(s.engine,
                          WEIR_ROUTER(.name = "flows", .keys = WEIR_FLOW_KEYS_BYTES, .workers = 1,
                                      .handler = write_key),
                          &s.error);
    stage_start(&s);
    put(&s, line, 65000);
    stage_close(&s);
    assert_int_equal(2 * 65000 + 4, strlen(all[0].text));
    assert_string_equal("", all[1].text);
}

static void key_by_wants_a_router(void **state)
{
    (void)state;
    refused(&weir__key_by_component, "field = id, to = out", "no flow router");
    refused(&weir__key_by_component, "field = id, to = out, missing = send", "names nobody");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_feed_has_wrapped_is_read_as_what_it_was),
        cmocka_unit_test(a_filter_passes_what_compares_as_wanted),
        cmocka_unit_test(a_filter_that_cannot_compare_is_refused),
        cmocka_unit_test(a_log_passes_everything_on),
        cmocka_unit_test(counts_are_told_at_the_end),
        cmocka_unit_test(beyond_so_many_keys_they_are_counted_together),
        cmocka_unit_test(counts_are_told_every_so_often),
        cmocka_unit_test(key_by_submits_each_line_under_its_key),
        cmocka_unit_test(a_line_without_its_key_goes_where_it_was_said),
        cmocka_unit_test(a_key_longer_than_a_key_can_be_is_no_key),
        cmocka_unit_test(key_by_wants_a_router),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
