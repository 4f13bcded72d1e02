/*
 * engine/pace.c - the wait itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/pace.h"

#include "sync/thread.h"

void weir__pace_wait(void)
{
#ifdef WEIR_SIMULATED
    weir__pause(); /* there a step may take as long as it likes */
#else
    const weir_ns end = weir__clock_now() + WEIR__PACE_WAIT;
    do {
        weir__pause();
    } while (weir__clock_now() < end);
#endif
}
