/*
 * engine/life.h - how a processor begins and ends, both in a turn of its own; and what the engine
 * says when a handler fails.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_LIFE_H
#define WEIR_ENGINE_LIFE_H

#include "engine/turn.h"

/* Owner: runs the init hook. A failure marks the processor broken. */
void weir__life_begin(weir_turn *turn);

/* Owner: the same in a restart. False: it has failed, and the next turn ends the processor. */
bool weir__life_init_again(weir_turn *turn);

/* Owner: what was said of the failure that ends it, or may do so. Without memory it has a reason
 * and no words. */
void weir__life_keep_text(weir_engine *engine, weir__processor_cold *cold, const char *text);

/* registry.lock held. No thread of weir's own can run its init before the engine runs: a start does
 * not wait for it, as if it had been registered where it is now. */
void weir__life_unawait(weir_engine *engine, weir__processor *processor);

/* Owner; the mailbox is closed and empty. True: children are still there; they are told to end, and
 * the last of them brings the processor back. It is no longer the caller's. */
bool weir__life_waits_for_children(weir__context *context, weir__processor *processor);

/* Owner; the mailbox is closed and empty, no children are left. Destroy hook, unregistration,
 * report to who waits for the stop, room events to who waits for room, parents that waited for this
 * child. The processor must not be touched afterwards. */
void weir__life_end(weir__context *context, weir__processor *processor);

/* registry.lock held, threads serve the engine. Ends a processor right here if it stands idle and
 * nothing has to be run or told at its end: no destroy hook, no family, no thread of its own. True:
 * it is gone, and what became of its events is added to *report. False: nothing has happened. */
bool weir__life_end_idle(weir__context *context, weir__processor *processor,
                         weir_stop_report *report);

/* Calls the destroy hook, which there is. Owner, or nobody else is left. */
void weir__life_destroy(weir_engine *engine, weir__processor *processor, weir_status reason);

/* Frees the state: by the last owner. */
void weir__life_free_state(weir_engine *engine, weir__processor *processor);
/* Frees the cold part, too: nobody can be inside a call that knows the slot. */
void weir__life_free(weir_engine *engine, weir__processor *processor);

/* registry.lock held. Takes it off its parent's list of children. */
void weir__life_leave_family(weir__processor_cold *cold);

/* Of a log entry: "processor orders", "processor #3.1". By the owner. */
void weir__life_component(const weir__processor *processor, char *out, size_t size);

void weir__life_warn_unhandled(weir_turn *turn, const weir_event *event);
/* The event is dead: says so, and leaves a letter. */
void weir__life_failed(weir_turn *turn, const weir_event *event, weir_status status);

#endif /* WEIR_ENGINE_LIFE_H */
