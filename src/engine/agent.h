/*
 * engine/agent.h - something with a duty cycle, hosted by a thread beside its dispatchers: the
 * engine's half of services, sources and sinks.
 *
 * Every round of the thread calls do_work of each of its agents, in the order they joined; the sum
 * of what they did decides whether the thread idles. A thread with agents parks until the earliest
 * of their deadlines, until one of them is woken, or one of their descriptors is ready.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_AGENT_H
#define WEIR_ENGINE_AGENT_H

#include "weir/thread.h"

typedef struct weir__agent weir__agent;

typedef struct weir__agent_plan {
    const char *name; /* for reports */
    /* The thread. How much was done, 0: nothing, or a negative status, which is reported. *next,
     * preset to WEIR_FOREVER, is when (the engine's clock) to be called at the latest; 0: within
     * the thread's max_park (1 ms). Called every round anyway while the thread is up. NULL: none.
     */
    int32_t (*do_work)(void *context, weir_ns *next);
    /* do_work failed; any answer of it below zero. The thread. It is not called again for 10 ms,
     * doubling up to 1 s while it goes on failing. */
    void (*failed)(void *context, weir_status status);
    void *context;
} weir__agent_plan;

/* Control, also while the engine runs. NULL: error set (no such thread, no memory). From then on
 * do_work is called, on that thread. */
weir__agent *weir__agent_join(weir_engine *engine, weir_thread thread, const weir__agent_plan *plan,
                              weir_error *error);

/* Blocking, or on its own thread: at once, in its own do_work, too. Nothing of it is called after
 * this returned; frees it. Before the engine is destroyed, which frees those that are left. */
void weir__agent_leave(weir__agent *agent);

/* Blocking; on its own thread: at once. Runs `call` on the agent's thread, between rounds, in the
 * order asked for; before the engine runs, and of an external thread that nobody turns, it waits.
 * STOPPING: the thread has gone, and it was not run. */
weir_status weir__agent_call(weir__agent *agent, void (*call)(void *argument), void *argument);

/* Any, async-signal-safe. do_work is called soon. */
void weir__agent_wake(weir__agent *agent);

/* Its thread. While the descriptor is ready the thread does not sleep: do_work is called. Level-
 * triggered; both false: forgotten, which comes before it is closed. E_LIMIT: the agent watches 64.
 * E_SYSTEM. */
weir_status weir__agent_poll(weir__agent *agent, int fd, bool readable, bool writable);

#endif /* WEIR_ENGINE_AGENT_H */
