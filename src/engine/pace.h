/*
 * engine/pace.h - a thread that is as fast as those who post to it steps back.
 *
 * Where it takes every event the moment it is there, the two meet at each of them: the mailbox's
 * word, the envelope and the queue go from core to core and back for every single event, and both
 * are slower than either would be alone (measured: docs/PERFORMANCE.md). Less than a microsecond
 * later a few dozen events are there, and the lines have gone across once.
 *
 * So a thread counts the looks in a row that came soon and found little. After some it tries to
 * wait before it looks again, and goes on with that as long as it finds enough each time; if it
 * does not, it stops at once, and the next trial is further off. Whoever has something else to do
 * does not wait, and a stream of less than some ten million events a second is looked for at once.
 *
 * One thread's own, no atomics. Zeroed memory is one that does not wait.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_PACE_H
#define WEIR_ENGINE_PACE_H

#include "weir/base.h"

#define WEIR__PACE_WAIT 500     /* ns: what an event of such a stream may wait for a look */
#define WEIR__PACE_FAILURES 13u /* that is a trial in 65,536 looks */
#ifdef WEIR_SIMULATED
#define WEIR__PACE_PATIENCE 2u /* so that few events are enough */
#define WEIR__PACE_LITTLE 4u
#define WEIR__PACE_ENOUGH 2u
#else
#define WEIR__PACE_PATIENCE 8u /* looks before the first trial */
#define WEIR__PACE_LITTLE 64u  /* so many events at a look are not little: who posts is ahead */
#define WEIR__PACE_ENOUGH 6u   /* so many make a wait worth it */
#endif

typedef struct weir__pace {
    bool waits;        /* before the next look, if that has nothing else to do */
    uint32_t close;    /* looks in a row that came soon and found little */
    uint32_t failures; /* trials in a row that were not worth it: each doubles the patience */
} weir__pace;

/* A look found so many events. `soon`: after the last ones. */
static inline void weir__pace_found(weir__pace *pace, uint64_t found, bool soon)
{
    if (pace->waits) {
        return; /* what came without a wait says nothing of it */
    }
    pace->close = soon && found > 0 && found < WEIR__PACE_LITTLE ? pace->close + 1 : 0;
    if (pace->close == WEIR__PACE_PATIENCE << pace->failures) {
        pace->close = 0;
        pace->waits = true;
    }
}

/* The same, after a wait. */
static inline void weir__pace_judge(weir__pace *pace, uint64_t found)
{
    if (found >= WEIR__PACE_ENOUGH) {
        pace->failures = 0;
        return;
    }
    pace->waits = false;
    pace->failures += pace->failures < WEIR__PACE_FAILURES ? 1 : 0;
}

/* Having found so many: is the next look put off? */
static inline bool weir__pace_waits(const weir__pace *pace, uint64_t found)
{
    return pace->waits && found < WEIR__PACE_LITTLE;
}

/* Does so: WEIR__PACE_WAIT. */
void weir__pace_wait(void);

#endif /* WEIR_ENGINE_PACE_H */
