/*
 * engine/latency_switch.c - which processors are measured, and from when on anew.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "engine/latency.h"
#include "engine/latency_tune.h"
#include "engine/processor.h"
#include "engine/stop.h"

#define AT_ONCE 64u /* slots looked at under one lock: nobody waits long behind a million */
#define GRACE WEIR_S
#define NAME_MAX_SIZE 256

bool weir__latency_fits(const char *pattern, const char *name)
{
    const char *star = NULL; /* the last one, and where its part of the name ends */
    const char *behind = NULL;
    while (*name != '\0') {
        if (*pattern == '*') {
            star = pattern++;
            behind = name;
        } else if (*pattern == '?' || *pattern == *name) {
            pattern++;
            name++;
        } else if (star != NULL) { /* it takes one letter more */
            pattern = star + 1;
            name = ++behind;
        } else {
            return false;
        }
    }
    while (*pattern == '*') {
        pattern++;
    }
    return *pattern == '\0';
}

/* ---- rules ---- */

/* registry.lock held, so up to the public face. */
static bool is_wanted(const weir__latency_rules *rules, const char *name)
{
    bool wanted = false;
    for (const weir__latency_rule *r = rules->oldest; r != NULL; r = r->next) {
        wanted = weir__latency_fits(r->pattern, name) ? r->on : wanted;
    }
    return wanted;
}

static void free_rule(weir_engine *engine, weir__latency_rule *rule)
{
    weir__release_text(&engine->allocator, rule->pattern);
    weir__release(&engine->allocator, rule, sizeof(*rule));
}

/* Rules that say nothing any more, since one with `pattern` follows. */
static void drop_rules(weir_engine *engine, const char *pattern)
{
    weir__latency_rules *rules = &engine->latencies;
    weir__latency_rule **link = &rules->oldest;
    while (*link != NULL) {
        weir__latency_rule *rule = *link;
        if (strcmp(pattern, "*") == 0 || strcmp(pattern, rule->pattern) == 0) {
            *link = rule->next;
            rules->count--;
            free_rule(engine, rule);
        } else {
            link = &rule->next;
        }
    }
}

static weir_status add_rule(weir_engine *engine, const char *pattern, bool on)
{
    weir__latency_rules *rules = &engine->latencies;
    weir__latency_rule *rule = weir__allocate(&engine->allocator, sizeof(*rule));
    if (rule == NULL || !weir__copy_text(&engine->allocator, pattern, &rule->pattern)) {
        weir__release(&engine->allocator, rule, sizeof(*rule));
        return WEIR_E_NOMEM;
    }
    rule->on = on;
    drop_rules(engine, pattern);
    if (rules->count >= WEIR__LATENCY_RULES_MAX) {
        free_rule(engine, rule);
        return WEIR_E_LIMIT;
    }
    if (!on && rules->oldest == NULL) {
        free_rule(engine, rule); /* nothing is on anyway */
        return WEIR_OK;
    }
    weir__latency_rule **link = &rules->oldest;
    while (*link != NULL) {
        link = &(*link)->next;
    }
    *link = rule;
    rules->count++;
    return WEIR_OK;
}

/* Only memory is left. */
void weir__latency_rules_free(weir_engine *engine)
{
    drop_rules(engine, "*");
    while (engine->latencies.left != NULL) {
        weir__latency *latency = engine->latencies.left;
        engine->latencies.left = latency->next;
        weir__release(&engine->allocator, latency, sizeof(*latency));
    }
}

/* ---- one processor ---- */

static bool is_measured(const weir__processor *processor)
{
    weir__processor_cold *cold = weir__processor_cold_of(processor);
    return cold != NULL && weir__load(&cold->latency, relaxed) != NULL;
}

static weir_status measure(weir_engine *engine, weir__processor *processor)
{
    const uint32_t measured = weir__load(&engine->latencies.measured, relaxed);
    if (measured >= engine->options.latency_max_processors) {
        return WEIR_E_LIMIT;
    }
    weir__processor_cold *cold = weir__processor_cold_make(engine, processor);
    weir__latency *latency =
        cold != NULL ? weir__allocate(&engine->allocator, sizeof(*latency)) : NULL;
    if (latency == NULL) {
        return WEIR_E_NOMEM;
    }
    weir__store(&engine->latencies.measured, measured + 1, relaxed);
    /* [LT2] pairs with [LT1]: it is zeroed. */
    weir__store(&cold->latency, latency, release);
    return WEIR_OK;
}

/* What the owner may be writing to at this moment; or NULL. */
static weir__latency *take_off(weir_engine *engine, weir__processor_cold *cold)
{
    weir__latency *latency = weir__load(&cold->latency, relaxed);
    if (latency != NULL) {
        weir__sub(&engine->latencies.measured, 1, relaxed);
        weir__store(&cold->latency, NULL, relaxed);
    }
    return latency;
}

void weir__latency_begin(weir_engine *engine, weir__processor *processor)
{
    char name[NAME_MAX_SIZE];
    if (weir__likely(engine->latencies.oldest == NULL)) {
        return;
    }
    (void)weir__processor_text(processor, name, sizeof(name));
    if (is_wanted(&engine->latencies, name)) {
        (void)measure(engine, processor); /* too many, or no memory: it is not measured */
    }
}

