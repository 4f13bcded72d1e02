/*
 * sync/sim/step.c - simulated threads: steps, waits, wake-ups, the end of a run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>

#include "sync/sim/core.h"
#include "sync/sim/switch.h"

#define WAIT_NS WEIR_US   /* what passes while the only runnable thread spins */
#define STACK_FENCE 4096u /* at the far end of every stack */

weir__sim_run weir__sim;
weir__sim_counts weir__sim_counted;
uint64_t weir__sim_lights;
char *weir__sim_stacks;
void (*weir__sim_run_elsewhere)(void (*run)(void *), void *argument);
void (*weir__sim_locals)(weir__sim_thread *from, weir__sim_thread *to);

static void go_to(weir__sim_thread *next)
{
    weir__sim_thread *self = weir__sim.current;
    if (weir__sim.invariant != NULL) {
        weir__sim.decide_at = 0; /* it is looked at after every step, also of who was waiting */
    }
    if (next == self) {
        return;
    }
    if (weir__sim.tracing) {
        weir__sim_trace("switch", next->site, NULL, next->index);
    }
    if (weir__sim_locals != NULL) {
        weir__sim_locals(self, next);
    }
    weir__sim.current = next;
    self->since = next->since = weir__sim.steps;
    weir__sim_watch();
    weir__sim_switch(&self->saved, next->saved);
}

void weir__sim_go_to(weir__sim_thread *next)
{
    go_to(next);
}

_Noreturn static void end_run(void)
{
    void *nowhere;
    weir__sim.current = NULL;
    weir__sim_watch();
    weir__sim_switch(&nowhere, weir__sim.host);
    __builtin_unreachable();
}

void weir__sim_fail(const char *format, ...)
{
    va_list arguments;
    WEIR_ASSERT(weir__sim.current != NULL); /* a failure outside a run has nowhere to go */
    if (!weir__sim.failed) {
        va_start(arguments, format);
        vsnprintf(weir__sim.why, sizeof(weir__sim.why), format, arguments);
        va_end(arguments);
        weir__sim.failed = true;
    }
    end_run();
}

/* Sleepers whose time has come. */
static void expire(void)
{
    for (uint32_t i = 0; i < weir__sim.thread_count && weir__sim.sleepers > 0; i++) {
        weir__sim_thread *thread = &weir__sim.threads[i];
        if (thread->state == WEIR__SIM_WAITING && thread->deadline <= weir__sim.now) {
            thread->state = WEIR__SIM_RUNNABLE;
            thread->since = weir__sim.steps;
            thread->timed_out = true;
        }
    }
}

static void check_invariant(void)
{
    weir__sim.checking = true;
    weir__sim_watch();
    weir__sim.invariant(weir__sim.invariant_argument);
    weir__sim.checking = false;
    weir__sim_watch();
    weir__sim.decide_at = 0;
}

void weir__sim_step_slow(void)
{
    weir__sim_thread *self = weir__sim.current;
    if (weir__sim.steps > weir__sim.steps_max) {
        weir__sim_fail("no end: more than %llu steps (a livelock, or steps_max is too small)",
                       (unsigned long long)weir__sim.steps_max);
    }
    if (weir__sim.timed) {
        weir__sim.decide_at = weir__sim.steps_max; /* it decides elsewhere: weir__sim_touch */
        return;
    }
    expire();
    go_to(weir__sim_decide_switch(self, false));
    if (weir__sim.invariant != NULL) {
        check_invariant();
    }
}

static bool somebody_can_run(void)
{
    for (uint32_t i = 0; i < weir__sim.thread_count; i++) {
        if (weir__sim_can_run(&weir__sim.threads[i])) {
            return true;
        }
    }
    return false;
}

/* Nobody can run: the end of a stall, or the next deadline. False: neither exists. */
static bool pass_time(void)
{
    weir__sim_thread *stalled = NULL;
    weir__sim_thread *next = NULL;
    for (uint32_t i = 0; i < weir__sim.thread_count; i++) {
        weir__sim_thread *thread = &weir__sim.threads[i];
        if (thread->state == WEIR__SIM_RUNNABLE &&
            (stalled == NULL || thread->stalled_until < stalled->stalled_until)) {
            stalled = thread;
        }
        if (thread->state == WEIR__SIM_WAITING && thread->deadline != WEIR_FOREVER &&
            (next == NULL || thread->deadline < next->deadline)) {
            next = thread;
        }
    }
    if (stalled != NULL) {
        stalled->stalled_until = 0;
        return true;
    }
    if (next != NULL) {
        weir__sim.now = next->deadline;
        expire();
        return true;
    }
    return false;
}

