/*
 * settings/plan.c - which threads there will be: a list of them, rows of names, or a strategy. And
 * what a row alone cannot say of a router.
 *
 * Threads without a name get one from what they serve: the second that serves api and realtime is
 * "api+realtime-2". So the same assignment always has the same names, and a reload that adds a row
 * finds all others as they were.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "engine/assignment.h"
#include "settings/config.h"
#include "tree/read.h"

enum { THREADS_MAX = 1024, DISPATCHERS_MAX = 64, NAME_MAX_BYTES = 255, BASE_MAX = 80 };

#define ERROR(config, node, path, ...)                                                             \
    weir__problems_add(&(config)->problems, WEIR__ERROR, weir__said(node)->origin, path,           \
                       __VA_ARGS__)

/* ---- names ---- */

static bool is_taken(const weir_config *config, const char *name)
{
    for (size_t i = 0; i < config->thread_count; i++) {
        if (config->threads[i].name != NULL && strcmp(config->threads[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* FNV-1a: tells long lists of names apart. */
static uint32_t hash(uint32_t h, const char *text)
{
    for (; *text != '\0'; text++) {
        h = (h ^ (unsigned char)*text) * 16777619u;
    }
    return (h ^ 0xffu) * 16777619u;
}

static void base_name(const char *const *dispatchers, char out[static BASE_MAX + 16])
{
    size_t used = 0;
    uint32_t h = 2166136261u;
    bool cut = false;
    snprintf(out, BASE_MAX, "services"); /* of one that serves none */
    for (size_t i = 0; dispatchers[i] != NULL; i++) {
        const char *name = dispatchers[i][0] != '\0' ? dispatchers[i] : "weir";
        h = hash(h, dispatchers[i]);
        const int length = snprintf(out + used, BASE_MAX - used, "%s%s", i > 0 ? "+" : "", name);
        cut = cut || (size_t)length >= BASE_MAX - used;
        used = cut ? BASE_MAX - 1 : used + (size_t)length;
    }
    if (cut) {
        snprintf(out + BASE_MAX - 10, 20, "~%08x", h);
    }
}

static bool same_names(const char *const *a, const char *const *b)
{
    size_t i = 0;
    while (a[i] != NULL && b[i] != NULL && strcmp(a[i], b[i]) == 0) {
        i++;
    }
    return a[i] == NULL && b[i] == NULL;
}

/* How many before it serve the same. */
static unsigned count_before(const weir_config *config, size_t thread)
{
    unsigned count = 0;
    for (size_t i = 0; i < thread; i++) {
        count += config->threads[i].dispatchers != NULL &&
                 same_names(config->threads[i].dispatchers, config->threads[thread].dispatchers);
    }
    return count;
}

static bool name_threads(weir_config *config)
{
    char base[BASE_MAX + 16], name[BASE_MAX + 32];
    for (size_t i = 0; i < config->thread_count; i++) {
        weir_thread_options *thread = &config->threads[i];
        if (thread->name != NULL || thread->dispatchers == NULL) {
            continue;
        }
        base_name(thread->dispatchers, base);
        unsigned number = 1 + count_before(config, i);
        do {
            snprintf(name, sizeof(name), "%s-%u", base, number++);
        } while (is_taken(config, name));
        weir__text copy;
        if (!weir__tree_text(config->tree, name, strlen(name), &copy)) {
            return false;
        }
        thread->name = copy.bytes;
    }
    return true;
}

/* ---- single threads ---- */

/* `rows`: where a thread can have nothing else to do. */
static void check_dispatchers(weir_config *config, const weir__node *node, const char *path,
                              const char *const *names, bool rows)
{
    size_t count = 0;
    for (; names[count] != NULL; count++) {
        if (strlen(names[count]) > NAME_MAX_BYTES) {
            ERROR(config, node, path, "'%.40s...' has %zu bytes, which is not <= %d", names[count],
                  strlen(names[count]), NAME_MAX_BYTES);
        }
        for (size_t i = 0; i < count && count <= DISPATCHERS_MAX; i++) {
            if (strcmp(names[i], names[count]) == 0) {
                ERROR(config, node, path, "has \"%.60s\" twice: once will do", names[i]);
            }
        }
    }
    if (count == 0 && rows) {
        ERROR(config, node, path,
              "is empty: a thread serves at least one dispatcher (\"\" is the default one)");
    }
    if (count > DISPATCHERS_MAX) {
        ERROR(config, node, path, "has %zu names, which is not <= %d", count, DISPATCHERS_MAX);
    }
}

static void check_priority(weir_config *config, const weir__node *node, const char *path,
                           int64_t priority, long long value)
{
    if (priority == WEIR_PRIORITY_NICE && value > 19) {
        ERROR(config, node, path, "%lld is not <= 19, as priority = nice needs it", value);
    } else if (priority > WEIR_PRIORITY_NICE && value < 1) {
        ERROR(config, node, path, "%lld is not >= 1, as priority = fifo and round-robin need it",
              value);
    }
}

/* As option structs have them; NULL: none. False: no memory. */
static bool cores_of(weir_config *config, const weir_option_ints *cores, const int32_t **out)
{
    *out = NULL;
    if (cores->count == 0) {
        return true;
    }
    int32_t *list = weir__tree_memory(config->tree, cores->count * sizeof(*list));
    for (size_t i = 0; list != NULL && i < cores->count; i++) {
        list[i] = (int32_t)cores->items[i];
    }
    *out = list;
    return list != NULL;
}

static bool thread_of(weir_config *config, const weir__thread_settings *t, weir_thread_options *out)
{
    const int32_t *cores;
    if (!cores_of(config, &t->cores, &cores)) {
        return false;
    }
    *out = (weir_thread_options){
        .struct_size = sizeof(*out),
        .name = t->name,
        .dispatchers = t->dispatchers,
        .idle = (weir_idle)t->idle,
        .idle_spin_max = t->idle_spin_max != 0 ? t->idle_spin_max : WEIR_NOW,
        .idle_sleep = t->idle_sleep,
        .max_park = t->max_park,
        .cores = cores,
        .core_count = (uint32_t)t->cores.count,
        .core_required = t->core_required,
        .priority = (weir_priority)t->priority,
        .priority_value = (int32_t)t->priority_value,
    };
    return true;
}

static void check_name(weir_config *config, const weir__node *item, const char *path, size_t i)
{
    const char *name = config->threads[i].name;
    const weir__node *node = weir__child(config->tree, item, "name");
    if (name == NULL || node == NULL) {
        return;
    }
    if (name[0] == '\0') {
        ERROR(config, node, path, "is empty: leave it out, or give it a name");
    }
    if (strlen(name) > NAME_MAX_BYTES) {
        ERROR(config, node, path, "'%.40s...' has %zu bytes, which is not <= %d", name,
              strlen(name), NAME_MAX_BYTES);
    }
    for (size_t k = 0; k < i; k++) {
        if (config->threads[k].name != NULL && strcmp(config->threads[k].name, name) == 0) {
            ERROR(config, node, path, "'%.60s' is taken: weir.engine.threads[%zu] has it", name, k);
            return;
        }
    }
}

/* ---- the three forms ---- */

static bool room_for(weir_config *config, size_t count, const weir__node *node, const char *path)
{
    if (count == 0) {
        ERROR(config, node, path, "has no thread: at least one is needed, as in [[\"\"]]");
    } else if (count > THREADS_MAX) {
        ERROR(config, node, path, "%zu threads is not <= %d", count, THREADS_MAX);
        count = 0;
    }
    config->threads = weir__tree_memory(config->tree, (count + 1) * sizeof(*config->threads));
    config->thread_count = 0;
    return config->threads != NULL;
}

static bool threads_from_items(weir_config *config, weir__node *node)
{
    const weir__thread_settings *threads = config->engine.threads.items;
    const size_t count = config->engine.threads.count;
    weir__node **items = NULL;
    size_t item_count = 0;
    if (node->kind != WEIR__LIST && node->kind != WEIR__OBJECT) {
        return true; /* said where it was read */
    }
    if (!room_for(config, count, node, "weir.engine.threads") || count > THREADS_MAX ||
        !weir__read_list(config->tree, node, &items, &item_count, NULL)) {
        return config->threads != NULL;
    }
    for (size_t i = 0; i < count && i < item_count; i++) {
        char path[64];
        if (!thread_of(config, &threads[i], &config->threads[i])) {
            return false;
        }
        config->thread_count++;
        snprintf(path, sizeof(path), "weir.engine.threads[%zu].name", i);
        check_name(config, items[i], path, i);
        const weir__node *names = weir__child(config->tree, items[i], "dispatchers");
        if (threads[i].dispatchers != NULL && names != NULL) {
            snprintf(path, sizeof(path), "weir.engine.threads[%zu].dispatchers", i);
            check_dispatchers(config, names, path, threads[i].dispatchers, false);
        }
        const weir__node *value = weir__child(config->tree, items[i], "priority-value");
        snprintf(path, sizeof(path), "weir.engine.threads[%zu].priority-value", i);
        check_priority(config, value != NULL ? value : items[i], path, threads[i].priority,
                       threads[i].priority_value);
    }
    return true;
}

static void plain_thread(weir_config *config, const char *const *dispatchers, weir_idle idle)
{
    config->threads[config->thread_count++] = (weir_thread_options){
        .struct_size = sizeof(weir_thread_options),
        .dispatchers = dispatchers,
        .idle = idle,
    };
}

static bool threads_from_rows(weir_config *config, weir__node *node)
{
    static const char *const path_of_all = "weir.engine.thread-dispatcher-assignment";
    static const weir__node nowhere = { .origin = { .source = WEIR__BUILT_IN } };
    const char *const *const *rows = config->engine.rows;
    size_t count = 0;
    if (rows == NULL) {
        return true; /* said where it was read */
    }
    while (rows[count] != NULL) {
        count++;
    }
    const weir__node *at = node != NULL ? node : &nowhere;
    if (!room_for(config, count, at, path_of_all) || count > THREADS_MAX) {
        return config->threads != NULL;
    }
    for (size_t i = 0; i < count; i++) {
        char path[80];
        snprintf(path, sizeof(path), "%s[%zu]", path_of_all, i);
        const bool listed = node != NULL && node->kind == WEIR__LIST && i < node->list.count;
        check_dispatchers(config, listed ? node->list.items[i] : at, path, rows[i], true);
        plain_thread(config, rows[i], WEIR_IDLE_BACKOFF);
    }
    return true;
}

/* How many threads a strategy makes. False: said. */
static bool count_threads(weir_config *config, const weir__node *node, size_t names, uint32_t cores,
                          size_t *count)
{
    const weir__assignment_settings *a = &config->engine.assignment;
    const weir__node *at = weir__child(config->tree, node, "counts");
    *count = a->threads != 0 ? (size_t)a->threads : cores;
    if (a->strategy != WEIR_STRATEGY_PER_DISPATCHER) {
        if (at != NULL && a->counts.count > 0) {
            ERROR(config, at, "weir.engine.assignment.counts",
                  "is for strategy = per-dispatcher only; here say threads = N");
        }
        return true;
    }
    if (a->counts.count != 0 && a->counts.count != names) {
        ERROR(config, at != NULL ? at : node, "weir.engine.assignment.counts",
              "has %zu numbers for %zu dispatchers, must have one each", a->counts.count, names);
        return false;
    }
    *count = a->counts.count == 0 ? names : 0;
    for (size_t i = 0; i < a->counts.count; i++) {
        *count += (size_t)a->counts.items[i];
    }
    return true;
}

static bool threads_from_strategy(weir_config *config, weir__node *node, uint32_t cores)
{
    static const char *const path = "weir.engine.assignment";
    const weir__assignment_settings *a = &config->engine.assignment;
    size_t names = 0, count = 0;
    while (a->dispatchers != NULL && a->dispatchers[names] != NULL) {
        names++;
    }
    if (names == 0) {
        ERROR(config, node, "weir.engine.assignment.dispatchers",
              "is empty: a strategy needs at least one name (\"\" is the default dispatcher)");
        return true;
    }
    const weir__node *list = weir__child(config->tree, node, "dispatchers");
    if (names > THREADS_MAX) {
        ERROR(config, list != NULL ? list : node, "weir.engine.assignment.dispatchers",
              "has %zu names, which is not <= %d", names, THREADS_MAX);
        return true;
    }
    if (!count_threads(config, node, names, cores, &count)) {
        return true;
    }
    uint32_t *counts = weir__tree_memory(config->tree, (names + 1) * sizeof(*counts));
    if (counts == NULL || !room_for(config, count, node, path) || count > THREADS_MAX) {
        return counts != NULL && config->threads != NULL;
    }
    for (size_t i = 0; i < names; i++) {
        counts[i] = a->counts.count > 0 ? (uint32_t)a->counts.items[i] : 1;
    }
    const weir_assignment_options options = {
        .struct_size = sizeof(options),
        .strategy = (weir_strategy)a->strategy,
        .dispatchers = a->dispatchers,
        .threads = (uint32_t)count,
        .counts = counts,
    };
    const size_t problems = config->problems.count;
    for (size_t i = 0; i < count && config->problems.count == problems; i++) {
        const char **row =
            (const char **)weir__tree_memory(config->tree, (names + 1) * sizeof(*row));
        if (row == NULL) {
            return false;
        }
        (void)weir__assignment_row(&options, (uint32_t)count, (uint32_t)i, row);
        check_dispatchers(config, list != NULL ? list : node, "weir.engine.assignment.dispatchers",
                          row, true);
        plain_thread(config, row, (weir_idle)a->idle);
    }
    return true;
}

/* ---- which of them ---- */

static void refuse_second(weir_config *config, const weir__node *first, const char *first_key,
                          const weir__node *second, const char *second_key)
{
    char path[80];
    snprintf(path, sizeof(path), "weir.engine.%s", second_key);
    ERROR(config, second, path,
          "stands beside %s (%s:%u), and both say which threads there are: keep one, and set the "
          "other to null if another file has it",
          first_key, weir__said(first)->origin.source, weir__said(first)->origin.line);
}

bool weir__plan_threads(weir_config *config, weir__node *engine, uint32_t cores)
{
    weir__node *rows = weir__child(config->tree, engine, "thread-dispatcher-assignment");
    weir__node *threads = weir__child(config->tree, engine, "threads");
    weir__node *assignment = weir__child(config->tree, engine, "assignment");
    const bool by_strategy = config->engine.assignment.strategy != 0;
    const bool given_rows = weir__is_given(rows), given_threads = weir__is_given(threads);
    if (given_rows && given_threads) {
        refuse_second(config, rows, "thread-dispatcher-assignment", threads, "threads");
    }
    if (by_strategy && (given_rows || given_threads)) {
        refuse_second(config, given_rows ? rows : threads,
                      given_rows ? "thread-dispatcher-assignment" : "threads", assignment,
                      "assignment");
    }
    bool memory;
    if (given_threads) {
        memory = threads_from_items(config, threads);
    } else if (by_strategy) {
        memory = threads_from_strategy(config, assignment, cores);
    } else {
        memory = threads_from_rows(config, rows);
    }
    return memory && name_threads(config);
}

/* ---- threads that serve no dispatcher ---- */

static bool plan_helper(weir_config *config, const weir__node *engine, const char *key,
                        weir__helper_settings *s)
{
    char path[96];
    const int32_t *cores;
    const weir__node *group = weir__child(config->tree, engine, key);
    const weir__node *value = weir__child(config->tree, group, "priority-value");
    snprintf(path, sizeof(path), WEIR__ENGINE_PATH ".%s.priority-value", key);
    if (!weir__is_given(value)) { /* what is wrong is that it is missing */
        value = weir__child(config->tree, group, "priority");
    }
    check_priority(config, value, path, s->priority, s->priority_value);
    const weir__node *name = weir__child(config->tree, group, "name");
    if (s->name != NULL && strlen(s->name) > NAME_MAX_BYTES) {
        snprintf(path, sizeof(path), WEIR__ENGINE_PATH ".%s.name", key);
        ERROR(config, name, path, "'%.40s...' has %zu bytes, which is not <= %d", s->name,
              strlen(s->name), NAME_MAX_BYTES);
    }
    if (!cores_of(config, &s->cores, &cores)) {
        return false;
    }
    s->options = (weir_helper_options){
        .struct_size = sizeof(s->options),
        .name = s->name,
        .cores = cores,
        .core_count = (uint32_t)s->cores.count,
        .core_required = s->core_required,
        .priority = (weir_priority)s->priority,
        .priority_value = (int32_t)s->priority_value,
    };
    return true;
}

bool weir__plan_helpers(weir_config *config, const weir__node *engine)
{
    return plan_helper(config, engine, "scheduler-thread", &config->engine.scheduler_thread) &&
           plan_helper(config, engine, "helper-thread", &config->engine.helper_thread);
}

/* ---- flows ---- */

bool weir__plan_flows(weir_config *config)
{
    /* The rows fill memory of the tree, which is ours until the load is over. */
    weir__flow_settings *all = (weir__flow_settings *)(uintptr_t)config->weir.flows.items;
    const weir__node *map = weir__tree_at(config->tree, config->tree->root, WEIR__FLOWS_PATH);
    for (size_t i = 0; i < config->weir.flows.count; i++) {
        const weir__node *item = weir__child(config->tree, map, all[i].name);
        all[i].migrate_said = weir__is_given(weir__child(config->tree, item, "migrate"));
        all[i].own_threads_said = weir__is_given(weir__child(config->tree, item, "own-threads"));
        if (!cores_of(config, &all[i].cores, &all[i].core_list)) {
            return false;
        }
    }
    return true;
}

bool weir__is_served(const weir_config *config, const char *dispatcher)
{
    for (size_t i = 0; i < config->thread_count; i++) {
        const char *const *names = config->threads[i].dispatchers;
        for (size_t k = 0; names != NULL && names[k] != NULL; k++) {
            if (strcmp(names[k], dispatcher) == 0) {
                return true;
            }
        }
    }
    return false;
}
