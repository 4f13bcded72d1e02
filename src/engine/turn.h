/*
 * engine/turn.h - a turn: one thread, one processor, up to batch_max events.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_TURN_H
#define WEIR_ENGINE_TURN_H

#include "engine/post.h"
#include "engine/processor.h"
#include "engine/thread.h"
#include "weir/turn.h"

/* What weir_turn_fail was told in the step that runs, or was the last to run; else "". */
static inline const char *weir__turn_text(const weir_turn *turn)
{
    return turn->text_of == weir__trail_count(turn->trail) ? turn->text : "";
}

/* The handler at hand is a flow's: the processor is a worker, which is not to get what the flow
 * asks for, and goes on handling other flows. */
static inline bool weir__turn_is_flows(const weir_turn *turn)
{
    return turn->at_hand != NULL;
}

/* Posts of the handler at hand. */
static inline weir__posting weir__turn_posting(const weir_turn *turn)
{
    return (weir__posting){ .context = turn->context,
                            .sender = turn->self.id,
                            .flow = turn->flow,
                            .in_handler = true,
                            .carries = true };
}

typedef enum weir__turn_end {
    WEIR__TURN_OVER, /* idle, held back or gone: the processor is no longer ours */
    WEIR__TURN_MORE, /* its batch is used up: back to the tail of the queue */
    WEIR__TURN_GAP,  /* an event is claimed and not there yet: come back */
    WEIR__TURN_ASIDE /* inside turn.c: over if it is put aside, else MORE */
} weir__turn_end;

/* A turn, by a thread that took the processor from its ready queue; and turns of what it keeps
 * there, as long as each leaves nothing to do, `most` of them in all (1 or more). Returns how the
 * last one ended: if not OVER, thread->turn.processor is whose it was. */
weir__turn_end weir__turns_run(weir__thread *thread, weir__serving *serving,
                               weir__processor *processor, uint32_t most);

/* The handler says that it is not its: the hook's status, or OK, counted and warned of. */
weir_status weir__turn_unhandled(weir_turn *turn, const weir_event *event);
/* What a handler's status means: OK, the event is handled; else why it failed. Asks the unhandled
 * hook, if there is one. */
weir_status weir__turn_judge(weir_turn *turn, weir_status status, const weir_event *event);

/* Handler of processors that have a table. */
weir_status weir__turn_by_case(void *state, weir_turn *turn, const weir_event *event);

#endif /* WEIR_ENGINE_TURN_H */
