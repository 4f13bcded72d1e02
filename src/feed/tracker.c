/*
 * feed/tracker.c - marks in a queue of segments: the writer adds behind, whoever ends the first one
 * takes off all that are over in front.
 *
 *     head                         tail          the open one
 *      v                            v
 *     [not over][over][over][not over][ not marked yet ]
 *
 * Who ends a mark says so in it (`over`), and then looks whether it is the first: if not, it has
 * nothing more to do, and no lock was touched. Who takes marks off says how far he came (`head`),
 * and then looks once more whether the next one is over. Between the two steps both have a full
 * fence, so that at least one of them sees what the other did: the end of a mark that has become
 * the first one is not overlooked.
 *
 * A segment goes to the spares when its last mark is taken off; nobody touches a mark after he has
 * said that it is over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "feed/tracker.h"

#include "base/assert.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "sync/mutex.h"

#ifdef WEIR_SIMULATED
#define SEGMENT_MARKS 2u /* so that a few go round all of it */
#else
#define SEGMENT_MARKS 1024u
#endif
/* As many as may be there at once, the open mark's and a half used up one included; a power of two,
 * so that marks of all times find theirs. */
#define SEGMENTS (2 * WEIR__TRACKER_MARKS_MAX / SEGMENT_MARKS)
_Static_assert((SEGMENTS & (SEGMENTS - 1)) == 0 && SEGMENTS > 2, "marks find their segments");

typedef struct mark {
    _Alignas(WEIR_CACHE_LINE) weir_origin origin; /* first: the one is found by the other */
    weir__tracker *tracker;
    uint64_t index;    /* how many were before it */
    uint64_t position; /* the writer's, until it is in front of the tail */
    weir__atomic_u32 over;
} mark;

typedef struct segment {
    mark marks[SEGMENT_MARKS];
    struct segment *next; /* of the spares */
} segment;

struct weir__tracker {
    weir_engine *engine;
    void (*committed)(void *context);
    void *context;

    /* The writer's. */
    mark *open;       /* what is published next belongs to it; NULL: not made yet */
    segment *filling; /* where it lies, or will */
    uint64_t last;    /* position */
    _Alignas(WEIR_CACHE_LINE) weir__atomic_u64 tail; /* marks made; written by the writer */

    _Alignas(WEIR_CACHE_LINE) weir__atomic_u64 head; /* marks taken off. Under lock, so the rest */
    weir__atomic_u64 position;
    weir__atomic_u32 known; /* there is a position */
    weir__brief lock;
    segment *spares;
    segment *segments[SEGMENTS]; /* by index / SEGMENT_MARKS; NULL: nothing of it is there */
};

weir__tracker *weir__tracker_open(weir_engine *engine, void (*committed)(void *context),
                                  void *context)
{
    weir__tracker *tracker = weir__allocate(&engine->allocator, sizeof(*tracker));
    if (tracker != NULL) {
        tracker->engine = engine;
        tracker->committed = committed;
        tracker->context = context;
    }
    return tracker;
}

void weir__tracker_close(weir__tracker *tracker)
{
    if (tracker == NULL) {
        return;
    }
    const weir_allocator *allocator = &tracker->engine->allocator;
    for (uint32_t i = 0; i < SEGMENTS; i++) {
        weir__release(allocator, tracker->segments[i], sizeof(segment));
    }
    while (tracker->spares != NULL) {
        segment *next = tracker->spares->next;
        weir__release(allocator, tracker->spares, sizeof(segment));
        tracker->spares = next;
    }
    weir__release(allocator, tracker, sizeof(*tracker));
}

/* ---- taking off ---- */

static mark *mark_at(weir__tracker *tracker, uint64_t index)
{
    return &tracker->segments[index / SEGMENT_MARKS % SEGMENTS]->marks[index % SEGMENT_MARKS];
}

static void recycle(weir__tracker *tracker, uint64_t index)
{
    segment **place = &tracker->segments[index / SEGMENT_MARKS % SEGMENTS];
    (*place)->next = tracker->spares;
    tracker->spares = *place;
    *place = NULL;
}

/* Lock held. From `at` on, as far as they are over; returns how far that is, *grown if a position
 * is committed by that. */
static uint64_t take_off(weir__tracker *tracker, uint64_t at, bool *grown)
{
    /* [OR2] pairs with [OR3]: the marks in front of it. */
    const uint64_t tail = weir__load(&tracker->tail, acquire);
    while (at < tail) {
        mark *first = mark_at(tracker, at);
        /* [OR4] pairs with [OR5]: all that was done with its events. */
        if (weir__load(&first->over, acquire) == 0) {
            break;
        }
        const uint64_t position = first->position;
        /* What is marked twice ends with the second one. */
        if (at + 1 == tail || mark_at(tracker, at + 1)->position != position) {
            /* [OR6] pairs with [OR7], both: all that was done, and that there is one. */
            weir__store(&tracker->position, position, release);
            weir__store(&tracker->known, 1, release);
            *grown = true;
        }
        if (++at % SEGMENT_MARKS == 0) {
            recycle(tracker, at - 1);
        }
    }
    return at;
}

