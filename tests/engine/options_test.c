/*
 * options_test.c - every option has bounds, and a wrong one is an error that names the field, the
 * value and what would be right (P-6). Option structs of another age than the library's are in
 * version_test.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "option_support.h"

#include <math.h>

/* True if the text holds that number or word, not as a part of a longer one; 1,024 is 1024. */
static bool mentions(const char *text, const char *word)
{
    char plain[512];
    size_t length = 0;
    for (size_t i = 0; text[i] != '\0' && length + 1 < sizeof(plain); i++) {
        const bool grouped = text[i] == ',' && text[i + 1] >= '0' && text[i + 1] <= '9' && i > 0 &&
                             text[i - 1] >= '0' && text[i - 1] <= '9';
        if (!grouped) {
            plain[length++] = text[i];
        }
    }
    plain[length] = '\0';
    static const char *const inside =
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    for (const char *at = strstr(plain, word); at != NULL; at = strstr(at + 1, word)) {
        const char after = at[strlen(word)];
        const bool begins = at == plain || strchr(inside, at[-1]) == NULL;
        if (begins && (after == '\0' || strchr(inside, after) == NULL)) {
            return true;
        }
    }
    return false;
}

static void assert_says(const weir_error *error, weir_status status, const char *path,
                        const char *value, const char *right)
{
    if (error->status != status || strcmp(error->path, path) != 0 ||
        !mentions(error->text, value) || !mentions(error->text, right)) {
        fprintf(stderr, "# expected %s: ... %s ... %s; got:\n# ", path, value, right);
        (void)weir_error_print(error);
    }
    assert_int_equal(status, error->status);
    assert_string_equal(path, error->path);
    assert_true(mentions(error->text, value));
    assert_true(mentions(error->text, right));
}

/* ---- the engine ---- */

#define ENGINE_CASE(field, given, value, right)                                                    \
    {                                                                                              \
        { .struct_size = sizeof(weir_engine_options), .field = (given) },                          \
            "weir_engine_options." #field, (value), (right)                                        \
    }

static void a_wrong_option_of_an_engine_names_field_value_and_what_is_right(void **state)
{
    (void)state;
    const struct {
        weir_engine_options options;
        const char *path, *value, *right;
    } cases[] = {
        ENGINE_CASE(threads, 1025, "1025", "1024"),
        ENGINE_CASE(threads, UINT32_MAX, "4294967295", "1024"),
        ENGINE_CASE(mailbox_max, 1000001, "1000001", "1000000"),
        ENGINE_CASE(overflow, (weir_overflow)5, "5", "WEIR_OVERFLOW_"),
        ENGINE_CASE(block_max, -5, "-5", "0"),
        ENGINE_CASE(batch_max, 65536, "65536", "65535"),
        ENGINE_CASE(processors_max, 16000001, "16000001", "16000000"),
        ENGINE_CASE(backoff_base, -7, "-7", "0"),
        ENGINE_CASE(backoff_max, -9, "-9", "3600000000000"),
        ENGINE_CASE(backoff_max, 3600 * WEIR_S + 1, "3600000000001", "3600000000000"),
        ENGINE_CASE(backoff_multiplier, 0.5, "0.5", "100"),
        ENGINE_CASE(backoff_multiplier, 1.0, "1", "100"),
        ENGINE_CASE(backoff_multiplier, 100.5, "100.5", "100"),
        ENGINE_CASE(backoff_jitter, -0.25, "-0.25", "1"),
        ENGINE_CASE(backoff_jitter, 1.5, "1.5", "1"),
        ENGINE_CASE(log_level, (weir_log_level)6, "6", "WEIR_LOG_"),
        ENGINE_CASE(crash_report, (weir_crash_report)3, "3", "WEIR_CRASH_REPORT_"),
        ENGINE_CASE(stuck_after, -WEIR_S, "-1000000000", "1000000"),
        ENGINE_CASE(stuck_after, WEIR_MS - 1, "999999", "1000000"),
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        weir_error error = WEIR_ERROR_INIT;
        assert_null(weir_engine_create(&cases[i].options, &error));
        assert_says(&error, WEIR_E_INVALID, cases[i].path, cases[i].value, cases[i].right);
        assert_null(weir_engine_create(&cases[i].options, NULL));
    }
}

