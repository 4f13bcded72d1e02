/*
 * log_test.c - where weir's own sentences go: one hook with level, component, text and fields; by
 * default one line of logfmt on stderr; a level that can be asked for and changed while it runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "log_support.h"
#include "stderr_support.h"

#include <regex.h>

static weir_engine *create_logging(test_log *log, weir_log_level level)
{
    test_log_init(log);
    return test_engine_create(WEIR_ENGINE(.name = "logged", .log = test_log_hook,
                                          .log_context = log, .log_level = level));
}

static void the_hook_gets_level_component_text_and_fields(void **state)
{
    (void)state;
    test_log log;
    weir_engine *engine = create_logging(&log, WEIR_LOG_DEFAULT);
    const weir_log_field fields[] = { { "left", "3" }, { "why", "no time" } };
    struct timespec before, after;
    (void)clock_gettime(CLOCK_REALTIME, &before);
    weir_log_write(engine, WEIR_LOG_WARNING, "my part", "what happened", fields, 2);
    (void)clock_gettime(CLOCK_REALTIME, &after);
    weir_engine_destroy(engine);
    assert_int_equal(1, log.count);
    const test_log_line *line = &log.lines[0];
    assert_int_equal(WEIR_LOG_WARNING, line->level);
    assert_int_equal(0, line->status);
    assert_int_equal(0, line->suppressed);
    assert_string_equal("logged", line->engine);
    assert_string_equal("my part", line->component);
    assert_string_equal("what happened", line->text);
    assert_string_equal("left=3 why=no time", line->fields);
    assert_true(line->wall_time / WEIR_S >= before.tv_sec - 1);
    assert_true(line->wall_time / WEIR_S <= after.tv_sec + 1);
}

static void a_level_below_the_engines_is_not_said(void **state)
{
    (void)state;
    static const weir_log_level levels[] = { WEIR_LOG_DEBUG, WEIR_LOG_INFO, WEIR_LOG_WARNING,
                                             WEIR_LOG_ERROR };
    for (int set = WEIR_LOG_DEBUG; set <= WEIR_LOG_OFF; set++) {
        test_log log;
        weir_engine *engine = create_logging(&log, (weir_log_level)set);
        size_t expected = 0;
        for (size_t i = 0; i < 4; i++) {
            const bool said = (int)levels[i] >= set;
            assert_int_equal(said, weir_log_enabled(engine, levels[i]));
            const size_t before = test_log_count(&log);
            weir_log_write(engine, levels[i], "c", "t", NULL, 0);
            assert_int_equal(before + (said ? 1 : 0), test_log_count(&log));
            expected += said;
        }
        assert_int_equal(WEIR_LOG_OFF - set, expected);
        const size_t before = test_log_count(&log);
        weir_log_write(engine, WEIR_LOG_OFF, "c", "no entry has that level", NULL, 0);
        weir_log_write(engine, (weir_log_level)99, "c", "nor that", NULL, 0);
        assert_int_equal(before, test_log_count(&log));
        weir_engine_destroy(engine);
    }
}

static void the_default_level_is_warning(void **state)
{
    (void)state;
    test_log log;
    weir_engine *engine = create_logging(&log, WEIR_LOG_DEFAULT);
    assert_false(weir_log_enabled(engine, WEIR_LOG_INFO));
    assert_true(weir_log_enabled(engine, WEIR_LOG_WARNING));
    weir_engine_destroy(engine);
}

static void a_level_that_is_set_while_it_runs_takes_effect_at_once(void **state)
{
    (void)state;
    test_log log;
    weir_engine *engine = create_logging(&log, WEIR_LOG_OFF);
    test_engine_start(engine);
    weir_log_write(engine, WEIR_LOG_ERROR, "c", "not said", NULL, 0);
    weir_log_level_set(engine, WEIR_LOG_DEBUG);
    assert_true(weir_log_enabled(engine, WEIR_LOG_DEBUG));
    weir_log_write(engine, WEIR_LOG_DEBUG, "c", "is said", NULL, 0);
    weir_log_level_set(engine, WEIR_LOG_ERROR);
    weir_log_write(engine, WEIR_LOG_WARNING, "c", "not said", NULL, 0);
    weir_log_level_set(engine, WEIR_LOG_DEFAULT);
    assert_true(weir_log_enabled(engine, WEIR_LOG_WARNING));
    assert_false(weir_log_enabled(engine, WEIR_LOG_INFO));
    weir_log_level_set(engine, (weir_log_level)77); /* nonsense changes nothing */
    assert_true(weir_log_enabled(engine, WEIR_LOG_WARNING));
    assert_false(weir_log_enabled(engine, WEIR_LOG_INFO));
    assert_int_equal(0, test_log_matches(&log, WEIR_LOG_ERROR, "not said", ""));
    assert_int_equal(1, test_log_matches(&log, WEIR_LOG_DEBUG, "is said", ""));
    assert_int_equal(0, test_log_matches(&log, WEIR_LOG_WARNING, "not said", ""));
    weir_log_level_set(engine, WEIR_LOG_OFF);
    (void)test_engine_end(engine);
}

