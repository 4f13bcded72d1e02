/*
 * supervise.c - failures against everything else that can happen to a processor: mail, stops,
 * children, the clock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "scenario.h"

enum { BAD = WEIR_E_USER - 5 };

/* The events' second word: fails so many times. */
static weir_status fail_at_first(actor *self, weir_turn *turn, const weir_event *event)
{
    const stage_message *m = event->data;
    uint64_t *tries = self->own;
    if (*tries < m->what) {
        (*tries)++;
        return weir_turn_fail(turn, BAD, "not yet");
    }
    *tries = 0;
    return WEIR_OK;
}

static weir_status fail_always(actor *self, weir_turn *turn, const weir_event *event)
{
    const stage_message *m = event->data;
    (void)self;
    return m->what != 0 ? weir_turn_fail(turn, BAD, "never") : WEIR_OK;
}

static uint64_t tries[3];

static actor *retrier(uint32_t most, weir_directive then, actor_part *part)
{
    actor *a = stage_actor(WEIR_PROCESSOR(.on_failure = WEIR_RETRY, .retry_max = most,
                                          .retry_delay = 10 * WEIR_US, .retry_then = then,
                                          .init = actor_init, .destroy = actor_destroy),
                           part);
    tries[0] = 0;
    a->own = &tries[0];
    return a;
}

static void post_three(void *to)
{
    for (int i = 0; i < 3; i++) {
        stage_post(to);
    }
}

