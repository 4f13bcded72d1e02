/*
 * sync/sim/explore.c - one run after the other, and what is told about the one that failed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "sync/sim/core.h"
#include "sync/sim/shrink.h"

#define RUNS_DEFAULT 1000u
#define STEPS_DEFAULT 1000000u
#define CORES_DEFAULT 2u
#define SIGNAL_STACK ((size_t)64 << 10)

static const int fatal[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
#define FATAL_COUNT (sizeof(fatal) / sizeof(fatal[0]))

/* A handler that crashes fails its run like any other mistake. Outside a run: as without us. */
static void on_fatal(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (weir__sim.current == NULL) {
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    char where[160];
    const char *engines = weir__sim_crash_text(number, (uintptr_t)info->si_addr);
    weir__sim_site_text(weir__sim.current->site, where, sizeof(where));
    if (engines != NULL) {
        weir__sim_fail("%s; thread %u, whose last step was %s", engines, weir__sim.current->index,
                       where);
    }
    weir__sim_fail("%s: address %p; thread %u, whose last step was %s", strsignal(number),
                   info->si_addr, weir__sim.current->index, where);
}

static void catch_fatal(struct sigaction before[])
{
    static char memory[SIGNAL_STACK];
    const stack_t stack = { .ss_sp = memory, .ss_size = sizeof(memory) };
    struct sigaction action = { .sa_sigaction = on_fatal,
                                .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };
    sigaltstack(&stack, NULL);
    for (size_t i = 0; i < FATAL_COUNT; i++) {
        sigaction(fatal[i], &action, &before[i]);
    }
}

static void release_fatal(const struct sigaction before[])
{
    for (size_t i = 0; i < FATAL_COUNT; i++) {
        sigaction(fatal[i], &before[i], NULL);
    }
}

static weir_ns real_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (weir_ns)now.tv_sec * WEIR_S + now.tv_nsec;
}

static weir_status read_options(weir_sim_options *o, const weir_sim_options *given)
{
    const weir_status status = weir__options_read(o, sizeof(*o), given);
    if (status != WEIR_OK) {
        return status;
    }
    if (o->strategy > WEIR_SIM_REPLAY || (o->strategy == WEIR_SIM_REPLAY && o->schedule == NULL)) {
        return WEIR_E_INVALID;
    }
    o->seed = o->seed != 0 ? o->seed : 1;
    if (o->runs == 0) {
        o->runs = o->strategy == WEIR_SIM_EXHAUSTIVE ? UINT64_MAX : RUNS_DEFAULT;
    }
    o->runs = o->strategy == WEIR_SIM_REPLAY ? 1 : o->runs;
    if (o->depth == 0) {
        o->depth = o->strategy == WEIR_SIM_EXHAUSTIVE ? 2 : 3;
    }
    o->faults = o->faults == 0 ? WEIR_SIM_DEFAULT_FAULTS : o->faults;
    if ((o->faults & WEIR_SIM_STALE_READS) != 0) {
        o->faults |= WEIR_SIM_RACES; /* the same clocks say what may be old */
    }
    o->steps_max = o->steps_max != 0 ? o->steps_max : STEPS_DEFAULT;
    o->cores = o->cores != 0 ? o->cores : CORES_DEFAULT;
    o->name = o->name != NULL ? o->name : "weir sim PROGRAM";
    return WEIR_OK;
}

/* Whatever else a run depends on, as far as it is not the default. */
static void say_options(const weir_sim_options *o, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    if (o->faults != WEIR_SIM_DEFAULT_FAULTS) {
        used += (size_t)snprintf(out, size, " --faults %u", o->faults);
    }
    if (o->cores != CORES_DEFAULT) {
        used += (size_t)snprintf(out + used, size - used, " --cores %u", o->cores);
    }
    if (o->steps_max != STEPS_DEFAULT) {
        snprintf(out + used, size - used, " --steps-max %llu", (unsigned long long)o->steps_max);
    }
}

static void say_replay(const weir_sim_options *o, weir_sim_result *result)
{
    char options[96];
    char *out = result->replay;
    const size_t size = sizeof(result->replay);
    const unsigned long long seed = result->seed;
    const bool whole = result->schedule[0] != '\0'; /* else none, or too many for a line */
    say_options(o, options, sizeof(options));
    if (whole && (o->shrink || o->strategy >= WEIR_SIM_EXHAUSTIVE)) {
        snprintf(out, size, "%s%s --schedule '%s'", o->name, options, result->schedule);
    } else if (o->strategy == WEIR_SIM_REPLAY) {
        snprintf(out, size, "%s%s --schedule '%s'", o->name, options, o->schedule);
    } else if (o->strategy == WEIR_SIM_EXHAUSTIVE) {
        snprintf(out, size, "%s --strategy exhaustive --depth %u%s", o->name, o->depth, options);
    } else if (o->strategy == WEIR_SIM_PCT) {
        snprintf(out, size, "%s --strategy pct --depth %u --seed %llu --runs 1%s", o->name,
                 o->depth, seed, options);
    } else {
        snprintf(out, size, "%s --seed %llu --runs 1%s", o->name, seed, options);
    }
}

static void explain(const weir_sim_options *o, const weir__sim_plan *plan, void (*body)(void *),
                    void *argument, weir_sim_result *result)
{
    uint32_t count;
    result->failed = true;
    result->seed = plan->seed;
    snprintf(result->why, sizeof(result->why), "%s", weir__sim.why);
    const weir__sim_decision *made = weir__sim_decisions(&count);
    weir__sim_schedule_print(made, count, result->schedule, sizeof(result->schedule));
    result->preemptions = weir__sim_preemptions();
    if (o->shrink) {
        weir__sim_shrink(plan, made, count, body, argument, result);
    }
    say_replay(o, result);
}

