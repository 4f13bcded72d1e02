/*
 * engine/monitor.h - the thread that sees to it that nothing kept on a thread (engine/kept.h)
 * waits behind a long handler of that thread.
 *
 * It ticks while something is kept somewhere, and sleeps otherwise: an idle engine has nothing that
 * ticks. Only an engine with a dispatcher that several threads serve has one: what the only thread
 * of a dispatcher keeps, nobody else may run.
 *
 * While it ticks it also bounds how many threads of a dispatcher are up, where there are more than
 * cores and their turns are brief. Should those that are up be held up, what waits because of the
 * bound waits for a tick, as what is kept does: the bound is raised. None outlasts the ticks.
 *
 *     owner:    keep (engine/kept.h); light barrier; look at whether the monitor sleeps
 *     monitor:  say that it sleeps; heavy barrier; look at every list
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_MONITOR_H
#define WEIR_ENGINE_MONITOR_H

#include "engine/engine.h"

/* Values of engine->monitoring, a wait word. Where there is no monitor, it is never asleep. */
enum { WEIR__MONITOR_AWAKE, WEIR__MONITOR_ASLEEP, WEIR__MONITOR_QUIT };

/* registry.lock held. Makes sure that it runs, if a dispatcher is shared; and in any case. */
weir_status weir__monitor_need(weir_engine *engine, weir_error *error);
weir_status weir__monitor_start(weir_engine *engine, weir_error *error);
/* Ends it, if it runs. Not with the lock held. */
void weir__monitor_close(weir_engine *engine);

/* Gets it up. Any thread. */
void weir__monitor_wake(weir_engine *engine);

/* The owner of a list, after it has put something in: whether the monitor must get up for it. */
static inline bool weir__monitor_sleeps(weir_engine *engine)
{
    weir__barrier_light();
    return weir__unlikely(weir__load(&engine->monitoring, relaxed) == WEIR__MONITOR_ASLEEP);
}

/* And sees to it. */
static inline void weir__monitor_note(weir_engine *engine)
{
    if (weir__monitor_sleeps(engine)) {
        weir__monitor_wake(engine);
    }
}

#endif /* WEIR_ENGINE_MONITOR_H */
