/*
 * engine/timer.c - adding and cancelling timers; what they carry.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/timer.h"

#include "base/assert.h"
#include "base/memory.h"
#include "engine/parcel.h"
#include "engine/ready.h"
#include "engine/room.h"
#include "engine/scheduler.h"
#include "engine/turn.h"

#define EVERY_MIN WEIR_US

/* A timer that is wanted. */
typedef struct wanted {
    weir__posting by; /* who adds it: for memory, and for the flow */
    weir_processor to;
    const weir_event *event;
    const weir_timer_options *options;

    /* What it has got for its load (see pack). */
    weir__timer_holds holds;
    uint64_t flow;
    weir_block *block;
    const void *data;
    weir__lone *lone;
} wanted;

/* ---- what is wanted ---- */

static bool has_one_first_time(const weir_timer_options *o)
{
    return o->at != 0 ? o->after == 0 : o->after != 0 || o->every != 0;
}

static weir_status check(const wanted *order)
{
    const weir_timer_options *o = order->options;
    if (order->event == NULL && o->hook == NULL) {
        return WEIR_E_INVALID;
    }
    if (!has_one_first_time(o) || (o->after < 0 && o->after != WEIR_NOW) || o->at < 0) {
        return WEIR_E_INVALID;
    }
    if (o->every != 0 && (o->every < EVERY_MIN || o->reserve)) {
        return WEIR_E_INVALID;
    }
    if (order->event == NULL) {
        return o->reserve ? WEIR_E_INVALID : WEIR_OK;
    }
    return weir__parcel_check(order->event);
}

/* When it is due first; the clock's reading in *now, or 0: it was not asked. */
static weir_ns first_time(const weir_timer_options *o, weir_ns *now)
{
    *now = 0;
    if (o->at != 0) {
        return o->at;
    }
    const weir_ns after = o->after == WEIR_NOW ? 0 : o->after != 0 ? o->after : o->every;
    *now = weir__clock_now();
    return *now < WEIR_FOREVER - after ? *now + after : WEIR_FOREVER;
}

/* ---- what it carries ---- */

/* Written where it stays: what is copied twice costs more than the rest of it. */
static void fill_load(const wanted *order, weir__timer_load *load)
{
    const weir_timer_options *o = order->options;
    const weir_event *event = order->event;
    load->to = order->to;
    load->hook = o->hook;
    load->context = o->context;
    load->fixed_delay = o->fixed_delay;
    load->holds = (uint8_t)order->holds;
    if (event == NULL) {
        load->type = NULL; /* and there is no more of it */
        return;
    }
    load->type = event->type;
    load->tag = o->tag;
    load->flow = order->flow;
    load->size = event->size;
    load->flags = (uint16_t)event->flags;
    if (weir__likely(order->holds == WEIR__HOLDS_BYTES)) {
        weir__parcel_copy(load->payload.bytes, event->data, event->size);
    } else if (order->holds == WEIR__HOLDS_BLOCK) {
        load->payload.shared.block = order->block;
        load->payload.shared.data = order->data;
    } else {
        load->payload.lone = order->lone;
    }
}

static weir_status reserve(const wanted *order)
{
    weir__context *context = order->by.context;
    weir__claim claim = WEIR__CLAIM_CLOSED;
    weir__context_enter(context);
    weir__processor *processor = weir__registry_find(&context->engine->registry, order->to);
    if (processor != NULL) {
        claim = weir__mailbox_reserve(&processor->mailbox);
    }
    weir__context_leave(context);
    return processor != NULL ? weir__claim_status(claim) : WEIR_UNKNOWN;
}

/* The place and the memory that it will need. */
static weir_status pack_reserved(wanted *order, const weir__parcel *parcel)
{
    weir__context *context = order->by.context;
    const weir_status status = reserve(order);
    if (status != WEIR_OK) {
        return status;
    }
    weir__lone *lone = weir__stock_get_lone(&context->stock);
    if (lone == NULL) {
        weir__room_unreserve(context, order->to);
        return WEIR_E_NOMEM;
    }
    const weir__posting by = { .context = context, .sender = order->to.id };
    weir__timer_seal(&by, parcel, lone, order->options->tag);
    order->holds = WEIR__HOLDS_PLACE;
    order->lone = lone;
    return WEIR_OK;
}

