/*
 * engine/idle.c - the idle strategies, by name and by step.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/idle.h"

#include <string.h>

#include "base/assert.h"

#define YIELDS_MAX 2u
#define MEAN_WEIGHT 8 /* the mean follows a change within about eight arrivals */

static const struct {
    weir_idle idle;
    const char *name;
} names[] = {
    { WEIR_IDLE_BACKOFF, "backoff" },     { WEIR_IDLE_PARK, "park" },
    { WEIR_IDLE_SLEEP, "sleep" },         { WEIR_IDLE_YIELD, "yield" },
    { WEIR_IDLE_BUSY_SPIN, "busy-spin" }, { WEIR_IDLE_NOOP, "noop" },
};

weir_idle weir_idle_find(const char *name)
{
    for (size_t i = 0; name != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i].name, name) == 0) {
            return names[i].idle;
        }
    }
    return WEIR_IDLE_DEFAULT;
}

const char *weir_idle_name(weir_idle idle)
{
    const weir_idle wanted = idle == WEIR_IDLE_DEFAULT ? WEIR_IDLE_BACKOFF : idle;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i].idle == wanted) {
            return names[i].name;
        }
    }
    return NULL;
}

void weir__idle_open(weir__idle *idle, weir_idle strategy, weir_ns spin_max, weir_ns sleep)
{
    *idle = (weir__idle){ .strategy = strategy == WEIR_IDLE_DEFAULT ? WEIR_IDLE_BACKOFF : strategy,
                          .spin_max = spin_max,
                          .sleep = sleep,
                          .arrival_mean = spin_max };
}

/* Twice the mean, within the bound: long enough for most arrivals. Beyond it spinning is a bet
 * against the odds, so not at all. */
static weir_ns spin_span(const weir__idle *idle)
{
    if (idle->arrival_mean > idle->spin_max) {
        return 0;
    }
    const weir_ns span = 2 * idle->arrival_mean;
    return span < idle->spin_max ? span : idle->spin_max;
}

static weir__idle_step backoff_step(weir__idle *idle, weir_ns (*now)(void))
{
    if (idle->began == 0) {
        const weir_ns span = spin_span(idle);
        idle->began = now();
        idle->spin_until = idle->began + span;
        /* A yield is the end of a spin. Where none is worth it, it would only cost: the scheduler
         * takes it for a sign that the thread is in no hurry, also when it is woken later. */
        idle->yields = span > 0 ? 0 : YIELDS_MAX;
    }
    if (idle->spin_until != 0) {
        if (now() < idle->spin_until) {
            return WEIR__IDLE_PAUSE;
        }
        idle->spin_until = 0;
    }
    return idle->yields++ < YIELDS_MAX ? WEIR__IDLE_GIVE : WEIR__IDLE_REST;
}

weir__idle_step weir__idle_step_next(weir__idle *idle, weir_ns (*now)(void))
{
    switch (idle->strategy) {
    case WEIR_IDLE_PARK:
        return WEIR__IDLE_REST;
    case WEIR_IDLE_SLEEP:
        return WEIR__IDLE_NAP;
    case WEIR_IDLE_YIELD:
        return WEIR__IDLE_GIVE;
    case WEIR_IDLE_BUSY_SPIN:
        return WEIR__IDLE_SPIN;
    case WEIR_IDLE_NOOP:
        return WEIR__IDLE_AGAIN;
    case WEIR_IDLE_DEFAULT:
    case WEIR_IDLE_BACKOFF:
    default:
        return backoff_step(idle, now);
    }
}

WEIR__WARM void weir__idle_work(weir__idle *idle, weir_ns now)
{
    if (idle->began == 0) {
        return;
    }
    /* One long silence must not teach us for ever that nothing comes: it counts as twice the
     * bound, so a few quick arrivals bring the spin back. */
    weir_ns waited = now - idle->began;
    if (waited > 2 * idle->spin_max) {
        waited = 2 * idle->spin_max;
    }
    idle->arrival_mean += (waited - idle->arrival_mean) / MEAN_WEIGHT;
    idle->began = 0;
}
