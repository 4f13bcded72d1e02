/*
 * weir/turn.h - all that a handler can do. Every function here is Turn: inside a hook that was
 * given the turn, on that thread, until the hook returns. None waits. What is posted has this
 * processor as its sender, inherits its flow, and arrives in the order posted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TURN_H
#define WEIR_TURN_H

#include "weir/processor.h"

#ifdef __cplusplus
extern "C" {
#endif

WEIR_API weir_engine *weir_turn_engine(const weir_turn *turn);
WEIR_API weir_processor weir_turn_self(const weir_turn *turn);

/* Nanoseconds of the engine's monotonic clock, read once a turn, at the first call. Of a processor
 * with an event_time: its own clock. */
WEIR_API weir_ns weir_turn_now(weir_turn *turn);

/* Statuses and ownership as for weir_engine_post, _commit, _post_batch; never waits. */
WEIR_API WEIR_MUST_CHECK weir_status weir_turn_post(weir_turn *turn, weir_processor to,
                                                    const weir_event *event);
WEIR_API WEIR_MUST_CHECK weir_status weir_turn_commit(weir_turn *turn, weir_processor to,
                                                      const weir_event *event);
WEIR_API WEIR_MUST_CHECK size_t weir_turn_post_batch(weir_turn *turn, const weir_processor *to,
                                                     size_t to_count,
                                                     const weir_event *const *events, size_t count,
                                                     weir_status *statuses);

/* Answers whoever sent the event of that ticket, `event->from`, now or in a later turn; a ticket is
 * a plain value, and any processor may use it. To a question (from.ask is not zero) it is the
 * answer. UNKNOWN: it was answered before, its time is over, or its asker is gone; nothing else
 * happens. STOPPING: the asker's stop has run out of time, or the engine's is over. E_NOMEM,
 * E_TYPE, E_INVALID: it is still open. To other events it is a post to the sender, with the
 * statuses of one; UNKNOWN: an ordinary thread sent it, or the sender is gone. */
WEIR_API WEIR_MUST_CHECK weir_status weir_turn_reply(weir_turn *turn, weir_ticket to,
                                                     const weir_event *event);

/*
 * Asks. The answer, or one weir_timeout_type event, comes back exactly once as an event of this
 * processor, with `tag` in event->tag, never before this handler returns; `then` handles it, or the
 * ordinary handler. from.sender is who answered; of a timeout, who was asked. The place in this
 * mailbox and the memory are taken now, so neither can be refused later; a timeout is never early,
 * by the engine's clock.
 *
 * Nothing comes unless OK. FULL: this mailbox is, or that one (DROPPED: by its policy). UNKNOWN:
 * the target is gone. STOPPING: the target, this processor or the engine is being stopped. E_LIMIT:
 * too many timers; the first question of a processor takes one, for all of them. E_NOMEM,
 * E_SYSTEM, E_TYPE, E_INVALID.
 *
 * A stop of this processor answers what is then still open with the timeout, when its mailbox is
 * drained and before its destroy hook; a stop of the engine does so at once. If the stop runs out
 * of time, or an init fails, nothing comes. A question of up to 24 bytes travels without a block.
 */
typedef struct weir_ask_options {
    size_t struct_size;
    weir_ns timeout;   /* default 5 s; WEIR_FOREVER: none; WEIR_NOW: at once */
    weir_handler then; /* survives become; a restart of this processor drops it */
    uint64_t tag;      /* comes back in event->tag */
} weir_ask_options;
#define WEIR_ASK_OPTIONS_INIT WEIR_SIZED(weir_ask_options)
#define WEIR_ASK(...) WEIR_OPTIONS(weir_ask_options, __VA_ARGS__)

WEIR_API WEIR_MUST_CHECK weir_status weir_turn_ask(weir_turn *turn, weir_processor to,
                                                   const weir_event *event,
                                                   const weir_ask_options *options);
WEIR_API extern const weir_event_type weir_timeout_type; /* no payload */

/* After FULL: one weir_room_type event (payload weir_room, with `tag` in event->tag) when that
 * mailbox has fallen below half, at once if it has already. If the target stops first, it comes
 * with gone = true. Its place in this mailbox and its memory are taken now, so it cannot be refused
 * later. UNKNOWN: the target is gone. FULL: this mailbox is. STOPPING: this processor is being
 * stopped. E_NOMEM. */
WEIR_API WEIR_MUST_CHECK weir_status weir_turn_want_room(weir_turn *turn, weir_processor target,
                                                         uint64_t tag);

typedef struct weir_room {
    weir_processor target;
    bool gone;
} weir_room;
WEIR_API extern const weir_event_type weir_room_type;

/* One weir_down_type event (payload weir_down, weir/supervise.h, with `tag` in event->tag) when
 * `target` has ended, for whatever reason; at once, with reason UNKNOWN, if it has already. Its
 * place in this mailbox and its memory are taken now, so it cannot be refused later; only a stop of
 * this processor or of the engine keeps it from coming. ALREADY: watched before, one event all the
 * same, with the first tag. FULL: this mailbox is. STOPPING: this processor is being stopped.
 * E_INVALID: no handle, or its own. E_NOMEM. */
WEIR_API WEIR_MUST_CHECK weir_status weir_turn_watch(weir_turn *turn, weir_processor target,
                                                     uint64_t tag);
/* No event comes of it any more. ALREADY: it is not watched, or it has ended and its event is in
 * this mailbox, if it was not handled before. */
WEIR_API weir_status weir_turn_unwatch(weir_turn *turn, weir_processor target);

/* An event to oneself after `delay` (WEIR_NOW: at once), with `tag` in event->tag: the usual timer;
 * for more, weir/timer.h. Its place in this mailbox and its memory are taken now, so it cannot be
 * refused later. With an event_time it comes when that clock has come so far. FULL: this mailbox
 * is. E_LIMIT: too many timers. STOPPING, E_INVALID, E_TYPE, E_NOMEM, E_SYSTEM. */
WEIR_API WEIR_MUST_CHECK weir_status weir_turn_trigger_after(weir_turn *turn, weir_ns delay,
                                                             const weir_event *event, uint64_t tag);

/* Hands the next events to another handler, or table (not copied: a static constant): `keep` pushes
 * it, else it replaces the one on top, also if that is the base. The state stays the same. E_LIMIT:
 * 1,024 are on the stack. E_NOMEM, E_INVALID. unbecome pops; ALREADY: only the base is there. */
WEIR_API WEIR_MUST_CHECK weir_status weir_turn_become(weir_turn *turn, weir_handler handler,
                                                      bool keep);
WEIR_API WEIR_MUST_CHECK weir_status weir_turn_become_cases(weir_turn *turn,
                                                            const weir_cases *cases, bool keep);
WEIR_API weir_status weir_turn_unbecome(weir_turn *turn);

/* What a table does, for handlers that are functions: calls the row of the event's type and answers
 * as it does; no row: UNHANDLED. So tables can share a base. */
WEIR_API WEIR_MUST_CHECK weir_status weir_turn_handle(weir_turn *turn, const weir_cases *cases,
                                                      void *state, const weir_event *event);

/* `return weir_turn_fail(turn, MY_STATUS, "line 7 has no price");` returns `reason`, so that the
 * log carries the sentence. Copied, at most 127 bytes. */
WEIR_API weir_status weir_turn_fail(weir_turn *turn, weir_status reason, const char *text);

/* True when more of this turn's batch waits behind the event at hand: when not, flush. */
WEIR_API bool weir_turn_more(const weir_turn *turn);

#ifdef __cplusplus
}
#endif

#endif /* WEIR_TURN_H */
