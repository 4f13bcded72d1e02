/*
 * ending_test.c - what an engine's stop has done when it returns, and what can no longer be added
 * from its first moment on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "option_support.h"

/* ---- destroy hooks ---- */

enum { HOOKS = 3 };

typedef struct hooked {
    int init_thread, destroy_thread;
    weir_status reason;
    uint64_t handled;
} hooked;

static weir_status hooked_init(void *state, weir_turn *turn, void *argument)
{
    (void)turn;
    hooked *h = argument;
    *(hooked **)state = h;
    h->init_thread = test_gettid();
    return WEIR_OK;
}

static weir_status hooked_handle(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    (*(hooked **)state)->handled++;
    return WEIR_OK;
}

static void hooked_destroy(void *state, weir_status reason)
{
    hooked *h = *(hooked **)state;
    h->destroy_thread = test_gettid();
    h->reason = reason;
}

static void destroy_hooks_have_run_on_their_own_thread_when_a_stop_returns(void **state)
{
    (void)state;
    hooked h[HOOKS] = { { .reason = WEIR_E_FAILED } };
    weir_processor p[HOOKS];
    weir_engine *engine = test_engine_create(NULL);
    (void)test_thread_add(engine, NULL);
    for (size_t i = 0; i < HOOKS; i++) {
        h[i].reason = WEIR_E_FAILED;
        p[i] = test_processor_add(engine,
                                  WEIR_PROCESSOR(.init = hooked_init, .destroy = hooked_destroy,
                                                 .handler = hooked_handle, .argument = &h[i],
                                                 .state_size = sizeof(hooked *)));
    }
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, p[0], 1)); /* the others never see an event */
    (void)test_engine_stop(engine);
    for (size_t i = 0; i < HOOKS; i++) {
        assert_int_equal(WEIR_OK, h[i].reason);
        assert_int_not_equal(test_gettid(), h[i].destroy_thread);
        assert_int_equal(h[i].init_thread, h[i].destroy_thread); /* there is only one */
    }
    assert_int_equal(1, h[0].handled);
    weir_engine_destroy(engine);
}

/* ---- nothing new ---- */

typedef struct late {
    sem_t entered, pass;
    weir_status processor, many, thread, tune;
    size_t added;
} late;

static weir_status add_too_late(void *state, weir_turn *turn, const weir_event *event)
{
    late *l = state;
    weir_engine *engine = weir_turn_engine(turn);
    (void)event;
    (void)sem_post(&l->entered);
    if (!test_sem_taken(&l->pass)) {
        return WEIR_E_FAILED;
    }
    weir_error error = WEIR_ERROR_INIT;
    const weir_processor_options options = { .struct_size = sizeof(options),
                                             .handler = test_recorder_handle };
    const weir_processor_options *const list[] = { &options };
    weir_processor out = { 7 };
    l->added += weir_processor_add(engine, &options, &error).id != 0;
    l->processor = error.status;
    error = (weir_error)WEIR_ERROR_INIT;
    l->many = weir_processor_add_many(engine, list, 1, &out, &error);
    l->added += out.id != 0;
    error = (weir_error)WEIR_ERROR_INIT;
    l->added += weir_thread_add(engine, NULL, &error).id != 0;
    l->thread = error.status;
    l->tune = weir_dispatcher_tune(engine, WEIR_DISPATCHER(.fair = true), NULL);
    return WEIR_OK;
}

static void while_an_engine_drains_no_processor_and_no_thread_can_be_added(void **state)
{
    (void)state;
    static late l;
    assert_int_equal(0, sem_init(&l.entered, 0, 0));
    assert_int_equal(0, sem_init(&l.pass, 0, 0));
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor p =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = add_too_late, .argument = &l));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, p, 1));
    test_sem_wait(&l.entered);
    assert_int_equal(WEIR_OK, weir_engine_stop_async(engine, TEST_PATIENCE));
    TEST_UNTIL(test_post(engine, (weir_processor){ 0 }, 1) == WEIR_STOPPING);
    assert_int_equal(0, sem_post(&l.pass));
    assert_int_equal(WEIR_OK, weir_engine_wait(engine, TEST_PATIENCE, NULL));
    assert_int_equal(WEIR_E_INVALID, l.processor);
    assert_int_equal(WEIR_E_INVALID, l.many);
    assert_int_equal(WEIR_E_INVALID, l.thread);
    assert_int_equal(WEIR_E_INVALID, l.tune);
    assert_int_equal(0, l.added);
    weir_engine_destroy(engine);
}

/* ---- nothing there ---- */

static void looking_for_nothing_finds_nothing(void **state)
{
    (void)state;
    char text[16] = "before";
    weir_engine *engine = test_engine_create(NULL);
    assert_int_equal(0, weir_processor_find(NULL, "x").id);
    assert_int_equal(0, weir_processor_find(engine, NULL).id);
    assert_int_equal(0, weir_processor_find(engine, "x").id);
    assert_int_equal(0, weir_thread_find(NULL, "x").id);
    assert_int_equal(0, weir_thread_find(engine, NULL).id);
    assert_int_equal(0, weir_thread_find(engine, "x").id);
    assert_int_equal(0, weir_processor_name(engine, (weir_processor){ 0 }, text, sizeof(text)));
    assert_string_equal("", text);
    text[0] = 'b';
    assert_int_equal(0, weir_processor_name(NULL, (weir_processor){ 1 }, text, sizeof(text)));
    assert_string_equal("", text);
    text[0] = 'b';
    assert_int_equal(0, weir_processor_name(engine, (weir_processor){ 0 }, text, 0));
    assert_string_equal("before", text);
    weir_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(destroy_hooks_have_run_on_their_own_thread_when_a_stop_returns),
        cmocka_unit_test(while_an_engine_drains_no_processor_and_no_thread_can_be_added),
        cmocka_unit_test(looking_for_nothing_finds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