_Noreturn static void fail_stuck(void)
{
    char text[400];
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < weir__sim.thread_count && used < sizeof(text); i++) {
        const weir__sim_thread *thread = &weir__sim.threads[i];
        char site[120];
        if (thread->state != WEIR__SIM_WAITING && thread->state != WEIR__SIM_JOINING) {
            continue;
        }
        weir__sim_site_text(thread->site, site, sizeof(site));
        const int length = snprintf(text + used, sizeof(text) - used, "; thread %u %s at %s", i,
                                    thread->state == WEIR__SIM_JOINING ? "joins" : "waits", site);
        used += length > 0 ? (size_t)length : 0;
    }
    weir__sim_fail("everybody waits (a lost wake-up or a deadlock)%s", text);
}

/* The current thread cannot go on, or does not want to. Returns when it runs again. */
static void let_others_run(bool yielding)
{
    weir__sim_thread *self = weir__sim.current;
    self->steps++; /* a decision of its own, apart from the step that led here */
    if (weir__sim.timed) {
        weir__sim_thread *next = weir__scale_next();
        if (next == NULL) {
            fail_stuck();
        }
        go_to(next);
        return;
    }
    expire();
    while (!somebody_can_run()) {
        if (!pass_time()) {
            fail_stuck();
        }
    }
    go_to(weir__sim_decide_switch(self, yielding));
}

void weir__sim_give_way(const weir__sim_site *site)
{
    weir__sim_thread *self = weir__sim.current;
    if (self == NULL || weir__sim.checking) {
        return;
    }
    self->site = site;
    self->steps++;
    if (++weir__sim.steps > weir__sim.steps_max) {
        weir__sim_step_slow();
    }
    weir__sim.now += WAIT_NS;
    if (self->buffered > 0) {
        weir__sim_flush_one(self); /* no store stays in flight for ever while its thread spins */
    }
    let_others_run(true);
}

bool weir__sim_sleep_on(const void *word, weir_ns timeout)
{
    weir__sim_thread *self = weir__sim.current;
    WEIR_ASSERT(!weir__sim.checking);
    weir__sim_flush(self); /* a system call */
    self->state = WEIR__SIM_WAITING;
    self->word = word;
    self->timed_out = false;
    self->deadline =
        timeout >= WEIR_FOREVER - weir__sim_time() ? WEIR_FOREVER : weir__sim_time() + timeout;
    const uint32_t sleeps = self->deadline != WEIR_FOREVER ? 1 : 0;
    weir__sim.sleepers += sleeps;
    let_others_run(true);
    weir__sim.sleepers -= sleeps;
    self->word = NULL;
    self->fresh_since = weir__sim.steps; /* no old value outlives a sleep */
    return !self->timed_out;
}

void weir__sim_wake(const void *word, uint32_t count)
{
    /* Any of the sleepers may be the one: a futex promises no order. */
    while (count > 0) {
        weir__sim_thread *sleepers[WEIR__SIM_THREADS_MAX];
        uint32_t found = 0;
        for (uint32_t i = 0; i < weir__sim.thread_count; i++) {
            weir__sim_thread *thread = &weir__sim.threads[i];
            if (thread->state == WEIR__SIM_WAITING && thread->word == word) {
                sleepers[found++] = thread;
            }
        }
        if (found == 0) {
            return;
        }
        weir__sim_thread *woken = sleepers[found > count ? weir__sim_decide_choice(found) : 0];
        woken->state = WEIR__SIM_RUNNABLE;
        weir__sim_woken(woken);
        woken->since = weir__sim.steps;
        weir__sim.decide_at = 0;
        count--;
    }
}

_Noreturn static void thread_over(weir__sim_thread *self)
{
    weir__sim_flush(self);
    self->state = WEIR__SIM_OVER;
    weir__sim.alive--;
    for (uint32_t i = 0; i < weir__sim.thread_count; i++) {
        weir__sim_thread *thread = &weir__sim.threads[i];
        if (thread->state == WEIR__SIM_JOINING && thread->joins == self->index) {
            thread->state = WEIR__SIM_RUNNABLE;
            weir__sim_woken(thread);
            thread->since = weir__sim.steps;
        }
    }
    if (weir__sim.alive == 0) {
        end_run();
    }
    let_others_run(true);
    WEIR_ASSERT(!"a thread that is over goes on");
    __builtin_unreachable();
}

void weir__sim_thread_exit(void)
{
    weir__sim_thread_ends(weir__sim.current);
    thread_over(weir__sim.current);
}

static void entry(void)
{
    weir__sim.current->run(weir__sim.current->argument);
    if (weir__sim.current->index == 0) {
        weir__sim.invariant = NULL; /* what it looks at may have been the body's */
    }
    weir__sim_thread_exit();
}

