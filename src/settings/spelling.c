/*
 * settings/spelling.c - what may also be said in fewer or nested words. Of threads: `core = 3`,
 * `nice = 5`, `priority { policy, value }`, `idle { strategy, ... }`, `services = [...]`; of an
 * assignment: `dispatchers { api = 4, batch = 2 }`; of the engine: `default-overflow`. Each is put
 * into the tree as the keys of the table (settings/table.c) that say the same, so that all that
 * comes after knows one spelling. Said both ways it is an error: nobody could tell which counts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "settings/config.h"
#include "settings/path.h"
#include "tree/read.h"

/* One member of a nested spelling, and the key that says the same. */
typedef struct spelled {
    const char *inner, *key;
} spelled;

/* Of a file of nonsense: so many names are compared for so many errors, and no more. */
enum { COMPARED_MAX = 1000, ERRORS_MAX = 100 };

typedef struct spelling {
    weir_config *config;
    weir__node *object;
    weir__path path; /* of the object */
} spelling;

#define SAY(s, node, key, ...)                                                                     \
    do {                                                                                           \
        weir__path below_ = (s)->path;                                                             \
        weir__path_name(&below_, key);                                                             \
        weir__problems_add(&(s)->config->problems, WEIR__ERROR, (node)->origin, below_.text,       \
                           __VA_ARGS__);                                                           \
    } while (0)

static weir__node *own(const spelling *s, const char *key)
{
    weir__node *node = weir__child(s->config->tree, s->object, key);
    return node != NULL && node->kind != WEIR__NULL ? node : NULL;
}

static bool set_in(weir_config *config, weir__node *object, const char *key, weir__node *value)
{
    return value != NULL && weir__object_set(config->tree, object, key, strlen(key), value);
}

static bool set(const spelling *s, const char *key, weir__node *value)
{
    return set_in(s->config, s->object, key, value);
}

/* Nobody reads it any more. */
static bool forget(const spelling *s, const char *key, const weir__node *node)
{
    return set(s, key, weir__node_null(s->config->tree, node->origin));
}

/* True: `key`, which says the same as `other` at `node`, was given too; and that was said. */
static bool is_said_twice(spelling *s, const weir__node *node, const char *other, const char *key)
{
    const weir__node *there = own(s, key);
    if (there == NULL || !weir__is_given(there)) {
        return false;
    }
    SAY(s, node, other, "says the same as %s in %s:%u: keep one of them", key, there->origin.source,
        there->origin.line);
    return true;
}

/* ---- core, nice ---- */

static bool spell_core(spelling *s)
{
    weir__node *core = own(s, "core");
    if (core == NULL) {
        return true;
    }
    if (!is_said_twice(s, core, "core", "cores")) {
        weir__node *cores = core;
        if (core->kind != WEIR__LIST) {
            cores = weir__node_list(s->config->tree, core->origin);
            if (cores == NULL || !weir__list_append(s->config->tree, cores, core)) {
                return false;
            }
        }
        if (!set(s, "cores", cores)) {
            return false;
        }
    }
    return forget(s, "core", core);
}

static bool spell_nice(spelling *s)
{
    weir__node *nice = own(s, "nice");
    if (nice == NULL) {
        return true;
    }
    if (!is_said_twice(s, nice, "nice", "priority") &&
        !is_said_twice(s, nice, "nice", "priority-value") &&
        !(set(s, "priority", weir__node_string(s->config->tree, nice->origin, "nice", 4)) &&
          set(s, "priority-value", nice))) {
        return false;
    }
    return forget(s, "nice", nice);
}

/* ---- objects ---- */

static const spelled *find(const spelled *rows, const char *inner)
{
    const spelled *row = rows;
    while (row->inner != NULL && strcmp(row->inner, inner) != 0) {
        row++;
    }
    return row->inner != NULL ? row : NULL;
}

static void say_no_key(spelling *s, const char *outer, const spelled *rows,
                       const weir__member *member)
{
    char list[96] = "";
    for (const spelled *row = rows; row->inner != NULL; row++) {
        const size_t used = strlen(list);
        snprintf(list + used, sizeof(list) - used, "%s%s", used > 0 ? ", " : "", row->inner);
    }
    weir__path path = s->path;
    weir__path_name(&path, outer);
    weir__path_name(&path, member->key.bytes);
    weir__problems_add(&s->config->problems, WEIR__ERROR, member->value->origin, path.text,
                       "is no key; here may stand: %s", list);
}

