/*
 * engine/room.h - telling those who wait that a mailbox has room: processors by an event they asked
 * for (want_room), OS threads by a wait word (overflow = block).
 *
 * want_room. The asker's place and the event itself are taken when it asks, and hung onto the
 * target's list. Asker: push (seq_cst), then look at the target's word. Owner: take events off the
 * word (seq_cst), then look at the list. At least one of the two finds the pair; whoever does takes
 * the whole list, so each event is sent once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_ROOM_H
#define WEIR_ENGINE_ROOM_H

#include "engine/engine.h"
#include "engine/processor.h"

/* Owner: places were given back, `word` is what is left. */
void weir__room_appeared(weir__context *context, weir__processor *processor, uint64_t word);

/* Inside the mark. Sends the room events of this processor's list. */
void weir__room_tell(weir__context *context, weir__processor *processor);
/* Inside the mark. The same with gone = true, and nobody may join the list any more. */
void weir__room_gone(weir__context *context, weir__processor *processor);

/* Any thread, not inside the mark. A place that was promised there is free again. */
void weir__room_unreserve(weir__context *context, weir_processor to);

/* Closes the mailbox: who waits for room there is told at once. True: the caller must make the
 * processor ready, for its owner to finish it. */
bool weir__room_close(weir_engine *engine, weir__processor *processor);

/* Wakes OS threads that wait for room in a processor with this index; all of them. */
void weir__room_wake_threads(weir_engine *engine, uint32_t index);
void weir__room_wake_all(weir_engine *engine);
/* Those that wait for a subscriber of a feed. */
void weir__room_wake_publishers(weir_engine *engine);

static inline weir__room_wait *weir__room_wait_of(weir_engine *engine, uint32_t index)
{
    return &engine->room_waits[index % WEIR__ROOM_WAITS];
}

#endif /* WEIR_ENGINE_ROOM_H */
