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

#include "engine/chore.h"
#include "engine/engine.h"
#include "engine/fed.h"
#include "engine/lease.h"
#include "engine/life.h"
#include "engine/freeze.h"
#include "engine/hold.h"
#include "engine/probe.h"
#include "engine/progress.h"
#include "engine/ready.h"
#include "engine/supervise.h"
#include "engine/trace.h"
#include "engine/traceparent.h"
#include "engine/unpack.h"
#include "sync/tell.h"

static void tell(const weir_turn *turn, const char *what, const char *which)
{
    if (weir__tell_begin()) {
        char name[64];
        weir__processor_text(turn->processor, name, sizeof(name));
        weir__tell_end("%s %s %s", name, what, which);
    }
}

/* The handler did not say OK. True: the turn goes on. */
WEIR__SELDOM static bool judge_aloud(weir__thread *thread, weir__envelope *envelope,
                                     weir_status status)
{
    weir_turn *turn = &thread->turn;
    weir_event *event = &thread->event;
    tell(turn, "answers", weir_status_name(status));
    const weir_status failure = weir__turn_judge(turn, status, event);
    if (failure != WEIR_OK) {
        weir__carried_drop(turn->context); /* what follows is not the handler's doing */
        const bool goes_on = weir__supervise(turn, envelope, event, failure);
        weir__event_blank(event);
        return goes_on;
    }
    weir__event_close(turn->context, envelope, turn->state, event);
    return weir__freeze_count(turn->context, turn->processor, true);
}

/* The event at hand is ready. */
static WEIR__ALWAYS weir_status call(weir__thread *thread, const weir__processor *processor,
                                     weir_handler handler)
{
    weir_turn *const turn = &thread->turn;
    const weir_event *const event = &thread->event;
    tell(turn, "handles", event->type->name);
    weir__trail_event(&thread->trail, turn->self, event);
    const weir_status status = handler(processor->state, turn, event);
    weir__trail_done(&thread->trail);
    return status;
}

/* The handler has returned. True: the turn goes on. */
static WEIR__ALWAYS bool end_event(weir__thread *thread, weir__envelope *envelope,
                                   weir_status status)
{
    if (weir__unlikely(status != WEIR_OK)) {
        return judge_aloud(thread, envelope, status);
    }
    /* Of the turn's copy: the handler may carry something. */
    weir__event_close(&thread->context, envelope, thread->turn.state, &thread->event);
    return weir__freeze_count(&thread->context, thread->turn.processor, true);
}

/* True: the turn goes on. The handler could have changed all that it can reach: what is needed
 * after it is kept in variables, of which there are few. */
