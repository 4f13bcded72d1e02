/*
 * engine/turn.c - running a turn: init if due, events in order, idle or the end.
 *
 * Counting. Every event that was taken ends in exactly one cell: handled, dead or left. The
 * processor's cell is written first; if a freeze is under way it decides which one (see
 * engine/freeze.h); then the context's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/turn.h"

#include "base/assert.h"
#include "engine/block.h"
#include "engine/engine.h"
#include "engine/life.h"
#include "engine/freeze.h"
#include "engine/hold.h"
#include "engine/room.h"
#include "sync/tell.h"

#define GAP_LOOKS 64

/* What a turn keeps in registers. */
typedef struct progress {
    weir__cursor cursor;
    uint64_t word;       /* of the mailbox, as last seen: which epoch it is */
    uint32_t uncredited; /* taken, and still counted in the mailbox's word */
    uint32_t done;       /* taken in this turn */
    weir__lone copy;     /* evicting mailboxes hand out copies */
} progress;

/* The oldest may be evicted at this moment: it is copied, and its place is free at once. */
static weir__envelope *pop_event(weir_turn *turn, progress *at)
{
    weir__processor *processor = turn->processor;
    weir__lone *spent;
    if (weir__mailbox_pop(&processor->mailbox, &weir__processor_cold_of(processor)->evictions,
                          &turn->context->stock, &at->copy, &spent) != WEIR__POP_EVENT) {
        return NULL;
    }
    if (spent != NULL) {
        weir__lone_put(turn->context, spent);
    }
    weir__room_appeared(turn->context, processor, weir__load(&processor->mailbox.word, seq_cst));
    return &at->copy.envelope;
}

/* The same, not at once: it is an evicting mailbox, or a gap. */
WEIR__SELDOM static weir__envelope *next_event_slowly(weir_turn *turn, progress *at)
{
    weir__mailbox *mailbox = &turn->processor->mailbox;
    weir__envelope *event = NULL;
    for (int looks = 0; looks < GAP_LOOKS && event == NULL; looks++) {
        if (looks > 0) {
            weir__pause();
        }
        event = weir__mailbox_evicts(mailbox) ? pop_event(turn, at)
                                              : weir__mailbox_take(mailbox, &at->cursor, at->word);
    }
    at->uncredited += event != NULL && !weir__mailbox_evicts(mailbox) ? 1 : 0;
    return event;
}

/* The next event; NULL: none is there although one is claimed (a gap). */
static inline weir__envelope *next_event(weir_turn *turn, progress *at)
{
    weir__mailbox *mailbox = &turn->processor->mailbox;
    weir__envelope *event = weir__likely(!weir__mailbox_evicts(mailbox))
                                ? weir__mailbox_take(mailbox, &at->cursor, at->word)
                                : NULL;
    if (weir__unlikely(event == NULL)) {
        return next_event_slowly(turn, at);
    }
    at->uncredited++;
    return event;
}

/* It is done with. A copy needs no more. */
static inline void let_go(weir_turn *turn, progress *at)
{
    if (weir__likely(at->cursor.held != NULL)) {
        weir__lone *lone = weir__mailbox_let_go(&turn->processor->mailbox, &at->cursor, at->word,
                                                &turn->context->stock);
        if (lone != NULL) {
            weir__lone_put(turn->context, lone);
        }
    }
}

static inline void open_event(weir_turn *turn, weir__envelope *envelope, weir_event *event)
{
    const uint32_t state = weir__load(&envelope->state, relaxed);
    *event = (weir_event){
        .type = envelope->type,
        .data = envelope->payload.bytes,
        .size = envelope->size,
        .flags = state & 0xffffu,
        .flow = envelope->flow,
        .from = { .sender = { envelope->sender } },
    };
    if (weir__unlikely((state & (WEIR__ENVELOPE_BLOCK | WEIR__ENVELOPE_ALONE)) != 0)) {
        if ((state & WEIR__ENVELOPE_BLOCK) != 0) {
            event->block = envelope->payload.shared.block;
            event->data = envelope->payload.shared.data;
        }
        if ((state & WEIR__ENVELOPE_ALONE) != 0) {
            event->from.ask = weir__lone_of(envelope)->ask;
            event->tag = weir__lone_of(envelope)->tag;
        }
    }
    turn->flow = event->flow;
}

/* The event's own reference to its block. */
static inline void close_event(weir_turn *turn, weir__envelope *envelope)
{
    if (weir__unlikely((weir__load(&envelope->state, relaxed) & WEIR__ENVELOPE_BLOCK) != 0)) {
        weir__block_release(turn->context, envelope->payload.shared.block);
    }
}

/* What a handler did by its last call may be its answer. */
static bool is_well(weir_status status)
{
    return status == WEIR_OK || status == WEIR_DROPPED || status == WEIR_ALREADY;
}

