/*
 * crash_hook_test.c - the crash report tells a handler from a hook, from what runs between two
 * events, and from threads that have nothing to do with it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "crash_support.h"

/* ---- hooks ---- */

static weir_status crash_in_init(void *state, weir_turn *turn, void *argument)
{
    (void)state;
    (void)turn;
    (void)argument;
    crash_now();
    return WEIR_OK;
}

static void crash_in_destroy(void *state, weir_status reason)
{
    (void)state;
    (void)reason;
    crash_now();
}

static void end_well(void *state, weir_status reason)
{
    (void)state;
    (void)reason;
}

static weir_status init_well(void *state, weir_turn *turn, void *argument)
{
    (void)state;
    (void)turn;
    (void)argument;
    return WEIR_OK;
}

static weir_status not_mine(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    return WEIR_UNHANDLED;
}

static weir_processor_options hooks; /* of the one processor of these scenes */

static void run_with_hooks(void)
{
    weir_engine *engine = scene_engine(WEIR_ENGINE(.name = "main"));
    hooks.struct_size = sizeof(hooks);
    hooks.name = "hooked";
    hooks.handler = not_mine;
    const weir_processor to = scene_add(engine, &hooks);
    scene_start(engine);
    scene_post(engine, to, 5);
    weir_engine_destroy(engine);
}

static void a_hook_that_crashes_is_named_as_what_it_is(void **state)
{
    (void)state;
    hooks = (weir_processor_options){ .init = crash_in_init };
    run_scene(run_with_hooks);
    died_of(SIGSEGV);
    reported_once(") in the init of processor \"hooked\"\n  engine \"main\", thread \"weir-0\" (");
    said("     1  hooked  init\n  stack,");

    hooks = (weir_processor_options){ .destroy = crash_in_destroy };
    run_scene(run_with_hooks);
    died_of(SIGSEGV);
    reported_once(
        ") in the destroy of processor \"hooked\"\n  engine \"main\", thread \"weir-0\" (");
    said("     1  hooked  destroy\n     2  hooked  weir.bytes (5 bytes)  from outside\n  stack,");
}

static void crash_in_the_unhandled_hook(void)
{
    weir_engine *engine = scene_engine(NULL);
    const weir_processor to = scene_add(
        engine, WEIR_PROCESSOR(.name = "hooked", .handler = not_mine, .unhandled = crash_at_40));
    scene_start(engine);
    scene_post(engine, to, 39);
    scene_post(engine, to, CRASH_SIZE);
    wait_for_the_end();
}

/* Not mine either, but for one. */
static weir_status crash_at_40_or_pass(void *state, weir_turn *turn, const weir_event *event)
{
    (void)crash_at_40(state, turn, event);
    return WEIR_UNHANDLED;
}

static void crash_after_hooks(void)
{
    weir_engine *engine = scene_engine(NULL);
    const weir_processor to =
        scene_add(engine, WEIR_PROCESSOR(.name = "hooked", .handler = crash_at_40_or_pass,
                                         .init = init_well, .unhandled = crash_at_40));
    scene_post(engine, to, 39);
    scene_post(engine, to, CRASH_SIZE);
    scene_start(engine);
    wait_for_the_end();
}

static void a_handler_that_crashes_after_hooks_have_run_is_a_handler(void **state)
{
    (void)state;
    crash_way = crash_now;
    run_scene(crash_after_hooks);
    died_of(SIGSEGV);
    reported_once(") in the handler of processor \"hooked\"\n");
    said("     1  hooked  weir.bytes (40 bytes)  from outside\n"
         "     2  hooked  weir.bytes (39 bytes)  from outside\n"
         "     3  hooked  init\n  stack,");
}

static void an_unhandled_hook_that_crashes_is_named_with_its_event(void **state)
{
    (void)state;
    crash_way = crash_now;
    run_scene(crash_in_the_unhandled_hook);
    died_of(SIGSEGV);
    reported_once(") in the unhandled hook of processor \"hooked\"\n"
                  "  event weir.bytes (40 bytes), from outside\n");
    said("     1  hooked  weir.bytes (40 bytes)  from outside\n"
         "     2  hooked  weir.bytes (39 bytes)  from outside\n  stack,");
}

static void destroy_what_was_never_started(void)
{
    weir_engine *engine = scene_engine(WEIR_ENGINE(.name = "main"));
    (void)scene_add(
        engine, WEIR_PROCESSOR(.name = "left", .handler = not_mine, .destroy = crash_in_destroy));
    weir_engine_destroy(engine);
}

static void a_destroy_hook_on_a_thread_of_the_application_is_named_too(void **state)
{
    (void)state;
    run_scene(destroy_what_was_never_started);
    died_of(SIGSEGV);
    reported_once(") in the destroy of processor \"left\"\n"
                  "  engine \"main\", thread of the application (");
}

/* A processor of an engine that was not started ends in the call that stops it. */
static weir_processor idle_one;

static weir_status stop_another_engines(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    SCENE_NEEDS(weir_processor_stop_async(state, idle_one, 0) == WEIR_OK);
    if (event->size == CRASH_SIZE) {
        crash_now();
    }
    return WEIR_OK;
}