void weir__latency_end(weir_engine *engine, weir__processor_cold *cold)
{
    weir__latency *latency = take_off(engine, cold);
    if (latency != NULL) {
        weir__release(&engine->allocator, latency, sizeof(*latency));
    }
}

/* ---- all that fit ---- */

typedef struct change {
    weir_engine *engine;
    const char *pattern;
    weir__latency *removed;
    uint32_t fitting; /* that are as they were asked for */
    weir_status status;
} change;

typedef void (*step)(change *c, weir__processor *processor, const char *name);

/* Who switches the same ones at the same moment has made a rule, too: the rules decide. */
static void enable_one(change *c, weir__processor *processor, const char *name)
{
    if (is_wanted(&c->engine->latencies, name) && !is_measured(processor)) {
        const weir_status status = measure(c->engine, processor);
        c->status = c->status == WEIR_OK ? status : c->status;
    }
    c->fitting += is_measured(processor) ? 1 : 0;
}

static void disable_one(change *c, weir__processor *processor, const char *name)
{
    weir__processor_cold *cold = weir__processor_cold_of(processor);
    c->fitting++;
    if (cold != NULL && !is_wanted(&c->engine->latencies, name)) {
        weir__latency *latency = take_off(c->engine, cold);
        if (latency != NULL) {
            latency->next = c->removed;
            c->removed = latency;
        }
    }
}

static void reset_one(change *c, weir__processor *processor, const char *name)
{
    (void)c;
    (void)name;
    if (is_measured(processor)) {
        weir__latency_reset(weir__load(&weir__processor_cold_of(processor)->latency, relaxed));
    }
}

/* Without the lock. */
static void for_each_fitting(change *c, step what)
{
    weir__registry *registry = &c->engine->registry;
    bool more = true;
    for (uint32_t next = 0; more;) {
        weir__mutex_lock(&registry->lock);
        for (uint32_t n = 0; n < AT_ONCE && next < registry->used; n++, next++) {
            weir__processor *p = weir__registry_slot(registry, next);
            char name[NAME_MAX_SIZE];
            if (!weir__processor_is_live(p)) {
                continue;
            }
            (void)weir__processor_text(p, name, sizeof(name));
            if (weir__latency_fits(c->pattern, name)) {
                what(c, p, name);
            }
        }
        more = next < registry->used;
        weir__mutex_unlock(&registry->lock);
    }
}

/* Whoever was writing to them has left its mark then. */
static void free_removed(const change *c)
{
    weir_engine *engine = c->engine;
    weir__latency *latency = c->removed;
    if (latency == NULL) {
        return;
    }
    if (!weir__contexts_wait(engine, weir__clock_now() + GRACE)) {
        weir__mutex_lock(&engine->registry.lock); /* somebody is held up: the engine's end frees */
        while (latency != NULL) {
            weir__latency *next = latency->next;
            latency->next = engine->latencies.left;
            engine->latencies.left = latency;
            latency = next;
        }
        weir__mutex_unlock(&engine->registry.lock);
        return;
    }
    while (latency != NULL) {
        weir__latency *next = latency->next;
        weir__release(&engine->allocator, latency, sizeof(*latency));
        latency = next;
    }
}

void weir__engine_latency(weir_engine *engine, uint32_t every, uint32_t max_processors)
{
    weir__store(&engine->latency_every, every, relaxed);
    weir__mutex_lock(&engine->registry.lock);
    engine->options.latency_max_processors = max_processors;
    weir__mutex_unlock(&engine->registry.lock);
}

/* ---- the public face ---- */

static weir_status switch_all(weir_engine *engine, const char *pattern, bool on, uint32_t *count)
{
    change c = { .engine = engine, .pattern = pattern != NULL ? pattern : "*" };
    if (count != NULL) {
        *count = 0;
    }
    if (!weir__engine_usable(engine) || c.pattern[0] == '\0' ||
        strlen(c.pattern) >= NAME_MAX_SIZE) {
        return WEIR_E_INVALID;
    }
    weir__mutex_lock(&engine->registry.lock);
    c.status = add_rule(engine, c.pattern, on);
    weir__mutex_unlock(&engine->registry.lock);
    if (c.status != WEIR_OK) {
        return c.status;
    }
    for_each_fitting(&c, on ? enable_one : disable_one);
    free_removed(&c);
    if (count != NULL) {
        *count = c.fitting;
    }
    return c.status;
}

weir_status weir_latency_enable(weir_engine *engine, const char *pattern, uint32_t *count)
{
    return switch_all(engine, pattern, true, count);
}

weir_status weir_latency_disable(weir_engine *engine, const char *pattern, uint32_t *count)
{
    return switch_all(engine, pattern, false, count);
}

weir_status weir_latency_reset(weir_engine *engine, const char *pattern)
{
    change c = { .engine = engine, .pattern = pattern != NULL ? pattern : "*" };
    if (!weir__engine_usable(engine)) {
        return WEIR_E_INVALID;
    }
    for_each_fitting(&c, reset_one);
    const uint32_t threads = pattern == NULL ? weir__threads_count(engine) : 0;
    for (uint32_t i = 0; i < threads; i++) {
        weir__thread *thread = weir__thread_at(engine, i);
        weir__thread_figures_reset(&thread->figures);
        for (weir__serving *s = weir__servings_of(thread); s != NULL; s = s->sibling) {
            weir__latency_reset(&s->latency);
        }
    }
    return WEIR_OK;
}
