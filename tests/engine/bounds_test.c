/*
 * bounds_test.c - both sides of every bound of an option: the last value that is legal, the first
 * that is not, and that of several mistakes the first one is told. (What an error says:
 * options_test.c.)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "option_support.h"

enum { NAME_MAX_BYTES = 255, CORES_MAX = 1024 };

static char longest[NAME_MAX_BYTES + 1];  /* as long as a name may be */
static char too_long[NAME_MAX_BYTES + 2]; /* one more */

static int make_names(void **state)
{
    (void)state;
    memset(longest, 'n', NAME_MAX_BYTES);
    memset(too_long, 'n', NAME_MAX_BYTES + 1);
    return 0;
}

static void assert_refused(const weir_error *error, const char *path, const char *word)
{
    assert_int_equal(WEIR_E_INVALID, error->status);
    assert_string_equal(path, error->path);
    assert_non_null(strstr(error->text, word));
}

static void a_name_has_at_most_255_bytes(void **state)
{
    (void)state;
    weir_error error = WEIR_ERROR_INIT;
    assert_null(weir_engine_create(WEIR_ENGINE(.name = too_long), &error));
    assert_refused(&error, "weir_engine_options.name", "at most 255 bytes");
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.name = longest));
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(0, weir_thread_add(engine, WEIR_THREAD(.name = too_long), &error).id);
    assert_refused(&error, "weir_thread_options.name", "at most 255 bytes");
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(
        0,
        weir_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("a", too_long)), &error).id);
    assert_refused(&error, "weir_thread_options.dispatchers", "at most 255 bytes");
    (void)test_thread_add(engine, WEIR_THREAD(.name = longest, .dispatchers = WEIR_NAMES(longest)));
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(0, weir_processor_add(engine,
                                           WEIR_PROCESSOR(.name = too_long, .dispatcher = longest,
                                                          .handler = test_recorder_handle),
                                           &error)
                            .id);
    assert_refused(&error, "weir_processor_options.name", "at most 255 bytes");
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(
        0,
        weir_processor_add(
            engine, WEIR_PROCESSOR(.dispatcher = too_long, .handler = test_recorder_handle), &error)
            .id);
    assert_refused(&error, "weir_processor_options.dispatcher", "at most 255 bytes");
    const weir_processor p =
        test_processor_add(engine, WEIR_PROCESSOR(.name = longest, .dispatcher = longest,
                                                  .handler = test_recorder_handle));
    assert_int_equal(p.id, weir_processor_find(engine, longest).id);
    weir_engine_destroy(engine);
}

static void a_dispatcher_is_named_once_in_a_row(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(
        0,
        weir_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("a", "b", "a")), &error).id);
    assert_refused(&error, "weir_thread_options.dispatchers", "\"a\" twice");
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(
        0,
        weir_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("a", "b", "b")), &error).id);
    assert_refused(&error, "weir_thread_options.dispatchers", "\"b\" twice");
    assert_int_equal(0, test_engine_counters(engine).threads);
    weir_engine_destroy(engine);
}

static void a_thread_has_at_most_1024_cores(void **state)
{
    (void)state;
    static int32_t cores[CORES_MAX + 1]; /* all of them core 0 */
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(
        0, weir_thread_add(engine, WEIR_THREAD(.cores = cores, .core_count = CORES_MAX + 1), &error)
               .id);
    assert_refused(&error, "weir_thread_options.core_count", "1024");
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(0, weir_thread_add(engine, WEIR_THREAD(.core_count = 1), &error).id);
    assert_refused(&error, "weir_thread_options.cores", "is NULL");
    cores[CORES_MAX - 1] = -1; /* the last one is looked at, too */
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(
        0,
        weir_thread_add(engine, WEIR_THREAD(.cores = cores, .core_count = CORES_MAX), &error).id);
    assert_refused(&error, "weir_thread_options.cores", "-1");
    cores[CORES_MAX - 1] = 0;
    (void)test_thread_add(engine, WEIR_THREAD(.cores = cores, .core_count = CORES_MAX));
    weir_engine_destroy(engine);
}

