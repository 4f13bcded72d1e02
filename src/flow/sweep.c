/*
 * flow/sweep.c - the caretaker, and the search for the flow that has been idle for longest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow/sweep.h"

#include "base/assert.h"
#include "engine/chore.h"
#include "flow/table.h"
#include "flow/worker.h"

#define LOOKS_MAX 64u /* at flows of a shard, for one that has nothing to do */
#define SWEEP_LEAST (WEIR_MS)
#ifdef WEIR_SIMULATED
#define SWEEP_TICK 0 /* its clock is one and exact */
#else
#define SWEEP_TICK (10 * WEIR_MS) /* the coarse clock is behind by no more, at a submit as well */
#endif
#define SWEEP_MOST (86400 * WEIR_S) /* a look too many a day: no clock overflows */

static const weir_event_type sweep_type = {
    sizeof(weir_event_type), "weir.sweep", 0, false, NULL, NULL
};

/* What is to be done when the shard's lock is released. */
typedef struct after {
    weir__processor *ready;
    const unsigned char *bytes;
    uint32_t size;
} after;

/* Inside the mark, shard's lock held: it goes for this reason. Until its worker has seen to that it
 * is among the newest, out of the way of the next look for old ones. */
static void dismiss(weir__context *context, weir__router *router, weir__shard *shard,
                    weir__flow *flow, weir_flow_end reason, after *then)
{
    if (!router->targeted) {
        weir__table_defer(router, shard, flow, weir__clock_coarse());
        flow->why = (uint8_t)reason;
        flow->leaving = reason == WEIR_FLOW_EVICTED;
        then->ready = weir__worker_ask(context, router, flow);
        return;
    }
    if (!flow->lingers) { /* else it is counted as finished */
        weir__add(&router->dismissed[reason], 1, relaxed);
    }
    weir__sub(&router->workers[flow->worker].flows, 1, relaxed);
    then->size = flow->size;
    then->bytes = weir__table_remove(router, shard, flow);
    weir__sub(&router->live, 1, seq_cst);
}

static void carry_out(weir__context *context, weir__router *router, const after *then)
{
    if (then->ready != NULL) {
        weir__ready(context, then->ready);
    }
    weir__flow_key_free(router, then->bytes, then->size);
}

/* ---- too many ---- */

/* The shard with the oldest of those not tried yet (a bit each); UINT32_MAX: none. */
static uint32_t oldest_shard(weir__router *router, uint64_t tried)
{
    uint64_t best = UINT64_MAX;
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; i <= router->shard_mask; i++) {
        const uint64_t touched = weir__load(&router->shards[i].oldest_touched, relaxed);
        if ((tried >> i & 1) == 0 && touched < best) {
            best = touched;
            found = i;
        }
    }
    return found;
}

/* Lock held. Whether one was found, or is on its way already. */
static bool evict_in(weir__context *context, weir__router *router, weir__shard *shard, after *then)
{
    uint32_t index = shard->oldest;
    for (uint32_t looks = 0; looks < LOOKS_MAX && index != 0; looks++) {
        weir__flow *flow = weir__flow_at(router, index);
        if (!flow->chored && weir__flow_is_quiet(router, flow)) {
            dismiss(context, router, shard, flow, WEIR_FLOW_EVICTED, then);
            return true;
        }
        index = flow->newer;
    }
    return false;
}

/* One more than leave already is to go. `leaving` counts it. */
static bool is_one_too_many(weir__router *router)
{
    uint32_t leaving = weir__load(&router->leaving, relaxed);
    do {
        if (weir__load(&router->live, seq_cst) <= router->options.flows_max + leaving) {
            return false;
        }
    } while (!weir__cas(&router->leaving, &leaving, leaving + 1, relaxed, relaxed));
    return true;
}

/* Whether there was one that could go. */
static bool evict_one(weir__context *context, weir__router *router)
{
    uint64_t tried = 0;
    bool done = false;
    while (!done) {
        const uint32_t at = oldest_shard(router, tried);
        if (at == UINT32_MAX) {
            return false;
        }
        weir__shard *shard = &router->shards[at];
        after then = { .ready = NULL };
        tried |= UINT64_C(1) << at;
        weir__brief_lock(&shard->lock);
        done = evict_in(context, router, shard, &then);
        weir__brief_unlock(&shard->lock);
        carry_out(context, router, &then);
    }
    return true;
}

