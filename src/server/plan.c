/*
 * server/plan.c - what must hold between components, threads, feeds and routers, and the order in
 * which they are made: whoever is referred to comes first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "server/compose.h"
#include "settings/options.h"

/* NOLINTBEGIN(misc-no-recursion): as deep as there are components */

enum { PARTS_MAX = 4096, TEXT_MAX = 600, TARGETS_MAX = 256 };

#define SAY(c, severity, where, at, ...)                                                           \
    weir__problems_add(&(c)->config->problems, (severity), (where), (at), __VA_ARGS__)

static weir__origin place_of(const weir__composition *c, const weir__part *part, const char *key)
{
    const weir__node *node = weir__child(c->config->tree, part->node, key);
    return weir__said(node != NULL ? node : part->node)->origin;
}

static void path_of(const weir__part *part, const char *key, weir__path *path)
{
    weir__path_begin(path, part->is_router ? WEIR__FLOWS_PATH : WEIR__COMPONENTS_PATH);
    weir__path_name(path, part->name);
    if (key != NULL) {
        weir__path_name(path, key);
    }
}

/* ---- names that are near ---- */

typedef struct near {
    const char *word, *found;
    size_t least;
    char list[300];
} near;

static void look(near *n, const char *name)
{
    const size_t distance = weir__distance(n->word, name), used = strlen(n->list);
    if (distance < n->least && weir__distance_is_near(distance, n->word, name)) {
        n->least = distance;
        n->found = name;
    }
    if (used + strlen(name) + 3 < sizeof(n->list)) {
        snprintf(n->list + used, sizeof(n->list) - used, "%s%s", used > 0 ? ", " : "", name);
    }
}

static void say_unknown(weir__composition *c, weir__origin where, const char *at, const char *what,
                        const near *n)
{
    if (n->found != NULL) {
        SAY(c, WEIR__ERROR, where, at, "'%.60s' is no %s; did you mean %s?", n->word, what,
            n->found);
    } else if (n->list[0] != '\0') {
        SAY(c, WEIR__ERROR, where, at, "'%.60s' is no %s; there are: %s", n->word, what, n->list);
    } else {
        SAY(c, WEIR__ERROR, where, at, "'%.60s' is no %s, and there is none", n->word, what);
    }
}

/* ---- threads and dispatchers ---- */

static void check_thread(weir__composition *c, const weir__part *part)
{
    const weir_config *config = c->config;
    const char *thread = part->settings->thread;
    near n = { .word = thread, .least = SIZE_MAX };
    weir__path path;
    if (thread == NULL) {
        return;
    }
    for (size_t i = 0; i < config->thread_count; i++) {
        const char *name = config->threads[i].name;
        if (name != NULL && strcmp(name, thread) == 0) {
            return;
        }
        if (name != NULL) {
            look(&n, name);
        }
    }
    path_of(part, "thread", &path);
    say_unknown(c, place_of(c, part, "thread"), path.text, "thread", &n);
}

static void check_dispatcher(weir__composition *c, const weir__part *part)
{
    const weir_config *config = c->config;
    const char *wanted = part->settings->dispatcher != NULL ? part->settings->dispatcher : "";
    near n = { .word = wanted, .least = SIZE_MAX };
    weir__path path;
    if (config->thread_count == 0 || weir__is_served(config, wanted) ||
        (part->type != NULL && !weir__part_receives(part) && part->settings->dispatcher == NULL)) {
        return;
    }
    for (size_t i = 0; i < config->thread_count; i++) {
        const char *const *names = config->threads[i].dispatchers;
        for (size_t k = 0; names != NULL && names[k] != NULL; k++) {
            if (strstr(n.list, names[k]) == NULL) {
                look(&n, names[k]);
            }
        }
    }
    path_of(part, "dispatcher", &path);
    if (part->settings->dispatcher == NULL) {
        SAY(c, WEIR__ERROR, place_of(c, part, "dispatcher"), path.text,
            "is missing: no thread serves the default dispatcher \"\"; threads serve: %s", n.list);
    } else {
        say_unknown(c, place_of(c, part, "dispatcher"), path.text,
                    "dispatcher that a thread serves", &n);
    }
}

