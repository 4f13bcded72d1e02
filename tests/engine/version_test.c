/*
 * version_test.c - callers older and newer than the library, and calls on nothing: NULL objects,
 * zero handles. No function crashes on them (weir/base.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "option_support.h"

enum { TAIL = 64 };

static weir_status handle_nothing(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    return WEIR_OK;
}

/* An option struct as a newer header would have it: ours, and fields that we do not know. */
typedef union newer {
    weir_engine_options engine;
    weir_processor_options processor;
    weir_thread_options thread;
    weir_assignment_options assignment;
    weir_dispatcher_options dispatcher;
    unsigned char bytes[sizeof(weir_engine_options) + sizeof(weir_processor_options) + TAIL];
} newer;

/* One call per option struct; a fresh engine each, because some may succeed. */
static weir_status call_engine(weir_engine *engine, const newer *o, weir_error *error)
{
    (void)engine;
    weir_engine_destroy(weir_engine_create(&o->engine, error));
    return error->status;
}

static weir_status call_processor(weir_engine *engine, const newer *o, weir_error *error)
{
    (void)weir_processor_add(engine, &o->processor, error);
    return error->status;
}

static weir_status call_thread(weir_engine *engine, const newer *o, weir_error *error)
{
    (void)weir_thread_add(engine, &o->thread, error);
    return error->status;
}

static weir_status call_assignment(weir_engine *engine, const newer *o, weir_error *error)
{
    return weir_assign_strategy(engine, &o->assignment, error);
}

static weir_status call_dispatcher(weir_engine *engine, const newer *o, weir_error *error)
{
    return weir_dispatcher_tune(engine, &o->dispatcher, error);
}

static const char *const served[] = { "", NULL };

static const struct {
    const char *name;
    weir_status (*call)(weir_engine *engine, const newer *o, weir_error *error);
    size_t size;
    newer right; /* the least that is right; struct_size is set by the test */
} structs[] = {
    { "weir_engine_options", call_engine, sizeof(weir_engine_options), { .engine = { 0 } } },
    { "weir_processor_options",
      call_processor,
      sizeof(weir_processor_options),
      { .processor = { .handler = handle_nothing } } },
    { "weir_thread_options", call_thread, sizeof(weir_thread_options), { .thread = { 0 } } },
    { "weir_assignment_options",
      call_assignment,
      sizeof(weir_assignment_options),
      { .assignment = { .strategy = WEIR_STRATEGY_SHARED, .dispatchers = served } } },
    { "weir_dispatcher_options",
      call_dispatcher,
      sizeof(weir_dispatcher_options),
      { .dispatcher = { .name = "" } } },
};
enum { STRUCTS = sizeof(structs) / sizeof(structs[0]) };

static weir_status call_with(size_t which, const newer *o, weir_error *error)
{
    weir_engine *engine = test_engine_create(NULL);
    (void)test_thread_add(engine, NULL);
    const weir_status status = structs[which].call(engine, o, error);
    weir_engine_destroy(engine);
    return status;
}

static void a_newer_caller_is_served_if_what_is_unknown_is_zero(void **state)
{
    (void)state;
    for (size_t i = 0; i < STRUCTS; i++) {
        newer o;
        memset(&o, 0, sizeof(o));
        memcpy(&o, &structs[i].right, structs[i].size);
        o.engine.struct_size = structs[i].size + TAIL; /* struct_size is first in all of them */
        weir_error error = WEIR_ERROR_INIT;
        assert_int_equal(WEIR_OK, call_with(i, &o, &error));
        test_error_none(&error);
    }
}

