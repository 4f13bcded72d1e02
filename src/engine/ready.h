/*
 * engine/ready.h - where a processor goes that has become ready: to the thread at hand, if that
 * serves its dispatcher at this moment, else to the dispatcher's queue.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_READY_H
#define WEIR_ENGINE_READY_H

#include "engine/monitor.h"
#include "engine/probe.h"

/* The thread of `serving`, which keeps so many now, of a dispatcher that others serve, too. */
static inline void weir__keep_tell(weir__serving *serving, uint32_t kept)
{
    weir__dispatcher *dispatcher = serving->dispatcher;
    weir__monitor_note(dispatcher->engine);
    if (kept >= weir__load(&serving->thread->share_at, relaxed)) {
        /* That a sleeper overlooks it, or we the sleeper, is possible and costs a tick of the
         * monitor. */
        weir__dispatcher_wake(dispatcher);
    }
}

/* The same: is there somebody to be told? */
static inline bool weir__keep_concerns(weir__serving *serving, uint32_t kept)
{
    return weir__monitor_sleeps(serving->dispatcher->engine) ||
           kept >= weir__load(&serving->thread->share_at, relaxed);
}

/* The thread of `serving`. False: somebody is raiding its list; put it elsewhere. */
static inline bool weir__keep(weir__serving *serving, weir__processor *processor)
{
    const uint32_t kept = weir__kept_append(&serving->kept, processor, processor, 1);
    if (weir__unlikely(kept == 0)) {
        return false;
    }
    if (weir__load(&serving->dispatcher->threads, relaxed) > 1) {
        weir__keep_tell(serving, kept);
    }
    return true;
}

/* By the poster at the ready edge, on the thread that the context belongs to, inside its mark or
 * under registry.lock. Not from a signal handler. */
static inline void weir__ready(weir__context *context, weir__processor *processor)
{
    weir__serving *keeping = context->keeping;
    weir__dispatcher *dispatcher = weir__processor_dispatcher(processor);
    WEIR__PROBE2(ready, processor, dispatcher);
    if (keeping != NULL && keeping->dispatcher == dispatcher &&
        weir__likely(weir__keep(keeping, processor))) {
        return;
    }
    weir__dispatcher_push(dispatcher, processor);
}

/* By whoever has the processor, outside its mark: to where it runs now. */
static inline void weir__ready_elsewhere(weir__context *context, weir__processor *processor)
{
    weir__context_enter(context);
    weir__dispatcher_push(weir__processor_dispatcher(processor), processor);
    weir__context_leave(context);
}

#endif /* WEIR_ENGINE_READY_H */
