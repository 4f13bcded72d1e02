/*
 * settings/legacy.c - files that were written for others: the Scala engine's (sss-events), with its
 * older map of dispatchers, and the server's agentThreads. Each is read as what weir says for it,
 * with a note that shows how to write it today.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "settings/config.h"
#include "tree/read.h"

/* NOLINTBEGIN(misc-no-recursion): trees are as deep as the readers let them be */

enum { MERGE_DEPTH_MAX = 8, THREADS_MAX = 1024, ROWS_SHOWN_MAX = 32 };

#define SAY(config, severity, node, path, ...)                                                     \
    weir__problems_add(&(config)->problems, severity, (node)->origin, path, __VA_ARGS__)

static bool set(weir_config *config, weir__node *object, const char *key, weir__node *value)
{
    return value != NULL && weir__object_set(config->tree, object, key, strlen(key), value);
}

static weir__node *text_node(weir_config *config, weir__origin origin, const char *text)
{
    return weir__node_string(config->tree, origin, text, strlen(text));
}

/* ["name"] */
static weir__node *list_of_one(weir_config *config, weir__origin origin, const char *name)
{
    weir__node *list = weir__node_list(config->tree, origin);
    weir__node *text = text_node(config, origin, name);
    return list != NULL && text != NULL && weir__list_append(config->tree, list, text) ? list
                                                                                       : NULL;
}

/* ---- sss-events.engine ---- */

/* What `from` says and `to` does not. Deeper than that no key of weir's lies. */
static bool merge(weir_config *config, weir__node *to, const weir__node *from, weir__path *path,
                  int depth)
{
    for (size_t i = 0; i < from->object.count; i++) {
        const weir__member *member = &from->object.members[i];
        weir__node *there =
            weir__object_get(config->tree, to, member->key.bytes, member->key.length);
        const size_t length = path->length;
        weir__path_name(path, member->key.bytes);
        bool well = true;
        if (there != NULL && there->kind == WEIR__OBJECT && member->value->kind == WEIR__OBJECT &&
            depth < MERGE_DEPTH_MAX) {
            well = merge(config, there, member->value, path, depth + 1);
        } else if (weir__is_given(there)) {
            SAY(config, WEIR__WARNING, member->value, path->text,
                "does not count: %s:%u says the same key below weir", there->origin.source,
                there->origin.line);
        } else {
            well = weir__object_set(config->tree, to, member->key.bytes, member->key.length,
                                    member->value);
        }
        weir__path_cut(path, length);
        if (!well) {
            return false;
        }
    }
    return true;
}

static bool read_scala(weir_config *config, weir__node *engine)
{
    weir__node *root = config->tree->root;
    const weir__node *old = weir__child(config->tree, root, "sss-events");
    if (old == NULL || old->kind != WEIR__OBJECT) {
        return true;
    }
    for (size_t i = 0; i < old->object.count; i++) {
        const weir__member *member = &old->object.members[i];
        if (strcmp(member->key.bytes, "engine") != 0) {
            weir__path path;
            weir__path_begin(&path, "sss-events");
            weir__path_name(&path, member->key.bytes);
            SAY(config, WEIR__ERROR, member->value, path.text,
                "is no key; did you mean sss-events.engine?");
        }
    }
    const weir__node *from = weir__child(config->tree, old, "engine");
    if (from == NULL || from->kind != WEIR__OBJECT) {
        return true;
    }
    SAY(config, WEIR__NOTE, from, "sss-events.engine",
        "read as weir.engine; rename it, and this note goes away");
    weir__path path;
    weir__path_begin(&path, "sss-events.engine");
    return merge(config, engine, from, &path, 0);
}

/* ---- dispatchers { "" = 4 }, numThreadsInSchedulerPool ---- */

