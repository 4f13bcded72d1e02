/*
 * tune_test.c - what a dispatcher is tuned to, and what it inherits from its engine. Looks inside:
 * from outside a back-off shows as time only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "option_support.h"

#include "engine/dispatcher.h"
#include "engine/engine.h"

static weir_engine *engine_with(const char *dispatcher)
{
    weir_engine *engine =
        test_engine_create(WEIR_ENGINE(.backoff_base = 2 * WEIR_MS, .backoff_max = 50 * WEIR_MS,
                                       .backoff_multiplier = 3.5, .batch_max = 7));
    (void)test_thread_add(engine,
                          WEIR_THREAD(.dispatchers = WEIR_NAMES(dispatcher), .external = true));
    return engine;
}

static void assert_plan(weir_engine *engine, weir_ns base, weir_ns max, double multiplier)
{
    weir__dispatcher *d = weir__dispatcher_find(engine, "d");
    assert_non_null(d);
    const weir__backoff_plan plan = weir__backoff_read(&d->backoff);
    assert_int_equal(base, plan.base);
    assert_int_equal(max, plan.max);
    assert_true(plan.multiplier == multiplier);
}

static void tune(weir_engine *engine, const weir_dispatcher_options *options)
{
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(WEIR_OK, weir_dispatcher_tune(engine, options, &error));
    test_error_none(&error);
}

static void what_is_not_tuned_is_inherited_from_the_engine(void **state)
{
    (void)state;
    weir_engine *engine = engine_with("d");
    assert_plan(engine, 2 * WEIR_MS, 50 * WEIR_MS, 3.5);
    assert_false(weir__dispatcher_find(engine, "d")->fair);
    tune(engine, WEIR_DISPATCHER(.name = "d", .fair = true));
    assert_plan(engine, 2 * WEIR_MS, 50 * WEIR_MS, 3.5);
    assert_true(weir__dispatcher_find(engine, "d")->fair);
    weir_engine_destroy(engine);
}

static void each_part_of_a_back_off_is_tuned_by_itself(void **state)
{
    (void)state;
    weir_engine *engine = engine_with("d");
    tune(engine, WEIR_DISPATCHER(.name = "d", .backoff_base = WEIR_MS));
    assert_plan(engine, WEIR_MS, 50 * WEIR_MS, 3.5);
    tune(engine, WEIR_DISPATCHER(.name = "d", .backoff_max = 60 * WEIR_MS));
    assert_plan(engine, WEIR_MS, 60 * WEIR_MS, 3.5);
    tune(engine, WEIR_DISPATCHER(.name = "d", .backoff_multiplier = 2.0));
    assert_plan(engine, WEIR_MS, 60 * WEIR_MS, 2.0);
    tune(engine, WEIR_DISPATCHER(.name = "d", .backoff_base = 1, .backoff_max = 2));
    assert_plan(engine, 1, 2, 2.0);
    weir_engine_destroy(engine);
}

static void a_delay_that_does_not_grow_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    weir_engine *engine = engine_with("d");
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(WEIR_E_INVALID,
                     weir_dispatcher_tune(
                         engine,
                         WEIR_DISPATCHER(.name = "d", .backoff_base = 50 * WEIR_MS, .fair = true),
                         &error));
    assert_string_equal("weir_dispatcher_options.backoff_base", error.path);
    assert_string_equal("is 50000000 ns, must be less than backoff_max (50000000 ns)", error.text);
    assert_plan(engine, 2 * WEIR_MS, 50 * WEIR_MS, 3.5);
    assert_false(weir__dispatcher_find(engine, "d")->fair);
    /* An error that is set makes it do nothing. */
    assert_int_equal(
        WEIR_E_INVALID,
        weir_dispatcher_tune(engine, WEIR_DISPATCHER(.name = "d", .fair = true), &error));
    assert_false(weir__dispatcher_find(engine, "d")->fair);
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(WEIR_E_INVALID, weir_dispatcher_tune(NULL, NULL, &error));
    assert_string_equal("weir_dispatcher_tune.engine", error.path);
    weir_engine_destroy(engine);
}

static void an_error_of_a_dispatcher_says_the_bounds_and_the_default(void **state)
{
    (void)state;
    static const struct {
        weir_dispatcher_options options;
        const char *text;
    } cases[] = {
        { { .batch_max = 65536 }, "is 65536, must be 1 to 65535 (0 = the default, 64)" },
        { { .backoff_base = -1 },
          "is -1 ns, must be 1 ns to 3600000000000 ns (0 = the default, 10000 ns)" },
        { { .backoff_max = -1 },
          "is -1 ns, must be 1 ns to 3600000000000 ns (0 = the default, 10000000 ns)" },
        { { .backoff_multiplier = 101 },
          "is 101, must be more than 1 and at most 100 (0 = the default, 1.5)" },
    };
    weir_engine *engine = engine_with("");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        weir_dispatcher_options options = cases[i].options;
        weir_error error = WEIR_ERROR_INIT;
        options.struct_size = sizeof(options);
        assert_int_equal(WEIR_E_INVALID, weir_dispatcher_tune(engine, &options, &error));
        assert_string_equal(cases[i].text, error.text);
    }
    tune(engine, WEIR_DISPATCHER(.batch_max = 65535)); /* without a name: the default one */
    assert_int_equal(65535, weir__dispatcher_find(engine, "")->batch_max);
    weir_engine_destroy(engine);
}

/* ---- turns ---- */

typedef struct turns {
    uint64_t count, first_turn; /* events, and how many of them the first turn had */
} turns;

static weir_status note_turn(void *state, weir_turn *turn, const weir_event *event)
{
    turns *t = state;
    (void)event;
    t->count++;
    if (t->first_turn == 0 && !weir_turn_more(turn)) {
        t->first_turn = t->count;
    }
    return WEIR_OK;
}

/* The first has the engine's, the second the dispatcher's, the third its own. */
static void processors_that_are_added_later_have_the_dispatchers_batch(void **state)
{
    (void)state;
    static const uint64_t expected[] = { 7, 3, 5 };
    turns t[3] = { { 0, 0 } };
    weir_processor p[3];
    weir_engine *engine = engine_with("d");
    p[0] = test_processor_add(
        engine, WEIR_PROCESSOR(.dispatcher = "d", .handler = note_turn, .argument = &t[0]));
    tune(engine, WEIR_DISPATCHER(.name = "d", .batch_max = 3));
    p[1] = test_processor_add(
        engine, WEIR_PROCESSOR(.dispatcher = "d", .handler = note_turn, .argument = &t[1]));
    p[2] = test_processor_add(engine, WEIR_PROCESSOR(.dispatcher = "d", .handler = note_turn,
                                                     .argument = &t[2], .batch_max = 5));
    for (size_t i = 0; i < 30; i++) {
        assert_int_equal(WEIR_OK, test_post(engine, p[i % 3], i));
    }
    test_engine_start(engine);
    const weir_thread loop = weir_thread_find(engine, "weir-0");
    TEST_UNTIL(((void)weir_thread_run_once(engine, loop, 0), t[0].count == 10));
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(expected[i], t[i].first_turn);
    }
    test_external_end(engine, loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_tuned_is_inherited_from_the_engine),
        cmocka_unit_test(each_part_of_a_back_off_is_tuned_by_itself),
        cmocka_unit_test(a_delay_that_does_not_grow_is_refused_and_changes_nothing),
        cmocka_unit_test(an_error_of_a_dispatcher_says_the_bounds_and_the_default),
        cmocka_unit_test(processors_that_are_added_later_have_the_dispatchers_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
