/*
 * engine/trail.h - what a thread is doing for weir, and the last 32 events it did: all that the
 * crash report (engine/crash.c) needs to name the guilty.
 *
 * Written by its thread only, with six plain stores an event; read by the same thread, in a signal
 * handler. So nothing here is atomic, and no clock is asked. Processors are kept by handle: whoever
 * is gone by then is shown by number.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_TRAIL_H
#define WEIR_ENGINE_TRAIL_H

#include "weir/event.h"

#define WEIR__TRAIL_STEPS 32u

typedef enum weir__hook {
    WEIR__HOOK_HANDLER,
    WEIR__HOOK_UNHANDLED,
    WEIR__HOOK_INIT,
    WEIR__HOOK_DESTROY,
} weir__hook;

typedef struct weir__step {
    uint64_t processor;          /* who ran: a handle */
    const weir_event_type *type; /* NULL: it was an init or a destroy ... */
    uint64_t sender;             /* a handle; 0: an ordinary thread */
    uint64_t size;               /* ... namely this weir__hook; of an event: of its payload */
} weir__step;

/* A move is half a step, counted in bytes of `steps`: the place of a step is then one mask away. */
#define WEIR__TRAIL_MOVE (sizeof(weir__step) / 2)

struct weir__thread;

typedef struct weir__trail {
    weir_engine *engine;
    struct weir__thread *thread; /* NULL: not one of the engine's, and it buries what was left */
    uint64_t at;     /* one move into a step, one out of it: half-way while something runs ... */
    weir__hook hook; /* ... and that is this */
    weir__step steps[WEIR__TRAIL_STEPS]; /* a ring */
} weir__trail;

static inline weir__step *weir__trail_next(weir__trail *trail)
{
    return &trail->steps[trail->at / sizeof(weir__step) % WEIR__TRAIL_STEPS];
}

/* Around every call of a handler: event, done. */
static inline void weir__trail_event(weir__trail *trail, weir_processor self,
                                     const weir_event *event)
{
    weir__step *step = weir__trail_next(trail);
    step->processor = self.id;
    step->type = event->type;
    step->sender = event->from.sender.id;
    step->size = event->size;
    trail->at += WEIR__TRAIL_MOVE;
}

static inline void weir__trail_done(weir__trail *trail)
{
    trail->at += WEIR__TRAIL_MOVE;
}

/* Around an unhandled hook, which is about the event that was just done: unhandled, hook_done. */
static inline void weir__trail_unhandled(weir__trail *trail)
{
    trail->hook = WEIR__HOOK_UNHANDLED;
    trail->at -= WEIR__TRAIL_MOVE;
}

/* Around an init or a destroy: hook, hook_done. */
static inline void weir__trail_hook(weir__trail *trail, uint64_t processor, weir__hook hook)
{
    *weir__trail_next(trail) = (weir__step){ .processor = processor, .size = hook };
    trail->hook = hook;
    trail->at += WEIR__TRAIL_MOVE;
}

static inline void weir__trail_hook_done(weir__trail *trail)
{
    trail->at += WEIR__TRAIL_MOVE;
    trail->hook = WEIR__HOOK_HANDLER;
}

/* How many steps there were, the one under way included; and whether one is. */
static inline uint64_t weir__trail_count(const weir__trail *trail)
{
    return (trail->at + WEIR__TRAIL_MOVE) / sizeof(weir__step);
}

static inline bool weir__trail_runs(const weir__trail *trail)
{
    return trail->at % sizeof(weir__step) != 0;
}

/* The step before the newest by `back`, which is less than count and STEPS. */
static inline const weir__step *weir__trail_back(const weir__trail *trail, uint64_t back)
{
    return &trail->steps[(weir__trail_count(trail) - 1 - back) % WEIR__TRAIL_STEPS];
}

#endif /* WEIR_ENGINE_TRAIL_H */
