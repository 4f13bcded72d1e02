/*
 * removal.c - threads, and dispatchers with them, that are removed while others post, park, steal,
 * wake, stop and remove.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"
#include "sync/word.h"

enum { LEAVES = 3 };

static actor *leaves[LEAVES];
static weir_signal ring;

static weir_thread join_in(const char *dispatcher)
{
    return weir_thread_add(
        stage.engine, WEIR_THREAD(.dispatchers = WEIR_NAMES(dispatcher), .idle = WEIR_IDLE_PARK),
        &stage.error);
}

static void take_away(weir_thread thread)
{
    const weir_status status = weir_thread_remove(stage.engine, thread, NULL);
    weir_sim_note("removes a thread: %s", weir_status_name(status));
    weir_sim_check(status == WEIR_OK, "a removal answers %s", weir_status_name(status));
}

static void move(actor *who, const char *to)
{
    weir_status status;
    do {
        status = weir_processor_move(stage.engine, who->handle, to, NULL);
    } while (status == WEIR_E_NOMEM && stage_is_short());
    weir_sim_check(status == WEIR_OK || status == WEIR_ALREADY, "a move answers %s",
                   weir_status_name(status));
}

static void post_three(void *to)
{
    for (int i = 0; i < 3; i++) {
        stage_post(to);
    }
}

static void finish(void)
{
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(removal_against_posts, "one of two threads goes while another thread posts")
{
    stage_open(WEIR_ENGINE(.processors_max = 16, .batch_max = 1));
    stage_threads(1);
    const weir_thread goes = join_in("");
    actor *a = stage_actor(NULL, NULL);
    actor *b = stage_actor(NULL, NULL);
    stage_start();
    const int other = weir_sim_thread_start(post_three, a);
    stage_post(b);
    take_away(goes);
    stage_post(b);
    weir_sim_thread_join(other);
    finish();
}

SCENARIO(removal_fair, "the same on a fair dispatcher")
{
    stage_open(WEIR_ENGINE(.processors_max = 16, .batch_max = 1));
    stage_threads(1);
    const weir_thread goes = join_in("");
    weir_dispatcher_tune(stage.engine, WEIR_DISPATCHER(.name = "", .fair = true), &stage.error);
    actor *a = stage_actor(NULL, NULL);
    actor *b = stage_actor(NULL, NULL);
    stage_start();
    const int other = weir_sim_thread_start(post_three, a);
    stage_post(b);
    take_away(goes);
    stage_post(b);
    weir_sim_thread_join(other);
    finish();
}

static weir_status spread(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)event;
    for (int i = 0; i < LEAVES; i++) {
        actor_post(self, turn, leaves[i]);
    }
    return WEIR_OK;
}

SCENARIO(removal_of_one_who_keeps, "it hands on what it keeps, and others steal it meanwhile",
         .steps_max = 30000)
{
    stage_open(WEIR_ENGINE(.processors_max = 16, .batch_max = 1));
    stage_threads(1);
    const weir_thread goes = join_in("");
    actor *hub = stage_actor(NULL, spread);
    for (int i = 0; i < LEAVES; i++) {
        leaves[i] = stage_actor(NULL, NULL);
    }
    stage_start();
    stage_post(hub);
    stage_post(hub);
    take_away(goes);
    finish();
}

/* Who has read where it is may push it there when nobody is there any more. */
SCENARIO(removal_of_an_old_dispatcher, "a processor is moved and the thread that it left goes")
{
    stage_open(NULL);
    stage_threads(1);
    const weir_thread goes = join_in("old");
    actor *a = stage_actor(WEIR_PROCESSOR(.dispatcher = "old"), NULL);
    stage_start();
    const int other = weir_sim_thread_start(post_three, a);
    move(a, "");
    take_away(goes);
    weir_sim_thread_join(other);
    finish();
}

static void signal_two(void *to)
{
    for (int i = 0; i < 2; i++) {
        const uint32_t send = stage_signal_begins(to);
        stage_send_ends(send, weir_signal_post(ring, send));
    }
}

SCENARIO(removal_against_signals, "the same, and signal handlers post")
{
    stage_open(NULL);
    stage_threads(1);
    const weir_thread goes = join_in("old");
    actor *a = stage_actor(WEIR_PROCESSOR(.dispatcher = "old"), NULL);
    ring = weir_signal_open(stage.engine, a->handle, 4, &stage.error);
    stage_start();
    const int other = weir_sim_thread_start(signal_two, a);
    move(a, "");
    take_away(goes);
    weir_sim_thread_join(other);
    finish();
}

static weir_status move_on_first(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    if (stage_cues() == 0) {
        move(self, "second");
        stage_cue();
    }
    return WEIR_OK;
}

