/*
 * timer_slabs.c - more timers than a slab has room for, by two threads on one wheel: slabs are made
 * ready ahead of them, taken, and given back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#include "time/timer.h"

#define FAR (INT64_C(3000000000) * WEIR_S) /* a clock that jumps does not jump as far */

/* The second slab is the first that asks for others, and these are for the ones behind it. */
enum { EACH = WEIR__SLAB_TIMERS + WEIR__SLAB_TIMERS / 2 };

static actor *receiver;

static void never_called(void *context, weir_timer timer, weir_timer_outcome outcome)
{
    (void)context;
    (void)timer;
    weir_sim_check(outcome == WEIR_TIMER_CANCELLED, "a timer of another age has come");
}

/* Two adders that were given the same slab have the same timers. */
static void add_and_cancel(void *with_event)
{
    static const stage_message nothing;
    const weir_event message = { .type = &stage_message_type,
                                 .data = &nothing,
                                 .size = sizeof(nothing) };
    const weir_event *event = with_event != NULL ? &message : NULL;
    weir_timer timers[EACH];
    weir_status added[EACH];
    for (uint32_t i = 0; i < EACH; i++) {
        added[i] = weir_timer_add(stage.engine, receiver->handle, event,
                                  WEIR_TIMER(.after = FAR, .hook = never_called), &timers[i]);
        weir_sim_check(added[i] == WEIR_OK || stage_is_short(), "an add is %s",
                       weir_status_name(added[i]));
    }
    for (uint32_t i = 0; i < EACH; i++) {
        const weir_status status = weir_timer_cancel(stage.engine, timers[i]);
        weir_sim_check(status == (added[i] == WEIR_OK ? WEIR_OK : WEIR_UNKNOWN), "a cancel is %s",
                       weir_status_name(status));
    }
}

static void open_wheel(void)
{
    stage_open(WEIR_ENGINE(.processors_max = 16, .scheduler_threads = 1, .timers_max = 64,
                           .log_level = WEIR_LOG_OFF));
    stage_threads(1);
    receiver = stage_actor(NULL, NULL);
    stage_start();
}

/* What is still ready then goes with the engine: the stage counts memory. */
static void close_wheel(void)
{
    weir_timer_counters c = WEIR_TIMER_COUNTERS_INIT;
    if (weir_timer_counters_get(stage.engine, &c) == WEIR_OK) {
        weir_sim_check(c.pending == 0 && c.added == c.cancelled, "timers are left");
    }
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(timer_slabs, "two threads add more hooks than a slab has room for, and cancel them")
{
    open_wheel();
    const int other = weir_sim_thread_start(add_and_cancel, NULL);
    add_and_cancel(NULL);
    weir_sim_thread_join(other);
    close_wheel();
}

SCENARIO(timer_slabs_of_both, "the same, and the timers of one thread have an event")
{
    open_wheel();
    const int other = weir_sim_thread_start(add_and_cancel, receiver);
    add_and_cancel(NULL);
    weir_sim_thread_join(other);
    close_wheel();
}

/* The stop meets a thread that is making some. */
SCENARIO(timer_slabs_stop, "a stop, while slabs are made ready")
{
    weir_timer timer;
    open_wheel();
    for (uint32_t i = 0; i < EACH; i++) {
        const weir_status status =
            weir_timer_add(stage.engine, receiver->handle, NULL,
                           WEIR_TIMER(.after = FAR, .hook = never_called), &timer);
        weir_sim_check(status == WEIR_OK || stage_is_short(), "an add is %s",
                       weir_status_name(status));
    }
    stage_stop(WEIR_FOREVER);
    stage_close();
}
