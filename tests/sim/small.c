/*
 * small.c - the yardstick of the simulator's speed: two threads, one processor, four posts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

SCENARIO(small, "two threads, one processor, four posts; the yardstick of speed")
{
    stage_open(NULL);
    stage_threads(2);
    actor *a = stage_actor(NULL, NULL);
    stage_start();
    for (int i = 0; i < 4; i++) {
        stage_post(a);
    }
    stage_stop(WEIR_FOREVER);
    stage_close();
}
