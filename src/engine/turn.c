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
#include "engine/ask.h"
#include "engine/chore.h"
#include "engine/engine.h"
#include "engine/fed.h"
#include "engine/life.h"
#include "engine/freeze.h"
#include "engine/hold.h"
#include "engine/ready.h"
#include "engine/room.h"
#include "engine/supervise.h"
#include "engine/unpack.h"
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

/* The oldest may be evicted at this moment: it is copied, and its place is free at once. False:
 * nothing is there. */
static bool pop_event(weir_turn *turn, progress *at)
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

/* The same, not at once: it is an evicting mailbox, or a gap. */
WEIR__SELDOM static weir__envelope *next_event_slowly(weir_turn *turn, progress *at)
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

static void tell(const weir_turn *turn, const char *what, const char *which)
{
    if (weir__tell_begin()) {
        char name[64];
        weir__processor_text(turn->processor, name, sizeof(name));
        weir__tell_end("%s %s %s", name, what, which);
    }
}

/* The handler did not say OK. True: the turn goes on. */
WEIR__SELDOM static bool judge_aloud(weir_turn *turn, weir__envelope *envelope,
                                     const weir_event *event, weir_status status)
{
    tell(turn, "answers", weir_status_name(status));
    const weir_status failure = weir__turn_judge(turn, status, event);
    if (failure != WEIR_OK) {
        weir__origin_leave(turn->context); /* what follows is not the handler's doing */
        return weir__supervise(turn, envelope, event, failure);
    }
    weir__event_close(turn->context, envelope, weir__load(&envelope->state, relaxed));
    return weir__freeze_count(turn->context, turn->processor, true);
}

/* True: the turn goes on. What is needed after the handler is kept in variables: the handler could
 * have changed all that it can reach. */
static inline bool deliver(weir_turn *turn, weir__envelope *envelope)
{
    weir__processor *const processor = turn->processor;
    weir__context *const context = turn->context;
    weir__trail *const trail = turn->trail;
    const uint32_t state = weir__load(&envelope->state, relaxed);
    weir_event event;
    const weir_handler handler = weir__event_open(context, processor, envelope, state, &event);
    turn->flow = event.flow;
    turn->state = state;
    tell(turn, "handles", event.type->name);
    weir__trail_event(trail, turn->self, &event);
    const weir_status status = handler(processor->state, turn, &event);
    weir__trail_done(trail);
    if (weir__unlikely(status != WEIR_OK)) {
        return judge_aloud(turn, envelope, &event, status);
    }
    weir__event_close(context, envelope, state);
    return weir__freeze_count(context, processor, true);
}

/* A letter about one that is thrown away, unless it is left: of that the stop speaks. Before it is
 * counted, so that an engine's stop waits for whoever is told. */
static void mourn(const weir_turn *turn, weir__envelope *envelope, uint32_t state)
{
    weir_event event;
    if ((weir__load(&turn->processor->control, acquire) & WEIR__CONTROL_FREEZE) == 0) {
        const weir__processor_cold *cold = weir__processor_cold_of(turn->processor);
        weir__event_read(envelope, state, &event);
        weir__event_read_special(envelope, state, &event);
        weir__dead_letter(turn->context, WEIR_DEAD_STOPPED, cold->end_reason, event.from.sender,
                          turn->self, &event, cold->end_text != NULL ? cold->end_text : "");
    }
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
        const uint32_t state = weir__load(&envelope->state, relaxed);
        mourn(turn, envelope, state);
        weir__event_close(turn->context, envelope, state);
        let_go(turn, at);
        weir__freeze_discard(turn->context, turn->processor);
    }
    return true;
}

/* Gives places back, and tells those who wait for room. */
static void credit(const weir_turn *turn, progress *at)
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
        credit(turn, at); /* it may come back: what was taken is gone from the count */
    }
    weir__mailbox_retire(&processor->mailbox, weir__load(&processor->mailbox.word, relaxed),
                         &turn->context->stock);
    if (!weir__life_waits_for_children(turn->context, processor)) {
        weir__life_end(turn->context, processor);
    }
    return WEIR__TURN_OVER;
}

/* Inside the mark: it has just gone idle, and may be another's. A place promised less, and one more
 * that a child took to be seen to, leave the word as it was. True: so it was, and it is ours again.
 */
static bool was_overlooked(weir__processor *processor)
{
    return weir__unlikely((weir__load(&processor->control, acquire) & WEIR__CONTROL_SEEN_TO) !=
                          0) &&
           weir__mailbox_rouse(&processor->mailbox);
}

