/*
 * regress_support.h - what the tests of fixed bugs share: work aside on a thread of its own that
 * must end in time, hooks and handlers that stop at a gate, signs that something has happened.
 *
 * Most of these bugs were a wait that never ended. So whatever may hang runs aside: a hang is a
 * failed assertion after TEST_PATIENCE. Whatever is waited for has a sign of its own (a semaphore,
 * a counter, a status); nothing sleeps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_REGRESS_SUPPORT_H
#define WEIR_REGRESS_SUPPORT_H

#include "../engine/option_support.h"

enum { CORE_OF_NOBODY = 1000000 };

/* ---- work aside ---- */

typedef struct aside {
    void (*work)(void *argument);
    void *argument;
    atomic_int task; /* the system's id of the thread */
    sem_t ended;
    pthread_t thread;
} aside;

static inline void *aside_run(void *argument)
{
    aside *a = argument;
    atomic_store(&a->task, test_gettid());
    a->work(a->argument);
    (void)sem_post(&a->ended);
    return NULL;
}

static inline void aside_begin(aside *a, void (*work)(void *), void *argument)
{
    a->work = work;
    a->argument = argument;
    atomic_init(&a->task, 0);
    assert_int_equal(0, sem_init(&a->ended, 0, 0));
    assert_int_equal(0, pthread_create(&a->thread, NULL, aside_run, a));
}

/* Fails the test if it does not end. */
static inline void aside_end(aside *a)
{
    test_sem_wait(&a->ended);
    assert_int_equal(0, pthread_join(a->thread, NULL));
}

/* Until it waits for something. */
static inline void aside_sleeps(aside *a)
{
    TEST_UNTIL(atomic_load(&a->task) != 0 && test_task_sleeps(atomic_load(&a->task)));
}

/* In one go: it must end. */
static inline void aside_do(void (*work)(void *), void *argument)
{
    aside a;
    aside_begin(&a, work, argument);
    aside_end(&a);
}

/* One post, aside. */
typedef struct aside_post {
    weir_engine *engine;
    weir_processor to;
    weir_status status;
} aside_post;

static inline void aside_post_once(void *argument)
{
    aside_post *p = argument;
    p->status = test_post(p->engine, p->to, 99);
}

/* One stop of a processor, aside. */
typedef struct aside_stop {
    weir_engine *engine;
    weir_processor processor;
    weir_ns timeout;
    weir_status status;
    weir_stop_report report;
} aside_stop;

static inline void aside_stop_processor(void *argument)
{
    aside_stop *s = argument;
    s->report = (weir_stop_report)WEIR_STOP_REPORT_INIT;
    s->status = weir_processor_stop(s->engine, s->processor, s->timeout, &s->report);
}

/* ---- hooks ---- */

/* An init that says that it is in, waits for its gate, and answers `result`. It is the state. */
typedef struct gated_init {
    sem_t entered, pass;
    weir_status result;
} gated_init;

static inline void gated_init_open(gated_init *g, weir_status result)
{
    g->result = result;
    assert_int_equal(0, sem_init(&g->entered, 0, 0));
    assert_int_equal(0, sem_init(&g->pass, 0, 0));
}

static inline weir_status gated_init_run(void *state, weir_turn *turn, void *argument)
{
    gated_init *g = argument;
    (void)state;
    (void)turn;
    (void)sem_post(&g->entered);
    return test_sem_taken(&g->pass) ? g->result : WEIR_E_USER;
}

static inline weir_status init_well(void *state, weir_turn *turn, void *argument)
{
    (void)state;
    (void)turn;
    (void)argument;
    return WEIR_OK;
}

static inline weir_status init_badly(void *state, weir_turn *turn, void *argument)
{
    (void)state;
    (void)turn;
    (void)argument;
    return WEIR_E_FAILED;
}

static inline weir_status handle_nothing(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    return WEIR_OK;
}

/* ---- signs ---- */

static inline uint64_t parks_of(weir_engine *engine, weir_thread thread)
{
    weir_thread_counters c = WEIR_THREAD_COUNTERS_INIT;
    assert_int_equal(WEIR_OK, weir_thread_counters_get(engine, thread, &c));
    return c.parks;
}

static inline bool is_gone(weir_engine *engine, weir_processor processor)
{
    weir_counters c = WEIR_COUNTERS_INIT;
    return weir_processor_counters(engine, processor, &c) == WEIR_UNKNOWN;
}

static inline weir_engine *quiet_engine(uint32_t threads)
{
    return test_engine_create(WEIR_ENGINE(.threads = threads, .log_level = WEIR_LOG_OFF));
}

/* A gated or an open recorder behind a processor. */
static inline weir_processor add_recorder(weir_engine *engine, test_recorder *recorder,
                                          const char *dispatcher)
{
    return test_processor_add(engine,
                              WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = recorder,
                                             .dispatcher = dispatcher));
}

/* Posts one to a gated recorder, and waits until it is in hand. */
static inline void put_in_hand(weir_engine *engine, weir_processor to, test_recorder *recorder)
{
    assert_int_equal(WEIR_OK, test_post(engine, to, 1));
    test_sem_wait(&recorder->entered);
}

static inline void assert_adds_up(const weir_stop_report *r)
{
    assert_int_equal(r->accepted, r->handled + r->dropped + r->dead + r->left);
}

#endif /* WEIR_REGRESS_SUPPORT_H */