static void the_bounds_of_a_threads_options_are_legal(void **state)
{
    (void)state;
    const weir_thread_options legal[] = {
        { .struct_size = sizeof(legal[0]), .idle_spin_max = WEIR_S },
        { .struct_size = sizeof(legal[0]), .idle_spin_max = 1 },
        { .struct_size = sizeof(legal[0]), .idle_spin_max = WEIR_NOW },
        { .struct_size = sizeof(legal[0]), .idle_sleep = 3600 * WEIR_S },
        { .struct_size = sizeof(legal[0]), .idle = WEIR_IDLE_NOOP, .external = true },
        { .struct_size = sizeof(legal[0]), .priority = WEIR_PRIORITY_NICE, .priority_value = 19 },
        { .struct_size = sizeof(legal[0]), .priority = WEIR_PRIORITY_NICE, .priority_value = -20 },
        { .struct_size = sizeof(legal[0]), .priority = WEIR_PRIORITY_FIFO, .priority_value = 1 },
        { .struct_size = sizeof(legal[0]), .priority = WEIR_PRIORITY_FIFO, .priority_value = 99 },
        { .struct_size = sizeof(legal[0]),
          .priority = WEIR_PRIORITY_ROUND_ROBIN,
          .priority_value = 99 },
    };
    weir_engine *engine = test_engine_create(NULL);
    for (size_t i = 0; i < sizeof(legal) / sizeof(legal[0]); i++) {
        (void)test_thread_add(engine, &legal[i]);
    }
    const weir_thread_options wrong[] = {
        { .struct_size = sizeof(wrong[0]), .idle_spin_max = WEIR_S + 1 },
        { .struct_size = sizeof(wrong[0]), .idle_sleep = 3600 * WEIR_S + 1 },
        { .struct_size = sizeof(wrong[0]), .priority = WEIR_PRIORITY_FIFO, .priority_value = 0 },
        { .struct_size = sizeof(wrong[0]),
          .priority = WEIR_PRIORITY_ROUND_ROBIN,
          .priority_value = 100 },
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        weir_error error = WEIR_ERROR_INIT;
        assert_int_equal(0, weir_thread_add(engine, &wrong[i], &error).id);
        assert_int_equal(WEIR_E_INVALID, error.status);
    }
    weir_engine_destroy(engine);
}

static void the_bounds_of_a_processors_options_are_legal(void **state)
{
    (void)state;
    static const weir_case no_type[] = { { &number_type, test_recorder_handle },
                                         { NULL, test_recorder_handle } };
    static const weir_case no_handler[] = { { &number_type, NULL } };
    weir_engine *engine = test_engine_create(NULL);
    (void)test_processor_add(engine,
                             WEIR_PROCESSOR(.handler = test_recorder_handle, .mailbox_max = 1000000,
                                            .batch_max = 65535, .block_max = WEIR_FOREVER,
                                            .overflow = WEIR_OVERFLOW_BLOCK));
    (void)test_processor_add(engine,
                             WEIR_PROCESSOR(.handler = test_recorder_handle, .mailbox_max = 1,
                                            .batch_max = 1, .block_max = 1));
    const weir_processor_options wrong[] = {
        { .handler = test_recorder_handle, .mailbox_max = 1000001 },
        { .handler = test_recorder_handle, .batch_max = 65536 },
        { .handler = test_recorder_handle, .block_max = -2 },
        { .handler = test_recorder_handle, .state_size = ((size_t)1 << 40) + 1 },
        { .handler = test_recorder_handle, .overflow = (weir_overflow)-1 },
        { .cases = WEIR_CASES(no_type) },
        { .cases = WEIR_CASES(no_handler) },
    };
    static const char *const words[] = {
        "mailbox_max: is 1000001, must be 1 to 1000000 (0 = the default, 10000)",
        "batch_max: is 65536, must be 1 to 65535 (0 = the default, 64)",
        "block_max: is -2 ns, must be 1 ns to 9223372036854775807 ns (0 = the default, 1000000000",
        "state_size: is more",
        "overflow: is 0",
        "cases: row 1 has no type",
        "cases: row 0 has no handler",
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        weir_processor_options options = wrong[i];
        weir_error error = WEIR_ERROR_INIT;
        char text[600];
        options.struct_size = sizeof(options);
        assert_int_equal(0, weir_processor_add(engine, &options, &error).id);
        assert_int_equal(WEIR_E_INVALID, error.status);
        (void)weir_error_format(&error, text, sizeof(text));
        assert_non_null(strstr(text, words[i]));
    }
    weir_engine_destroy(engine);
}

