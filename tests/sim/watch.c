/*
 * watch.c - one event when a watched processor has ended: against its end, against an unwatch,
 * against the end of the watcher, of both and of the engine.
 *
 * That it comes is what stage_settle waits for; that it comes once, and not after an unwatch, is
 * for the history to see. When it comes the target is gone, and all that it sent was there before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

enum { WATCH = 1, UNWATCH, LISTEN };

static actor *target;
static actor *others[2];
static uint64_t sent;     /* by the target to its watcher, and accepted; plain on purpose */
static uint64_t arrived;  /* of those */
static bool engine_stops; /* or may */

/* The send of the watch is kept in `own`, one above: 0 is none. */
static void note_send(actor *self, uint32_t send)
{
    self->own = (void *)(uintptr_t)(send + 1);
}

static void check_down(actor *self, weir_turn *turn, const weir_event *event, const weir_down *down)
{
    weir_sim_check(event->from.sender.id == down->processor.id, "it comes from somebody else");
    weir_sim_check(self->own != NULL, "nobody asked for it, or it came before");
    if (down->processor.id == target->handle.id) {
        const weir_status status = actor_post(self, turn, target);
        weir_sim_check(status == WEIR_UNKNOWN || (engine_stops && status == WEIR_STOPPING),
                       "it is still there");
        weir_sim_reads(&sent, sizeof(sent));
        weir_sim_check(down->reason == WEIR_UNKNOWN || sent == arrived,
                       "something that it sent is still to come");
    }
    self->own = NULL;
}

static weir_status watch_it(actor *self, weir_turn *turn, actor *which)
{
    uint32_t send;
    const weir_status status = actor_watch(self, turn, which, &send);
    if (status == WEIR_OK) {
        note_send(self, send);
    }
    weir_sim_check(status == WEIR_OK || status == WEIR_STOPPING || status == WEIR_ALREADY ||
                       (status == WEIR_E_NOMEM && stage_is_short()),
                   "a watch answers %s", weir_status_name(status));
    return WEIR_OK;
}

static weir_status watch(actor *self, weir_turn *turn, const weir_event *event)
{
    const weir_down *down = weir_event_as(event, &weir_down_type);
    if (down != NULL) {
        check_down(self, turn, event, down);
        return WEIR_OK;
    }
    const stage_message *message = event->data;
    switch (message->what) {
    case WATCH:
        return watch_it(self, turn, target);
    case UNWATCH:
        if (actor_unwatch(self, turn, target, (uint32_t)(uintptr_t)self->own - 1) == WEIR_OK) {
            weir_sim_check(self->own != NULL, "it was not watched");
            self->own = NULL;
        }
        return WEIR_OK;
    default:
        arrived++;
        return WEIR_OK;
    }
}

/* What the target does: sends something to the first of its watchers. */
static weir_status send_on(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)event;
    if (actor_post(self, turn, others[0]) == WEIR_OK) {
        weir_sim_writes(&sent, sizeof(sent));
        sent++;
    }
    return WEIR_OK;
}

/* On dispatchers of their own, so that all of them run at once. */
static void set_up(const weir_processor_options *options, actor_part *part)
{
    sent = 0;
    arrived = 0;
    engine_stops = false;
    stage_open(NULL);
    for (int i = 0; i < 2; i++) {
        weir_thread_add(
            stage.engine,
            WEIR_THREAD(.dispatchers = WEIR_NAMES("", "target"), .idle = WEIR_IDLE_PARK),
            &stage.error);
    }
    weir_processor_options o = WEIR_PROCESSOR_OPTIONS_INIT;
    if (options != NULL) {
        o = *options;
    }
    o.dispatcher = "target";
    target = stage_actor(&o, part);
    others[0] = stage_actor(NULL, watch);
    others[1] = stage_actor(NULL, watch);
}

static void stop_target(void *unused)
{
    (void)unused;
    (void)stage_stop_actor(target, WEIR_FOREVER);
}

static void stop_first(void *unused)
{
    (void)unused;
    (void)stage_stop_actor(others[0], WEIR_FOREVER);
}

/* Memory may have run out for the stop: the event is owed until it has ended. */
static void surely_stop(actor *which)
{
    weir_status status;
    do {
        status = stage_stop_actor(which, WEIR_FOREVER);
    } while (stage_is_short() && (status == WEIR_E_NOMEM || status == WEIR_E_SYSTEM));
}

