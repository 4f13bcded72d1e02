/*
 * pool_depot.c - the pool by itself: magazines travel between three threads, and no object is in
 * two hands at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/memory.h"
#include "queue/pool.h"
#include "scenario.h"

#define HELD 3

typedef struct object {
    weir__pooled pooled;
    int holder;
} object;

static weir__pool pool;
static WEIR__ATOMIC(
    object *) gift; /* one object that changes hands: freed by another than took it */

/* Plain writes to the body of what is held: two holders are a race. */
static void take_and_give(void *number)
{
    weir__pool_cache cache = { NULL, NULL, 0 };
    const int me = *(const int *)number;
    object *held[HELD];
    for (int i = 0; i < HELD; i++) {
        held[i] = (object *)(void *)weir__pool_get(&pool, &cache);
        if (held[i] != NULL) {
            held[i]->holder = me;
        }
    }
    object *other = weir__exchange(&gift, held[0], acq_rel);
    held[0] = other;
    for (int i = 0; i < HELD; i++) {
        if (held[i] != NULL) {
            weir_sim_check(i == 0 || held[i]->holder == me, "an object of %d is also %d's", me,
                           held[i]->holder);
            held[i]->holder = 0;
            weir__pool_put(&pool, &cache, &held[i]->pooled);
        }
    }
    weir__pooled *again = weir__pool_get(&pool, &cache);
    if (again != NULL) {
        weir__pool_put_shared(&pool, again);
    }
    weir__pool_flush(&pool, &cache);
}

SCENARIO(pool_depot, "three threads take from and give to one pool with magazines of two")
{
    static int numbers[3] = { 1, 2, 3 };
    weir_sim_quiet(true);
    weir__pool_open(&pool, weir__allocator_default(), 64, 2);
    weir__init(&gift, NULL);
    weir_sim_quiet(false);
    const int one = weir_sim_thread_start(take_and_give, &numbers[1]);
    const int two = weir_sim_thread_start(take_and_give, &numbers[2]);
    take_and_give(&numbers[0]);
    weir_sim_thread_join(one);
    weir_sim_thread_join(two);
    weir__pool_close(&pool);
}
