/*
 * sync/sim/decide.c - the strategies: who runs next, which store becomes visible, what goes wrong.
 *
 * Whatever a strategy decides other than "go on" is logged as (thread, its step, what, how). The
 * log is the whole truth of a run: replaying it gives the same run, and leaving parts of it out
 * gives runs that differ a little, which is how a failure is made shorter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sync/sim/core.h"

#define LOG_MAX (1u << 20)
#define CHANGES_MAX 16u
#define HOG_STEPS 2000u        /* so many in a row, and the others get a turn ... */
#define HOG_STEPS_QUIET 50000u /* ... also where nobody is to be interrupted */
#define STARVED_STEPS 5000u    /* so long not chosen, and it is its turn */

typedef struct branch {
    uint8_t taken, count;
} branch;

static weir__sim_plan plan;
static uint64_t random_state;
static uint32_t gap_mask; /* random: steps between two switches, at most this plus one */

static weir__sim_decision *decisions;
static uint32_t decision_count, preemptions;

static uint64_t starved_look; /* the step from which on to look for somebody starved */

static branch *branches; /* exhaustive: the path that is being tried */
static uint32_t branch_count, branch_at;

static uint64_t change_at[CHANGES_MAX]; /* PCT */
static uint32_t changes_done;
static uint32_t lowest; /* priority given so far */