/* Nothing is left to take. True: the turn is over, *end is how. False: something came meanwhile. */
static bool settle(weir_turn *turn, progress *at, uint64_t word, weir__turn_end *end)
{
    weir__processor *processor = turn->processor;
    weir_engine *engine = turn->context->engine;
    weir__stock *stock = &turn->context->stock;
    const bool blocking = weir__processor_blocks(processor);
    const uint32_t index = weir__unlikely(blocking) ? weir__processor_room(processor) : 0;
    if (weir__unlikely(weir__mailbox_owed(word) > 0 && at->uncredited > 0)) {
        /* Promised places make room a matter of single events: going idle must not be the step that
         * makes it, since nobody looks at who wants room after that. */
        credit(turn, at);
        return false;
    }
    if (weir__unlikely(weir__load(&processor->rooms, relaxed) != NULL)) {
        weir__room_appeared(turn->context, processor, word - at->uncredited * WEIR__MAILBOX_ONE);
    }
    const bool promised = weir__mailbox_owed(word) > 0;
    if (promised) {
        weir__context_enter(turn->context);
    }
    const bool idle = weir__mailbox_idle(&processor->mailbox, word, at->uncredited, stock);
    *end = promised && idle && was_overlooked(processor) ? WEIR__TURN_MORE : WEIR__TURN_OVER;
    if (promised) {
        weir__context_leave(turn->context);
    }
    if (!idle) {
        return false;
    }
    if (weir__unlikely(blocking)) {
        weir__room_wake_threads(engine, index);
    }
    return true;
}

typedef enum advance {
    GOES_ON,
    GAP,
    ENDS, /* frozen or abandoned: the next turn, if any, ends it. Or put aside */
} advance;

/* The next event, wherever it lies and whatever the mailbox is. */
static advance run_one(weir_turn *turn, progress *at, uint32_t available)
{
    const uint32_t every = turn->processor->mailbox.credit_every;
    weir__envelope *envelope = next_event(turn, at);
    if (weir__unlikely(envelope == NULL)) {
        return GAP;
    }
    at->done++;
    if (at->uncredited >= every && at->uncredited > 0) {
        credit(turn, at);
    }
    turn->ahead = available - 1;
    const bool goes_on = deliver(turn, envelope);
    let_go(turn, at);
    return weir__likely(goes_on) ? GOES_ON : ENDS;
}

/* Events in a row that lie in one page, until one is not there, or places are due to be given back.
 * GAP: there was none. */
static advance run_page(weir_turn *turn, progress *at, uint32_t available)
{
    weir__mailbox *mailbox = &turn->processor->mailbox;
    weir__page *page = weir__mailbox_find_page(mailbox, &at->cursor, at->word);
    const uint32_t due = mailbox->credit_every - at->uncredited;
    uint32_t left = available < due ? available : due;
    if (weir__unlikely(page == NULL)) {
        return GAP;
    }
    const uint32_t first = weir__mailbox_offset(mailbox->page_class, at->cursor.ticket);
    const uint32_t size = weir__page_length(mailbox->page_class);
    left = left < size - first ? left : size - first;
    weir__envelope *envelope = &page->envelopes[first];
    weir__envelope *const end = envelope + left;
    bool goes_on = true;
    turn->place_end = end;
    /* [E] pairs with [C]. */
    while (envelope < end && goes_on && weir__likely(weir__load(&envelope->state, acquire) != 0)) {
        turn->ahead = --available;
        turn->place = envelope;
        goes_on = deliver(turn, envelope);
        weir__store(&envelope->state, 0, relaxed);
        envelope++;
    }
    turn->place = NULL;
    const uint32_t done = (uint32_t)(envelope - &page->envelopes[first]);
    at->done += done;
    at->uncredited += done;
    weir__mailbox_advance(mailbox, &at->cursor, done, at->word, &turn->context->stock);
    if (at->uncredited == mailbox->credit_every) {
        credit(turn, at);
    }
    return weir__unlikely(!goes_on) ? ENDS : done > 0 ? GOES_ON : GAP;
}

/* Some of the `available` events that are claimed. */
static inline advance run_some(weir_turn *turn, progress *at, uint32_t available)
{
    weir__mailbox *mailbox = &turn->processor->mailbox;
    /* In small ones every place is given back before its event is handled. */
    if (weir__likely(mailbox->credit_every > 1) && !weir__mailbox_first_due(mailbox, at->word)) {
        const advance ran = run_page(turn, at, available);
        if (weir__likely(ran != GAP)) {
            return ran;
        }
    }
    return run_one(turn, at, available);
}