static WEIR__ALWAYS bool deliver(weir__thread *thread, weir__processor *processor,
                                 weir__envelope *envelope)
{
    weir_turn *const turn = &thread->turn;
    const uint32_t state = weir__load(&envelope->state, relaxed);
    weir_event *const event = &thread->event;
    const weir_handler handler = weir__event_open(turn, processor, envelope, state, event);
    turn->flow = event->flow;
    turn->state = state;
    return end_event(thread, envelope, call(thread, processor, handler));
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
static bool settle(weir_turn *turn, weir__progress *at, uint64_t word, weir__turn_end *end)
{
    weir__processor *processor = turn->processor;
    weir_engine *engine = turn->context->engine;
    weir__stock *stock = &turn->context->stock;
    const bool blocking = weir__processor_blocks(processor);
    const uint32_t index = weir__unlikely(blocking) ? weir__processor_room(processor) : 0;
    if (weir__unlikely(weir__mailbox_owed(word) > 0 && at->uncredited > 0)) {
        /* Promised places make room a matter of single events: going idle must not be the step that
         * makes it, since nobody looks at who wants room after that. */
        weir__progress_credit(turn, at);
        return false;
    }
    if (weir__unlikely(weir__load(&processor->rooms, relaxed) != NULL)) {
        weir__room_appeared(turn->context, processor, word - at->uncredited * WEIR__MAILBOX_ONE);
    }
    const bool promised = weir__mailbox_owed(word) > 0;
    if (promised) {
        weir__context_enter(turn->context);
    }
    const bool lease =
        !promised && !weir__mailbox_is_leased(word) && weir__run_goes_on_by(processor, at->done);
    const bool idle =
        weir__unlikely(lease)
            ? weir__lease_begin(turn->context->thread, processor, word, at->uncredited)
            : weir__mailbox_idle(&processor->mailbox, word, at->uncredited, stock);
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
static advance run_one(weir__thread *thread, weir__progress *at, uint32_t available)
{
    weir_turn *turn = &thread->turn;
    const uint32_t every = turn->processor->mailbox.credit_every;
    weir__envelope *envelope = weir__progress_event(turn, at);
    if (weir__unlikely(envelope == NULL)) {
        return GAP;
    }
    at->done++;
    if (at->uncredited >= every && at->uncredited > 0) {
        weir__progress_credit(turn, at);
    }
    turn->ahead = available - 1;
    turn->page = at->cursor.page;
    const bool goes_on = deliver(thread, turn->processor, envelope);
    weir__progress_let_go(turn, at);
    return weir__likely(goes_on) ? GOES_ON : ENDS;
}

/* Events that are folded, `most` of them: they are read where they lie, and differ in their data
 * only. Returns how many were handled: all of them, or the others lie in their places now.
 *goes_on: the turn does. */
static uint32_t run_fold(weir__thread *thread, weir__processor *processor, weir__envelope *first,
                         uint32_t most, bool *goes_on)
{
    weir_turn *const turn = &thread->turn;
    weir_event *const event = &thread->event;
    const uint32_t state = weir__load(&first->state, relaxed) & ~(uint32_t)WEIR__ENVELOPE_FOLDED;
    const uint32_t count = weir__fold_count(first->size);
    const uint32_t last = (count < most ? count : most) - 1;
    weir__fold fold = weir__fold_begin(first, weir__fold_size(first->size));
    const uint32_t lines = weir__fold_lines(first->size);
    for (uint32_t n = 1; n < lines; n++) {
        __builtin_prefetch(first + n);
    }
    __builtin_prefetch(first + count); /* where the next ones begin */
    weir__event_read(first, state, event);
    event->size = weir__fold_size(first->size);
    turn->flow = event->flow;
    turn->state = state;
    for (uint32_t n = 0;; n++) {
        turn->place = first + n;
        event->data = fold.at;
        const weir_status status = call(thread, processor, processor->handler);
        if (weir__unlikely(status != WEIR_OK || turn->state != state)) {
            weir__fold_undo(first, n);
            *goes_on = end_event(thread, first + n, status);
            weir__store(&first[n].state, 0, relaxed);
            return n + 1;
        }
        *goes_on = weir__freeze_count(&thread->context, processor, true);
        if (n == last || weir__unlikely(!*goes_on)) {
            if (n + 1 < count) {
                weir__fold_undo(first, n + 1);
            } else {
                weir__store(&first->state, 0, relaxed);
            }
            return n + 1;
        }
        weir__fold_next(&fold);
    }
}

#define AHEAD 3 /* events whose lines are asked for while one is handled */

/* Events in a row that lie in one page, until one is not there, or places are due to be given back.
 * GAP: there was none. */
static advance run_page(weir__thread *thread, weir__progress *at, uint32_t available)
{
    weir_turn *turn = &thread->turn;
    weir__processor *const processor = turn->processor;
    weir__mailbox *mailbox = &processor->mailbox;
    weir__page *page = weir__mailbox_find_page(mailbox, &at->cursor, at->word);
    const uint32_t every = mailbox->credit_every;
    const uint32_t page_class = mailbox->page_class;
    const uint32_t due = every - at->uncredited;
    uint32_t left = available < due ? available : due;
    if (weir__unlikely(page == NULL)) {
        return GAP;
    }
    const uint32_t first = weir__mailbox_offset(page_class, at->cursor.ticket);
    const uint32_t size = weir__page_length(page_class);
    left = left < size - first ? left : size - first;
    weir__envelope *envelope = &page->envelopes[first];
    weir__envelope *const end = envelope + left;
    bool goes_on = true;
    turn->ahead = available - left; /* and what is between place and place_end */
    turn->place_end = end;
    turn->page = page;
    uint32_t state;
    /* [E] pairs with [C]. */
    while (weir__likely((state = weir__load(&envelope->state, acquire)) != 0)) {
        if (weir__unlikely((state & WEIR__ENVELOPE_FOLDED) != 0)) {
            envelope += run_fold(thread, processor, envelope, (uint32_t)(end - envelope), &goes_on);
            if (envelope == end || weir__unlikely(!goes_on)) {
                break;
            }
            continue;
        }
        turn->place = envelope;
        __builtin_prefetch(envelope + AHEAD);
        goes_on = deliver(thread, processor, envelope);
        weir__store(&envelope->state, 0, relaxed);
        if (++envelope == end || weir__unlikely(!goes_on)) {
            break;
        }
    }
    turn->place = NULL;
    const uint32_t done = (uint32_t)(envelope - &page->envelopes[first]);
    at->done += done;
    at->uncredited += done;
    weir__mailbox_advance(mailbox, &at->cursor, page_class, done, at->word, &turn->context->stock);
    if (at->uncredited == every) {
        weir__progress_credit(turn, at);
    }
    return weir__unlikely(!goes_on) ? ENDS : done > 0 ? GOES_ON : GAP;
}

/* Some of the `available` events that are claimed. */
static inline advance run_some(weir__thread *thread, weir__progress *at, uint32_t available)
{
    weir__mailbox *mailbox = &thread->turn.processor->mailbox;
    /* In small ones every place is given back before its event is handled. */
    if (weir__likely(mailbox->credit_every > 1) && !weir__mailbox_first_due(mailbox, at->word)) {
        const advance ran = run_page(thread, at, available);
        if (weir__likely(ran != GAP)) {
            return ran;
        }
    }
    return run_one(thread, at, available);
}

/* The last look found so many, not the first ones of this turn. True: the next one is put off. */
static bool keep_pace(weir__thread *thread, uint32_t available, bool waited)
{
    weir__pace *pace = &thread->pace;
    if (waited) {
        weir__pace_judge(pace, available);
    } else if (available > 0) { /* there is a last look in every turn */
        weir__pace_found(pace, available, true);
    }
    return weir__unlikely(weir__pace_waits(pace, available)) &&
           weir__thread_has_taken_all(thread, thread->turn.serving);
}

static weir__turn_end run_events(weir__thread *thread, weir__progress *at, uint32_t batch)
{
    weir_turn *turn = &thread->turn;
    weir__mailbox *mailbox = &turn->processor->mailbox;
    bool wait = false;
    while (at->done < batch) {
        const bool waited = wait;
        if (weir__unlikely(waited)) {
            weir__pace_wait();
        }
        const uint64_t word = weir__load(&mailbox->word, acquire);
        const uint32_t available = weir__mailbox_count(word) - at->uncredited;
        const uint32_t most = batch - at->done;
        at->word = word;
        if (at->done > 0) {
            wait = keep_pace(thread, available, waited);
        }
        if (available == 0) {
            if ((word & WEIR__MAILBOX_CLOSED) != 0) {
                return weir__turn_finish(turn, at);
            }
            if (weir__unlikely((weir__load(&turn->processor->control, acquire) &
                                WEIR__CONTROL_SEEN_TO) != 0)) {
                return WEIR__TURN_MORE; /* a child has failed, say: see to that first */
            }
            if (weir__unlikely(wait)) {
                continue; /* before it goes idle, too: once, if nothing comes */
            }
            weir__turn_end end;
            if (settle(turn, at, word, &end)) {
                return end;
            }
            continue;
        }
        const advance ran = run_some(thread, at, available < most ? available : most);
        if (weir__unlikely(ran != GOES_ON)) {
            return ran == GAP ? WEIR__TURN_GAP : WEIR__TURN_ASIDE;
        }
    }
    return WEIR__TURN_MORE;
}

static void begin(weir__progress *at, uint64_t word, uint32_t done)
{
    at->word = word;
    at->cursor = weir__mailbox_cursor(word, done);
    at->uncredited = done;
    at->done = done;
}

static weir__turn_end end_turn(weir_turn *turn, weir__serving *serving, weir__progress *at,
                               weir__turn_end end)
{
    weir__cell_add(&serving->handled, at->done - turn->dead);
    if (end != WEIR__TURN_OVER && at->uncredited > 0) {
        weir__progress_credit(turn, at);
    }
    if (end == WEIR__TURN_MORE && !weir__mailbox_is_leased(at->word) &&
        weir__run_goes_on_by(turn->processor, at->done)) {
        weir__lease_begin_busy(turn->context->thread, turn->processor);
    }
    if (weir__unlikely(end == WEIR__TURN_ASIDE)) { /* after all else: it may be gone then */
        return weir__supervise_aside(turn) ? WEIR__TURN_OVER : WEIR__TURN_MORE;
    }
    return end;
}

/* One that comes alone is not looked at: there is no less. */
static inline void note_depth(weir__processor *processor, uint32_t depth)
{
    weir__atomic_u32 *high = weir__registry_high(processor);
    if (weir__unlikely(depth > weir__load(high, relaxed))) {
        weir__store(high, depth, relaxed);
    }
}

/* All that the turn may handle, but for `done` events (one or none) that it has handled. */
WEIR__WARM static weir__turn_end run_rest(weir__thread *thread, weir__serving *serving,
                                          uint64_t word, uint32_t done)
{
    weir_turn *turn = &thread->turn;
    uint32_t batch = weir__load(&turn->processor->batch_max, relaxed);
    weir__progress at;
    begin(&at, word, done);
    note_depth(turn->processor, weir__mailbox_count(word));
    if (thread->external && thread->events_left < batch) {
        batch = thread->events_left;
    }
    return end_turn(turn, serving, &at, run_events(thread, &at, batch));
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
    const bool goes_on = deliver(thread, processor, weir__supervise_held(processor));
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
    weir__progress at;
    begin(&at, word, 0);
    if ((control & WEIR__CONTROL_ENDS) == 0) {
        return end_turn(turn, serving, &at, WEIR__TURN_ASIDE);
    }
    weir__room_close(thread->engine, processor);
    return end_turn(turn, serving, &at, weir__turn_finish(turn, &at));
}

/* The straight way of most epochs, of one event which lies alone: it is handled, and the processor
 * is idle and no longer ours. False: that is still to be done, if the turn *goes_on. */
static WEIR__ALWAYS bool run_lone(weir__thread *thread, weir__processor *processor,
                                  weir__lone *lone, uint64_t word, bool leased, bool *goes_on)
{
    weir__mailbox *mailbox = &processor->mailbox;
    thread->turn.ahead = 0;
    *goes_on = deliver(thread, processor, &lone->envelope);
    weir__stock_put_lone(&thread->context.stock, lone);
    /* Who wants room here has found it without us: one place of many is taken. */
    if (weir__unlikely(!*goes_on) || weir__processor_blocks(processor)) {
        return false;
    }
    if (leased) {
        return weir__lease_idle_lone(mailbox, &thread->context.tenant, word);
    }
    return !weir__run_goes_on(processor) && weir__mailbox_idle_lone(mailbox, word);
}

/* It was moved while it waited here. */
WEIR__SELDOM static weir__turn_end pass_on(weir__thread *thread, weir__processor *processor)
{
    weir__ready_elsewhere(&thread->context, processor);
    return WEIR__TURN_OVER;
}

/* Seldom: somebody else has leased what is run here, and that ends. Returns the word then. */
WEIR__SELDOM static uint64_t end_lease(weir__processor *processor)
{
    weir__lease_end(&processor->mailbox);
    return weir__load(&processor->mailbox.word, acquire);
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
    WEIR__PROBE3(run_begin, turn->self.id, processor, thread->index);
    /* The word before the control: who has changed both since, keeps us from going idle. */
    uint64_t word = weir__load(&processor->mailbox.word, acquire);
    uint64_t unmarked = word;
    if (weir__mailbox_is_leased(word) &&
        weir__lease_is_of(&processor->mailbox, &thread->context.tenant)) {
        unmarked -= WEIR__MAILBOX_LEASED;
    } else {
        if (weir__unlikely(weir__mailbox_is_leased(word))) {
            word = unmarked = end_lease(processor);
        }
        weir__run_by_thread(processor, thread->index);
    }
    if (weir__unlikely(!is_ordinary(thread->engine, processor))) {
        return run_special(thread, serving);
    }
    weir__lone *lone = weir__mailbox_take_lone(&processor->mailbox, unmarked);
    if (lone == NULL) {
        return run_rest(thread, serving, word, 0);
    }
    if (weir__likely(run_lone(thread, processor, lone, word, unmarked != word, &goes_on))) {
        weir__cell_add(&serving->handled, 1 - turn->dead);
        return WEIR__TURN_OVER;
    }
    if (weir__likely(goes_on)) {
        return run_rest(thread, serving, word, 1);
    }
    weir__progress at;
    begin(&at, word, 1); /* frozen, abandoned or put aside */
    return end_turn(turn, serving, &at, WEIR__TURN_ASIDE);
}

WEIR__WARM weir__turn_end weir__turns_run(weir__thread *thread, weir__serving *serving,
                                          weir__processor *processor, uint32_t most)
{
    uint32_t more = most - 1; /* that may follow */
    weir__turn_end end;
    thread->turn.serving = serving;
    for (;;) {
        end = run_turn(thread, serving, processor);
        WEIR__PROBE2(run_end, thread->turn.self.id, thread->index);
        weir__trace_turn(thread);
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