/* "[[""], [""]]", or by a strategy if there are many. */
static void show_assignment(const weir__node *map, size_t threads, char *out, size_t size)
{
    const bool rows = threads <= ROWS_SHOWN_MAX;
    size_t used =
        (size_t)snprintf(out, size, "%s",
                         rows ? "thread-dispatcher-assignment = ["
                              : "assignment { strategy = per-dispatcher, dispatchers = [");
    char counts[300] = "";
    for (size_t i = 0; i < map->object.count; i++) {
        const weir__member *member = &map->object.members[i];
        int64_t count = 0;
        (void)weir__read_long(member->value, &count, NULL);
        for (int64_t k = 0; k < (rows ? count : 1) && used + 2 < size; k++) {
            const int length =
                snprintf(out + used, size - used, rows ? "%s[\"%.60s\"]" : "%s\"%.60s\"",
                         i + (size_t)k > 0 ? ", " : "", member->key.bytes);
            used += (size_t)length < size - used ? (size_t)length : size - used - 1;
        }
        const size_t at = strlen(counts);
        snprintf(counts + at, sizeof(counts) - at, "%s%lld", i > 0 ? ", " : "", (long long)count);
    }
    if (rows) {
        snprintf(out + used, size - used, "]");
    } else {
        snprintf(out + used, size - used, "], counts = [%s] }", counts);
    }
}

typedef enum map_kind { NO_COUNTS, COUNTS, SAID_TO_BE_WRONG } map_kind;

/* Whether the map's values are numbers of threads: all of them, or it is wrong. */
static map_kind kind_of(weir_config *config, const weir__node *map, size_t *threads)
{
    bool wrong = false;
    size_t numbers = 0;
    *threads = 0;
    for (size_t i = 0; map != NULL && map->kind == WEIR__OBJECT && i < map->object.count; i++) {
        numbers += map->object.members[i].value->kind == WEIR__NUMBER;
    }
    for (size_t i = 0; numbers > 0 && i < map->object.count; i++) {
        const weir__member *member = &map->object.members[i];
        int64_t count = 0;
        weir__path path;
        weir__path_begin(&path, "weir.engine.dispatchers");
        weir__path_name(&path, member->key.bytes);
        if (member->value->kind != WEIR__NUMBER) {
            SAY(config, WEIR__ERROR, member->value, path.text,
                "is %s, and stands beside numbers of threads: write those as "
                "thread-dispatcher-assignment",
                weir__kind_name(member->value->kind));
            wrong = true;
        } else if (!weir__read_long(member->value, &count, NULL) || count < 1 ||
                   count > THREADS_MAX) {
            SAY(config, WEIR__ERROR, member->value, path.text,
                "%s is not a number of threads from 1 to %d", member->value->text.bytes,
                THREADS_MAX);
            wrong = true;
        } else {
            *threads += (size_t)count;
        }
    }
    return numbers == 0 ? NO_COUNTS : wrong ? SAID_TO_BE_WRONG : COUNTS;
}

static bool read_map_of_counts(weir_config *config, weir__node *engine)
{
    static const char *const assignment = "thread-dispatcher-assignment";
    weir__node *map = weir__child(config->tree, engine, "dispatchers");
    size_t threads;
    const map_kind kind = kind_of(config, map, &threads);
    if (kind != COUNTS) { /* what was told once is not told again by those who read it next */
        return kind == NO_COUNTS ||
               set(config, engine, "dispatchers", weir__node_null(config->tree, map->origin));
    }
    char text[900];
    show_assignment(map, threads, text, sizeof(text));
    const weir__node *given = weir__child(config->tree, engine, assignment);
    if (weir__is_given(given)) {
        SAY(config, WEIR__ERROR, map, "weir.engine.dispatchers",
            "says which threads there are, as %s:%u does: keep one; this one would be %s",
            given->origin.source, given->origin.line, text);
    } else {
        SAY(config, WEIR__NOTE, map, "weir.engine.dispatchers", "the older form; read as %s", text);
    }
    weir__node *rows = weir__node_list(config->tree, map->origin);
    for (size_t i = 0; rows != NULL && i < map->object.count; i++) {
        const weir__member *member = &map->object.members[i];
        int64_t count = 0;
        (void)weir__read_long(member->value, &count, NULL);
        for (int64_t k = 0; k < count; k++) {
            weir__node *row = list_of_one(config, member->value->origin, member->key.bytes);
            if (row == NULL || !weir__list_append(config->tree, rows, row)) {
                return false;
            }
        }
    }
    return set(config, engine, assignment, rows) &&
           set(config, engine, "dispatchers", weir__node_null(config->tree, map->origin));
}

