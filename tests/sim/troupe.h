/*
 * troupe.h - the stage of scenarios in which everything meets: players that fail, ask, watch,
 * broadcast, listen, switch handlers and end, as the lines say that they are given.
 *
 * The books are the troupe's own. A line is accepted or not, and comes to its player once, or again
 * as long as it fails there and is to be tried again, before anything else; a question that was
 * accepted has one answer or timeout; a watch has one down event; any two players hear the channel
 * in one order; hooks and handlers of a player never overlap, and none runs between destroy and
 * init. At the end the engine's counters have to say the same, and every dead event has a letter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TESTS_SIM_TROUPE_H
#define WEIR_TESTS_SIM_TROUPE_H

#include "scenario.h"

#define PLAYERS_MAX 8u
#define LINES_MAX 256u

typedef enum play {
    PLAY_NOTHING,
    PLAY_FAIL,     /* so many times; of a question: then it is answered */
    PLAY_SILENCE,  /* a question that is not answered */
    PLAY_ASK,      /* `whom`, who plays what `times` says: PLAY_NOTHING, FAIL (once), SILENCE */
    PLAY_ASK_THEN, /* the same with a handler of its own */
    PLAY_WATCH,
    PLAY_UNWATCH,
    PLAY_SAY,
    PLAY_JOIN,
    PLAY_LEAVE,
    PLAY_TRIGGER,
    PLAY_SWITCH, /* the next event goes to another handler */
    PLAY_POST,
    PLAY_END,      /* of itself */
    PLAY_LATE_END, /* the same, after half a second */
    PLAYS
} play;

typedef struct player player;
struct player {
    weir_processor handle;
    uint32_t number;
};

/* ---- set-up: quiet, before stage_start ---- */

void troupe_open(uint32_t threads);
/* Hooks, handler and argument are the troupe's. */
player *troupe_player(const weir_processor_options *options);
void troupe_subscribe(player *which);
/* It hears of dead letters, fails on every other one and posts to the gone. */
void troupe_coroner(player *which);

/* ---- the play; by the body, and by threads of weir_sim_thread_start ---- */

weir_status troupe_give(player *to, play what, const player *whom, uint32_t times);
/* Something, to somebody: each choice is part of the schedule. */
void troupe_give_any(uint32_t kinds);
void troupe_say(void);
/* From outside, by a thread that waits. */
void troupe_ask(player *to, play what, weir_ns timeout);
weir_status troupe_stop(player *which, weir_ns timeout);

/* Until every line that was accepted is done with, or its player has ended; and those have ended
 * whose stop ran out of time. */
void troupe_settle(void);

/* ---- the end ---- */

/* Stops the engine. */
void troupe_end(weir_ns timeout);
/* Destroys it, and compares. */
void troupe_compare(void);
/* Both. */
void troupe_close(weir_ns timeout);
/* Both, and a thread that is to be joined before the second. */
void troupe_close_while(weir_ns timeout, int thread);

#endif /* WEIR_TESTS_SIM_TROUPE_H */