void weir__sweep_evict(weir__context *context, weir__router *router)
{
    /* Two for one: so there are soon no more than flows_max again after they were all busy. */
    for (uint32_t i = 0; i < 2 && is_one_too_many(router); i++) {
        const bool found = evict_one(context, router);
        if (!found || router->targeted) { /* targets: it is gone already */
            weir__sub(&router->leaving, 1, relaxed);
        }
        if (!found) {
            return;
        }
    }
}

/* ---- idle for too long ---- */

/* A pass through one shard. Flows stand there in the order in which they came to their places, and
 * may have been submitted to since (router->slack): those are passed over, and stay. */
typedef struct sweep {
    weir_ns before; /* last submitted to at this time or earlier: idle */
    weir_ns oldest; /* the earliest last submit of those that stay; WEIR_FOREVER: none does */
    uint32_t at;    /* where to go on; 0: at the beginning */
} sweep;

static weir_ns earlier(weir_ns a, weir_ns b)
{
    return a < b ? a : b;
}

/* Lock held. What was there may have gone, or come among the newest. */
static uint32_t where_to_go_on(weir__router *router, const weir__shard *shard, const sweep *s)
{
    const weir__flow *flow = s->at != 0 ? weir__flow_at(router, s->at) : NULL;
    return flow != NULL && !flow->free && weir__flow_listed(flow) <= s->before ? s->at
                                                                               : shard->oldest;
}

/* Inside the mark, lock held. Looks at some, and dismisses one at most; one that has something to
 * do after all comes among the newest. False: the shard is done. */
static bool sweep_some(weir__context *context, weir__router *router, weir__shard *shard, sweep *s,
                       after *then)
{
    uint32_t index = where_to_go_on(router, shard, s);
    for (uint32_t looks = 0; looks < LOOKS_MAX && index != 0; looks++) {
        weir__flow *flow = weir__flow_at(router, index);
        if (weir__flow_listed(flow) > s->before) {
            s->oldest = earlier(s->oldest, weir__flow_listed(flow));
            return false;
        }
        index = flow->newer;
        s->at = index;
        if (flow->touched > s->before) {
            s->oldest = earlier(s->oldest, flow->touched);
        } else if (flow->chored || !weir__flow_is_quiet(router, flow)) {
            weir__table_defer(router, shard, flow, weir__clock_coarse());
            s->oldest = earlier(s->oldest, flow->touched);
        } else {
            dismiss(context, router, shard, flow, WEIR_FLOW_IDLE, then);
            break;
        }
    }
    return index != 0;
}

/* Some at a time, so that the lock is never held for long. */
static void sweep_shard(weir__context *context, weir__router *router, weir__shard *shard, sweep *s)
{
    bool goes_on = true;
    s->at = 0;
    while (goes_on) {
        after then = { .ready = NULL };
        weir__context_enter(context);
        weir__brief_lock(&shard->lock);
        goes_on = sweep_some(context, router, shard, s, &then);
        weir__brief_unlock(&shard->lock);
        if (then.ready != NULL) {
            weir__ready(context, then.ready);
        }
        weir__context_leave(context);
        weir__flow_key_free(router, then.bytes, then.size);
    }
}

static weir_ns idle_timeout(weir__router *router)
{
    return (weir_ns)weir__load(&router->idle_timeout, seq_cst);
}

/* So long after its last submit, as the coarse clock tells it, a flow is due. */
static weir_ns due_after(weir_ns timeout)
{
    return timeout < WEIR_FOREVER - SWEEP_TICK ? timeout + SWEEP_TICK : WEIR_FOREVER - 1;
}

/* The oldest of all; WEIR_FOREVER: there is none. */
static weir_ns oldest_listed(weir__router *router)
{
    const uint32_t at = oldest_shard(router, 0);
    return at != UINT32_MAX ? (weir_ns)weir__load(&router->shards[at].oldest_touched, relaxed)
                            : WEIR_FOREVER;
}

/* How long until a flow of this age is due. A look at all that are nearly as old costs something,
 * so it is not made for each of them. */
static weir_ns delay_until(const weir__router *router, weir_ns oldest, weir_ns timeout)
{
    const weir_ns span = due_after(timeout);
    const weir_ns due = oldest < WEIR_FOREVER - span ? oldest + span : WEIR_FOREVER - 1;
    const weir_ns often = earlier(router->slack, timeout / 64) / 8;
    weir_ns delay = earlier(due - weir__clock_now(), SWEEP_MOST);
    delay = delay > often ? delay : often;
    return delay > SWEEP_LEAST ? delay : SWEEP_LEAST;
}