/* The stack of a slot; its last page is out of bounds, so that an overflow is a crash with a name.
 */
static char *stack_of(uint32_t index)
{
    static uint32_t fenced;
    if (weir__sim_stacks == NULL) {
        weir__sim_stacks = mmap(NULL, WEIR__SIM_STACKS_BYTES, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        WEIR_ASSERT(weir__sim_stacks != MAP_FAILED);
    }
    for (; fenced <= index; fenced++) {
        mprotect(weir__sim_stacks + (size_t)fenced * WEIR__SIM_STACK_BYTES, STACK_FENCE, PROT_NONE);
    }
    return weir__sim_stacks + (size_t)index * WEIR__SIM_STACK_BYTES;
}

int weir__sim_spawn(void (*run)(void *), void *argument)
{
    static uint64_t born;
    uint32_t index = 0;
    while (index < weir__sim.thread_count && weir__sim.threads[index].state != WEIR__SIM_FREE) {
        index++;
    }
    if (index == WEIR__SIM_THREADS_MAX) {
        return -1;
    }
    weir__sim_thread *thread = &weir__sim.threads[index];
    const bool again = index < weir__sim.thread_count;
    const uint32_t before = again && index < WEIR__SIM_CLOCKS ? thread->clock.at[index] : 0;
    const uint64_t steps =
        again ? thread->steps : 0; /* a schedule names a step by slot and number */
    memset(thread, 0, offsetof(weir__sim_thread, buffer));
    thread->steps = steps;
    thread->index = index;
    thread->born = ++born;
    thread->stack = stack_of(index);
    thread->saved = weir__sim_stack_make(thread->stack, WEIR__SIM_STACK_BYTES, entry);
    thread->run = run;
    thread->argument = argument;
    thread->deadline = WEIR_FOREVER;
    thread->state = WEIR__SIM_RUNNABLE;
    thread->since = weir__sim.steps;
    thread->priority = WEIR__SIM_PRIORITY + (uint32_t)(weir__sim_random() >> 40);
    weir__sim.thread_count = again ? weir__sim.thread_count : index + 1;
    weir__sim.alive++;
    weir__sim.company++;
    if (index >= WEIR__SIM_CLOCKS) {
        weir__sim.racing = false; /* more threads than it can tell apart: said in the result */
    } else {
        thread->clocked = true;
        thread->clock.at[index] = before + 1;
    }
    if (weir__sim.current != NULL) {
        weir__sim_edge(weir__sim.current, thread);
    }
    weir__sim_woken(thread);
    weir__sim_watch();
    weir__sim.decide_at = 0;
    return (int)index;
}

void weir__sim_join(uint32_t index)
{
    weir__sim_thread *self = weir__sim.current;
    weir__sim_thread *other = &weir__sim.threads[index];
    WEIR_ASSERT(other->state != WEIR__SIM_FREE);
    if (other->state != WEIR__SIM_OVER) {
        self->state = WEIR__SIM_JOINING;
        self->joins = index;
        let_others_run(true);
    }
    weir__sim_edge(other, self);
    other->state = WEIR__SIM_FREE;
    weir__sim.company--;
    weir__sim_watch();
}

void weir__sim_run_to_end(void (*run)(void *), void *argument)
{
    if (weir__sim_run_elsewhere != NULL) {
        weir__sim_run_elsewhere(run, argument);
        return;
    }
    weir__sim.current = NULL;
    weir__sim.steps = 0;
    weir__sim.decide_at = 0;
    weir__sim.now = WEIR__SIM_BEGIN;
    weir__sim.number++;
    weir__sim.thread_count = 0;
    weir__sim.alive = 0;
    weir__sim.company = 0;
    weir__sim.sleepers = 0;
    weir__sim.invariant = NULL;
    weir__sim.checking = false;
    weir__sim.quiet = false;
    weir__sim.failed = false;
    weir__sim.why[0] = '\0';
    weir__sim.racing = (weir__sim.faults & WEIR_SIM_RACES) != 0;
    weir__sim.stale = weir__sim.racing && (weir__sim.faults & WEIR_SIM_STALE_READS) != 0;
    weir__sim_memory_reset();
    weir__sim_process_wide_restore();
    weir__sim_thread_reset();
    weir__sim_stale_reset();
    if (weir__sim_locals != NULL) {
        weir__sim_locals(NULL, &weir__sim.threads[0]);
    }
    weir__sim_spawn(run, argument);
    weir__sim.current = &weir__sim.threads[0];
    weir__sim_watch();
    weir__sim_switch(&weir__sim.host, weir__sim.current->saved);
}
