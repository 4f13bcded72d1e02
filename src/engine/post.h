/*
 * engine/post.h - from a sender's event to a receiver's mailbox.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_POST_H
#define WEIR_ENGINE_POST_H

#include "engine/engine.h"
#include "engine/origin.h"

/* Who posts. */
typedef struct weir__posting {
    weir__context *context;
    uint64_t sender; /* 0: no processor */
    uint64_t flow;   /* inherited by events that name none */
    bool in_handler; /* accepted until CLOSING; never waits */
    bool carries;    /* the origin that its context has at hand, if any, goes along */
    uint32_t marks;  /* WEIR__ENVELOPE_OWN, of events of weir's own (engine/own.h); ASKS; else 0 */
    uint64_t ask;    /* with ASKS: the number of the question; else 0 */
} weir__posting;

/* What goes along with each event that is accepted: a reference to this; or NULL. */
static inline weir_origin *weir__posting_origin(const weir__posting *by)
{
    weir_origin *origin = by->context->origin;
    return weir__unlikely(origin != NULL) && by->carries ? origin : NULL;
}

/* By a call that names no turn. False: no context can be had (why_not says the status). A handler's
 * is a handler's all the same: it must not wait, and a stop must not refuse it too early. */
static inline bool weir__post_outside(weir_engine *engine, weir__posting *out)
{
    if (weir__unlikely(engine == NULL)) {
        return false;
    }
    weir__context *context = weir__context_at_hand(engine);
    if (weir__unlikely(context == NULL)) {
        context = weir__context_find(engine);
        if (context == NULL) {
            return false;
        }
    }
    *out = (weir__posting){ .context = context,
                            .in_handler = context->thread != NULL,
                            .carries = true };
    return true;
}

static inline weir_status weir__post_why_not(weir_engine *engine)
{
    return weir__engine_usable(engine) ? WEIR_E_NOMEM : WEIR_E_INVALID;
}

/* The first step of every post, before anything can be accepted: the sums of a stop rely on it
 * ([Q1]). */
static inline void weir__post_begin(weir__context *context)
{
    weir__cell_add(&context->tally.attempted, 1);
}

/* What a claim that is not met by a policy of the mailbox's answers. */
static inline weir_status weir__claim_status(weir__claim claim)
{
    return claim <= WEIR__CLAIM_FIRST  ? WEIR_OK
           : claim == WEIR__CLAIM_FULL ? WEIR_FULL
                                       : WEIR_STOPPING;
}

/* All of it. */
weir_status weir__post_counted(const weir__posting *by, weir_processor to, const weir_event *event);
/* Consumes the caller's reference to event->block, whatever the status. */
weir_status weir__post_commit(const weir__posting *by, weir_processor to, const weir_event *event);
size_t weir__post_batch(const weir__posting *by, const weir_processor *to, size_t to_count,
                        const weir_event *const *events, size_t count, weir_status *statuses);

/* Inside the mark: are posts of this kind accepted? */
bool weir__post_is_open_late(const weir__posting *by); /* once a stop has begun */
static inline bool weir__post_is_open(const weir__posting *by)
{
    return weir__likely(weir__load(&by->context->engine->phase, relaxed) < WEIR__STOPPING) ||
           weir__post_is_open_late(by);
}
/* Counts how a post that was attempted ended, if not in a mailbox. */
void weir__post_count_refusal(const weir__posting *by, weir_status status);

#endif /* WEIR_ENGINE_POST_H */