static weir__turn_end run_events(weir_turn *turn, progress *at, uint32_t batch)
{
    weir__mailbox *mailbox = &turn->processor->mailbox;
    while (at->done < batch) {
        const uint64_t word = weir__load(&mailbox->word, acquire);
        const uint32_t available = weir__mailbox_count(word) - at->uncredited;
        const uint32_t most = batch - at->done;
        at->word = word;
        if (available == 0) {
            if ((word & WEIR__MAILBOX_CLOSED) != 0) {
                return finish(turn, at);
            }
            if (weir__unlikely((weir__load(&turn->processor->control, acquire) &
                                WEIR__CONTROL_SEEN_TO) != 0)) {
                return WEIR__TURN_MORE; /* a child has failed, say: see to that first */
            }
            weir__turn_end end;
            if (settle(turn, at, word, &end)) {
                return end;
            }
            continue;
        }
        const advance ran = run_some(turn, at, available < most ? available : most);
        if (weir__unlikely(ran != GOES_ON)) {
            return ran == GAP ? WEIR__TURN_GAP : WEIR__TURN_ASIDE;
        }
    }
    return WEIR__TURN_MORE;
}

static void begin(progress *at, uint64_t word, uint32_t done)
{
    at->word = word;
    at->cursor = weir__mailbox_cursor(word, done);
    at->uncredited = done;
    at->done = done;
}

static weir__turn_end end_turn(weir_turn *turn, weir__serving *serving, progress *at,
                               weir__turn_end end)
{
    weir__cell_add(&serving->handled, at->done - turn->dead);
    if (end != WEIR__TURN_OVER && at->uncredited > 0) {
        credit(turn, at);
    }
    if (weir__unlikely(end == WEIR__TURN_ASIDE)) { /* after all else: it may be gone then */
        return weir__supervise_aside(turn) ? WEIR__TURN_OVER : WEIR__TURN_MORE;
    }
    return end;
}

/* All that the turn may handle, but for `done` events (one or none) that it has handled. */
static weir__turn_end run_rest(weir__thread *thread, weir__serving *serving, uint64_t word,
                               uint32_t done)
{
    weir_turn *turn = &thread->turn;
    uint32_t batch = weir__load(&turn->processor->batch_max, relaxed);
    progress at;
    begin(&at, word, done);
    if (thread->external && thread->events_left < batch) {
        batch = thread->events_left;
    }
    return end_turn(turn, serving, &at, run_events(turn, &at, batch));
}

/* Nothing but events to see to. */
static inline bool is_ordinary(const weir_engine *engine, weir__processor *processor)
{
    const weir__phase phase = weir__engine_phase(engine);
    return phase >= WEIR__RUNNING && phase < WEIR__ABANDONED &&
           weir__load(&processor->control, acquire) == 0;
}

/* The engine starts or is over, or the processor has not begun. False: no event is handled now. */
static bool prepare(weir_turn *turn, weir__dispatcher *dispatcher, weir__turn_end *end)
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
        weir__hold(turn->context, dispatcher, turn->processor);
        *end = WEIR__TURN_OVER;
    }
    /* Abandoned: the start has failed, its events are left. */
    return phase != WEIR__STARTING && phase < WEIR__ABANDONED;
}

/* The event that is to be handled again. True: the turn goes on. */
static bool run_held(weir__thread *thread, weir__serving *serving)
{
    weir_turn *turn = &thread->turn;
    weir__processor *processor = turn->processor;
    const bool goes_on = deliver(turn, weir__supervise_held(processor));
    if (turn->aside != WEIR__ASIDE_RETRY) {
        weir__supervise_held_done(processor);
    }
    weir__cell_add(&serving->handled, 1 - turn->dead);
    turn->dead = 0;
    thread->events_left -= thread->events_left > 0 ? 1 : 0;
    return goes_on;
}

