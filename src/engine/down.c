/*
 * engine/down.c - watches: added, undone, and what becomes of them at either end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/down.h"

#include <stdio.h>

#include "base/assert.h"
#include "base/memory.h"
#include "engine/block.h"
#include "engine/engine.h"
#include "engine/post.h"
#include "engine/ready.h"
#include "engine/room.h"
#include "engine/stop.h"
#include "engine/turn.h"

#define BUCKETS_FIRST 16u
#define BUCKETS_MAX (1u << 24)

const weir_event_type weir_down_type = {
    sizeof(weir_event_type), "weir.down", (uint32_t)sizeof(weir_down), false, NULL, NULL
};

/* ---- the table; registry.lock held ---- */

static weir__watch **bucket_of(const weir__watches *watches, weir_processor watcher,
                               weir_processor target)
{
    uint64_t hash = watcher.id * UINT64_C(0x9e3779b97f4a7c15) + target.id;
    hash ^= hash >> 32;
    hash *= UINT64_C(0xd6e8feb86659fd93);
    hash ^= hash >> 32;
    return &watches->buckets[hash & (watches->bucket_count - 1)];
}

static weir__watch *find(const weir__watches *watches, weir_processor watcher,
                         weir_processor target)
{
    if (watches->count == 0) {
        return NULL;
    }
    weir__watch *watch = *bucket_of(watches, watcher, target);
    while (watch != NULL && (watch->watcher.id != watcher.id || watch->target.id != target.id)) {
        watch = watch->chain;
    }
    return watch;
}

static void enter(weir__watches *watches, weir__watch *watch)
{
    weir__watch **bucket = bucket_of(watches, watch->watcher, watch->target);
    watch->chain = *bucket;
    *bucket = watch;
}

/* Room for one more. Without memory the chains get longer; only the first table is needed. */
static bool make_room(weir_engine *engine)
{
    weir__watches *watches = &engine->watches;
    const uint32_t old_count = watches->bucket_count;
    if (watches->count < old_count || old_count == BUCKETS_MAX) {
        return true;
    }
    weir__watch **old = watches->buckets;
    const uint32_t new_count = old_count != 0 ? 2 * old_count : BUCKETS_FIRST;
    weir__watch **new = weir__allocate(&engine->allocator, new_count * sizeof(weir__watch *));
    if (new == NULL) {
        return old != NULL;
    }
    watches->buckets = new;
    watches->bucket_count = new_count;
    for (uint32_t i = 0; i < old_count; i++) {
        for (weir__watch *watch = old[i]; watch != NULL;) {
            weir__watch *next = watch->chain;
            enter(watches, watch);
            watch = next;
        }
    }
    weir__release(&engine->allocator, old, old_count * sizeof(weir__watch *));
    return true;
}

/* ---- on its lists, and off; registry.lock held ---- */

static weir__processor_cold *cold_of(weir_engine *engine, weir_processor handle)
{
    return weir__processor_cold_of(weir__registry_find(&engine->registry, handle));
}

static void hang_in(weir_engine *engine, weir__watch *watch, weir__processor_cold *watcher,
                    weir__processor_cold *target)
{
    enter(&engine->watches, watch);
    engine->watches.count++;
    watch->watch_next = watcher->watches;
    if (watch->watch_next != NULL) {
        watch->watch_next->watch_previous = watch;
    }
    watcher->watches = watch;
    watch->watcher_next = target->watchers;
    if (watch->watcher_next != NULL) {
        watch->watcher_next->watcher_previous = watch;
    }
    target->watchers = watch;
}

static void leave_table(weir__watches *watches, const weir__watch *watch)
{
    weir__watch **at = bucket_of(watches, watch->watcher, watch->target);
    while (*at != watch) {
        at = &(*at)->chain;
    }
    *at = watch->chain;
    watches->count--;
}

static void leave_watcher(weir__watch *watch, weir__processor_cold *watcher)
{
    if (watch->watch_next != NULL) {
        watch->watch_next->watch_previous = watch->watch_previous;
    }
    *(watch->watch_previous != NULL ? &watch->watch_previous->watch_next : &watcher->watches) =
        watch->watch_next;
}

static void leave_target(weir__watch *watch, weir__processor_cold *target)
{
    if (watch->watcher_next != NULL) {
        watch->watcher_next->watcher_previous = watch->watcher_previous;
    }
    *(watch->watcher_previous != NULL ? &watch->watcher_previous->watcher_next
                                      : &target->watchers) = watch->watcher_next;
}

/* ---- its event ---- */

static weir_block *block_of(const weir__watch *watch)
{
    return watch->lone->envelope.payload.shared.block;
}

