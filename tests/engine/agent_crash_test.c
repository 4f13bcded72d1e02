/*
 * engine/agent_crash_test.c - the crash report names the agent whose do_work or call it was, and
 * shows the last events of its thread all the same.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "crash_support.h"

#include "engine/agent.h"

static _Atomic bool crash;

static int32_t crash_when_told(void *context, weir_ns *next)
{
    (void)context;
    *next = 0;
    if (crash) {
        crash_now();
    }
    return 0;
}

static weir_status tell(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    crash = true;
    return WEIR_OK;
}

static void crash_in_do_work(void)
{
    weir_engine *engine = scene_engine(WEIR_ENGINE(.name = "main"));
    const weir_thread thread = weir_thread_add(engine, WEIR_THREAD(.name = "io"), NULL);
    const weir_processor to = scene_add(engine, WEIR_PROCESSOR(.name = "teller", .handler = tell));
    SCENE_NEEDS(weir__agent_join(engine, thread,
                                 &(weir__agent_plan){ .name = "tail", .do_work = crash_when_told },
                                 NULL) != NULL);
    scene_start(engine);
    scene_post(engine, to, 7);
    wait_for_the_end();
}

static void an_agent_whose_do_work_crashes_is_named(void **state)
{
    (void)state;
    run_scene(crash_in_do_work);
    died_of(SIGSEGV);
    reported_once(") in the do_work of agent \"tail\"\n  engine \"main\", thread \"io\" (");
    said("     1  teller  weir.bytes (7 bytes)  from outside\n  stack,");
}

static void crash_called(void *argument)
{
    (void)argument;
    crash_now();
}

static weir__agent *leaver;

static void leave_and_crash(void *argument)
{
    weir__agent_leave(leaver);
    crash_called(argument);
}

static void (*call)(void *argument);

static void crash_in_a_call(void)
{
    weir_engine *engine = scene_engine(WEIR_ENGINE(.name = "main"));
    const weir_thread thread = weir_thread_add(engine, WEIR_THREAD(.name = "io"), NULL);
    leaver = weir__agent_join(engine, thread, &(weir__agent_plan){ .name = "sink" }, NULL);
    SCENE_NEEDS(leaver != NULL);
    scene_start(engine);
    (void)weir__agent_call(leaver, call, NULL);
    wait_for_the_end();
}

static void an_agent_whose_call_crashes_is_named(void **state)
{
    (void)state;
    call = crash_called;
    run_scene(crash_in_a_call);
    died_of(SIGSEGV);
    reported_once(") in the call on the thread of agent \"sink\"\n");
    call = leave_and_crash;
    run_scene(crash_in_a_call);
    died_of(SIGSEGV);
    reported_once(") in the call on the thread of agent #1 (gone)\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_agent_whose_do_work_crashes_is_named),
        cmocka_unit_test(an_agent_whose_call_crashes_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