/* There is more to see to than events. */
WEIR__SELDOM static weir__turn_end run_special(weir__thread *thread, weir__serving *serving)
{
    weir_turn *turn = &thread->turn;
    weir__processor *processor = turn->processor;
    weir__turn_end end;
    turn->flow = 0;
    turn->ahead = 0;
    if (!prepare(turn, serving->dispatcher, &end)) {
        return end;
    }
    bool goes_on = true;
    if ((weir__load(&processor->control, acquire) & WEIR__CONTROL_SUPERVISED) != 0) {
        goes_on = weir__supervise_begin(turn);
    }
    if (weir__chore_is_due(processor)) {
        weir__chore_run(turn);
    }
    uint32_t control = weir__load(&processor->control, acquire);
    if (goes_on && (control & (WEIR__CONTROL_ENDS | WEIR__CONTROL_RETRY)) == WEIR__CONTROL_RETRY) {
        goes_on = run_held(thread, serving);
        control = weir__load(&processor->control, acquire);
    }
    const uint64_t word = weir__load(&processor->mailbox.word, acquire);
    if (goes_on && (control & WEIR__CONTROL_ENDS) == 0) {
        return run_rest(thread, serving, word, 0);
    }
    progress at;
    begin(&at, word, 0);
    if ((control & WEIR__CONTROL_ENDS) == 0) {
        return end_turn(turn, serving, &at, WEIR__TURN_ASIDE);
    }
    weir__room_close(thread->engine, processor);
    return end_turn(turn, serving, &at, finish(turn, &at));
}

/* The straight way of most epochs, of one event which lies alone: it is handled, and the processor
 * is idle and no longer ours. False: that is still to be done, if the turn *goes_on. */
static inline bool run_lone(weir_turn *turn, weir__lone *lone, uint64_t word, bool *goes_on)
{
    weir__processor *const processor = turn->processor;
    weir__stock *const stock = &turn->context->stock;
    turn->ahead = 0;
    *goes_on = deliver(turn, &lone->envelope);
    weir__stock_put_lone(stock, lone);
    /* Who wants room here has found it without us: one place of many is taken. */
    return weir__likely(*goes_on) && !weir__processor_blocks(processor) &&
           weir__mailbox_idle_lone(&processor->mailbox, word);
}

/* It was moved while it waited here. */
WEIR__SELDOM static weir__turn_end pass_on(weir__thread *thread, weir__processor *processor)
{
    weir__ready_elsewhere(&thread->context, processor);
    return WEIR__TURN_OVER;
}

static WEIR__ALWAYS weir__turn_end run_turn(weir__thread *thread, weir__serving *serving,
                                            weir__processor *processor)
{
    weir_turn *turn = &thread->turn;
    bool goes_on = true;
    if (weir__unlikely(weir__processor_dispatcher(processor) != serving->dispatcher)) {
        return pass_on(thread, processor);
    }
    weir__cell_add(&serving->turns, 1);
    weir__cell_add(&thread->turns, 1);
    turn->processor = processor;
    turn->self.id = weir__load(&processor->id, relaxed);
    turn->now = 0;
    turn->dead = 0;
    processor->last_thread = (uint16_t)thread->index;
    /* The word before the control: who has changed both since, keeps us from going idle. */
    const uint64_t word = weir__load(&processor->mailbox.word, acquire);
    if (weir__unlikely(!is_ordinary(thread->engine, processor))) {
        return run_special(thread, serving);
    }
    weir__lone *lone = weir__mailbox_take_lone(&processor->mailbox, word);
    if (lone == NULL) {
        return run_rest(thread, serving, word, 0);
    }
    if (weir__likely(run_lone(turn, lone, word, &goes_on))) {
        weir__cell_add(&serving->handled, 1 - turn->dead);
        return WEIR__TURN_OVER;
    }
    if (weir__likely(goes_on)) {
        return run_rest(thread, serving, word, 1);
    }
    progress at;
    begin(&at, word, 1); /* frozen, abandoned or put aside */
    return end_turn(turn, serving, &at, WEIR__TURN_ASIDE);
}

weir__turn_end weir__turns_run(weir__thread *thread, weir__serving *serving,
                               weir__processor *processor, uint32_t most)
{
    uint32_t more = most - 1; /* that may follow */
    weir__turn_end end;
    for (;;) {
        end = run_turn(thread, serving, processor);
        if (weir__unlikely(end == WEIR__TURN_ASIDE)) {
            weir__fence(seq_cst); /* put aside, then look: feeds do it the other way round */
        }
        weir__fed_room(&thread->context, thread->turn.self.id); /* going idle gives places back */
        if (weir__unlikely(end != WEIR__TURN_OVER) || more == 0 ||
            weir__unlikely(weir__load(&thread->leave, relaxed) != 0)) {
            break;
        }
        processor = weir__kept_next(&serving->kept);
        if (processor == NULL) {
            break;
        }
        more--;
    }
    thread->kept_in_a_row += most - 1 - more;
    return end;
}
