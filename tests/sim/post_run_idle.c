/*
 * post_run_idle.c - an event, rest, the next event: every edge of going idle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

SCENARIO(post_run_idle, "one thread; each event finds the processor idle, or about to be")
{
    stage_open(NULL);
    stage_threads(1);
    actor *a = stage_actor(NULL, NULL);
    stage_start();
    stage_post(a);
    stage_settle();
    stage_post(a);
    stage_post(a);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}
