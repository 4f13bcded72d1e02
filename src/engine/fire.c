/*
 * engine/fire.c - a scheduler's thread: take what is due, post it, end it or schedule it again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/assert.h"
#include "base/memory.h"
#include "engine/ask.h"
#include "engine/engine.h"
#include "engine/parcel.h"
#include "engine/ready.h"
#include "engine/scheduler.h"
#include "engine/straight.h"
#include "engine/timer.h"
#include "engine/watchdog.h"
#include "sync/stack.h"
#include "sync/word.h"

#define AT_ONCE 32u /* timers between two times that the lock is taken */
#define MOVES 64u   /* timers that find a new place while it is held */

/* Between two times that the thread gets up to fire. A timer that is alone is in time; where they
 * are due every few microseconds, some come together: getting up costs more than firing them. */
#define REST (50 * WEIR_US)

/* A timer in its thread's hands. */
typedef struct firing {
    uint32_t number;
    weir_timer handle;
    weir__timer *timer; /* but for place, owns and ends: those are the lock's */
    weir__timer_load *load;
    weir_timer_outcome outcome;
    weir_ns next; /* of an alarm */
} firing;

/* ---- one timer ---- */

static weir_timer_outcome outcome_of(const weir_engine *engine, weir_status status)
{
    switch (status) {
    case WEIR_OK:
    case WEIR_DROPPED: /* accepted, and what the mailbox's policy says */
        return WEIR_TIMER_POSTED;
    case WEIR_FULL:
        return WEIR_TIMER_FAILED_FULL;
    case WEIR_STOPPING:
        return weir__engine_phase(engine) >= WEIR__STOPPING ? WEIR_TIMER_CANCELLED
                                                            : WEIR_TIMER_FAILED_UNKNOWN;
    case WEIR_UNKNOWN:
        return WEIR_TIMER_FAILED_UNKNOWN;
    default:
        return WEIR_TIMER_FAILED_OTHER;
    }
}

static weir_status post_plain(const weir__posting *by, const weir__timer_load *load)
{
    const bool shared = load->holds == WEIR__HOLDS_BLOCK;
    const weir_event event = {
        .type = load->type,
        .data = shared ? load->payload.shared.data : load->payload.bytes,
        .block = shared ? load->payload.shared.block : NULL,
        .size = load->size,
        .flags = load->flags,
        .flow = load->flow,
    };
    weir__post_begin(by->context);
    return weir__post_straight(by, load->to, &event);
}

static weir_status put_beside(const weir__posting *by, const weir__timer_load *load,
                              weir__lone *lone)
{
    weir__context *context = by->context;
    weir_status status = WEIR_STOPPING;
    uint64_t before;
    weir__context_enter(context);
    if (weir__post_is_open(by)) {
        weir__processor *to = weir__registry_find(&context->engine->registry, load->to);
        status = WEIR_UNKNOWN;
        if (to != NULL) {
            const weir__claim claim = load->holds == WEIR__HOLDS_PLACE
                                          ? weir__mailbox_claim_owed(&to->mailbox, &before)
                                          : weir__mailbox_claim_beside(&to->mailbox, &before);
            status = weir__claim_status(claim);
            if (status == WEIR_OK) {
                lone->ticket = weir__mailbox_ticket(before);
                weir__mailbox_put_beside(&to->mailbox, lone);
            }
            if (claim == WEIR__CLAIM_FIRST) {
                weir__ready(context, to);
            }
        }
    }
    weir__context_leave(context);
    return status;
}

/* An event with a tag that has no place yet. */
static weir_status post_tagged(const weir__posting *by, const weir__timer_load *load)
{
    weir__context *context = by->context;
    const bool shared = load->holds == WEIR__HOLDS_BLOCK;
    const weir_event event = {
        .type = load->type, .data = load->payload.bytes, .size = load->size, .flags = load->flags
    };
    weir__parcel parcel = { .event = &event, .flow = load->flow };
    weir__lone *lone = weir__stock_get_lone(&context->stock);
    if (lone == NULL) {
        return WEIR_E_NOMEM;
    }
    if (shared) {
        parcel.block = weir_block_take(load->payload.shared.block);
        parcel.data = load->payload.shared.data;
    }
    weir__timer_seal(by, &parcel, lone, load->tag);
    const weir_status status = put_beside(by, load, lone);
    if (status != WEIR_OK) {
        weir__parcel_unpack(by, &parcel);
        weir__lone_put(context, lone);
    }
    return status;
}

