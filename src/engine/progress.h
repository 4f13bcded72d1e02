/*
 * engine/progress.h - what a turn keeps in registers: how far it is in the mailbox, and the steps
 * from one event to the next. Only engine/turn.c and engine/turn_end.c use this.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_PROGRESS_H
#define WEIR_ENGINE_PROGRESS_H

#include "engine/room.h"
#include "engine/turn.h"

typedef struct weir__progress {
    weir__cursor cursor;
    uint64_t word;       /* of the mailbox, as last seen: which epoch it is */
    uint32_t uncredited; /* taken, and still counted in the mailbox's word */
    uint32_t done;       /* taken in this turn */
    weir__lone copy;     /* evicting mailboxes hand out copies */
} weir__progress;

/* An evicting mailbox, or a gap: looks for a while. NULL: none is there. */
weir__envelope *weir__progress_event_slowly(weir_turn *turn, weir__progress *at);

/* The next event; NULL: none is there although one is claimed (a gap). */
static inline weir__envelope *weir__progress_event(weir_turn *turn, weir__progress *at)
{
    weir__mailbox *mailbox = &turn->processor->mailbox;
    weir__envelope *event = weir__likely(!weir__mailbox_evicts(mailbox))
                                ? weir__mailbox_take(mailbox, &at->cursor, at->word)
                                : NULL;
    if (weir__unlikely(event == NULL)) {
        return weir__progress_event_slowly(turn, at);
    }
    at->uncredited++;
    return event;
}

/* It is done with. A copy needs no more. */
static inline void weir__progress_let_go(weir_turn *turn, weir__progress *at)
{
    if (weir__likely(at->cursor.held != NULL)) {
        weir__lone *lone = weir__mailbox_let_go(&turn->processor->mailbox, &at->cursor, at->word,
                                                &turn->context->stock);
        if (lone != NULL) {
            weir__lone_put(turn->context, lone);
        }
    }
}

/* Gives places back, and tells those who wait for room. */
static inline void weir__progress_credit(const weir_turn *turn, weir__progress *at)
{
    weir__processor *processor = turn->processor;
    const uint64_t word = weir__mailbox_credit(&processor->mailbox, at->uncredited);
    at->uncredited = 0;
    weir__room_appeared(turn->context, processor, word);
}

/* Closed, and about to be unregistered: drains by discarding what a freeze or a failed init left,
 * gives the last envelope back, ends. */
weir__turn_end weir__turn_finish(weir_turn *turn, weir__progress *at);

#endif /* WEIR_ENGINE_PROGRESS_H */
