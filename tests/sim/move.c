/*
 * move.c - processors that are moved to another dispatcher, against all that can happen meanwhile.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "engine/thread.h"
#include "scenario.h"
#include "sync/word.h"

static actor *a;
static const char *const names[] = { "", "b" };
static weir__atomic_u32 expected; /* where its next turn runs: 1 or 2, by name; 0: wherever */

static void join_in(const char *dispatcher)
{
    weir_thread_add(stage.engine,
                    WEIR_THREAD(.dispatchers = WEIR_NAMES(dispatcher), .idle = WEIR_IDLE_PARK),
                    &stage.error);
}

static void move(actor *who, const char *to)
{
    const weir_status status = weir_processor_move(stage.engine, who->handle, to, NULL);
    weir_sim_note("moves actor %u to \"%s\": %s", who->number, to, weir_status_name(status));
    weir_sim_check(status == WEIR_OK || status == WEIR_ALREADY || status == WEIR_UNKNOWN ||
                       (status == WEIR_E_NOMEM && stage_is_short()),
                   "a move answers %s", weir_status_name(status));
}

static void post_three(void *to)
{
    for (int i = 0; i < 3; i++) {
        stage_post(to);
    }
}

static void move_to_and_fro(void *who)
{
    move(who, "b");
    move(who, "");
}

static weir_status look_where(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)self;
    (void)event;
    const char *here = turn->context->keeping->dispatcher->name;
    const uint32_t where = weir__load(&expected, seq_cst);
    weir_sim_check(where == 0 || strcmp(here, names[where - 1]) == 0,
                   "a turn runs on \"%s\", where it was moved from", here);
    return WEIR_OK;
}

