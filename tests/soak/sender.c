/*
 * soak/sender.c - all the ways in which one event is sent: copied, in a block that was reserved,
 * adopted or is shared, as an answer; by a handler or by a foreign thread.
 *
 * A number is used up only by an event that was accepted and not dropped at once, so that a
 * mailbox that drops nothing sees 1, 2, 3, ... of each sender.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdlib.h>

#include "dice.h"
#include "scene.h"

bool soak_note(soak_sender *sender, weir_status status)
{
    soak_books *books = &sender->books;
    switch (status) {
    case WEIR_OK:
        books->accepted++;
        return true;
    case WEIR_DROPPED:
        books->accepted++;
        books->dropped++;
        return true;
    case WEIR_FULL:
        books->full++;
        return false;
    case WEIR_STOPPING:
        books->stopping++;
        return false;
    case WEIR_UNKNOWN:
        books->unknown++;
        return false;
    case WEIR_E_NOMEM: /* the bound on blocks */
        books->no_memory++;
        return false;
    default:
        soak_violation(sender->scene->seed, "a post answered %s", weir_status_name(status));
        return false;
    }
}

static weir_status post(soak_sender *sender, weir_processor to, const weir_event *event)
{
    return sender->turn != NULL ? weir_turn_post(sender->turn, to, event)
                                : weir_engine_post(sender->scene->engine, to, event);
}

static weir_status commit(soak_sender *sender, weir_processor to, const weir_event *event)
{
    return sender->turn != NULL ? weir_turn_commit(sender->turn, to, event)
                                : weir_engine_commit(sender->scene->engine, to, event);
}

static void mark_fill(soak_mark *mark, const soak_sender *sender, const soak_stream *stream,
                      uint32_t size)
{
    *mark = (soak_mark){ .sequence = stream->sequence + 1,
                         .to = stream->to,
                         .identity = sender->identity,
                         .seat = sender->seat,
                         .size = (uint16_t)size };
    soak_mark_seal(mark);
}

static weir_status send_copy(soak_sender *sender, const soak_stream *stream, uint32_t size)
{
    union {
        soak_mark mark;
        unsigned char bytes[SOAK_PAYLOAD_MAX];
    } payload;
    mark_fill(&payload.mark, sender, stream, size);
    const weir_event event = { .type =
                                   size == sizeof(soak_mark) ? &soak_small_type : &soak_large_type,
                               .data = &payload,
                               .size = size };
    return post(sender, (weir_processor){ stream->to }, &event);
}

/* Written in place. `owned`: of a type with a drop; `keep`: posted, and released by itself. */
static weir_status send_block(soak_sender *sender, const soak_stream *stream, uint32_t size,
                              bool owned, bool keep)
{
    weir_block *block;
    const weir_status status = weir_block_reserve(sender->scene->engine, size, &block);
    if (status != WEIR_OK) {
        return status;
    }
    mark_fill(weir_block_data(block), sender, stream, size);
    const weir_event event = { .type = owned ? &soak_owned_type : &soak_large_type,
                               .data = weir_block_data(block),
                               .block = block,
                               .size = size };
    const weir_processor to = { stream->to };
    if (owned) {
        soak_owned_made(); /* a refused commit drops it like an accepted one */
        return commit(sender, to, &event);
    }
    if (!keep) {
        return commit(sender, to, &event);
    }
    const weir_status posted = post(sender, to, &event);
    weir_block_release(block);
    return posted;
}

static weir_status send_adopted(soak_sender *sender, const soak_stream *stream, uint32_t size)
{
    weir_block *block;
    soak_mark *mark = malloc(size);
    if (mark == NULL) {
        return WEIR_E_NOMEM;
    }
    mark_fill(mark, sender, stream, size);
    const weir_status status =
        weir_block_adopt(sender->scene->engine, mark, size, soak_adopted_done, NULL, &block);
    if (status != WEIR_OK) {
        free(mark);
        return status;
    }
    soak_adopted_made();
    return commit(
        sender, (weir_processor){ stream->to },
        &(weir_event){ .type = &soak_large_type, .data = mark, .block = block, .size = size });
}