/* The first thread is about to pass it on to the second dispatcher, while that one goes. */
SCENARIO(removal_of_a_stop_on_the_way, "moved twice, and both threads that it left go",
         .steps_max = 30000)
{
    stage_open(WEIR_ENGINE(.processors_max = 16, .batch_max = 1));
    stage_threads(1);
    const weir_thread first = join_in("first");
    const weir_thread second = join_in("second");
    actor *a = stage_actor(WEIR_PROCESSOR(.dispatcher = "first"), move_on_first);
    stage_start();
    int accepted = 0;
    for (int i = 0; i < 3; i++) {
        accepted += stage_post(a) == WEIR_OK ? 1 : 0;
    }
    weir__atomic_u32 never;
    weir__init(&never, 0);
    while (accepted > 0 && stage_cues() == 0) {
        weir__word_wait(&never, 0, WEIR_US);
    }
    move(a, "");
    take_away(second);
    take_away(first);
    finish();
}

typedef struct order {
    weir_thread thread;
    weir_status status;
} order;

static void take_away_aside(void *argument)
{
    order *o = argument;
    o->status = weir_thread_remove(stage.engine, o->thread, NULL);
}

SCENARIO(removals_at_once, "both threads of an old dispatcher go, each by another hand",
         .steps_max = 30000)
{
    stage_open(WEIR_ENGINE(.processors_max = 16, .batch_max = 1));
    stage_threads(1);
    const weir_thread goes = join_in("old");
    order o = { join_in("old"), WEIR_OK };
    actor *a = stage_actor(WEIR_PROCESSOR(.dispatcher = "old"), NULL);
    stage_start();
    const int poster = weir_sim_thread_start(post_three, a);
    move(a, "");
    const int other = weir_sim_thread_start(take_away_aside, &o);
    take_away(goes);
    weir_sim_thread_join(other);
    weir_sim_check(o.status == WEIR_OK, "a removal answers %s", weir_status_name(o.status));
    weir_sim_thread_join(poster);
    finish();
}

SCENARIO(removal_twice, "two remove the same thread: one does, the other is told so")
{
    stage_open(NULL);
    stage_threads(1);
    order o = { join_in(""), WEIR_OK };
    actor *a = stage_actor(NULL, NULL);
    stage_start();
    stage_post(a);
    order mine = o;
    const int other = weir_sim_thread_start(take_away_aside, &o);
    take_away_aside(&mine);
    weir_sim_thread_join(other);
    const weir_status worse = mine.status == WEIR_OK ? o.status : mine.status;
    weir_sim_check(mine.status == WEIR_OK || o.status == WEIR_OK, "nobody removed it");
    weir_sim_check(worse == WEIR_ALREADY || worse == WEIR_UNKNOWN, "the other is told %s",
                   weir_status_name(worse));
    finish();
}

SCENARIO(removal_against_the_last, "of two threads one may go, whoever is asked first")
{
    stage_open(NULL);
    order mine = { join_in(""), WEIR_OK };
    order o = { join_in(""), WEIR_OK };
    actor *a = stage_actor(NULL, NULL);
    stage_start();
    const int poster = weir_sim_thread_start(post_three, a);
    const int other = weir_sim_thread_start(take_away_aside, &o);
    take_away_aside(&mine);
    weir_sim_thread_join(other);
    weir_sim_thread_join(poster);
    weir_sim_check((mine.status == WEIR_OK) != (o.status == WEIR_OK), "both go, or both stay");
    finish();
}

SCENARIO(removal_against_engine_stop, "the engine stops while a thread goes")
{
    stage_open(WEIR_ENGINE(.processors_max = 16, .batch_max = 1));
    stage_threads(1);
    order o = { join_in("old"), WEIR_OK };
    actor *a = stage_actor(WEIR_PROCESSOR(.dispatcher = "old", .destroy = actor_destroy), NULL);
    stage_start();
    post_three(a);
    move(a, "");
    const int other = weir_sim_thread_start(take_away_aside, &o);
    stage_stop(WEIR_FOREVER);
    weir_sim_thread_join(other);
    weir_sim_check(o.status == WEIR_OK || o.status == WEIR_E_INVALID || o.status == WEIR_UNKNOWN,
                   "a removal answers %s", weir_status_name(o.status));
    stage_close();
}

/* The seat, and the record of the dispatcher, have a new life; who was late for the old one must
 * not meet it. */
