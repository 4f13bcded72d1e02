/*
 * flow/submit.c - look the flow up, or make it; put the event into its worker's mailbox; count it.
 *
 * As with a post (engine/post.c), whatever needs memory is had before: a try that lacks something
 * leaves mark and lock, gets it, and comes again. Under the shard's lock there are a look-up, a
 * claim and a copy of at most a line; whom to wake is seen to afterwards.
 *
 * `block`: the mailbox of a worker has room for worker_max + ingress_max, and is full to us at
 * worker_max. Beyond that goes who finds, under a lock, that all workers together are not
 * ingress_max beyond theirs. So a full worker takes nothing from the others until the ingress is
 * used up, what waits for it is in one line, in order, and nobody has to give anything back: what
 * is used is what the mailboxes say.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow/submit.h"

#include "base/assert.h"
#include "engine/evict.h"
#include "engine/probe.h"
#include "engine/ready.h"
#include "engine/room.h"
#include "engine/straight.h"
#include "engine/turn.h"
#include "flow/sweep.h"
#include "flow/table.h"
#include "flow/worker.h"
#include "sync/tell.h"
#include "sync/word.h"

/* One submit on its way, and what a try found in it. */
typedef struct submit {
    weir__posting by;
    weir__router *router;
    const weir__flow_key *key;
    weir__parcel parcel;
    const unsigned char *bytes; /* a copy of the key for a new flow; or NULL */

    /* What a try lacked. */
    enum { LACKS_NOTHING, LACKS_STOCK, LACKS_KEY, LACKS_TABLE } lacks;
    weir__table_lack table_lack;
    uint32_t page_class;

    /* Why it was refused. */
    weir__atomic_u64 *refused; /* counts it; or NULL */
    uint32_t wait_index; /* where room is waited for: all workers' is one; UINT32_MAX: no use */
    weir_ns block_max;

    /* What is to be done after the lock. */
    weir__processor *ready;
    weir__processor *chore;
    weir__eviction evicted;
    bool crowded; /* there are more flows than flows_max */
    bool first;   /* the caretaker has nothing to look at so far */
} submit;

/* ---- a place ---- */

uint32_t weir__worker_beyond(const weir__router *router, const weir__worker *worker)
{
    const uint64_t word = weir__load(&worker->processor->mailbox.word, seq_cst);
    const uint32_t used = weir__mailbox_count(word) + weir__mailbox_owed(word);
    return used > router->options.worker_max ? used - router->options.worker_max : 0;
}

static bool ingress_is_used_up(const weir__router *router)
{
    uint64_t used = 0;
    for (uint32_t i = 0; i < router->worker_count && used < router->options.ingress_max; i++) {
        used += weir__worker_beyond(router, &router->workers[i]);
    }
    return used >= router->options.ingress_max;
}

weir__claim weir__claim_beyond(weir__router *router, weir__processor *processor, uint64_t *before)
{
    uint32_t one = 1;
    weir__claim claim = WEIR__CLAIM_FULL;
    /* Only here does it grow, so that it does not grow too far. */
    weir__brief_lock(&router->beyond_lock);
    if (!ingress_is_used_up(router)) {
        claim = weir__mailbox_claim(&processor->mailbox, &one, before);
    }
    weir__brief_unlock(&router->beyond_lock);
    return claim;
}

/* Full, and the policy is not to go beyond it. */
WEIR__SELDOM static weir_status overflow(submit *s, weir__processor *processor)
{
    const weir_status status = weir__post_overflow(&s->by, processor, &s->parcel, &s->evicted);
    if (status == WEIR_FULL) {
        s->refused = &s->router->refused_full;
    }
    return status;
}

static void wait_as_target_says(submit *s, const weir__processor *target)
{
    if (weir__processor_overflow(target) == WEIR_OVERFLOW_BLOCK) {
        s->block_max = (weir_ns)weir__load(&weir__processor_cold_of(target)->block_max, relaxed);
    } else {
        s->wait_index = UINT32_MAX;
    }
}

