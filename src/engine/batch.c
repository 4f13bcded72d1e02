/*
 * engine/batch.c - many posts in one call: events for one target in a row share one claim, one
 * publish and at most one wake-up.
 *
 * What is accepted of a run towards a mailbox that refuses (fail, block) is its beginning: after
 * the first FULL the rest of the run is FULL too, so that a caller may go on from there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/parcels.h"
#include "engine/post.h"
#include "engine/probe.h"
#include "engine/processor.h"
#include "engine/ready.h"
#include "engine/turn.h"

#define RUN_MAX 64u
_Static_assert(RUN_MAX <= WEIR__FOLD_COUNT_MAX, "a run may go as one fold");

typedef struct run {
    const weir__posting *by;
    weir_processor to;
    const weir_event *const *events;
    weir__parcel parcels[RUN_MAX]; /* unless they are alike */
    uint32_t count;
    bool alike;
    bool stuck; /* a run before it was refused: so is what follows for the same target */
} run;

/* Returns how many were accepted; *refused says why not the rest, *policy what to do with them.
 * *lacks: none was, because something is missing for a mailbox of this class. */
static uint32_t offer_run(const run *r, weir_status *refused, weir_overflow *policy, bool *lacks,
                          uint32_t *page_class)
{
    weir__context *context = r->by->context;
    uint32_t got = r->count;
    uint64_t before;
    *refused = WEIR_OK;
    *policy = WEIR_OVERFLOW_FAIL;
    *lacks = false;
    weir__context_enter(context);
    const bool open = weir__post_is_open(r->by);
    weir__processor *processor =
        open ? weir__registry_find(&context->engine->registry, r->to) : NULL;
    if (processor == NULL) {
        got = 0;
        *refused = open ? WEIR_UNKNOWN : WEIR_STOPPING;
    } else if (!weir__stock_suffices_for(&context->stock, processor->mailbox.page_class, got)) {
        got = 0;
        *lacks = true;
        *page_class = processor->mailbox.page_class;
    } else {
        const weir__claim claim =
            weir__lease_claim(&processor->mailbox, &context->tenant, &got, &before);
        if (claim <= WEIR__CLAIM_FIRST) {
            WEIR__PROBE2(posts, r->to.id, got);
            const weir__parcels all = { .parcels = r->alike ? NULL : r->parcels,
                                        .alike = r->alike ? r->events : NULL };
            weir__parcels_deliver(r->by, &processor->mailbox, claim, before, &all, got);
            if (claim == WEIR__CLAIM_FIRST) {
                weir__ready(context, processor);
            }
            *refused = WEIR_FULL;
        } else {
            got = 0;
            *refused = claim == WEIR__CLAIM_FULL ? WEIR_FULL : WEIR_STOPPING;
        }
        if (weir__unlikely(got < r->count)) { /* else nobody asks: it is on the owner's line */
            *policy = weir__processor_overflow(processor);
        }
    }
    weir__context_leave(context);
    return got;
}

static uint32_t offer_run_with_stock(const run *r, weir_status *refused, weir_overflow *policy)
{
    for (;;) {
        bool lacks;
        uint32_t page_class;
        const uint32_t got = offer_run(r, refused, policy, &lacks, &page_class);
        if (!lacks) {
            return got;
        }
        if (!weir__stock_fill(&r->by->context->stock, page_class, r->count)) {
            *refused = WEIR_E_NOMEM;
            return 0;
        }
    }
}

/* A full mailbox with this policy does not refuse: it drops. */
static bool drops(weir_overflow policy)
{
    return policy == WEIR_OVERFLOW_DROP_NEWEST || policy == WEIR_OVERFLOW_DROP_OLDEST;
}

