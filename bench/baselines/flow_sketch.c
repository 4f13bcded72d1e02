/*
 * baselines/flow_sketch.c - see flow_sketch.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "baselines/flow_sketch.h"

#include <stdlib.h>

#include "baselines/design.h"
#include "sync/mutex.h"
#include "sync/word.h"

enum { INGRESS_MAX = 65536, WORKER_MAX = 8192, DRAIN_MAX = 128 };
#define NO_KEY 0u /* a signal that ends who takes it */

/* ---- the map: open addressing, half full at most ---- */

bool sketch_map_open(sketch_map *map, uint32_t most)
{
    uint64_t size = 16;
    while (size < 2 * (uint64_t)most) {
        size *= 2;
    }
    map->slots = baseline_allocate(size * sizeof(*map->slots));
    map->mask = size - 1;
    map->count = 0;
    return map->slots != NULL;
}

void sketch_map_close(sketch_map *map)
{
    free(map->slots);
}

static uint64_t home_of(const sketch_map *map, uint64_t key)
{
    return (key * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & map->mask;
}

uint64_t *sketch_map_at(sketch_map *map, uint64_t key, bool *made)
{
    uint64_t at = home_of(map, key);
    while (map->slots[at].key != key && map->slots[at].key != 0) { /* ends: half of it is empty */
        at = (at + 1) & map->mask;
    }
    *made = map->slots[at].key == 0;
    if (*made) {
        map->slots[at] = (sketch_slot){ key, 0 };
        map->count++;
    }
    return &map->slots[at].value;
}

/* Those behind it move up, so that no hole parts them from their home. */
void sketch_map_remove(sketch_map *map, uint64_t key)
{
    uint64_t hole = home_of(map, key);
    while (map->slots[hole].key != key) {
        if (map->slots[hole].key == 0) {
            return;
        }
        hole = (hole + 1) & map->mask;
    }
    for (uint64_t at = (hole + 1) & map->mask; map->slots[at].key != 0; at = (at + 1) & map->mask) {
        const uint64_t home = home_of(map, map->slots[at].key);
        if (((at - home) & map->mask) >= ((at - hole) & map->mask)) {
            map->slots[hole] = map->slots[at];
            hole = at;
        }
    }
    map->slots[hole].key = 0;
    map->count--;
}

/* ---- a bounded queue: one lock, two conditions ---- */

typedef struct condition {
    weir__atomic_u32 word; /* grows with every signal */
    uint32_t sleepers;     /* under the lock */
} condition;

typedef struct queue {
    _Alignas(64) weir__mutex lock;
    sketch_signal *ring; /* this and all below: under the lock */
    uint32_t mask, first, count;
    condition not_empty, not_full;
} queue;

static bool queue_open(queue *self, uint32_t size)
{
    self->ring = baseline_allocate(size * sizeof(*self->ring));
    self->mask = size - 1;
    return self->ring != NULL;
}

static void sleep_on(queue *self, condition *on)
{
    const uint32_t seen = weir__load(&on->word, relaxed);
    on->sleepers++;
    weir__mutex_unlock(&self->lock);
    (void)weir__word_wait(&on->word, seen, WEIR_FOREVER);
    weir__mutex_lock(&self->lock);
    on->sleepers--;
}

/* Lock held; it is released. Nobody is called who does not sleep. */
static void unlock_and_signal(queue *self, condition *on)
{
    const bool signal = on->sleepers > 0;
    if (signal) {
        (void)weir__add(&on->word, 1, relaxed);
    }
    weir__mutex_unlock(&self->lock);
    if (signal) {
        weir__word_wake(&on->word, 1);
    }
}

static void put(queue *self, const sketch_signal *signal)
{
    weir__mutex_lock(&self->lock);
    while (self->count > self->mask) { /* ends: it is being drained */
        sleep_on(self, &self->not_full);
    }
    self->ring[(self->first + self->count++) & self->mask] = *signal;
    unlock_and_signal(self, &self->not_empty);
}

/* Waits for one; takes as many as there are, up to DRAIN_MAX. */
static uint32_t drain(queue *self, sketch_signal *out)
{
    weir__mutex_lock(&self->lock);
    while (self->count == 0) { /* ends: with the signal that ends everything at the latest */
        sleep_on(self, &self->not_empty);
    }
    const uint32_t took = self->count < DRAIN_MAX ? self->count : DRAIN_MAX;
    for (uint32_t i = 0; i < took; i++) {
        out[i] = self->ring[(self->first + i) & self->mask];
    }
    self->first = (self->first + took) & self->mask;
    self->count -= took;
    unlock_and_signal(self, &self->not_full);
    return took;
}

static uint32_t queue_size(queue *self)
{
    weir__mutex_lock(&self->lock);
    const uint32_t size = self->count;
    weir__mutex_unlock(&self->lock);
    return size;
}

/* ---- threads ---- */

typedef struct worker {
    queue in;
    sketch *all;
    void *state;
    weir_ns ended_at;
    weir__os_thread thread;
} worker;

struct sketch {
    queue ingress;
    worker *workers;
    uint32_t worker_count, started;
    void (*handler)(void *state, const sketch_signal *signal);
    weir__os_thread router;
    bool routing;
    _Alignas(64) weir__mutex map_lock;
    sketch_map map;
};

static uint32_t pick_least_loaded(sketch *all)
{
    uint32_t index = 0, best = UINT32_MAX;
    for (uint32_t i = 0; i < all->worker_count; i++) {
        const uint32_t size = queue_size(&all->workers[i].in);
        if (size < best) {
            best = size;
            index = i;
        }
    }
    return index;
}

static void route(sketch *all, const sketch_signal *signal)
{
    bool made;
    weir__mutex_lock(&all->map_lock);
    uint64_t *index = sketch_map_at(&all->map, signal->key, &made);
    if (made) {
        *index = pick_least_loaded(all);
    }
    const uint64_t to = *index;
    weir__mutex_unlock(&all->map_lock);
    put(&all->workers[to].in, signal);
}

static void run_router(void *argument)
{
    sketch *all = argument;
    sketch_signal some[DRAIN_MAX];
    for (;;) { /* ends with NO_KEY */
        const uint32_t count = drain(&all->ingress, some);
        for (uint32_t i = 0; i < count; i++) {
            if (some[i].key == NO_KEY) {
                for (uint32_t k = 0; k < all->worker_count; k++) {
                    put(&all->workers[k].in, &some[i]);
                }
                return;
            }
            route(all, &some[i]);
        }
    }
}

static void complete_flow(sketch *all, uint64_t key)
{
    weir__mutex_lock(&all->map_lock);
    sketch_map_remove(&all->map, key);
    weir__mutex_unlock(&all->map_lock);
}

static void run_worker(void *argument)
{
    worker *self = argument;
    sketch_signal some[DRAIN_MAX];
    for (;;) { /* ends with NO_KEY */
        const uint32_t count = drain(&self->in, some);
        for (uint32_t i = 0; i < count; i++) {
            if (some[i].key == NO_KEY) {
                self->ended_at = weir__clock_now();
                return;
            }
            self->all->handler(self->state, &some[i]);
            if (some[i].finish != 0) {
                complete_flow(self->all, some[i].key);
            }
        }
    }
}

/* ---- life ---- */

static bool start(sketch *all)
{
    for (uint32_t i = 0; i < all->worker_count; i++) {
        if (weir__os_thread_start(&all->workers[i].thread, run_worker, &all->workers[i]) != 0) {
            return false;
        }
        all->started++;
    }
    all->routing = weir__os_thread_start(&all->router, run_router, all) == 0;
    return all->routing;
}

static bool open_all(sketch *all, const sketch_options *options)
{
    bool good = all->workers != NULL && queue_open(&all->ingress, INGRESS_MAX) &&
                sketch_map_open(&all->map, options->flows_max);
    for (uint32_t i = 0; good && i < all->worker_count; i++) {
        all->workers[i].all = all;
        all->workers[i].state = options->states[i];
        good = queue_open(&all->workers[i].in, WORKER_MAX);
    }
    return good;
}

sketch *sketch_create(const sketch_options *options)
{
    sketch *all = baseline_allocate(sizeof(*all));
    if (all == NULL) {
        return NULL;
    }
    all->handler = options->handler;
    all->worker_count = options->workers;
    all->workers = baseline_allocate(options->workers * sizeof(*all->workers));
    if (!open_all(all, options) || !start(all)) {
        (void)sketch_drain(all);
        sketch_destroy(all);
        return NULL;
    }
    return all;
}

void sketch_submit(sketch *all, const sketch_signal *signal)
{
    put(&all->ingress, signal);
}

int64_t sketch_drain(sketch *all)
{
    const sketch_signal end = { .key = NO_KEY };
    weir_ns ended_at = 0;
    if (all->routing) {
        put(&all->ingress, &end);
        weir__os_thread_join(&all->router);
    }
    for (uint32_t i = 0; i < all->started; i++) {
        if (!all->routing) {
            put(&all->workers[i].in, &end);
        }
        weir__os_thread_join(&all->workers[i].thread);
        const weir_ns at = all->workers[i].ended_at;
        ended_at = at > ended_at ? at : ended_at;
    }
    all->started = 0;
    all->routing = false;
    return ended_at;
}

uint64_t sketch_flows(const sketch *all)
{
    return all->map.count;
}

void sketch_destroy(sketch *all)
{
    for (uint32_t i = 0; all->workers != NULL && i < all->worker_count; i++) {
        free(all->workers[i].in.ring);
    }
    sketch_map_close(&all->map);
    free(all->workers);
    free(all->ingress.ring);
    free(all);
}
