/*
 * life_test.c - the life cycle of components: the order of S-71, on whose threads, and what is
 * undone when a hook fails.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "host_support.h"

static weir_engine *engine;

static int open_engine(void **state)
{
    (void)state;
    journal_begin();
    engine = host_engine();
    (void)host_thread(engine, "one");
    (void)host_thread(engine, "two");
    return 0;
}

static int close_engine(void **state)
{
    (void)state;
    weir_engine_destroy(engine);
    return 0;
}

/* A source -> a processor -> a sink, and a service that the processor waits for; added the wrong
 * way round. */
static void add_four(const char *who_fails, const char *hook)
{
#define FAIL(name) (who_fails != NULL && strcmp(who_fails, name) == 0 ? hook : NULL)
    (void)actor_add(
        engine, &source_actor,
        WEIR_COMPONENT(.name = "spring", .thread = "one", .config = ACTOR(.fail = FAIL("spring"))));
    (void)actor_add(
        engine, &processor_actor,
        WEIR_COMPONENT(.name = "mill", .thread = "two", .feeds = WEIR_NAMES("spring"),
                       .after = WEIR_NAMES("helper"),
                       .config = ACTOR(.target = TARGET("drain"), .fail = FAIL("mill"))));
    (void)actor_add(
        engine, &service_actor,
        WEIR_COMPONENT(.name = "helper", .thread = "one", .config = ACTOR(.fail = FAIL("helper"))));
    (void)actor_add(
        engine, &sink_actor,
        WEIR_COMPONENT(.name = "drain", .thread = "two", .config = ACTOR(.fail = FAIL("drain"))));
#undef FAIL
}

static void the_order_is_that_of_the_references_and_the_reverse_on_the_way_down(void **state)
{
    (void)state;
    add_four(NULL, NULL);
    host_start(engine);
    assert_string_equal(journal_text(),
                        "helper.init drain.init mill.init spring.init "
                        "helper.start drain.start mill.start spring.start "
                        "helper.start_complete drain.start_complete mill.start_complete "
                        "spring.start_complete ");
    journal_begin();
    (void)host_stop(engine);
    assert_string_equal(journal_text(), "spring.stop mill.stop drain.stop helper.stop "
                                        "spring.tear_down mill.tear_down drain.tear_down "
                                        "helper.tear_down ");
    assert_false(the_journal.foreign);
}

static void a_failing_hook_undoes_what_was_begun_and_names_its_component(void **state)
{
    static const struct {
        const char *hook, *journal;
    } cases[] = {
        { "init", "helper.init drain.init mill.init drain.tear_down helper.tear_down " },
        { "start", "helper.init drain.init mill.init spring.init "
                   "helper.start drain.start mill.start "
                   "spring.tear_down mill.tear_down drain.stop drain.tear_down "
                   "helper.stop helper.tear_down " },
        { "start_complete", "helper.init drain.init mill.init spring.init "
                            "helper.start drain.start mill.start spring.start "
                            "helper.start_complete drain.start_complete mill.start_complete "
                            "spring.stop spring.tear_down mill.stop mill.tear_down "
                            "drain.stop drain.tear_down helper.stop helper.tear_down " },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        weir_error error = WEIR_ERROR_INIT;
        if (i > 0) {
            (void)open_engine(state);
        }
        add_four("mill", cases[i].hook);
        assert_int_equal(weir_components_start(engine, &error), WEIR_E_USER);
        assert_string_equal(error.path, "component mill");
        assert_non_null(strstr(error.text, cases[i].hook));
        assert_non_null(strstr(error.text, "it was told to fail"));
        assert_string_equal(journal_text(), cases[i].journal);
        assert_false(the_journal.foreign);
        if (i + 1 < sizeof(cases) / sizeof(cases[0])) {
            weir_engine_destroy(engine);
        }
    }
}

static void a_source_that_fails_at_the_end_undoes_all(void **state)
{
    (void)state;
    weir_error error = WEIR_ERROR_INIT;
    add_four("spring", "start_complete");
    assert_int_equal(weir_components_start(engine, &error), WEIR_E_USER);
    assert_string_equal(error.path, "component spring");
    assert_true(journal_has("spring.start_complete spring.stop spring.tear_down mill.stop "));
    assert_true(journal_has("helper.stop helper.tear_down "));
    assert_int_equal(weir_components_start(engine, NULL), WEIR_STOPPING);
}

static void after_a_failed_init_a_start_can_be_tried_again(void **state)
{
    (void)state;
    weir_error error = WEIR_ERROR_INIT;
    (void)actor_add(engine, &sink_actor,
                    WEIR_COMPONENT(.name = "drain", .config = ACTOR(.fail = "init")));
    assert_int_equal(weir_components_start(engine, &error), WEIR_E_USER);
    assert_int_equal(weir_components_start(engine, NULL), WEIR_E_USER);
    assert_string_equal(journal_text(), "drain.init drain.init ");
}

