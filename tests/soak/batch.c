/*
 * soak/batch.c - many events in one call: all to one place, or one each to several.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dice.h"
#include "scene.h"

enum { BATCH_MAX = 40 };

typedef struct batch {
    soak_mark marks[BATCH_MAX];
    weir_event events[BATCH_MAX];
    const weir_event *pointers[BATCH_MAX];
    weir_processor to[BATCH_MAX];
    weir_status statuses[BATCH_MAX];
} batch;

static void add(batch *b, uint32_t i, const soak_sender *sender, uint64_t to, uint64_t sequence)
{
    b->to[i] = (weir_processor){ to };
    b->marks[i] = (soak_mark){ .sequence = sequence,
                               .to = to,
                               .identity = sender->identity,
                               .seat = sender->seat,
                               .size = sizeof(soak_mark) };
    soak_mark_seal(&b->marks[i]);
    b->events[i] =
        (weir_event){ .type = &soak_small_type, .data = &b->marks[i], .size = sizeof(soak_mark) };
    b->pointers[i] = &b->events[i];
}

static size_t post(soak_sender *sender, batch *b, size_t to_count, size_t count)
{
    return sender->turn != NULL ? weir_turn_post_batch(sender->turn, b->to, to_count, b->pointers,
                                                       count, b->statuses)
                                : weir_engine_post_batch(sender->scene->engine, b->to, to_count,
                                                         b->pointers, count, b->statuses);
}

/* Enters all statuses; the number that the call returned must be that of the accepted ones. */
static void note_all(soak_sender *sender, const batch *b, size_t count, size_t accepted)
{
    size_t noted = 0;
    for (size_t i = 0; i < count; i++) {
        noted += soak_note(sender, b->statuses[i]);
    }
    if (noted != accepted) {
        soak_violation(sender->scene->seed, "a batch returned %zu accepted, its statuses say %zu",
                       accepted, noted);
    }
}

static void to_one(soak_sender *sender, uint32_t place, uint32_t count)
{
    batch b;
    soak_stream *stream = &sender->streams[place];
    const uint64_t to = soak_handle(sender->scene, place);
    const weir_overflow overflow = sender->scene->players[place].overflow;
    const bool drops =
        overflow == WEIR_OVERFLOW_DROP_NEWEST || overflow == WEIR_OVERFLOW_DROP_OLDEST;
    if (to == 0) {
        return;
    }
    if (to != stream->to) {
        *stream = (soak_stream){ .to = to };
    }
    for (uint32_t i = 0; i < count; i++) {
        add(&b, i, sender, to, stream->sequence + i + 1);
    }
    const size_t accepted = post(sender, &b, 1, count);
    note_all(sender, &b, count, accepted);
    if (drops) {
        stream->sequence += count; /* the dropped ones are holes */
        return;
    }
    stream->sequence += accepted;
    for (size_t i = 0; i < count; i++) {
        if ((b.statuses[i] == WEIR_OK) != (i < accepted)) {
            soak_violation(sender->scene->seed,
                           "what was accepted of a batch is not its beginning");
            return;
        }
    }
}

static void to_several(soak_sender *sender, uint32_t first, uint32_t count)
{
    batch b;
    uint32_t places[BATCH_MAX];
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) { /* each place once: one number each */
        const uint32_t place = (first + i) % SOAK_PLAYERS;
        const uint64_t to = soak_handle(sender->scene, place);
        soak_stream *stream = &sender->streams[place];
        if (to != 0) {
            if (to != stream->to) {
                *stream = (soak_stream){ .to = to };
            }
            places[n] = place;
            add(&b, n++, sender, to, stream->sequence + 1);
        }
    }
    note_all(sender, &b, n, n > 0 ? post(sender, &b, n, n) : 0);
    for (uint32_t i = 0; i < n; i++) {
        sender->streams[places[i]].sequence += b.statuses[i] == WEIR_OK;
    }
}

void soak_send_batch(soak_sender *sender, uint32_t most)
{
    const uint32_t place = soak_pick(&sender->random, SOAK_PLAYERS);
    const uint32_t count = 1 + soak_pick(&sender->random, most < BATCH_MAX ? most : BATCH_MAX);
    if (soak_once_in(&sender->random, 3)) {
        to_several(sender, place, count < SOAK_PLAYERS ? count : SOAK_PLAYERS);
    } else {
        to_one(sender, place, count);
    }
}
