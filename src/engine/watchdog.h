/*
 * engine/watchdog.h - the thread that reports what does not return: handlers, hooks, whatever
 * leaves its steps on a trail (engine/trail.h).
 *
 * It looks at the trails every now and then, and sleeps while everybody rests: an idle engine has
 * nothing that ticks. Events cost nothing; a thread that gets up looks once whether the watchdog
 * sleeps:
 *
 *     thread:    say that it is up; light barrier; look whether the watchdog sleeps
 *     watchdog:  say that it sleeps; heavy barrier; look who is up
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_WATCHDOG_H
#define WEIR_ENGINE_WATCHDOG_H

#include "engine/engine.h"

/* Values of engine->watching, a wait word. Where there is no watchdog, it is never asleep. */
enum { WEIR__WATCHDOG_AWAKE, WEIR__WATCHDOG_ASLEEP, WEIR__WATCHDOG_QUIT };

/* registry.lock held. Starts it, unless it is switched off or runs; and takes that back, if nothing
 * has run since. */
weir_status weir__watchdog_start(weir_engine *engine, weir_error *error);
void weir__watchdog_undo(weir_engine *engine);
/* Ends it, if it runs. Not with the lock held. */
void weir__watchdog_close(weir_engine *engine);

/* Any thread, whether a watchdog runs or not; nothing may run on its trail meanwhile. What is
 * watched lives until it is removed, or until the watchdog is closed. */
void weir__watchdog_add(weir_engine *engine, weir__watched *watched);
void weir__watchdog_remove(weir_engine *engine, weir__watched *watched);
void weir__watchdog_rename(weir_engine *engine, weir__watched *watched, const char *name);

/* Gets it up. Any thread. */
void weir__watchdog_wake(weir_engine *engine);

/* The thread of a trail: from now on something may run there ... */
static inline void weir__watched_up(weir_engine *engine, weir__watched *watched)
{
    WEIR__TRAIL_WRITE(watched->trail, &watched->up, 1);
    weir__barrier_light();
    if (WEIR__TRAIL_WATCHED(watched->trail) &&
        weir__unlikely(weir__load(&engine->watching, relaxed) == WEIR__WATCHDOG_ASLEEP)) {
        weir__watchdog_wake(engine);
    }
}

/* ... and from now on nothing does. */
static inline void weir__watched_rest(weir__watched *watched)
{
    WEIR__TRAIL_WRITE(watched->trail, &watched->up, 0);
}

/* Whose thread that is, if it may be another one than before. */
static inline void weir__watched_by(weir__watched *watched, uint32_t system_id)
{
    if (WEIR__TRAIL_READ(watched->trail, &watched->system_id) != system_id) {
        WEIR__TRAIL_WRITE(watched->trail, &watched->system_id, system_id);
    }
}

#endif /* WEIR_ENGINE_WATCHDOG_H */