static void stop_in_a_handler(void (*destroy)(void *state, weir_status reason))
{
    weir_engine *idle = scene_engine(WEIR_ENGINE(.name = "idle"));
    idle_one = scene_add(
        idle, WEIR_PROCESSOR(.name = "idle one", .handler = not_mine, .destroy = destroy));
    weir_engine *engine = scene_engine(WEIR_ENGINE(.name = "main"));
    const weir_processor to =
        scene_add(engine, WEIR_PROCESSOR(.name = "stopper", .handler = stop_another_engines,
                                         .argument = idle));
    scene_start(engine);
    scene_post(engine, to, CRASH_SIZE);
    wait_for_the_end();
}

static void crash_in_a_hook_inside_a_handler(void)
{
    stop_in_a_handler(crash_in_destroy);
}

static void crash_after_a_hook_inside_a_handler(void)
{
    stop_in_a_handler(end_well);
}

static void a_hook_that_runs_inside_a_handler_is_named_and_the_handler_after_it(void **state)
{
    (void)state;
    run_scene(crash_in_a_hook_inside_a_handler);
    died_of(SIGSEGV);
    reported_once(") in the destroy of processor \"idle one\"\n  engine \"idle\", thread of the ");
    run_scene(crash_after_a_hook_inside_a_handler);
    died_of(SIGSEGV);
    reported_once(") in the handler of processor \"stopper\"\n"
                  "  event weir.bytes (40 bytes), from outside\n"
                  "  engine \"main\", thread \"weir-0\" (");
}

/* ---- outside handlers ---- */

static void crash_in_drop(void *payload)
{
    (void)payload;
    crash_now();
}

static const weir_event_type dropping_type = {
    sizeof(weir_event_type), "test.dropping", 0, true, crash_in_drop, NULL
};

static void crash_between_two_events(void)
{
    weir_engine *engine = scene_engine(WEIR_ENGINE(.name = "main"));
    const weir_processor to =
        scene_add(engine, WEIR_PROCESSOR(.name = "orders", .handler = crash_at_40));
    weir_block *block = NULL;
    SCENE_NEEDS(weir_block_reserve(engine, 64, &block) == WEIR_OK);
    const weir_event event = {
        .type = &dropping_type, .block = block, .data = weir_block_data(block), .size = 64
    };
    SCENE_NEEDS(weir_engine_commit(engine, to, &event) == WEIR_OK);
    scene_start(engine);
    wait_for_the_end();
}

static void a_crash_between_two_events_is_blamed_on_no_handler(void **state)
{
    (void)state;
    run_scene(crash_between_two_events);
    died_of(SIGSEGV);
    reported_once(") on a thread of weir's, outside handlers\n"
                  "  engine \"main\", thread \"weir-0\" (");
    said("     1  orders  test.dropping (64 bytes)  from outside\n");
}

static void *crash_outside(void *argument)
{
    crash_now();
    return argument;
}

static void crash_in_a_foreign_thread(void)
{
    weir_processor gateway;
    weir_engine *engine = shop(&gateway);
    scene_post(engine, gateway, 1); /* this thread has dealt with weir, too */
    pthread_t thread;
    SCENE_NEEDS(pthread_create(&thread, NULL, crash_outside, NULL) == 0);
    wait_for_the_end();
}

static void crash_in_main(void)
{
    weir_processor gateway;
    scene_post(shop(&gateway), gateway, 1);
    crash_now();
}

static void abort_in_main(void)
{
    weir_processor gateway;
    scene_post(shop(&gateway), gateway, 1);
    abort();
}

static void crash_in_main_after_a_hook(void)
{
    (void)scene_engine(NULL);
    weir_engine *engine = scene_engine(NULL);
    (void)scene_add(engine, WEIR_PROCESSOR(.handler = not_mine, .destroy = end_well));
    weir_engine_destroy(engine);
    crash_now();
}

static void a_crash_of_another_thread_is_not_weirs_to_report(void **state)
{
    (void)state;
    run_scene(crash_in_a_foreign_thread);
    died_of(SIGSEGV);
    said_nothing();
    run_scene(crash_in_main);
    died_of(SIGSEGV);
    said_nothing();
    run_scene(crash_in_main_after_a_hook);
    died_of(SIGSEGV);
    said_nothing();
    run_scene(abort_in_main);
    died_of(SIGABRT);
    said_nothing();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hook_that_crashes_is_named_as_what_it_is),
        cmocka_unit_test(an_unhandled_hook_that_crashes_is_named_with_its_event),
        cmocka_unit_test(a_handler_that_crashes_after_hooks_have_run_is_a_handler),
        cmocka_unit_test(a_destroy_hook_on_a_thread_of_the_application_is_named_too),
        cmocka_unit_test(a_hook_that_runs_inside_a_handler_is_named_and_the_handler_after_it),
        cmocka_unit_test(a_crash_between_two_events_is_blamed_on_no_handler),
        cmocka_unit_test(a_crash_of_another_thread_is_not_weirs_to_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
