/*
 * try_lock_backoff.c - more threads than work at one lock: tries fail, threads back off, nothing is
 * lost.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

SCENARIO(try_lock_backoff, "three threads, four processors: failed tries and back-off")
{
    actor *actors[4];
    stage_open(
        WEIR_ENGINE(.backoff_base = WEIR_US, .backoff_max = 10 * WEIR_US, .backoff_jitter = 0.5));
    stage_threads(3);
    for (int i = 0; i < 4; i++) {
        actors[i] = stage_actor(WEIR_PROCESSOR(.batch_max = 1), NULL);
    }
    stage_start();
    for (int i = 0; i < 8; i++) {
        stage_post(actors[i % 4]);
    }
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}
