/*
 * sync/sim/word.c - sleeping on a word, and the barrier whose price one side pays.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sync/word.h"

#include "sync/barrier.h"
#include "sync/sim/core.h"

#define SPURIOUS_ONE_IN 32

bool weir__word_wait(weir__atomic_u32 *word, uint32_t expected, weir_ns timeout)
{
    static const weir__sim_site site = { "sync/word.h", 0, "weir__word_wait" };
    weir__sim_thread *self = weir__sim.current;
    if (timeout <= 0 || self == NULL) {
        return false;
    }
    const weir__sim_site *caller = self->site; /* says more than ours */
    weir__sim_step(&site);
    weir__sim_pass(WEIR__SCALE_CALL);
    weir__sim_flush(self); /* a system call */
    const uint32_t value = (uint32_t)weir__sim_peek(word, sizeof(word->value));
    if (weir__sim.tracing) {
        weir__sim_trace(value == expected ? "wait" : "wait: changed", caller, word, value);
    }
    if (value != expected || weir__sim_decide_fault(WEIR_SIM_SPURIOUS, 'w', SPURIOUS_ONE_IN)) {
        return true;
    }
    self->site = caller;
    return weir__sim_sleep_on(word, timeout);
}

void weir__word_wake(weir__atomic_u32 *word, uint32_t count)
{
    static const weir__sim_site site = { "sync/word.h", 0, "weir__word_wake" };
    weir__sim_step(&site);
    if (weir__sim.current == NULL) {
        return;
    }
    weir__sim_pass(WEIR__SCALE_CALL);
    weir__sim_flush(weir__sim.current);
    if (weir__sim.tracing) {
        weir__sim_trace("wake", &site, word, count);
    }
    weir__sim_wake(word, count);
}

void weir__barrier_open(void)
{
}

/* It is counted, and nothing else: what it relies on is the other side's doing. */
void weir__barrier_light(void)
{
    weir__sim_lights++;
}

void weir__barrier_heavy(void)
{
    static const weir__sim_site site = { "sync/barrier.h", 0, "weir__barrier_heavy" };
    weir__sim_step(&site);
    weir__sim_counted.barriers++;
    if (weir__sim.tracing) {
        weir__sim_trace("heavy barrier", &site, NULL, 0);
    }
    weir__sim_fence_all();
}