/* ---- one at a time ---- */

enum { WRITERS = 4, LINES = 500 };

static void *write_lines(void *engine)
{
    for (int i = 0; i < LINES; i++) {
        weir_log_write(engine, WEIR_LOG_ERROR, "writer", "line", NULL, 0);
    }
    return NULL;
}

static void entries_come_one_at_a_time_and_the_applications_are_never_left_out(void **state)
{
    (void)state;
    test_log log;
    weir_engine *engine = create_logging(&log, WEIR_LOG_DEFAULT);
    pthread_t threads[WRITERS];
    for (size_t i = 0; i < WRITERS; i++) {
        assert_int_equal(0, pthread_create(&threads[i], NULL, write_lines, engine));
    }
    for (size_t i = 0; i < WRITERS; i++) {
        assert_int_equal(0, pthread_join(threads[i], NULL));
    }
    weir_engine_destroy(engine);
    assert_int_equal(0, atomic_load(&log.overlaps));
    assert_int_equal(WRITERS * LINES, log.count);
}

static weir_status handle_none(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    atomic_fetch_add((atomic_uint_least64_t *)state, 1);
    return WEIR_UNHANDLED;
}

static void what_a_load_repeats_is_said_once_a_second_and_counted(void **state)
{
    (void)state;
    test_log log;
    weir_engine *engine = create_logging(&log, WEIR_LOG_DEFAULT);
    atomic_uint_least64_t handled = 0;
    const weir_processor to = test_processor_add(
        engine, WEIR_PROCESSOR(.name = "deaf", .handler = handle_none, .argument = &handled));
    const weir_ns begin = test_now();
    for (uint64_t n = 0; n < 5000; n++) {
        assert_int_equal(WEIR_OK, test_post(engine, to, n));
    }
    test_engine_start(engine);
    TEST_UNTIL(atomic_load(&handled) == 5000);
    const uint64_t seconds = (uint64_t)((test_now() - begin) / WEIR_S);
    (void)test_engine_stop(engine);
    assert_int_equal(5000, test_engine_counters(engine).unhandled);
    weir_engine_destroy(engine);
    const size_t said = test_log_matches(&log, WEIR_LOG_WARNING, "deaf", "unhandled") +
                        test_log_matches(&log, WEIR_LOG_WARNING, "deaf", "not handled");
    assert_in_range(said, 1, seconds + 2);
}

/* ---- weir's own ---- */

static weir_status refuse_init(void *state, weir_turn *turn, void *argument)
{
    (void)state;
    (void)argument;
    return weir_turn_fail(turn, WEIR_E_USER - 1, "line 7 has no price");
}

static void a_failing_hook_is_said_with_its_component_status_and_sentence(void **state)
{
    (void)state;
    test_log log;
    weir_engine *engine = create_logging(&log, WEIR_LOG_DEFAULT);
    test_engine_start(engine);
    weir_error error = WEIR_ERROR_INIT;
    atomic_uint_least64_t handled = 0;
    const weir_processor to =
        weir_processor_add(engine,
                           WEIR_PROCESSOR(.name = "prices", .handler = handle_none,
                                          .argument = &handled, .init = refuse_init),
                           &error);
    test_error_none(&error);
    TEST_UNTIL(weir_processor_find(engine, "prices").id != to.id);
    (void)test_engine_stop(engine);
    weir_engine_destroy(engine);
    assert_int_equal(
        1, test_log_matches(&log, WEIR_LOG_ERROR, "processor prices", "line 7 has no price"));
    for (size_t i = 0; i < log.count && i < TEST_LOG_MAX; i++) {
        if (strstr(log.lines[i].component, "prices") != NULL) {
            assert_int_equal(WEIR_E_USER - 1, log.lines[i].status);
            assert_string_equal("logged", log.lines[i].engine);
        }
    }
}

