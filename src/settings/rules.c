/*
 * settings/rules.c - what must hold between keys, and what will run but probably not as it was
 * meant.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "flow/options.h"
#include "settings/config.h"

enum { THREADS_MANY = 100, THREADS_PER_CORE = 10, NAME_BYTES_MAX = 255, PLACES_MOST = 1000000 };

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

typedef struct crowd {
    size_t threads, spinning;
} crowd;

static bool spins(int64_t idle)
{
    return idle == WEIR_IDLE_BUSY_SPIN || idle == WEIR_IDLE_NOOP;
}

/* Told where a bound is passed, and not again by those who come on top. */
static void check_crowd(const rules *r, const weir__node *node, const char *path,
                        const crowd *before, const crowd *now)
{
    const size_t many = (size_t)THREADS_PER_CORE * r->cores;
    if (now->threads > THREADS_MANY && before->threads <= THREADS_MANY) {
        SAY(r, WEIR__WARNING, node, path,
            "%zu threads: more than %d cost more than they bring, unless most of them wait",
            now->threads, THREADS_MANY);
    }
    if (now->threads > many && before->threads <= many) {
        SAY(r, WEIR__WARNING, node, path,
            "%zu threads on %u usable core%s: more than %d a core are busy with taking turns",
            now->threads, r->cores, r->cores == 1 ? "" : "s", THREADS_PER_CORE);
    }
    if (now->spinning > r->cores && before->spinning <= r->cores) {
        SAY(r, WEIR__WARNING, node, path,
            "%zu threads idle by spinning (busy-spin, noop) on %u usable core%s: they take the "
            "cores from those with work",
            now->spinning, r->cores, r->cores == 1 ? "" : "s");
    }
}

static crowd check_threads(const rules *r)
{
    const weir_config *config = r->config;
    const crowd none = { 0, 0 };
    crowd now = { .threads = config->thread_count };
    const char *path;
    const weir__node *node = threads_place(r, &path);
    for (size_t i = 0; i < config->thread_count; i++) {
        now.spinning += spins(config->threads[i].idle);
    }
    check_crowd(r, node, path, &none, &now);
    return now;
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

static void check_length(const rules *r, const weir__node *node, const char *path, const char *name,
                         size_t most)
{
    if (name != NULL && strlen(name) > most) {
        SAY(r, WEIR__ERROR, node, path, "'%.40s...' has %zu bytes, which is not <= %zu", name,
            strlen(name), most);
    }
}

/* `map` is the path of a map of the table's. */
static void path_to(weir__path *path, const char *map, const char *name, const char *key)
{
    weir__path_begin(path, map);
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
        path_to(&path, WEIR__ENGINE_PATH ".dispatchers", d->name, NULL);
        check_served(r, place(r, map, d->name), path.text, d->name);
        path_to(&path, WEIR__ENGINE_PATH ".dispatchers", d->name, "backoff");
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
        path_to(&path, WEIR__ENGINE_PATH ".processors", p->name, NULL);
        check_length(r, place(r, map, p->name), path.text, p->name, NAME_BYTES_MAX);
        if (p->name[0] == '\0') {
            SAY(r, WEIR__ERROR, place(r, map, p->name), path.text,
                "is empty: no processor has that name");
        }
        path_to(&path, WEIR__ENGINE_PATH ".processors", p->name, "dispatcher");
        if (p->dispatcher != NULL && p->dedicated) {
            SAY(r, WEIR__ERROR, place(r, item, "dispatcher"), path.text,
                "stands beside dedicated = true, which has a dispatcher of its own: keep one");
        } else if (p->dispatcher != NULL) {
            check_served(r, place(r, item, "dispatcher"), path.text, p->dispatcher);
        }
        if (p->retry_then == WEIR_RETRY) {
            path_to(&path, WEIR__ENGINE_PATH ".processors", p->name, "retry-then");
            SAY(r, WEIR__ERROR, place(r, item, "retry-then"), path.text,
                "'retry' is what it follows: resume, restart, stop or escalate");
        }
    }
}

/* ---- flows ---- */

/* One router, and where it was written. */
typedef struct routed {
    const weir__flow_settings *settings;
    const weir__node *map, *item;
    weir__path path;
} routed;