static void a_circle_is_shown(void **state)
{
    (void)state;
    weir_error error = WEIR_ERROR_INIT;
    (void)actor_add(engine, &processor_actor,
                    WEIR_COMPONENT(.name = "a", .config = ACTOR(.target = TARGET("b"))));
    (void)actor_add(engine, &processor_actor,
                    WEIR_COMPONENT(.name = "b", .config = ACTOR(.target = TARGET("c"))));
    (void)actor_add(engine, &processor_actor,
                    WEIR_COMPONENT(.name = "c", .after = WEIR_NAMES("a")));
    (void)actor_add(engine, &processor_actor,
                    WEIR_COMPONENT(.name = "d", .config = ACTOR(.target = TARGET("a"))));
    assert_int_equal(weir_components_start(engine, &error), WEIR_E_INVALID);
    assert_true(strstr(error.text, "a -> b -> c -> a") != NULL ||
                strstr(error.text, "b -> c -> a -> b") != NULL ||
                strstr(error.text, "c -> a -> b -> c") != NULL);
    assert_string_equal(journal_text(), "");
}

static void a_name_that_is_nobodys_is_an_error_with_the_nearest(void **state)
{
    (void)state;
    weir_error error = WEIR_ERROR_INIT;
    (void)actor_add(engine, &sink_actor, WEIR_COMPONENT(.name = "drain"));
    (void)actor_add(engine, &processor_actor,
                    WEIR_COMPONENT(.name = "mill", .config = ACTOR(.target = TARGET("drian"))));
    assert_int_equal(weir_components_start(engine, &error), WEIR_E_INVALID);
    assert_string_equal(error.path, "component mill.target");
    assert_non_null(strstr(error.text, "did you mean drain?"));
    assert_string_equal(journal_text(), "");
}

static void what_was_posted_before_the_start_is_handled_after_it(void **state)
{
    (void)state;
    (void)actor_add(engine, &sink_actor, WEIR_COMPONENT(.name = "drain", .thread = "two"));
    const weir_processor mill =
        actor_add(engine, &processor_actor,
                  WEIR_COMPONENT(.name = "mill", .thread = "one",
                                 .config = ACTOR(.target = TARGET("drain"))));
    assert_int_equal(weir_engine_post(engine, mill, WEIR_EVENT(number, 7)), WEIR_OK);
    host_start(engine);
    (void)host_stop(engine);
    assert_string_equal(journal_text(),
                        "drain.init mill.init drain.start mill.start drain.start_complete "
                        "mill.start_complete mill.got7 drain.got7 mill.stop drain.stop "
                        "mill.tear_down drain.tear_down ");
}

static void several_targets_and_a_processor_of_the_program_get_their_events(void **state)
{
    (void)state;
    static const weir_target targets[] = { TARGET("left"), TARGET("right") };
    (void)actor_add(engine, &sink_actor, WEIR_COMPONENT(.name = "left"));
    (void)actor_add(engine, &sink_actor, WEIR_COMPONENT(.name = "right"));
    const weir_processor mill =
        actor_add(engine, &processor_actor,
                  WEIR_COMPONENT(.name = "mill", .config = ACTOR(.targets = { targets, 2 })));
    host_start(engine);
    assert_int_equal(weir_engine_post(engine, mill, WEIR_EVENT(number, 3)), WEIR_OK);
    (void)host_stop(engine);
    assert_true(journal_has("mill.got3 "));
    assert_true(journal_has("left.got3 "));
    assert_true(journal_has("right.got3 "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            the_order_is_that_of_the_references_and_the_reverse_on_the_way_down, open_engine,
            close_engine),
        cmocka_unit_test_setup_teardown(
            a_failing_hook_undoes_what_was_begun_and_names_its_component, open_engine,
            close_engine),
        cmocka_unit_test_setup_teardown(a_source_that_fails_at_the_end_undoes_all, open_engine,
                                        close_engine),
        cmocka_unit_test_setup_teardown(after_a_failed_init_a_start_can_be_tried_again, open_engine,
                                        close_engine),
        cmocka_unit_test_setup_teardown(a_circle_is_shown, open_engine, close_engine),
        cmocka_unit_test_setup_teardown(a_name_that_is_nobodys_is_an_error_with_the_nearest,
                                        open_engine, close_engine),
        cmocka_unit_test_setup_teardown(what_was_posted_before_the_start_is_handled_after_it,
                                        open_engine, close_engine),
        cmocka_unit_test_setup_teardown(
            several_targets_and_a_processor_of_the_program_get_their_events, open_engine,
            close_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