static void explore(const weir_sim_options *o, weir__sim_plan *plan, void (*body)(void *),
                    void *argument, weir_sim_result *result)
{
    const weir_ns end = o->time_max > 0 ? real_time() + o->time_max : WEIR_FOREVER;
    result->races_seen = (o->faults & WEIR_SIM_RACES) != 0;
    while (result->runs < o->runs) {
        weir__sim_decide_begin(plan);
        weir__sim_run_to_end(body, argument);
        result->runs++;
        result->steps += weir__sim.steps;
        result->races_seen = result->races_seen && weir__sim.racing;
        if (weir__sim.failed) {
            explain(o, plan, body, argument, result);
            return;
        }
        if (o->strategy == WEIR_SIM_EXHAUSTIVE && !weir__sim_decide_next()) {
            result->complete = true;
            return;
        }
        plan->seed += o->strategy == WEIR_SIM_EXHAUSTIVE ? 0 : 1;
        if (end != WEIR_FOREVER && result->runs % 16 == 0 && real_time() > end) {
            return;
        }
    }
}

weir_status weir_sim_explore(const weir_sim_options *options, void (*body)(void *argument),
                             void *argument, weir_sim_result *result)
{
    weir_sim_options o = { 0 };
    weir_sim_result found = { 0 };
    struct sigaction before[FATAL_COUNT];
    weir__sim_decision *schedule = NULL;
    const weir_status status = read_options(&o, options);
    if (status != WEIR_OK || body == NULL || result == NULL || weir__sim.current != NULL) {
        return status != WEIR_OK ? status : WEIR_E_INVALID;
    }
    weir__sim_plan plan = {
        .strategy = o.strategy, .seed = o.seed, .depth = o.depth, .faults = o.faults
    };
    if (o.strategy == WEIR_SIM_REPLAY &&
        !weir__sim_schedule_parse(o.schedule, &schedule, &plan.schedule_length)) {
        return WEIR_E_INVALID;
    }
    plan.schedule = schedule;
    weir__sim.faults = o.faults;
    weir__sim.steps_max = o.steps_max;
    weir__sim.cores = o.cores;
    weir__sim_decide_forget();
    if (!weir__sim_trace_open(o.trace)) {
        free(schedule);
        return WEIR_E_SYSTEM;
    }
    catch_fatal(before);
    explore(&o, &plan, body, argument, &found);
    release_fatal(before);
    weir__sim_trace_close();
    free(schedule);
    return weir__struct_fill(result, &found, sizeof(found));
}

/* ---- inside a body ---- */

static const weir__sim_site body_site = { "weir/sim.h", 0, "a step of the body" };

void weir_sim_fail(const char *format, ...)
{
    char text[sizeof(weir__sim.why)];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (weir__sim.current == NULL) {
        fprintf(stderr, "weir sim: %s\n", text);
        abort();
    }
    weir__sim_fail("%s", text);
}

void weir_sim_always(void (*invariant)(void *argument), void *argument)
{
    weir__sim.invariant = invariant;
    weir__sim.invariant_argument = argument;
    weir__sim.decide_at = 0;
}

int weir_sim_thread_start(void (*run)(void *argument), void *argument)
{
    if (weir__sim.current == NULL || run == NULL) {
        return -1;
    }
    weir__sim_step(&body_site);
    weir__sim_flush(weir__sim.current);
    return weir__sim_spawn(run, argument);
}

void weir_sim_thread_join(int thread)
{
    if (weir__sim.current != NULL && thread >= 0 && (uint32_t)thread < weir__sim.thread_count &&
        weir__sim.threads[thread].state != WEIR__SIM_FREE) {
        weir__sim_step(&body_site);
        weir__sim_flush(weir__sim.current);
        weir__sim_join((uint32_t)thread);
    }
}

int weir_sim_thread_self(void)
{
    return weir__sim.current != NULL ? (int)weir__sim.current->index : -1;
}

void weir_sim_step(void)
{
    weir__sim_step(&body_site);
}

void weir_sim_quiet(bool quiet)
{
    weir__sim.quiet = quiet;
    weir__sim.decide_at = 0;
}

uint32_t weir_sim_choose(uint32_t count)
{
    return weir__sim.current != NULL ? weir__sim_decide_choice(count) : 0;
}

weir_ns weir_sim_now(void)
{
    return weir__sim_time() - WEIR__SIM_BEGIN;
}

void weir_sim_work(weir_ns span)
{
    if (weir__sim.current == NULL || span <= 0) {
        return;
    }
    if (weir__sim.timed) {
        weir__scale_work(span);
        return;
    }
    weir__sim.now += span;
    weir__sim.decide_at = 0;
    weir__sim_step(&body_site);
}

void weir_sim_sleep(weir_ns span)
{
    if (weir__sim.current != NULL && span > 0) {
        weir__sim_step(&body_site);
        weir__sim_flush(weir__sim.current);
        weir__sim_sleep_on(NULL, span);
    }
}

void weir_sim_note(const char *format, ...)
{
    if (!weir__sim.tracing) {
        return;
    }
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    weir__sim_trace_text(text);
}

void weir__assert_fail(const char *expression, const char *file, int line)
{
    if (weir__sim.current == NULL) {
        fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, expression);
        abort();
    }
    weir__sim_fail("assertion failed: %s (%s:%d)", expression, file, line);
}
