/*
 * sync/sim/shrink.c - schedules as text, and shorter ones that fail, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sync/sim/shrink.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TRIES_MAX 4000u

void weir__sim_schedule_print(const weir__sim_decision *decisions, uint32_t count, char *out,
                              size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < count; i++) {
        const weir__sim_decision *d = &decisions[i];
        const int length =
            snprintf(out + used, size - used, "%s%u.%llu%c%llu", i > 0 ? "," : "", d->thread,
                     (unsigned long long)d->step, d->what, (unsigned long long)d->value);
        if (length < 0 || (size_t)length >= size - used) {
            out[0] = '\0';
            return;
        }
        used += (size_t)length;
    }
}

/* Digits and nothing else: strtoull would take spaces and signs. */
static bool parse_number(const char **text, uint64_t *out)
{
    char *end;
    if (!isdigit((unsigned char)**text)) {
        return false;
    }
    errno = 0;
    *out = strtoull(*text, &end, 10);
    *text = end;
    return errno == 0;
}

static bool parse_one(const char **text, weir__sim_decision *out)
{
    uint64_t thread;
    if (!parse_number(text, &thread) || thread >= WEIR__SIM_THREADS_MAX || *(*text)++ != '.' ||
        !parse_number(text, &out->step) || **text == '\0' || strchr("sfwtjac", **text) == NULL) {
        return false;
    }
    out->thread = (uint32_t)thread;
    out->what = *(*text)++;
    if (!parse_number(text, &out->value)) {
        return false;
    }
    if (**text == ',' && (*text)[1] != '\0') {
        (*text)++;
        return true;
    }
    return **text == '\0';
}

bool weir__sim_schedule_parse(const char *text, weir__sim_decision **out, uint32_t *count)
{
    uint32_t most = 1;
    for (const char *at = text; *at != '\0'; at++) {
        most += *at == ',' ? 1 : 0;
    }
    *count = 0;
    *out = calloc(most, sizeof(**out));
    while (*out != NULL && *text != '\0') {
        if (!parse_one(&text, &(*out)[*count])) {
            free(*out);
            *out = NULL;
            return false;
        }
        (*count)++;
    }
    return *out != NULL;
}

typedef struct search {
    weir__sim_plan plan;
    void (*body)(void *);
    void *argument;
    uint32_t tries;
    weir__sim_decision *best;
    uint32_t count;
} search;

/* Runs with these decisions; if that fails, what the run really did is the new best. */
static bool try_schedule(search *s, const weir__sim_decision *decisions, uint32_t count)
{
    s->tries++;
    s->plan.schedule = decisions;
    s->plan.schedule_length = count;
    weir__sim_decide_begin(&s->plan);
    weir__sim_run_to_end(s->body, s->argument);
    if (!weir__sim.failed) {
        return false;
    }
    uint32_t made_count;
    const weir__sim_decision *made = weir__sim_decisions(&made_count);
    if (made_count <= count) {
        memcpy(s->best, made, made_count * sizeof(*made));
        s->count = made_count;
        return true;
    }
    return false;
}

/* Leaves out pieces, large ones first (as delta debugging does). */
static void leave_out(search *s, weir__sim_decision *rest)
{
    uint32_t piece = s->count / 2 > 0 ? s->count / 2 : 1;
    while (s->tries < TRIES_MAX) {
        bool shorter = false;
        for (uint32_t at = 0; at < s->count && s->tries < TRIES_MAX;) {
            const uint32_t cut = at + piece < s->count ? piece : s->count - at;
            memcpy(rest, s->best, at * sizeof(*rest));
            memcpy(rest + at, s->best + at + cut, (s->count - at - cut) * sizeof(*rest));
            if (try_schedule(s, rest, s->count - cut)) {
                shorter = true;
            } else {
                at += cut;
            }
        }
        if (piece == 1 && !shorter) {
            return;
        }
        piece = piece > 1 ? piece / 2 : 1;
    }
}

/* A switch and the one back are of no use alone: what single decisions could not do, two may. */
static void leave_out_pairs(search *s, weir__sim_decision *rest)
{
    for (uint32_t i = 0; i + 1 < s->count; i++) {
        for (uint32_t j = i + 1; j < s->count && s->tries < TRIES_MAX; j++) {
            const uint32_t between = j - i - 1;
            memcpy(rest, s->best, i * sizeof(*rest));
            memcpy(rest + i, s->best + i + 1, between * sizeof(*rest));
            memcpy(rest + i + between, s->best + j + 1, (s->count - j - 1) * sizeof(*rest));
            if (try_schedule(s, rest, s->count - 2)) {
                j = i; /* what stands here now is another */
            }
        }
    }
}

void weir__sim_shrink(const weir__sim_plan *plan, const weir__sim_decision *made, uint32_t count,
                      void (*body)(void *), void *argument, weir_sim_result *result)
{
    search s = { .plan = *plan, .body = body, .argument = argument };
    weir__sim_decision *whole = malloc((count + 1) * sizeof(*whole));
    weir__sim_decision *rest = malloc((count + 1) * sizeof(*rest));
    s.best = malloc((count + 1) * sizeof(*s.best));
    if (whole != NULL && rest != NULL && s.best != NULL) {
        const bool tracing = weir__sim.tracing;
        memcpy(whole, made, count * sizeof(*made));
        weir__sim.tracing = false;
        s.plan.strategy = WEIR_SIM_REPLAY;
        if (try_schedule(&s, whole, count)) {
            leave_out(&s, rest);
            leave_out_pairs(&s, rest);
            leave_out(&s, rest);
            memcpy(whole, s.best, s.count * sizeof(*whole));
            const uint32_t shortest = s.count;
            try_schedule(&s, whole, shortest); /* its own words for what went wrong */
            snprintf(result->why, sizeof(result->why), "%s", weir__sim.why);
            weir__sim_schedule_print(whole, shortest, result->schedule, sizeof(result->schedule));
            result->preemptions = weir__sim_preemptions();
        }
        weir__sim.tracing = tracing;
    }
    free(whole);
    free(rest);
    free(s.best);
}
