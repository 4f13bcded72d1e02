/*
 * engine/latency.h - what is made of stamped events: how long they waited, how long they were
 * handled, who sent them to whom.
 *
 * Written by the thread that has handled one, after its handler:
 *
 *     of each dispatcher   in its servings, one writer each; readers add them up
 *     of each thread       in the thread: what it handled, how long it was parked, its edges
 *     of a processor       if it is measured: in a weir__latency of its own, which its cold part
 *                          points to. Its turns follow each other, so there is one writer
 *
 * That pointer is set and cleared under registry.lock, at any time. Who records reads it inside its
 * mark, so what was cleared is freed after a grace period; what belongs to a processor that ends is
 * freed with it, since nobody runs it then. Readers hold registry.lock.
 *
 * Which processors are measured: those whose names fit a rule. Rules are kept in the order in which
 * they were made, for those that will be added; the last one that fits counts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_LATENCY_H
#define WEIR_ENGINE_LATENCY_H

#include "observe/histogram.h"
#include "weir/latency.h"
#include "weir/turn.h"

struct weir__processor;
struct weir__processor_cold;
struct weir__serving;

typedef struct weir__latency {
    weir__histogram queueing, handling;
    struct weir__latency *next; /* of a list that is about to be freed */
} weir__latency;

/* ---- edges ---- */

#ifdef WEIR_SIMULATED
#define WEIR__EDGES 4u /* so that few events fill it */
#else
#define WEIR__EDGES 256u
#endif
#define WEIR__EDGE_LOOKS 4u

/* A thread's share of what was seen to send to what. Its thread writes; anybody reads, and knows by
 * `version`, which is odd meanwhile, that an entry became another one's. */
typedef struct weir__edge {
    weir__atomic_u64 version;
    weir__atomic_u64 sender, receiver; /* handles */
    weir__cell events;                 /* an estimate; 0: nobody's */
} weir__edge;

typedef struct weir__edges {
    weir__edge table[WEIR__EDGES];
    weir__atomic_u64 resets, cleared; /* as those of a histogram */
} weir__edges;

void weir__edge_note(weir__edges *edges, uint64_t sender, uint64_t receiver, uint64_t events);
/* Anybody. False: nobody's, or somebody is at it. */
bool weir__edge_read(weir__edge *edge, weir_processor *sender, weir_processor *receiver,
                     uint64_t *events);

/* What a thread knows. */
typedef struct weir__thread_figures {
    weir__histogram handling;
    weir__histogram waits; /* how long each park took */
    weir__edges edges;
} weir__thread_figures;

void weir__thread_figures_reset(weir__thread_figures *figures);
void weir__latency_reset(weir__latency *latency);

/* ---- recording ---- */

/* In place of turn->measured: handles it, and takes the times around that. */
weir_status weir__latency_handle(void *state, weir_turn *turn, const weir_event *event);

/* ---- processors ---- */

#define WEIR__LATENCY_RULES_MAX 256u

typedef struct weir__latency_rule {
    struct weir__latency_rule *next; /* a newer one */
    char *pattern;
    bool on;
} weir__latency_rule;

/* Under registry.lock. */
typedef struct weir__latency_rules {
    weir__latency_rule *oldest;
    uint32_t count;
    weir__atomic_u32 measured; /* processors that have a weir__latency; read by all */
    weir__latency *left;       /* nobody's, and could not be freed yet */
} weir__latency_rules;

/* registry.lock held, the processor has its handle. It is new: is it to be measured? */
void weir__latency_begin(weir_engine *engine, struct weir__processor *processor);
/* registry.lock held, nobody runs it any more. */
void weir__latency_end(weir_engine *engine, struct weir__processor_cold *cold);
void weir__latency_rules_free(weir_engine *engine);

/* '*': any letters, '?': any one. */
bool weir__latency_fits(const char *pattern, const char *name);

#endif /* WEIR_ENGINE_LATENCY_H */