static bool is_there(weir__context *context, weir_processor to)
{
    weir__context_enter(context);
    const bool found = weir__registry_find(&context->engine->registry, to) != NULL;
    weir__context_leave(context);
    return found;
}

/* Whatever can fail, before it is scheduled. */
static weir_status pack(wanted *order)
{
    weir__parcel parcel;
    weir_status status = weir__parcel_pack(&order->by, order->event, &parcel);
    if (status != WEIR_OK) {
        return status;
    }
    order->flow = parcel.flow;
    if (weir__unlikely(order->options->reserve)) {
        status = pack_reserved(order, &parcel);
    } else if (weir__unlikely(!is_there(order->by.context, order->to))) {
        status = WEIR_UNKNOWN;
    } else if (weir__unlikely(parcel.block != NULL)) {
        order->holds = WEIR__HOLDS_BLOCK;
        order->block = parcel.block;
        order->data = parcel.data;
    }
    if (status != WEIR_OK) {
        weir__parcel_unpack(&order->by, &parcel);
    }
    return status;
}

WEIR__SELDOM static void unpack(const wanted *order)
{
    weir__timer_load load;
    fill_load(order, &load);
    weir__scheduler_unload(order->by.context, &load);
}

/* ---- adding ---- */

/* What stood in the way of one try. */
typedef enum obstacle {
    NONE,
    NO_CREDIT,
    NO_SLAB,
    CLOSED,
} obstacle;

static weir__slab_kind kind_of(const wanted *order)
{
    return order->event != NULL ? WEIR__SLAB_EVENTS : WEIR__SLAB_HOOKS;
}

/* Lock held. */
static obstacle try_to_schedule(weir__scheduler *scheduler, const wanted *order, weir_ns due,
                                uint32_t *number)
{
    weir__wheel *wheel = &scheduler->wheel;
    if (weir__unlikely(scheduler->closed)) {
        return CLOSED;
    }
    if (weir__unlikely(scheduler->credit == 0)) {
        return NO_CREDIT;
    }
    *number = weir__timer_take(&wheel->store, kind_of(order));
    if (weir__unlikely(*number == 0)) {
        return NO_SLAB;
    }
    weir__timer *timer = weir__timer_at(&wheel->store, *number);
    timer->due = due;
    timer->every = order->options->every;
    timer->owns = order->holds == WEIR__HOLDS_BLOCK || order->holds == WEIR__HOLDS_PLACE;
    timer->ends = 0;
    fill_load(order, weir__timer_load_at(&wheel->store, *number));
    weir__wheel_schedule(wheel, *number);
    scheduler->credit--;
    scheduler->tally.added++;
    return NONE;
}

/* FULL: this wheel has no numbers left. */
WEIR__SELDOM static weir_status add_slab(weir__scheduler *scheduler, weir__slab_kind kind)
{
    const weir_allocator *allocator = &scheduler->engine->allocator;
    weir__timer_store *store = &scheduler->wheel.store;
    weir__timer_slab *slab = weir__ahead_take(&scheduler->ahead, kind);
    slab = slab != NULL ? slab : weir__slab_make(allocator, kind);
    if (slab == NULL) {
        return WEIR_E_NOMEM;
    }
    weir__brief_lock(&scheduler->lock);
    const bool taken = weir__timer_add_slab(store, slab);
    const bool full = store->kinds[kind].with_room == NULL;
    const bool many = (weir__timer_many(store) >> kind & 1) != 0;
    weir__brief_unlock(&scheduler->lock);
    if (!taken) {
        weir__slab_release(allocator, slab);
    } else if (many && weir__ahead_ask(&scheduler->ahead, kind)) {
        weir__scheduler_wake(scheduler);
    }
    return full ? WEIR_FULL : WEIR_OK;
}