static bool read_pool_size(weir_config *config, weir__node *engine)
{
    static const char *const old = "numThreadsInSchedulerPool";
    weir__node *node = weir__child(config->tree, engine, old);
    if (node == NULL) {
        return true;
    }
    const weir__node *given = weir__child(config->tree, engine, "scheduler-pool-size");
    if (weir__is_given(given)) {
        SAY(config, WEIR__ERROR, node, "weir.engine.numThreadsInSchedulerPool",
            "is scheduler-pool-size, which %s:%u says: keep that", given->origin.source,
            given->origin.line);
    } else {
        SAY(config, WEIR__NOTE, node, "weir.engine.numThreadsInSchedulerPool",
            "the older form; read as scheduler-pool-size = %.40s",
            node->kind == WEIR__NUMBER ? node->text.bytes : "...");
        if (!set(config, engine, "scheduler-pool-size", node)) {
            return false;
        }
    }
    return set(config, engine, old, weir__node_null(config->tree, node->origin));
}

/* ---- agentThreads ---- */

/* "!!com.fluxtion.agrona.concurrent.BusySpinIdleStrategy {}" -> "BusySpin" */
static void stem_of(const char *text, char *out, size_t size)
{
    while (*text == '!' || *text == ' ') {
        text++;
    }
    size_t length = strcspn(text, " {(");
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '.' || text[i] == '$') {
            text += i + 1;
            length -= i + 1;
            i = (size_t)-1;
        }
    }
    const char *suffix = strstr(text, "IdleStrategy");
    if (suffix != NULL && suffix < text + length) {
        length = (size_t)(suffix - text);
    }
    snprintf(out, size, "%.*s", (int)(length < size ? length : size - 1), text);
}

static const char *idle_of(const char *stem)
{
    static const struct {
        const char *stem, *idle;
    } known[] = { { "BusySpin", "busy-spin" },   { "Yielding", "yield" },
                  { "Backoff", "backoff" },      { "Sleeping", "sleep" },
                  { "SleepingMillis", "sleep" }, { "NoOp", "noop" } };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(known[i].stem, stem) == 0) {
            return known[i].idle;
        }
    }
    return NULL;
}

/* The class of a strategy: a text, or an object that has it as its tag. */
static const weir__node *class_of(const weir_config *config, const weir__node *node)
{
    static const char *const keys[] = { "!", "!type", "tag", "class", "type" };
    const weir__node *found = node;
    for (size_t i = 0; node->kind == WEIR__OBJECT && i < sizeof(keys) / sizeof(keys[0]); i++) {
        found = weir__child(config->tree, node, keys[i]);
        if (found != NULL) {
            break;
        }
    }
    return found != NULL && found->kind == WEIR__STRING ? found : NULL;
}

static bool read_strategy(weir_config *config, weir__node *thread, const weir__node *node,
                          const char *path)
{
    const weir__node *class = class_of(config, node);
    char stem[64] = "";
    if (class != NULL) {
        stem_of(class->text.bytes, stem, sizeof(stem));
    }
    const char *idle = idle_of(stem);
    if (idle == NULL) {
        SAY(config, WEIR__ERROR, node, path,
            "%s%.60s is no idle strategy that weir knows: BusySpinIdleStrategy, "
            "YieldingIdleStrategy, BackoffIdleStrategy, SleepingIdleStrategy, NoOpIdleStrategy",
            class != NULL ? "" : weir__kind_name(node->kind),
            class != NULL ? class->text.bytes : "");
        return true;
    }
    if (strcmp(idle, "sleep") == 0 && node->kind == WEIR__OBJECT) {
        const weir__node *period = weir__child(config->tree, node, "sleepPeriodNs");
        if (period != NULL && period->kind == WEIR__NUMBER) {
            char text[64];
            snprintf(text, sizeof(text), "%.40sns", period->text.bytes);
            if (!set(config, thread, "idle-sleep", text_node(config, period->origin, text))) {
                return false;
            }
        }
    }
    return set(config, thread, "idle", text_node(config, node->origin, idle));
}