/* Keys that mean nothing for what it is: somebody expects something of them. */
static void check_kind(weir__composition *c, const weir__part *part)
{
    static const char *const of_receivers[] = { "feeds", "mailbox-max", "overflow", "on-failure",
                                                "dispatcher" };
    const weir_component_type *type = part->type;
    weir__path path;
    if (type == NULL) {
        return;
    }
    if (!weir__part_publishes(part) &&
        weir__is_given(weir__child(c->config->tree, part->node, "feed"))) {
        path_of(part, "feed", &path);
        SAY(c, WEIR__ERROR, place_of(c, part, "feed"), path.text,
            "is of sources, which publish: type %s is none", type->name);
    }
    if (part->settings->instances > 1 && type->kind != WEIR_KIND_PROCESSOR) {
        path_of(part, "instances", &path);
        SAY(c, WEIR__ERROR, place_of(c, part, "instances"), path.text,
            "is of processors: of type %s there is one under a name", type->name);
    }
    for (size_t i = 0; i < sizeof(of_receivers) / sizeof(of_receivers[0]); i++) {
        if (!weir__part_receives(part) &&
            weir__is_given(weir__child(c->config->tree, part->node, of_receivers[i]))) {
            path_of(part, of_receivers[i], &path);
            SAY(c, WEIR__ERROR, place_of(c, part, of_receivers[i]), path.text,
                "is of what receives events: type %s does not", type->name);
        }
    }
    const int64_t queue = part->settings->feed.queue_max;
    if (queue > 0 && (queue & (queue - 1)) != 0) {
        path_of(part, "feed", &path);
        weir__path_name(&path, "queue-max");
        SAY(c, WEIR__ERROR, place_of(c, part, "feed"), path.text,
            "%lld is no power of two, as in 1024", (long long)queue);
    }
}

/* ---- references ---- */

static const char *const noun[] = {
    [WEIR__REFERS_TARGET] = "component or router that takes events",
    [WEIR__REFERS_FEED] = "source",
    [WEIR__REFERS_AFTER] = "component",
};

static bool fits(const weir__part *part, weir__reference_kind kind)
{
    switch (kind) {
    case WEIR__REFERS_TARGET:
        return weir__part_receives(part);
    case WEIR__REFERS_FEED:
        return weir__part_publishes(part);
    case WEIR__REFERS_AFTER:
    default:
        return !part->is_router;
    }
}

static void check_reference(weir__composition *c, const weir__part *from,
                            const weir__reference *reference)
{
    const weir__part *to = weir__part_find(c, reference->name);
    near n = { .word = reference->name, .least = SIZE_MAX };
    if (to != NULL && !fits(to, reference->kind)) {
        SAY(c, WEIR__ERROR, reference->origin, reference->path, "'%.60s' is a %s, no %s",
            reference->name, to->is_router ? "router" : to->type->name, noun[reference->kind]);
        return;
    }
    if (to != NULL && from->is_router && to->is_router) {
        SAY(c, WEIR__ERROR, reference->origin, reference->path,
            "'%.60s' is a router: the targets of one are components", reference->name);
        return;
    }
    if (to != NULL && to->is_router && to->references == NULL) {
        SAY(c, WEIR__ERROR, reference->origin, reference->path,
            "'%.60s' is a router without targets: nobody would handle it", reference->name);
        return;
    }
    if (to != NULL) {
        return;
    }
    for (size_t i = 0; i < c->part_count; i++) {
        if (&c->parts[i] != from && fits(&c->parts[i], reference->kind)) {
            look(&n, c->parts[i].name);
        }
    }
    say_unknown(c, reference->origin, reference->path, noun[reference->kind], &n);
}

static void check_names(weir__composition *c)
{
    for (size_t i = c->component_count; i < c->part_count; i++) {
        const weir__part *first = weir__part_find(c, c->parts[i].name);
        weir__path path;
        if (first != &c->parts[i]) {
            path_of(&c->parts[i], NULL, &path);
            SAY(c, WEIR__ERROR, weir__said(c->parts[i].node)->origin, path.text,
                "is the name of a component, too: events sent to it could mean either");
        }
    }
}

/* ---- routers ---- */

