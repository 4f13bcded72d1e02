/*
 * sync/sim/core.h - what the parts of the simulator share: the run, its threads, their clocks.
 *
 * One OS thread. A simulated thread is a coroutine with a stack of its own; the *current* one runs
 * until a step at which the strategy decides otherwise, and then switches directly to the next. All
 * state of a run is in `weir__sim` and is reset between runs in time that depends on what the run
 * used, never on the sizes of tables: tables carry the number of the run that wrote them.
 *
 *     step.c     who runs next: steps, waits, deadlocks             switch.h   coroutines
 *     decide.c   strategies, the log of decisions, replay           explore.c  runs and results
 *     atomic.c   atomics, store buffers, edges between clocks       race.c     plain accesses
 *     memory.c   the arena that all of the engine's memory is in    trace.c    every step in words
 *     word.c, thread.c   the rest of the sync room's headers        shrink.c   shorter failures
 *     stale.c    memory weaker than x86's                           crash.c    crashes of handlers
 *     scale.c    timed runs: who is next by the clock, costs        lines.c    cache lines
 *     count.h    how often each kind of operation was done
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SYNC_SIM_CORE_H
#define WEIR_SYNC_SIM_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/assert.h"
#include "sync/sim/atomic.h"
#include "sync/sim/count.h"
#include "weir/sim.h"

#define WEIR__SIM_THREADS_MAX 256u
#define WEIR__SIM_CLOCKS 15u /* threads that the race detector can tell apart */
#define WEIR__SIM_BUFFER 8u  /* stores that a thread can have in flight */
#define WEIR__SIM_STEP_NS 10 /* virtual time of a step */
#define WEIR__SIM_BEGIN                                                                            \
    (100 * WEIR_S)                    /* the clock at the beginning: zero means "never" in places */
#define WEIR__SIM_PRIORITY (1u << 30) /* PCT: a new thread has this and more */

/* What each thread is known to have done: component i counts the releases of thread i. */
typedef struct weir__sim_clock {
    uint32_t at[WEIR__SIM_CLOCKS];
} weir__sim_clock;

typedef struct weir__sim_buffered {
    void *atom;
    uint64_t value;
    uint32_t size;
    uint32_t epoch;           /* its thread's own clock at the store */
    bool releases;            /* `released` says something */
    weir__sim_clock released; /* what an acquiring reader learns */
} weir__sim_buffered;

typedef enum weir__sim_state {
    WEIR__SIM_FREE, /* never used in this run, or joined */
    WEIR__SIM_RUNNABLE,
    WEIR__SIM_WAITING, /* on a word, or asleep (word NULL) */
    WEIR__SIM_JOINING,
    WEIR__SIM_OVER
} weir__sim_state;

typedef struct weir__sim_thread {
    void *saved; /* stack pointer while another runs */
    weir__sim_state state;
    uint32_t index;
    uint64_t born; /* threads there were before it, in all runs: slots are used again */
    uint64_t steps;
    uint64_t since;         /* of weir__sim.steps: it runs since then, or could */
    uint64_t stalled_until; /* of weir__sim.steps: stuck before that */
    const void *word;
    weir_ns deadline;
    bool timed_out;
    uint32_t joins;
    uint32_t priority; /* PCT: the highest runs */
    void (*run)(void *);
    void *argument;
    void *local;
    bool local_armed;
    const weir__sim_site *site; /* of the last step, for reports */
    uint32_t buffered, oldest;  /* stores in flight: how many, and where the ring begins */
    bool clocked;               /* the race detector knows it */
    bool fenced;                /* `released` says something */
    weir__sim_clock clock, released, acquirable;
    weir__sim_clock fence_knows;    /* stale reads: what its last seq_cst fence showed it ... */
    uint64_t fence_at, fresh_since; /* ... and when that was; it slept until that step */
    weir__sim_buffered buffer[WEIR__SIM_BUFFER];
    char *stack;
    char name[16];
} weir__sim_thread;

/* One decision that differs from "go on": thread and its step number, what, and how. */
typedef struct weir__sim_decision {
    uint32_t thread;
    char what; /* s(witch) f(lush) w(ake, spurious) t (stall) j(ump) a(llocation) c(hoice) */
    uint64_t step;
    uint64_t value;
} weir__sim_decision;

