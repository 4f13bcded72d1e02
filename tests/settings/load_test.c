/*
 * load_test.c - layers, and where each setting came from: built-in reference, files, environment,
 * overrides; which file is read if none is named.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "settings_support.h"

#include <sys/stat.h>

#include "settings/layers.h"

static char folder[] = "/tmp/weir-load-XXXXXX";

static void put(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_int_equal(strlen(text), fwrite(text, 1, strlen(text), file));
    assert_int_equal(0, fclose(file));
}

static int enter(void **state)
{
    (void)state;
    return mkdtemp(folder) != NULL && chdir(folder) == 0 ? 0 : 1;
}

static int clean(void **state)
{
    static const char *const names[] = { "a.conf",    "b.conf",     "application.conf",
                                         "weir.conf", "other.conf", "x.yaml" };
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)unlink(names[i]);
    }
    (void)unsetenv("WEIR_CONFIG");
    (void)unsetenv("WEIR__ENGINE__BATCH_MAX");
    (void)unsetenv("WEIR__ENGINE__THREAD_DISPATCHER_ASSIGNMENT");
    (void)unsetenv("WEIR__ENGINE__BTCH_MAX");
    (void)unsetenv("WEIR__");
    (void)unsetenv("WEIR__ENGINE__NAME");
    (void)unsetenv("BATCH");
    return 0;
}

static int leave(void **state)
{
    (void)clean(state);
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : 1;
}

static weir_config *load(const char *path, const weir_config_options *options)
{
    weir_error error = WEIR_ERROR_INIT;
    weir_config *config = weir_config_load(path, options, &error);
    test_error_none(&error);
    assert_non_null(config);
    return config;
}

static uint32_t batch_of(weir_config *config)
{
    weir_engine_options options = WEIR_ENGINE_OPTIONS_INIT;
    assert_int_equal(WEIR_OK, weir_config_engine_options(config, &options, NULL));
    weir_config_destroy(config);
    return options.batch_max;
}

/* {"key": "weir.engine.batch-max", "value": 3, "from": "a.conf:1:25"} */
static void assert_shown(const weir_config *config, const char *wanted)
{
    static char text[65536];
    assert_true(weir_config_show(config, text, sizeof(text)) < sizeof(text));
    if (strstr(text, wanted) == NULL) {
        fprintf(stderr, "# wanted %s in\n%s", wanted, text);
    }
    assert_non_null(strstr(text, wanted));
}

static void later_layers_win_and_each_value_knows_its_place(void **state)
{
    (void)state;
    put("a.conf", "weir.engine.batch-max = 3\nweir.engine.name = a\n");
    put("b.conf", "weir.engine.batch-max = 4");
    assert_int_equal(64, batch_of(load("/dev/null", NULL)));
    assert_int_equal(3, batch_of(load("a.conf", NULL)));
    assert_int_equal(4, batch_of(load("a.conf", WEIR_CONFIG(.files = WEIR_NAMES("b.conf")))));
    assert_int_equal(3, batch_of(load("b.conf", WEIR_CONFIG(.files = WEIR_NAMES("a.conf")))));
    assert_int_equal(0, setenv("WEIR__ENGINE__BATCH_MAX", "5", 1));
    assert_int_equal(5, batch_of(load("a.conf", NULL)));
    assert_int_equal(3, batch_of(load("a.conf", WEIR_CONFIG(.ignore_environment = true))));
    weir_config *config =
        load("a.conf", WEIR_CONFIG(.overrides = WEIR_NAMES("weir.engine.overflow=block")));
    assert_shown(config, "{\"key\": \"weir.engine.batch-max\", \"value\": 5, \"from\": "
                         "\"environment WEIR__ENGINE__BATCH_MAX\"}");
    assert_shown(config, "{\"key\": \"weir.engine.name\", \"value\": \"a\", \"from\": "
                         "\"a.conf:2:20\"}");
    assert_shown(config, "{\"key\": \"weir.engine.overflow\", \"value\": \"block\", \"from\": "
                         "\"-D\"}");
    assert_shown(config, "{\"key\": \"weir.engine.timers-max\", \"value\": 1000000, \"from\": "
                         "\"built-in\"}");
    weir_config_destroy(config);
    assert_int_equal(
        6,
        batch_of(load("a.conf", WEIR_CONFIG(.overrides = WEIR_NAMES("weir.engine.batch-max=6")))));
}