/* With a sentence if the argument is one. */
static weir_status handle_badly(void *state, weir_turn *turn, const weir_event *event)
{
    (void)event;
    const char *why = state;
    return why != NULL ? weir_turn_fail(turn, WEIR_E_USER - 2, why) : WEIR_E_USER - 2;
}

static void a_failing_handler_is_said_with_its_processor_status_type_and_sentence(void **state)
{
    (void)state;
    static char why[] = "no such price";
    char *const whys[] = { why, NULL };
    for (size_t i = 0; i < 2; i++) {
        test_log log;
        weir_engine *engine = create_logging(&log, WEIR_LOG_DEFAULT);
        const weir_processor to = test_processor_add(
            engine, WEIR_PROCESSOR(.name = "till", .handler = handle_badly, .argument = whys[i]));
        assert_int_equal(WEIR_OK, test_post(engine, to, 1));
        test_engine_start(engine);
        TEST_UNTIL(test_engine_counters(engine).dead == 1);
        (void)test_engine_stop(engine);
        weir_engine_destroy(engine);
        assert_int_equal(1, log.count);
        assert_int_equal(WEIR_LOG_WARNING, log.lines[0].level);
        assert_int_equal(WEIR_E_USER - 2, log.lines[0].status);
        assert_string_equal("processor till", log.lines[0].component);
        assert_non_null(strstr(log.lines[0].fields, "type="));
        const char *reason = strstr(log.lines[0].fields, " reason=");
        assert_int_equal(whys[i] != NULL, reason != NULL);
        assert_true(reason == NULL || strcmp(reason, " reason=no such price") == 0);
    }
}

static weir_status handle_not(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    return WEIR_UNHANDLED;
}

static void an_event_that_nobody_handles_is_said_with_its_processor_status_and_type(void **state)
{
    (void)state;
    test_log log;
    weir_engine *engine = create_logging(&log, WEIR_LOG_DEFAULT);
    const weir_processor to =
        test_processor_add(engine, WEIR_PROCESSOR(.name = "deaf", .handler = handle_not));
    assert_int_equal(WEIR_OK, test_post(engine, to, 1));
    test_engine_start(engine);
    assert_int_equal(1, test_engine_stop(engine).handled);
    assert_int_equal(1, test_engine_counters(engine).unhandled);
    weir_engine_destroy(engine);
    assert_int_equal(1, log.count);
    assert_int_equal(WEIR_LOG_WARNING, log.lines[0].level);
    assert_int_equal(WEIR_UNHANDLED, log.lines[0].status);
    assert_string_equal("processor deaf", log.lines[0].component);
    assert_string_equal("type=test.number", log.lines[0].fields);
    assert_string_equal("logged", log.lines[0].engine);
}

/* A child that escalates, and so a parent that is restarted: three sentences within a second. */
static void what_follows_a_failure_is_said_beside_it(void **state)
{
    (void)state;
    static char why[] = "no such price";
    test_log log;
    weir_engine *engine = create_logging(&log, WEIR_LOG_DEFAULT);
    const weir_processor shop = test_processor_add(
        engine, WEIR_PROCESSOR(.name = "shop", .handler = handle_not, .on_failure = WEIR_RESTART));
    const weir_processor till = test_processor_add(
        engine, WEIR_PROCESSOR(.name = "till", .handler = handle_badly, .argument = why,
                               .parent = shop, .on_failure = WEIR_ESCALATE));
    assert_int_equal(WEIR_OK, test_post(engine, till, 1));
    test_engine_start(engine);
    TEST_UNTIL(test_engine_counters(engine).restarts == 1);
    (void)test_engine_stop(engine);
    weir_engine_destroy(engine);
    assert_int_equal(1, test_log_matches(&log, WEIR_LOG_WARNING, "till", "its handler failed"));
    assert_int_equal(1, test_log_matches(&log, WEIR_LOG_WARNING, "till", "goes to its parent"));
    assert_int_equal(1, test_log_matches(&log, WEIR_LOG_WARNING, "shop", "it is restarted"));
}

/* ---- the default: a line on stderr ---- */

/* Runs `speak` while stderr is a file; returns what was written. */
static void capture_stderr(void (*speak)(weir_engine *engine), char *out, size_t size)
{
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.name = "plain"));
    const test_paper paper = test_hear();
    speak(engine);
    test_heard(paper, out, size);
    weir_engine_destroy(engine);
}