/* The place of one of its keys; leaves that key's path in it. */
static const weir__node *key_of(const rules *r, routed *f, const char *key)
{
    path_to(&f->path, WEIR__FLOWS_PATH, f->settings->name, key);
    return place(r, f->item, key);
}

static void check_router_name(const rules *r, routed *f)
{
    const char *name = f->settings->name;
    const weir__node *node = place(r, f->map, name);
    path_to(&f->path, WEIR__FLOWS_PATH, name, NULL);
    check_length(r, node, f->path.text, name, WEIR__ROUTER_NAME_SIZE - 1);
    if (name[0] == '\0') {
        SAY(r, WEIR__ERROR, node, f->path.text, "is empty: no router has that name");
    }
}

/* Either somebody else's threads, or its own and what only those have. */
static void check_router_threads(const rules *r, routed *f)
{
    static const char *const own_keys[] = { "idle-strategy", "cores" };
    const weir__flow_settings *s = f->settings;
    const weir__node *node = key_of(r, f, "dispatcher");
    if (s->dispatcher != NULL && s->own_threads) {
        SAY(r, WEIR__ERROR, node, f->path.text,
            "stands beside own-threads = true, which has a dispatcher of its own: keep one");
    } else if (s->dispatcher != NULL) {
        check_served(r, node, f->path.text, s->dispatcher);
    }
    const bool said[] = { s->idle != WEIR_IDLE_DEFAULT, s->cores.count > 0 };
    for (size_t i = 0; i < 2 && !s->own_threads; i++) {
        if (said[i]) {
            node = key_of(r, f, own_keys[i]);
            SAY(r, WEIR__ERROR, node, f->path.text,
                "is for threads of its own: say own-threads = true, too");
        }
    }
}

static void check_router_places(const rules *r, routed *f)
{
    const weir__flow_settings *s = f->settings;
    const bool block = s->overflow == WEIR_OVERFLOW_DEFAULT || s->overflow == WEIR_OVERFLOW_BLOCK;
    if (block && s->ingress_max != 0 && s->worker_max != 0 &&
        s->ingress_max + s->worker_max > PLACES_MOST) {
        const weir__node *node = key_of(r, f, "ingress-capacity");
        SAY(r, WEIR__ERROR, node, f->path.text,
            "%lld and worker-capacity (%lld) together are not <= %d", (long long)s->ingress_max,
            (long long)s->worker_max, PLACES_MOST);
    }
}

static void check_flows(const rules *r, crowd there)
{
    const weir_config *config = r->config;
    const weir__flow_settings *all = config->weir.flows.items;
    const uint32_t usual = r->cores < WEIR__WORKERS_USUAL ? r->cores : WEIR__WORKERS_USUAL;
    routed f = { .map = weir__tree_at(config->tree, config->tree->root, WEIR__FLOWS_PATH) };
    for (size_t i = 0; i < config->weir.flows.count; i++) {
        f.settings = &all[i];
        f.item = weir__child(config->tree, f.map, all[i].name);
        check_router_name(r, &f);
        check_router_threads(r, &f);
        check_router_places(r, &f);
        if (all[i].own_threads) {
            const size_t more = all[i].workers != 0 ? (size_t)all[i].workers : usual;
            const crowd now = { there.threads + more,
                                there.spinning + (spins(all[i].idle) ? more : 0) };
            const weir__node *node = key_of(r, &f, "own-threads");
            check_crowd(r, node, f.path.text, &there, &now);
            there = now;
        }
    }
}

void weir__check_rules(weir_config *config, weir__node *engine, uint32_t cores)
{
    const rules r = { config, engine, cores };
    const weir__engine_settings *s = &config->engine;
    check_length(&r, place(&r, engine, "name"), "weir.engine.name", s->name, NAME_BYTES_MAX);
    const crowd there = check_threads(&r);
    check_backoff(&r, weir__child(config->tree, engine, "backoff"), "weir.engine.backoff",
                  &s->backoff, &s->backoff);
    check_dispatchers(&r);
    check_processors(&r);
    check_flows(&r, there);
}