static bool read_core(weir_config *config, weir__node *thread, weir__node *core)
{
    weir__node *cores = weir__node_list(config->tree, core->origin);
    return cores != NULL && weir__list_append(config->tree, cores, core) &&
           set(config, thread, "cores", cores);
}

/* One agent as one thread that serves the dispatcher of its name. */
static weir__node *read_agent(weir_config *config, const weir__node *agent, const char *path)
{
    weir__node *thread = weir__node_object(config->tree, agent->origin);
    bool well = thread != NULL;
    for (size_t i = 0; well && i < agent->object.count; i++) {
        const weir__member *member = &agent->object.members[i];
        const char *key = member->key.bytes;
        weir__path below;
        weir__path_begin(&below, path);
        weir__path_name(&below, key);
        if (strcmp(key, "agentName") == 0) {
            weir__node *names = weir__node_list(config->tree, member->value->origin);
            well = names != NULL && weir__list_append(config->tree, names, member->value) &&
                   set(config, thread, "name", member->value) &&
                   set(config, thread, "dispatchers", names);
        } else if (strcmp(key, "idleStrategy") == 0) {
            well = member->value->kind == WEIR__NULL ||
                   read_strategy(config, thread, member->value, below.text);
        } else if (strcmp(key, "coreId") == 0) {
            well = member->value->kind == WEIR__NULL || read_core(config, thread, member->value);
        } else {
            SAY(config, WEIR__ERROR, member->value, below.text,
                "is no key; here may stand: agentName, idleStrategy, coreId");
        }
    }
    return well ? thread : NULL;
}

static bool read_agents(weir_config *config, weir__node *engine)
{
    weir__node *agents = weir__child(config->tree, config->tree->root, "agentThreads");
    if (agents == NULL || agents->kind != WEIR__LIST) {
        return true;
    }
    weir__node *threads = weir__node_list(config->tree, agents->origin);
    for (size_t i = 0; threads != NULL && i < agents->list.count; i++) {
        const weir__node *agent = agents->list.items[i];
        char path[40];
        snprintf(path, sizeof(path), "agentThreads[%zu]", i);
        if (agent->kind != WEIR__OBJECT) {
            SAY(config, WEIR__ERROR, agent, path, "is %s, must be an object with an agentName",
                weir__kind_name(agent->kind));
            continue;
        }
        weir__node *thread = read_agent(config, agent, path);
        if (thread == NULL || !weir__list_append(config->tree, threads, thread)) {
            return false;
        }
    }
    SAY(config, WEIR__NOTE, agents, "agentThreads",
        "read as weir.engine.threads: an agent is a thread, and the dispatcher of the same name");
    const weir__node *given = weir__child(config->tree, engine, "threads");
    if (weir__is_given(given)) {
        SAY(config, WEIR__WARNING, agents, "agentThreads",
            "does not count: %s:%u says weir.engine.threads", given->origin.source,
            given->origin.line);
        return threads != NULL;
    }
    return set(config, engine, "threads", threads);
}

/* ---- all ---- */

/* The object at weir.engine, made if it is not there; NULL with *memory: something else is. */
static weir__node *engine_of(weir_config *config, bool *memory)
{
    static const char *const names[] = { "weir", "engine" };
    const weir__origin origin = { .source = WEIR__BUILT_IN };
    weir__node *node = config->tree->root;
    *memory = true;
    for (size_t i = 0; i < 2; i++) {
        weir__node *next = weir__child(config->tree, node, names[i]);
        if (next == NULL || next->kind == WEIR__NULL) {
            next = weir__node_object(config->tree, origin);
            *memory = set(config, node, names[i], next);
        }
        if (!*memory || next->kind != WEIR__OBJECT) {
            return NULL;
        }
        node = next;
    }
    return node;
}

bool weir__legacy(weir_config *config)
{
    bool memory;
    weir__node *engine = engine_of(config, &memory);
    if (engine == NULL) {
        return memory;
    }
    return read_scala(config, engine) && read_pool_size(config, engine) &&
           read_map_of_counts(config, engine) && read_agents(config, engine);
}

/* NOLINTEND(misc-no-recursion) */