static weir_status send_to(soak_sender *sender, const soak_stream *stream)
{
    const uint32_t way = soak_pick(&sender->random, 32);
    const uint32_t size = (uint32_t)sizeof(soak_mark) + 1 +
                          soak_pick(&sender->random, SOAK_PAYLOAD_MAX - sizeof(soak_mark)) /
                              (1 + soak_pick(&sender->random, 16));
    switch (way) {
    case 0:
        return send_block(sender, stream, size, false, false);
    case 1:
        return send_block(sender, stream, size, false, true);
    case 2:
        return send_block(sender, stream, size, true, false);
    case 3:
        return send_adopted(sender, stream, size);
    case 4:
    case 5:
        return send_copy(sender, stream, size);
    default:
        return send_copy(sender, stream, (uint32_t)sizeof(soak_mark));
    }
}

weir_status soak_send_one(soak_sender *sender, uint32_t place)
{
    soak_stream *stream = &sender->streams[place];
    const uint64_t to = soak_handle(sender->scene, place);
    if (to == 0) {
        return WEIR_UNKNOWN;
    }
    if (to != stream->to) {
        *stream = (soak_stream){ .to = to };
    }
    const weir_status status = send_to(sender, stream);
    (void)soak_note(sender, status);
    stream->sequence += status == WEIR_OK;
    return status;
}

/* One block, several receivers: nobody's number fits all, so it carries none. */
static void send_shared(soak_sender *sender)
{
    const uint32_t size = 64 + soak_pick(&sender->random, 1000);
    const soak_stream nobody = { .to = 0 };
    weir_block *block;
    if (weir_block_reserve(sender->scene->engine, size, &block) != WEIR_OK) {
        return;
    }
    soak_mark *mark = weir_block_data(block);
    mark_fill(mark, sender, &nobody, size);
    mark->sequence = 0;
    soak_mark_seal(mark);
    const weir_event event = {
        .type = &soak_large_type, .data = mark, .block = block, .size = size
    };
    const uint32_t first = soak_pick(&sender->random, SOAK_PLAYERS);
    for (uint32_t i = 0; i < 3; i++) {
        const uint64_t to = soak_handle(sender->scene, (first + i) % SOAK_PLAYERS);
        if (to != 0) {
            (void)soak_note(sender, post(sender, (weir_processor){ to }, &event));
        }
    }
    weir_block *mine = weir_block_take(block);
    weir_block_release(block);
    weir_block_release(mine);
}

void soak_send_reply(soak_sender *sender, const weir_event *event)
{
    const soak_mark *asked = event->data;
    const weir_processor to = event->from.sender;
    soak_stream *stream = &sender->streams[asked->seat % SOAK_PLAYERS];
    if (to.id == 0 || asked->seat >= SOAK_PLAYERS ||
        soak_handle(sender->scene, asked->seat) != to.id) {
        return; /* a foreign thread, or a player that is gone */
    }
    if (to.id != stream->to) {
        *stream = (soak_stream){ .to = to.id };
    }
    soak_mark mark;
    mark_fill(&mark, sender, stream, (uint32_t)sizeof(mark));
    const weir_event answer = { .type = &soak_small_type, .data = &mark, .size = sizeof(mark) };
    const weir_status status = weir_turn_reply(sender->turn, event->from, &answer);
    (void)soak_note(sender, status);
    stream->sequence += status == WEIR_OK;
}

void soak_send(soak_sender *sender)
{
    const uint32_t way = soak_pick(&sender->random, 32);
    if (way == 0) {
        soak_send_batch(sender, sender->turn != NULL ? 8 : 40);
    } else if (way == 1) {
        send_shared(sender);
    } else {
        (void)soak_send_one(sender, soak_pick(&sender->random, SOAK_PLAYERS));
    }
}
