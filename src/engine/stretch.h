/*
 * engine/stretch.h - turns of a thread that a trace draws together, if they are brief.
 *
 * A turn may take less than a look at the clock. So a stretch of them, one straight after the
 * other, is one record: how many turns and events it was, and whose, if they were all of one
 * processor. It is as many turns as take some microseconds; a turn that takes that long is a record
 * of its own.
 *
 * Its thread's alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_STRETCH_H
#define WEIR_ENGINE_STRETCH_H

#include "weir/base.h"

#define WEIR__STRETCH_MIXED UINT16_MAX /* dispatchers: several */

typedef struct weir__stretch {
    weir_ns begun;       /* 0: none is open */
    uint64_t first;      /* whose the first turn was, once there is one */
    uint64_t others;     /* 0: all of them were */
    uint64_t handled;    /* of the serving at hand, when its last turns began ... */
    uint64_t turned;     /* ... and its turns by then */
    uint32_t turns;      /* drawn together so far */
    uint32_t events;     /* in them */
    uint32_t most;       /* turns; 0: not known yet */
    uint32_t recording;  /* for which it was begun: weir__tracing.on */
    uint16_t dispatcher; /* its index, or MIXED */
} weir__stretch;

static inline void weir__stretch_begin(weir__stretch *stretch, weir_ns now)
{
    stretch->begun = now;
    stretch->others = 0;
    stretch->turns = 0;
    stretch->events = 0;
}

static inline void weir__stretch_turn(weir__stretch *stretch, uint64_t who)
{
    stretch->others |= stretch->first ^ who;
}

#endif /* WEIR_ENGINE_STRETCH_H */
