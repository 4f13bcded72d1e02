/*
 * engine/stamp.c - which event is stamped, and where the stamp lies.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/stamp.h"

#include "engine/engine.h"
#include "engine/processor.h"
#include "engine/trace.h"
#include "sync/thread.h"

/* So long at most it takes a thread to see that another distance counts, in events. */
#define STEP_MAX 128u

#define SPARE_FROM 64u
#define SPARE_BY 8u

/* One event that a trace shows costs some 200 ns: half a per cent of the time between two. */
#define SHOWN_GAP (50 * WEIR_US)
#define LULL WEIR_MS /* what was found out about the pace before it says nothing */
#define PACE_MAX 4096u

#define TIME_MASK ((UINT64_C(1) << (64 - WEIR__PAGE_STAMP_BITS)) - 1)

static uint64_t draw(weir__context *context)
{
    uint64_t x = context->stamp_random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    context->stamp_random = x;
    return x;
}

/* 1 to 2 * every - 1, each as likely: every, on average. */
static uint32_t distance(weir__context *context, uint32_t every)
{
    const uint64_t span = 2 * (uint64_t)every - 1;
    const uint64_t at = 1 + ((draw(context) >> 32) * span >> 32);
    return at > UINT32_MAX ? UINT32_MAX : (uint32_t)at;
}

uint32_t weir__stamp_every(const weir_engine *engine)
{
    weir_engine *e = (weir_engine *)(uintptr_t)engine;
    const uint32_t every = weir__load(&e->latency_every, relaxed);
    if (every < SPARE_FROM || every > WEIR__STAMP_NEVER / SPARE_BY ||
        weir__load(&e->latencies.measured, relaxed) != 0) {
        return every;
    }
    return every * SPARE_BY;
}

/* One that is due is to be measured. What is left until the next one is anew, then. */
static bool is_measured(weir__context *context, uint32_t every)
{
    const bool drawn = context->stamp_every == every; /* else for another distance, or none yet */
    if (drawn && context->stamp_rest > 0) {
        return false;
    }
    context->stamp_every = every;
    context->stamp_rest = every == WEIR__STAMP_NEVER ? every : distance(context, every);
    /* A thread's first event is as good as any other, not better. */
    return every == 1 || (drawn && every != WEIR__STAMP_NEVER);
}

/* The same for a trace, if one is on. */
static bool is_shown(weir__context *context)
{
    if (!weir__trace_is_on(context->engine)) {
        context->trace_rest = 0;
        return false;
    }
    return context->trace_rest == 0;
}

/* As often as the gap between two of them says that it costs next to nothing: each one, where they
 * are rare. */
static void pace(weir__context *context, weir_ns now)
{
    const weir_ns gap = now - context->trace_shown;
    const uint32_t before = context->trace_pace;
    if (gap > LULL || before == 0) {
        context->trace_pace = 1;
    } else if (gap < SHOWN_GAP) {
        context->trace_pace = before < PACE_MAX ? 2 * before : PACE_MAX;
    } else if (gap > 2 * SHOWN_GAP) {
        context->trace_pace = before > 1 ? before / 2 : 1;
    }
    context->trace_shown = now;
    context->trace_rest = distance(context, context->trace_pace);
}

static void count_down(weir__context *context)
{
    uint32_t events = context->stamp_rest < STEP_MAX ? context->stamp_rest : STEP_MAX;
    if (context->trace_rest != 0 && context->trace_rest < events) {
        events = context->trace_rest;
    }
    context->stamp_in = events;
    context->stamp_rest -= events;
    context->trace_rest -= context->trace_rest != 0 ? events : 0;
}

void weir__stamp_look_ahead(weir__context *context)
{
    if (weir__stamp_is_next(context) && context->stamp_rest > 0 &&
        context->stamp_every == weir__stamp_every(context->engine) &&
        !weir__trace_is_on(context->engine)) {
        context->trace_rest = 0;
        count_down(context);
        context->stamp_in++; /* for the one that was due */
    }
}

/* The time, for an event that is due; odd: for a trace alone, the figures go without it. 0: it is
 * not to be stamped after all. */