/* Inside the mark. OK: it is in the mailbox. */
static weir_status offer(submit *s, weir__worker *worker, uint32_t *ticket)
{
    weir__router *router = s->router;
    weir__context *context = s->by.context;
    weir__processor *processor = weir__registry_find(&context->engine->registry, worker->handle);
    const bool block = router->options.overflow == WEIR_OVERFLOW_BLOCK && !router->targeted;
    uint32_t one = 1;
    uint64_t before;
    if (weir__unlikely(processor == NULL)) {
        return router->targeted ? WEIR_UNKNOWN : WEIR_STOPPING;
    }
    weir__mailbox *mailbox = &processor->mailbox;
    if (weir__unlikely(!weir__stock_suffices(&context->stock, mailbox->page_class))) {
        s->lacks = LACKS_STOCK;
        s->page_class = mailbox->page_class;
        return WEIR_E_NOMEM;
    }
    weir__claim claim =
        weir__mailbox_claim_within(mailbox, block ? router->options.worker_max : mailbox->limit,
                                   &one, &before, WEIR__MAILBOX_FIRST);
    if (weir__unlikely(claim == WEIR__CLAIM_FULL)) {
        s->wait_index = weir__processor_room(processor);
        s->block_max = weir__router_block_max(router);
        if (router->targeted) {
            wait_as_target_says(s, processor);
        }
        if (!block) {
            const weir_status status = overflow(s, processor);
            /* That of an event which took another's place is this one or an earlier one. */
            *ticket = weir__mailbox_ticket(weir__load(&mailbox->word, relaxed)) - 1;
            return status;
        }
        s->refused = &router->refused_ingress;
        claim = weir__claim_beyond(router, processor, &before);
    }
    if (weir__unlikely(claim > WEIR__CLAIM_FIRST)) {
        return weir__claim_status(claim);
    }
    WEIR__PROBE2(posts, worker->handle.id, 1);
    weir__parcel_deliver(&s->by, mailbox, claim, before, &s->parcel);
    *ticket = weir__mailbox_ticket(before);
    if (claim == WEIR__CLAIM_FIRST) {
        s->ready = processor;
    }
    return WEIR_OK;
}

/* ---- a flow ---- */

/* Shard's lock held, which others' shards do not have. */
static void count_target(weir__router *router, uint32_t target, int32_t by)
{
    if (router->targeted) {
        weir__add(&router->workers[target].flows, (uint32_t)by, relaxed);
    }
}

/* Shard's lock held. NULL: something is lacking, or there are too many. */
WEIR__SELDOM static weir__flow *make_flow(submit *s, weir__shard *shard, weir_status *status)
{
    weir__router *router = s->router;
    const uint32_t live = weir__load(&router->live, seq_cst);
    *status = WEIR_E_NOMEM;
    if (weir__router_is_closed(router)) { /* who ends its flows may have been in this shard */
        *status = WEIR_STOPPING;
        return NULL;
    }
    if (live >= router->flows_most) {
        s->refused = &router->refused_flows;
        s->wait_index = WEIR__HANDLE_INDEX(router->caretaker.id);
        s->block_max = weir__router_block_max(router);
        s->crowded = true;
        *status = WEIR_FULL;
        return NULL;
    }
    if (s->key->bytes != NULL && s->bytes == NULL) {
        s->lacks = LACKS_KEY;
        return NULL;
    }
    s->table_lack = weir__table_lacks(shard);
    if (s->table_lack != WEIR__TABLE_LACKS_NOTHING) {
        s->lacks = LACKS_TABLE;
        return NULL;
    }
    weir__flow *flow = weir__table_add(router, shard, s->key, s->bytes);
    flow->worker = (uint16_t)weir__router_least_loaded(router);
    count_target(router, flow->worker, 1);
    s->bytes = NULL;
    s->crowded = weir__add(&router->live, 1, seq_cst) >= router->options.flows_max;
    return flow;
}

/* Shard's lock held: the first event of a new flow was not accepted. */
static void unmake_flow(submit *s, weir__shard *shard, weir__flow *flow)
{
    count_target(s->router, flow->worker, -1);
    s->bytes = weir__table_remove(s->router, shard, flow);
    s->crowded = false;
    weir__sub(&s->router->live, 1, seq_cst);
}

/* Shard's lock held. Where an old flow goes on: elsewhere, if it may and nothing of it waits. */
static void choose_worker(submit *s, weir__flow *flow)
{
    weir__router *router = s->router;
    if (!(flow->lingers || router->options.migrate) || flow->chored ||
        weir__router_is_closed(router) || /* as in make_flow */
        weir__load(&flow->lost, relaxed) != 0 || !weir__flow_is_quiet(router, flow)) {
        return;
    }
    const uint32_t least = weir__router_least_loaded(router);
    weir_engine *engine = router->engine;
    if (least != flow->worker && weir__worker_depth(engine, &router->workers[least]) <
                                     weir__worker_depth(engine, &router->workers[flow->worker])) {
        count_target(router, flow->worker, -1);
        flow->worker = (uint16_t)least;
        count_target(router, least, 1);
        weir__add(&router->moved, 1, relaxed);
    }
}

