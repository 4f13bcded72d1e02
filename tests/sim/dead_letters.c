/*
 * dead_letters.c - letters are written by several at once while one reads: each has one number and
 * is read whole, and the counts have all of them. The ring has few places here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#include <string.h>

enum { EACH = 3 };

static actor *gone;

static void post_some(void *to)
{
    for (int i = 0; i < EACH; i++) {
        stage_post(to);
    }
}

/* Whole, in order, and not one twice. */
static uint64_t read_all(uint64_t after)
{
    weir_dead_letter letter = WEIR_DEAD_LETTER_INIT;
    while (weir_dead_letter_read(stage.engine, after, &letter, 1) == 1) {
        stage_message message;
        memcpy(&message, letter.head, sizeof(message));
        weir_sim_check(letter.number > after, "a letter comes twice");
        weir_sim_check(letter.type == &stage_message_type && letter.size == sizeof(message),
                       "a letter is not what was posted");
        weir_sim_check(letter.to.id == gone->handle.id && message.what == 0,
                       "a letter is of two events");
        after = letter.number;
    }
    return after;
}

static void read_some(void *unused)
{
    (void)unused;
    (void)read_all(read_all(0));
}

static weir_counters counters(void)
{
    weir_counters c = WEIR_COUNTERS_INIT;
    weir_engine_counters(stage.engine, &c);
    return c;
}

SCENARIO(dead_letters, "two threads post to one that is gone, and a third one reads the letters")
{
    stage_open(NULL);
    stage_threads(1);
    gone = stage_actor(NULL, NULL);
    stage_start();
    weir_status stopped;
    do {
        stopped = stage_stop_actor(gone, WEIR_FOREVER);
    } while (stage_is_short() && (stopped == WEIR_E_NOMEM || stopped == WEIR_E_SYSTEM));
    const int one = weir_sim_thread_start(post_some, gone);
    const int reader = weir_sim_thread_start(read_some, NULL);
    post_some(gone);
    weir_sim_thread_join(one);
    weir_sim_thread_join(reader);
    const uint64_t last = read_all(0);
    const weir_counters c = counters();
    weir_sim_check(last == c.letters || (stage_is_short() && last <= c.letters),
                   "the newest letter is %llu of %llu", (unsigned long long)last,
                   (unsigned long long)c.letters);
    weir_sim_check(c.letters_unknown == c.refused_unknown, "letters and refusals differ");
    weir_sim_check(c.letters == 2 * EACH || stage_is_short(), "a letter is missing");
    stage_stop(WEIR_FOREVER);
    stage_close();
}

static weir_status fail(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)self;
    (void)event;
    return weir_turn_fail(turn, WEIR_E_USER, "no");
}

SCENARIO(dead_letters_stop, "events fail, are refused and come too late while the engine stops")
{
    stage_open(NULL);
    stage_threads(2);
    gone = stage_actor(NULL, fail);
    actor *other = stage_actor(NULL, fail);
    stage_start();
    const int poster = weir_sim_thread_start(post_some, other);
    post_some(gone);
    (void)stage_stop_actor(gone, WEIR_FOREVER);
    stage_post(gone);
    stage_stop(WEIR_FOREVER);
    weir_sim_thread_join(poster);
    const weir_counters c = counters();
    weir_sim_check(c.dead_failed == c.dead && c.dead_stopped == 0, "nothing else is dead");
    weir_sim_check(c.letters_unknown == c.refused_unknown &&
                       c.letters_refused == c.refused_stopping,
                   "a refusal is no letter");
    weir_sim_check(c.letters == c.dead + c.letters_unknown + c.letters_refused,
                   "the letters do not add up");
    stage_close();
}

SCENARIO(dead_letters_discarded,
         "what waits for one whose init fails is dead, or left at a timeout",
         .faults = WEIR_SIM_DEFAULT_FAULTS | WEIR_SIM_TIME_JUMPS)
{
    stage_open(NULL);
    stage_threads(2);
    stage_start();
    gone = stage_actor(WEIR_PROCESSOR(.init = actor_init), NULL);
    gone->init_answer = WEIR_E_USER;
    if (gone->handle.id != 0) {
        const int poster = weir_sim_thread_start(post_some, gone);
        post_some(gone);
        (void)stage_stop_actor(gone, weir_sim_choose(2) == 0 ? 1 : WEIR_FOREVER);
        weir_sim_thread_join(poster);
    }
    stage_stop(WEIR_FOREVER);
    const weir_counters c = counters();
    weir_sim_check(c.dead_stopped == c.dead && c.dead_failed == 0, "nothing has failed");
    stage_close();
}
