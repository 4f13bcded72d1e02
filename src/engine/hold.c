/*
 * engine/hold.c - holding back, and letting go exactly once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/hold.h"

void weir__hold(weir__processor *processor)
{
    weir__dispatcher *dispatcher = processor->dispatcher;
    weir__processor *first = weir__load(&dispatcher->held, relaxed);
    do {
        processor->ready_next = first;
    } while (!weir__cas(&dispatcher->held, &first, processor, seq_cst, relaxed));
    /* The starter changes the phase, then empties the list; we add to the list, then look at the
     * phase: one of the two lets the processor go. */
    if (weir__load(&dispatcher->engine->phase, seq_cst) != WEIR__STARTING) {
        weir__hold_release(dispatcher);
    }
}

void weir__hold_release(weir__dispatcher *dispatcher)
{
    weir__processor *processor = weir__exchange(&dispatcher->held, NULL, seq_cst);
    while (processor != NULL) {
        weir__processor *next = processor->ready_next;
        weir__dispatcher_push(dispatcher, processor);
        processor = next;
    }
}
