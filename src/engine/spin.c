/*
 * engine/spin.c - see spin.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/spin.h"

#include "engine/dispatcher.h"
#include "sync/thread.h"

#ifdef WEIR_SIMULATED
#define LOOKS 2u /* so that a schedule is short */
#else
#define LOOKS 8u
#endif

static bool seem_queued(const weir__thread *thread)
{
    for (uint32_t i = 0; i < thread->serving_count; i++) {
        if (weir__dispatcher_has_more(thread->servings[i]->dispatcher)) {
            return true;
        }
    }
    return false;
}

static void count(weir__thread *thread, uint32_t rounds)
{
    weir__cell_add(&thread->rounds, rounds);
    weir__cell_add(&thread->rounds_idle, rounds);
    for (uint32_t i = 0; i < thread->serving_count; i++) {
        weir__cell_add(&thread->servings[i]->rounds, rounds);
    }
}

void weir__spin(weir__thread *thread)
{
    const uint32_t most = thread->hosts ? 1 : LOOKS;
    uint32_t looks = 0;
    do {
        weir__pause();
        looks++;
    } while (looks < most && !seem_queued(thread));
    count(thread, looks - 1); /* the last one is the next round's */
}