/* Whether a status of a handler means that the event is handled, and what to say if not. */
WEIR__SELDOM static bool judge(weir_turn *turn, weir_status status, const weir_event *event)
{
    if (is_well(status)) {
        return true;
    }
    if (status == WEIR_UNHANDLED) {
        const weir__processor_cold *cold = weir__processor_cold_of(turn->processor);
        if (cold != NULL && cold->unhandled != NULL) {
            weir__trail_unhandled(turn->trail);
            status = cold->unhandled(turn->processor->state, turn, event);
            weir__trail_hook_done(turn->trail);
            if (is_well(status)) {
                return true;
            }
        }
    }
    if (status == WEIR_UNHANDLED) {
        weir__cell_add(&turn->context->tally.unhandled, 1);
        weir__life_warn_unhandled(turn, event);
        return true;
    }
    weir__life_warn_failed(turn, event, status);
    return false;
}

static void tell(const weir_turn *turn, const char *what, const char *which)
{
    if (weir__tell_begin()) {
        char name[64];
        weir__processor_text(turn->processor, name, sizeof(name));
        weir__tell_end("%s %s %s", name, what, which);
    }
}

/* True: the turn goes on. */
static inline bool deliver(weir_turn *turn, weir__envelope *envelope)
{
    weir__processor *processor = turn->processor;
    weir_event event;
    turn->text[0] = '\0';
    open_event(turn, envelope, &event);
    tell(turn, "handles", event.type->name);
    weir__trail_event(turn->trail, turn->self, &event);
    const weir_status status = processor->handler(processor->state, turn, &event);
    weir__trail_done(turn->trail);
    if (weir__unlikely(status != WEIR_OK)) {
        tell(turn, "answers", weir_status_name(status));
    }
    const bool handled = weir__likely(status == WEIR_OK) || judge(turn, status, &event);
    close_event(turn, envelope);
    turn->dead += handled ? 0 : 1;
    return weir__freeze_count(turn->context, processor, handled);
}

/* Takes everything that waits without handling it, as dead or as left. False: a gap is in the way.
 * */
WEIR__SELDOM static bool discard_all(weir_turn *turn, progress *at)
{
    weir__mailbox *mailbox = &turn->processor->mailbox;
    while (weir__mailbox_count(weir__load(&mailbox->word, acquire)) > at->uncredited) {
        weir__envelope *envelope = next_event(turn, at);
        if (envelope == NULL) {
            return false;
        }
        close_event(turn, envelope);
        let_go(turn, at);
        const uint32_t control = weir__load(&turn->processor->control, acquire);
        weir__freeze_discard(turn->context, turn->processor, (control & WEIR__CONTROL_FREEZE) == 0);
    }
    return true;
}

/* Gives places back, and tells those who wait for room. */
static void credit(weir_turn *turn, progress *at)
{
    weir__processor *processor = turn->processor;
    const uint64_t word = weir__mailbox_credit(&processor->mailbox, at->uncredited);
    at->uncredited = 0;
    weir__room_appeared(turn->context, processor, word);
}

/* Closed, and about to be unregistered: drains by discarding what a freeze or a failed init left,
 * gives the last envelope back, ends. */
WEIR__SELDOM static weir__turn_end finish(weir_turn *turn, progress *at)
{
    weir__processor *processor = turn->processor;
    const uint32_t control = weir__load(&processor->control, acquire);
    if ((control & (WEIR__CONTROL_FREEZE | WEIR__CONTROL_BROKEN)) != 0 && !discard_all(turn, at)) {
        return WEIR__TURN_GAP;
    }
    if (at->uncredited > 0) {
        credit(turn, at); /* it may come back: what was taken is gone from the count */
    }
    weir__mailbox_retire(&processor->mailbox, weir__load(&processor->mailbox.word, relaxed),
                         &turn->context->stock);
    if (!weir__life_waits_for_children(turn->context, processor)) {
        weir__life_end(turn->context, processor);
    }
    return WEIR__TURN_OVER;
}

/* Nothing is left to take. True: the turn is over. False: something came meanwhile. */
static bool settle(weir_turn *turn, progress *at, uint64_t word)
{
    weir__processor *processor = turn->processor;
    weir_engine *engine = turn->context->engine;
    const bool blocking = weir__processor_overflow(processor) == WEIR_OVERFLOW_BLOCK;
    const uint32_t index = weir__processor_index(processor);
    if (weir__unlikely(weir__mailbox_owed(word) > 0 && at->uncredited > 0)) {
        /* Promised places make room a matter of single events: going idle must not be the step that
         * makes it, since nobody looks at who wants room after that. */
        credit(turn, at);
        return false;
    }
    if (weir__unlikely(weir__load(&processor->rooms, relaxed) != NULL)) {
        weir__room_appeared(turn->context, processor, word - at->uncredited * WEIR__MAILBOX_ONE);
    }
    if (!weir__mailbox_idle(&processor->mailbox, word, at->uncredited, &turn->context->stock)) {
        return false;
    }
    if (weir__unlikely(blocking)) {
        weir__room_wake_threads(engine, index);
    }
    return true;
}

