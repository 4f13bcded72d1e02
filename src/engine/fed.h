/*
 * engine/fed.h - the engine's half of feeds: who is told that a mailbox has room again, and what a
 * stop has to know.
 *
 * A feed that finds a mailbox full keeps the event (feed/lane.c), or its publisher waits; either
 * says so in engine->pressed first and looks at the mailbox again then. Whoever gives places back
 * looks at engine->pressed afterwards. Both by seq_cst: at least one of the two sees the other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_FED_H
#define WEIR_ENGINE_FED_H

#include "engine/engine.h"

struct weir__fed_hooks {
    /* The mailbox of this processor may have room, or is closed for good. Any thread, outside its
     * mark, with no lock held. */
    void (*room)(weir__context *context, uint64_t id);
    /* What is in no mailbox yet, when nothing moves any more. */
    uint64_t (*waiting)(weir_engine *engine);
    void (*close)(weir_engine *engine); /* no thread runs any more */
};

WEIR__SELDOM void weir__fed_tell(weir__context *context, uint64_t id);

/* By whoever gave places back, or ended the processor, by a seq_cst step. Outside its mark. */
static inline void weir__fed_room(weir__context *context, uint64_t id)
{
    if (weir__unlikely(weir__load(&context->engine->pressed, seq_cst) != 0)) {
        weir__fed_tell(context, id);
    }
}

#endif /* WEIR_ENGINE_FED_H */
