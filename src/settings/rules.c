/*
 * settings/rules.c - what must hold between keys, and what will run but probably not as it was
 * meant.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "settings/config.h"

enum { THREADS_MANY = 100, THREADS_PER_CORE = 10, NAME_BYTES_MAX = 255 };

typedef struct rules {
    weir_config *config;
    weir__node *engine;
    uint32_t cores;
} rules;

static const weir__node nowhere = { .origin = { .source = WEIR__BUILT_IN } };

/* Where a key was written, or the object that it would stand in. */
static const weir__node *place(const rules *r, const weir__node *object, const char *key)
{
    const weir__node *node = weir__child(r->config->tree, object, key);
    node = weir__said(node != NULL ? node : object);
    return node != NULL ? node : &nowhere;
}

#define SAY(r, severity, node, path, ...)                                                          \
    weir__problems_add(&(r)->config->problems, severity, (node)->origin, path, __VA_ARGS__)

/* ---- threads ---- */

static const weir__node *threads_place(const rules *r, const char **path)
{
    static const char *const keys[] = { "threads", "assignment", "thread-dispatcher-assignment" };
    static const char *const paths[] = { "weir.engine.threads", "weir.engine.assignment",
                                         "weir.engine.thread-dispatcher-assignment" };
    for (size_t i = 0; i < 2; i++) {
        const weir__node *node = weir__child(r->config->tree, r->engine, keys[i]);
        if (weir__is_given(node) && (i == 0 || r->config->engine.assignment.strategy != 0)) {
            *path = paths[i];
            return weir__said(node);
        }
    }
    *path = paths[2];
    return place(r, r->engine, keys[2]);
}

static void check_threads(const rules *r)
{
    const weir_config *config = r->config;
    const char *path;
    const weir__node *node = threads_place(r, &path);
    size_t spinning = 0;
    for (size_t i = 0; i < config->thread_count; i++) {
        spinning += config->threads[i].idle == WEIR_IDLE_BUSY_SPIN ||
                    config->threads[i].idle == WEIR_IDLE_NOOP;
    }
    if (config->thread_count > THREADS_MANY) {
        SAY(r, WEIR__WARNING, node, path,
            "%zu threads: more than %d cost more than they bring, unless most of them wait",
            config->thread_count, THREADS_MANY);
    }
    if (config->thread_count > (size_t)THREADS_PER_CORE * r->cores) {
        SAY(r, WEIR__WARNING, node, path,
            "%zu threads on %u usable core%s: more than %d a core are busy with taking turns",
            config->thread_count, r->cores, r->cores == 1 ? "" : "s", THREADS_PER_CORE);
    }
    if (spinning > r->cores) {
        SAY(r, WEIR__WARNING, node, path,
            "%zu threads idle by spinning (busy-spin, noop) on %u usable core%s: they take the "
            "cores from those with work",
            spinning, r->cores, r->cores == 1 ? "" : "s");
    }
}

/* ---- back-off ---- */

static void check_backoff(const rules *r, const weir__node *group, const char *above,
                          const weir__backoff_settings *own,
                          const weir__backoff_settings *inherited)
{
    char path[400], base_text[40], max_text[40];
    const weir_ns base = own->base != 0 ? own->base : inherited->base;
    const weir_ns max = own->max != 0 ? own->max : inherited->max;
    weir__duration_text(base, base_text, sizeof(base_text));
    weir__duration_text(max, max_text, sizeof(max_text));
    snprintf(path, sizeof(path), "%s.base-delay-micros", above);
    if (base != 0 && max != 0 && base >= max) {
        SAY(r, WEIR__ERROR, place(r, group, "base-delay-micros"), path,
            "%s is not < max-delay-micros (%s)", base_text, max_text);
    }
    if (own->base >= 10 * WEIR_MS) {
        SAY(r, WEIR__WARNING, place(r, group, "base-delay-micros"), path,
            "%s: from 10ms on threads sleep where they should work", base_text);
    }
    snprintf(path, sizeof(path), "%s.max-delay-micros", above);
    if (own->max >= WEIR_S) {
        SAY(r, WEIR__WARNING, place(r, group, "max-delay-micros"), path,
            "%s: from 1s on a thread may be missing for long", max_text);
    }
}

/* ---- names ---- */

static void list_names(const weir_config *config, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < config->thread_count; i++) {
        const char *const *names = config->threads[i].dispatchers;
        for (size_t k = 0; names != NULL && names[k] != NULL; k++) {
            char quoted[280];
            snprintf(quoted, sizeof(quoted), "\"%s\"", names[k]);
            if (strstr(out, quoted) != NULL || used + strlen(quoted) + 8 > size) {
                continue;
            }
            used += (size_t)snprintf(out + used, size - used, "%s%s", used > 0 ? ", " : "", quoted);
        }
    }
}