static void finish(void)
{
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(move_against_posts, "to and fro while another thread posts")
{
    stage_open(WEIR_ENGINE(.processors_max = 16, .batch_max = 2));
    stage_threads(1);
    join_in("b");
    a = stage_actor(NULL, NULL);
    stage_start();
    const int other = weir_sim_thread_start(post_three, a);
    move_to_and_fro(a);
    stage_post(a);
    weir_sim_thread_join(other);
    finish();
}

SCENARIO(move_against_move, "two move it, and a third posts")
{
    stage_open(WEIR_ENGINE(.processors_max = 16, .batch_max = 1));
    stage_threads(1);
    join_in("b");
    a = stage_actor(NULL, NULL);
    stage_start();
    const int other = weir_sim_thread_start(move_to_and_fro, a);
    const int poster = weir_sim_thread_start(post_three, a);
    move_to_and_fro(a);
    weir_sim_thread_join(other);
    weir_sim_thread_join(poster);
    finish();
}

static weir_status move_oneself(actor *self, weir_turn *turn, const weir_event *event)
{
    const stage_message *message = event->data;
    look_where(self, turn, event);
    if (message->what == 0) {
        actor_post(self, turn, self->own);
    }
    const uint32_t to = 1 - message->what % 2;
    move(self, names[to]);
    weir__store(&expected, stage_is_short() ? 0 : to + 1, seq_cst);
    return WEIR_OK;
}

SCENARIO(move_oneself, "a handler moves its own processor, and another that its thread keeps")
{
    stage_open(WEIR_ENGINE(.processors_max = 16, .batch_max = 1));
    stage_threads(2);
    join_in("b");
    actor *kept = stage_actor(NULL, NULL);
    a = stage_actor(NULL, move_oneself);
    a->own = kept;
    stage_start();
    const int other = weir_sim_thread_start(move_to_and_fro, kept);
    weir__store(&expected, 1, seq_cst);
    stage_post_what(a, 0);
    stage_post_what(a, 1);
    stage_post_what(a, 2);
    weir_sim_thread_join(other);
    finish();
}

static void stop_it(void *who)
{
    stage_stop_actor(who, WEIR_FOREVER);
}

SCENARIO(move_against_stop, "a family is stopped while it is moved")
{
    stage_open(NULL);
    stage_threads(1);
    join_in("b");
    a = stage_actor(WEIR_PROCESSOR(.destroy = actor_destroy), NULL);
    actor *child = stage_actor(WEIR_PROCESSOR(.parent = a->handle, .destroy = actor_destroy), NULL);
    stage_start();
    stage_post(child);
    stage_post(a);
    const int other = weir_sim_thread_start(stop_it, a);
    move(child, "b");
    move(a, "b");
    move(child, "");
    weir_sim_thread_join(other);
    finish();
}

SCENARIO(move_against_engine_stop, "the engine stops while a processor is moved")
{
    stage_open(WEIR_ENGINE(.processors_max = 16, .batch_max = 1));
    stage_threads(1);
    join_in("b");
    a = stage_actor(WEIR_PROCESSOR(.destroy = actor_destroy), NULL);
    stage_start();
    post_three(a);
    const int other = weir_sim_thread_start(post_three, a);
    const weir_status first = weir_processor_move(stage.engine, a->handle, "b", NULL);
    weir_sim_check(first == WEIR_OK || stage_is_short(), "a move answers %s",
                   weir_status_name(first));
    stage_stop(WEIR_FOREVER);
    weir_sim_thread_join(other);
    stage_close();
}

static void move_late(void *who)
{
    (void)weir_processor_move(stage.engine, ((actor *)who)->handle, "b", NULL);
    (void)weir_processor_move(stage.engine, ((actor *)who)->handle, "", NULL);
}

SCENARIO(move_during_a_stop, "a move while the engine drains")
{
    stage_open(WEIR_ENGINE(.processors_max = 16, .batch_max = 1));
    stage_threads(1);
    join_in("b");
    a = stage_actor(WEIR_PROCESSOR(.destroy = actor_destroy), NULL);
    stage_start();
    post_three(a);
    const int other = weir_sim_thread_start(move_late, a);
    stage_stop(WEIR_FOREVER);
    weir_sim_thread_join(other);
    stage_close();
}

SCENARIO(move_during_a_start, "a move while inits run")
{
    stage_open(NULL);
    stage_threads(1);
    join_in("b");
    a = stage_actor(WEIR_PROCESSOR(.init = actor_init, .destroy = actor_destroy), NULL);
    actor *plain = stage_actor(NULL, NULL);
    weir_sim_quiet(false);
    stage_post(a);
    stage_post(plain);
    const int other = weir_sim_thread_start(move_to_and_fro, a);
    const int another = weir_sim_thread_start(move_late, plain);
    stage_start();
    weir_sim_thread_join(other);
    weir_sim_thread_join(another);
    finish();
}

static weir__atomic_u32 helped; /* a wait word */

static weir_status help(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)self;
    (void)turn;
    (void)event;
    weir__add(&helped, 1, seq_cst);
    weir__word_wake(&helped, INT32_MAX);
    return WEIR_OK;
}

/* Nobody else serves this dispatcher, so nobody gives away what its thread keeps. */
static weir_status wait_for_help(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)event;
    if (actor_post(self, turn, self->own) == WEIR_OK) {
        move(self->own, "b");
        while (weir__load(&helped, seq_cst) == 0) {
            weir__word_wait(&helped, 0, WEIR_FOREVER);
        }
    }
    return WEIR_OK;
}

SCENARIO(move_away_from_a_long_handler, "a handler waits for one that its own thread keeps")
{
    if (stage_is_short()) {
        return; /* a move that fails would leave it there */
    }
    stage_open(NULL);
    stage_threads(1);
    join_in("b");
    actor *helper = stage_actor(NULL, help);
    a = stage_actor(NULL, wait_for_help);
    a->own = helper;
    weir__store(&helped, 0, seq_cst);
    stage_start();
    stage_post(a);
    finish();
}

static void post_one(void *to)
{
    stage_post(to);
}

/* The poster may be between its look at where the processor is and its push there. The move waits
 * for it, within reason; in this run nobody is held up for longer. */
SCENARIO(move_of_one_who_is_posted_to, "it does not wait for the thread that it was moved from")
{
    if (stage_is_short()) {
        return;
    }
    stage_open(NULL);
    stage_threads(1);
    join_in("b");
    actor *helper = stage_actor(NULL, help);
    a = stage_actor(NULL, NULL);
    weir__store(&helped, 0, seq_cst);
    stage_start();
    const int other = weir_sim_thread_start(post_one, helper);
    move(helper, "b");
    weir_sim_thread_join(other);
    finish();
}