/* It was zeroed when it was made. */
static void write_down(const weir__watch *watch, weir_status reason, uint64_t left,
                       const char *text)
{
    weir_down *down = weir_block_data(block_of(watch));
    down->processor = watch->target;
    down->reason = reason;
    down->left = left < UINT32_MAX ? (uint32_t)left : UINT32_MAX;
    snprintf(down->text, sizeof(down->text), "%s", text != NULL ? text : "");
}

static void fill(weir__lone *lone, weir_block *block, const weir__watch *watch, uint64_t tag)
{
    weir__envelope *envelope = &lone->envelope;
    weir__store(&lone->pooled.link, watch->watcher.id, relaxed);
    lone->ask = 0;
    lone->tag = tag;
    envelope->type = &weir_down_type;
    envelope->size = (uint32_t)sizeof(weir_down);
    envelope->sender = watch->target.id;
    envelope->flow = 0;
    envelope->payload.shared.block = block;
    envelope->payload.shared.data = weir_block_data(block);
    weir__envelope_fill(envelope, WEIR__ENVELOPE_ALONE | WEIR__ENVELOPE_BLOCK);
}

/* registry.lock held. The engine's own stop has nobody told: there are no turns left to be told in.
 * */
static void send(weir__context *context, weir__watch *watch)
{
    weir_engine *engine = context->engine;
    const weir__posting by = { .context = context };
    weir__lone *lone = watch->lone;
    uint64_t before;
    if (lone == NULL || weir__engine_phase(engine) >= WEIR__CLOSING) {
        return; /* it is freed with its watch */
    }
    watch->lone = NULL;
    weir__post_begin(context);
    weir__barrier_light();
    weir__processor *to = weir__registry_find(&engine->registry, watch->watcher);
    const bool open = to != NULL && weir__engine_phase(engine) < WEIR__CLOSING;
    const weir__claim claim =
        open ? weir__mailbox_claim_owed(&to->mailbox, &before) : WEIR__CLAIM_CLOSED;
    if (claim == WEIR__CLAIM_CLOSED) {
        weir__post_count_refusal(&by, WEIR_STOPPING);
        weir__letters_owe(context, lone);
        return;
    }
    lone->ticket = weir__mailbox_ticket(before);
    weir__mailbox_put_beside(&to->mailbox, lone);
    if (claim == WEIR__CLAIM_FIRST) {
        weir__ready(context, to); /* no mark: no slot is reused while we have the lock */
    }
}

/* ---- either end ---- */

weir__watch *weir__down_end(weir__context *context, weir__processor_cold *cold, weir_status reason)
{
    weir_engine *engine = context->engine;
    weir__watch *done = NULL;
    if (cold->watchers != NULL) {
        const uint64_t left = weir__cell_read(&cold->left) + weir__cell_read(&cold->dead_stopped);
        /* A failure that was passed over is not why it ends. */
        const bool failed = reason != WEIR_OK && reason == cold->end_reason;
        write_down(cold->watchers, reason, left, failed ? cold->end_text : NULL);
    }
    while (cold->watchers != NULL) {
        weir__watch *watch = cold->watchers;
        leave_table(&engine->watches, watch);
        leave_target(watch, cold);
        leave_watcher(watch, cold_of(engine, watch->watcher));
        send(context, watch);
        watch->chain = done;
        done = watch;
    }
    while (cold->watches != NULL) {
        weir__watch *watch = cold->watches;
        leave_table(&engine->watches, watch);
        leave_watcher(watch, cold);
        leave_target(watch, cold_of(engine, watch->target));
        watch->chain = done;
        done = watch;
    }
    return done;
}

void weir__down_free(weir__context *context, weir__watch *list)
{
    while (list != NULL) {
        weir__watch *next = list->chain;
        if (list->lone != NULL) {
            weir__block_release(context, block_of(list));
            weir__lone_put(context, list->lone);
        }
        weir__release(&context->engine->allocator, list, sizeof(*list));
        list = next;
    }
}

void weir__downs_close(weir_engine *engine)
{
    weir__watches *watches = &engine->watches;
    for (uint32_t i = 0; i < watches->bucket_count; i++) {
        for (weir__watch *watch = watches->buckets[i]; watch != NULL;) {
            weir__watch *next = watch->chain;
            weir__block_release(NULL, block_of(watch)); /* the rest goes with the pools */
            weir__release(&engine->allocator, watch, sizeof(*watch));
            watch = next;
        }
    }
    weir__release(&engine->allocator, watches->buckets,
                  watches->bucket_count * sizeof(weir__watch *));
    *watches = (weir__watches){ .buckets = NULL };
}

/* ---- from a turn ---- */