static void advance(weir__tracker *tracker)
{
    bool grown = false;
    weir__brief_lock(&tracker->lock);
    uint64_t head = weir__load(&tracker->head, relaxed);
    for (;;) { /* ends: there is a last mark */
        const uint64_t at = take_off(tracker, head, &grown);
        if (at == head) {
            break;
        }
        head = at;
        /* Release: the writer uses again what is behind it. */
        weir__store(&tracker->head, head, release);
        /* Pairs with the fence in `end`. */
        weir__fence(seq_cst);
    }
    weir__brief_unlock(&tracker->lock);
    if (grown && tracker->committed != NULL) {
        tracker->committed(tracker->context);
    }
}

/* A mark's last reference is gone. */
static void end(weir_origin *origin)
{
    mark *ended = (mark *)(void *)origin;
    weir__tracker *tracker = ended->tracker;
    const uint64_t index = ended->index;
    const weir__phase phase = weir__engine_phase(tracker->engine);
    if (phase == WEIR__ABANDONED || phase == WEIR__FORKED) {
        return; /* left, or sent in vain: whoever comes next reads it again */
    }
    /* [OR5] pairs with [OR4]. It may be another mark at once. */
    weir__store(&ended->over, 1, release);
    /* Pairs with the fence in `advance`. */
    weir__fence(seq_cst);
    if (weir__load(&tracker->head, relaxed) == index) {
        advance(tracker);
    }
}

/* ---- the writer ---- */

/* Where the mark with this index goes, the first of a segment. False: no memory. */
static bool add_segment(weir__tracker *tracker, uint64_t index)
{
    weir__brief_lock(&tracker->lock);
    segment *found = tracker->spares;
    if (found != NULL) {
        tracker->spares = found->next;
    }
    weir__brief_unlock(&tracker->lock);
    if (found == NULL) {
        found = weir__allocate_raw(&tracker->engine->allocator, sizeof(*found));
    }
    if (found == NULL) {
        return false;
    }
    segment **place = &tracker->segments[index / SEGMENT_MARKS % SEGMENTS];
    weir__brief_lock(&tracker->lock);
    WEIR_ASSERT(*place == NULL);
    *place = found;
    weir__brief_unlock(&tracker->lock);
    tracker->filling = found;
    return true;
}

weir_origin *weir__tracker_origin(weir__tracker *tracker)
{
    const uint64_t index = weir__load(&tracker->tail, relaxed);
    if (weir__likely(tracker->open != NULL)) {
        return &tracker->open->origin;
    }
    if (index % SEGMENT_MARKS == 0 && !add_segment(tracker, index)) {
        return NULL;
    }
    mark *next = &tracker->filling->marks[index % SEGMENT_MARKS];
    weir__origin_open(&next->origin, end);
    next->tracker = tracker;
    next->index = index;
    weir__init(&next->over, 0);
    tracker->open = next;
    return &next->origin;
}

weir_status weir__tracker_mark(weir__tracker *tracker, uint64_t position)
{
    const uint64_t tail = weir__load(&tracker->tail, relaxed);
    if (tail > 0 && position < tracker->last) {
        return WEIR_E_INVALID;
    }
    if (weir__tracker_outstanding(tracker) >= WEIR__TRACKER_MARKS_MAX) {
        return WEIR_FULL;
    }
    weir_origin *origin = weir__tracker_origin(tracker);
    if (origin == NULL) {
        return WEIR_E_NOMEM;
    }
    tracker->open->position = position;
    tracker->open = NULL;
    tracker->last = position;
    /* [OR3] pairs with [OR2]. */
    weir__store(&tracker->tail, tail + 1, release);
    weir__origin_release(origin);
    return WEIR_OK;
}

/* ---- reading ---- */

bool weir__tracker_committed(weir__tracker *tracker, uint64_t *position)
{
    /* [OR7] pairs with [OR6], both. */
    if (weir__load(&tracker->known, acquire) == 0) {
        return false;
    }
    *position = weir__load(&tracker->position, acquire);
    return true;
}

uint64_t weir__tracker_outstanding(weir__tracker *tracker)
{
    /* Acquire: what is behind the head is used again. */
    const uint64_t head = weir__load(&tracker->head, acquire);
    return weir__load(&tracker->tail, relaxed) - head;
}