/* Shard's lock held. A flow of targets is over with the finish that was submitted; its record stays
 * for its order. What comes then is another flow. */
static void count_lives(weir__router *router, const weir__flow *flow, uint32_t finishes)
{
    if (flow->lingers) {
        weir__add(&router->made, 1, relaxed);
    }
    if (finishes != 0) {
        weir__add(&router->dismissed[WEIR_FLOW_FINISHED], 1, relaxed);
    }
}

/* Shard's lock held: it was accepted, or dropped. */
static void count(submit *s, weir__shard *shard, weir__flow *flow, weir_status status,
                  uint32_t ticket)
{
    const uint32_t finishes = weir__event_finishes(s->parcel.event);
    flow->submitted++;
    flow->finishes += finishes;
    flow->why = 0;
    if (s->router->targeted) {
        count_lives(s->router, flow, finishes);
        flow->ticket = status == WEIR_OK ? ticket : flow->ticket;
    }
    flow->lingers = s->router->targeted && finishes != 0;
    weir__cell_add(&shard->submitted, 1);
    if (weir__unlikely(status == WEIR_DROPPED)) {
        flow->dropped++;
        weir__add(&s->router->dropped_newest, 1, relaxed);
        if (finishes != 0 && !s->router->targeted) {
            weir__store(&flow->lost, 1, relaxed);
            s->chore = weir__worker_ask(s->by.context, s->router, flow);
        }
    }
}

/* Inside the mark. */
static weir_status submit_to_flow(submit *s)
{
    weir__router *router = s->router;
    weir__shard *shard = weir__shard_for(router, s->key);
    weir_status status = WEIR_UNKNOWN;
    uint32_t ticket = 0;
    bool made = false;
    weir__brief_lock(&shard->lock);
    const bool finish = s->parcel.event->type == &weir_finish_type;
    weir__flow *flow = weir__table_find(router, shard, s->key);
    if (weir__unlikely(router->targeted && finish && flow != NULL && flow->lingers)) {
        flow = NULL; /* it is finished */
    } else if (weir__unlikely(flow == NULL)) {
        made = !finish;
        flow = made ? make_flow(s, shard, &status) : NULL;
    } else if (weir__unlikely(router->options.migrate || router->targeted)) {
        choose_worker(s, flow);
    }
    if (weir__likely(flow != NULL)) {
        s->parcel.flow = router->targeted ? flow->id : weir__routed(flow);
        status = offer(s, &router->workers[flow->worker], &ticket);
        if (weir__likely(status == WEIR_OK) || (status == WEIR_DROPPED && !made)) {
            count(s, shard, flow, status, ticket);
            /* Read under the lock: what is older than the last touch would turn the order round. */
            weir__table_touch(router, shard, flow, weir__clock_coarse());
        } else if (made) {
            unmake_flow(s, shard, flow);
        }
    }
    weir__brief_unlock(&shard->lock);
    if (weir__unlikely(made)) {
        if (status == WEIR_OK) {
            if (router->targeted) { /* else its worker counts it */
                weir__add(&router->made, 1, relaxed);
            }
            s->first = weir__load(&router->armed, seq_cst) == 0;
        } else if (status == WEIR_DROPPED) { /* no flow to count it against */
            weir__add(&router->loose, 1, relaxed);
            weir__add(&router->dropped_newest, 1, relaxed);
        }
    }
    return status;
}

static weir_status submit_loose(submit *s)
{
    uint32_t ticket;
    s->parcel.flow = 0;
    const weir_status status =
        offer(s, &s->router->workers[weir__router_least_loaded(s->router)], &ticket);
    if (status == WEIR_OK || status == WEIR_DROPPED) {
        weir__add(&s->router->loose, 1, relaxed);
        if (status == WEIR_DROPPED) {
            weir__add(&s->router->dropped_newest, 1, relaxed);
        }
    }
    return status;
}

/* ---- tries ---- */