/* Whatever can fail, but for what the lists may need. */
static weir_status prepare(weir_turn *turn, weir_processor target, uint64_t tag,
                           weir__watch **prepared)
{
    weir__context *context = turn->context;
    const weir_allocator *allocator = &context->engine->allocator;
    const weir_down nothing = { .processor = target };
    const weir_event event = { .data = &nothing, .size = (uint32_t)sizeof(nothing) };
    weir_block *block = NULL;
    const weir__claim place = weir__mailbox_reserve(&turn->processor->mailbox);
    if (place != WEIR__CLAIM_OK) {
        return weir__claim_status(place);
    }
    weir__watch *watch = weir__allocate(allocator, sizeof(*watch));
    weir__lone *lone = watch != NULL ? weir__stock_get_lone(&context->stock) : NULL;
    if (lone != NULL && weir__block_copy(context, &event, &block) == WEIR_OK) {
        watch->watcher = turn->self;
        watch->target = target;
        watch->lone = lone;
        fill(lone, block, watch, tag);
        *prepared = watch;
        return WEIR_OK;
    }
    if (lone != NULL) {
        weir__stock_put_lone(&context->stock, lone); /* nobody has filled it yet */
    }
    weir__release(allocator, watch, sizeof(*watch));
    weir__room_unreserve(context, turn->self);
    return WEIR_E_NOMEM;
}

/* registry.lock held. *spare: a block that is not needed, since others watch the same. */
static weir_status begin(weir_turn *turn, weir__watch *watch, weir_block **spare)
{
    weir_engine *engine = turn->context->engine;
    weir__processor *target = weir__registry_find(&engine->registry, watch->target);
    if (target == NULL) {
        write_down(watch, WEIR_UNKNOWN, 0, NULL);
        send(turn->context, watch);
        return WEIR_UNKNOWN;
    }
    weir__processor_cold *own = weir__processor_cold_make(engine, turn->processor);
    weir__processor_cold *cold = own != NULL ? weir__processor_cold_make(engine, target) : NULL;
    if (cold == NULL || !make_room(engine)) {
        return WEIR_E_NOMEM;
    }
    if (cold->watchers != NULL) {
        *spare = block_of(watch);
        weir_block *shared = weir_block_take(block_of(cold->watchers));
        watch->lone->envelope.payload.shared.block = shared;
        watch->lone->envelope.payload.shared.data = weir_block_data(shared);
    }
    hang_in(engine, watch, own, cold);
    return WEIR_OK;
}

static bool is_sane(const weir_turn *turn, weir_processor target)
{
    return turn != NULL && weir__engine_usable(turn->context->engine) &&
           !weir__turn_is_flows(turn) && target.id != 0 && target.id != turn->self.id;
}

weir_status weir_turn_watch(weir_turn *turn, weir_processor target, uint64_t tag)
{
    if (!is_sane(turn, target)) {
        return WEIR_E_INVALID;
    }
    weir__context *context = turn->context;
    weir_engine *engine = context->engine;
    weir__watch *watch = NULL;
    weir_block *spare = NULL;
    weir_status status = prepare(turn, target, tag, &watch);
    weir__mutex_lock(&engine->registry.lock);
    if (find(&engine->watches, turn->self, target) != NULL) {
        status = WEIR_ALREADY;
    } else if (watch != NULL) {
        status = begin(turn, watch, &spare);
    }
    weir__mutex_unlock(&engine->registry.lock);
    if (spare != NULL) {
        weir__block_release(context, spare);
    }
    if (status != WEIR_OK && watch != NULL) {
        if (status != WEIR_UNKNOWN) {
            weir__room_unreserve(context, turn->self);
        }
        weir__down_free(context, watch);
    }
    weir__letters_flush(context);
    return status == WEIR_UNKNOWN ? WEIR_OK : status; /* gone: told at once */
}

weir_status weir_turn_unwatch(weir_turn *turn, weir_processor target)
{
    if (!is_sane(turn, target)) {
        return WEIR_E_INVALID;
    }
    weir_engine *engine = turn->context->engine;
    weir__mutex_lock(&engine->registry.lock);
    weir__watch *watch = find(&engine->watches, turn->self, target);
    if (watch != NULL) {
        leave_table(&engine->watches, watch);
        leave_watcher(watch, weir__processor_cold_of(turn->processor));
        leave_target(watch, cold_of(engine, target));
        watch->chain = NULL;
    }
    weir__mutex_unlock(&engine->registry.lock);
    if (watch == NULL) {
        return WEIR_ALREADY;
    }
    weir__down_free(turn->context, watch);
    weir__room_unreserve(turn->context, turn->self);
    return WEIR_OK;
}
