/*
 * engine/share.h - what one thread keeps (engine/kept.h) becomes another's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_SHARE_H
#define WEIR_ENGINE_SHARE_H

#include "engine/thread.h"

/* Half of what another thread of the dispatcher keeps, if that is more than the one it runs next:
 * the oldest for now, the rest to keep. NULL: nothing was to be had. */
weir__processor *weir__share_steal(weir__serving *own);

/* Everything the thread keeps goes to the queues, without a wake-up. */
void weir__share_all(weir__thread *thread);

static inline bool weir__share_keeps(const weir__thread *thread)
{
    for (uint32_t i = 0; i < thread->serving_count; i++) {
        if (weir__kept_length(&thread->servings[i]->kept) != 0) {
            return true;
        }
    }
    return false;
}

#endif /* WEIR_ENGINE_SHARE_H */
