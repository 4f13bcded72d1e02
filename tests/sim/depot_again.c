/*
 * depot_again.c - the same magazine is on top of the depot again, and what was below it is not: a
 * thread that was stuck in between must not take the old order for the new one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/memory.h"
#include "queue/pool.h"
#include "scenario.h"

#define OBJECTS 3

typedef struct object {
    weir__pooled pooled;
    int holder;
} object;

static weir__pool pool;

static object *take(weir__pool_cache *cache, int me)
{
    object *o = (object *)(void *)weir__pool_get(&pool, cache);
    weir_sim_check(o != NULL, "no memory");
    o->holder = me; /* plain: two holders are a race */
    return o;
}

static void give(object *o, int me)
{
    weir_sim_check(o->holder == me, "an object of %d is also %d's", me, o->holder);
    weir__pool_put_shared(&pool, &o->pooled);
}

static void take_two(void *unused)
{
    weir__pool_cache cache = { NULL, NULL, 0 };
    (void)unused;
    object *first = take(&cache, 1);
    object *second = take(&cache, 1);
    give(second, 1);
    give(first, 1);
}

SCENARIO(depot_again, "a magazine is taken, the next one too, and the first given back")
{
    weir__pool_cache cache = { NULL, NULL, 0 };
    object *objects[OBJECTS];
    weir_sim_quiet(true);
    weir__pool_open(&pool, weir__allocator_default(), 64, 1);
    for (int i = 0; i < OBJECTS; i++) {
        objects[i] = take(&cache, 0);
    }
    for (int i = 0; i < OBJECTS; i++) {
        give(objects[i], 0);
    }
    weir_sim_quiet(false);
    const int other = weir_sim_thread_start(take_two, NULL);
    object *first = take(&cache, 2);
    object *second = take(&cache, 2);
    give(first, 2);
    object *third = take(&cache, 2);
    give(second, 2);
    give(third, 2);
    weir_sim_thread_join(other);
    weir__pool_close(&pool);
}
