/*
 * engine/ask.h - questions that are open: who waits for an answer, and until when.
 *
 * A processor that asks has a table of its own. An open question is one entry of it; its number and
 * a generation travel with the question, so that whoever has the ticket finds the entry through the
 * asker's handle, inside the mark, without a lock:
 *
 *     FREE --the asker asks--> OPEN --an exchange--> TAKEN --the asker's turn--> FREE
 *
 * Whoever takes it (an answer, the alarm, the asker's own end) owns the envelope that was prepared
 * when it was asked, and the place that was promised with it: so there is one answer or one
 * timeout, and neither can be refused for want of room or memory.
 *
 * Time. A processor has one timer, its *alarm*, for all its questions. Most are answered long
 * before they are late; so nothing is taken back when an answer comes, and a question that follows
 * in the same entry finds that it is still being watched:
 *
 *     asker:  OPEN; send the question; its time; light barrier; is the entry in the heap, with a
 *             time before mine? Then that is all. Else, under the lock: put it there, and bring the
 *             alarm forward.
 *     alarm:  take what is due out of the heap; heavy barrier; look at each entry: OPEN and late is
 *             a timeout, OPEN and not yet late goes back with its own time, others stay out.
 *
 * A time in the heap is never later than the entry's own. The asker that overlooks a removal is
 * seen by the alarm, and the other way round.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_ASK_H
#define WEIR_ENGINE_ASK_H

#include "engine/post.h"
#include "engine/processor.h"
#include "engine/turn.h"

/* Entries lie in rows, each as long as all before it and a few: rows never move. */
#ifdef WEIR_SIMULATED
#define WEIR__ASK_ROW_BITS 1u
#define WEIR__ASK_ROWS 19u
#else
#define WEIR__ASK_ROW_BITS 3u
#define WEIR__ASK_ROWS 17u
#endif
_Static_assert((((uint64_t)1 << WEIR__ASK_ROWS) - 1) << WEIR__ASK_ROW_BITS >= WEIR__MAILBOX_MAX,
               "every place of a mailbox may be promised to an answer");

/* A question is | generation 40 | entry 24 |, and never 0: generations begin at 1. */
#define WEIR__ASK_ENTRY_BITS 24u
#define WEIR__ASK_GENERATIONS ((UINT64_C(1) << 40) - 1)

/* Of an entry's word, which is | generation | state 2 |. */
enum { WEIR__ASK_FREE, WEIR__ASK_OPEN, WEIR__ASK_TAKEN, WEIR__ASK_STATES = 3 };

/* In an envelope, in place of its entry: it was opened, and the entry is free. */
#define WEIR__ASK_CLOSED UINT64_MAX

#define WEIR__ASK_UNWATCHED UINT64_MAX
#define WEIR__ASK_UNSENT UINT64_MAX /* in place of its time: the question has not been accepted */

typedef struct weir__ask {
    weir__atomic_u64 word;    /* the asker opens and frees it; who takes it, by exchange */
    weir__atomic_u64 due;     /* asker; UNSENT as long as it may have to take the question back */
    weir__atomic_u64 watched; /* under the lock: its time in the heap, or UNWATCHED */
    weir__lone *lone;         /* asker, before it is open: what the answer will lie in */
    weir_handler then;        /* asker: NULL: the ordinary handler */
    uint32_t heap_at;         /* under the lock, if it is there */
    uint32_t next;            /* asker: of those that are free: 1 + index */
} weir__ask;

typedef struct weir__ask_watch {
    uint64_t time;
    uint32_t index;
} weir__ask_watch;

typedef struct weir__asks {
    WEIR__ATOMIC(weir__ask *) rows[WEIR__ASK_ROWS]; /* asker; each is set once */
    weir__atomic_u32 capacity;                      /* asker; only grows: entries that there are */

    /* The asker, that is, whoever owns the processor. */
    uint32_t used; /* so many were in use at least once */
    uint32_t free; /* 1 + index; 0: none of those */
    uint32_t open; /* asked, and neither answer nor timeout has come to its turn */
    weir_timer alarm;

    /* Under the lock. */
    weir__brief lock;
    bool closed;       /* the engine stops: no alarm comes any more */
    uint64_t rings_at; /* no later than any time in the heap, unless it rings at this moment */
    weir__ask_watch *heap;
    uint32_t watches;
} weir__asks;

/* Inside the mark, or the owner. NULL: it has never asked. */
static inline weir__asks *weir__asks_of(const weir__processor *processor)
{
    weir__processor_cold *cold = weir__processor_cold_of(processor);
    /* [U4] pairs with [U3]: it is zeroed. */
    return cold != NULL ? weir__load(&cold->asks, acquire) : NULL;
}

/* Of those that there are. */
static inline weir__ask *weir__ask_at(weir__asks *asks, uint32_t index)
{
    const uint32_t at = index + (1u << WEIR__ASK_ROW_BITS);
    const uint32_t row = 31u - (uint32_t)__builtin_clz(at) - WEIR__ASK_ROW_BITS;
    /* [U4] pairs with [U3]. */
    return &weir__load(&asks->rows[row], acquire)[at - (1u << (WEIR__ASK_ROW_BITS + row))];
}

/* Whoever succeeds owns its envelope, and owes its asker what lies in it. */
static inline bool weir__ask_take(weir__ask *ask, uint64_t generation)
{
    uint64_t word = generation << 2 | WEIR__ASK_OPEN;
    /* [U2] pairs with [U1]: the envelope. */
    return weir__cas(&ask->word, &word, generation << 2 | WEIR__ASK_TAKEN, acquire, relaxed);
}

/* Inside the mark, or the owner. Puts an envelope that was taken where its place was promised; the
 * attempt is counted before. STOPPING: nothing is owed to the asker any more, and the envelope is
 * the caller's. */
weir_status weir__ask_put(const weir__posting *by, weir__processor *asker, weir__lone *lone);
/* Nothing came of such an envelope. Anywhere: the asker's origin, if that was its end, is put aside
 * for who is outside the mark. */
void weir__ask_lone_put(weir__context *context, weir__lone *lone, weir_origin **ended);

/* A reply to the question of a processor. */
weir_status weir__ask_answer(const weir__posting *by, weir_ticket to, const weir_event *event);

/* The alarm's thread. What is late by now is answered with the timeout; `closing`: all of it, for
 * good. When to ring next, or 0: never, the asker is gone. */
weir_ns weir__asks_ring(weir__context *context, weir_processor asker, weir_ns now, bool closing);

/* The owner, about to handle an answer or a timeout, or to handle it again: who handles it. */
weir_handler weir__ask_close(weir__processor *asker, weir__lone *lone);

/* The owner, at the end of a drain: what is open is answered with the timeout. OVER: nothing is
 * open; MORE: timeouts wait to be handled; GAP: one is in somebody's hands. */
weir__turn_end weir__asks_finish(const weir_turn *turn);
/* The owner, if no handler of it will run any more: what is open is forgotten. */
void weir__asks_abandon(const weir_turn *turn);
/* The owner, at a restart: the answers to questions with a `then` do not come; one that has been
 * given already is dead, also if it is `held` to be handled again (else NULL). The others come to
 * the new incarnation. */
void weir__asks_drop(const weir_turn *turn, weir__lone *held);
/* The owner, or nobody is left who could be: the alarm is taken back. */
void weir__asks_end(weir_engine *engine, weir__processor *processor);
void weir__asks_free(weir_engine *engine, weir__asks *asks);

/* What the handler of such an answer says: dead, and nobody is to blame. */
#define WEIR__FORGOTTEN INT32_MIN

#endif /* WEIR_ENGINE_ASK_H */
