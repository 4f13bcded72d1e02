/*
 * load/producer.h - numbered mail, those who send it from outside and from inside the engine, and
 * the sink that checks what arrives.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BENCH_LOAD_PRODUCER_H
#define WEIR_BENCH_LOAD_PRODUCER_H

#include "load/support.h"

#define LOAD_SENDERS_MAX 4u

typedef struct load_mail {
    uint64_t sender;
    uint64_t number; /* of this sender to this sink, from 0 */
} load_mail;
WEIR_EVENT_TYPE(load_mail, "bench.mail");

/* A processor that counts, and checks the order of each sender: one line of its own. */
typedef struct load_sink {
    _Alignas(64) uint64_t want, got;
    uint64_t disorder;
    load_gate *gate; /* passed with the last one */
    uint64_t next[LOAD_SENDERS_MAX];
} load_sink;

weir_status load_sink_take(void *state, weir_turn *turn, const weir_event *event);
void load_sink_check(const load_sink *sinks, uint32_t count, bench_result *result);

/* Who sends `each` events to each of its targets, in turn. */
typedef struct load_producer {
    _Alignas(64) weir_engine *engine;
    load_gate *gate;
    const weir_processor *targets;
    uint32_t target_count;
    uint32_t number; /* below LOAD_SENDERS_MAX: its own */
    uint64_t each;
    uint32_t batch;          /* outside: events a call; 1: single posts */
    uint64_t retries;        /* outside: calls that met a full mailbox */
    pthread_t thread;        /* outside */
    pthread_barrier_t start; /* outside: the first one's is that of all ... */
    pthread_barrier_t *gun;  /* ... and this is where it is */
    /* Inside. */
    weir_processor self;
    uint32_t burst;  /* posts a turn, at most */
    bool wants_room; /* when a target is full: sleeps until there is room, or else tries again in
                        its next turn */
    uint64_t round;  /* of `each` */
    uint32_t at;     /* the next target */
} load_producer;

/* Outside: threads of their own that all begin at the same moment, which load_begin remembers. */
void load_producers_run(load *l, load_producer *producers, uint32_t count);
void load_producers_join(load_producer *producers, uint32_t count);

/* Inside: a processor that sends a burst a turn, and an event to itself to go on. */
void load_producers_add(load *l, load_producer *producers, uint32_t count);
void load_producers_wake(load *l, load_producer *producers, uint32_t count);

#endif /* WEIR_BENCH_LOAD_PRODUCER_H */