static void a_later_layer_feeds_the_substitutions_of_an_earlier_one(void **state)
{
    (void)state;
    put("a.conf", "n = 8\nweir.engine.batch-max = ${n}\n"
                  "weir.engine.default-queue-size = ${weir.engine.scheduler-pool-size}");
    assert_int_equal(8, batch_of(load("a.conf", NULL)));
    weir_config *config = load("a.conf", WEIR_CONFIG(.overrides = WEIR_NAMES("n=9")));
    assert_shown(config, "\"weir.engine.batch-max\", \"value\": 9");
    assert_shown(config, "\"weir.engine.default-queue-size\", \"value\": 2");
    weir_config_destroy(config);
}

static void without_a_name_the_usual_files_are_looked_for(void **state)
{
    (void)state;
    assert_int_equal(64, batch_of(load(NULL, NULL)));
    put("weir.conf", "weir.engine.batch-max = 11");
    assert_int_equal(11, batch_of(load(NULL, NULL)));
    put("application.conf", "weir.engine.batch-max = 12");
    assert_int_equal(12, batch_of(load(NULL, NULL)));
    put("other.conf", "weir.engine.batch-max = 13");
    assert_int_equal(0, setenv("WEIR_CONFIG", "other.conf", 1));
    assert_int_equal(13, batch_of(load(NULL, NULL)));
    assert_int_equal(12, batch_of(load(NULL, WEIR_CONFIG(.ignore_environment = true))));
    assert_int_equal(11, batch_of(load("weir.conf", NULL)));
}

static void a_file_that_is_not_there_is_an_error(void **state)
{
    (void)state;
    weir_error error = WEIR_ERROR_INIT;
    assert_null(weir_config_load("absent.conf", NULL, &error));
    assert_int_equal(WEIR_E_CONFIG, error.status);
    assert_string_equal("absent.conf", error.file);
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(0, setenv("WEIR_CONFIG", "absent-too.conf", 1));
    assert_null(weir_config_load(NULL, NULL, &error));
    assert_string_equal("absent-too.conf", error.file);
}

static void yaml_is_for_the_command(void **state)
{
    (void)state;
    weir_error error = WEIR_ERROR_INIT;
    put("x.yaml", "a: 1\n");
    assert_null(weir_config_load("x.yaml", NULL, &error));
    assert_string_equal("is YAML, which the weir command reads and this library does not: `weir "
                        "config render` makes JSON of it",
                        error.text);
}

static void names_of_variables_become_paths(void **state)
{
    static const char *const good[][2] = {
        { "WEIR__ENGINE__DEFAULT_QUEUE_SIZE", "weir.engine.default-queue-size" },
        { "WEIR__ENGINE__BACKOFF__JITTER", "weir.engine.backoff.jitter" },
        { "WEIR__ENGINE__DISPATCHERS__API__FAIR", "weir.engine.dispatchers.api.fair" },
        { "WEIR__X1", "weir.x1" },
    };
    static const char *const bad[] = { "WEIR__",      "WEIR____A", "WEIR__A_",
                                       "WEIR__A___B", "WEIR__A.B", "WEIR__A__" };
    char path[256];
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_true(weir__environment_path(good[i][0], path, sizeof(path)));
        assert_string_equal(good[i][1], path);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(weir__environment_path(bad[i], path, sizeof(path)));
        assert_string_equal("is no key: names between __ are made of letters, digits and _", path);
    }
    assert_false(weir__environment_path("WEIR_CONFIG", path, sizeof(path)));
    assert_string_equal("", path);
}