/* What was not accepted at once. Returns how many of the rest were, and tells each its status. */
static uint32_t refuse_rest(run *r, uint32_t accepted, weir_status refused, weir_overflow policy,
                            weir_status *statuses)
{
    uint32_t after_all = 0;
    for (uint32_t i = accepted; i < r->count; i++) {
        weir_status status = refused;
        if (!r->alike) {
            weir__parcel_unpack(r->by, &r->parcels[i]);
        }
        if (refused == WEIR_FULL && drops(policy)) {
            status = weir__post_counted(r->by, r->to, r->events[i]); /* each drops */
            after_all += status == WEIR_OK || status == WEIR_DROPPED ? 1 : 0;
        } else {
            r->stuck = r->stuck || refused == WEIR_FULL;
            weir__letter_if_refused(r->by->context, refused, r->by->sender, r->to, r->events[i]);
            weir__post_count_refusal(r->by, refused);
        }
        if (statuses != NULL) {
            statuses[i] = status;
        }
    }
    return after_all;
}

/* Returns how many were accepted. */
static uint32_t send_run(run *r, weir_status *statuses)
{
    weir_status refused = WEIR_FULL;
    weir_overflow policy = WEIR_OVERFLOW_FAIL;
    const uint32_t accepted =
        r->count > 0 && !r->stuck ? offer_run_with_stock(r, &refused, &policy) : 0;
    for (uint32_t i = 0; statuses != NULL && i < accepted; i++) {
        statuses[i] = WEIR_OK;
    }
    return accepted == r->count ? accepted
                                : accepted + refuse_rest(r, accepted, refused, policy, statuses);
}

/* How many events for one target in a row are alike and plain; 0: too few to make a run of. */
static uint32_t gather_alike(const run *r, const weir_processor *to, size_t to_count,
                             const weir_event *const *events, uint32_t most)
{
    const weir_event *first = events[0];
    uint32_t n = 1;
    if (most < WEIR__FOLD_LEAST || !weir__parcel_is_plain(r->by->context, first) ||
        !weir__event_folds(first)) {
        return 0;
    }
    while (n < most && (to_count == 1 || to[n].id == r->to.id) &&
           weir__event_is_like(first, events[n])) {
        n++;
    }
    return n >= WEIR__FOLD_LEAST ? n : 0;
}

/* Packs events for one target in a row, until one is bad: *bad says why. */
static void gather(run *r, const weir_processor *to, size_t to_count,
                   const weir_event *const *events, size_t count, weir_status *bad)
{
    const uint32_t most = count < RUN_MAX ? (uint32_t)count : RUN_MAX;
    uint32_t n = gather_alike(r, to, to_count, events, most);
    *bad = WEIR_OK;
    r->events = events;
    r->alike = n > 0;
    while (!r->alike && n < most && (to_count == 1 || to[n].id == r->to.id)) {
        const weir_event *event = events[n];
        if (weir__likely(weir__parcel_is_plain(r->by->context, event))) {
            weir__parcel_plain(r->by, event, &r->parcels[n++]);
            continue;
        }
        *bad = weir__parcel_check(event);
        *bad = *bad == WEIR_OK ? weir__parcel_pack(r->by, event, &r->parcels[n]) : *bad;
        if (*bad != WEIR_OK) {
            break;
        }
        n++;
    }
    r->count = n;
    weir__cell_add(&r->by->context->tally.attempted, n + (*bad != WEIR_OK ? 1 : 0));
}

size_t weir__post_batch(const weir__posting *by, const weir_processor *to, size_t to_count,
                        const weir_event *const *events, size_t count, weir_status *statuses)
{
    run r;
    size_t accepted = 0;
    size_t at = 0;
    if (count == 0) {
        return 0;
    }
    if (!weir__engine_usable(by->context->engine)) {
        for (size_t i = 0; statuses != NULL && i < count; i++) {
            statuses[i] = WEIR_E_INVALID;
        }
        return 0;
    }
    r.by = by;
    r.stuck = false;
    r.to = to[0];
    while (at < count) {
        weir_status bad;
        const weir_processor *next = &to[to_count == 1 ? 0 : at];
        r.stuck = r.stuck && next->id == r.to.id;
        r.to = *next;
        gather(&r, next, to_count, events + at, count - at, &bad);
        accepted += send_run(&r, statuses != NULL ? statuses + at : NULL);
        at += r.count;
        if (bad != WEIR_OK) {
            weir__post_count_refusal(by, bad);
            if (statuses != NULL) {
                statuses[at] = bad;
            }
            at++;
        }
    }
    return accepted;
}