/* Inside no lock. Seldom: every 64th or 512th time. */
WEIR__SELDOM static weir_status remove_obstacle(weir__scheduler *scheduler, const wanted *order,
                                                obstacle met)
{
    switch (met) {
    case NO_CREDIT:
        return weir__scheduler_get_credit(scheduler) ? WEIR_OK : WEIR_E_LIMIT;
    case NO_SLAB:
        return add_slab(scheduler, kind_of(order));
    case NONE:
    case CLOSED:
    default:
        return WEIR_STOPPING;
    }
}

/* Lock held. Its thread would sleep too long; whoever is told so wakes it, and nobody else. */
static bool must_wake(weir__scheduler *scheduler, weir_ns due)
{
    const bool wakes = due < scheduler->wakes_at;
    if (wakes) {
        scheduler->wakes_at = 0;
    }
    return wakes;
}

static weir_status schedule_on(weir__scheduler *scheduler, const wanted *order, weir_timer *out)
{
    weir_ns now;
    const weir_ns due = first_time(order->options, &now);
    for (;;) {
        uint32_t number = 0;
        weir_timer handle = { 0 };
        bool wakes = false;
        weir__brief_lock(&scheduler->lock);
        if (now != 0) {
            weir__wheel_note(&scheduler->wheel, now);
        }
        const obstacle met = try_to_schedule(scheduler, order, due, &number);
        if (weir__likely(met == NONE)) {
            handle = weir__scheduler_handle(
                scheduler, number, weir__timer_at(&scheduler->wheel.store, number)->generation);
            wakes = must_wake(scheduler, due);
        }
        weir__brief_unlock(&scheduler->lock);
        if (wakes) {
            weir__scheduler_wake(scheduler);
        }
        if (weir__likely(met == NONE)) {
            if (out != NULL) {
                *out = handle;
            }
            return WEIR_OK;
        }
        const weir_status status = remove_obstacle(scheduler, order, met);
        if (status != WEIR_OK) {
            return status;
        }
    }
}

/* On the thread's own wheel, or on the next that has numbers left. */
static weir_status schedule(const wanted *order, weir_timer *out)
{
    weir__context *context = order->by.context;
    for (uint32_t tries = context->engine->options.scheduler_threads; tries > 0; tries--) {
        weir_status status;
        weir__scheduler *scheduler = weir__scheduler_of(context, &status);
        if (weir__unlikely(scheduler == NULL)) {
            return status;
        }
        status = schedule_on(scheduler, order, out);
        if (weir__likely(status != WEIR_FULL)) {
            return status;
        }
        weir__scheduler_change(context);
    }
    return WEIR_E_LIMIT;
}

static weir_status place_order(wanted *order, weir_timer *out)
{
    weir__context *context = order->by.context;
    weir_status status = check(order);
    if (status == WEIR_OK && !weir__post_is_open(&(weir__posting){ .context = context })) {
        status = weir__engine_usable(context->engine) ? WEIR_STOPPING : WEIR_E_INVALID;
    }
    if (status != WEIR_OK) {
        return status;
    }
    order->holds = WEIR__HOLDS_BYTES;
    status = order->event != NULL ? pack(order) : WEIR_OK;
    if (status == WEIR_OK) {
        status = schedule(order, out);
        if (status != WEIR_OK) {
            unpack(order);
        }
    }
    return status;
}

weir_status weir_timer_add(weir_engine *engine, weir_processor to, const weir_event *event,
                           const weir_timer_options *options, weir_timer *out)
{
    weir_timer_options read = { 0 };
    wanted order;
    if (out != NULL) {
        *out = (weir_timer){ 0 };
    }
    if (!weir__engine_usable(engine) || options == NULL) {
        return WEIR_E_INVALID;
    }
    if (weir__unlikely(options->struct_size != sizeof(*options))) {
        const weir_status status = weir__options_read(&read, sizeof(read), options);
        if (status != WEIR_OK) {
            return status;
        }
        options = &read;
    }
    order.by = (weir__posting){ .context = weir__context_find(engine) };
    order.to = to;
    order.event = event;
    order.options = options;
    return order.by.context != NULL ? place_order(&order, out) : WEIR_E_NOMEM;
}