SCENARIO(watch, "a watch against the end of its target")
{
    set_up(NULL, send_on);
    stage_start();
    stage_post(target);
    stage_post_what(others[0], WATCH);
    surely_stop(target);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(watch_stopped_twice, "two watch one that two threads stop: each is told once")
{
    set_up(WEIR_PROCESSOR(.init = actor_init, .destroy = actor_destroy), NULL);
    stage_start();
    stage_post_what(others[0], WATCH);
    stage_post_what(others[1], WATCH);
    const int other = weir_sim_thread_start(stop_target, NULL);
    surely_stop(target);
    weir_sim_thread_join(other);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(unwatch, "an unwatch against the end of its target, while another goes on watching")
{
    set_up(NULL, NULL);
    stage_start();
    stage_post_what(others[0], WATCH);
    stage_post_what(others[1], WATCH);
    stage_post_what(others[0], UNWATCH);
    surely_stop(target);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(watch_watcher_gone, "watcher and target end at the same time")
{
    set_up(NULL, send_on);
    stage_start();
    stage_post_what(others[0], WATCH);
    stage_post_what(others[1], WATCH);
    const int other = weir_sim_thread_start(stop_first, NULL);
    (void)stage_stop_actor(target, WEIR_FOREVER);
    weir_sim_thread_join(other);
    stage_stop(WEIR_FOREVER);
    stage_close();
}

static weir_status watch_the_other(actor *self, weir_turn *turn, const weir_event *event)
{
    const weir_down *down = weir_event_as(event, &weir_down_type);
    if (down != NULL) {
        check_down(self, turn, event, down);
        return WEIR_OK;
    }
    return watch_it(self, turn, self == others[0] ? others[1] : others[0]);
}

SCENARIO(watch_each_other, "two watch each other, and end at the same time")
{
    set_up(NULL, NULL);
    others[0]->part = watch_the_other;
    others[1]->part = watch_the_other;
    stage_start();
    stage_post(others[0]);
    stage_post(others[1]);
    const int other = weir_sim_thread_start(stop_first, NULL);
    (void)stage_stop_actor(others[1], WEIR_FOREVER);
    weir_sim_thread_join(other);
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(watch_engine_stops, "the engine stops while a watched one ends")
{
    set_up(WEIR_PROCESSOR(.init = actor_init, .destroy = actor_destroy), NULL);
    engine_stops = true;
    stage_start();
    stage_post_what(others[0], WATCH);
    stage_post_what(others[1], WATCH);
    const int other = weir_sim_thread_start(stop_target, NULL);
    stage_stop(WEIR_FOREVER);
    weir_sim_thread_join(other);
    stage_close();
}

static weir_status dawdle(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)self;
    (void)turn;
    (void)event;
    weir_sim_sleep((weir_ns)(1 + weir_sim_choose(3)) * WEIR_US);
    return WEIR_OK;
}

SCENARIO(watch_timeout, "the stop of a watched one runs out of time",
         .faults = WEIR_SIM_DEFAULT_FAULTS | WEIR_SIM_TIME_JUMPS)
{
    set_up(NULL, dawdle);
    engine_stops = true;
    stage_start();
    stage_post_what(others[0], WATCH);
    stage_post(target);
    stage_post(target);
    (void)stage_stop_actor(target, 2 * WEIR_US);
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(watch_family, "a family is stopped while one watches parent and child")
{
    set_up(NULL, NULL);
    actor *child = stage_actor(WEIR_PROCESSOR(.parent = target->handle), NULL);
    others[0]->part = watch_the_other;
    actor *watched = others[1]; /* the child in its place */
    others[1] = child;
    stage_start();
    stage_post(others[0]);
    stage_post_what(watched, WATCH);
    surely_stop(target);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(watch_init_fails, "one is added and watched while its init fails")
{
    set_up(NULL, NULL);
    engine_stops = true;
    stage_start();
    target = stage_actor(WEIR_PROCESSOR(.init = actor_init, .dispatcher = "target"), NULL);
    target->init_answer = WEIR_E_USER;
    if (target->handle.id != 0) {
        stage_post_what(others[0], WATCH);
        stage_post(target);
        stage_post_what(others[1], WATCH);
    }
    stage_stop(WEIR_FOREVER);
    stage_close();
}
