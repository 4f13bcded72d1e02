/*
 * scenarios.c - the office under the simulator: `weir sim ./scenarios.so`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <weir/sim.h>

#include "journal.h"

static bool trusting = false;
static bool fenced = true;

/* Looked at after every step. */
static void journal_is_in_order(void *argument)
{
    const struct journal *journal = argument;
    weir_sim_check(journal->late == 0, "a line of lease %d came after one of lease %d",
                   journal->late, journal->newest);
}

/* Both writers have something to write, three times: when the lease is new, when it is half over,
 * and when it has ended. */
static void both_write(void *is_fenced)
{
    struct office office;
    weir_error error = WEIR_ERROR_INIT;
    weir_sim_quiet(true); /* the set-up is not what is to be tested */
    weir_engine *engine = weir_engine_create(WEIR_ENGINE(.processors_max = 16), &error);
    for (int i = 0; i < 3; i++) {
        weir_thread_add(engine, WEIR_THREAD(.idle = WEIR_IDLE_PARK), &error); /* fewer steps */
    }
    office_open(&office, *(const bool *)is_fenced, engine, &error);
    weir_engine_start(engine, &error);
    weir_sim_check(error.status == WEIR_OK, "%s", error.text);
    weir_sim_quiet(false);

    weir_sim_always(journal_is_in_order, &office.journal);
    for (int i = 0; i < 3; i++) {
        for (int w = 0; w < 2; w++) {
            const weir_status status =
                weir_engine_post(engine, office.writer[w], WEIR_EVENT(work, .until = 0));
            weir_sim_check(status == WEIR_OK, "a post answers %s", weir_status_name(status));
        }
        weir_sim_sleep(LEASE * 6 / 10); /* virtual: it takes no time */
    }

    weir_sim_always(NULL, NULL);
    weir_sim_quiet(true);
    weir_engine_destroy(engine);
}

#define FAULTS (WEIR_SIM_DEFAULT_FAULTS | WEIR_SIM_TIME_JUMPS)
WEIR_SIM_SCENARIOS({ .name = "trusting",
                     .about = "the journal writes what comes",
                     .body = both_write,
                     .argument = &trusting,
                     .faults = FAULTS },
                   { .name = "fenced",
                     .about = "the journal refuses lines of an older lease",
                     .body = both_write,
                     .argument = &fenced,
                     .faults = FAULTS });
