/*
 * supervise_support.h - what the tests of supervision share: a processor that writes a line of text
 * about its life, and events that say how often they fail.
 *
 *     i  init      h  an event was handled      f  its handler failed      d  destroy
 *
 * with the event's number behind h and f: "i h1 f2 d i h3 d".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TEST_SUPERVISE_SUPPORT_H
#define WEIR_TEST_SUPERVISE_SUPPORT_H

#include "option_support.h"

enum { LIFE_MAX = 4096, BAD = WEIR_E_USER - 3 };

typedef struct task {
    uint64_t number;
    uint64_t fails; /* so many times, then it is handled */
} task;
WEIR_EVENT_TYPE(task, "supervise.task");

/* Outlives restarts: the argument. Written in turns of its processor, read after a stop. */
typedef struct life {
    char text[LIFE_MAX];
    size_t length;
    uint64_t handled, failed, inits, destroys;
    uint64_t tries;          /* of the event at hand */
    weir_status last_reason; /* that destroy was given */
    weir_status init_fails;  /* from the second init on */
    weir_ns times[64];       /* when an event was begun, whatever became of it */
    size_t begun;
    sem_t told; /* at every handled event */
    weir_processor peer;
} life;

/* What a restart makes anew. */
typedef struct worker {
    life *life;
    uint64_t since_init;
} worker;

static inline void life_write(life *l, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it begins one line above */
    const int written = vsnprintf(l->text + l->length, LIFE_MAX - l->length, format, arguments);
    va_end(arguments);
    if (written > 0 && (size_t)written < LIFE_MAX - l->length) {
        l->length += (size_t)written;
    }
}

static inline void life_init(life *l)
{
    memset(l, 0, sizeof(*l));
    assert_int_equal(0, sem_init(&l->told, 0, 0));
}

static inline weir_status worker_init(void *state, weir_turn *turn, void *argument)
{
    worker *w = state;
    (void)turn;
    w->life = argument;
    life_write(w->life, "i%s ", w->since_init != 0 ? "?" : "");
    w->life->inits++;
    return w->life->inits > 1 ? w->life->init_fails : WEIR_OK;
}

static inline void worker_destroy(void *state, weir_status reason)
{
    const worker *w = state;
    life_write(w->life, "d ");
    w->life->destroys++;
    w->life->last_reason = reason;
}

static inline weir_status worker_handle(void *state, weir_turn *turn, const weir_event *event)
{
    worker *w = state;
    life *l = w->life;
    const task *t = weir_event_as(event, &task_type);
    if (t == NULL) {
        return WEIR_UNHANDLED;
    }
    if (l->begun < 64) {
        l->times[l->begun++] = test_now();
    }
    w->since_init++;
    if (l->tries < t->fails) {
        l->tries++;
        l->failed++;
        life_write(l, "f%" PRIu64 " ", t->number);
        return weir_turn_fail(turn, BAD, "as it was told");
    }
    l->tries = 0;
    l->handled++;
    life_write(l, "h%" PRIu64 " ", t->number);
    (void)sem_post(&l->told);
    return WEIR_OK;
}

/* Hooks, state and handler are set; the rest is the caller's. */
static inline weir_processor worker_add(weir_engine *engine, life *l,
                                        const weir_processor_options *options)
{
    weir_processor_options o = *options;
    o.handler = worker_handle;
    o.argument = l;
    o.state_size = sizeof(worker);
    o.init = worker_init;
    o.destroy = worker_destroy;
    return test_processor_add(engine, &o);
}

static inline void give(weir_engine *engine, weir_processor to, uint64_t which, uint64_t fails)
{
    assert_int_equal(
        WEIR_OK, weir_engine_post(engine, to, WEIR_EVENT(task, .number = which, .fails = fails)));
}

/* It fails for ever. */
#define EVER UINT64_MAX

static inline weir_engine *quiet_engine(uint32_t threads)
{
    return test_engine_create(WEIR_ENGINE(.threads = threads, .log_level = WEIR_LOG_OFF));
}

/* Until the processor has ended by itself. */
static inline void until_gone(weir_engine *engine, weir_processor processor)
{
    char name[64];
    TEST_UNTIL(weir_processor_name(engine, processor, name, sizeof(name)) == 0);
}

#endif /* WEIR_TEST_SUPERVISE_SUPPORT_H */
