/*
 * engine/trail.h - what a thread is doing for weir, and the last 32 events it did: all that the
 * crash report (engine/crash.c) needs to name the guilty.
 *
 * Written by its thread only, with six stores an event; read by the same thread, in a signal
 * handler, by the watchdog (engine/watchdog.c), which sees from `at` whether something goes on and
 * on, and reads of the step under way who and what it is, and by people who ask for the last events
 * of a processor (engine/trace_recent.c). What those read is atomic, and all of it relaxed: the
 * order is the reader's business, which has heavy barriers for it. No clock is
 * asked. Processors are kept by handle: whoever is gone by then is shown by number.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_TRAIL_H
#define WEIR_ENGINE_TRAIL_H

#include "sync/atomic.h"
#include "weir/event.h"

#ifdef WEIR_SIMULATED
#define WEIR__TRAIL_STEPS 2u /* the watchdog is soon overtaken */
#else
#define WEIR__TRAIL_STEPS 32u
#endif

typedef enum weir__hook {
    WEIR__HOOK_HANDLER,
    WEIR__HOOK_UNHANDLED,
    WEIR__HOOK_INIT,
    WEIR__HOOK_DESTROY,
    WEIR__HOOK_TIMER,   /* of a timer, whose receiver is the processor, if it has one */
    WEIR__HOOK_DO_WORK, /* of an agent, whose id stands for the processor; so the next one */
    WEIR__HOOK_CALL,
} weir__hook;

typedef struct weir__step {
    weir__cell processor;                       /* who ran: a handle */
    WEIR__ATOMIC(const weir_event_type *) type; /* NULL: it was an init or a destroy ... */
    weir__cell sender;                          /* a handle; 0: an ordinary thread */
    weir__cell size; /* ... namely this weir__hook; of an event: of its payload */
} weir__step;

/* A move is half a step, counted in bytes of `steps`: the place of a step is then one mask away. */
#define WEIR__TRAIL_MOVE (sizeof(weir__step) / 2)

struct weir__thread;

typedef struct weir__trail {
    weir_engine *engine;
    struct weir__thread *thread; /* NULL: a scheduler's; or one that buries what was left. Its own
                                    one is in the thread, another its agents' */
    const char *name;            /* of a scheduler's thread; else NULL */
    bool watched;                /* by a watchdog; only the simulator asks */
    weir__cell at;   /* one move into a step, one out of it: half-way while something runs, and then
                      the bits below a move say what, a weir__hook. No two runs have the same */
    uint64_t before; /* steps of those who had the thread's record before it */
    weir__step steps[WEIR__TRAIL_STEPS]; /* a ring */
} weir__trail;

/* ---- a value of `at` ---- */

/* How many steps there were, the one under way included. */
static inline uint64_t weir__trail_count_at(uint64_t at)
{
    return (at + WEIR__TRAIL_MOVE) / sizeof(weir__step);
}

static inline bool weir__trail_runs_at(uint64_t at)
{
    return (at & WEIR__TRAIL_MOVE) != 0;
}

/* While something runs. */
static inline weir__hook weir__trail_hook_at(uint64_t at)
{
    return (weir__hook)(at % WEIR__TRAIL_MOVE);
}

/* The newest step. */
static inline weir__step *weir__trail_step_at(weir__trail *trail, uint64_t at)
{
    return &trail->steps[(weir__trail_count_at(at) - 1) % WEIR__TRAIL_STEPS];
}

/* ---- the thread ---- */

#ifdef WEIR_SIMULATED
/* Where nobody watches, it is no other thread's business: no step, and no store that is late. */
#define WEIR__TRAIL_WATCHED(trail) ((trail)->watched)
#define WEIR__TRAIL_WRITE(trail, atom, to)                                                         \
    (WEIR__TRAIL_WATCHED(trail) ? weir__store(atom, to, relaxed) : weir__init(atom, to))
#define WEIR__TRAIL_READ(trail, atom)                                                              \
    (WEIR__TRAIL_WATCHED(trail) ? weir__load(atom, relaxed) : (atom)->value)
