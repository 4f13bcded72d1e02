/*
 * engine/latency.c - recording what stamped events tell, and reading it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/latency.h"

#include "base/assert.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "engine/processor.h"
#include "engine/stamp.h"
#include "engine/thread.h"
#include "engine/trace.h"

/* ---- recording ---- */

static uint64_t span(weir_ns from, weir_ns to)
{
    return to > from ? (uint64_t)(to - from) : 0;
}

static void record(weir__latency *latency, uint64_t queueing, uint64_t handling)
{
    weir__histogram_record(&latency->queueing, queueing);
    weir__histogram_record(&latency->handling, handling);
}

/* Inside the mark: what is read there is not freed before we leave it. */
static void record_own(weir_turn *turn, uint64_t queueing, uint64_t handling)
{
    weir__processor_cold *cold = weir__processor_cold_of(turn->processor);
    if (cold == NULL) {
        return;
    }
    weir__context_enter(turn->context);
    /* [LT1] pairs with [LT2]: it is zeroed. */
    weir__latency *latency = weir__load(&cold->latency, acquire);
    if (latency != NULL) {
        record(latency, queueing, handling);
    }
    weir__context_leave(turn->context);
}

/* How many events one that is stamped stands for. Of one that was stamped before it was switched
 * off nobody knows that any more. */
static uint64_t weight(const weir_engine *engine)
{
    const uint32_t every = weir__stamp_every(engine);
    return every != WEIR__STAMP_NEVER ? every : 1;
}

weir_status weir__latency_handle(void *state, weir_turn *turn, const weir_event *event)
{
    const weir_handler handler = turn->measured;
    const weir_ns posted = turn->stamp;
    const uint64_t sender = event->from.sender.id;
    const weir_ns begun = weir__clock_now();
    const weir_status status = handler(state, turn, event);
    const weir_ns over = weir__clock_now();
    const uint64_t handling = span(begun, over);
    const uint64_t queueing = span(posted, begun);
    weir__thread *thread = turn->context->thread;
    weir__trace_handled(turn->context, turn->self, event, posted, begun, over);
    if (!weir__stamp_counts(posted)) {
        return status;
    }
    record(&turn->serving->latency, queueing, handling);
    weir__histogram_record(&thread->figures.handling, handling);
    weir__edge_note(&thread->figures.edges, sender, turn->self.id, weight(turn->context->engine));
    record_own(turn, queueing, handling);
    return status;
}

void weir__latency_reset(weir__latency *latency)
{
    weir__histogram_reset(&latency->queueing);
    weir__histogram_reset(&latency->handling);
}

void weir__thread_figures_reset(weir__thread_figures *figures)
{
    weir__histogram_reset(&figures->handling);
    weir__histogram_reset(&figures->waits);
    weir__add(&figures->edges.resets, 1, relaxed);
}

/* ---- reading ---- */

/* Two sums, of what may be too large for a handler's stack. */
typedef struct look {
    weir__histogram_sum first, second;
} look;

static void answer(const weir__histogram_sum *sum, weir_latency *out)
{
    weir_latency l = WEIR_LATENCY_INIT;
    if (out == NULL) {
        return;
    }
    l.count = sum->count;
    l.sum = sum->sum;
    l.p50 = (weir_ns)weir__histogram_sum_percentile(sum, 50);
    l.p90 = (weir_ns)weir__histogram_sum_percentile(sum, 90);
    l.p95 = (weir_ns)weir__histogram_sum_percentile(sum, 95);
    l.p99 = (weir_ns)weir__histogram_sum_percentile(sum, 99);
    l.p999 = (weir_ns)weir__histogram_sum_percentile(sum, 99.9);
    l.max = (weir_ns)sum->max;
    (void)weir__struct_fill(out, &l, sizeof(l));
}

static weir_status answer_both(weir_engine *engine, look *l, weir_status status,
                               weir_latency *first, weir_latency *second)
{
    if (status == WEIR_OK) {
        answer(&l->first, first);
        answer(&l->second, second);
    }
    weir__release(&engine->allocator, l, sizeof(*l));
    return status;
}

weir_status weir_dispatcher_latency(weir_engine *engine, const char *dispatcher,
                                    weir_latency *queueing, weir_latency *handling)
{
    if (!weir__engine_usable(engine) || dispatcher == NULL) {
        return WEIR_E_INVALID;
    }
    look *l = weir__allocate(&engine->allocator, sizeof(*l));
    if (l == NULL) {
        return WEIR_E_NOMEM;
    }
    weir__mutex_lock(&engine->registry.lock); /* it keeps its name */
    weir__dispatcher *d = weir__dispatcher_find(engine, dispatcher);
    for (weir__serving *s = d != NULL ? weir__servings_first(d) : NULL; s != NULL; s = s->next) {
        weir__histogram_sum_add_live(&l->first, &s->latency.queueing);
        weir__histogram_sum_add_live(&l->second, &s->latency.handling);
    }
    weir__mutex_unlock(&engine->registry.lock);
    return answer_both(engine, l, d != NULL ? WEIR_OK : WEIR_UNKNOWN, queueing, handling);
}

weir_status weir_processor_latency(weir_engine *engine, weir_processor processor,
                                   weir_latency *queueing, weir_latency *handling)
{
    if (!weir__engine_usable(engine)) {
        return WEIR_E_INVALID;
    }
    look *l = weir__allocate(&engine->allocator, sizeof(*l));
    if (l == NULL) {
        return WEIR_E_NOMEM;
    }
    weir_status status = WEIR_UNKNOWN;
    weir__mutex_lock(&engine->registry.lock);
    const weir__processor *p = weir__registry_find(&engine->registry, processor);
    if (p != NULL) {
        weir__processor_cold *cold = weir__processor_cold_of(p);
        const weir__latency *latency = cold != NULL ? weir__load(&cold->latency, relaxed) : NULL;
        status = WEIR_E_INVALID;
        if (latency != NULL) {
            weir__histogram_sum_add_live(&l->first, &latency->queueing);
            weir__histogram_sum_add_live(&l->second, &latency->handling);
            status = WEIR_OK;
        }
    }
    weir__mutex_unlock(&engine->registry.lock);
    return answer_both(engine, l, status, queueing, handling);
}

weir_status weir_thread_latency(weir_engine *engine, weir_thread thread, weir_latency *handling,
                                weir_latency *waits)
{
    if (!weir__engine_usable(engine)) {
        return WEIR_E_INVALID;
    }
    const weir__thread *t = weir__thread_known(engine, thread);
    if (t == NULL) {
        return WEIR_UNKNOWN;
    }
    look *l = weir__allocate(&engine->allocator, sizeof(*l));
    if (l == NULL) {
        return WEIR_E_NOMEM;
    }
    weir__histogram_sum_add_live(&l->first, &t->figures.handling);
    weir__histogram_sum_add_live(&l->second, &t->figures.waits);
    return answer_both(engine, l, WEIR_OK, handling, waits);
}