static void a_newer_caller_that_sets_what_is_unknown_is_e_version(void **state)
{
    (void)state;
    static const size_t places[] = { 0, 1, 7, 8, TAIL / 2, TAIL - 1 };
    for (size_t i = 0; i < STRUCTS; i++) {
        for (size_t p = 0; p < sizeof(places) / sizeof(places[0]); p++) {
            newer o;
            memset(&o, 0, sizeof(o));
            memcpy(&o, &structs[i].right, structs[i].size);
            o.engine.struct_size = structs[i].size + TAIL;
            o.bytes[structs[i].size + places[p]] = 1;
            weir_error error = WEIR_ERROR_INIT;
            assert_int_equal(WEIR_E_VERSION, call_with(i, &o, &error));
            assert_int_equal(WEIR_E_VERSION, error.status);
            assert_non_null(strstr(error.path, structs[i].name));
            assert_true(error.text[0] != '\0');
        }
    }
}

static void a_struct_without_a_sensible_size_is_e_invalid(void **state)
{
    (void)state;
    static const size_t sizes[] = { 0, 1, sizeof(size_t) - 1 };
    for (size_t i = 0; i < STRUCTS; i++) {
        for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
            newer o = structs[i].right;
            o.engine.struct_size = sizes[s];
            weir_error error = WEIR_ERROR_INIT;
            assert_int_equal(WEIR_E_INVALID, call_with(i, &o, &error));
            assert_int_equal(WEIR_E_INVALID, error.status);
            assert_non_null(strstr(error.path, structs[i].name));
            assert_non_null(strstr(error.path, ".struct_size"));
            char text[32];
            (void)snprintf(text, sizeof(text), "is %zu, must be sizeof(", sizes[s]);
            assert_ptr_equal(error.text, strstr(error.text, text));
            assert_non_null(strstr(error.text, structs[i].name));
        }
    }
}

static void an_older_caller_gets_the_defaults_of_what_it_does_not_know(void **state)
{
    (void)state;
    /* Behind what the caller knows lies whatever its memory holds: never read it. */
    newer o;
    memset(&o, 0xff, sizeof(o));
    o.engine.struct_size = offsetof(weir_engine_options, threads);
    o.engine.name = "old";
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = weir_engine_create(&o.engine, &error);
    test_error_none(&error);

    memset(&o, 0xff, sizeof(o));
    o.thread.struct_size = offsetof(weir_thread_options, idle);
    o.thread.name = "old";
    o.thread.dispatchers = served;
    assert_true(weir_thread_add(engine, &o.thread, &error).id != 0);
    test_error_none(&error);

    memset(&o, 0xff, sizeof(o));
    o.processor.struct_size = offsetof(weir_processor_options, unhandled);
    o.processor.name = "old";
    o.processor.dispatcher = "";
    o.processor.handler = handle_nothing;
    memset(&o.processor.cases, 0, sizeof(o.processor.cases));
    const weir_processor to = weir_processor_add(engine, &o.processor, &error);
    test_error_none(&error);
    for (uint64_t n = 0; n < 10000; n++) { /* the default bound, and fail is the default policy */
        assert_int_equal(WEIR_OK, test_post(engine, to, n));
    }
    assert_int_equal(WEIR_FULL, test_post(engine, to, 0));

    memset(&o, 0xff, sizeof(o));
    o.dispatcher.struct_size = offsetof(weir_dispatcher_options, batch_max);
    o.dispatcher.name = "";
    o.dispatcher.fair = true;
    assert_int_equal(WEIR_OK, weir_dispatcher_tune(engine, &o.dispatcher, &error));

    memset(&o, 0xff, sizeof(o));
    o.assignment.struct_size = offsetof(weir_assignment_options, threads);
    o.assignment.strategy = WEIR_STRATEGY_PER_DISPATCHER;
    o.assignment.dispatchers = served;
    assert_int_equal(WEIR_OK, weir_assign_strategy(engine, &o.assignment, &error));
    test_engine_start(engine);
    assert_int_equal(10000, test_engine_end(engine).handled);
}

/* ---- structs that weir fills ---- */

