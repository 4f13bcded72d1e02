/*
 * crash_mark_test.c - while a crash is reported no slot that a handle leads to is freed: the thread
 * is inside its mark, as in a post, and has left it when its report is over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "crash_support.h"

#include <sched.h>
#include <stdatomic.h>

#include "engine/engine.h"

enum { SEEN_INSIDE = 43 };

static struct {
    weir__context *context; /* of the thread that crashes */
    uint64_t before;        /* its mark */
    atomic_bool known;
} mark;

static uint64_t mark_now(void)
{
    return weir__load(&mark.context->inside, relaxed);
}

static void note_mark(weir_turn *turn)
{
    mark.context = weir__context_find(weir_turn_engine(turn));
    SCENE_NEEDS(mark.context != NULL);
    SCENE_NEEDS(mark_now() % 2 == 0); /* a handler is in no call */
    while (mark_now() % 6 != 2) {     /* ends: some number of calls, as good as any */
        weir__context_enter(mark.context);
        weir__context_leave(mark.context);
    }
    mark.before = mark_now();
    atomic_store(&mark.known, true);
}

static weir_engine *engine_of(weir_handler handler)
{
    weir_engine *engine = scene_engine(NULL);
    scene_post(engine, scene_add(engine, WEIR_PROCESSOR(.name = "orders", .handler = handler)), 1);
    return engine;
}

/* ---- during ---- */

static weir_status note_and_crash(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)event;
    note_mark(turn);
    crash_now();
    return WEIR_OK;
}

/* The report does not get beyond its first line: nobody reads it. Its time ends in 3 seconds. */
static void look_during_a_report(void)
{
    weir_engine *engine = engine_of(note_and_crash);
    fill_standard_error();
    scene_start(engine);
    while (!atomic_load(&mark.known) || mark_now() != mark.before + 1) {
        (void)sched_yield();
    }
    leave_counted(SEEN_INSIDE);
}

static void a_thread_that_reports_is_inside_its_mark(void **state)
{
    (void)state;
    int reading;
    const pid_t child = begin_scene(look_during_a_report, &reading);
    end_scene(child);
    (void)close(reading);
    left_with(SEEN_INSIDE);
}

/* ---- behind ---- */

static void go_on(int number, siginfo_t *info, void *frame)
{
    (void)number;
    (void)info;
    (void)frame;
}

static weir_status survive_a_crash(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)event;
    note_mark(turn);
    crash_now();
    SCENE_NEEDS(mark_now() == mark.before + 2); /* in, and out again */
    leave_counted(SEEN_INSIDE);
}

/* The second one: the first was outside. */
static weir_status survive_a_crash_inside(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)event;
    (void)raise(SIGTRAP);
    note_mark(turn);
    weir__context_enter(mark.context);
    crash_now();
    SCENE_NEEDS(mark_now() == mark.before + 1); /* as it was */
    leave_counted(SEEN_INSIDE);
}

static void survive(void)
{
    set_handler(SIGSEGV, allow);
    scene_start(engine_of(survive_a_crash));
    wait_for_the_end();
}

static void survive_inside(void)
{
    set_handler(SIGSEGV, allow);
    set_handler(SIGTRAP, go_on);
    scene_start(engine_of(survive_a_crash_inside));
    wait_for_the_end();
}

static void behind_its_report_it_is_where_it_was(void **state)
{
    (void)state;
    run_scene(survive);
    left_with(SEEN_INSIDE);
    reported_once("weir: SIGSEGV");
    run_scene(survive_inside);
    left_with(SEEN_INSIDE);
    said("weir: SIGTRAP");
    said("weir: SIGSEGV");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_that_reports_is_inside_its_mark),
        cmocka_unit_test(behind_its_report_it_is_where_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