weir_status weir__timer_trigger(weir_turn *turn, weir_ns delay, const weir_event *event,
                                uint64_t tag)
{
    const weir_timer_options options = { .after = delay, .reserve = true, .tag = tag };
    wanted order = {
        .by = { .context = turn->context, .flow = turn->flow },
        .to = turn->self,
        .event = event,
        .options = &options,
    };
    return event != NULL ? place_order(&order, NULL) : WEIR_E_INVALID;
}

/* ---- alarms ---- */

weir_status weir__timer_alarm(weir__context *context, weir_processor asker, weir_timer *out)
{
    const weir_timer_options options = { .at = WEIR_FOREVER };
    const wanted order = {
        .by = { .context = context }, .to = asker, .options = &options, .holds = WEIR__HOLDS_ALARM
    };
    return schedule(&order, out);
}

/* Lock held. True: its thread would sleep too long. */
static bool bring_forward(weir__scheduler *scheduler, uint32_t number, weir_ns due)
{
    weir__timer *timer = weir__timer_at(&scheduler->wheel.store, number);
    if (timer->place == WEIR__PLACE_FIRING) {
        /* Its thread looks here before it sets the next time. */
        timer->every = timer->every == 0 || due < timer->every ? due : timer->every;
        return false;
    }
    if (due >= timer->due) {
        return false;
    }
    weir__wheel_unschedule(&scheduler->wheel, number);
    timer->due = due;
    weir__wheel_schedule(&scheduler->wheel, number);
    return must_wake(scheduler, due);
}

void weir__timer_bring_forward(weir_engine *engine, weir_timer alarm, weir_ns due)
{
    uint32_t number;
    uint32_t generation;
    weir_timer_outcome outcome;
    bool wakes = false;
    weir__scheduler *scheduler = weir__scheduler_by_handle(engine, alarm, &number, &generation);
    WEIR_ASSERT(scheduler != NULL);
    weir__brief_lock(&scheduler->lock);
    if (weir__timer_look(&scheduler->wheel.store, number, generation, &outcome) &&
        outcome == WEIR_TIMER_PENDING) {
        wakes = bring_forward(scheduler, number, due);
    }
    weir__brief_unlock(&scheduler->lock);
    if (wakes) {
        weir__scheduler_wake(scheduler);
    }
}

/* ---- cancelling, looking ---- */

/* Lock held, it lives. True: it will not fire; *load is what it held. */
static bool cancel(weir__scheduler *scheduler, uint32_t number, weir__timer_load *load,
                   weir__timer_slab **spare)
{
    weir__wheel *wheel = &scheduler->wheel;
    weir__timer *timer = weir__timer_at(&wheel->store, number);
    if (timer->place == WEIR__PLACE_FIRING) {
        timer->ends = 1;
        return false;
    }
    if (weir__unlikely(timer->owns != 0)) {
        *load = *weir__timer_load_at(&wheel->store, number);
    }
    weir__wheel_unschedule(wheel, number);
    *spare = weir__timer_end(&wheel->store, number, WEIR_TIMER_CANCELLED);
    weir__scheduler_put_credit(scheduler);
    scheduler->tally.cancelled++;
    return true;
}

WEIR__SELDOM static void clear_away(weir__scheduler *scheduler, weir__context *context,
                                    const weir__timer_load *load, weir__timer_slab *spare)
{
    if (spare != NULL) {
        weir__scheduler_give_back(scheduler, spare);
    }
    weir__scheduler_unload(context, load);
}