static const char *nearest_name(const weir_config *config, const char *name)
{
    const char *nearest = NULL;
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < config->thread_count; i++) {
        const char *const *names = config->threads[i].dispatchers;
        for (size_t k = 0; names != NULL && names[k] != NULL; k++) {
            const size_t distance = weir__distance(name, names[k]);
            if (distance < least && names[k][0] != '\0' &&
                weir__distance_is_near(distance, name, names[k])) {
                least = distance;
                nearest = names[k];
            }
        }
    }
    return nearest;
}

static void check_served(const rules *r, const weir__node *node, const char *path,
                         const char *dispatcher)
{
    char names[400];
    if (r->config->thread_count == 0 || weir__is_served(r->config, dispatcher)) {
        return; /* without a thread, that is the mistake */
    }
    const char *nearest = nearest_name(r->config, dispatcher);
    list_names(r->config, names, sizeof(names));
    if (nearest != NULL) {
        SAY(r, WEIR__ERROR, node, path, "no thread serves \"%.60s\"; did you mean \"%.60s\"?",
            dispatcher, nearest);
    } else {
        SAY(r, WEIR__ERROR, node, path, "no thread serves \"%.60s\"; threads serve: %s", dispatcher,
            names);
    }
}

static void check_length(const rules *r, const weir__node *node, const char *path, const char *name)
{
    if (name != NULL && strlen(name) > NAME_BYTES_MAX) {
        SAY(r, WEIR__ERROR, node, path, "'%.40s...' has %zu bytes, which is not <= %d", name,
            strlen(name), NAME_BYTES_MAX);
    }
}

static void path_to(weir__path *path, const char *map, const char *name, const char *key)
{
    weir__path_begin(path, "weir.engine");
    weir__path_name(path, map);
    weir__path_name(path, name);
    if (key != NULL) {
        weir__path_name(path, key);
    }
}

static void check_dispatchers(const rules *r)
{
    const weir_config *config = r->config;
    const weir__dispatcher_settings *all = config->engine.dispatchers.items;
    const weir__node *map = weir__child(config->tree, r->engine, "dispatchers");
    weir__path path;
    for (size_t i = 0; i < config->engine.dispatchers.count; i++) {
        const weir__dispatcher_settings *d = &all[i];
        const weir__node *item = weir__child(config->tree, map, d->name);
        path_to(&path, "dispatchers", d->name, NULL);
        check_served(r, place(r, map, d->name), path.text, d->name);
        path_to(&path, "dispatchers", d->name, "backoff");
        check_backoff(r, weir__child(config->tree, item, "backoff"), path.text, &d->backoff,
                      &config->engine.backoff);
    }
}

static void check_processors(const rules *r)
{
    const weir_config *config = r->config;
    const weir__processor_settings *all = config->engine.processors.items;
    const weir__node *map = weir__child(config->tree, r->engine, "processors");
    weir__path path;
    for (size_t i = 0; i < config->engine.processors.count; i++) {
        const weir__processor_settings *p = &all[i];
        const weir__node *item = weir__child(config->tree, map, p->name);
        path_to(&path, "processors", p->name, NULL);
        check_length(r, place(r, map, p->name), path.text, p->name);
        if (p->name[0] == '\0') {
            SAY(r, WEIR__ERROR, place(r, map, p->name), path.text,
                "is empty: no processor has that name");
        }
        path_to(&path, "processors", p->name, "dispatcher");
        if (p->dispatcher != NULL && p->dedicated) {
            SAY(r, WEIR__ERROR, place(r, item, "dispatcher"), path.text,
                "stands beside dedicated = true, which has a dispatcher of its own: keep one");
        } else if (p->dispatcher != NULL) {
            check_served(r, place(r, item, "dispatcher"), path.text, p->dispatcher);
        }
        if (p->retry_then == WEIR_RETRY) {
            path_to(&path, "processors", p->name, "retry-then");
            SAY(r, WEIR__ERROR, place(r, item, "retry-then"), path.text,
                "'retry' is what it follows: resume, restart, stop or escalate");
        }
    }
}

void weir__check_rules(weir_config *config, weir__node *engine, uint32_t cores)
{
    const rules r = { config, engine, cores };
    const weir__engine_settings *s = &config->engine;
    check_length(&r, place(&r, engine, "name"), "weir.engine.name", s->name);
    check_threads(&r);
    check_backoff(&r, weir__child(config->tree, engine, "backoff"), "weir.engine.backoff",
                  &s->backoff, &s->backoff);
    check_dispatchers(&r);
    check_processors(&r);
}
