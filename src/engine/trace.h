/*
 * engine/trace.h - the places that a recording is fed from; engine/trace.c says how it begins and
 * ends.
 *
 * While none is on each of them is one relaxed load, of a word beside the engine's phase, which is
 * read there anyway: twice for some turns in a row, once a park, once for an event that is stamped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_TRACE_H
#define WEIR_ENGINE_TRACE_H

#include "engine/engine.h"

/* Which recording is on; 0: none. */
static inline uint32_t weir__trace_on(const weir_engine *engine)
{
    return weir__load((weir__atomic_u32 *)(uintptr_t)&engine->tracing.on, relaxed);
}

static inline bool weir__trace_is_on(const weir_engine *engine)
{
    return weir__unlikely(weir__trace_on(engine) != 0);
}

/* ---- a thread's turns: begin, turn after each of them, end; over, when it has none left ---- */

/* `processor`: whose the first one is. */
WEIR__SELDOM void weir__trace_turns_begin(weir__thread *thread, const weir__serving *serving,
                                          weir__processor *processor);
/* thread->turn.self is whose it was. Also while none is on: to ask would cost as much. */
static inline void weir__trace_turn(weir__thread *thread)
{
    weir__stretch_turn(&thread->context.stretch, thread->turn.self.id);
}
/* `over`: it has to wait now, for others. */
WEIR__SELDOM void weir__trace_turns_end(weir__thread *thread, const weir__serving *serving,
                                        bool over);
WEIR__SELDOM void weir__trace_turns_over(weir__thread *thread, weir_ns now);

/* ---- a thread's sleep, and its agents: begin, then the one or the other ---- */

/* The time, if a recording is on; else 0. */
static inline weir_ns weir__trace_begin(const weir__thread *thread)
{
    return weir__trace_is_on(thread->engine) ? weir__clock_now() : 0;
}
/* `since` is not 0. */
WEIR__SELDOM void weir__trace_park(weir__thread *thread, weir_ns since, bool woken);
/* `work`: it did some. */
WEIR__SELDOM void weir__trace_agents(weir__thread *thread, weir_ns since, bool work);

/* ---- events that are measured ---- */

/* The context's thread has put one into a mailbox, inside its mark or outside; `posted` is what its
 * stamp says. */
WEIR__SELDOM void weir__trace_posted_record(weir__context *context, uint64_t receiver,
                                            const weir_event_type *type, weir_ns posted);
static inline void weir__trace_posted(weir__context *context, uint64_t receiver,
                                      const weir_event_type *type, weir_ns posted)
{
    if (weir__trace_is_on(context->engine)) {
        weir__trace_posted_record(context, receiver, type, posted);
    }
}

/* Its handler has returned; the origin of its event is still at hand. */
WEIR__SELDOM void weir__trace_handled_record(weir__context *context, weir_processor self,
                                             const weir_event *event, weir_ns posted, weir_ns begin,
                                             weir_ns end);
static inline void weir__trace_handled(weir__context *context, weir_processor self,
                                       const weir_event *event, weir_ns posted, weir_ns begin,
                                       weir_ns end)
{
    if (weir__trace_is_on(context->engine)) {
        weir__trace_handled_record(context, self, event, posted, begin, end);
    }
}

/* ---- control ---- */

/* The recording that is over, held; NULL: one is on, or none ever was. */
weir__recorder *weir__trace_take(weir_engine *engine);
void weir__trace_give_back(weir_engine *engine, weir__recorder *recorder);
void weir__trace_close(weir_engine *engine);

/* ---- as text (engine/trace_text.c) ---- */

#define WEIR__TRACE_BEGIN UINT64_C(0)
#define WEIR__TRACE_END UINT64_MAX

/* The text from *cursor on, in pieces; *cursor moves, up to END. Stops behind the piece with which
 * `most` bytes are exceeded, or when `put` answers false. E_INVALID: no text begins there. */
weir_status weir__trace_text(weir_engine *engine, weir__recorder *recorder, uint64_t *cursor,
                             size_t most, bool (*put)(void *context, const char *text, size_t size),
                             void *context);

#endif /* WEIR_ENGINE_TRACE_H */
