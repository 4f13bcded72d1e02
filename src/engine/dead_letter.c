/*
 * engine/dead_letter.c - writing and reading dead letters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/dead_letter.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "engine/block.h"
#include "engine/channel.h"
#include "engine/engine.h"
#include "engine/parcel.h"
#include "sync/thread.h"

#ifdef WEIR_SIMULATED
#define KEPT 4u /* so that a few letters go round it */
#else
#define KEPT 1000u
#endif

const weir_event_type weir_dead_letter_type = { sizeof(weir_event_type),
                                                "weir.dead-letter",
                                                (uint32_t)sizeof(weir_dead_letter),
                                                false,
                                                NULL,
                                                NULL };

static weir_dead_letter *slot_of(const weir__letters *letters, uint64_t number)
{
    return &letters->ring[(number - 1) % KEPT];
}

/* ---- writing ---- */

static weir__cell *cell_for(weir__tally *tally, weir_dead_reason reason)
{
    switch (reason) {
    case WEIR_DEAD_FAILED:
        return &tally->letters_failed;
    case WEIR_DEAD_UNKNOWN:
        return &tally->letters_unknown;
    case WEIR_DEAD_STOPPED:
        return &tally->letters_stopped;
    case WEIR_DEAD_REFUSED:
        return &tally->letters_refused;
    case WEIR_DEAD_LATE:
    default:
        return &tally->letters_late;
    }
}

/* The letter gets its number. False: there is no ring to put it into. */
static bool keep(weir__letters *letters, weir_dead_letter *letter, bool number_it)
{
    weir__brief_lock(&letters->lock);
    const bool kept = letters->ring != NULL;
    if (kept || number_it) {
        letter->number = ++letters->count;
    }
    if (kept) {
        *slot_of(letters, letter->number) = *letter;
    }
    weir__brief_unlock(&letters->lock);
    return kept;
}

/* For the first letter, or the first for which there is memory. */
WEIR__SELDOM static void make_ring(weir_engine *engine)
{
    weir__letters *letters = &engine->letters;
    /* Not zeroed: what has no letter yet is not touched, and costs no memory. */
    weir_dead_letter *ring = weir__allocate_raw(&engine->allocator, KEPT * sizeof(*ring));
    if (ring == NULL) {
        return;
    }
    weir__brief_lock(&letters->lock);
    const bool first = letters->ring == NULL;
    if (first) {
        letters->ring = ring;
        letters->kept_after = letters->count;
    }
    weir__brief_unlock(&letters->lock);
    if (!first) {
        weir__release(&engine->allocator, ring, KEPT * sizeof(*ring));
    }
}

static void write(weir_engine *engine, weir_dead_letter *letter)
{
    if (weir__unlikely(!keep(&engine->letters, letter, false))) {
        make_ring(engine);
        (void)keep(&engine->letters, letter, true);
    }
}

/* What this thread is at is a letter. */
static bool handles_a_letter(const weir__context *context)
{
    weir__thread *thread = context->thread;
    if (thread == NULL || !weir__trail_runs(&thread->trail)) {
        return false;
    }
    weir__step *step = weir__trail_step_at(&thread->trail, weir__trail_at(&thread->trail));
    return WEIR__TRAIL_READ(&thread->trail, &step->type) == &weir_dead_letter_type;
}

/* By nobody, so that nobody is told who had no room for it. While the engine stops only what
 * happens in turns is broadcast, as only handlers may post. */
static void spread(weir__context *context, const weir_dead_letter *letter)
{
    weir_engine *engine = context->engine;
    const weir_channel channel = { weir__load(&engine->letters.channel, relaxed) };
    const weir__posting by = { .context = context, .in_handler = context->thread != NULL };
    const weir_event event = { .type = &weir_dead_letter_type,
                               .data = letter,
                               .size = (uint32_t)sizeof(*letter) };
    if (channel.id != 0 && weir__channel_has_subscribers(engine, channel) &&
        weir__post_is_open(&by) && !handles_a_letter(context)) {
        (void)weir__channel_broadcast(&by, &channel, 1, &event, NULL);
    }
}

