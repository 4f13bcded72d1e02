/*
 * origin_support.h - an engine that the test turns by hand, and origins that the test counts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TEST_ORIGIN_SUPPORT_H
#define WEIR_TEST_ORIGIN_SUPPORT_H

#include "option_support.h"

#include "engine/context.h"
#include "engine/origin.h"

/* An origin of which the test has a reference. */
typedef struct token {
    weir_origin origin; /* first */
    atomic_int ended;
} token;

static inline void token_ended(weir_origin *origin)
{
    atomic_fetch_add(&((token *)(void *)origin)->ended, 1);
}

static inline void token_open(token *t)
{
    weir__origin_open(&t->origin, token_ended);
    atomic_init(&t->ended, 0);
}

/* References besides the test's own. */
static inline uint64_t token_held(token *t)
{
    return weir__load(&t->origin.references, seq_cst) - 1;
}

/* The test's own goes: that must be the last one. */
static inline void token_close(token *t)
{
    assert_int_equal(0, token_held(t));
    assert_int_equal(0, atomic_load(&t->ended));
    weir__origin_release(&t->origin);
    assert_int_equal(1, atomic_load(&t->ended));
}

/* Around posts of the test's thread. */
static inline void token_enter(weir_engine *engine, token *t)
{
    weir__origin_enter(weir__context_find(engine), &t->origin);
}

static inline void token_leave(weir_engine *engine)
{
    weir__origin_leave(weir__context_find(engine));
}

static inline weir_status token_post(weir_engine *engine, token *t, weir_processor to,
                                     const weir_event *event)
{
    token_enter(engine, t);
    const weir_status status = weir_engine_post(engine, to, event);
    token_leave(engine);
    return status;
}

/* ---- an engine with one thread, turned by the test ---- */

typedef struct scene {
    weir_engine *engine;
    weir_thread thread;
    token t;
} scene;

static inline void scene_open(scene *s)
{
    s->engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
    s->thread = test_thread_add(s->engine, WEIR_THREAD(.name = "hand", .external = true));
    token_open(&s->t);
}

/* Until nothing is left to do. */
static inline void scene_turn(const scene *s)
{
    while (weir_thread_run_once(s->engine, s->thread, 0) > 0) {
    }
}

static inline void scene_start(const scene *s)
{
    test_engine_start(s->engine);
    scene_turn(s);
}

typedef struct turner {
    const scene *on;
    atomic_bool over;
} turner;

static inline void *keep_turning(void *argument)
{
    turner *t = argument;
    while (!atomic_load(&t->over)) {
        (void)weir_thread_run_once(t->on->engine, t->on->thread, 0);
        (void)sched_yield();
    }
    return NULL;
}

/* Stops the engine while another thread turns it, and checks that nothing is held. */
static inline void scene_close(scene *s)
{
    turner t = { .on = s };
    pthread_t helper;
    assert_int_equal(0, pthread_create(&helper, NULL, keep_turning, &t));
    (void)weir_engine_stop(s->engine, 10 * WEIR_S, NULL);
    atomic_store(&t.over, true);
    assert_int_equal(0, pthread_join(helper, NULL));
    weir_engine_destroy(s->engine);
    token_close(&s->t);
}

/* ---- who handles ---- */

/* What a handler is to do, and what it saw. */
typedef struct actor {
    weir_status (*act)(struct actor *self, weir_turn *turn, const weir_event *event);
    weir_processor to[4];
    scene *on;
    weir_channel channel;
    uint64_t handled;
    uint64_t with_token; /* of them */
    uint64_t in_block;
    uint64_t timeouts;
    uint32_t sum; /* of their bytes */
    weir_status status;
    weir_event kept;
    weir_origin *taken;
} actor;

static inline weir_status actor_handle(void *state, weir_turn *turn, const weir_event *event)
{
    actor *a = state;
    weir_origin *origin = weir_turn_origin(turn);
    const unsigned char *bytes = event->data;
    a->handled++;
    a->with_token += origin != NULL;
    a->in_block += event->block != NULL;
    a->timeouts += event->type == &weir_timeout_type;
    for (uint32_t i = 0; i < event->size; i++) {
        a->sum += bytes[i];
    }
    weir_origin_release(origin);
    return a->act != NULL ? a->act(a, turn, event) : WEIR_OK;
}

static inline weir_processor add(scene *s, actor *a)
{
    a->on = s;
    return test_processor_add(s->engine, WEIR_PROCESSOR(.handler = actor_handle, .argument = a));
}

static inline const weir_event *small(void)
{
    static const unsigned char bytes[8] = { 1, 2, 3 };
    static const weir_event event = { .type = &weir_bytes_type, .data = bytes, .size = 8 };
    return &event;
}

#endif /* WEIR_TEST_ORIGIN_SUPPORT_H */