typedef struct weir__sim_run {
    weir__sim_thread *current; /* NULL: no run, or the host between runs */
    uint64_t steps;
    uint64_t decide_at; /* the step at which the strategy wants to be asked */
    weir_ns now;        /* virtual */
    uint32_t number;    /* of this run: what tables carry */
    bool racing;        /* races are to be found */
    bool watching;      /* and there is somebody to race with: see weir__sim_watch */
    bool stale;         /* loads may see what was: stale.c */
    uint32_t epoch;     /* the current thread and its clock, as shadows note them */
    uint32_t faults;
    uint32_t thread_count; /* slots used so far */
    uint32_t alive;
    uint32_t company;  /* alive, or over and not joined yet: with 1 there is nobody to race with */
    uint32_t sleepers; /* threads that wait with a deadline, or did until now */
    uint64_t steps_max;
    void (*invariant)(void *);
    void *invariant_argument;
    bool checking; /* inside the invariant: no steps */
    bool tracing;
    bool quiet; /* threads are interrupted only where they wait */
    bool failed;
    bool timed; /* the scale model decides (scale.c) */
    uint32_t cores;
    char why[512];
    void *host; /* the explorer's stack pointer */
    weir__sim_thread threads[WEIR__SIM_THREADS_MAX];
} weir__sim_run;

extern weir__sim_run weir__sim;
extern char *weir__sim_stacks;
#define WEIR__SIM_STACK_BYTES                                                                      \
    ((size_t)8 << 20) /* what handlers are used to; pages cost if touched */
#define WEIR__SIM_STACKS_BYTES (WEIR__SIM_THREADS_MAX * WEIR__SIM_STACK_BYTES)

/* ---- scale.c: timed runs ---- */

typedef enum weir__scale_use {
    WEIR__SCALE_LOAD,
    WEIR__SCALE_STORE, /* that nobody waits for */
    WEIR__SCALE_ADD,   /* to a cell */
    WEIR__SCALE_LOCK,
    WEIR__SCALE_FENCE
} weir__scale_use;
typedef enum weir__scale_span {
    WEIR__SCALE_CLOCK,
    WEIR__SCALE_PAUSE,
    WEIR__SCALE_YIELD,
    WEIR__SCALE_CALL
} weir__scale_span;

/* The current thread is about to do it; others may run first. */
void weir__scale_touch(const void *atom, weir__scale_use use, const weir__sim_site *site);
void weir__scale_access(uintptr_t address, size_t size, bool write);
void weir__scale_pass(weir__scale_span span);
void weir__scale_work(weir_ns span);
weir_ns weir__scale_now(void);
/* The current thread waits, or gives way: who goes on. NULL: nobody can. */
weir__sim_thread *weir__scale_next(void);
/* The current thread has made another runnable. */
void weir__scale_woken(weir__sim_thread *thread);

static inline void weir__sim_touch(const void *atom, weir__scale_use use,
                                   const weir__sim_site *site)
{
    weir__sim_counts *counted = &weir__sim_counted;
    counted->loads += use == WEIR__SCALE_LOAD || use == WEIR__SCALE_ADD;
    counted->stores += use == WEIR__SCALE_STORE || use == WEIR__SCALE_ADD;
    counted->locked += use == WEIR__SCALE_LOCK;
    counted->fences += use == WEIR__SCALE_FENCE;
    if (weir__unlikely(weir__sim.timed)) {
        weir__scale_touch(atom, use, site);
    }
}

static inline void weir__sim_woken(weir__sim_thread *thread)
{
    if (weir__unlikely(weir__sim.timed)) {
        weir__scale_woken(thread);
    }
}

static inline void weir__sim_pass(weir__scale_span span)
{
    weir__sim_counted.clocks += span == WEIR__SCALE_CLOCK;
    weir__sim_counted.calls += span == WEIR__SCALE_CALL;
    if (weir__unlikely(weir__sim.timed)) {
        weir__scale_pass(span);
    }
}

static inline weir_ns weir__sim_time(void)
{
    return weir__unlikely(weir__sim.timed) ? weir__scale_now() : weir__sim.now;
}

/* ---- step.c ---- */

void weir__sim_step_slow(void);
/* The current thread stays runnable, or is waiting: another goes on. Returns when it runs again. */
void weir__sim_go_to(weir__sim_thread *next);

/* Every operation that another thread could notice begins with this. */
static inline void weir__sim_step(const weir__sim_site *site)
{
    weir__sim_thread *self = weir__sim.current;
    if (self == NULL || weir__sim.checking) {
        return;
    }
    self->site = site;
    self->steps++;
    weir__sim.now += WEIR__SIM_STEP_NS;
    if (++weir__sim.steps >= weir__sim.decide_at) {
        weir__sim_step_slow();
    }
}