/* It was refused: what it would have been. */
static void tell_of(const weir__posting *by, const weir__timer_load *load, weir_status status)
{
    const weir__envelope *envelope =
        load->holds == WEIR__HOLDS_PLACE ? &load->payload.lone->envelope : NULL;
    const bool shared =
        envelope != NULL
            ? (weir__load(&load->payload.lone->envelope.state, relaxed) & WEIR__ENVELOPE_BLOCK) != 0
            : load->holds == WEIR__HOLDS_BLOCK;
    weir_event event = { .type = load->type, .size = load->size };
    if (envelope != NULL) {
        event.data = shared ? envelope->payload.shared.data : envelope->payload.bytes;
        event.block = shared ? envelope->payload.shared.block : NULL;
    } else {
        event.data = shared ? load->payload.shared.data : load->payload.bytes;
        event.block = shared ? load->payload.shared.block : NULL;
    }
    weir__letter_if_refused(by->context, status, by->sender, load->to, &event);
}

/* One with a tag, or whose place is taken: it lies alone, beside the others. */
static weir_status post_beside(const weir__posting *by, const weir__timer_load *load)
{
    weir__post_begin(by->context);
    const weir_status status = load->holds == WEIR__HOLDS_PLACE
                                   ? put_beside(by, load, load->payload.lone)
                                   : post_tagged(by, load);
    if (status != WEIR_OK) {
        tell_of(by, load, status);
        weir__post_count_refusal(by, status);
    }
    return status;
}

/* Once: from now on it can be asked for its stack. The engine may start after its first timer. */
static void admit(weir__scheduler *scheduler)
{
    if (weir__unlikely(!scheduler->admitted) &&
        weir__load(&scheduler->engine->stacks, relaxed) != 0) {
        scheduler->admitted = true;
        weir__stack_admit();
        weir__watched_by(&scheduler->watched, (uint32_t)weir__os_thread_id());
    }
}

/* If it has one: told what has become of this time. */
static void call_hook(weir__scheduler *scheduler, const firing *at)
{
    const weir__timer_load *load = at->load;
    if (load->hook != NULL) {
        admit(scheduler);
        weir__trail_hook(&scheduler->trail, load->to.id, WEIR__HOOK_TIMER);
        load->hook(load->context, at->handle, at->outcome);
        weir__trail_hook_done(&scheduler->trail);
    }
}

static void fire(weir__scheduler *scheduler, firing *at)
{
    weir__timer_load *load = at->load;
    const weir__posting by = { .context = scheduler->context, .sender = load->to.id };
    at->outcome = WEIR_TIMER_POSTED;
    if (load->type != NULL) {
        const weir_status status = load->holds == WEIR__HOLDS_PLACE || load->tag != 0
                                       ? post_beside(&by, load)
                                       : post_plain(&by, load);
        at->outcome = outcome_of(scheduler->engine, status);
    }
    call_hook(scheduler, at);
}

/* For the questions of a processor. */
static void ring(weir__scheduler *scheduler, firing *at, weir_ns now, bool closing)
{
    at->next = weir__asks_ring(scheduler->context, at->load->to, now, closing);
    at->outcome = closing         ? WEIR_TIMER_CANCELLED
                  : at->next != 0 ? WEIR_TIMER_POSTED
                                  : WEIR_TIMER_FAILED_UNKNOWN;
}

/* ---- what becomes of it; lock held ---- */

