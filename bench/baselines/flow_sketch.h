/*
 * baselines/flow_sketch.h - how flows were first proposed: one queue in front of everything, a
 * thread that routes, a queue and a thread a worker, and a map from key to worker.
 *
 * "Ingress: single bounded queue accepting all signals. Routing map: rootFlowId -> queueIndex,
 * stored on first sight of a root. Workers: N bounded queues, each drained by one worker thread",
 * the one with the fewest items for a new key, the lowest index of several; the policy is BLOCK;
 * the mapping goes with the event that finishes the flow. Sizes are those that it names: 65,536 in
 * front, 8,192 a worker, up to 128 drained at once.
 *
 * A queue is what the proposal takes, an array under a mutex with two conditions. Nothing is
 * allocated for an event. What it lacks: a state for a flow, which is the handler's own affair; and
 * order across a finish, since a new flow with the key of one that has events waiting may be put on
 * another worker.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BENCH_BASELINES_FLOW_SKETCH_H
#define WEIR_BENCH_BASELINES_FLOW_SKETCH_H

#include <stdbool.h>
#include <stdint.h>

typedef struct sketch_signal {
    uint64_t key; /* never 0 */
    uint64_t number;
    uint32_t finish; /* 1: the last one of its key */
    uint32_t steps;  /* for the handler */
} sketch_signal;

typedef struct sketch_options {
    uint32_t workers;
    uint32_t flows_max;
    void (*handler)(void *state, const sketch_signal *signal);
    void **states; /* one a worker */
} sketch_options;

typedef struct sketch sketch;

/* NULL: out of memory, or no threads. */
sketch *sketch_create(const sketch_options *options);
/* Waits while the ingress is full. */
void sketch_submit(sketch *all, const sketch_signal *signal);
/* Everything submitted is handled; answers when the last worker was through with it. */
int64_t sketch_drain(sketch *all);
/* Mappings that are left. After the drain. */
uint64_t sketch_flows(const sketch *all);
void sketch_destroy(sketch *all);

/* ---- a map from key to a number, for its own mapping and for handlers that have states ---- */

typedef struct sketch_slot {
    uint64_t key; /* 0: empty */
    uint64_t value;
} sketch_slot;

typedef struct sketch_map {
    sketch_slot *slots;
    uint64_t mask;
    uint64_t count;
} sketch_map;

bool sketch_map_open(sketch_map *map, uint32_t most);
void sketch_map_close(sketch_map *map);
/* The value of that key; `*made`: it was not there, and is 0. */
uint64_t *sketch_map_at(sketch_map *map, uint64_t key, bool *made);
void sketch_map_remove(sketch_map *map, uint64_t key);

#endif /* WEIR_BENCH_BASELINES_FLOW_SKETCH_H */
