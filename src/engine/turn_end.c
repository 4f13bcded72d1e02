/*
 * engine/turn_end.c - what turns seldom do: an event that is hard to get at, an answer that is not
 * OK, the end of the processor and of all that waits for it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/progress.h"

#include "engine/ask.h"
#include "engine/engine.h"
#include "engine/freeze.h"
#include "engine/life.h"
#include "engine/supervise.h"
#include "engine/unpack.h"

#define GAP_LOOKS 64

/* The oldest may be evicted at this moment: it is copied, and its place is free at once. False:
 * nothing is there. */
static bool pop_event(weir_turn *turn, weir__progress *at)
{
    weir__processor *processor = turn->processor;
    weir__lone *spent;
    if (weir__mailbox_pop(&processor->mailbox, &weir__processor_cold_of(processor)->evictions,
                          &turn->context->stock, &at->copy, &spent) != WEIR__POP_EVENT) {
        return false;
    }
    if (spent != NULL) {
        weir__lone_put(turn->context, spent);
    }
    weir__room_appeared(turn->context, processor, weir__load(&processor->mailbox.word, seq_cst));
    return true;
}

weir__envelope *weir__progress_event_slowly(weir_turn *turn, weir__progress *at)
{
    weir__mailbox *mailbox = &turn->processor->mailbox;
    for (int looks = 0; looks < GAP_LOOKS; looks++) {
        if (looks > 0) {
            weir__pause();
        }
        if (weir__mailbox_evicts(mailbox)) {
            if (pop_event(turn, at)) {
                return &at->copy.envelope;
            }
            continue;
        }
        weir__envelope *event = weir__mailbox_take(mailbox, &at->cursor, at->word);
        if (event != NULL) {
            at->uncredited++;
            return event;
        }
    }
    return NULL;
}

/* What a handler did by its last call may be its answer. */
static bool is_well(weir_status status)
{
    return status == WEIR_OK || status == WEIR_DROPPED || status == WEIR_ALREADY;
}

weir_status weir__turn_unhandled(weir_turn *turn, const weir_event *event)
{
    const weir__processor_cold *cold = weir__processor_cold_of(turn->processor);
    weir_status status = WEIR_UNHANDLED;
    if (cold != NULL && cold->unhandled != NULL) {
        weir__trail_unhandled(turn->trail);
        status = cold->unhandled(turn->processor->state, turn, event);
        weir__trail_hook_done(turn->trail);
    }
    if (status == WEIR_UNHANDLED) {
        weir__cell_add(&turn->context->tally.unhandled, 1);
        weir__life_warn_unhandled(turn, event);
        return WEIR_OK;
    }
    return status;
}

weir_status weir__turn_judge(weir_turn *turn, weir_status status, const weir_event *event)
{
    if (status == WEIR_UNHANDLED) {
        status = weir__turn_unhandled(turn, event);
    }
    return is_well(status) ? WEIR_OK : status;
}

/* A letter about one that is thrown away, unless it is left: of that the stop speaks. Before it is
 * counted, so that an engine's stop waits for whoever is told. */
static void mourn(const weir_turn *turn, weir__envelope *envelope, uint32_t state)
{
    weir_event event;
    if ((weir__load(&turn->processor->control, acquire) & WEIR__CONTROL_FREEZE) == 0) {
        const weir__processor_cold *cold = weir__processor_cold_of(turn->processor);
        weir__event_blank(&event);
        weir__event_read(envelope, state, &event);
        weir__event_read_special(envelope, state, &event);
        weir__dead_letter(turn->context, WEIR_DEAD_STOPPED, cold->end_reason, event.from.sender,
                          turn->self, &event, cold->end_text != NULL ? cold->end_text : "");
    }
}

/* Takes everything that waits without handling it, as dead or as left. False: a gap is in the way.
 * */
WEIR__SELDOM static bool discard_all(weir_turn *turn, weir__progress *at)
{
    weir__mailbox *mailbox = &turn->processor->mailbox;
    while (weir__mailbox_count(weir__load(&mailbox->word, acquire)) > at->uncredited) {
        weir__envelope *envelope = weir__progress_event(turn, at);
        if (envelope == NULL) {
            return false;
        }
        const uint32_t state = weir__load(&envelope->state, relaxed);
        mourn(turn, envelope, state);
        weir__event_release(turn->context, envelope, state);
        weir__progress_let_go(turn, at);
        weir__freeze_discard(turn->context, turn->processor);
    }
    return true;
}

weir__turn_end weir__turn_finish(weir_turn *turn, weir__progress *at)
{
    weir__processor *processor = turn->processor;
    const uint32_t control = weir__load(&processor->control, acquire);
    if ((control & WEIR__CONTROL_ENDS) != 0) {
        if ((control & WEIR__CONTROL_RETRY) != 0) {
            weir__envelope *held = weir__supervise_held(processor);
            mourn(turn, held, weir__load(&held->state, relaxed));
        }
        weir__supervise_end(turn);
        weir__asks_abandon(turn);
        if (!discard_all(turn, at)) {
            return WEIR__TURN_GAP;
        }
    } else {
        const weir__turn_end asked = weir__asks_finish(turn);
        if (weir__unlikely(asked != WEIR__TURN_OVER)) {
            return asked; /* what it was owed comes first */
        }
    }
    if (at->uncredited > 0) {
        /* It may come back: what was taken is gone from the count. */
        weir__progress_credit(turn, at);
    }
    weir__mailbox_retire(&processor->mailbox, weir__load(&processor->mailbox.word, relaxed),
                         &turn->context->stock);
    if (!weir__life_waits_for_children(turn->context, processor)) {
        weir__life_end(turn->context, processor);
    }
    return WEIR__TURN_OVER;
}
