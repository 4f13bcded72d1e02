/*
 * sync/sim/thread.c - the rest of the sync room: threads, cores, the local pointer, clocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sync/thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sync/sim/core.h"

#define WALL_BEGIN (INT64_C(1700000000) * WEIR_S)

static void (*local_hook)(void *);
static void *host_local; /* of the explorer, outside runs */

void weir__sim_thread_reset(void)
{
    weir__sim_pollers_reset();
    local_hook = NULL;
}

void weir__sim_thread_ends(weir__sim_thread *thread)
{
    if (thread->local_armed && thread->local != NULL && local_hook != NULL) {
        local_hook(thread->local);
        thread->local = NULL;
    }
}

/* ---- threads ---- */

int weir__os_thread_start(weir__os_thread *thread, void (*run)(void *), void *argument)
{
    static const weir__sim_site site = { "sync/thread.h", 0, "weir__os_thread_start" };
    weir__sim_step(&site);
    if (weir__sim.current == NULL) {
        return EAGAIN;
    }
    weir__sim_flush(weir__sim.current);
    const int index = weir__sim_spawn(run, argument);
    if (index < 0 || weir__sim_decide_fault(WEIR_SIM_ALLOCATIONS, 'a', 64)) {
        if (index >= 0) {
            weir__sim.threads[index].state = WEIR__SIM_FREE;
            weir__sim.alive--;
            weir__sim.company--;
            weir__sim_watch();
        }
        return EAGAIN;
    }
    thread->run = run;
    thread->argument = argument;
    thread->handle = (uintptr_t)index;
    return 0;
}

/* A signal is a thread of its own there. */
void weir__signals_hold(weir__signals *held)
{
    (void)held;
}

void weir__signals_release(const weir__signals *held)
{
    (void)held;
}

void weir__os_thread_join(weir__os_thread *thread)
{
    static const weir__sim_site site = { "sync/thread.h", 0, "weir__os_thread_join" };
    weir__sim_step(&site);
    weir__sim_flush(weir__sim.current);
    weir__sim_join((uint32_t)thread->handle);
}

void weir__os_thread_name(const char *name)
{
    if (weir__sim.current != NULL) {
        snprintf(weir__sim.current->name, sizeof(weir__sim.current->name), "%s", name);
    }
}

void weir__os_thread_precise(void)
{
}

int32_t weir__os_thread_id(void)
{
    return weir__sim.current != NULL ? (int32_t)weir__sim.current->index + 1 : 0;
}

int weir__os_thread_pin(const int32_t *cores, uint32_t count, int32_t *wrong)
{
    for (uint32_t i = 0; i < count; i++) {
        if (cores[i] < 0 || (uint32_t)cores[i] >= weir__sim.cores) {
            *wrong = cores[i];
            return EINVAL;
        }
    }
    return 0;
}

void weir__cores_allowed(weir__cores *out)
{
    *out = (weir__cores){ 0 };
    for (uint32_t i = 0; i < weir__sim.cores && i < 64 * WEIR__CORES_WORDS; i++) {
        out->bits[i / 64] |= UINT64_C(1) << i % 64;
    }
}

int weir__os_thread_place(const weir__cores *cores)
{
    (void)cores;
    return 0;
}

int weir__os_thread_priority(weir_priority policy, int32_t value)
{
    (void)policy;
    (void)value;
    return 0;
}

void weir__yield(void)
{
    static const weir__sim_site site = { "sync/thread.h", 0, "weir__yield" };
    weir__sim_pass(WEIR__SCALE_YIELD);
    weir__sim_give_way(&site);
}

int32_t weir__os_core(void)
{
    return -1;
}

void weir__pause(void)
{
    static const weir__sim_site site = { "sync/thread.h", 0, "weir__pause" };
    weir__sim_pass(WEIR__SCALE_PAUSE);
    weir__sim_give_way(&site);
}

uint32_t weir__cores_usable(void)
{
    return weir__sim.cores;
}

/* ---- the local pointer ---- */

void **weir__local(void)
{
    return weir__sim.current != NULL ? &weir__sim.current->local : &host_local;
}

int weir__local_at_exit(void (*hook)(void *))
{
    local_hook = hook;
    return 0;
}

void weir__local_arm(void)
{
    if (weir__sim.current != NULL) {
        weir__sim.current->local_armed = true;
    }
}

int weir__after_fork(void (*hook)(void))
{
    (void)hook;
    return 0;
}

/* ---- time and chance ---- */

weir_ns weir__clock_now(void)
{
    static const weir__sim_site site = { "sync/thread.h", 0, "weir__clock_now" };
    weir__sim_step(&site);
    weir__sim_pass(WEIR__SCALE_CLOCK);
    return weir__sim_time();
}

weir_ns weir__clock_coarse(void)
{
    return weir__clock_now();
}

weir_ns weir__clock_wall(void)
{
    return WALL_BEGIN + weir__clock_now();
}

weir_ns weir__os_thread_cpu(int32_t id)
{
    (void)id;
    return -1; /* nobody counts */
}

int32_t weir__os_thread_core(int32_t id)
{
    (void)id;
    return -1;
}

uint64_t weir__random_seed(void)
{
    return weir__sim_random() | 1;
}