static void numbers_that_are_none_and_delays_that_do_not_grow_are_refused(void **state)
{
    (void)state;
    const double bad[] = { (double)NAN, (double)INFINITY, -(double)INFINITY };
    for (size_t i = 0; i < 3; i++) {
        weir_error error = WEIR_ERROR_INIT;
        assert_null(weir_engine_create(WEIR_ENGINE(.backoff_multiplier = bad[i]), &error));
        assert_int_equal(WEIR_E_INVALID, error.status);
        assert_string_equal("weir_engine_options.backoff_multiplier", error.path);
        error = (weir_error)WEIR_ERROR_INIT;
        assert_null(weir_engine_create(WEIR_ENGINE(.backoff_jitter = bad[i]), &error));
        assert_int_equal(WEIR_E_INVALID, error.status);
        assert_string_equal("weir_engine_options.backoff_jitter", error.path);
    }
    const weir_ns pairs[][2] = {
        { 20 * WEIR_MS, 0 }, { 5 * WEIR_US, 5 * WEIR_US }, { 0, 10 * WEIR_US }, { WEIR_MS, WEIR_US }
    };
    for (size_t i = 0; i < 4; i++) {
        weir_error error = WEIR_ERROR_INIT;
        assert_null(weir_engine_create(
            WEIR_ENGINE(.backoff_base = pairs[i][0], .backoff_max = pairs[i][1]), &error));
        assert_int_equal(WEIR_E_INVALID, error.status);
        assert_non_null(strstr(error.path, "weir_engine_options.backoff_"));
    }
}

static void an_allocator_has_both_functions(void **state)
{
    (void)state;
    const weir_allocator none = { NULL, NULL, NULL };
    weir_error error = WEIR_ERROR_INIT;
    assert_null(weir_engine_create(WEIR_ENGINE(.allocator = &none), &error));
    assert_int_equal(WEIR_E_INVALID, error.status);
    assert_non_null(strstr(error.path, "weir_engine_options.allocator"));
}

static void the_bounds_themselves_are_legal(void **state)
{
    (void)state;
    weir_engine_destroy(test_engine_create(
        WEIR_ENGINE(.threads = 1, .mailbox_max = 1, .batch_max = 1, .processors_max = 1,
                    .backoff_base = 1, .backoff_max = 2, .backoff_multiplier = 1.001)));
    weir_engine_destroy(test_engine_create(
        WEIR_ENGINE(.threads = 1024, .mailbox_max = 1000000, .batch_max = 65535,
                    .processors_max = 16000000, .backoff_max = 3600 * WEIR_S,
                    .backoff_multiplier = 100, .backoff_jitter = 1, .overflow = WEIR_OVERFLOW_BLOCK,
                    .block_max = WEIR_FOREVER, .block_bytes_max = UINT64_C(1) << 40,
                    .log_level = WEIR_LOG_OFF)));
}

static weir_status handle_nothing(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    return WEIR_OK;
}

static void processors_max_bounds_what_lives_at_once(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.processors_max = 2));
    const weir_processor first =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = handle_nothing));
    (void)test_processor_add(engine, WEIR_PROCESSOR(.handler = handle_nothing));
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(
        0, weir_processor_add(engine, WEIR_PROCESSOR(.handler = handle_nothing), &error).id);
    assert_int_equal(WEIR_E_LIMIT, error.status);
    assert_true(mentions(error.text, "2"));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, weir_processor_stop(engine, first, 0, NULL));
    (void)test_processor_add(engine, WEIR_PROCESSOR(.handler = handle_nothing));
    (void)test_engine_end(engine);
}

/* ---- processors ---- */

#define PROCESSOR_CASE(field, given, value, right)                                                 \
    {                                                                                              \
        { .struct_size = sizeof(weir_processor_options),                                           \
          .handler = handle_nothing,                                                               \
          .field = (given) },                                                                      \
            "weir_processor_options." #field, (value), (right)                                     \
    }

static void a_wrong_option_of_a_processor_names_field_value_and_what_is_right(void **state)
{
    (void)state;
    const struct {
        weir_processor_options options;
        const char *path, *value, *right;
    } cases[] = {
        PROCESSOR_CASE(mailbox_max, 1000001, "1000001", "1000000"),
        PROCESSOR_CASE(mailbox_max, UINT32_MAX, "4294967295", "1000000"),
        PROCESSOR_CASE(overflow, (weir_overflow)5, "5", "WEIR_OVERFLOW_"),
        PROCESSOR_CASE(block_max, -5, "-5", "0"),
        PROCESSOR_CASE(batch_max, 65536, "65536", "65535"),
        PROCESSOR_CASE(dispatcher, "nowhere", "nowhere", "somewhere"),
    };
    weir_engine *engine = test_engine_create(NULL);
    (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("somewhere", "else", "")));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        weir_error error = WEIR_ERROR_INIT;
        assert_int_equal(0, weir_processor_add(engine, &cases[i].options, &error).id);
        assert_says(&error, WEIR_E_INVALID, cases[i].path, cases[i].value, cases[i].right);
        assert_int_equal(0, weir_processor_add(engine, &cases[i].options, NULL).id);
    }
    assert_int_equal(0, test_engine_counters(engine).processors);
    weir_engine_destroy(engine);
}