static void what_weir_fills_ends_where_the_caller_says(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to = test_processor_add(engine, WEIR_PROCESSOR(.handler = handle_nothing));
    assert_int_equal(WEIR_OK, test_post(engine, to, 0));
    weir_counters counters;
    memset(&counters, 0xaa, sizeof(counters));
    const weir_counters untouched = counters;
    counters.struct_size = offsetof(weir_counters, handled);
    assert_int_equal(WEIR_OK, weir_engine_counters(engine, &counters));
    assert_int_equal(offsetof(weir_counters, handled), counters.struct_size);
    assert_int_equal(1, counters.accepted);
    assert_memory_equal(&untouched.handled, &counters.handled,
                        sizeof(counters) - offsetof(weir_counters, handled));

    struct {
        weir_counters known;
        unsigned char tail[TAIL];
    } larger;
    memset(&larger, 0xaa, sizeof(larger));
    larger.known.struct_size = sizeof(larger);
    assert_int_equal(WEIR_OK, weir_processor_counters(engine, to, &larger.known));
    assert_int_equal(1, larger.known.accepted);
    counters.struct_size = 0;
    assert_int_equal(WEIR_E_INVALID, weir_engine_counters(engine, &counters));

    test_engine_start(engine);
    weir_stop_report report;
    memset(&report, 0xaa, sizeof(report));
    const weir_stop_report before = report;
    report.struct_size = offsetof(weir_stop_report, dropped);
    assert_int_equal(WEIR_OK, weir_engine_stop(engine, 0, &report));
    assert_int_equal(1, report.accepted);
    assert_int_equal(1, report.handled);
    assert_memory_equal(&before.dropped, &report.dropped,
                        sizeof(report) - offsetof(weir_stop_report, dropped));
    weir_engine_destroy(engine);
}

/* ---- nothing to call it on ---- */

static bool never_called(void *context, const char *name)
{
    (void)context;
    (void)name;
    return true;
}

static void a_null_engine_is_e_invalid_everywhere(void **state)
{
    (void)state;
    const weir_processor to = { 1 };
    const weir_event *event = WEIR_EVENT(number, 1);
    weir_status each = WEIR_OK;
    weir_counters counters = WEIR_COUNTERS_INIT;
    weir_dispatcher_counters dispatcher = WEIR_DISPATCHER_COUNTERS_INIT;
    weir_thread_counters thread = WEIR_THREAD_COUNTERS_INIT;
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(
        0, weir_processor_add(NULL, WEIR_PROCESSOR(.handler = handle_nothing), &error).id);
    assert_int_equal(WEIR_E_INVALID, error.status);
    assert_true(error.text[0] != '\0');
    assert_int_equal(WEIR_E_INVALID, weir_engine_start(NULL, NULL));
    assert_int_equal(WEIR_E_INVALID, weir_engine_stop(NULL, 0, NULL));
    assert_int_equal(WEIR_E_INVALID, weir_engine_stop_async(NULL, 0));
    assert_int_equal(WEIR_E_INVALID, weir_engine_wait(NULL, 0, NULL));
    assert_int_equal(WEIR_E_INVALID, weir_engine_post(NULL, to, event));
    assert_int_equal(WEIR_E_INVALID, weir_engine_commit(NULL, to, event));
    assert_int_equal(0, weir_engine_post_batch(NULL, &to, 1, &event, 1, &each));
    assert_int_equal(WEIR_E_INVALID, each);
    assert_int_equal(WEIR_E_INVALID, weir_engine_counters(NULL, &counters));
    assert_int_equal(WEIR_E_INVALID, weir_processor_counters(NULL, to, &counters));
    assert_int_equal(WEIR_E_INVALID, weir_dispatcher_counters_get(NULL, "", &dispatcher));
    assert_int_equal(WEIR_E_INVALID, weir_thread_counters_get(NULL, (weir_thread){ 1 }, &thread));
    assert_int_equal(WEIR_E_INVALID, weir_processor_stop(NULL, to, 0, NULL));
    assert_int_equal(WEIR_E_INVALID, weir_processor_stop_async(NULL, to, 0));
    assert_int_equal(0, weir_processor_find(NULL, "a").id);
    assert_int_equal(0, weir_processor_name(NULL, to, NULL, 0));
    assert_int_equal(0, weir_thread_add(NULL, NULL, NULL).id);
    assert_int_equal(0, weir_thread_find(NULL, "a").id);
    assert_int_equal(WEIR_E_INVALID, weir_assign(NULL, WEIR_ROWS(WEIR_NAMES("")), NULL));
    assert_int_equal(WEIR_E_INVALID, weir_dispatcher_tune(NULL, WEIR_DISPATCHER(.name = ""), NULL));
    weir_dispatcher_visit(NULL, never_called, NULL);
    weir_log_level_set(NULL, WEIR_LOG_DEBUG);
    assert_false(weir_log_enabled(NULL, WEIR_LOG_ERROR));
    weir_log_write(NULL, WEIR_LOG_ERROR, "a", "b", NULL, 0);
    weir_engine_destroy(NULL);
}