#else
#define WEIR__TRAIL_WATCHED(trail) true
#define WEIR__TRAIL_WRITE(trail, atom, to) weir__store(atom, to, relaxed)
#define WEIR__TRAIL_READ(trail, atom) weir__load(atom, relaxed)
#endif

/* By its own thread. */
static inline uint64_t weir__trail_at(const weir__trail *trail)
{
    weir__trail *const own = (weir__trail *)(uintptr_t)trail;
    return WEIR__TRAIL_READ(own, &own->at);
}

/* Between two steps. */
static inline weir__step *weir__trail_next(weir__trail *trail, uint64_t at)
{
    const size_t offset = at % sizeof(trail->steps);
    return (weir__step *)((char *)trail->steps + offset);
}

/* Around every call of a handler: event, done. */
static inline void weir__trail_event(weir__trail *trail, weir_processor self,
                                     const weir_event *event)
{
    /* First: behind anything atomic the compiler reads the event from memory again. */
    const weir_event_type *const type = event->type;
    const uint64_t sender = event->from.sender.id;
    const uint64_t size = event->size;
    const uint64_t at = weir__trail_at(trail);
    weir__step *step = weir__trail_next(trail, at);
    WEIR__TRAIL_WRITE(trail, &step->sender, sender);
    WEIR__TRAIL_WRITE(trail, &step->size, size);
    WEIR__TRAIL_WRITE(trail, &step->processor, self.id);
    WEIR__TRAIL_WRITE(trail, &step->type, type);
    WEIR__TRAIL_WRITE(trail, &trail->at, at + WEIR__TRAIL_MOVE);
}

static inline void weir__trail_done(weir__trail *trail)
{
#ifdef WEIR_SIMULATED
    WEIR__TRAIL_WRITE(trail, &trail->at, weir__trail_at(trail) + WEIR__TRAIL_MOVE);
#else
    weir__cell_add(&trail->at, WEIR__TRAIL_MOVE);
#endif
}

/* Around an unhandled hook, which is about the event that was just done: unhandled, hook_done. */
static inline void weir__trail_unhandled(weir__trail *trail)
{
    const uint64_t at = weir__trail_at(trail);
    WEIR__TRAIL_WRITE(trail, &trail->at, at - WEIR__TRAIL_MOVE + WEIR__HOOK_UNHANDLED);
}

/* Around an init, a destroy, or the hook of a timer: hook, hook_done. */
static inline void weir__trail_hook(weir__trail *trail, uint64_t processor, weir__hook hook)
{
    const uint64_t at = weir__trail_at(trail);
    weir__step *step = weir__trail_next(trail, at);
    WEIR__TRAIL_WRITE(trail, &step->processor, processor);
    WEIR__TRAIL_WRITE(trail, &step->type, NULL);
    WEIR__TRAIL_WRITE(trail, &step->sender, 0);
    WEIR__TRAIL_WRITE(trail, &step->size, hook);
    WEIR__TRAIL_WRITE(trail, &trail->at, at + WEIR__TRAIL_MOVE + hook);
}

static inline void weir__trail_hook_done(weir__trail *trail)
{
    const uint64_t at = weir__trail_at(trail);
    WEIR__TRAIL_WRITE(trail, &trail->at, at + WEIR__TRAIL_MOVE - weir__trail_hook_at(at));
}

static inline uint64_t weir__trail_count(const weir__trail *trail)
{
    return weir__trail_count_at(weir__trail_at(trail));
}

static inline bool weir__trail_runs(const weir__trail *trail)
{
    return weir__trail_runs_at(weir__trail_at(trail));
}

/* The step before the newest by `back`, which is less than count and STEPS. */
static inline const weir__step *weir__trail_back(const weir__trail *trail, uint64_t back)
{
    return &trail->steps[(weir__trail_count(trail) - 1 - back) % WEIR__TRAIL_STEPS];
}

#endif /* WEIR_ENGINE_TRAIL_H */
