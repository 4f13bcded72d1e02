/*
 * leases.c - mailboxes that a thread leases (queue/lease.h): it changes their words without locked
 * steps, and everybody else ends that first. Here two turns in a row are enough for a lease.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#include <string.h>

enum { HITS = 6 };

static actor *a, *b;

/* Which of its turns this is, from 1: the stage counts at both ends of each. */
static uint64_t turn_of(const actor *self)
{
    return self->turns / 2 + 1;
}

/* Back and forth on one thread: both are leased before the ball is out. */
static weir_status hit(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)event;
    return turn_of(self) < HITS ? actor_post(self, turn, self->own) : WEIR_OK;
}

static void pair(const char *dispatcher, actor **one, actor **other)
{
    *one = stage_actor(WEIR_PROCESSOR(.dispatcher = dispatcher), hit);
    *other = stage_actor(WEIR_PROCESSOR(.dispatcher = dispatcher), hit);
    (*one)->own = *other;
    (*other)->own = *one;
}

static void post_two(void *to)
{
    stage_post(to);
    stage_post(to);
}

static void finish(void)
{
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

static void enter(uint32_t threads)
{
    stage_open(WEIR_ENGINE(.processors_max = 16));
    stage_threads(threads);
    pair(NULL, &a, &b);
    stage_start();
    stage_post(a);
}

SCENARIO(leases, "two others post to what a thread leases, at the same time")
{
    enter(1);
    const int other = weir_sim_thread_start(post_two, a);
    stage_post(a);
    stage_post(b);
    weir_sim_thread_join(other);
    finish();
}

/* Posts to three, round by round: what it leases from the second on, others come and steal. */
static actor *leaves[3];
static weir_status spread(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)event;
    for (int i = 0; i < 3; i++) {
        actor_post(self, turn, leaves[i]);
    }
    return turn_of(self) < HITS ? actor_post(self, turn, self) : WEIR_OK;
}

SCENARIO(leases_stolen, "what one thread leases is run by another", .steps_max = 40000)
{
    stage_open(WEIR_ENGINE(.processors_max = 16, .batch_max = 1));
    stage_threads(2);
    a = stage_actor(NULL, spread);
    for (int i = 0; i < 3; i++) {
        leaves[i] = stage_actor(NULL, NULL);
    }
    stage_start();
    stage_post(a);
    finish();
}

/* It has more than a turn takes until the last one: what is leased stays ready. */
static weir_status go_on(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)event;
    return turn_of(self) < HITS ? actor_post(self, turn, self) : WEIR_OK;
}

SCENARIO(leases_busy, "what is leased and stays ready is posted to, and perhaps stolen",
         .steps_max = 40000)
{
    stage_open(WEIR_ENGINE(.processors_max = 16, .batch_max = 2));
    stage_threads(2);
    a = stage_actor(NULL, go_on);
    b = stage_actor(NULL, go_on);
    for (int i = 0; i < 3; i++) {
        stage_post(a);
        stage_post(b);
    }
    stage_start();
    const int other = weir_sim_thread_start(post_two, a);
    post_two(b);
    weir_sim_thread_join(other);
    finish();
}

/* Its tenant posts to it while another thread runs it. */
SCENARIO(leases_moved, "what one thread leases is moved to another", .steps_max = 40000)
{
    stage_open(WEIR_ENGINE(.processors_max = 16));
    stage_threads(1);
    weir_thread_add(stage.engine,
                    WEIR_THREAD(.dispatchers = WEIR_NAMES("b"), .idle = WEIR_IDLE_PARK),
                    &stage.error);
    pair(NULL, &a, &b);
    stage_start();
    stage_post(a);
    const weir_status status = weir_processor_move(stage.engine, a->handle, "b", NULL);
    weir_sim_check(status == WEIR_OK || stage_is_short(), "a move answers %s",
                   weir_status_name(status));
    finish();
}

SCENARIO(leases_stop, "the engine is stopped while the ball is in the air, and others post")
{
    enter(1);
    const int other = weir_sim_thread_start(post_two, a);
    stage_stop(WEIR_FOREVER);
    weir_sim_thread_join(other);
    stage_close();
}

SCENARIO(leases_left, "a stop gives up while mailboxes are leased")
{
    enter(2);
    const int other = weir_sim_thread_start(post_two, b);
    stage_stop(weir_sim_choose(3) * WEIR_US);
    weir_sim_thread_join(other);
    stage_close();
}

/* To one that may be gone. */
static weir_status hit_anyway(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)hit(self, turn, event);
    return WEIR_OK;
}

static weir_status hit_itself(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)event;
    return turn_of(self) < HITS ? actor_post(self, turn, self) : WEIR_OK;
}

/* Gone, its slot is somebody else's, who is leased in turn. */
SCENARIO(leases_and_slots, "a leased processor is stopped, and another takes its slot",
         .steps_max = 30000)
{
    stage_open(WEIR_ENGINE(.processors_max = 3));
    stage_threads(1);
    pair(NULL, &a, &b);
    a->part = b->part = hit_anyway;
    stage_start();
    stage_post(a);
    const int other = weir_sim_thread_start(post_two, a);
    stage_stop_actor(a, WEIR_FOREVER);
    actor *c = stage_actor(NULL, hit_itself);
    stage_post(c);
    weir_sim_thread_join(other);
    finish();
}