static weir__turn_end run_events(weir_turn *turn, progress *at)
{
    weir__processor *processor = turn->processor;
    weir__mailbox *mailbox = &processor->mailbox;
    const uint32_t batch = turn->batch;
    while (at->done < batch) {
        const uint64_t word = weir__load(&mailbox->word, acquire);
        uint32_t available = weir__mailbox_count(word) - at->uncredited;
        at->word = word;
        if (available == 0) {
            if ((word & WEIR__MAILBOX_CLOSED) != 0) {
                return finish(turn, at);
            }
            if (settle(turn, at, word)) {
                return WEIR__TURN_OVER;
            }
            continue;
        }
        available = available < batch - at->done ? available : batch - at->done;
        while (available > 0) {
            weir__envelope *envelope = next_event(turn, at);
            if (weir__unlikely(envelope == NULL)) {
                return WEIR__TURN_GAP;
            }
            at->done++;
            if (at->uncredited >= mailbox->credit_every && at->uncredited > 0) {
                credit(turn, at);
            }
            turn->ahead = --available;
            const bool goes_on = deliver(turn, envelope);
            let_go(turn, at);
            if (weir__unlikely(!goes_on)) {
                return WEIR__TURN_MORE; /* frozen or abandoned: the next turn, if any, ends it */
            }
        }
    }
    return WEIR__TURN_MORE;
}

/* Nothing but events to see to. */
static inline bool is_ordinary(const weir_engine *engine, weir__processor *processor)
{
    const weir__phase phase = weir__engine_phase(engine);
    return phase >= WEIR__RUNNING && phase < WEIR__ABANDONED &&
           (weir__load(&processor->control, acquire) & WEIR__CONTROL_INIT) == 0;
}

/* The engine starts or is over, or the processor has not begun. False: no event is handled now. */
WEIR__SELDOM static bool prepare(weir_turn *turn, weir__turn_end *end)
{
    const weir_engine *engine = turn->context->engine;
    *end = WEIR__TURN_MORE;
    if (weir__engine_phase(engine) >= WEIR__ABANDONED) {
        return false; /* no hook and no handler begins any more */
    }
    if ((weir__load(&turn->processor->control, acquire) & WEIR__CONTROL_INIT) != 0) {
        weir__life_begin(turn);
    }
    const weir__phase phase = weir__engine_phase(engine);
    if (phase == WEIR__STARTING) {
        weir__hold(turn->processor);
        *end = WEIR__TURN_OVER;
    }
    /* Abandoned: the start has failed, its events are left. */
    return phase != WEIR__STARTING && phase < WEIR__ABANDONED;
}

weir__turn_end weir__turn_run(weir__thread *thread, weir__serving *serving,
                              weir__processor *processor)
{
    weir_engine *engine = thread->engine;
    weir_turn turn;
    weir__turn_end end;
    turn.context = &thread->context;
    turn.processor = processor;
    turn.trail = &thread->trail;
    turn.self.id = weir__load(&processor->id, relaxed);
    processor->last_thread = (uint16_t)thread->index;
    turn.flow = 0;
    turn.now = 0;
    turn.ahead = 0;
    turn.dead = 0;
    turn.batch = processor->batch_max;
    if (weir__unlikely(thread->options.external && thread->events_left < turn.batch)) {
        turn.batch = thread->events_left;
    }
    turn.text[0] = '\0';
    if (weir__unlikely(!is_ordinary(engine, processor)) && !prepare(&turn, &end)) {
        return end;
    }
    progress at;
    at.word = weir__load(&processor->mailbox.word, acquire);
    at.cursor = weir__mailbox_cursor(at.word, 0);
    at.uncredited = 0;
    at.done = 0;
    if (weir__unlikely((weir__load(&processor->control, acquire) &
                        (WEIR__CONTROL_FREEZE | WEIR__CONTROL_BROKEN)) != 0)) {
        weir__room_close(engine, processor);
        end = finish(&turn, &at);
    } else {
        end = run_events(&turn, &at);
    }
    if (serving != NULL && at.done > 0) {
        weir__cell_add(&serving->handled, at.done - turn.dead);
    }
    if (end != WEIR__TURN_OVER) {
        if (at.uncredited > 0) {
            credit(&turn, &at);
        }
    }
    return end;
}