/* A flow of theirs runs on one of the targets, which have all of this themselves. */
static void check_router(weir__composition *c, const weir__part *part)
{
    static const char *const of_workers[] = { "workers",   "worker-capacity", "ingress-capacity",
                                              "batch-max", "policy",          "own-threads",
                                              "dispatcher" };
    uint64_t places = 0;
    weir__path path;
    for (size_t i = 0; i < sizeof(of_workers) / sizeof(of_workers[0]); i++) {
        if (weir__is_given(weir__child(c->config->tree, part->node, of_workers[i]))) {
            path_of(part, of_workers[i], &path);
            SAY(c, WEIR__ERROR, place_of(c, part, of_workers[i]), path.text,
                "stands beside targets, whose mailboxes and threads count: say it of those");
        }
    }
    for (const weir__reference *r = part->references; r != NULL; r = r->next) {
        const weir__part *to = weir__part_find(c, r->name);
        for (const weir__reference *other = part->references; other != r; other = other->next) {
            if (strcmp(other->name, r->name) == 0) {
                SAY(c, WEIR__ERROR, r->origin, r->path, "has '%.60s' twice: once will do", r->name);
            }
        }
        places += to != NULL && !to->is_router ? (uint64_t)to->settings->instances : 1;
    }
    if (places > TARGETS_MAX) {
        path_of(part, "targets", &path);
        SAY(c, WEIR__ERROR, place_of(c, part, "targets"), path.text,
            "are %llu with all instances, which is not <= %d", (unsigned long long)places,
            TARGETS_MAX);
    }
}

/* ---- the order ---- */

enum { UNSEEN, OPEN, DONE };

typedef struct walk {
    weir__composition *c;
    weir__part **trail; /* from the first one to the one at hand */
    size_t depth, ordered;
} walk;

static void say_cycle(const walk *w, const weir__part *to, const weir__reference *closing)
{
    char text[TEXT_MAX] = "";
    size_t from = w->depth;
    while (from > 0 && w->trail[from - 1] != to) {
        from--;
    }
    for (size_t i = from - 1; i < w->depth; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof(text) - used, "%s -> ", w->trail[i]->name);
    }
    SAY(w->c, WEIR__ERROR, closing->origin, closing->path,
        "closes a circle, so that none of them could start first: %s%s", text, to->name);
}

static void visit(walk *w, weir__part *part)
{
    part->mark = OPEN;
    w->trail[w->depth++] = part;
    for (const weir__reference *r = part->references; r != NULL; r = r->next) {
        weir__part *to = weir__part_find(w->c, r->name);
        if (to != NULL && to->mark == OPEN) {
            say_cycle(w, to, r);
        } else if (to != NULL && to->mark == UNSEEN) {
            visit(w, to);
        }
    }
    w->depth--;
    part->mark = DONE;
    w->c->order[w->ordered++] = part;
}

static bool find_order(weir__composition *c)
{
    c->order =
        (weir__part **)weir__tree_memory(c->memory, (c->part_count + 1) * sizeof(weir__part *));
    weir__part **trail =
        (weir__part **)weir__tree_memory(c->memory, (c->part_count + 1) * sizeof(weir__part *));
    if (c->order == NULL || trail == NULL) {
        return false;
    }
    walk w = { .c = c, .trail = trail };
    for (size_t i = 0; i < c->part_count; i++) {
        if (c->parts[i].mark == UNSEEN) {
            visit(&w, &c->parts[i]);
        }
    }
    return true;
}

bool weir__compose_plan(weir__composition *c)
{
    if (c->part_count > PARTS_MAX) {
        SAY(c, WEIR__ERROR, weir__said(c->parts[PARTS_MAX].node)->origin, WEIR__COMPONENTS_PATH,
            "%zu components and routers are not <= %d", c->part_count, PARTS_MAX);
        return true;
    }
    for (size_t i = 0; i < c->part_count; i++) {
        const weir__part *part = &c->parts[i];
        if (part->node == NULL) {
            return true; /* said: the files changed meanwhile */
        }
        for (const weir__reference *r = part->references; r != NULL; r = r->next) {
            check_reference(c, part, r);
        }
        if (!part->is_router) {
            check_thread(c, part);
            check_dispatcher(c, part);
            check_kind(c, part);
        } else if (part->references != NULL) {
            check_router(c, part);
        } else if (c->component_count > 0) {
            weir__path path;
            path_of(part, "targets", &path);
            SAY(c, WEIR__WARNING, weir__said(part->node)->origin, path.text,
                "is missing: `weir run` makes no router without");
        }
    }
    check_names(c);
    return find_order(c);
}

/* NOLINTEND(misc-no-recursion) */