weir_status weir_timer_cancel(weir_engine *engine, weir_timer timer)
{
    uint32_t number;
    uint32_t generation;
    if (!weir__engine_usable(engine)) {
        return WEIR_E_INVALID;
    }
    weir__scheduler *scheduler = weir__scheduler_by_handle(engine, timer, &number, &generation);
    if (scheduler == NULL) {
        return WEIR_UNKNOWN;
    }
    weir__context *context = weir__context_find(engine);
    if (context == NULL) {
        return WEIR_E_NOMEM; /* before anything has happened */
    }
    weir_timer_outcome outcome;
    weir__timer_load load;
    weir__timer_slab *spare = NULL;
    weir_status status = WEIR_UNKNOWN;
    load.holds = WEIR__HOLDS_BYTES;
    weir__brief_lock(&scheduler->lock);
    if (weir__timer_look(&scheduler->wheel.store, number, generation, &outcome)) {
        if (outcome == WEIR_TIMER_PENDING) {
            status = cancel(scheduler, number, &load, &spare) ? WEIR_OK : WEIR_LATE;
        } else if (outcome != WEIR_TIMER_CANCELLED) {
            status = WEIR_LATE;
        }
    }
    weir__brief_unlock(&scheduler->lock);
    if (weir__unlikely(spare != NULL || load.holds != WEIR__HOLDS_BYTES)) {
        clear_away(scheduler, context, &load, spare);
    }
    return status;
}

weir_status weir_timer_outcome_get(weir_engine *engine, weir_timer timer,
                                   weir_timer_outcome *outcome)
{
    uint32_t number;
    uint32_t generation;
    if (!weir__engine_usable(engine) || outcome == NULL) {
        return WEIR_E_INVALID;
    }
    weir__scheduler *scheduler = weir__scheduler_by_handle(engine, timer, &number, &generation);
    if (scheduler == NULL) {
        return WEIR_UNKNOWN;
    }
    weir__brief_lock(&scheduler->lock);
    const bool known = weir__timer_look(&scheduler->wheel.store, number, generation, outcome);
    weir__brief_unlock(&scheduler->lock);
    return known ? WEIR_OK : WEIR_UNKNOWN;
}

const char *weir_timer_outcome_name(weir_timer_outcome outcome)
{
    static const char *const names[] = { "pending",        "posted",      "cancelled",
                                         "failed-unknown", "failed-full", "failed-other" };
    return (size_t)outcome < sizeof(names) / sizeof(names[0]) ? names[outcome] : "no outcome";
}

/* ---- counters ---- */

static void add_up(weir__scheduler *scheduler, weir_timer_counters *sum)
{
    weir__brief_lock(&scheduler->lock);
    const weir__timer_tally tally = scheduler->tally;
    const uint32_t pending = scheduler->wheel.pending;
    const size_t slabs =
        weir__timer_slab_bytes(&scheduler->wheel.store) + weir__ahead_bytes(&scheduler->ahead);
    const uint32_t rows = scheduler->wheel.store.table_size;
    weir__brief_unlock(&scheduler->lock);
    sum->added += tally.added;
    sum->pending += pending;
    sum->posted += tally.posted;
    sum->cancelled += tally.cancelled;
    sum->stopped += tally.stopped;
    sum->failed_unknown += tally.failed_unknown;
    sum->failed_full += tally.failed_full;
    sum->failed_other += tally.failed_other;
    sum->missed += tally.missed;
    sum->bytes += sizeof(weir__scheduler) + slabs + (uint64_t)rows * sizeof(weir__timer_row);
}

weir_status weir_timer_counters_get(weir_engine *engine, weir_timer_counters *out)
{
    weir_timer_counters sum = WEIR_TIMER_COUNTERS_INIT;
    if (!weir__engine_usable(engine)) {
        return WEIR_E_INVALID;
    }
    weir__histogram_sum *late = weir__allocate(&engine->allocator, sizeof(*late));
    if (late == NULL) {
        return WEIR_E_NOMEM;
    }
    for (uint32_t i = 0; i < engine->options.scheduler_threads; i++) {
        weir__scheduler *scheduler = weir__scheduler_at(engine, i);
        if (scheduler != NULL) {
            add_up(scheduler, &sum);
            weir__histogram_sum_add_live(late, &scheduler->late);
        }
    }
    sum.late_p50 = (weir_ns)weir__histogram_sum_percentile(late, 50);
    sum.late_p99 = (weir_ns)weir__histogram_sum_percentile(late, 99);
    sum.late_p999 = (weir_ns)weir__histogram_sum_percentile(late, 99.9);
    sum.late_max = (weir_ns)late->max;
    weir__release(&engine->allocator, late, sizeof(*late));
    return weir__struct_fill(out, &sum, sizeof(sum));
}