void weir__letters_open_channel(weir_engine *engine, const char *name, weir_channel channel)
{
    if (strcmp(name, WEIR_CHANNEL_DEAD_LETTERS) == 0) {
        weir__store(&engine->letters.channel, channel.id, relaxed);
    }
}

void weir__dead_letter(weir__context *context, weir_dead_reason reason, weir_status status,
                       weir_processor from, weir_processor to, const weir_event *event,
                       const char *text)
{
    weir__cell_add(cell_for(&context->tally, reason), 1);
    if (event->type == &weir_dead_letter_type) {
        return; /* one about another says nothing new, and has no end */
    }
    weir_dead_letter letter = {
        .struct_size = sizeof(letter),
        .wall_time = weir__clock_wall(),
        .reason = reason,
        .status = status,
        .from = from,
        .to = to,
        .type = event->type,
        .size = event->size,
    };
    if (event->size > 0) {
        memcpy(letter.head, event->data,
               event->size < sizeof(letter.head) ? event->size : sizeof(letter.head));
    }
    if (text[0] != '\0') {
        snprintf(letter.text, sizeof(letter.text), "%s", text);
    }
    write(context->engine, &letter);
    spread(context, &letter);
}

void weir__letter_if_refused(weir__context *context, weir_status status, uint64_t from,
                             weir_processor to, const weir_event *event)
{
    if ((status == WEIR_UNKNOWN || status == WEIR_STOPPING) &&
        weir__parcel_check(event) == WEIR_OK) {
        weir__dead_letter(context, status == WEIR_UNKNOWN ? WEIR_DEAD_UNKNOWN : WEIR_DEAD_REFUSED,
                          status, (weir_processor){ from }, to, event, "");
    }
}

void weir__letters_flush_some(weir__context *context)
{
    while (context->refused != NULL) {
        weir__lone *lone = context->refused;
        const weir__envelope *envelope = &lone->envelope;
        const uint32_t state = weir__load(&lone->envelope.state, relaxed);
        weir_block *block =
            (state & WEIR__ENVELOPE_BLOCK) != 0 ? envelope->payload.shared.block : NULL;
        const weir_event event = {
            .type = envelope->type,
            .data = block != NULL ? envelope->payload.shared.data : envelope->payload.bytes,
            .size = envelope->size,
        };
        context->refused = (weir__lone *)(void *)weir__load(&lone->pooled.next, relaxed);
        weir__dead_letter(context, WEIR_DEAD_REFUSED, WEIR_STOPPING,
                          (weir_processor){ envelope->sender },
                          (weir_processor){ weir__load(&lone->pooled.link, relaxed) }, &event, "");
        if (block != NULL) {
            weir__block_release(context, block);
        }
        weir__lone_put(context, lone);
    }
}

/* ---- reading ---- */

/* The oldest that is kept with a number above `after`. False: there is none. */
static bool read_next(weir__letters *letters, uint64_t after, weir_dead_letter *out)
{
    /* One at a time: nobody who writes waits for more than that. */
    weir__brief_lock(&letters->lock);
    const uint64_t pushed_out = letters->count > KEPT ? letters->count - KEPT : 0;
    after = after > pushed_out ? after : pushed_out;
    after = after > letters->kept_after ? after : letters->kept_after;
    const bool there = letters->ring != NULL && after < letters->count;
    if (there) {
        *out = *slot_of(letters, after + 1);
    }
    weir__brief_unlock(&letters->lock);
    return there;
}

size_t weir_dead_letter_read(weir_engine *engine, uint64_t after, weir_dead_letter *letters,
                             size_t capacity)
{
    if (!weir__engine_usable(engine) || letters == NULL || capacity == 0) {
        return 0;
    }
    const size_t stride = letters[0].struct_size;
    weir_dead_letter letter;
    size_t count = 0;
    while (count < capacity && read_next(&engine->letters, after, &letter)) {
        char *at = (char *)letters + count * stride;
        memcpy(at, &stride, sizeof(stride));
        if (weir__struct_fill(at, &letter, sizeof(letter)) != WEIR_OK) {
            break;
        }
        after = letter.number;
        count++;
    }
    return count;
}

void weir__letters_close(weir_engine *engine)
{
    weir__release(&engine->allocator, engine->letters.ring, KEPT * sizeof(*engine->letters.ring));
    engine->letters.ring = NULL;
}