#define ENGINE_SAYS(field, given, sentence)                                                        \
    {                                                                                              \
        { .struct_size = sizeof(weir_engine_options), .field = (given) },                          \
            "weir_engine_options." #field ": " sentence " (WEIR_E_INVALID)"                        \
    }

static void an_error_says_the_bounds_and_the_default(void **state)
{
    (void)state;
    const struct {
        weir_engine_options options;
        const char *sentence;
    } cases[] = {
        ENGINE_SAYS(threads, 1025, "is 1025, must be 1 to 1024 (0 = the default, 1)"),
        ENGINE_SAYS(mailbox_max, 1000001,
                    "is 1000001, must be 1 to 1000000 (0 = the default, 10000)"),
        ENGINE_SAYS(block_max, -5,
                    "is -5 ns, must be 1 ns to 9223372036854775807 ns (0 = the default, "
                    "1000000000 ns)"),
        ENGINE_SAYS(batch_max, 65536, "is 65536, must be 1 to 65535 (0 = the default, 64)"),
        ENGINE_SAYS(processors_max, 16000001,
                    "is 16000001, must be 1 to 16000000 (0 = the default, 2000000)"),
        ENGINE_SAYS(block_bytes_max, UINT64_MAX,
                    "is 18446744073709551615, must be 1 to 9223372036854775807 (0 = the default, "
                    "268435456)"),
        ENGINE_SAYS(backoff_base, -1,
                    "is -1 ns, must be 1 ns to 3600000000000 ns (0 = the default, 10000 ns)"),
        ENGINE_SAYS(backoff_max, 3600 * WEIR_S + 1,
                    "is 3600000000001 ns, must be 1 ns to 3600000000000 ns (0 = the default, "
                    "10000000 ns)"),
        ENGINE_SAYS(backoff_multiplier, 1.0,
                    "is 1, must be more than 1 and at most 100 (0 = the default, 1.5)"),
        ENGINE_SAYS(backoff_jitter, 1.5,
                    "is 1.5, must be more than 0 and at most 1 (0 = the default, 0)"),
        ENGINE_SAYS(overflow, (weir_overflow)5, "is 5, must be one of WEIR_OVERFLOW_..."),
        ENGINE_SAYS(overflow, (weir_overflow)-1, "is 0, must be one of WEIR_OVERFLOW_..."),
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        weir_error error = WEIR_ERROR_INIT;
        char text[600];
        assert_null(weir_engine_create(&cases[i].options, &error));
        (void)weir_error_format(&error, text, sizeof(text));
        assert_string_equal(cases[i].sentence, text);
    }
}

static void of_several_mistakes_the_first_one_is_told(void **state)
{
    (void)state;
    weir_error error = WEIR_ERROR_INIT;
    assert_null(weir_engine_create(
        WEIR_ENGINE(.name = too_long, .threads = 5000, .mailbox_max = 2000000, .block_max = -5,
                    .backoff_multiplier = 0.1, .log_level = (weir_log_level)77),
        &error));
    assert_refused(&error, "weir_engine_options.name", "255");
    error = (weir_error)WEIR_ERROR_INIT;
    assert_null(weir_engine_create(
        WEIR_ENGINE(.block_max = -5, .backoff_base = -5, .backoff_multiplier = 0.1), &error));
    assert_refused(&error, "weir_engine_options.block_max", "-5");
    error = (weir_error)WEIR_ERROR_INIT;
    assert_null(weir_engine_create(
        WEIR_ENGINE(.backoff_multiplier = 0.1, .backoff_jitter = 7, .backoff_base = WEIR_S),
        &error));
    assert_refused(&error, "weir_engine_options.backoff_multiplier", "0.1");
    weir_engine *engine = test_engine_create(NULL);
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(0, weir_thread_add(engine,
                                        WEIR_THREAD(.idle_sleep = -5, .core_count = 7,
                                                    .priority = (weir_priority)9),
                                        &error)
                            .id);
    assert_refused(&error, "weir_thread_options.idle_sleep", "-5");
    weir_engine_destroy(engine);
}

