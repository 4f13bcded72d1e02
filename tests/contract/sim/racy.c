/*
 * racy.c - scenarios that are compiled with -fsanitize=thread and linked without it: two processors
 * share a number, one pair of them properly.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdatomic.h>
#include <weir/sim.h>
#include <weir/weir.h>

WEIR_EMPTY_TYPE(job, "racy.job");

static int number;
static atomic_flag held = ATOMIC_FLAG_INIT;
static atomic_long wide;
static atomic_uchar narrow;

static weir_status on_job(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state, (void)turn, (void)event;
    number += 1;
    return WEIR_OK;
}

static weir_status on_job_locked(void *state, weir_turn *turn, const weir_event *event)
{
    long expected = 0;
    (void)state, (void)turn, (void)event;
    while (atomic_flag_test_and_set(&held)) {
        weir_sim_step();
    }
    number += 1;
    atomic_flag_clear(&held);
    atomic_fetch_xor(&narrow, 1);
    atomic_fetch_sub(&wide, 1);
    atomic_compare_exchange_strong(&wide, &expected, 0);
    atomic_thread_fence(memory_order_seq_cst);
    return WEIR_OK;
}

static void share(void *locked)
{
    weir_processor to[2];
    weir_error error = WEIR_ERROR_INIT;
    weir_sim_quiet(true);
    number = 0;
    atomic_store(&wide, 4);
    atomic_store(&narrow, 0);
    weir_engine *engine =
        weir_engine_create(WEIR_ENGINE(.threads = 2, .processors_max = 16), &error);
    for (int i = 0; i < 2; i++) {
        to[i] = weir_processor_add(
            engine, WEIR_PROCESSOR(.handler = locked != NULL ? on_job_locked : on_job), &error);
    }
    weir_engine_start(engine, &error);
    weir_sim_check(error.status == WEIR_OK, "%s", error.text);
    weir_sim_quiet(false);
    for (int i = 0; i < 4; i++) {
        if (weir_engine_post(engine, to[i % 2], WEIR_EMPTY(job)) != WEIR_OK) {
            weir_sim_fail("refused");
        }
    }
    weir_engine_destroy(engine);
    weir_sim_check(locked == NULL || (number == 4 && wide == 0 && narrow == 0), "%d %ld %d", number,
                   (long)wide, (int)narrow);
}

WEIR_SIM_SCENARIOS({ .name = "racy", .about = "nobody locks", .body = share },
                   { .name = "locked", .about = "with a flag", .body = share, .argument = &held });