static void speak_plainly(weir_engine *engine)
{
    const weir_log_field fields[] = { { "core", "9" }, { "why", "no such core" } };
    weir_log_write(engine, WEIR_LOG_WARNING, "thread io", "runs unpinned", fields, 2);
    weir_log_write(engine, WEIR_LOG_ERROR, "engine", "stopped", NULL, 0);
    weir_log_write(engine, WEIR_LOG_INFO, "engine", "is not said", NULL, 0);
}

static void assert_matches(const char *text, const char *pattern)
{
    regex_t expression;
    assert_int_equal(0, regcomp(&expression, pattern, REG_EXTENDED | REG_NOSUB));
    const int result = regexec(&expression, text, 0, NULL, 0);
    regfree(&expression);
    if (result != 0) {
        fprintf(stderr, "# does not match: %s\n# text: %s\n", pattern, text);
    }
    assert_int_equal(0, result);
}

#define TIME "time=20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]\\.[0-9]{3}Z"

static void the_default_is_one_line_of_logfmt_on_stderr(void **state)
{
    (void)state;
    char text[2048];
    capture_stderr(speak_plainly, text, sizeof(text));
    assert_matches(text, "^" TIME " level=warning engine=plain component=\"thread io\" "
                         "msg=\"runs unpinned\" core=9 why=\"no such core\"\n" TIME
                         " level=error engine=plain component=engine msg=\"?stopped\"?\n$");
}

static void speak_awkwardly(weir_engine *engine)
{
    const weir_log_field fields[] = { { "path", "a=b" },
                                      { "empty", "" },
                                      { "said", "\"yes\"\t\\" } };
    weir_log_write(engine, WEIR_LOG_ERROR, "two\nlines", "he said \"no\"\nand left", fields, 3);
}

static void what_would_break_the_line_is_quoted_and_escaped(void **state)
{
    (void)state;
    char text[2048];
    capture_stderr(speak_awkwardly, text, sizeof(text));
    assert_matches(text, "^" TIME " level=error engine=plain component=\"[^\n]*\" "
                         "msg=\"he said \\\\\"no\\\\\"\\\\nand left\" path=\"a=b\" "
                         "empty=(\"\")? said=\"\\\\\"yes\\\\\"[^\n]*\"\n$");
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1); /* one line */
}

static void speak_at_length(weir_engine *engine)
{
    char lengthy[6000];
    memset(lengthy, 'x', sizeof(lengthy) - 1);
    lengthy[sizeof(lengthy) - 1] = '\0';
    weir_log_field fields[100];
    for (size_t i = 0; i < 100; i++) {
        fields[i] = (weir_log_field){ "key", lengthy };
    }
    weir_log_write(engine, WEIR_LOG_ERROR, lengthy, lengthy, fields, 100);
    weir_log_write(engine, WEIR_LOG_ERROR, NULL, NULL, NULL, 3); /* nothing is not a crash */
}

static void an_entry_that_is_too_long_is_still_a_line(void **state)
{
    (void)state;
    static char text[1 << 20];
    capture_stderr(speak_at_length, text, sizeof(text));
    assert_matches(text, "^" TIME " level=error engine=plain ");
    size_t newlines = 0;
    for (size_t i = 0; text[i] != '\0'; i++) {
        newlines += text[i] == '\n';
    }
    assert_in_range(newlines, 1, 2);
    assert_int_equal('\n', text[strlen(text) - 1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hook_gets_level_component_text_and_fields),
        cmocka_unit_test(a_level_below_the_engines_is_not_said),
        cmocka_unit_test(the_default_level_is_warning),
        cmocka_unit_test(a_level_that_is_set_while_it_runs_takes_effect_at_once),
        cmocka_unit_test(entries_come_one_at_a_time_and_the_applications_are_never_left_out),
        cmocka_unit_test(what_a_load_repeats_is_said_once_a_second_and_counted),
        cmocka_unit_test(a_failing_hook_is_said_with_its_component_status_and_sentence),
        cmocka_unit_test(a_failing_handler_is_said_with_its_processor_status_type_and_sentence),
        cmocka_unit_test(an_event_that_nobody_handles_is_said_with_its_processor_status_and_type),
        cmocka_unit_test(what_follows_a_failure_is_said_beside_it),
        cmocka_unit_test(the_default_is_one_line_of_logfmt_on_stderr),
        cmocka_unit_test(what_would_break_the_line_is_quoted_and_escaped),
        cmocka_unit_test(an_entry_that_is_too_long_is_still_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