static void a_back_off_begins_below_its_longest_delay(void **state)
{
    (void)state;
    weir_error error = WEIR_ERROR_INIT;
    assert_null(
        weir_engine_create(WEIR_ENGINE(.backoff_base = WEIR_MS, .backoff_max = WEIR_MS), &error));
    assert_refused(&error, "weir_engine_options.backoff_base", "1000000");
    weir_engine_destroy(
        test_engine_create(WEIR_ENGINE(.backoff_base = WEIR_MS, .backoff_max = WEIR_MS + 1)));
}

/* ---- no engine ---- */

static void a_call_without_an_engine_says_which(void **state)
{
    (void)state;
    const weir_processor_options options = { .struct_size = sizeof(options),
                                             .handler = test_recorder_handle };
    const weir_processor_options *const list[] = { &options };
    weir_processor out = { 7 };
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(0, weir_processor_add(NULL, &options, &error).id);
    assert_refused(&error, "weir_processor_add.engine", "no usable engine");
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(WEIR_E_INVALID, weir_processor_add_many(NULL, list, 1, &out, &error));
    assert_refused(&error, "weir_processor_add_many", "needs an engine");
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(0, weir_thread_add(NULL, NULL, &error).id);
    assert_refused(&error, "weir_thread_add.engine", "no usable engine");
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(0, weir_signal_open(NULL, out, 0, &error).id);
    assert_refused(&error, "weir_signal_open.engine", "no usable engine");
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(WEIR_E_INVALID, weir_engine_start(NULL, &error));
    assert_refused(&error, "weir_engine_start.engine", "no usable engine");
}

static void an_unknown_dispatcher_is_told_with_the_valid_ones_or_that_there_are_none(void **state)
{
    (void)state;
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = test_engine_create(NULL);
    assert_int_equal(
        0, weir_processor_add(
               engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .dispatcher = "x"), &error)
               .id);
    assert_string_equal("is \"x\", which no thread serves; valid: none yet, add a thread first",
                        error.text);
    (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("a", "")));
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(
        0, weir_processor_add(
               engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .dispatcher = "x"), &error)
               .id);
    assert_string_equal("is \"x\", which no thread serves; valid: \"a\", \"\"", error.text);
    weir_engine_destroy(engine);
}

static void many_processors_need_options_and_a_place(void **state)
{
    (void)state;
    const weir_processor_options options = { .struct_size = sizeof(options),
                                             .handler = test_recorder_handle };
    const weir_processor_options *const list[] = { &options };
    weir_processor out = { 7 };
    weir_engine *engine = test_engine_create(NULL);
    assert_int_equal(WEIR_E_INVALID, weir_processor_add_many(engine, NULL, 1, &out, NULL));
    assert_int_equal(WEIR_E_INVALID, weir_processor_add_many(engine, list, 1, NULL, NULL));
    assert_int_equal(WEIR_E_INVALID, weir_processor_add_many(engine, list, 16000001, &out, NULL));
    assert_int_equal(7, out.id);
    assert_int_equal(WEIR_OK, weir_processor_add_many(engine, list, 0, &out, NULL));
    assert_int_equal(7, out.id);
    assert_int_equal(0, test_engine_counters(engine).processors);
    weir_engine_destroy(engine);
}

/* ---- assignments ---- */