/* One trigger is out after this, or nobody will come: then it is armed by the next new flow.
 * `oldest`: the last submit of the oldest flow; WEIR_FOREVER: there is none. */
static void trigger(weir_turn *turn, weir__router *router, weir_ns oldest)
{
    const weir_event event = { .type = &sweep_type };
    const weir_ns timeout = idle_timeout(router);
    if (timeout == WEIR_FOREVER) { /* who changes that asks for the chore */
        weir__store(&router->armed, 0, seq_cst);
        return;
    }
    for (;; oldest = oldest_listed(router)) {
        if (oldest != WEIR_FOREVER) {
            const weir_status status = weir_turn_trigger_after(
                turn, delay_until(router, oldest, timeout), &event, router->sweep_round);
            if (status != WEIR_OK) {
                weir__store(&router->armed, 0, seq_cst);
            }
            return;
        }
        /* Who makes a flow looks at `armed` afterwards. */
        weir__store(&router->armed, 0, seq_cst);
        if (weir__load(&router->live, seq_cst) == 0 ||
            weir__exchange(&router->armed, 1, seq_cst) != 0) {
            return;
        }
    }
}

weir_status weir__caretaker_handle(void *state, weir_turn *turn, const weir_event *event)
{
    weir__router *router = state;
    if (event->type != &sweep_type) {
        return WEIR_UNHANDLED;
    }
    if (event->tag != router->sweep_round) {
        return WEIR_OK; /* for a timeout that was; another trigger is out */
    }
    const weir_ns timeout = idle_timeout(router);
    sweep s = { .before = weir__clock_coarse() - due_after(timeout), .oldest = WEIR_FOREVER };
    for (uint32_t i = 0; i <= router->shard_mask && timeout != WEIR_FOREVER; i++) {
        sweep_shard(turn->context, router, &router->shards[i], &s);
    }
    trigger(turn, router, s.oldest);
    return WEIR_OK;
}

void weir__caretaker_destroy(void *state, weir_status reason)
{
    weir__router *router = state;
    (void)reason;
    weir__store(&router->closed, 1, seq_cst); /* [Y2] */
    for (uint32_t i = 0; i <= router->shard_mask; i++) {
        weir__shard *shard = &router->shards[i];
        weir__brief_lock(&shard->lock);
        while (shard->oldest != 0) {
            after then = { .ready = NULL };
            dismiss(NULL, router, shard, weir__flow_at(router, shard->oldest), WEIR_FLOW_STOPPED,
                    &then);
            weir__brief_unlock(&shard->lock);
            weir__flow_key_free(router, then.bytes, then.size);
            weir__brief_lock(&shard->lock);
        }
        weir__brief_unlock(&shard->lock);
    }
}

void weir__caretaker_chore(weir_turn *turn)
{
    weir__router *router = turn->processor->state;
    weir__brief_lock(&router->sweep_lock);
    weir__chore_begin(turn->processor);
    weir__brief_unlock(&router->sweep_lock);
    router->sweep_round++;
    trigger(turn, router, oldest_listed(router));
}

static void ask_caretaker(weir__context *context, weir__router *router)
{
    weir__processor *caretaker = weir__registry_find(&context->engine->registry, router->caretaker);
    if (caretaker != NULL) {
        weir__brief_lock(&router->sweep_lock);
        const bool ready = weir__chore_ask(caretaker);
        weir__brief_unlock(&router->sweep_lock);
        if (ready) {
            weir__ready(context, caretaker);
        }
    }
}

void weir__sweep_arm(weir__context *context, weir__router *router)
{
    /* In one order with the flow that was made before and with weir__sweep_retime: one of the two
     * sees the other. */
    if (idle_timeout(router) != WEIR_FOREVER && weir__exchange(&router->armed, 1, seq_cst) == 0) {
        ask_caretaker(context, router);
    }
}

void weir__sweep_retime(weir__context *context, weir__router *router, weir_ns timeout)
{
    weir__store(&router->idle_timeout, (uint64_t)timeout, seq_cst);
    weir__store(&router->armed, 1, seq_cst);
    ask_caretaker(context, router);
}