static void the_environment_holds_lists_and_is_checked_like_a_file(void **state)
{
    (void)state;
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(0, setenv("WEIR__ENGINE__THREAD_DISPATCHER_ASSIGNMENT", "[[a], [a, b]]", 1));
    assert_int_equal(0, setenv("WEIR__ENGINE__NAME", "a colon: and a space", 1));
    weir_config *config = load("/dev/null", NULL);
    weir_thread_options thread = WEIR_THREAD_OPTIONS_INIT;
    assert_int_equal(WEIR_OK, weir_config_thread_options(config, 1, &thread, NULL));
    assert_string_equal("a+b-1", thread.name);
    assert_string_equal("b", thread.dispatchers[1]);
    assert_int_equal(WEIR_UNKNOWN, weir_config_thread_options(config, 2, &thread, NULL));
    weir_engine_options engine = WEIR_ENGINE_OPTIONS_INIT;
    assert_int_equal(WEIR_OK, weir_config_engine_options(config, &engine, NULL));
    assert_string_equal("a colon: and a space", engine.name);
    weir_config_destroy(config);
    assert_int_equal(0, setenv("WEIR__ENGINE__BTCH_MAX", "5", 1));
    assert_null(weir_config_load("/dev/null", NULL, &error));
    assert_string_equal("environment WEIR__ENGINE__BTCH_MAX", error.file);
    assert_string_equal("weir.engine.btch-max", error.path);
    assert_string_equal("is no key; did you mean weir.engine.batch-max?", error.text);
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    weir_error error = WEIR_ERROR_INIT;
    const weir_config_options small = { .struct_size = 1 };
    assert_null(weir_config_load(NULL, &small, &error));
    assert_string_equal("weir_config_options.struct_size", error.path);
    error = (weir_error)WEIR_ERROR_INIT;
    const weir_option_table nameless = { .struct_size = sizeof(nameless), .row_count = 1 };
    const weir_option_table *const tables[] = { &nameless, NULL };
    assert_null(weir_config_load(NULL, WEIR_CONFIG(.tables = tables), &error));
    assert_string_equal("weir_config_options.tables", error.path);
    error = (weir_error)WEIR_ERROR_INIT;
    const weir_allocator half = { .allocate = NULL };
    assert_null(weir_config_load(NULL, WEIR_CONFIG(.allocator = &half), &error));
    assert_string_equal("weir_config_options.allocator", error.path);
    /* A set error makes it do nothing. */
    assert_null(weir_config_load("absent.conf", NULL, &error));
    assert_string_equal("weir_config_options.allocator", error.path);
    error = (weir_error)WEIR_ERROR_INIT;
    assert_null(weir_config_parse("x", NULL, 4, NULL, &error));
    assert_int_equal(WEIR_E_INVALID, error.status);
    weir_config_destroy(NULL);
}

static void a_config_with_errors_is_for_those_who_ask(void **state)
{
    static const char text[] = "weir.engine { batch-max = 0, name = [] }";
    (void)state;
    weir_error error = WEIR_ERROR_INIT, problem = WEIR_ERROR_INIT;
    weir_config_severity severity;
    assert_null(weir_config_parse("p", text, sizeof(text) - 1, NULL, &error));
    assert_string_equal("0 is not >= 1", error.text);
    assert_int_equal(1, error.line);
    assert_int_equal(27, error.column);
    error = (weir_error)WEIR_ERROR_INIT;
    weir_config *config =
        weir_config_parse("p", text, sizeof(text) - 1, WEIR_CONFIG(.keep_going = true), &error);
    test_error_none(&error);
    assert_true(weir_config_problem_get(config, 1, &problem, &severity));
    assert_int_equal(WEIR_CONFIG_ERROR, severity);
    assert_string_equal("weir.engine.name", problem.path);
    assert_string_equal("p", problem.file);
    assert_false(weir_config_problem_get(config, 2, &problem, NULL));
    assert_false(weir_config_problem_get(NULL, 0, &problem, NULL));
    assert_null(weir_config_engine(config, NULL, &error));
    assert_string_equal("0 is not >= 1", error.text);
    weir_config_destroy(config);
}

static void a_text_that_is_no_hocon_is_told_with_its_place(void **state)
{
    static const char text[] = "weir.engine { batch-max = 1 \n = }";
    weir_error error = WEIR_ERROR_INIT;
    (void)state;
    assert_null(weir_config_parse("p", text, sizeof(text) - 1, NULL, &error));
    assert_int_equal(WEIR_E_CONFIG, error.status);
    assert_int_equal(2, error.line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(later_layers_win_and_each_value_knows_its_place, clean),
        cmocka_unit_test_teardown(a_later_layer_feeds_the_substitutions_of_an_earlier_one, clean),
        cmocka_unit_test_teardown(without_a_name_the_usual_files_are_looked_for, clean),
        cmocka_unit_test_teardown(a_file_that_is_not_there_is_an_error, clean),
        cmocka_unit_test_teardown(yaml_is_for_the_command, clean),
        cmocka_unit_test(names_of_variables_become_paths),
        cmocka_unit_test_teardown(the_environment_holds_lists_and_is_checked_like_a_file, clean),
        cmocka_unit_test_teardown(wrong_options_are_refused, clean),
        cmocka_unit_test(a_config_with_errors_is_for_those_who_ask),
        cmocka_unit_test(a_text_that_is_no_hocon_is_told_with_its_place),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
