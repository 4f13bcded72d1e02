/*
 * soak/mark.c - seal and check a payload; follow the numbers of one sender.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mark.h"

#include <stdatomic.h>
#include <stdlib.h>

static _Atomic int64_t owned_out;

static void drop_owned(void *payload)
{
    (void)payload;
    (void)atomic_fetch_sub_explicit(&owned_out, 1, memory_order_relaxed);
}

const weir_event_type soak_small_type = {
    sizeof(weir_event_type), "soak.small", (uint32_t)sizeof(soak_mark), false, NULL, NULL
};
const weir_event_type soak_large_type = {
    sizeof(weir_event_type), "soak.large", 0, true, NULL, NULL
};
const weir_event_type soak_owned_type = {
    sizeof(weir_event_type), "soak.owned", 0, true, drop_owned, NULL
};

void soak_owned_made(void)
{
    (void)atomic_fetch_add_explicit(&owned_out, 1, memory_order_relaxed);
}

void soak_adopted_made(void)
{
    (void)atomic_fetch_add_explicit(&owned_out, 1, memory_order_relaxed);
}

void soak_adopted_done(void *context, void *data)
{
    (void)context;
    free(data);
    (void)atomic_fetch_sub_explicit(&owned_out, 1, memory_order_relaxed);
}

int64_t soak_owned_out(void)
{
    return atomic_load(&owned_out);
}

static uint64_t mix(uint64_t sum, uint64_t value)
{
    sum = (sum ^ value) * UINT64_C(0x9fb21c651e98df25);
    return sum ^ (sum >> 29);
}

static uint64_t sum_of(const soak_mark *mark)
{
    const unsigned char *bytes = (const unsigned char *)mark;
    uint64_t sum = mix(mix(mark->sequence, mark->to), mark->identity);
    sum = mix(sum, (uint64_t)mark->seat << 16 | mark->size);
    for (uint32_t i = (uint32_t)sizeof(*mark); i < mark->size; i++) {
        sum = sum * 31 + bytes[i];
    }
    return sum;
}

void soak_mark_seal(soak_mark *mark)
{
    unsigned char *bytes = (unsigned char *)mark;
    for (uint32_t i = (uint32_t)sizeof(*mark); i < mark->size; i++) {
        bytes[i] = (unsigned char)(mark->sequence + i * 7);
    }
    mark->sum = sum_of(mark);
}

const char *soak_mark_flaw(const weir_event *event, weir_processor self)
{
    const soak_mark *mark = event->data;
    if (event->size < sizeof(*mark) || ((uintptr_t)event->data & 7) != 0) {
        return "an event without a mark, or not aligned";
    }
    if (mark->size != event->size || mark->sum != sum_of(mark)) {
        return "a payload that is not what was sent";
    }
    if (mark->to != 0 && mark->to != self.id) {
        return "an event that was sent to another processor";
    }
    return NULL;
}

const char *soak_track_follow(soak_track *track, const soak_mark *mark, bool whole)
{
    if (mark->sequence == 0) {
        return NULL;
    }
    if (mark->identity < track->identity) {
        return "an event of a sender behind one of the next sender in that seat";
    }
    const uint64_t last = mark->identity == track->identity ? track->sequence : 0;
    track->identity = mark->identity;
    track->sequence = mark->sequence;
    if (mark->sequence <= last) {
        return mark->sequence == last ? "an event twice (P-3)" : "events out of order (P-2)";
    }
    if (whole && mark->sequence != last + 1) {
        return "a number is missing in a mailbox that drops nothing (P-3)";
    }
    return NULL;
}
