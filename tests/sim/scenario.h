/*
 * scenario.h - the stage on which scenarios play: an engine whose every post, handler and stop is
 * written into the history (history.h), which checks the promises.
 *
 * A scenario is one file:
 *
 *     #include "scenario.h"
 *
 *     SCENARIO(two_posts, "one thread, one processor, two posts")
 *     {
 *         stage_open(NULL);
 *         stage_threads(1);
 *         actor *a = stage_actor(NULL, NULL);
 *         stage_start();                  from here on every order is tried
 *         stage_post(a);
 *         stage_post(a);
 *         stage_settle();                 P-4: all of it is handled, although nothing else comes
 *         stage_stop(WEIR_FOREVER);
 *         stage_close();                  the sums
 *     }
 *
 * and one line in meson.build. Set-up and tear-down are quiet: the search is spent on what lies
 * between. Actors write plain memory in every turn, so that a missing edge is a race that is found.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TESTS_SIM_SCENARIO_H
#define WEIR_TESTS_SIM_SCENARIO_H

#include "history.h"
#include "weir/sim.h"
#include "weir/weir.h"

/* SCENARIO(name, "about", .faults = ..., .steps_max = ...) { body }; the last two may be left out.
 * An underscore of the name becomes a hyphen. */
#define SCENARIO(id, ...)                                                                          \
    static void id##_body(void *argument);                                                         \
    static const weir_sim_scenario id##_scenario = { .name = #id,                                  \
                                                     .body = id##_body,                            \
                                                     .about = __VA_ARGS__ };                       \
    __attribute__((used,                                                                           \
                   section("weir_scenarios"))) static const weir_sim_scenario *const id##_entry =  \
        &id##_scenario;                                                                            \
    static void id##_body(__attribute__((unused)) void *argument)

/* A processor on the stage. */
typedef struct actor actor;
/* What it does besides being noted: its answer is the handler's. */
typedef weir_status actor_part(actor *self, weir_turn *turn, const weir_event *event);
struct actor {
    weir_processor handle;
    uint32_t number;  /* in the history */
    uint64_t turns;   /* plain on purpose */
    actor_part *part; /* NULL: nothing */
    void *own;        /* the scenario's */
    weir_status init_answer;
};

typedef struct stage_message {
    uint32_t send; /* its number in the history */
    uint32_t what; /* the scenario's */
} stage_message;
extern const weir_event_type stage_message_type;

typedef struct stage_state {
    weir_engine *engine;
    weir_error error;
} stage_state;
extern stage_state stage;

/* ---- set-up: quiet ---- */

/* NULL: room for 16 processors, and nothing is logged. */
void stage_open(const weir_engine_options *options);
/* Threads that park, on the default dispatcher. For others: weir_thread_add with stage.error. */
void stage_threads(uint32_t count);
/* NULL: a processor without a name. Handler and argument are the stage's; actor_init and
 * actor_destroy may stand in the options. */
actor *stage_actor(const weir_processor_options *options, actor_part *part);
weir_status actor_init(void *state, weir_turn *turn, void *argument);
void actor_destroy(void *state, weir_status reason);
/* Starts the engine. Noise begins. */
void stage_start(void);
/* Memory may run out in this run: calls may answer so, and then nothing has happened. */
bool stage_is_short(void);
/* Threads may see old values in this run: without an edge nobody has to know. */
bool stage_is_weak(void);

/* ---- the play; by the body, and by threads of weir_sim_thread_start ----
 *
 * An actor that could not be had for want of memory is UNKNOWN to all of them. */

weir_status stage_post(actor *to);
weir_status stage_post_what(actor *to, uint32_t what);
/* In a part. */
weir_status actor_post(actor *self, weir_turn *turn, actor *to);
weir_status actor_want_room(actor *self, weir_turn *turn, actor *target);
/* *send is what its event will be; for unwatch. */
weir_status actor_watch(actor *self, weir_turn *turn, actor *target, uint32_t *send);
weir_status actor_unwatch(actor *self, weir_turn *turn, actor *target, uint32_t send);
/* What comes back is a timeout, or a stage_answer. */
weir_status actor_ask(actor *self, weir_turn *turn, actor *target, weir_ns timeout);
extern const weir_event_type stage_answer_type; /* empty */
weir_status actor_answer(actor *self, weir_turn *turn, weir_ticket to);
/* A send in any other way: begin, put the number into the first four bytes, send, end. */
uint32_t stage_send_begins(const actor *to);
uint32_t stage_signal_begins(const actor *to);
/* A timer's event: ends with its outcome. */
uint32_t stage_timer_begins(const actor *to);
#define STAGE_CANCELLED WEIR_ALREADY /* in time */
void stage_send_ends(uint32_t send, weir_status status);

/* Until everything that was accepted is handled. If that never comes, everybody waits, which is a
 * failure. Posters must be joined before. */
void stage_settle(void);

weir_status stage_stop(weir_ns timeout);
weir_status stage_stop_async(weir_ns timeout);
/* Until a stop that was begun is over. */
weir_status stage_wait(weir_ns timeout);
weir_status stage_stop_actor(actor *which, weir_ns timeout);
weir_status stage_stop_actor_async(actor *which, weir_ns timeout);

/* Cues that were given so far: between the body and its threads, and no edge. */
void stage_cue(void);
uint32_t stage_cues(void);

/* ---- the end: quiet ---- */

/* Stops if that was not done, destroys, compares the sums, and looks for memory that was lost. */
void stage_close(void);

/* What comes after the start: two threads, each with its part, towards one actor of this policy. */
void stage_fill(actor *to, void (*one)(void *), void (*other)(void *), weir_overflow overflow);

#endif /* WEIR_TESTS_SIM_SCENARIO_H */