SCENARIO(removal_and_return, "another thread with another dispatcher takes what was left",
         .steps_max = 30000)
{
    stage_open(WEIR_ENGINE(.processors_max = 16, .batch_max = 1));
    stage_threads(1);
    const weir_thread goes = join_in("old");
    actor *a = stage_actor(WEIR_PROCESSOR(.dispatcher = "old"), NULL);
    actor *b = stage_actor(NULL, NULL);
    stage_start();
    const int other = weir_sim_thread_start(post_three, a);
    move(a, "");
    take_away(goes);
    const weir_thread comes = join_in("new");
    weir_sim_check(comes.id != goes.id, "a handle is given out twice");
    weir_sim_check(comes.id != 0 || stage_is_short(), "%s", stage.error.text);
    if (comes.id != 0) {
        move(b, "new");
        stage_post(b);
        move(b, "");
        take_away(comes);
    }
    weir_sim_check(weir_thread_remove(stage.engine, goes, NULL) == WEIR_UNKNOWN,
                   "a stale handle finds somebody");
    weir_sim_thread_join(other);
    finish();
}

static weir_thread loop;

static void turn_it(void *unused)
{
    (void)unused;
    const int bell = weir_thread_fd(stage.engine, loop);
    while (stage_cues() == 0) {
        if (bell >= 0) {
            weir_sim_poll(bell, 10 * WEIR_US); /* as loops do that have something else to see to */
        }
        const int32_t handled = weir_thread_run_once(stage.engine, loop, 1);
        weir_sim_check(handled >= 0 || handled == WEIR_E_INVALID || handled == WEIR_E_NOMEM,
                       "run_once answers %d", (int)handled);
        if (handled == WEIR_E_INVALID) {
            break; /* it is gone, or going */
        }
    }
}

SCENARIO(removal_of_an_external_thread, "it is turned, rung and removed at once",
         .steps_max = 40000)
{
    stage_open(WEIR_ENGINE(.processors_max = 16, .batch_max = 1));
    stage_threads(1);
    loop = weir_thread_add(stage.engine,
                           WEIR_THREAD(.external = true, .dispatchers = WEIR_NAMES("", "loop")),
                           &stage.error);
    actor *a = stage_actor(WEIR_PROCESSOR(.dispatcher = "loop"), NULL);
    actor *hub = stage_actor(NULL, spread);
    for (int i = 0; i < LEAVES; i++) {
        leaves[i] = stage_actor(NULL, NULL);
    }
    stage_start();
    const int turner = weir_sim_thread_start(turn_it, NULL);
    stage_post(hub);
    stage_post(a);
    move(a, "");
    take_away(loop);
    stage_cue();
    weir_sim_thread_join(turner);
    finish();
}

SCENARIO(removal_during_a_start, "a thread goes while inits run", .steps_max = 30000)
{
    stage_open(NULL);
    stage_threads(1);
    order o = { join_in("old"), WEIR_OK };
    actor *a = stage_actor(
        WEIR_PROCESSOR(.dispatcher = "old", .init = actor_init, .destroy = actor_destroy), NULL);
    actor *plain = stage_actor(WEIR_PROCESSOR(.dispatcher = "old"), NULL);
    weir_sim_quiet(false);
    stage_post(a);
    stage_post(plain);
    move(a, "");
    move(plain, "");
    const int other = weir_sim_thread_start(take_away_aside, &o);
    stage_start();
    weir_sim_thread_join(other);
    weir_sim_check(o.status == WEIR_OK, "a removal answers %s", weir_status_name(o.status));
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

static weir_status spread_and_wait(actor *self, weir_turn *turn, const weir_event *event)
{
    const weir_status status = spread(self, turn, event);
    while (weir__load(&helped, seq_cst) == 0) {
        weir__word_wait(&helped, 0, WEIR_FOREVER);
    }
    return status;
}

/* The monitor has them in its hands when they are moved, and nobody is there any more when it puts
 * them down. */
SCENARIO(removal_against_the_monitor, "what a thread keeps is given away while all of them go",
         .steps_max = 60000)
{
    if (stage_is_short()) {
        return; /* it cannot do without one of its threads */
    }
    stage_open(WEIR_ENGINE(.processors_max = 16, .batch_max = 1));
    stage_threads(1);
    const weir_thread first = join_in("old");
    const weir_thread second = join_in("old");
    actor *hub = stage_actor(WEIR_PROCESSOR(.dispatcher = "old"), spread_and_wait);
    for (int i = 0; i < LEAVES; i++) {
        leaves[i] = stage_actor(WEIR_PROCESSOR(.dispatcher = "old"), help);
    }
    weir__store(&helped, 0, seq_cst);
    stage_start();
    stage_post(hub);
    while (weir__load(&helped, seq_cst) == 0) {
        weir__word_wait(&helped, 0, WEIR_FOREVER);
    }
    move(hub, ""); /* the monitor has put the first of them down */
    for (int i = 0; i < LEAVES; i++) {
        move(leaves[i], "");
    }
    take_away(first);
    take_away(second);
    finish();
}