/* Two tenants, each of which posts to what the other leases. */
static weir_status hit_and_send(actor *self, weir_turn *turn, const weir_event *event)
{
    stage_message message;
    memcpy(&message, event->data, sizeof(message));
    if (message.what == 0 && turn_of(self) == 4) {
        actor_post(self, turn, self->number % 2 == 0 ? a : b);
    }
    return hit(self, turn, event);
}

SCENARIO(leases_crossed, "two threads end each other's leases", .steps_max = 40000)
{
    actor *c, *d;
    stage_open(WEIR_ENGINE(.processors_max = 16));
    weir_thread_add(stage.engine,
                    WEIR_THREAD(.dispatchers = WEIR_NAMES("x"), .idle = WEIR_IDLE_PARK),
                    &stage.error);
    weir_thread_add(stage.engine,
                    WEIR_THREAD(.dispatchers = WEIR_NAMES("y"), .idle = WEIR_IDLE_PARK),
                    &stage.error);
    pair("x", &a, &c);
    pair("y", &b, &d);
    a->part = b->part = c->part = d->part = hit_and_send;
    stage_start();
    stage_post(a);
    stage_post(b);
    finish();
}

/* Its seat, and with it its name, are another thread's. */
SCENARIO(leases_of_a_seat, "the thread that leases is removed, and another takes its seat",
         .steps_max = 40000)
{
    stage_open(WEIR_ENGINE(.processors_max = 16));
    stage_threads(1);
    const weir_thread goes = weir_thread_add(
        stage.engine, WEIR_THREAD(.dispatchers = WEIR_NAMES(""), .idle = WEIR_IDLE_PARK),
        &stage.error);
    pair(NULL, &a, &b);
    stage_start();
    stage_post(a);
    const weir_status status = weir_thread_remove(stage.engine, goes, NULL);
    weir_sim_check(status == WEIR_OK || stage_is_short(), "a removal answers %s",
                   weir_status_name(status));
    const int other = weir_sim_thread_start(post_two, a);
    weir_thread_add(stage.engine,
                    WEIR_THREAD(.dispatchers = WEIR_NAMES(""), .idle = WEIR_IDLE_PARK),
                    &stage.error);
    stage_post(b);
    weir_sim_thread_join(other);
    finish();
}

/* What is owed to a mailbox that is leased. */
static weir_status ask_now_and_then(actor *self, weir_turn *turn, const weir_event *event)
{
    if (weir_event_as(event, &weir_timeout_type) != NULL ||
        weir_event_as(event, &stage_answer_type) != NULL) {
        return WEIR_OK;
    }
    if (turn_of(self) == 2 || turn_of(self) == 5) { /* about to be leased, and leased */
        const weir_status asked = actor_ask(self, turn, self->own, WEIR_S);
        return asked == WEIR_FULL ? WEIR_OK : asked;
    }
    return hit(self, turn, event);
}

static weir_status answer_all(actor *self, weir_turn *turn, const weir_event *event)
{
    if (event->from.ask != 0) {
        actor_answer(self, turn, event->from);
        return WEIR_OK;
    }
    return hit(self, turn, event);
}

SCENARIO(leases_and_asks, "an answer is owed to a mailbox that is leased", .steps_max = 40000)
{
    stage_open(WEIR_ENGINE(.processors_max = 16));
    stage_threads(1);
    pair(NULL, &a, &b);
    a->part = ask_now_and_then;
    b->part = answer_all;
    stage_start();
    stage_post(a);
    const int other = weir_sim_thread_start(post_two, b);
    weir_sim_thread_join(other);
    finish();
}

/* Full at three: it looks full to everybody, and is to its tenant. */
static weir_status hit_twice(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)event;
    if (turn_of(self) < HITS) {
        actor_post(self, turn, self->own);
    }
    if (turn_of(self) == 4) {
        for (int i = 0; i < 4; i++) {
            actor_post(self, turn, self->own);
        }
    }
    return WEIR_OK;
}

SCENARIO(leases_full, "a leased mailbox is full to its tenant, and to others", .steps_max = 30000)
{
    stage_open(WEIR_ENGINE(.processors_max = 16, .mailbox_max = 16));
    stage_threads(1);
    pair(NULL, &a, &b);
    a->part = hit_twice;
    stage_start();
    stage_post(a);
    stage_post(b);
    finish();
}

/* Leased, it posts to itself in a turn of one event. */
static weir_status hit_itself_too(actor *self, weir_turn *turn, const weir_event *event)
{
    if (turn_of(self) == 4) {
        actor_post(self, turn, self);
    }
    return hit(self, turn, event);
}

SCENARIO(leases_and_itself, "who is leased posts to itself")
{
    stage_open(WEIR_ENGINE(.processors_max = 16));
    stage_threads(1);
    pair(NULL, &a, &b);
    a->part = b->part = hit_itself_too;
    stage_start();
    stage_post(a);
    finish();
}

static weir_signal ring;

static void signal_two(void *to)
{
    for (int i = 0; i < 2; i++) {
        const uint32_t send = stage_signal_begins(to);
        stage_send_ends(send, weir_signal_post(ring, send));
    }
}

/* A handler never waits for the end of a lease: where it posts to, there is none. */
SCENARIO(leases_and_signals, "a ring is opened to what a thread leases, or is about to",
         .steps_max = 30000)
{
    enter(1);
    do {
        ring = weir_signal_open(stage.engine, a->handle, 4, NULL);
    } while (ring.id == 0 && stage_is_short());
    const int other = weir_sim_thread_start(signal_two, a);
    signal_two(a);
    weir_sim_thread_join(other);
    finish();
}