static void count(weir__timer_tally *tally, weir_timer_outcome outcome)
{
    switch (outcome) {
    case WEIR_TIMER_POSTED:
        tally->posted++;
        break;
    case WEIR_TIMER_CANCELLED:
        tally->stopped++;
        break;
    case WEIR_TIMER_FAILED_UNKNOWN:
        tally->failed_unknown++;
        break;
    case WEIR_TIMER_FAILED_FULL:
        tally->failed_full++;
        break;
    case WEIR_TIMER_PENDING:
    case WEIR_TIMER_FAILED_OTHER:
    default:
        tally->failed_other++;
        break;
    }
}

/* The next time of a repeating one. */
static void set_next(weir__scheduler *scheduler, firing *at, weir_ns now)
{
    weir__timer *timer = at->timer;
    const weir_ns from = at->load->fixed_delay ? now : timer->due;
    timer->due = from < WEIR_FOREVER - timer->every ? from + timer->every : WEIR_FOREVER;
    if (timer->due <= now) {
        const weir_ns missed = (now - timer->due) / timer->every + 1;
        timer->due += missed * timer->every;
        scheduler->tally.missed += (uint64_t)missed;
    }
}

/* What is to be done without the lock. */
typedef struct batch {
    firing firings[AT_ONCE];
    weir__timer_slab *slabs[AT_ONCE]; /* that nobody needs */
    weir_block *blocks[AT_ONCE];      /* of timers that have ended */
    uint32_t count, slab_count, block_count;
    bool closed;
    uint32_t many; /* a bit for each kind of which there is more than one slab */
    weir_ns next;  /* when to look again */
} batch;

/* An alarm stays as long as its processor: also if the wheel was closed while it rang, since then
 * it has to ring for the last time. True: it is in the wheel again. */
static bool rewind_alarm(weir__scheduler *scheduler, firing *at)
{
    weir__timer *timer = at->timer;
    const weir_ns wanted = timer->every; /* while it rang */
    timer->every = 0;
    at->outcome = timer->ends != 0 ? WEIR_TIMER_CANCELLED : at->outcome;
    if (at->outcome != WEIR_TIMER_POSTED) {
        return false;
    }
    timer->due = wanted != 0 && wanted < at->next ? wanted : at->next;
    weir__wheel_schedule(&scheduler->wheel, at->number);
    return true;
}

static void settle(weir__scheduler *scheduler, batch *b, firing *at, weir_ns now)
{
    weir__timer *timer = at->timer;
    if (at->load->holds == WEIR__HOLDS_ALARM && rewind_alarm(scheduler, at)) {
        return;
    }
    count(&scheduler->tally, at->outcome);
    const bool goes_on = timer->every != 0 && timer->ends == 0 && !scheduler->closed &&
                         at->outcome != WEIR_TIMER_FAILED_UNKNOWN &&
                         at->outcome != WEIR_TIMER_CANCELLED;
    if (goes_on) {
        set_next(scheduler, at, now);
        weir__wheel_schedule(&scheduler->wheel, at->number);
        return;
    }
    weir_timer_outcome end = at->outcome;
    if (timer->every != 0 && end != WEIR_TIMER_FAILED_UNKNOWN && end != WEIR_TIMER_CANCELLED) {
        /* It was its last time because somebody said so meanwhile. */
        end = WEIR_TIMER_CANCELLED;
        *(timer->ends != 0 ? &scheduler->tally.cancelled : &scheduler->tally.stopped) += 1;
    }
    if (at->load->holds == WEIR__HOLDS_BLOCK) {
        b->blocks[b->block_count++] = at->load->payload.shared.block;
    }
    weir__scheduler_put_credit(scheduler);
    weir__timer_slab *slab = weir__timer_end(&scheduler->wheel.store, at->number, end);
    if (slab != NULL) {
        b->slabs[b->slab_count++] = slab;
    }
}

/* ---- the loop ---- */

/* Lock held. */
static void finish(weir__scheduler *scheduler, batch *b, weir_ns now)
{
    b->slab_count = 0;
    b->block_count = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        settle(scheduler, b, &b->firings[i], now);
    }
}

static void clear_away(weir__scheduler *scheduler, const batch *b)
{
    for (uint32_t i = 0; i < b->slab_count; i++) {
        weir__scheduler_give_back(scheduler, b->slabs[i]);
    }
    for (uint32_t i = 0; i < b->block_count; i++) {
        weir__block_release(scheduler->context, b->blocks[i]);
    }
}

