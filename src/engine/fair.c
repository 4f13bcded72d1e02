/*
 * engine/fair.c - numbers for those who wait. One look over the serving threads per decision: fair
 * mode buys equal shares with throughput.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/fair.h"

#include "engine/engine.h"

/* Who waits longest; NULL: nobody waits. */
static weir__thread *first_in_line(weir__dispatcher *dispatcher, uint64_t *number)
{
    weir__thread *first = NULL;
    *number = UINT64_MAX;
    for (weir__serving *s = weir__servings_first(dispatcher); s != NULL; s = s->next) {
        const uint64_t drawn = weir__load(&s->wait_number, seq_cst);
        if (drawn != 0 && drawn < *number) {
            first = s->thread;
            *number = drawn;
        }
    }
    return first;
}

/* Clears its parked bit, which makes the waker answerable for it, and gets it up. */
static void get_up(weir__dispatcher *dispatcher, weir__thread *thread)
{
    const uint64_t bit = UINT64_C(1) << (thread->index % 64);
    weir__atomic_u64 *word = &dispatcher->parked[thread->index / 64];
    if ((weir__and(word, ~bit, seq_cst) & bit) != 0) {
        weir__add(&dispatcher->searching, 1, seq_cst);
        weir__add(&dispatcher->signals, 1, relaxed);
        weir__thread_wake(thread);
    }
}

bool weir__fair_may_take(weir__dispatcher *dispatcher, weir__thread *thread, uint32_t place,
                         bool has_work)
{
    weir__serving *serving = thread->servings[place];
    uint64_t number;
    if (thread->external) {
        return true;
    }
    weir__thread *first = first_in_line(dispatcher, &number);
    if (has_work && (first == NULL || first == thread)) {
        weir__store(&serving->wait_number, 0, seq_cst);
        return true;
    }
    if (weir__load(&serving->wait_number, relaxed) == 0) {
        weir__store(&serving->wait_number, ++dispatcher->waits_begun, seq_cst);
    }
    if (has_work) {
        get_up(dispatcher, first);
    }
    return false;
}

void weir__fair_wake(weir__dispatcher *dispatcher)
{
    uint64_t number;
    weir__thread *first = first_in_line(dispatcher, &number);
    if (first != NULL) {
        get_up(dispatcher, first);
    } else if (weir__load(&dispatcher->threads_external, relaxed) != 0) {
        weir__dispatcher_wake_external(dispatcher);
    }
}

bool weir__fair_has_work_for(weir__dispatcher *dispatcher, const weir__serving *serving)
{
    uint64_t number;
    if (!weir__dispatcher_has_work(dispatcher)) {
        return false;
    }
    first_in_line(dispatcher, &number);
    const uint64_t mine = weir__load((weir__atomic_u64 *)(uintptr_t)&serving->wait_number, seq_cst);
    /* Without a number we have not even asked; with the lowest one it is our turn. */
    return mine == 0 || mine <= number;
}

WEIR__WARM void weir__fair_step_out(weir__thread *thread)
{
    for (uint32_t i = 0; i < thread->serving_count; i++) {
        weir__serving *serving = thread->servings[i];
        if (serving->dispatcher->fair && weir__load(&serving->wait_number, relaxed) != 0) {
            weir__store(&serving->wait_number, 0, seq_cst);
            if (weir__dispatcher_has_work(serving->dispatcher)) {
                weir__fair_wake(serving->dispatcher);
            }
        }
    }
}