/* The object under `outer`, member by member. The first row is the one that it cannot do without;
 * its key may be `outer` itself. */
static bool spell_object(spelling *s, const char *outer, const spelled *rows)
{
    weir__node *object = own(s, outer);
    if (object == NULL || object->kind != WEIR__OBJECT) {
        return true; /* the table's own spelling */
    }
    bool named = false;
    if (!forget(s, outer, object)) {
        return false;
    }
    for (size_t i = 0; i < object->object.count; i++) {
        const weir__member *member = &object->object.members[i];
        const spelled *row = find(rows, member->key.bytes);
        if (member->value->kind == WEIR__NULL) {
            continue;
        }
        if (row == NULL) {
            say_no_key(s, outer, rows, member);
            continue;
        }
        named = named || row == rows;
        if (!is_said_twice(s, member->value, outer, row->key) && !set(s, row->key, member->value)) {
            return false;
        }
    }
    if (!named) {
        SAY(s, object, outer, "has no %s", rows->inner);
    }
    return true;
}

/* ---- services ---- */

static void say_no_component(spelling *s, const weir__node *item, const weir__node *components)
{
    const char *name = item->text.bytes, *found = NULL;
    size_t least = SIZE_MAX;
    size_t compared = components != NULL && s->config->problems.errors < ERRORS_MAX
                          ? components->object.count
                          : 0;
    compared = compared < COMPARED_MAX ? compared : COMPARED_MAX;
    for (size_t i = 0; i < compared; i++) {
        const char *other = components->object.members[i].key.bytes;
        const size_t distance = weir__distance(name, other);
        if (distance < least && weir__distance_is_near(distance, name, other)) {
            least = distance;
            found = other;
        }
    }
    if (found != NULL) {
        SAY(s, item, "services", "'%.60s' is no component; did you mean %s?", name, found);
    } else {
        SAY(s, item, "services", "'%.60s' is no component: there is no weir.components.%.60s", name,
            name);
    }
}

/* The component says it itself then, as most do. */
static bool give_thread(spelling *s, const weir__node *item, weir__node *component,
                        weir__node *name)
{
    weir__node *there = weir__child(s->config->tree, component, "thread");
    if (there == NULL || !weir__is_given(there) || there->kind == WEIR__NULL) {
        return set_in(s->config, component, "thread", name);
    }
    if (there->kind != WEIR__STRING || strcmp(there->text.bytes, name->text.bytes) != 0) {
        SAY(s, item, "services", "%.60s has another thread, in %s:%u: keep one of them",
            item->text.bytes, there->origin.source, there->origin.line);
    }
    return true;
}

static bool spell_services(spelling *s)
{
    weir__node *services = own(s, "services");
    if (services == NULL) {
        return true;
    }
    weir__node *name = own(s, "name");
    const weir__node *components =
        weir__tree_at(s->config->tree, s->config->tree->root, "weir.components");
    components = components != NULL && components->kind == WEIR__OBJECT ? components : NULL;
    if (services->kind != WEIR__LIST) {
        SAY(s, services, "services", "is %s, must be a list of components",
            weir__kind_name(services->kind));
    } else if (name == NULL || name->kind != WEIR__STRING) {
        SAY(s, services, "services", "needs a thread that has a name");
    } else {
        for (size_t i = 0; i < services->list.count; i++) {
            const weir__node *item = services->list.items[i];
            if (item->kind != WEIR__STRING) {
                SAY(s, item, "services", "is %s, must be the name of a component",
                    weir__kind_name(item->kind));
                continue;
            }
            weir__node *component = components != NULL
                                        ? weir__child(s->config->tree, components, item->text.bytes)
                                        : NULL;
            if (component == NULL || component->kind != WEIR__OBJECT) {
                say_no_component(s, item, components);
            } else if (!give_thread(s, item, component, name)) {
                return false;
            }
        }
    }
    return forget(s, "services", services);
}

/* ---- the assignment, the engine ---- */