static void refuse_processor(weir_engine *engine, const weir_processor_options *options,
                             weir_status status, const char *path)
{
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(0, weir_processor_add(engine, options, &error).id);
    if (error.status != status || strstr(error.path, path) == NULL) {
        fprintf(stderr, "# expected %s; got:\n# ", path);
        (void)weir_error_print(&error);
    }
    assert_int_equal(status, error.status);
    assert_non_null(strstr(error.path, path));
    assert_true(error.text[0] != '\0');
}

static void a_processor_has_one_handler_a_free_name_and_a_living_parent(void **state)
{
    (void)state;
    static const weir_case rows[] = { { &number_type, handle_nothing } };
    static const weir_case holes[] = { { &number_type, NULL } };
    static const weir_case typeless[] = { { NULL, handle_nothing } };
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor gone =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = handle_nothing));
    (void)weir_processor_stop(engine, gone, WEIR_NOW, NULL);
    (void)test_processor_add(engine, WEIR_PROCESSOR(.name = "p", .handler = handle_nothing));
    static const char *const options = "weir_processor_options.";
    refuse_processor(engine, WEIR_PROCESSOR(.name = "none"), WEIR_E_INVALID, options);
    refuse_processor(engine, NULL, WEIR_E_INVALID, "weir_processor_options");
    refuse_processor(engine, WEIR_PROCESSOR(.handler = handle_nothing, .cases = WEIR_CASES(rows)),
                     WEIR_E_INVALID, options);
    refuse_processor(engine, WEIR_PROCESSOR(.cases = { NULL, 3 }), WEIR_E_INVALID, options);
    refuse_processor(engine, WEIR_PROCESSOR(.cases = WEIR_CASES(holes)), WEIR_E_INVALID,
                     "weir_processor_options.cases");
    refuse_processor(engine, WEIR_PROCESSOR(.cases = WEIR_CASES(typeless)), WEIR_E_INVALID,
                     "weir_processor_options.cases");
    refuse_processor(engine, WEIR_PROCESSOR(.name = "p", .handler = handle_nothing), WEIR_E_TAKEN,
                     "weir_processor_options.name");
    refuse_processor(engine, WEIR_PROCESSOR(.handler = handle_nothing, .parent = gone),
                     WEIR_E_INVALID, "weir_processor_options.parent");
    refuse_processor(engine, WEIR_PROCESSOR(.handler = handle_nothing, .parent = { 12345 }),
                     WEIR_E_INVALID, "weir_processor_options.parent");
    assert_int_equal(1, test_engine_counters(engine).processors);
    weir_engine_destroy(engine);
}

static void of_many_processors_one_that_is_wrong_is_all_that_are(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor_options *many[] = {
        WEIR_PROCESSOR(.name = "a", .handler = handle_nothing),
        WEIR_PROCESSOR(.name = "b", .handler = handle_nothing, .batch_max = 65536),
        WEIR_PROCESSOR(.name = "c", .handler = handle_nothing),
    };
    weir_processor out[3] = { { 0 } };
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(WEIR_E_INVALID, weir_processor_add_many(engine, many, 3, out, &error));
    assert_non_null(strstr(error.path, "batch_max"));
    assert_true(mentions(error.text, "65536"));
    assert_int_equal(0, weir_processor_find(engine, "a").id);
    many[1] = WEIR_PROCESSOR(.name = "a", .handler = handle_nothing); /* taken by the first */
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(WEIR_E_TAKEN, weir_processor_add_many(engine, many, 3, out, &error));
    assert_int_equal(0, test_engine_counters(engine).processors);
    many[1] = WEIR_PROCESSOR(.name = "b", .handler = handle_nothing);
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(WEIR_OK, weir_processor_add_many(engine, many, 3, out, &error));
    assert_int_equal(out[0].id, weir_processor_find(engine, "a").id);
    assert_int_equal(out[2].id, weir_processor_find(engine, "c").id);
    assert_int_equal(WEIR_E_INVALID, weir_processor_add_many(engine, NULL, 3, out, NULL));
    assert_int_equal(WEIR_E_INVALID, weir_processor_add_many(engine, many, 3, NULL, NULL));
    weir_engine_destroy(engine);
}

