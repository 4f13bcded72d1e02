/*
 * observe/recorder.c - the rings of a recording, and which posts they hold.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "observe/recorder.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"

static size_t ring_bytes(const weir__recorder *recorder)
{
    return (size_t)recorder->records * sizeof(weir__trace_record);
}

weir__recorder *weir__recorder_open(const weir_allocator *allocator, uint32_t records,
                                    uint32_t rings)
{
    WEIR_ASSERT((records & (records - 1)) == 0 && records >= WEIR__TRACE_RECORDS_MIN);
    WEIR_ASSERT(rings > 0 && rings <= WEIR__TRACE_RINGS_MAX);
    weir__recorder *recorder = weir__allocate(allocator, sizeof(*recorder));
    if (recorder == NULL) {
        return NULL;
    }
    recorder->allocator = *allocator;
    recorder->records = records;
    recorder->count = rings;
    recorder->references = 1;
    recorder->rings = weir__allocate(allocator, rings * sizeof(*recorder->rings));
    for (uint32_t i = 0; recorder->rings != NULL && i < rings; i++) {
        /* Not zeroed: what no thread writes is never touched, and costs no memory. */
        recorder->rings[i].records = weir__allocate_raw(allocator, ring_bytes(recorder));
        recorder->rings[i].mask = records - 1;
        if (recorder->rings[i].records == NULL) {
            weir__recorder_close(recorder);
            return NULL;
        }
    }
    if (recorder->rings == NULL) {
        weir__recorder_close(recorder);
        return NULL;
    }
    return recorder;
}

void weir__recorder_close(weir__recorder *recorder)
{
    const weir_allocator allocator = recorder->allocator;
    for (uint32_t i = 0; recorder->rings != NULL && i < recorder->count; i++) {
        weir__release(&allocator, recorder->rings[i].records, ring_bytes(recorder));
    }
    weir__release(&allocator, recorder->rings, recorder->count * sizeof(*recorder->rings));
    if (recorder->posts != NULL) {
        weir__release(&allocator, recorder->posts,
                      (size_t)(recorder->posts_mask + 1) * sizeof(*recorder->posts));
    }
    weir__release(&allocator, recorder, sizeof(*recorder));
}

weir__trace_ring *weir__recorder_claim(weir__recorder *recorder)
{
    const uint32_t place = weir__add(&recorder->claimed, 1, relaxed);
    return place < recorder->count ? &recorder->rings[place] : NULL;
}

uint32_t weir__recorder_rings(weir__recorder *recorder)
{
    const uint32_t claimed = weir__load(&recorder->claimed, relaxed);
    return claimed < recorder->count ? claimed : recorder->count;
}

uint32_t weir__recorder_left_out(weir__recorder *recorder)
{
    return weir__load(&recorder->claimed, relaxed) - weir__recorder_rings(recorder);
}

/* ---- reading ---- */

uint32_t weir__trace_held(const weir__trace_ring *ring)
{
    const uint64_t room = (uint64_t)ring->mask + 1;
    return (uint32_t)(ring->written < room ? ring->written : room);
}

uint64_t weir__trace_lost(const weir__trace_ring *ring)
{
    return ring->written - weir__trace_held(ring);
}

const weir__trace_record *weir__trace_at(const weir__trace_ring *ring, uint32_t i)
{
    return &ring->records[(weir__trace_lost(ring) + i) & ring->mask];
}

/* ---- posts ---- */

/* Never 0, which is an empty place. Two posts that give one key, at one nanosecond or by chance,
 * only let an arrow be drawn that has another one's other end. */
static uint64_t key_of(uint64_t receiver, weir_ns posted)
{
    uint64_t key = (uint64_t)posted * UINT64_C(0x9e3779b97f4a7c15) ^ receiver;
    key = (key ^ (key >> 31)) * UINT64_C(0xbf58476d1ce4e5b9);
    return (key ^ (key >> 29)) | 1;
}

/* Ends: at most half of the places are taken. */
static uint64_t *find(const weir__recorder *recorder, uint64_t key)
{
    uint64_t at = (key >> 1) & recorder->posts_mask;
    while (recorder->posts[at] != 0 && recorder->posts[at] != key) {
        at = (at + 1) & recorder->posts_mask;
    }
    return &recorder->posts[at];
}

static weir_ns length_of(const weir__trace_record *record)
{
    if (record->kind == WEIR__TRACE_HANDLED) {
        return (weir_ns)((uint64_t)record->extra << 32 | record->count);
    }
    return record->kind == WEIR__TRACE_TURN ? weir__trace_turn_length(record)
                                            : (weir_ns)record->what;
}

static bool is_around(const weir__trace_record *record, weir_ns time)
{
    return record != NULL && record->end - length_of(record) <= time && time <= record->end;
}

/* A slice is recorded when it is over: what was posted in it stands before it. */
static void tell_bare(weir__trace_ring *ring)
{
    const weir__trace_record *slice = NULL;
    const weir__trace_record *handler = NULL;
    for (uint32_t i = weir__trace_held(ring); i > 0; i--) {
        const uint64_t place = (weir__trace_lost(ring) + i - 1) & ring->mask;
        weir__trace_record *record = &ring->records[place];
        if (record->kind == WEIR__TRACE_POSTED) {
            record->extra = !is_around(slice, record->end) && !is_around(handler, record->end);
        } else if (record->kind == WEIR__TRACE_HANDLED) {
            handler = record;
        } else if (record->kind == WEIR__TRACE_TURN || record->kind == WEIR__TRACE_PARK ||
                   record->kind == WEIR__TRACE_AGENTS) {
            slice = record;
        }
    }
}

bool weir__recorder_index(weir__recorder *recorder)
{
    const uint32_t rings = weir__recorder_rings(recorder);
    for (uint32_t r = 0; r < rings; r++) {
        tell_bare(&recorder->rings[r]);
    }
    uint64_t count = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t r = 0; r < rings; r++) {
            const weir__trace_ring *ring = &recorder->rings[r];
            for (uint32_t i = 0; i < weir__trace_held(ring); i++) {
                const weir__trace_record *record = weir__trace_at(ring, i);
                if (record->kind != WEIR__TRACE_POSTED) {
                    continue;
                }
                if (pass == 0) {
                    count++;
                } else {
                    const uint64_t key = key_of(record->who, record->end);
                    *find(recorder, key) = key;
                }
            }
        }
        if (pass == 0) {
            uint64_t places = 16;
            while (places < 2 * count) {
                places *= 2;
            }
            recorder->posts_mask = places - 1;
            recorder->posts =
                weir__allocate(&recorder->allocator, (size_t)places * sizeof(*recorder->posts));
            if (recorder->posts == NULL) {
                return false;
            }
        }
    }
    return true;
}

bool weir__recorder_knows(const weir__recorder *recorder, uint64_t receiver, weir_ns posted)
{
    const uint64_t key = key_of(receiver, posted);
    return recorder->posts != NULL && *find(recorder, key) == key;
}
