/*
 * engine/hold.c - holding back, and letting go exactly once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/hold.h"

void weir__hold(weir__context *context, weir__dispatcher *dispatcher, weir__processor *processor)
{
    weir__processor *first = weir__load(&dispatcher->held, relaxed);
    do {
        processor->ready_next = first;
    } while (!weir__cas(&dispatcher->held, &first, processor, seq_cst, relaxed));
    /* The starter changes the phase, then empties the list; we add to the list, then look at the
     * phase: one of the two lets the processor go. */
    if (weir__load(&dispatcher->engine->phase, seq_cst) != WEIR__STARTING) {
        weir__context_enter(context);
        weir__hold_release(dispatcher);
        weir__context_leave(context);
    }
}

void weir__hold_release(weir__dispatcher *dispatcher)
{
    weir__processors_pass_on(weir__exchange(&dispatcher->held, NULL, seq_cst));
}