static weir_ns take(weir__context *context)
{
    if (weir__unlikely(context->stamp_random == 0)) {
        /* Not the same for two threads, and the same in every run: what costs an event is counted
         * (bench/guard), and need not be guessed. */
        const uint64_t number = weir__add(&context->engine->stampers, 1, relaxed) + 1;
        context->stamp_random = number * UINT64_C(0x9e3779b97f4a7c15);
    }
    const bool measured = is_measured(context, weir__stamp_every(context->engine));
    const bool shown = is_shown(context);
    weir_ns now = measured || shown ? weir__clock_now() : 0;
    if (shown) {
        pace(context, now);
    }
    count_down(context);
    return measured ? now & ~(weir_ns)1 : shown ? now | 1 : 0;
}

void weir__stamp_soon(weir__context *context, weir_ns now)
{
    if (now - context->trace_shown > SHOWN_GAP && context->stamp_in > 1) {
        context->stamp_rest += context->stamp_in - 1;
        context->stamp_in = 1;
        context->trace_rest = 0;
    }
}

/* Before it can be handled: an arrow begins where it was posted. */
static void trace(weir__context *context, weir__mailbox *mailbox, const weir__envelope *envelope,
                  weir_ns now)
{
    if (weir__trace_is_on(context->engine)) {
        char *const processor = (char *)mailbox - offsetof(weir__processor, mailbox);
        weir__trace_posted_record(context,
                                  weir__load(&((weir__processor *)(void *)processor)->id, relaxed),
                                  envelope->type, now);
    }
}

WEIR__SELDOM uint32_t weir__stamp_lone(weir__context *context, weir__mailbox *mailbox,
                                       weir__lone *lone)
{
    const weir_ns now = take(context);
    lone->stamp = (uint64_t)now;
    if (now == 0) {
        return 0;
    }
    trace(context, mailbox, &lone->envelope, now);
    return WEIR__ENVELOPE_STAMPED_LONE;
}

/* Behind what else an envelope has. */
static bool has_room(const weir__envelope *envelope, uint32_t state)
{
    return (state & WEIR__ENVELOPE_ASKS) == 0 &&
           ((state & WEIR__ENVELOPE_BLOCK) != 0 || envelope->size <= WEIR__STAMPED_INLINE_MAX);
}

static weir__atomic_u64 *slot(weir__page *page, uint32_t offset)
{
    return &page->stamps[offset % WEIR__PAGE_STAMPS];
}

WEIR__SELDOM uint32_t weir__stamp_placed(weir__context *context, weir__mailbox *mailbox,
                                         weir__envelope *envelope, uint32_t state, uint32_t offset)
{
    const weir_ns now = take(context);
    if (now == 0) {
        return 0;
    }
    trace(context, mailbox, envelope, now);
    if (weir__likely(has_room(envelope, state))) {
        envelope->payload.stamped.time = (uint64_t)now;
        return WEIR__ENVELOPE_STAMPED;
    }
    char *first = (char *)(envelope - offset);
    weir__page *page = (weir__page *)(void *)(first - offsetof(weir__page, envelopes));
    /* Relaxed: the envelope's own release makes it visible, or a later one of others is. */
    weir__store(slot(page, offset), (uint64_t)now << WEIR__PAGE_STAMP_BITS | offset, relaxed);
    return WEIR__ENVELOPE_STAMPED_PAGE;
}

weir_ns weir__stamp_read(const weir__page *page, weir__envelope *envelope, uint32_t state)
{
    if ((state & WEIR__ENVELOPE_STAMPED) != 0) {
        return (weir_ns)envelope->payload.stamped.time;
    }
    if ((state & WEIR__ENVELOPE_STAMPED_LONE) != 0) {
        return (weir_ns)weir__lone_of(envelope)->stamp;
    }
    const uint32_t offset = (uint32_t)(envelope - page->envelopes);
    weir__page *there = (weir__page *)(uintptr_t)page;
    const uint64_t stamp = weir__load(slot(there, offset), relaxed);
    if ((stamp & ((1u << WEIR__PAGE_STAMP_BITS) - 1)) != offset) {
        return 0;
    }
    /* The upper bits of the time were cut off: they are those of now, or one less. */
    const uint64_t now = (uint64_t)weir__clock_now();
    const uint64_t ago = (now - (stamp >> WEIR__PAGE_STAMP_BITS)) & TIME_MASK;
    return ago < now ? (weir_ns)(now - ago) : 0;
}
