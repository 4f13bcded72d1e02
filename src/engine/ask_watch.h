/*
 * engine/ask_watch.h - which open questions the alarm of a processor looks at, and when: a heap of
 * four by time, under the lock of its table. Two sides use it: askers, and the alarm's thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_ASK_WATCH_H
#define WEIR_ENGINE_ASK_WATCH_H

#include "engine/ask.h"

/* Lock held, so all of these. The entry is looked at by then at the latest. True: the alarm is to
 * be brought forward. */
bool weir__ask_watch_by(weir__asks *asks, uint32_t index, uint64_t time);
/* Takes the earliest out, if it is due by `time`. False: none is. */
bool weir__ask_watch_take(weir__asks *asks, uint64_t time, uint32_t *index);
/* The earliest; WEIR_FOREVER: there is none. */
static inline uint64_t weir__ask_watch_next(const weir__asks *asks)
{
    return asks->watches > 0 ? asks->heap[0].time : (uint64_t)WEIR_FOREVER;
}

#endif /* WEIR_ENGINE_ASK_WATCH_H */