/* ---- threads ---- */

static const int32_t negative_core[] = { -3 };

#define THREAD_CASE(path, value, right, ...)                                                       \
    {                                                                                              \
        { .struct_size = sizeof(weir_thread_options), __VA_ARGS__ }, "weir_thread_options." path,  \
            (value), (right)                                                                       \
    }

static void a_wrong_option_of_a_thread_names_field_value_and_what_is_right(void **state)
{
    (void)state;
    const struct {
        weir_thread_options options;
        const char *path, *value, *right;
    } cases[] = {
        THREAD_CASE("idle", "7", "WEIR_IDLE_", .idle = (weir_idle)7),
        THREAD_CASE("idle_spin_max", "-5", "0", .idle_spin_max = -5),
        THREAD_CASE("idle_sleep", "-5", "0", .idle_sleep = -5),
        THREAD_CASE("cores", "-3", "0", .cores = negative_core, .core_count = 1),
        THREAD_CASE("priority", "4", "WEIR_PRIORITY_", .priority = (weir_priority)4),
        THREAD_CASE("priority_value", "100", "99", .priority = WEIR_PRIORITY_FIFO,
                    .priority_value = 100),
        THREAD_CASE("priority_value", "0", "1", .priority = WEIR_PRIORITY_ROUND_ROBIN),
        THREAD_CASE("priority_value", "20", "19", .priority = WEIR_PRIORITY_NICE,
                    .priority_value = 20),
        THREAD_CASE("priority_value", "-21", "-20", .priority = WEIR_PRIORITY_NICE,
                    .priority_value = -21),
    };
    weir_engine *engine = test_engine_create(NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        weir_error error = WEIR_ERROR_INIT;
        assert_int_equal(0, weir_thread_add(engine, &cases[i].options, &error).id);
        assert_says(&error, WEIR_E_INVALID, cases[i].path, cases[i].value, cases[i].right);
        assert_int_equal(0, weir_thread_add(engine, &cases[i].options, NULL).id);
    }
    assert_int_equal(0, test_engine_counters(engine).threads);
    weir_engine_destroy(engine);
}

static void a_thread_serves_up_to_64_dispatchers_and_has_the_cores_it_counts(void **state)
{
    (void)state;
    char texts[65][8];
    const char *names[66] = { NULL };
    for (size_t i = 0; i < 65; i++) {
        (void)snprintf(texts[i], sizeof(texts[i]), "d%zu", i);
    }
    weir_engine *engine = test_engine_create(NULL);
    weir_error error = WEIR_ERROR_INIT;
    (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = names)); /* none: for services */
    for (size_t i = 0; i < 65; i++) {
        names[i] = texts[i];
    }
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(0, weir_thread_add(engine, WEIR_THREAD(.dispatchers = names), &error).id);
    assert_int_equal(WEIR_E_INVALID, error.status);
    assert_string_equal("weir_thread_options.dispatchers", error.path);
    assert_true(mentions(error.text, "64"));
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(0, weir_thread_add(engine, WEIR_THREAD(.core_count = 2), &error).id);
    assert_int_equal(WEIR_E_INVALID, error.status);
    assert_non_null(strstr(error.path, "weir_thread_options.core"));
    assert_int_equal(0, test_engine_counters(engine).dispatchers);
    names[64] = NULL;
    (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = names, .idle_spin_max = WEIR_NOW));
    assert_int_equal(64, test_engine_counters(engine).dispatchers);
    weir_engine_destroy(engine);
}

/* ---- assignments and dispatchers ---- */

#define ASSIGNMENT_CASE(path, value, right, ...)                                                   \
    {                                                                                              \
        { .struct_size = sizeof(weir_assignment_options), __VA_ARGS__ },                           \
            "weir_assignment_options." path, (value), (right)                                      \
    }

