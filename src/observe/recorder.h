/*
 * observe/recorder.h - what a trace is made of: rings of records, one for each thread that has
 * something to record.
 *
 * A ring has one writer, which overwrites the oldest, and no reader while it is written: who reads
 * has first made sure that nobody writes any more, by the engine's grace period (engine/trace.c
 * says how). So a record is plain memory, and none is ever seen torn.
 *
 *     open, close:  control, nobody writes
 *     claim, put:   writers, each with a ring of its own; they overlap freely
 *     the rest:     anybody, once nobody writes
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_OBSERVE_RECORDER_H
#define WEIR_OBSERVE_RECORDER_H

#include "sync/atomic.h"
#include "weir/base.h"

#define WEIR__TRACE_RINGS_MAX 256u
#define WEIR__TRACE_RECORDS_MIN 16u
#define WEIR__TRACE_RECORDS_MAX (1u << 22)
#define WEIR__TRACE_NAME_MAX 64u

/* What the fields of a record mean depends on its kind. Those after HANDLED only follow one, and
 * say more about the same. */
typedef enum weir__trace_kind {
    WEIR__TRACE_NONE,
    WEIR__TRACE_TURN,   /* turns; who: processor, or 0, several; what: length, and above bit 48 how
                           many; count: events; extra: dispatcher's index */
    WEIR__TRACE_PARK,   /* the thread slept; what: length; count: 1, it was woken; 0, time was up */
    WEIR__TRACE_AGENTS, /* a round of the thread's agents; what: length */
    WEIR__TRACE_POSTED, /* who: receiver; what: the event's type; extra: 1, see index */
    WEIR__TRACE_HANDLED, /* who: processor; what: type; count, extra: length, 48 bits */
    WEIR__TRACE_CAME,    /* end: when it was posted; who: sender; what: flow; count: bytes */
    WEIR__TRACE_PARENT,  /* end, who: the trace; what: the parent; count: flags */
} weir__trace_kind;

typedef struct weir__trace_record {
    weir_ns end; /* of what went on */
    uint64_t who;
    uint64_t what;
    uint32_t count;
    uint16_t extra;
    uint16_t kind : 4;
    uint16_t core : 12; /* 1 + where it ran; 0: not known */
} weir__trace_record;
_Static_assert(sizeof(weir__trace_record) == 32, "two records are a cache line");

typedef struct weir__trace_ring {
    _Alignas(64) weir__trace_record *records;
    uint32_t mask;
    uint32_t system_id; /* of the thread that claimed it */
    bool foreign;       /* not one of the engine's */
    uint64_t written;   /* so far */
    weir_ns began;      /* when the recording did */
    weir_ns posted;     /* the last measured post */
    char name[WEIR__TRACE_NAME_MAX];
} weir__trace_ring;

typedef struct weir__recorder {
    weir_allocator allocator;
    uint64_t serial; /* of this recording; not 0 */
    weir_ns began, ended;
    uint32_t records; /* of each ring */
    uint32_t count;   /* rings */
    uint32_t references;
    weir__atomic_u32 claimed; /* may be more than there are */
    weir__trace_ring *rings;
    uint64_t *posts; /* see weir__recorder_index */
    uint64_t posts_mask;
} weir__recorder;

/* NULL: no memory. `records` is a power of two. */
weir__recorder *weir__recorder_open(const weir_allocator *allocator, uint32_t records,
                                    uint32_t rings);
void weir__recorder_close(weir__recorder *recorder);

/* NULL: all are taken. */
weir__trace_ring *weir__recorder_claim(weir__recorder *recorder);
/* How many are taken. */
uint32_t weir__recorder_rings(weir__recorder *recorder);
/* Threads that found none. */
uint32_t weir__recorder_left_out(weir__recorder *recorder);

/* The writer. */
static inline void weir__trace_put(weir__trace_ring *ring, const weir__trace_record *record)
{
    ring->records[ring->written & ring->mask] = *record;
    ring->written++;
}

/* Of a TURN: how long, and how many of them. */
#define WEIR__TRACE_LENGTH_BITS 48
static inline weir_ns weir__trace_turn_length(const weir__trace_record *record)
{
    return (weir_ns)(record->what & ((UINT64_C(1) << WEIR__TRACE_LENGTH_BITS) - 1));
}

static inline uint32_t weir__trace_turn_count(const weir__trace_record *record)
{
    return (uint32_t)(record->what >> WEIR__TRACE_LENGTH_BITS);
}

/* How many records a ring holds; how many it has lost; the i-th that it holds, oldest first. */
uint32_t weir__trace_held(const weir__trace_ring *ring);
uint64_t weir__trace_lost(const weir__trace_ring *ring);
const weir__trace_record *weir__trace_at(const weir__trace_ring *ring, uint32_t i);

/* Says more about the record in front of it. */
static inline bool weir__trace_follows(const weir__trace_record *record)
{
    return record->kind > WEIR__TRACE_HANDLED;
}

/* Which posts the rings hold: an arrow needs both ends. And those that no slice is around, since it
 * was not over when the recording was, are told. Once, before `knows`. False: no memory for the
 * first. */
bool weir__recorder_index(weir__recorder *recorder);
bool weir__recorder_knows(const weir__recorder *recorder, uint64_t receiver, weir_ns posted);

#endif /* WEIR_OBSERVE_RECORDER_H */
