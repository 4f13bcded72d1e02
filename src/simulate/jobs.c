/*
 * simulate/jobs.c - processes that share the seeds of an exploration.
 *
 * The simulator is one OS thread with static tables, so more cores need more processes. Slices are
 * contiguous: once a process has failed, those with higher seeds are of no interest and are ended,
 * those with lower seeds go on. So the failure that is told does not depend on who was faster.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "simulate/jobs.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "simulate/options.h"

#define RUNS_DEFAULT 1000u /* as weir_sim_explore's */

typedef struct job {
    pid_t process; /* 0: over */
    bool finished; /* the result is whole */
    weir_status status;
    weir_sim_result result;
} job;

typedef struct crew {
    job *jobs; /* shared with the processes */
    uint32_t count;
    uint32_t running;
} crew;

static bool explore(const weir_sim_scenario *scenario, const weir_sim_options *options,
                    weir_sim_result *result, weir_status *status)
{
    *result = (weir_sim_result)WEIR_SIM_RESULT_INIT;
    *status = weir_sim_explore(options, scenario->body, scenario->argument, result);
    return *status == WEIR_OK;
}

/* The n-th slice of the runs. */
static weir_sim_options slice(const weir_sim_options *all, uint32_t n, uint32_t count)
{
    weir_sim_options o = *all;
    const uint64_t each = all->runs / count;
    const uint64_t more = all->runs % count; /* the first so many have one more */
    o.seed = all->seed + n * each + (n < more ? n : more);
    o.runs = each + (n < more ? 1 : 0);
    return o;
}

static bool hire(crew *c, const weir_sim_scenario *scenario, const weir_sim_options *all)
{
    const pid_t parent = getpid();
    fflush(NULL); /* what is buffered is written once */
    for (uint32_t i = 0; i < c->count; i++) {
        job *mine = &c->jobs[i];
        mine->process = fork();
        if (mine->process < 0) {
            perror("cannot start another process");
            mine->process = 0;
            return false;
        }
        if (mine->process == 0) {
            /* Whoever started us is gone: nobody wants to know any more. */
            if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) {
                _exit(1);
            }
            const weir_sim_options o = slice(all, i, c->count);
            explore(scenario, &o, &mine->result, &mine->status);
            mine->finished = true;
            _exit(0);
        }
        c->running++;
    }
    return true;
}

/* Ends those of the crew from `first` on that still run. */
static void dismiss(crew *c, uint32_t first)
{
    for (uint32_t i = first; i < c->count; i++) {
        if (c->jobs[i].process > 0) {
            kill(c->jobs[i].process, SIGKILL);
        }
    }
}

static void collect(crew *c)
{
    while (c->running > 0) {
        int how;
        const pid_t process = waitpid(-1, &how, 0);
        if (process < 0 && errno == EINTR) {
            continue;
        }
        if (process < 0) {
            return;
        }
        for (uint32_t i = 0; i < c->count; i++) {
            job *j = &c->jobs[i];
            if (j->process == process) {
                j->process = 0;
                c->running--;
                if (j->finished ? j->result.failed || j->status != WEIR_OK : true) {
                    dismiss(c, i + 1);
                }
            }
        }
    }
}

/* The sum of what was done; the lowest failure. False: a process ended without an answer. */
static bool add_up(const crew *c, weir_sim_result *result)
{
    *result = (weir_sim_result)WEIR_SIM_RESULT_INIT;
    result->races_seen = true;
    for (uint32_t i = 0; i < c->count; i++) {
        const job *j = &c->jobs[i];
        if (!j->finished || j->status != WEIR_OK) {
            fprintf(stderr, "the process with seeds from slice %u on died without an answer\n", i);
            return false;
        }
        const uint64_t runs = result->runs + j->result.runs;
        const uint64_t steps = result->steps + j->result.steps;
        const bool races_seen = result->races_seen && j->result.races_seen;
        if (j->result.failed) {
            *result = j->result;
        }
        result->runs = runs;
        result->steps = steps;
        result->races_seen = races_seen;
        if (result->failed) {
            return true; /* the rest was dismissed */
        }
    }
    return true;
}

bool weir__simulate_jobs(const weir_sim_scenario *scenario, const weir_sim_options *options,
                         uint32_t jobs, weir_sim_result *result)
{
    weir_status status;
    weir_sim_options o = *options;
    if (jobs <= 1) {
        if (explore(scenario, &o, result, &status)) {
            return true;
        }
        const char *why = status == WEIR_E_INVALID && o.schedule != NULL ? "that is not a schedule"
                          : status == WEIR_E_SYSTEM && o.trace != NULL
                              ? "the trace cannot be written"
                              : weir_status_text(status);
        fprintf(stderr, "%s: %s\n", scenario->name, why);
        return false;
    }
    o.runs = o.runs != 0 ? o.runs : RUNS_DEFAULT;
    crew c = { .count = o.runs < jobs ? (uint32_t)o.runs : jobs };
    const size_t size = c.count * sizeof(*c.jobs);
    c.jobs = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (c.jobs == MAP_FAILED) {
        fprintf(stderr, "no memory for %u processes\n", c.count);
        return false;
    }
    const bool hired = hire(&c, scenario, &o);
    if (!hired) {
        dismiss(&c, 0);
    }
    collect(&c);
    const bool good = hired && add_up(&c, result);
    munmap(c.jobs, size);
    return good;
}