static void a_wrong_assignment_names_field_value_and_what_is_right(void **state)
{
    (void)state;
    static const char *const two[] = { "a", "b", NULL };
    static const uint32_t counts[] = { 1, 1025 };
    const struct {
        weir_assignment_options options;
        const char *path, *value, *right;
    } cases[] = {
        ASSIGNMENT_CASE("strategy", "0", "WEIR_STRATEGY_", .dispatchers = two),
        ASSIGNMENT_CASE("strategy", "4", "WEIR_STRATEGY_", .strategy = (weir_strategy)4,
                        .dispatchers = two),
        ASSIGNMENT_CASE("threads", "1025", "1024", .strategy = WEIR_STRATEGY_SHARED,
                        .dispatchers = two, .threads = 1025),
        ASSIGNMENT_CASE("idle", "7", "WEIR_IDLE_", .strategy = WEIR_STRATEGY_SHARED,
                        .dispatchers = two, .idle = (weir_idle)7),
        ASSIGNMENT_CASE("counts", "1025", "1024", .strategy = WEIR_STRATEGY_PER_DISPATCHER,
                        .dispatchers = two, .counts = counts),
    };
    weir_engine *engine = test_engine_create(NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        weir_error error = WEIR_ERROR_INIT;
        assert_int_equal(WEIR_E_INVALID, weir_assign_strategy(engine, &cases[i].options, &error));
        assert_says(&error, WEIR_E_INVALID, cases[i].path, cases[i].value, cases[i].right);
    }
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(
        WEIR_E_INVALID,
        weir_assign_strategy(engine, WEIR_ASSIGNMENT(.strategy = WEIR_STRATEGY_SHARED), &error));
    assert_string_equal("weir_assignment_options.dispatchers", error.path);
    assert_int_equal(WEIR_E_INVALID, weir_assign_strategy(engine, NULL, NULL));
    assert_int_equal(0, test_engine_counters(engine).threads);
    weir_engine_destroy(engine);
}

#define DISPATCHER_CASE(field, given, value, right)                                                \
    {                                                                                              \
        { .struct_size = sizeof(weir_dispatcher_options), .name = "api", .field = (given) },       \
            "weir_dispatcher_options." #field, (value), (right)                                    \
    }

static void a_wrong_option_of_a_dispatcher_names_field_value_and_what_is_right(void **state)
{
    (void)state;
    const struct {
        weir_dispatcher_options options;
        const char *path, *value, *right;
    } cases[] = {
        DISPATCHER_CASE(batch_max, 65536, "65536", "65535"),
        DISPATCHER_CASE(backoff_base, -5, "-5", "0"),
        DISPATCHER_CASE(backoff_max, 3600 * WEIR_S + 1, "3600000000001", "3600000000000"),
        DISPATCHER_CASE(backoff_multiplier, 0.5, "0.5", "100"),
        { { .struct_size = sizeof(weir_dispatcher_options), .name = "nowhere" },
          "weir_dispatcher_options.name",
          "nowhere",
          "api" },
    };
    weir_engine *engine = test_engine_create(NULL);
    (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("api", "batch")));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        weir_error error = WEIR_ERROR_INIT;
        assert_int_equal(WEIR_E_INVALID, weir_dispatcher_tune(engine, &cases[i].options, &error));
        assert_says(&error, WEIR_E_INVALID, cases[i].path, cases[i].value, cases[i].right);
    }
    assert_int_equal(
        WEIR_OK, weir_dispatcher_tune(engine, WEIR_DISPATCHER(.name = "api", .fair = true), NULL));
    assert_int_equal(WEIR_E_INVALID, weir_dispatcher_tune(engine, NULL, NULL));
    test_engine_start(engine);
    assert_int_equal(WEIR_E_INVALID, /* before start only */
                     weir_dispatcher_tune(engine, WEIR_DISPATCHER(.name = "api"), NULL));
    (void)test_engine_end(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_option_of_an_engine_names_field_value_and_what_is_right),
        cmocka_unit_test(numbers_that_are_none_and_delays_that_do_not_grow_are_refused),
        cmocka_unit_test(an_allocator_has_both_functions),
        cmocka_unit_test(the_bounds_themselves_are_legal),
        cmocka_unit_test(processors_max_bounds_what_lives_at_once),
        cmocka_unit_test(a_wrong_option_of_a_processor_names_field_value_and_what_is_right),
        cmocka_unit_test(a_processor_has_one_handler_a_free_name_and_a_living_parent),
        cmocka_unit_test(of_many_processors_one_that_is_wrong_is_all_that_are),
        cmocka_unit_test(a_wrong_option_of_a_thread_names_field_value_and_what_is_right),
        cmocka_unit_test(a_thread_serves_up_to_64_dispatchers_and_has_the_cores_it_counts),
        cmocka_unit_test(a_wrong_assignment_names_field_value_and_what_is_right),
        cmocka_unit_test(a_wrong_option_of_a_dispatcher_names_field_value_and_what_is_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
