/*
 * slot_tenants.c - one slot, two tenants: posts to the first are stuck between look-up and claim
 * while the second moves in.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/engine.h"
#include "scenario.h"

#define STALLED 2
/* A grace period is worth its barrier when 32 slots wait for it. Let 31 be there already: the run
 * is a tenth as long as with processors that come and go. */
#define IN_LIMBO 31

static void post_one(void *to)
{
    stage_post(to);
}

static void play(const weir_processor_options *options)
{
    int stalled[STALLED];
    stage_open(NULL);
    stage_threads(1);
    actor *old = stage_actor(options, NULL);
    stage.engine->registry.limbo_count = IN_LIMBO;
    stage_start();
    for (int i = 0; i < STALLED; i++) {
        stalled[i] = weir_sim_thread_start(post_one, old);
    }
    stage_stop_actor(old, WEIR_FOREVER);
    stage_actor(options, NULL); /* begins the grace period */
    actor *tenant = stage_actor(options, NULL);
    weir_sim_check(tenant->handle.id != 0, "%s", stage.error.text);
    stage_post(tenant);
    for (int i = 0; i < STALLED; i++) {
        weir_sim_thread_join(stalled[i]);
    }
    stage_close();
}

SCENARIO(slot_tenants,
         "posts that are stuck between look-up and claim, and their slot's new tenant")
{
    play(NULL);
}

SCENARIO(slot_tenants_full, "the same, and the mailboxes are full")
{
    play(WEIR_PROCESSOR(.mailbox_max = 1));
}