SCENARIO(retry, "an event fails twice while others come from two threads", .steps_max = 60000)
{
    stage_open(NULL);
    stage_threads(2);
    actor *a = retrier(3, WEIR_RESUME, fail_at_first);
    stage_start();
    const int other = weir_sim_thread_start(post_three, a);
    stage_post_what(a, 2);
    stage_post(a);
    stage_post_what(a, 1);
    weir_sim_thread_join(other);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(retry_used_up, "an event fails until it is dead, then its processor is restarted",
         .steps_max = 60000)
{
    stage_open(NULL);
    stage_threads(2);
    actor *a = retrier(2, WEIR_RESTART, fail_always);
    stage_start();
    stage_post_what(a, 1);
    const int other = weir_sim_thread_start(post_three, a);
    stage_post(a);
    weir_sim_thread_join(other);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(retry_against_stop, "the engine stops while an event waits for its next try",
         .steps_max = 60000)
{
    stage_open(NULL);
    stage_threads(2);
    actor *a = retrier(3, WEIR_RESUME, fail_at_first);
    actor *b = stage_actor(NULL, NULL);
    stage_start();
    stage_post_what(a, 2);
    stage_post(a);
    stage_post(b);
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(retry_against_its_stop, "a processor is stopped while an event waits for its next try",
         .steps_max = 60000)
{
    stage_open(NULL);
    stage_threads(2);
    actor *a = retrier(3, WEIR_RESUME, fail_at_first);
    stage_start();
    stage_post_what(a, 2);
    stage_post(a);
    const int other = weir_sim_thread_start(post_three, a);
    stage_stop_actor(a, WEIR_FOREVER);
    weir_sim_thread_join(other);
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(retry_evicting, "an event waits for its next try while others push each other out",
         .steps_max = 60000)
{
    stage_open(NULL);
    stage_threads(2);
    actor *a = stage_actor(WEIR_PROCESSOR(.on_failure = WEIR_RETRY, .retry_delay = 10 * WEIR_US,
                                          .mailbox_max = 2, .overflow = WEIR_OVERFLOW_DROP_OLDEST),
                           fail_at_first);
    tries[0] = 0;
    a->own = &tries[0];
    stage_start();
    stage_post_what(a, 1);
    post_three(a);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

/* ---- restart and stop ---- */

SCENARIO(restart, "a processor is restarted between events of two threads", .steps_max = 60000)
{
    stage_open(NULL);
    stage_threads(2);
    actor *a = stage_actor(
        WEIR_PROCESSOR(.on_failure = WEIR_RESTART, .init = actor_init, .destroy = actor_destroy),
        fail_always);
    stage_start();
    const int other = weir_sim_thread_start(post_three, a);
    stage_post(a);
    stage_post_what(a, 1);
    stage_post(a);
    weir_sim_thread_join(other);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(restart_too_often, "one restart too many ends it while others post", .steps_max = 60000)
{
    stage_open(NULL);
    stage_threads(2);
    actor *a = stage_actor(WEIR_PROCESSOR(.on_failure = WEIR_RESTART, .restart_max = 1,
                                          .init = actor_init, .destroy = actor_destroy),
                           fail_always);
    stage_start();
    const int other = weir_sim_thread_start(post_three, a);
    stage_post_what(a, 1);
    stage_post_what(a, 1);
    stage_post(a);
    weir_sim_thread_join(other);
    stage_stop(WEIR_FOREVER);
    stage_close();
}

static actor *heir;

static weir_status tell_the_heir(void *state, weir_turn *turn, void *argument)
{
    actor *self = state;
    const bool again = self->turns > 0;
    const weir_status status = actor_init(state, turn, argument);
    if (again && status == WEIR_OK) {
        const weir_status told = actor_post(self, turn, heir);
        weir_sim_check(told == WEIR_OK || stage_is_short(), "an init cannot post: %d", (int)told);
    }
    return status;
}

SCENARIO(restart_against_engine_stop, "the engine stops, and a restarted one has more to say",
         .steps_max = 60000)
{
    stage_open(NULL);
    stage_threads(2);
    actor *a = stage_actor(
        WEIR_PROCESSOR(.on_failure = WEIR_RESTART, .init = tell_the_heir, .destroy = actor_destroy),
        fail_always);
    heir = stage_actor(NULL, NULL);
    stage_start();
    stage_post_what(a, 1);
    stage_stop(WEIR_FOREVER);
    stage_close();
}

static void stop_it(void *which)
{
    stage_stop_actor(which, WEIR_FOREVER);
}

SCENARIO(failed_stop_against_stop, "it stops by its own failure, and is stopped by another",
         .steps_max = 60000)
{
    stage_open(NULL);
    stage_threads(2);
    actor *a = stage_actor(
        WEIR_PROCESSOR(.on_failure = WEIR_STOP, .init = actor_init, .destroy = actor_destroy),
        fail_always);
    stage_start();
    stage_post_what(a, 1);
    const int other = weir_sim_thread_start(stop_it, a);
    stage_post(a);
    stage_post(a);
    weir_sim_thread_join(other);
    stage_stop(WEIR_FOREVER);
    stage_close();
}

/* ---- families ---- */

static actor *line[3];

static void family_of(const weir_directive *directives, uint32_t members)
{
    stage_open(NULL);
    stage_threads(2);
    for (uint32_t i = 0; i < members; i++) {
        line[i] = stage_actor(
            WEIR_PROCESSOR(.on_failure = directives[i], .init = actor_init,
                           .destroy = actor_destroy,
                           .parent = i > 0 ? line[i - 1]->handle : (weir_processor){ 0 }),
            fail_always);
    }
    stage_start();
}

SCENARIO(escalate_resumed, "a child's failure goes up two levels, and all go on",
         .steps_max = 60000)
{
    family_of((const weir_directive[]){ WEIR_RESUME, WEIR_ESCALATE, WEIR_ESCALATE }, 3);
    const int other = weir_sim_thread_start(post_three, line[1]);
    stage_post_what(line[2], 1);
    stage_post(line[2]);
    stage_post(line[0]);
    weir_sim_thread_join(other);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(escalate_restarted, "a child's failure restarts its parent's parent", .steps_max = 60000)
{
    family_of((const weir_directive[]){ WEIR_RESTART, WEIR_ESCALATE, WEIR_ESCALATE }, 3);
    const int other = weir_sim_thread_start(post_three, line[0]);
    stage_post_what(line[2], 1);
    stage_post(line[2]);
    weir_sim_thread_join(other);
    stage_stop(WEIR_FOREVER);
    stage_close();
}

static void twins_of(weir_directive directive)
{
    stage_open(NULL);
    stage_threads(2);
    line[0] = stage_actor(
        WEIR_PROCESSOR(.on_failure = directive, .init = actor_init, .destroy = actor_destroy),
        NULL);
    for (int i = 1; i < 3; i++) {
        line[i] = stage_actor(
            WEIR_PROCESSOR(.on_failure = WEIR_ESCALATE, .parent = line[0]->handle), fail_always);
    }
    stage_start();
    stage_post_what(line[1], 1);
    stage_post_what(line[2], 1);
    stage_post(line[0]);
    stage_post(line[1]);
    stage_post(line[2]);
}

SCENARIO(escalate_twins, "two children fail at once", .steps_max = 60000)
{
    twins_of(WEIR_RESUME);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(escalate_twins_restarted, "two children fail at once, and the first restarts the parent",
         .steps_max = 60000)
{
    twins_of(WEIR_RESTART);
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(escalate_against_stop, "a parent is stopped while its child's failure is on its way",
         .steps_max = 60000)
{
    family_of((const weir_directive[]){ WEIR_RESTART, WEIR_ESCALATE }, 2);
    stage_post_what(line[1], 1);
    stage_post(line[1]);
    stage_stop_actor(line[0], WEIR_FOREVER);
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(escalate_against_engine_stop, "the engine stops while a failure is on its way up",
         .steps_max = 60000)
{
    static const weir_directive eldest[] = { WEIR_RESUME, WEIR_RESTART, WEIR_STOP };
    family_of((const weir_directive[]){ eldest[weir_sim_choose(3)], WEIR_ESCALATE, WEIR_ESCALATE },
              3);
    stage_post_what(line[2], 1);
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(restart_waits_for_children, "a parent fails while its child is at work, and is stopped",
         .steps_max = 60000)
{
    family_of((const weir_directive[]){ WEIR_RESTART, WEIR_RESUME }, 2);
    stage_post(line[1]);
    stage_post(line[1]);
    stage_post_what(line[0], 1);
    stage_post(line[0]);
    stage_stop_actor(line[0], WEIR_FOREVER);
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(failures_out_of_time, "stops run out of time while failures are seen to",
         .steps_max = 60000)
{
    stage_open(NULL);
    stage_threads(2);
    actor *a = retrier(3, WEIR_RESUME, fail_at_first);
    line[0] = stage_actor(
        WEIR_PROCESSOR(.on_failure = WEIR_RESTART, .init = actor_init, .destroy = actor_destroy),
        NULL);
    line[1] = stage_actor(WEIR_PROCESSOR(.on_failure = WEIR_ESCALATE, .parent = line[0]->handle,
                                         .init = actor_init, .destroy = actor_destroy),
                          fail_always);
    stage_start();
    stage_post_what(a, 1);
    stage_post_what(line[1], 1);
    stage_stop_actor(a, WEIR_US);
    stage_stop_actor(line[0], WEIR_US);
    stage_stop(10 * WEIR_US);
    stage_close();
}

/* ---- who hears of it ---- */

static actor *mortal;
static uint32_t watched, heard;

static weir_status listen(actor *self, weir_turn *turn, const weir_event *event)
{
    const weir_down *down = weir_event_as(event, &weir_down_type);
    if (down != NULL) {
        weir_sim_check(down->reason == BAD, "it ended for another reason: %d", (int)down->reason);
        weir_sim_check(strcmp(down->text, "never") == 0 || stage_is_short(), "it says nothing");
        heard++;
        return WEIR_OK;
    }
    uint32_t send;
    watched += actor_watch(self, turn, mortal, &send) == WEIR_OK ? 1 : 0;
    (void)actor_post(self, turn, mortal);
    return WEIR_OK;
}

static weir_status fail_at_once(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)self;
    (void)event;
    return weir_turn_fail(turn, BAD, "never");
}

SCENARIO(failed_end_is_heard, "a watched one fails while the engine stops, and that is heard",
         .steps_max = 60000)
{
    stage_open(NULL);
    stage_threads(2);
    watched = 0;
    heard = 0;
    mortal = stage_actor(
        WEIR_PROCESSOR(.on_failure = WEIR_STOP, .init = actor_init, .destroy = actor_destroy),
        fail_at_once);
    actor *ear = stage_actor(NULL, listen);
    stage_start();
    stage_post(ear);
    stage_stop(WEIR_FOREVER);
    weir_sim_check(heard == watched || stage_is_short(), "%u watches, %u heard", watched, heard);
    stage_close();
}

/* ---- behaviour ---- */

static weir_status switch_back(void *state, weir_turn *turn, const weir_event *event)
{
    (void)event;
    actor *self = state;
    self->turns++; /* plain: P-1 */
    return weir_turn_unbecome(turn);
}

static void request_two(void *to)
{
    const actor *a = to;
    for (int i = 0; i < 2; i++) {
        const weir_status status =
            i == 0 ? weir_processor_request_become(stage.engine, a->handle, switch_back, true)
                   : weir_processor_request_unbecome(stage.engine, a->handle);
        weir_sim_check(status == WEIR_OK || stage_is_short(), "a request answers %d", (int)status);
    }
}

SCENARIO(requests, "two threads ask for other handlers while a third posts", .steps_max = 60000)
{
    stage_open(NULL);
    stage_threads(2);
    actor *a = stage_actor(NULL, NULL);
    stage_start();
    const int one = weir_sim_thread_start(request_two, a);
    const int two = weir_sim_thread_start(request_two, a);
    weir_sim_thread_join(one);
    weir_sim_thread_join(two);
    weir_sim_check(weir_engine_stop(stage.engine, WEIR_FOREVER, NULL) == WEIR_OK, "no stop");
    weir_counters c = WEIR_COUNTERS_INIT;
    weir_engine_counters(stage.engine, &c);
    weir_sim_check(stage_is_short() || (c.accepted == 4 && c.handled == 4), "%d of 4 requests",
                   (int)c.handled);
    weir_engine_destroy(stage.engine);
}