/* Inside the mark, no lock held: an event was evicted for ours. */
WEIR__SELDOM static weir__processor *settle_eviction(submit *s)
{
    weir__router *router = s->router;
    weir__processor *ready = NULL;
    weir__add(&router->dropped_oldest, 1, relaxed);
    if ((uint32_t)s->evicted.flow == 0) {
        return NULL;
    }
    weir__flow *flow = weir__flow_at(router, (uint32_t)s->evicted.flow);
    weir__shard *shard = weir__shard_of(router, flow);
    weir__brief_lock(&shard->lock);
    flow->dropped++;
    if ((s->evicted.state & WEIR_EVENT_FINISH) != 0) {
        weir__store(&flow->lost, 1, relaxed);
    }
    if (weir__load(&flow->lost, relaxed) != 0 || (flow->lingers && weir__flow_is_drained(flow))) {
        ready = weir__worker_ask(s->by.context, router, flow);
    }
    weir__brief_unlock(&shard->lock);
    return ready;
}

/* One try. OK: the parcel is consumed. */
static weir_status attempt(submit *s)
{
    weir__context *context = s->by.context;
    weir_status status = WEIR_STOPPING;
    s->lacks = LACKS_NOTHING;
    s->refused = NULL;
    s->wait_index = UINT32_MAX;
    s->ready = NULL;
    s->chore = NULL;
    s->evicted.happened = false;
    s->crowded = false;
    s->first = false;
    weir__context_enter(context);
    if (weir__post_is_open(&s->by) && !weir__router_is_closed(s->router)) {
        status = s->key->id != 0 ? submit_to_flow(s) : submit_loose(s);
        if (s->ready != NULL) {
            weir__ready(context, s->ready);
        }
        if (weir__unlikely(s->chore != NULL)) {
            weir__ready(context, s->chore);
        }
        if (weir__unlikely(s->evicted.happened) && !s->router->targeted) {
            weir__processor *ready = settle_eviction(s);
            if (ready != NULL) {
                weir__ready(context, ready);
            }
        }
        if (weir__unlikely(s->crowded)) {
            weir__sweep_evict(context, s->router);
        }
        if (weir__unlikely(s->first)) {
            weir__sweep_arm(context, s->router);
        }
    }
    weir__context_leave(context);
    if (weir__unlikely(s->evicted.happened)) {
        weir__eviction_end(context, &s->evicted);
    }
    return status;
}

/* Inside the mark: a router that stops frees its tables when nobody is. False: no memory. */
static bool supply_table(submit *s)
{
    bool done = true;
    weir__context_enter(s->by.context);
    if (!weir__router_is_closed(s->router)) {
        done = weir__table_supply(s->router, weir__shard_for(s->router, s->key), s->table_lack);
    }
    weir__context_leave(s->by.context);
    return done;
}

/* False: no memory. */
WEIR__SELDOM static bool supply(submit *s)
{
    switch (s->lacks) {
    case LACKS_STOCK:
        return weir__stock_fill(&s->by.context->stock, s->page_class, 1);
    case LACKS_KEY:
        s->bytes = weir__flow_key_copy(s->router, s->key);
        return s->bytes != NULL;
    case LACKS_TABLE:
        return supply_table(s);
    case LACKS_NOTHING:
    default:
        return true;
    }
}

static weir_status attempt_with_supplies(submit *s)
{
    weir_status status = attempt(s);
    while (weir__unlikely(s->lacks != LACKS_NOTHING)) {
        if (!supply(s)) {
            return WEIR_E_NOMEM;
        }
        status = attempt(s);
    }
    return status;
}

#define FLOWS_LOOK_EVERY WEIR_MS

/* Until when to sleep. A worker tells of room, and of a flow that has gone; that one of too many
 * has come to rest, and may go, nobody would tell: whoever waits for that looks now and then. */
static weir_ns sleeps_until(const submit *s, weir_ns deadline)
{
    const weir_ns next = weir__clock_now() + FLOWS_LOOK_EVERY;
    return s->refused == &s->router->refused_flows && next < deadline ? next : deadline;
}

#ifdef WEIR_SIMULATED
#define NAPS 0 /* every wait is one that somebody must end */
#else
#define NAPS 20
#endif
#define NAP (100 * WEIR_US)

/* A worker that is behind makes room all the time, and to wake us for each bit of it would cost it
 * more than its events do. So nobody is told at first: we look again soon. */
