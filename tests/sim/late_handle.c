/*
 * late_handle.c - a handle is a number: it may travel to its first poster in any way, without an
 * edge of its own. Finding the processor is the edge.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"
#include "sync/atomic.h"

static WEIR__ATOMIC(actor *) added;

static void post_when_added(void *unused)
{
    (void)unused;
    if (stage_is_weak()) {
        return; /* then hearsay is not enough: it may be unknown for a moment */
    }
    while (weir__load(&added, relaxed) == NULL) {
        weir_sim_sleep(100);
    }
    stage_post(weir__load(&added, relaxed));
}

SCENARIO(late_handle, "a processor is added, and posted to by a thread that was told by hearsay")
{
    stage_open(NULL);
    stage_threads(1);
    weir__store(&added, NULL, seq_cst);
    stage_start();
    const int other = weir_sim_thread_start(post_when_added, NULL);
    weir__store(&added, stage_actor(NULL, NULL), relaxed);
    weir_sim_thread_join(other);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}