static void a_strategy_gives_no_thread_more_than_64_dispatchers(void **state)
{
    (void)state;
    enum { NAMES = 130 };
    char texts[NAMES][8];
    const char *names[NAMES + 1] = { NULL };
    for (size_t i = 0; i < NAMES; i++) {
        (void)snprintf(texts[i], sizeof(texts[i]), "d%zu", i);
        names[i] = texts[i];
    }
    weir_engine *engine = test_engine_create(NULL);
    weir_error error = WEIR_ERROR_INIT;
    names[65] = NULL;
    assert_int_equal(WEIR_E_LIMIT,
                     weir_assign_strategy(engine,
                                          WEIR_ASSIGNMENT(.strategy = WEIR_STRATEGY_SHARED,
                                                          .dispatchers = names, .threads = 2),
                                          &error));
    assert_string_equal("weir_assignment_options", error.path);
    assert_non_null(strstr(error.text, "2 threads with up to 65 dispatchers"));
    names[65] = texts[65];
    names[129] = NULL;
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(WEIR_E_LIMIT,
                     weir_assign_strategy(engine,
                                          WEIR_ASSIGNMENT(.strategy = WEIR_STRATEGY_PARTITION,
                                                          .dispatchers = names, .threads = 2),
                                          &error));
    assert_non_null(strstr(error.text, "up to 65"));
    assert_int_equal(0, test_engine_counters(engine).threads);
    names[128] = NULL; /* 64 each */
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(WEIR_OK,
                     weir_assign_strategy(engine,
                                          WEIR_ASSIGNMENT(.strategy = WEIR_STRATEGY_PARTITION,
                                                          .dispatchers = names, .threads = 2),
                                          &error));
    test_error_none(&error);
    assert_int_equal(2, test_engine_counters(engine).threads);
    assert_int_equal(128, test_engine_counters(engine).dispatchers);
    weir_engine_destroy(engine);
}

static void an_assignment_without_rows_or_engine_is_told(void **state)
{
    (void)state;
    static const char *const empty[] = { NULL };
    static const char *const *const no_rows[] = { NULL };
    static const char *const api[] = { "api", NULL };
    static const char *const *const second_empty[] = { api, empty, NULL };
    static const uint32_t none[] = { 0 };
    weir_engine *engine = test_engine_create(NULL);
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(WEIR_E_INVALID, weir_assign(engine, no_rows, &error));
    assert_refused(&error, "weir_assign.rows", "has 0 rows");
    /* An error that is set makes every call do nothing and answer it. */
    error.status = WEIR_E_LIMIT;
    assert_int_equal(WEIR_E_LIMIT, weir_assign(engine, WEIR_ROWS(api), &error));
    assert_int_equal(
        WEIR_E_LIMIT,
        weir_assign_strategy(
            engine, WEIR_ASSIGNMENT(.strategy = WEIR_STRATEGY_SHARED, .dispatchers = api), &error));
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(WEIR_E_INVALID, weir_assign(engine, second_empty, &error));
    assert_refused(&error, "weir_assign.rows", "row 1 is empty");
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(WEIR_E_INVALID, weir_assign(NULL, WEIR_ROWS(api), &error));
    assert_refused(&error, "weir_assign", "needs an engine");
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(WEIR_E_INVALID, weir_assign(engine, NULL, &error));
    assert_refused(&error, "weir_assign", "needs an engine and rows");
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(WEIR_E_INVALID, weir_assign_strategy(NULL, NULL, &error));
    assert_refused(&error, "weir_assign_strategy.engine", "no usable engine");
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(WEIR_E_INVALID,
                     weir_assign_strategy(engine,
                                          WEIR_ASSIGNMENT(.strategy = WEIR_STRATEGY_PER_DISPATCHER,
                                                          .dispatchers = api, .counts = none),
                                          &error));
    assert_refused(&error, "weir_assignment_options.counts", "has 0 for \"api\"");
    assert_int_equal(0, test_engine_counters(engine).threads);
    weir_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_has_at_most_255_bytes),
        cmocka_unit_test(a_dispatcher_is_named_once_in_a_row),
        cmocka_unit_test(a_thread_has_at_most_1024_cores),
        cmocka_unit_test(the_bounds_of_a_threads_options_are_legal),
        cmocka_unit_test(the_bounds_of_a_processors_options_are_legal),
        cmocka_unit_test(an_error_says_the_bounds_and_the_default),
        cmocka_unit_test(of_several_mistakes_the_first_one_is_told),
        cmocka_unit_test(a_back_off_begins_below_its_longest_delay),
        cmocka_unit_test(a_call_without_an_engine_says_which),
        cmocka_unit_test(an_unknown_dispatcher_is_told_with_the_valid_ones_or_that_there_are_none),
        cmocka_unit_test(many_processors_need_options_and_a_place),
        cmocka_unit_test(a_strategy_gives_no_thread_more_than_64_dispatchers),
        cmocka_unit_test(an_assignment_without_rows_or_engine_is_told),
    };
    return cmocka_run_group_tests(tests, make_names, NULL);
}
