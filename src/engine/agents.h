/*
 * engine/agents.h - the agents of one thread (engine/agent.h), as the thread sees them.
 *
 * `hosting` of the thread is all that a thread without agents ever looks at. Whoever wants
 * something of the thread puts it where the thread finds it, then sets a bit; the thread clears the
 * bit, then looks. Before it sleeps it says so, by a bit, and sleeps only if none of the others is
 * set: all of them are in one word, so one of the two sees the other.
 *
 * The list is walked by the thread without a lock, and written under the lock only: by the thread
 * while it *holds* its agents (from its first round with one to its end; an external one, within a
 * run_once), else by whoever wants it changed. What others want of a thread that holds them waits
 * in a queue until its next round.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_AGENTS_H
#define WEIR_ENGINE_AGENTS_H

#include "engine/agent.h"
#include "engine/thread.h"
#include "sync/mutex.h"

#define WEIR__AGENT_FDS 64u

/* Bits of a thread's `hosting`. */
enum {
    WEIR__HOSTING_REQUESTS = 1, /* somebody waits in the queue */
    WEIR__HOSTING_AGENTS = 2,   /* the list is not empty */
    WEIR__HOSTING_WOKEN = 4,    /* an agent was woken since the last round began */
    WEIR__HOSTING_RESTING = 8,  /* the thread sleeps or is about to: who sets WOKEN wakes it */
};

typedef enum weir__request_kind {
    WEIR__REQUEST_JOIN,
    WEIR__REQUEST_LEAVE,
    WEIR__REQUEST_CALL,
} weir__request_kind;

typedef enum weir__answer {
    WEIR__ANSWER_NONE, /* yet */
    WEIR__ANSWER_DONE,
    WEIR__ANSWER_REFUSED,
} weir__answer;

/* Of those who wait, on their stacks: gone once it is answered. Of a join, in the agent. */
typedef struct weir__request {
    struct weir__request *next;
    weir__request_kind kind;
    weir__agent *agent;
    void (*call)(void *argument);
    void *argument;
    weir__atomic_u32 answer; /* weir__answer */
} weir__request;

struct weir__agent {
    weir__thread *thread;
    char *name;
    uint64_t id; /* unique in the engine: reports name who may be gone by then */
    weir__agent_plan plan;
    weir__agent *next; /* of the list */
    weir__request join;

    /* The thread's. */
    weir_ns delay;    /* it failed the last time, and is left alone for so long ... */
    weir_ns retry_at; /* ... until then */
    uint32_t fd_count;
    int fds[WEIR__AGENT_FDS]; /* that it watches */
    bool left; /* inside of a walk over the list: not called any more, freed at its end */
};

typedef struct weir__agents {
    weir__thread *thread;
    weir__mutex lock;
    bool held;   /* under the lock, so all of these. The thread has a copy */
    bool closed; /* the thread has gone for good */
    weir__request *first, *last;
    weir__agent *list;         /* in the order they joined */
    weir__atomic_u32 answered; /* a wait word: changes with every answer */

    /* The thread's. */
    bool walking, some_left;
    weir__agent *current; /* whose code runs, or NULL; read by a crash, on the same thread */
    weir_ns next;         /* the earliest deadline of the last walk ... */
    bool soon;            /* ... and one of them gave none */
    weir__trail trail;    /* of their own: they are called every round, and would push the last
                               events out of the thread's */
    weir__watched watched;
} weir__agents;

/* The lock held: into the queue. Who is not inside of registry.lock, or of a round, wakes the
 * thread then. */
void weir__agents_ask(weir__agents *agents, weir__request *request);
/* The lock held: out of the list, or of the queue if it is still there. */
void weir__agents_forget(weir__agents *agents, weir__agent *agent);
void weir__agent_free(weir__agent *agent);

/* NULL: it never had any. */
static inline weir__agents *weir__agents_if_any(weir__thread *thread)
{
    return weir__load(&thread->agents, acquire); /* [AG4] pairs with [AG3] */
}

/* registry.lock held. What a thread needs to have agents, made at the first call. NULL: no
 * memory. */
weir__agents *weir__agents_of(weir__thread *thread);
void weir__agents_free(weir__thread *thread);

/* registry.lock held. The name of one of them. False: there is none. */
bool weir__agents_any(weir__thread *thread, char *out, size_t size);

/* Control: the name of the one with this id. False: it is gone. */
bool weir__agent_name(weir_engine *engine, uint64_t id, char *out, size_t size);

/* The thread; it hosts something. Sees to what is asked for, then calls each of them. True: some
 * work was done. */
bool weir__agents_round(weir__thread *thread);

/* The thread. When to be up again at the latest. */
weir_ns weir__agents_until(weir__thread *thread);

/* Its duty is over, or this run_once: others may change the list. */
void weir__agents_let_go(weir__thread *thread);
/* The engine is stopped: who waits is answered, nobody waits any more. Unless the thread holds
 * them: then it does so itself. */
void weir__agents_close(weir__thread *thread);
/* A vacant seat is taken again. */
void weir__agents_reopen(weir__thread *thread);

/* The thread, after the wait word is cleared. False: there is something to do. */
static inline bool weir__agents_rest(weir__thread *thread)
{
    if (weir__load(&thread->hosting, seq_cst) == 0) {
        return true; /* who asks for something after this wakes the thread in any case */
    }
    thread->resting = true;
    return (weir__or(&thread->hosting, WEIR__HOSTING_RESTING, seq_cst) &
            (WEIR__HOSTING_REQUESTS | WEIR__HOSTING_WOKEN)) == 0;
}

static inline void weir__agents_rise(weir__thread *thread)
{
    if (thread->resting) {
        thread->resting = false;
        weir__and(&thread->hosting, ~(uint32_t)WEIR__HOSTING_RESTING, seq_cst);
    }
}

#endif /* WEIR_ENGINE_AGENTS_H */