/* { "0" = api, "1" = batch } is a list, as HOCON has it. */
static bool is_list_by_index(const weir__node *object)
{
    for (size_t i = 0; i < object->object.count; i++) {
        const weir__text *key = &object->object.members[i].key;
        if (key->length == 0 || strspn(key->bytes, "0123456789") != key->length) {
            return false;
        }
    }
    return true;
}

/* { api = 4, batch = 2 }: names and how many threads each has. */
static bool spell_counts(weir_config *config)
{
    spelling s = { .config = config };
    s.object = weir__tree_at(config->tree, config->tree->root, "weir.engine.assignment");
    weir__path_begin(&s.path, "weir.engine.assignment");
    weir__node *map =
        s.object != NULL && s.object->kind == WEIR__OBJECT ? own(&s, "dispatchers") : NULL;
    if (map == NULL || map->kind != WEIR__OBJECT || is_list_by_index(map)) {
        return true;
    }
    const bool twice = is_said_twice(&s, map, "dispatchers", "counts");
    weir__node *names = weir__node_list(config->tree, map->origin);
    weir__node *counts = weir__node_list(config->tree, map->origin);
    for (size_t i = 0; names != NULL && counts != NULL && i < map->object.count; i++) {
        const weir__member *member = &map->object.members[i];
        weir__node *name = weir__node_string(config->tree, member->value->origin, member->key.bytes,
                                             member->key.length);
        if (name == NULL || !weir__list_append(config->tree, names, name) ||
            !weir__list_append(config->tree, counts, member->value)) {
            return false;
        }
    }
    return set(&s, "dispatchers", names) && (twice || set(&s, "counts", counts));
}

static bool spell_overflow(weir_config *config)
{
    spelling s = { .config = config };
    s.object = weir__tree_at(config->tree, config->tree->root, "weir.engine");
    weir__path_begin(&s.path, "weir.engine");
    weir__node *overflow =
        s.object != NULL && s.object->kind == WEIR__OBJECT ? own(&s, "default-overflow") : NULL;
    if (overflow == NULL) {
        return true;
    }
    return (is_said_twice(&s, overflow, "default-overflow", "overflow") ||
            set(&s, "overflow", overflow)) &&
           forget(&s, "default-overflow", overflow);
}

/* ---- all ---- */

static const spelled idle_rows[] = { { "strategy", "idle" },
                                     { "spin-max", "idle-spin-max" },
                                     { "sleep", "idle-sleep" },
                                     { "max-park", "max-park" },
                                     { NULL, NULL } };
static const spelled priority_rows[] = { { "policy", "priority" },
                                         { "value", "priority-value" },
                                         { NULL, NULL } };

static bool spell_group(weir_config *config, const char *path, bool nice)
{
    spelling s = { .config = config,
                   .object = weir__tree_at(config->tree, config->tree->root, path) };
    if (s.object == NULL || s.object->kind != WEIR__OBJECT) {
        return true;
    }
    weir__path_begin(&s.path, path);
    return spell_core(&s) && spell_object(&s, "priority", priority_rows) &&
           (!nice || spell_nice(&s));
}

static bool spell_thread(weir_config *config, weir__node *thread, size_t index)
{
    spelling s = { .config = config, .object = thread };
    weir__path_begin(&s.path, "weir.engine.threads");
    weir__path_index(&s.path, index);
    return spell_core(&s) && spell_object(&s, "priority", priority_rows) && spell_nice(&s) &&
           spell_object(&s, "idle", idle_rows) && spell_services(&s);
}

bool weir__spell(weir_config *config)
{
    const weir__node *threads =
        weir__tree_at(config->tree, config->tree->root, "weir.engine.threads");
    const bool listed = threads != NULL && threads->kind == WEIR__LIST;
    for (size_t i = 0; listed && i < threads->list.count; i++) {
        weir__node *thread = threads->list.items[i];
        if (thread->kind == WEIR__OBJECT && !spell_thread(config, thread, i)) {
            return false;
        }
    }
    return spell_counts(config) && spell_overflow(config) &&
           spell_group(config, "weir.engine.scheduler-thread", true) &&
           spell_group(config, "weir.engine.helper-thread", true) &&
           spell_group(config, "weir.admin.thread", false); /* has nice as a key of its own */
}