/* The current thread gives way: others first, time passes if there are none. */
void weir__sim_give_way(const weir__sim_site *site);
/* It sleeps until weir__sim_wake or the deadline. False: the deadline. */
bool weir__sim_sleep_on(const void *word, weir_ns timeout);
void weir__sim_wake(const void *word, uint32_t count);
/* -1: no slot. */
int weir__sim_spawn(void (*run)(void *), void *argument);
void weir__sim_join(uint32_t index);

/* Begins a run whose thread 0 is `run` on a stack of its own; returns when it is over. */
void weir__sim_run_to_end(void (*run)(void *), void *argument);
/* Instead of that, if it is set: makes the run in another process and brings its outcome back. */
extern void (*weir__sim_run_elsewhere)(void (*run)(void *), void *argument);
/* If it is set: `to` runs next, in place of `from` (NULL: a run begins). See posix_local.c. */
extern void (*weir__sim_locals)(weir__sim_thread *from, weir__sim_thread *to);
/* The current thread ends, as if its function had returned. */
_Noreturn void weir__sim_thread_exit(void);
/* Ends the run as failed. Does not return. */
_Noreturn void weir__sim_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- decide.c ---- */

typedef struct weir__sim_plan {
    weir_sim_strategy strategy;
    uint64_t seed;
    uint32_t depth;
    uint32_t faults;
    const weir__sim_decision *schedule; /* replay: sorted as it was made */
    uint32_t schedule_length;
} weir__sim_plan;

void weir__sim_decide_begin(const weir__sim_plan *plan);
/* At a step: the thread that goes on, perhaps the same. `yielding`: it would rather not. */
weir__sim_thread *weir__sim_decide_switch(weir__sim_thread *self, bool yielding);
/* A rare event, yes or no, once in about `rarity` times. */
bool weir__sim_decide_fault(uint32_t fault, char what, uint32_t rarity);
uint32_t weir__sim_decide_choice(uint32_t count);
/* Exhaustive: goes to the next order. False: there is none. */
bool weir__sim_decide_next(void);
uint64_t weir__sim_random(void);
const weir__sim_decision *weir__sim_decisions(uint32_t *count);
uint32_t weir__sim_preemptions(void);
/* A new exploration: nothing is known from the last. */
void weir__sim_decide_forget(void);

/* What a run leaves behind for the next, besides the log itself, which processes share. */
typedef struct weir__sim_decided {
    uint32_t decisions, preemptions, branches, branch_at;
} weir__sim_decided;

weir__sim_decided weir__sim_decided_get(void);
void weir__sim_decided_set(weir__sim_decided decided);

static inline bool weir__sim_can_run(const weir__sim_thread *thread)
{
    return thread->state == WEIR__SIM_RUNNABLE && thread->stalled_until <= weir__sim.steps;
}

/* ---- atomic.c ---- */

void weir__sim_atomics_reset(void);
/* The oldest store in flight of a thread becomes visible; all of them. */
void weir__sim_flush_one(weir__sim_thread *thread);
void weir__sim_flush_all(weir__sim_thread *thread);

static inline void weir__sim_flush(weir__sim_thread *thread)
{
    if (thread->buffered > 0) {
        weir__sim_flush_all(thread);
    }
}

/* Edges made by other means than atomics: what `from` did is before what `to` does next. */
void weir__sim_edge(weir__sim_thread *from, weir__sim_thread *to);
/* A full fence in every thread at once (membarrier). */
void weir__sim_fence_all(void);
uint64_t weir__sim_peek(const void *atom, uint32_t size);
#define WEIR__SIM_ATOMS_MAX (1u << 15)

/* ---- stale.c ---- */

typedef struct weir__sim_store_note {
    uint64_t value;
    uint32_t writer, epoch; /* its thread, and that one's own clock */
    bool strong;            /* seq_cst */
    const weir__sim_clock *released;
} weir__sim_store_note;

void weir__sim_stale_reset(void);
/* An atom gets a value, which was `before` until now. */
void weir__sim_stale_store(uint32_t atom, uint64_t before, const weir__sim_store_note *note);
/* The value that a load gets. *released: what that one's store handed over. */
uint64_t weir__sim_stale_load(uint32_t atom, weir__sim_thread *self, uint64_t newest, bool strong,
                              const weir__sim_clock **released);
/* The thread is at a seq_cst fence. */
void weir__sim_stale_fence(weir__sim_thread *thread);