static void a_handle_of_nothing_is_unknown_everywhere(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor handles[] = { { 0 }, { 1 }, { UINT64_MAX }, { UINT64_C(1) << 63 } };
    weir_counters counters = WEIR_COUNTERS_INIT;
    weir_thread_counters thread = WEIR_THREAD_COUNTERS_INIT;
    weir_dispatcher_counters dispatcher = WEIR_DISPATCHER_COUNTERS_INIT;
    for (size_t i = 0; i < sizeof(handles) / sizeof(handles[0]); i++) {
        char name[16] = "x";
        assert_int_equal(WEIR_UNKNOWN, test_post(engine, handles[i], 1));
        assert_int_equal(WEIR_UNKNOWN, weir_processor_stop(engine, handles[i], 0, NULL));
        assert_int_equal(WEIR_UNKNOWN, weir_processor_stop_async(engine, handles[i], 0));
        assert_int_equal(WEIR_UNKNOWN, weir_processor_counters(engine, handles[i], &counters));
        assert_int_equal(0, weir_processor_name(engine, handles[i], name, sizeof(name)));
        assert_int_equal(WEIR_UNKNOWN,
                         weir_thread_counters_get(engine, (weir_thread){ handles[i].id }, &thread));
    }
    assert_int_equal(4, test_engine_counters(engine).refused_unknown);
    assert_int_equal(WEIR_UNKNOWN, weir_dispatcher_counters_get(engine, "none", &dispatcher));
    assert_int_equal(0, weir_processor_find(engine, NULL).id);
    assert_int_equal(0, weir_thread_find(engine, NULL).id);
    assert_true(weir_dispatcher_counters_get(engine, NULL, &dispatcher) != WEIR_OK);
    weir_engine_destroy(engine);
}

static void an_error_that_is_set_makes_the_next_calls_do_nothing(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(WEIR_E_USER, weir_error_set(&error, WEIR_E_USER, "first", "the first"));
    assert_null(weir_engine_create(NULL, &error));
    assert_int_equal(
        0, weir_processor_add(engine, WEIR_PROCESSOR(.handler = handle_nothing), &error).id);
    assert_int_equal(0, weir_thread_add(engine, NULL, &error).id);
    assert_int_equal(WEIR_E_USER, weir_assign(engine, WEIR_ROWS(WEIR_NAMES("")), &error));
    assert_int_equal(WEIR_E_USER, weir_engine_start(engine, &error));
    assert_string_equal("first", error.path);
    assert_string_equal("the first", error.text);
    assert_int_equal(0, test_engine_counters(engine).processors);
    assert_int_equal(0, test_engine_counters(engine).threads);
    weir_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_newer_caller_is_served_if_what_is_unknown_is_zero),
        cmocka_unit_test(a_newer_caller_that_sets_what_is_unknown_is_e_version),
        cmocka_unit_test(a_struct_without_a_sensible_size_is_e_invalid),
        cmocka_unit_test(an_older_caller_gets_the_defaults_of_what_it_does_not_know),
        cmocka_unit_test(what_weir_fills_ends_where_the_caller_says),
        cmocka_unit_test(a_null_engine_is_e_invalid_everywhere),
        cmocka_unit_test(a_handle_of_nothing_is_unknown_everywhere),
        cmocka_unit_test(an_error_that_is_set_makes_the_next_calls_do_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
