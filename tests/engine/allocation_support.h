/*
 * allocation_support.h - the scene of the sweep through failing allocations, and what stands on it
 * before they fail.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TEST_ALLOCATION_SUPPORT_H
#define WEIR_TEST_ALLOCATION_SUPPORT_H

#include "fault_support.h"

typedef struct scene {
    test_fault fault;
    weir_engine *engine;
    weir_error error;
    weir_processor parent;
    atomic_int inits, destroys, became;
    atomic_uint_least64_t handled;
    uint64_t posted; /* that were accepted */
    weir_processor asker;
    weir_status asked;
    sem_t has_asked;
    bool started;
    uint64_t tasks; /* threads of the process before */
    weir_counters before;
} scene;

typedef struct operation {
    const char *name;
    void (*prepare)(scene *s);    /* with memory; may be NULL */
    weir_status (*act)(scene *s); /* while it fails */
    void (*check)(scene *s);      /* after a failure: nothing of it is left; may be NULL */
    bool may_do_without;          /* OK is an answer, too, when memory fails */
    bool says_why;                /* it fills s->error */
} operation;

static inline weir_status count_event(void *state, weir_turn *turn, const weir_event *event)
{
    scene *s = *(scene **)state;
    atomic_fetch_add(&s->handled, 1);
    if (event->from.ask == 0) {
        return WEIR_OK;
    }
    const weir_status status = weir_turn_reply(turn, event->from, event);
    return status == WEIR_E_NOMEM || status == WEIR_UNKNOWN ? WEIR_OK : status;
}

static inline weir_status count_init(void *state, weir_turn *turn, void *argument)
{
    (void)turn;
    *(scene **)state = argument;
    atomic_fetch_add(&((scene *)argument)->inits, 1);
    return WEIR_OK;
}

static inline void count_destroy(void *state, weir_status reason)
{
    (void)reason;
    atomic_fetch_add(&(*(scene **)state)->destroys, 1);
}

static inline weir_processor_options processor_options(scene *s, const char *name)
{
    return (weir_processor_options){ .struct_size = sizeof(weir_processor_options),
                                     .name = name,
                                     .handler = count_event,
                                     .argument = s,
                                     .state_size = 3 * sizeof(void *),
                                     .init = count_init,
                                     .destroy = count_destroy };
}

/* ---- preparations ---- */

static inline void prepare_parent(scene *s)
{
    const weir_processor_options options = processor_options(s, "parent");
    s->parent = test_processor_add(s->engine, &options);
}

static inline void prepare_running(scene *s)
{
    prepare_parent(s);
    test_engine_start(s->engine);
    s->started = true;
}

static inline void prepare_for_start(scene *s)
{
    prepare_parent(s);
    (void)test_thread_add(s->engine, WEIR_THREAD(.name = "a", .dispatchers = WEIR_NAMES("", "x")));
    (void)test_thread_add(s->engine, WEIR_THREAD(.name = "b", .dispatchers = WEIR_NAMES("x")));
    (void)test_thread_add(s->engine, WEIR_THREAD(.idle = WEIR_IDLE_PARK));
    weir_processor_options options = processor_options(s, "own");
    options.dedicated = true;
    (void)test_processor_add(s->engine, &options);
    assert_int_equal(WEIR_OK, test_post(s->engine, s->parent, 0));
    s->posted = 1;
}

static inline void prepare_seats(scene *s)
{
    prepare_running(s);
    const weir_thread gone = test_thread_add(s->engine, WEIR_THREAD(.name = "worker"));
    (void)test_thread_add(s->engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("b")));
    assert_int_equal(WEIR_OK, weir_thread_remove(s->engine, gone, NULL));
}

/* Asks for a number. */
static inline weir_status ask_parent(void *state, weir_turn *turn, const weir_event *event)
{
    scene *s = *(scene **)state;
    static const unsigned char large[3000];
    if (weir_event_as(event, &number_type) != NULL) {
        const weir_event question = { .type = &weir_bytes_type,
                                      .data = large,
                                      .size = sizeof(large) };
        s->asked = weir_turn_ask(turn, s->parent, &question, WEIR_ASK(.timeout = 20 * WEIR_MS));
        (void)sem_post(&s->has_asked);
    }
    atomic_fetch_add(&s->handled, 1);
    return WEIR_OK;
}

static inline void prepare_asker(scene *s)
{
    prepare_parent(s);
    weir_processor_options options = processor_options(s, "asker");
    options.handler = ask_parent;
    s->asker = test_processor_add(s->engine, &options);
    assert_int_equal(0, sem_init(&s->has_asked, 0, 0));
    test_engine_start(s->engine);
    s->started = true;
}

#endif /* WEIR_TEST_ALLOCATION_SUPPORT_H */