/* ---- race.c ---- */

/* What is known of four bytes of memory. An access: thread in 4 bits, which of the bytes in 4,
 * clock in 24; 0: none. */
typedef struct weir__sim_shadow {
    uint32_t run; /* that wrote it: in others it is blank */
    uint32_t wrote, read[2];
    uint32_t atom; /* its record in atomic.c, if it is one */
} weir__sim_shadow;

#define WEIR__SIM_CELL_BYTES 4u
#define WEIR__SIM_CLOCK_MASK ((1u << 24) - 1)
extern weir__sim_shadow *weir__sim_shadows; /* of the arena */

/* After every change of what it looks at: races, company, the current thread and its clock. */
static inline void weir__sim_watch(void)
{
    const weir__sim_thread *self = weir__sim.current;
    weir__sim.watching =
        weir__sim.racing && weir__sim.company > 1 && self != NULL && !weir__sim.checking;
    if (weir__sim.watching) {
        weir__sim.epoch = self->index << 28 | (self->clock.at[self->index] & WEIR__SIM_CLOCK_MASK);
    }
}

static inline bool weir__sim_racing(void)
{
    return weir__sim.watching;
}

void weir__sim_access(uintptr_t address, size_t size, bool write);
void weir__sim_races_reset(void);
void weir__sim_race_freed(uintptr_t address, size_t size);
/* The same as those below, for all that is not in the arena, or not as usual. */
weir__sim_shadow *weir__sim_shadow_outside(uintptr_t address);
weir__sim_shadow *weir__sim_race_atomic_slow(uintptr_t address);

/* ---- memory.c ---- */

#define WEIR__SIM_ARENA_BYTES ((size_t)1 << 28)
#define WEIR__SIM_PAGE_SHIFT 12
extern char *weir__sim_arena;
extern uint8_t *weir__sim_page_gone; /* one byte a page: it was freed */

/* NULL: there is no place for it. */
static inline weir__sim_shadow *weir__sim_shadow_of(uintptr_t address)
{
    const uintptr_t offset = address - (uintptr_t)weir__sim_arena;
    return weir__likely(offset < WEIR__SIM_ARENA_BYTES)
               ? &weir__sim_shadows[offset / WEIR__SIM_CELL_BYTES]
               : weir__sim_shadow_outside(address);
}

/* An atomic access: not before the plain write that made it, not after its memory's end. Its
 * shadow, or NULL. */
static inline weir__sim_shadow *weir__sim_race_atomic(uintptr_t address)
{
    const uintptr_t offset = address - (uintptr_t)weir__sim_arena;
    if (weir__likely(offset < WEIR__SIM_ARENA_BYTES) &&
        weir__likely(weir__sim_page_gone[offset >> WEIR__SIM_PAGE_SHIFT] == 0)) {
        weir__sim_shadow *cell = &weir__sim_shadows[offset / WEIR__SIM_CELL_BYTES];
        if (cell->run != weir__sim.number || cell->wrote == 0 ||
            cell->wrote >> 28 == weir__sim.epoch >> 28) {
            return cell;
        }
    }
    return weir__sim_race_atomic_slow(address);
}

void weir__sim_memory_reset(void);
/* Memory for a table of the simulator's own: zeroes, and costs only what is touched. */
void *weir__sim_table(size_t size);
/* Bytes that were taken and not given back. */
size_t weir__sim_memory_live(void);
void weir__sim_process_wide_restore(void);

/* ---- thread.c ---- */

void weir__sim_thread_reset(void);
/* A thread's function is over: what is to be done with its local pointer. */
void weir__sim_thread_ends(weir__sim_thread *thread);

/* ---- poller.c ---- */

void weir__sim_pollers_reset(void);
/* Of a doorbell, or of a poller. */
bool weir__sim_is_doorbell(int descriptor);

/* ---- crash.c ---- */

/* The current thread has crashed: in which handler, with which event. NULL: in none. */
const char *weir__sim_crash_text(int number, uintptr_t address);

/* ---- trace.c ---- */

/* False: that file cannot be written. */
bool weir__sim_trace_open(const char *path);
void weir__sim_trace_close(void);
void weir__sim_trace(const char *what, const weir__sim_site *site, const void *atom,
                     uint64_t value);
void weir__sim_trace_text(const char *text);
/* "engine/duty.c:240 &thread->wake", or "somewhere". */
void weir__sim_site_text(const weir__sim_site *site, char *out, size_t size);

#endif /* WEIR_SYNC_SIM_CORE_H */