/* Lock held. */
static void take(weir__scheduler *scheduler, batch *b, weir_ns now)
{
    weir__wheel *wheel = &scheduler->wheel;
    bool turned = true;
    b->closed = scheduler->closed;
    if (!b->closed) {
        turned = weir__wheel_turn(wheel, now, MOVES);
    }
    for (b->count = 0; b->count < AT_ONCE; b->count++) {
        const uint32_t number =
            b->closed ? weir__wheel_take_any(wheel) : weir__wheel_take_due(wheel);
        if (number == 0) {
            break;
        }
        weir__timer *timer = weir__timer_at(&wheel->store, number);
        b->firings[b->count] = (firing){
            .number = number,
            .handle = weir__scheduler_handle(scheduler, number, timer->generation),
            .timer = timer,
            .load = weir__timer_load_at(&wheel->store, number),
        };
    }
    b->many = weir__timer_many(&wheel->store);
    b->next = b->count > 0 || !turned ? 0 : weir__wheel_next(wheel);
    scheduler->wakes_at = b->next;
}

static void fire_all(weir__scheduler *scheduler, batch *b, weir_ns now)
{
    for (uint32_t i = 0; i < b->count; i++) {
        firing *at = &b->firings[i];
        if (at->load->holds == WEIR__HOLDS_ALARM) {
            ring(scheduler, at, now, b->closed);
        } else if (b->closed) {
            at->outcome = WEIR_TIMER_CANCELLED;
            call_hook(scheduler, at);
        } else {
            weir__histogram_record(&scheduler->late, (uint64_t)(now - at->timer->due));
            fire(scheduler, at);
        }
        if (at->load->holds == WEIR__HOLDS_PLACE && at->outcome != WEIR_TIMER_POSTED) {
            weir__scheduler_unload(scheduler->context, at->load);
        }
    }
}

static void turn(weir__scheduler *scheduler)
{
    batch b;
    weir_ns fired = 0; /* when it last did */
    b.count = 0;
    for (;;) {
        const uint32_t seen = weir__load(&scheduler->word, acquire);
        const weir_ns now = weir__clock_now();
        weir__brief_lock(&scheduler->lock);
        finish(scheduler, &b, now);
        take(scheduler, &b, now);
        weir__brief_unlock(&scheduler->lock);
        clear_away(scheduler, &b);
        fire_all(scheduler, &b, now);
        fired = b.count > 0 ? now : fired;
        if (b.count == 0 && b.closed) {
            return;
        }
        if (b.next != 0) {
            const weir_ns rested = fired + REST;
            weir__ahead_make(&scheduler->ahead, &scheduler->engine->allocator, b.many);
            weir__watched_rest(&scheduler->watched);
            weir__wait_until(&scheduler->word, seen, b.next > rested ? b.next : rested);
            weir__watched_up(scheduler->engine, &scheduler->watched);
        }
    }
}

void weir__scheduler_run(void *argument)
{
    weir__scheduler *scheduler = argument;
    weir_engine *engine = scheduler->engine;
    weir__helper_begin(engine, &scheduler->helper, &engine->scheduler_plan, "timer");
    weir__os_thread_precise();
    const bool attached = weir__context_attach(scheduler->context, &scheduler->seat);
    weir__context_handler_begin(); /* whatever runs here is a hook */
    (void)weir__context_trail_swap(&scheduler->trail);
    weir__watched_up(engine, &scheduler->watched);
    turn(scheduler);
    weir__watched_rest(&scheduler->watched);
    weir__watched_by(&scheduler->watched, 0);
    (void)weir__context_trail_swap(NULL);
    weir__context_handler_end();
    if (attached) { /* else a hook that posts has another one, and nothing is lost */
        weir__context_detach(scheduler->context);
    }
    weir__helper_end(&scheduler->helper);
    /* [H3] pairs with [H4]: what has become of all timers. */
    weir__store(&scheduler->left, 1, release);
    weir__engine_progress(engine);
}