static weir_status nap_for_room(submit *s, weir_ns deadline)
{
    weir__atomic_u32 nobody; /* wakes us */
    weir_status status = WEIR_FULL;
    weir__init(&nobody, 0);
    for (int naps = 0; naps < NAPS && status == WEIR_FULL && s->wait_index != UINT32_MAX; naps++) {
        const weir_ns until = weir__clock_now() + NAP;
        if (until >= deadline) {
            break;
        }
        (void)weir__wait_until(&nobody, 0, until);
        status = attempt_with_supplies(s);
    }
    return status;
}

/* The policy is to wait; who has to is counted before he looks again. Which worker is full may be
 * another one with every look: the flow moves, or has none. */
WEIR__SELDOM static weir_status wait_for_room(submit *s)
{
    weir_engine *engine = s->by.context->engine;
    const weir_ns deadline = weir__deadline(s->block_max, WEIR_S);
    weir_status status = nap_for_room(s, deadline);
    bool in_time = true;
    if (status != WEIR_FULL) {
        return status;
    }
    weir__add(&engine->room_waiters, 1, seq_cst);
    while (status == WEIR_FULL && in_time && s->wait_index != UINT32_MAX) {
        weir__room_wait *wait = weir__room_wait_of(engine, s->wait_index);
        weir__add(&wait->waiters, 1, seq_cst);
        const uint32_t seen = weir__load(&wait->word, seq_cst);
        weir__fence(seq_cst);
        status = attempt_with_supplies(s);
        if (status == WEIR_FULL && s->wait_index != UINT32_MAX &&
            weir__room_wait_of(engine, s->wait_index) == wait) {
            const weir_ns until = sleeps_until(s, deadline);
            in_time = weir__wait_until(&wait->word, seen, until) || until != deadline;
        }
        weir__sub(&wait->waiters, 1, seq_cst);
    }
    weir__sub(&engine->room_waiters, 1, seq_cst);
    return status;
}

static bool may_wait(const submit *s)
{
    const weir__router *router = s->router;
    return (router->targeted || router->options.overflow == WEIR_OVERFLOW_BLOCK) &&
           s->wait_index != UINT32_MAX && !s->by.in_handler && !weir__context_in_handler();
}

WEIR__SELDOM static weir_status refuse(submit *s, const weir_event *event, weir_status status)
{
    if (s->refused != NULL && status != WEIR_STOPPING) {
        weir__add(s->refused, 1, relaxed);
    }
    if (status != WEIR_DROPPED && status != WEIR_FULL && !weir__post_is_open(&s->by)) {
        status = WEIR_STOPPING;
    }
    if (weir__engine_phase(s->by.context->engine) == WEIR__FORKED) {
        status = WEIR_E_INVALID;
    }
    if (event == NULL || event->type != &weir_finish_type) {
        weir__letter_if_refused(s->by.context, status, s->by.sender, (weir_processor){ 0 }, event);
    }
    weir__post_count_refusal(&s->by, status);
    return status;
}

static weir_status submit_checked(submit *s, const weir_event *event)
{
    weir_status status = weir__parcel_check(event);
    if (status == WEIR_OK) {
        status = weir__parcel_pack(&s->by, event, &s->parcel);
    }
    if (status == WEIR_OK) {
        status = attempt_with_supplies(s);
        if (weir__unlikely(status == WEIR_FULL) && may_wait(s)) {
            status = wait_for_room(s);
        }
        if (weir__unlikely(status != WEIR_OK)) {
            weir__parcel_unpack(&s->by, &s->parcel);
        }
    }
    if (weir__unlikely(s->bytes != NULL)) { /* somebody else made the flow */
        weir__flow_key_free(s->router, s->bytes, s->key->size);
    }
    return weir__likely(status == WEIR_OK) ? WEIR_OK : refuse(s, event, status);
}

weir_status weir__submit_slowly(const weir__posting *by, weir__router *router,
                                const weir__flow_key *key, const weir_event *event)
{
    submit s;
    s.by = *by;
    s.router = router;
    s.key = key;
    s.bytes = NULL;
    s.refused = NULL;
    const weir_status status =
        router != NULL ? submit_checked(&s, event) : refuse(&s, event, WEIR_UNKNOWN);
    if (weir__tell_begin()) {
        weir__tell_end(
            "submits %s%s%s", event != NULL && event->type != NULL ? event->type->name : "nothing",
            status != WEIR_OK ? ": " : "", status != WEIR_OK ? weir_status_name(status) : "");
    }
    return status;
}
