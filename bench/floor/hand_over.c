/*
 * floor/hand_over.c - W1 and W3: objects on one thread that hand messages on.
 *
 * Each object has an intrusive list of messages that any thread could append to: one exchange of
 * the tail. Whoever appends to an object that is not scheduled appends it to the list of ready
 * ones, which is plain: there is one thread. No allocation: the node of the message that was
 * handled last carries the next one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "floor/floor.h"

typedef struct node {
    struct node *_Atomic next;
    uint64_t hops; /* so many are still to do */
} node;

typedef struct object {
    _Alignas(FLOOR_LINE) node *_Atomic tail;
    node *head; /* handled already; its next is the first message */
    atomic_uint scheduled;
    struct object *ready, *peer;
    uint64_t handled;
    node stub;
} object;

typedef struct ready_list {
    object *first, *last;
} ready_list;

static void make_ready(ready_list *list, object *o)
{
    o->ready = NULL;
    if (list->last != NULL) {
        list->last->ready = o;
    } else {
        list->first = o;
    }
    list->last = o;
}

static void schedule(ready_list *list, object *o)
{
    if (atomic_load_explicit(&o->scheduled, memory_order_relaxed) == 0 &&
        atomic_exchange_explicit(&o->scheduled, 1, memory_order_acq_rel) == 0) {
        make_ready(list, o);
    }
}

static void post(ready_list *list, object *o, node *message)
{
    atomic_store_explicit(&message->next, NULL, memory_order_relaxed);
    node *before = atomic_exchange_explicit(&o->tail, message, memory_order_acq_rel);
    atomic_store_explicit(&before->next, message, memory_order_release);
    schedule(list, o);
}

static node *first_of(object *o)
{
    return atomic_load_explicit(&o->head->next, memory_order_acquire);
}

/* Handles all messages of an object. */
static void turn(ready_list *list, object *o)
{
    node *message;
    while ((message = first_of(o)) != NULL) {
        node *used = o->head;
        o->head = message;
        o->handled++;
        if (message->hops > 1) {
            used->hops = message->hops - 1;
            post(list, o->peer, used);
        }
    }
    (void)atomic_exchange_explicit(&o->scheduled, 0, memory_order_acq_rel);
    if (first_of(o) != NULL) {
        schedule(list, o);
    }
}

/* `tokens` messages, each handled `hops` times, around `count` objects. */
static void run(uint32_t count, uint32_t tokens, uint64_t hops, bench_result *result)
{
    object *objects = floor_allocate(count * sizeof(object), result);
    node *box = floor_allocate(tokens * sizeof(node), result);
    ready_list list = { NULL, NULL };
    const uint64_t total = hops * tokens;
    uint64_t handled = 0;
    if (objects != NULL && box != NULL) {
        for (uint32_t i = 0; i < count; i++) {
            objects[i].head = &objects[i].stub;
            atomic_init(&objects[i].tail, &objects[i].stub);
            objects[i].peer = &objects[(i + 1) % count];
        }
        const int64_t begin = bench_now();
        for (uint32_t i = 0; i < tokens; i++) {
            box[i].hops = hops;
            post(&list, &objects[(uint64_t)i * count / tokens], &box[i]);
        }
        while (list.first != NULL) { /* ends: every hop is one less */
            object *o = list.first;
            list.first = o->ready;
            list.last = list.first != NULL ? list.last : NULL;
            turn(&list, o);
        }
        bench_result_rate(result, total, bench_now() - begin);
        for (uint32_t i = 0; i < count; i++) {
            handled += objects[i].handled;
        }
        if (handled != total) {
            bench_wrong(result, "%llu of %llu hops", (unsigned long long)handled,
                        (unsigned long long)total);
        }
    }
    free(box);
    free(objects);
}

FLOOR_RUN(floor_ping_pong)
{
    run(2, 1, bench_scaled(setup, 20000000, 1000), result);
}

FLOOR_RUN(floor_ring_1)
{
    run(1000, 1, bench_scaled(setup, 20000000, 10000), result);
}

FLOOR_RUN(floor_ring_100)
{
    run(1000, 100, bench_scaled(setup, 200000, 100), result);
}
