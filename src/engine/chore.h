/*
 * engine/chore.h - work in a processor's turn that is not an event: it needs no place and cannot be
 * refused. For processors of weir's own (the workers of routers).
 *
 * Whoever has something to do there writes it down under a lock of his own and asks, still under
 * that lock; the hook takes the lock, calls weir__chore_begin, and reads what is written. Asked
 * twice before it ran, the hook runs once. Asking takes a promised place (weir__mailbox_nudge), so
 * that an owner about to go idle sees it, and begin gives it back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_CHORE_H
#define WEIR_ENGINE_CHORE_H

#include "engine/ready.h"
#include "engine/supervise.h"
#include "engine/turn.h"

/* What keeps a processor from going idle. */
#define WEIR__CONTROL_SEEN_TO (WEIR__CONTROL_SUPERVISED | WEIR__CONTROL_CHORE)

/* Inside the mark, under the lock of what is written down. True: when the lock is released, and
 * still inside the mark, the caller makes the processor ready. */
static inline bool weir__chore_ask(weir__processor *processor)
{
    return (weir__or(&processor->control, WEIR__CONTROL_CHORE, acq_rel) & WEIR__CONTROL_CHORE) ==
               0 &&
           weir__mailbox_nudge(&processor->mailbox);
}

/* The hook, under that lock: what is written down from now on is asked for anew. */
static inline void weir__chore_begin(weir__processor *processor)
{
    weir__and(&processor->control, ~(uint32_t)WEIR__CONTROL_CHORE, acq_rel);
    weir__mailbox_unreserve(&processor->mailbox);
}

/* Owner: it was asked for, and the processor has not come to its end. */
static inline bool weir__chore_is_due(weir__processor *processor)
{
    const uint32_t control = weir__load(&processor->control, acquire);
    return (control & (WEIR__CONTROL_CHORE | WEIR__CONTROL_ENDS)) == WEIR__CONTROL_CHORE;
}

/* Owner, at the beginning of a turn. */
static inline void weir__chore_run(weir_turn *turn)
{
    weir__processor_cold_of(turn->processor)->chore(turn);
}

#endif /* WEIR_ENGINE_CHORE_H */
