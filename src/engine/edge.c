/*
 * engine/edge.c - who was seen to send to whom: a small table in each thread, added up by readers.
 *
 * A pair has a few places in the table where it may stand. If all of them are others', the one with
 * the fewest events goes: what comes often stays. So the memory is bounded, and what is missed is
 * rare.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/assert.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "engine/latency.h"
#include "engine/thread.h"

/* ---- the thread ---- */

static uint32_t hash(uint64_t sender, uint64_t receiver)
{
    const uint64_t mixed = (sender * UINT64_C(0x9e3779b97f4a7c15) + receiver) ^ (receiver >> 32);
    return (uint32_t)((mixed * UINT64_C(0xff51afd7ed558ccd)) >> 33);
}

/* Becomes this pair's, whoever's it was. */
static void take(weir__edge *edge, uint64_t sender, uint64_t receiver, uint64_t events)
{
    const uint64_t version = weir__load(&edge->version, relaxed);
    weir__store(&edge->version, version + 1, relaxed);
    weir__fence(release); /* [ED1] pairs with [ED2]: who sees the new pair sees that it changes */
    weir__store(&edge->sender, sender, relaxed);
    weir__store(&edge->receiver, receiver, relaxed);
    weir__store(&edge->events, events, relaxed);
    weir__store(&edge->version, version + 2, release); /* [ED3] pairs with [ED4]: it is whole */
}

static void clear(weir__edges *edges, uint64_t resets)
{
    for (uint32_t i = 0; i < WEIR__EDGES; i++) {
        if (weir__cell_read(&edges->table[i].events) != 0) {
            take(&edges->table[i], 0, 0, 0);
        }
    }
    weir__store(&edges->cleared, resets, release); /* [ED5] pairs with [ED6] */
}

void weir__edge_note(weir__edges *edges, uint64_t sender, uint64_t receiver, uint64_t events)
{
    const uint64_t resets = weir__load(&edges->resets, relaxed);
    const uint32_t first = hash(sender, receiver) % WEIR__EDGES;
    weir__edge *least = NULL;
    if (weir__unlikely(resets != weir__load(&edges->cleared, relaxed))) {
        clear(edges, resets);
    }
    for (uint32_t i = 0; i < WEIR__EDGE_LOOKS; i++) {
        weir__edge *edge = &edges->table[(first + i) % WEIR__EDGES];
        const uint64_t seen = weir__cell_read(&edge->events);
        if (seen != 0 && weir__load(&edge->sender, relaxed) == sender &&
            weir__load(&edge->receiver, relaxed) == receiver) {
            weir__cell_add(&edge->events, events);
            return;
        }
        if (least == NULL || seen < weir__cell_read(&least->events)) {
            least = edge;
        }
    }
    take(least, sender, receiver, events);
}

/* ---- anybody ---- */

bool weir__edge_read(weir__edge *edge, weir_processor *sender, weir_processor *receiver,
                     uint64_t *events)
{
    const uint64_t version = weir__load(&edge->version, acquire); /* [ED4] pairs with [ED3] */
    sender->id = weir__load(&edge->sender, relaxed);
    receiver->id = weir__load(&edge->receiver, relaxed);
    *events = weir__cell_read(&edge->events);
    weir__fence(acquire); /* [ED2] pairs with [ED1] */
    return (version & 1) == 0 && version == weir__load(&edge->version, relaxed) && *events != 0;
}

typedef struct pair {
    weir_processor sender, receiver;
    uint64_t events;
} pair;

typedef struct pairs {
    pair *all;
    size_t count, room;
} pairs;

/* Each pair once: those of several threads are added up. The table is open, and larger than what
 * comes into it. */
static void add(pairs *table, const pair *one)
{
    size_t at = hash(one->sender.id, one->receiver.id) % table->room;
    while (table->all[at].events != 0 && (table->all[at].sender.id != one->sender.id ||
                                          table->all[at].receiver.id != one->receiver.id)) {
        at = (at + 1) % table->room;
    }
    table->count += table->all[at].events == 0 ? 1 : 0;
    table->all[at].sender = one->sender;
    table->all[at].receiver = one->receiver;
    table->all[at].events += one->events;
}

static void gather(weir_engine *engine, pairs *table)
{
    const uint32_t threads = weir__threads_count(engine);
    for (uint32_t t = 0; t < threads; t++) {
        weir__edges *edges = &weir__thread_at(engine, t)->figures.edges;
        /* [ED6] pairs with [ED5]. */
        if (weir__load(&edges->cleared, acquire) != weir__load(&edges->resets, relaxed)) {
            continue;
        }
        for (uint32_t i = 0; i < WEIR__EDGES && 2 * table->count < table->room; i++) {
            pair one;
            if (weir__edge_read(&edges->table[i], &one.sender, &one.receiver, &one.events)) {
                add(table, &one);
            }
        }
    }
}

/* What there may be: threads times entries; twice that, so that a search is short. */
static size_t room_for(weir_engine *engine)
{
    const size_t most = (size_t)weir__threads_count(engine) * WEIR__EDGES;
    return 2 * (most < 65536 ? most : 65536) + 2;
}

void weir_edge_visit(weir_engine *engine,
                     bool (*visit)(void *context, weir_processor sender, weir_processor receiver,
                                   uint64_t events),
                     void *context)
{
    if (!weir__engine_usable(engine) || visit == NULL) {
        return;
    }
    pairs table = { .room = room_for(engine) };
    table.all = weir__allocate(&engine->allocator, table.room * sizeof(pair));
    if (table.all == NULL) {
        return;
    }
    gather(engine, &table);
    bool goes_on = true;
    for (size_t i = 0; i < table.room && goes_on; i++) {
        const pair *one = &table.all[i];
        goes_on = one->events == 0 || visit(context, one->sender, one->receiver, one->events);
    }
    weir__release(&engine->allocator, table.all, table.room * sizeof(pair));
}