uint64_t weir__sim_random(void)
{
    random_state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = random_state;
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static uint32_t below(uint32_t count)
{
    return (uint32_t)(((weir__sim_random() >> 32) * count) >> 32);
}

static void note(char what, uint64_t value)
{
    const weir__sim_thread *self = weir__sim.current;
    if (self != NULL && decision_count < LOG_MAX) {
        decisions[decision_count++] = (weir__sim_decision){ self->index, what, self->steps, value };
    }
}

const weir__sim_decision *weir__sim_decisions(uint32_t *count)
{
    *count = decision_count;
    return decisions;
}

uint32_t weir__sim_preemptions(void)
{
    return preemptions;
}

/* Shared with the processes that make this process's runs (weir__sim_run_elsewhere). */
static void *table(size_t size)
{
    void *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    WEIR_ASSERT(memory != MAP_FAILED);
    return memory;
}

void weir__sim_decide_begin(const weir__sim_plan *wanted)
{
    plan = *wanted;
    if (decisions == NULL) {
        decisions = table(LOG_MAX * sizeof(*decisions));
        branches = table(LOG_MAX * sizeof(*branches));
    }
    random_state = plan.seed * UINT64_C(0xd1342543de82ef95) + 7;
    decision_count = 0;
    preemptions = 0;
    branch_at = 0;
    gap_mask = (2u << below(6)) - 1;
    changes_done = 0;
    lowest = WEIR__SIM_PRIORITY;
    starved_look = STARVED_STEPS;
    /* How long a run is depends on what is run; a guess that belongs to the seed can be replayed.
     * */
    const uint32_t length = 32u << below(8);
    for (uint32_t i = 0; i < CHANGES_MAX; i++) {
        change_at[i] = below(length);
    }
}

void weir__sim_decide_forget(void)
{
    static pid_t owner;
    branch_count = 0;
    if (owner != getpid()) { /* after a fork the tables are still the parent's */
        owner = getpid();
        decisions = NULL;
    }
}

weir__sim_decided weir__sim_decided_get(void)
{
    return (weir__sim_decided){ decision_count, preemptions, branch_count, branch_at };
}

void weir__sim_decided_set(weir__sim_decided decided)
{
    decision_count = decided.decisions;
    preemptions = decided.preemptions;
    branch_count = decided.branches;
    branch_at = decided.branch_at;
}

/* ---- replay ---- */

static bool recorded(char what, uint64_t *value, uint32_t nth)
{
    const weir__sim_thread *self = weir__sim.current;
    for (uint32_t i = 0; i < plan.schedule_length; i++) {
        const weir__sim_decision *d = &plan.schedule[i];
        if (d->what == what && self != NULL && d->thread == self->index && d->step == self->steps &&
            nth-- == 0) {
            *value = d->value;
            return true;
        }
    }
    return false;
}

/* Without a decision: the same thread; if it cannot, or yields, the next in a circle. */
static weir__sim_thread *usual_next(weir__sim_thread *self, bool yielding)
{
    if (!yielding && weir__sim_can_run(self)) {
        return self;
    }
    for (uint32_t i = 1; i <= weir__sim.thread_count; i++) {
        weir__sim_thread *next = &weir__sim.threads[(self->index + i) % weir__sim.thread_count];
        if (weir__sim_can_run(next)) {
            return next;
        }
    }
    return self;
}

static weir__sim_thread *replay_switch(weir__sim_thread *self, bool yielding)
{
    uint64_t value;
    weir__sim.decide_at = 0;
    for (uint32_t n = 0; recorded('f', &value, n); n++) {
        if (value < weir__sim.thread_count && weir__sim.threads[value].buffered > 0) {
            note('f', value);
            weir__sim_flush_one(&weir__sim.threads[value]);
        }
    }
    if (recorded('j', &value, 0)) {
        note('j', value);
        weir__sim.now += (weir_ns)value;
    }
    if (recorded('t', &value, 0)) {
        note('t', value);
        self->stalled_until = weir__sim.steps + value;
    }
    weir__sim_thread *usual = usual_next(self, yielding);
    if (recorded('s', &value, 0) && value < weir__sim.thread_count &&
        weir__sim_can_run(&weir__sim.threads[value])) {
        if (value != usual->index) {
            note('s', value);
        }
        preemptions += value != self->index && !yielding && weir__sim_can_run(self);
        return &weir__sim.threads[value];
    }
    return usual;
}

/* ---- random, PCT ---- */

static void flush_some(void)
{
    for (uint32_t i = 0; i < weir__sim.thread_count; i++) {
        while (weir__sim.threads[i].buffered > 0 && below(4) == 0) {
            note('f', i);
            weir__sim_flush_one(&weir__sim.threads[i]);
        }
    }
}

static void jump(void)
{
    weir_ns span = (weir_ns)below(1000000) * 1000;
    for (uint32_t i = 0; i < weir__sim.thread_count; i++) {
        const weir__sim_thread *thread = &weir__sim.threads[i];
        if (thread->state == WEIR__SIM_WAITING && thread->deadline != WEIR_FOREVER &&
            thread->deadline > weir__sim.now) {
            span = thread->deadline - weir__sim.now;
            break;
        }
    }
    note('j', (uint64_t)span);
    weir__sim.now += span;
}

/* `chance` is for this decision alone: its bits are used once each. */
static void disturb(weir__sim_thread *self, uint64_t chance)
{
    if ((weir__sim.faults & WEIR_SIM_STORE_BUFFERS) != 0) {
        flush_some();
    }
    if ((weir__sim.faults & WEIR_SIM_STALLS) != 0 && (chance >> 8 & 127) == 0) {
        const uint64_t span = UINT64_C(16) << below(8);
        note('t', span);
        self->stalled_until = weir__sim.steps + span;
    }
    if ((weir__sim.faults & WEIR_SIM_TIME_JUMPS) != 0 && (chance >> 16 & 127) == 0) {
        jump();
    }
}

/* Any other that can run; self if there is none. */
static weir__sim_thread *any_other(weir__sim_thread *self, uint64_t chance)
{
    weir__sim_thread *candidates[WEIR__SIM_THREADS_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < weir__sim.thread_count; i++) {
        weir__sim_thread *thread = &weir__sim.threads[i];
        if (thread != self && weir__sim_can_run(thread)) {
            candidates[count++] = thread;
        }
    }
    return count == 0 ? self : candidates[(chance >> 32) * count >> 32];
}

static weir__sim_thread *highest(weir__sim_thread *self, bool yielding)
{
    if (yielding) {
        self->priority = --lowest; /* behind all others, or two that spin would starve a third */
    }
    if (changes_done < plan.depth && changes_done < CHANGES_MAX) {
        for (uint32_t i = changes_done; i < plan.depth && i < CHANGES_MAX; i++) {
            if (change_at[i] <= weir__sim.steps) {
                change_at[i] = change_at[changes_done++];
                self->priority = --lowest;
            }
        }
    }
    weir__sim_thread *best = NULL;
    for (uint32_t i = 0; i < weir__sim.thread_count; i++) {
        weir__sim_thread *thread = &weir__sim.threads[i];
        if (weir__sim_can_run(thread) && (best == NULL || thread->priority > best->priority)) {
            best = thread;
        }
    }
    return best != NULL ? best : self;
}

/* Nobody to switch to, and nobody who could see a store: until a thread is made, which asks. Leaps
 * of the clock concern a lonely thread, too. */
static bool is_alone(const weir__sim_thread *self)
{
    return weir__sim.alive == 1 && weir__sim_can_run(self) &&
           (weir__sim.faults & WEIR_SIM_TIME_JUMPS) == 0;
}

static weir__sim_thread *random_switch(weir__sim_thread *self, bool yielding)
{
    if (is_alone(self)) {
        weir__sim.decide_at = UINT64_MAX;
        return self;
    }
    const uint64_t chance = weir__sim_random();
    disturb(self, chance);
    weir__sim.decide_at = weir__sim.steps + 1 + (chance & gap_mask);
    weir__sim_thread *next =
        plan.strategy == WEIR_SIM_PCT ? highest(self, yielding) : any_other(self, chance);
    if (next != usual_next(self, yielding)) {
        note('s', next->index);
        preemptions += !yielding && weir__sim_can_run(self);
    }
    return next;
}

/* ---- exhaustive ---- */

static uint32_t branch_off(uint32_t count)
{
    if (count <= 1) {
        return 0;
    }
    WEIR_ASSERT(branch_at < LOG_MAX);
    if (branch_at == branch_count) {
        branches[branch_count++] = (branch){ 0, (uint8_t)(count < 255 ? count : 255) };
    }
    return branches[branch_at++].taken;
}

bool weir__sim_decide_next(void)
{
    branch_count = branch_at;
    while (branch_count > 0 &&
           branches[branch_count - 1].taken + 1 == branches[branch_count - 1].count) {
        branch_count--;
    }
    if (branch_count == 0) {
        return false;
    }
    branches[branch_count - 1].taken++;
    return true;
}

static weir__sim_thread *exhaustive_switch(weir__sim_thread *self, bool yielding)
{
    uint32_t options[2 * WEIR__SIM_THREADS_MAX]; /* a thread to run, or 256 + one to flush */
    uint32_t count = 0;
    weir__sim.decide_at = 0;
    for (;;) {
        weir__sim_thread *usual = usual_next(self, yielding);
        const bool free = yielding || !weir__sim_can_run(self);
        count = 0;
        options[count++] = usual->index;
        for (uint32_t i = 0; i < weir__sim.thread_count; i++) {
            weir__sim_thread *thread = &weir__sim.threads[i];
            if (thread != usual && (thread != self || !yielding) && weir__sim_can_run(thread) &&
                (free || preemptions < plan.depth)) {
                options[count++] = i;
            }
            if (thread->buffered > 0 && preemptions < plan.depth) {
                options[count++] = WEIR__SIM_THREADS_MAX + i;
            }
        }
        const uint32_t choice = options[branch_off(count)];
        if (choice < WEIR__SIM_THREADS_MAX) {
            if (choice != usual->index) {
                note('s', choice);
                preemptions += !free;
            }
            return &weir__sim.threads[choice];
        }
        note('f', choice - WEIR__SIM_THREADS_MAX);
        preemptions++;
        weir__sim_flush_one(&weir__sim.threads[choice - WEIR__SIM_THREADS_MAX]);
    }
}

/* ---- the doors ---- */

static void ask_at(uint64_t step)
{
    weir__sim.decide_at = step < weir__sim.decide_at ? step : weir__sim.decide_at;
}

/* Some things happen at their step, however seldom the strategy wants to be asked: a replay that is
 * asked at every step must see the same. */
static void mind_steps(const weir__sim_thread *self, const weir__sim_thread *next)
{
    for (uint32_t i = 0; i < weir__sim.thread_count && weir__sim.sleepers > 0; i++) {
        const weir__sim_thread *thread = &weir__sim.threads[i];
        if (thread->state == WEIR__SIM_WAITING && thread->deadline != WEIR_FOREVER) {
            const weir_ns left = thread->deadline - weir__sim.now;
            ask_at(weir__sim.steps + (left > 0 ? (uint64_t)left / WEIR__SIM_STEP_NS : 0));
        }
    }
    /* Everybody was stuck, and one goes on all the same: until another can. */
    for (uint32_t i = 0; i < weir__sim.thread_count && !weir__sim_can_run(next); i++) {
        const weir__sim_thread *thread = &weir__sim.threads[i];
        if (thread->state == WEIR__SIM_RUNNABLE) {
            ask_at(thread->stalled_until);
        }
    }
    const uint64_t since = next == self ? self->since : weir__sim.steps;
    ask_at(since + (weir__sim.quiet ? HOG_STEPS_QUIET : HOG_STEPS));
    if (!weir__sim.quiet) {
        ask_at(starved_look);
    }
    ask_at(weir__sim.steps_max);
}

/* Who spins without ever giving way would keep the others out for good, unless chance or a decision
 * is against it: no such schedule exists outside. */
static bool is_hog(weir__sim_thread *self)
{
    if (weir__sim.steps - self->since < (weir__sim.quiet ? HOG_STEPS_QUIET : HOG_STEPS)) {
        return false;
    }
    self->since = weir__sim.steps;
    return true;
}

/* Two threads that hand over to each other for ever keep a third out; that, too, is for chance or a
 * decision to do, and not for ever. NULL: nobody is starved. */
static weir__sim_thread *find_starved(const weir__sim_thread *self)
{
    if (weir__sim.steps < starved_look) {
        return NULL;
    }
    starved_look = weir__sim.steps + STARVED_STEPS / 4;
    for (uint32_t i = 0; i < weir__sim.thread_count; i++) {
        weir__sim_thread *thread = &weir__sim.threads[i];
        if (thread != self && weir__sim_can_run(thread) &&
            weir__sim.steps - thread->since > STARVED_STEPS) {
            return thread;
        }
    }
    return NULL;
}

weir__sim_thread *weir__sim_decide_switch(weir__sim_thread *self, bool yielding)
{
    yielding = is_hog(self) || yielding;
    weir__sim_thread *next = weir__sim.quiet ? NULL : find_starved(self);
    if (next != NULL) {
        weir__sim.decide_at = weir__sim.steps + 1;
    } else if (weir__sim.quiet) {
        weir__sim.decide_at = UINT64_MAX;
        next = usual_next(self, yielding);
    } else if (plan.strategy == WEIR_SIM_REPLAY) {
        next = replay_switch(self, yielding);
    } else if (plan.strategy == WEIR_SIM_EXHAUSTIVE) {
        next = exhaustive_switch(self, yielding);
    } else {
        next = random_switch(self, yielding);
    }
    mind_steps(self, next);
    return next;
}

bool weir__sim_decide_fault(uint32_t fault, char what, uint32_t rarity)
{
    uint64_t value;
    if ((weir__sim.faults & fault) == 0 || weir__sim.current == NULL || weir__sim.quiet) {
        return false;
    }
    bool yes = false;
    weir__sim.current->steps++; /* so that no two decisions have the same place */
    if (plan.strategy == WEIR_SIM_REPLAY) {
        yes = recorded(what, &value, 0);
    } else if (plan.strategy != WEIR_SIM_EXHAUSTIVE) {
        yes = below(rarity) == 0;
    }
    if (yes) {
        note(what, 1);
    }
    return yes;
}

uint32_t weir__sim_decide_choice(uint32_t count)
{
    uint64_t value = 0;
    if (count <= 1) {
        return 0;
    }
    if (weir__sim.current != NULL) {
        weir__sim.current->steps++;
    }
    if (plan.strategy == WEIR_SIM_REPLAY) {
        value = recorded('c', &value, 0) && value < count ? value : 0;
    } else if (plan.strategy == WEIR_SIM_EXHAUSTIVE) {
        value = branch_off(count);
    } else {
        value = below(count);
    }
    if (value != 0) {
        note('c', value);
    }
    return (uint32_t)value;
}
