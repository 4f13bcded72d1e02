/*
 * reshape.c - policies, lengths of turns and threads change while others post and wait for room.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/reshape.h"
#include "scenario.h"

static void reshape(weir_overflow overflow, uint32_t batch_max, weir_thread *leaving, size_t count)
{
    size_t kept = 0;
    const weir_engine_options defaults = {
        .struct_size = sizeof(defaults),
        .mailbox_max = 100,
        .overflow = WEIR_OVERFLOW_FAIL,
        .block_max = WEIR_FOREVER,
        .batch_max = batch_max,
        .backoff_base = WEIR_US,
        .backoff_max = WEIR_MS,
        .backoff_multiplier = 2.0,
    };
    const weir__processor_shape one = { .name = "a",
                                        .overflow_own = WEIR__OWN_GIVE,
                                        .overflow = overflow };
    const weir__shape shape = { .processors = &one,
                                .processor_count = 1,
                                .defaults = &defaults,
                                .leaving = leaving,
                                .leaving_count = count };
    const weir_status status = weir__engine_reshape(stage.engine, &shape, &kept, NULL);
    weir_sim_check(status == WEIR_OK || (status == WEIR_E_NOMEM && stage_is_short()),
                   "a reshape answers %s", weir_status_name(status));
}

static void post_three(void *to)
{
    for (int i = 0; i < 3; i++) {
        stage_post(to);
    }
}

static void finish(void)
{
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(reshape_policy, "a policy becomes another one while somebody waits for room")
{
    stage_open(WEIR_ENGINE(.processors_max = 16, .batch_max = 1));
    stage_threads(1);
    actor *a =
        stage_actor(WEIR_PROCESSOR(.name = "a", .mailbox_max = 1, .overflow = WEIR_OVERFLOW_BLOCK,
                                   .block_max = WEIR_FOREVER),
                    NULL);
    stage_start();
    const int other = weir_sim_thread_start(post_three, a);
    reshape(WEIR_OVERFLOW_FAIL, 4, NULL, 0);
    stage_post(a);
    reshape(WEIR_OVERFLOW_BLOCK, 1, NULL, 0);
    stage_post(a);
    weir_sim_thread_join(other);
    finish();
}

SCENARIO(reshape_threads, "two of three threads go in one step while others post")
{
    stage_open(WEIR_ENGINE(.processors_max = 16, .batch_max = 1));
    weir_thread leaving[2];
    stage_threads(1);
    for (int i = 0; i < 2; i++) {
        leaving[i] =
            weir_thread_add(stage.engine, WEIR_THREAD(.idle = WEIR_IDLE_PARK), &stage.error);
    }
    actor *a = stage_actor(NULL, NULL);
    actor *b = stage_actor(NULL, NULL);
    stage_start();
    const int other = weir_sim_thread_start(post_three, a);
    stage_post(b);
    reshape(WEIR_OVERFLOW_FAIL, 8, leaving, 2);
    stage_post(b);
    weir_sim_thread_join(other);
    finish();
}
