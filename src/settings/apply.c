/*
 * settings/apply.c - another configuration for an engine that runs.
 *
 *     new threads are added  ->  processors are moved  ->  the rest in one step (engine/reshape.h)
 *
 * Whatever fails, what came before is taken back: threads that were added go again, processors move
 * back. The last step is all or nothing by itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "engine/reshape.h"
#include "flow/options.h"
#include "flow/tune.h"
#include "settings/changes.h"
#include "settings/latency.h"
#include "settings/options.h"

typedef struct move {
    weir_processor processor;
    const char *to;
    char from[256];
} move;

/* A router that is there, and of which one of the two says something. */
typedef struct tuning {
    const char *name;
    weir__router *router;
    weir_ns block_max, idle_timeout; /* 0: as it is */
} tuning;

/* All that one apply works with; the arrays lie in `memory`. */
typedef struct apply {
    weir_engine *engine;
    const weir_config *before, *after;
    weir__tree *memory;
    weir__changes changes;
    const weir_thread_options **adding;
    size_t adding_count;
    weir_thread *added;
    size_t added_count;
    weir_thread *leaving;
    size_t leaving_count;
    move *moves;
    size_t move_count, moved_count;
    weir_engine_options defaults;
    weir_dispatcher_options *dispatchers;
    weir__processor_shape *processors;
    size_t processor_count;
    tuning *tunings;
    size_t tuning_count;
} apply;

/* ---- what is to be done ---- */

static bool same_lists(const char *const *a, const char *const *b)
{
    size_t i = 0;
    while (a[i] != NULL && b[i] != NULL && strcmp(a[i], b[i]) == 0) {
        i++;
    }
    return a[i] == NULL && b[i] == NULL;
}

static bool same_thread(const weir_thread_options *a, const weir_thread_options *b)
{
    return strcmp(a->name, b->name) == 0 && same_lists(a->dispatchers, b->dispatchers) &&
           a->idle == b->idle && a->idle_spin_max == b->idle_spin_max &&
           a->idle_sleep == b->idle_sleep && a->max_park == b->max_park &&
           a->core_count == b->core_count &&
           (a->core_count == 0 ||
            memcmp(a->cores, b->cores, a->core_count * sizeof(*a->cores)) == 0) &&
           a->core_required == b->core_required && a->priority == b->priority &&
           a->priority_value == b->priority_value;
}

static bool has_thread(const weir_config *config, const weir_thread_options *thread)
{
    for (size_t i = 0; i < config->thread_count; i++) {
        if (same_thread(&config->threads[i], thread)) {
            return true;
        }
    }
    return false;
}

static bool plan_threads(apply *a)
{
    const size_t old = a->before->thread_count, now = a->after->thread_count;
    a->adding = (const weir_thread_options **)weir__tree_memory(
        a->memory, (now + 1) * sizeof(const weir_thread_options *));
    a->added = weir__tree_memory(a->memory, (now + 1) * sizeof(*a->added));
    a->leaving = weir__tree_memory(a->memory, (old + 1) * sizeof(*a->leaving));
    if (a->adding == NULL || a->added == NULL || a->leaving == NULL) {
        return false;
    }
    for (size_t i = 0; i < now; i++) {
        if (!has_thread(a->before, &a->after->threads[i])) {
            a->adding[a->adding_count++] = &a->after->threads[i];
        }
    }
    for (size_t i = 0; i < old; i++) {
        if (!has_thread(a->after, &a->before->threads[i])) {
            const weir_thread gone = weir_thread_find(a->engine, a->before->threads[i].name);
            a->leaving[a->leaving_count] = gone;
            a->leaving_count += gone.id != 0; /* else the program has removed it */
        }
    }
    return true;
}

static bool plan_dispatchers(apply *a)
{
    const weir__dispatcher_settings *all = a->after->engine.dispatchers.items;
    const size_t count = a->after->engine.dispatchers.count;
    a->dispatchers = weir__tree_memory(a->memory, (count + 1) * sizeof(*a->dispatchers));
    for (size_t i = 0; a->dispatchers != NULL && i < count; i++) {
        weir__dispatcher_options_of(&all[i], &a->dispatchers[i]);
    }
    return a->dispatchers != NULL;
}

static weir__own own_of(bool before, bool after)
{
    return after ? WEIR__OWN_GIVE : before ? WEIR__OWN_INHERIT : WEIR__OWN_LEAVE;
}

/* It goes there if it is elsewhere. */
static void plan_move(apply *a, weir_processor processor, const char *to)
{
    move *m = &a->moves[a->move_count];
    if (to != NULL && processor.id != 0 &&
        weir_processor_dispatcher(a->engine, processor, m->from, sizeof(m->from)) == WEIR_OK &&
        strcmp(m->from, to) != 0) {
        m->processor = processor;
        m->to = to;
        a->move_count++;
    }
}

static void plan_processor(apply *a, const char *name)
{
    static const weir__processor_settings nothing = { 0 };
    const weir__processor_settings *old = weir__processor_settings_of(a->before, name);
    const weir__processor_settings *now = weir__processor_settings_of(a->after, name);
    old = old != NULL ? old : &nothing;
    now = now != NULL ? now : &nothing;
    a->processors[a->processor_count++] = (weir__processor_shape){
        .name = name,
        .overflow_own = own_of(old->overflow != 0, now->overflow != 0),
        .block_own = own_of(old->block_max != 0, now->block_max != 0),
        .batch_own = own_of(old->batch_max != 0, now->batch_max != 0),
        .overflow = (weir_overflow)now->overflow,
        .block_max = now->block_max,
        .batch_max = (uint32_t)now->batch_max,
    };
    plan_move(a, weir_processor_find(a->engine, name), now->dispatcher);
}

/* False: no memory. */
static bool find_routers(apply *a)
{
    const weir__flow_settings *old = a->before->weir.flows.items;
    const weir__flow_settings *now = a->after->weir.flows.items;
    const size_t olds = a->before->weir.flows.count, nows = a->after->weir.flows.count;
    a->tunings = weir__tree_memory(a->memory, (olds + nows + 1) * sizeof(*a->tunings));
    for (size_t i = 0; a->tunings != NULL && i < olds + nows; i++) {
        const char *name = i < nows ? now[i].name : old[i - nows].name;
        weir__router *router = weir__router_named(a->engine, name);
        if (router != NULL && (i < nows || weir__flow_settings_of(a->after, name) == NULL)) {
            a->tunings[a->tuning_count++] = (tuning){ .name = name, .router = router };
        }
    }
    return a->tunings != NULL && (a->tuning_count == 0 || weir__router_tune_begin(a->engine));
}

static size_t count_parts(const apply *a)
{
    size_t count = 0;
    for (size_t i = 0; i < a->tuning_count; i++) {
        count += weir__router_part_count(a->tunings[i].router);
    }
    return count;
}

/* A worker is a processor: its turns are as long as the router's are to be. False: no memory. */
static bool plan_worker(apply *a, const char *router, uint32_t index, uint32_t batch_max)
{
    char name[WEIR__ROUTER_NAME_SIZE + 32];
    weir__text copy;
    weir__router_worker_name(router, index, name, sizeof(name));
    if (!weir__tree_text(a->memory, name, strlen(name), &copy)) {
        return false;
    }
    a->processors[a->processor_count++] = (weir__processor_shape){ .name = copy.bytes,
                                                                   .batch_own = WEIR__OWN_GIVE,
                                                                   .batch_max = batch_max };
    return true;
}

static bool plan_router(apply *a, tuning *t)
{
    static const weir__flow_settings nothing = { 0 };
    const weir__flow_settings *old = weir__flow_settings_of(a->before, t->name);
    const weir__flow_settings *now = weir__flow_settings_of(a->after, t->name);
    weir_processor part;
    old = old != NULL ? old : &nothing;
    now = now != NULL ? now : &nothing;
    /* What was said and is not any more is as if it never was: the default. */
    const weir_ns block_max = old->block_max != 0 ? a->defaults.block_max : 0;
    const weir_ns idle_timeout = old->idle_timeout != 0 ? WEIR__FLOW_IDLE_USUAL : 0;
    const uint32_t batch_max = old->batch_max != 0 ? WEIR__ROUTER_BATCH_USUAL : 0;
    const uint32_t batch = now->batch_max != 0 ? (uint32_t)now->batch_max : batch_max;
    t->block_max = now->block_max != 0 ? now->block_max : block_max;
    t->idle_timeout = now->idle_timeout != 0 ? now->idle_timeout : idle_timeout;
    for (uint32_t i = 0; weir__router_part(t->router, i, &part); i++) {
        if (!weir__router_has_own_threads(t->router)) {
            plan_move(a, part, now->dispatcher);
        }
        if (i > 0 && batch != 0 && !plan_worker(a, t->name, i - 1, batch)) {
            return false;
        }
    }
    return true;
}

static bool plan_routers(apply *a)
{
    for (size_t i = 0; i < a->tuning_count; i++) {
        if (!plan_router(a, &a->tunings[i])) {
            return false;
        }
    }
    return true;
}

static bool plan_processors(apply *a)
{
    const weir__processor_settings *old = a->before->engine.processors.items;
    const weir__processor_settings *now = a->after->engine.processors.items;
    const size_t olds = a->before->engine.processors.count;
    const size_t nows = a->after->engine.processors.count;
    const size_t most = olds + nows + count_parts(a) + 1;
    a->processors = weir__tree_memory(a->memory, most * sizeof(*a->processors));
    a->moves = weir__tree_memory(a->memory, most * sizeof(*a->moves));
    if (a->processors == NULL || a->moves == NULL) {
        return false;
    }
    for (size_t i = 0; i < nows; i++) {
        plan_processor(a, now[i].name);
    }
    for (size_t i = 0; i < olds; i++) {
        if (weir__processor_settings_of(a->after, old[i].name) == NULL) {
            plan_processor(a, old[i].name);
        }
    }
    return true;
}

/* ---- doing it, and taking it back ---- */

static void take_back(apply *a)
{
    while (a->moved_count > 0) {
        const move *m = &a->moves[--a->moved_count];
        (void)weir_processor_move(a->engine, m->processor, m->from, NULL);
    }
    while (a->added_count > 0) {
        weir__thread_take_back(a->engine, a->added[--a->added_count]);
    }
    weir__threads_replaced(a->engine, a->leaving, a->leaving_count, false);
}

static weir_status carry_out(apply *a, size_t *kept, weir_error *error)
{
    weir__threads_replaced(a->engine, a->leaving, a->leaving_count, true);
    while (a->added_count < a->adding_count) {
        const weir_thread thread = weir_thread_add(a->engine, a->adding[a->added_count], error);
        if (thread.id == 0) {
            return error->status;
        }
        a->added[a->added_count++] = thread;
    }
    while (a->moved_count < a->move_count) {
        const move *m = &a->moves[a->moved_count];
        const weir_status status = weir_processor_move(a->engine, m->processor, m->to, error);
        if (status < 0) {
            return status;
        }
        a->moved_count++; /* one that is gone, or there already, moves back as easily */
    }
    const weir__shape shape = {
        .defaults = &a->defaults,
        .dispatchers = a->dispatchers,
        .dispatcher_count = a->after->engine.dispatchers.count,
        .processors = a->processors,
        .processor_count = a->processor_count,
        .leaving = a->leaving,
        .leaving_count = a->leaving_count,
    };
    return weir__engine_reshape(a->engine, &shape, kept, error);
}

/* ---- what needs a restart ---- */

static bool begins_with(const char *text, const char *begin)
{
    return strncmp(text, begin, strlen(begin)) == 0;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* True: a router takes it at once, or will when it is added. */
static bool is_applied_to_flows(const apply *a, const weir__change *change)
{
    const char *path = change->path;
    const tuning *found = NULL;
    for (size_t i = 0; i < a->tuning_count && found == NULL; i++) {
        weir__path begin;
        weir__path_begin(&begin, WEIR__FLOWS_PATH);
        weir__path_name(&begin, a->tunings[i].name);
        if (begins_with(path, begin.text) && path[begin.length] == '.') {
            found = &a->tunings[i];
        }
    }
    if (found == NULL) {
        return true;
    }
    /* One that was made for the targets that a file names goes with what it says of it. */
    const weir__flow_settings *old = weir__flow_settings_of(a->before, found->name);
    if (old != NULL && old->targets != NULL &&
        weir__flow_settings_of(a->after, found->name) == NULL) {
        return true;
    }
    return ends_with(path, ".block-max") || ends_with(path, ".flow-idle-timeout") ||
           ends_with(path, ".batch-max") ||
           (ends_with(path, ".dispatcher") && change->after != NULL &&
            !weir__router_has_own_threads(found->router));
}

/* True: of a key of weir's that changes at once, or is not weir's at all. */
static bool is_applied(const apply *a, const weir__change *change)
{
    static const char *const whole[] = { "weir.engine.thread-dispatcher-assignment",
                                         "weir.engine.threads[",
                                         "weir.engine.assignment.",
                                         "weir.engine.backoff.",
                                         "weir.engine.batch-max",
                                         "weir.engine.overflow",
                                         "weir.engine.block-max",
                                         "weir.engine.log-level",
                                         "weir.engine.latency", /* and -every, -max-processors */
                                         "weir.engine.default-queue-size" };
    const char *path = change->path;
    if (!begins_with(path, WEIR__ENGINE_PATH ".") && !begins_with(path, WEIR__FLOWS_PATH ".")) {
        return true; /* of others' tables: theirs to apply */
    }
    for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
        if (begins_with(path, whole[i])) {
            return true;
        }
    }
    if (begins_with(path, WEIR__FLOWS_PATH ".")) {
        return is_applied_to_flows(a, change);
    }
    if (begins_with(path, "weir.engine.dispatchers.")) {
        return !ends_with(path, ".fair");
    }
    if (begins_with(path, "weir.engine.processors.")) {
        if (ends_with(path, ".overflow") || ends_with(path, ".block-max") ||
            ends_with(path, ".batch-max") ||
            (ends_with(path, ".dispatcher") && change->after != NULL)) {
            return true;
        }
        for (size_t i = 0; i < a->processor_count; i++) {
            weir__path begin;
            weir__path_begin(&begin, "weir.engine.processors");
            weir__path_name(&begin, a->processors[i].name);
            if (begins_with(path, begin.text) && path[begin.length] == '.' &&
                weir_processor_find(a->engine, a->processors[i].name).id == 0) {
                return true; /* it counts when the processor is added */
            }
        }
    }
    return false;
}

static size_t tell(const apply *a, size_t kept)
{
    size_t pending = 0;
    for (size_t i = 0; i < a->changes.count; i++) {
        const weir__change *change = &a->changes.items[i];
        if (is_applied(a, change)) {
            continue;
        }
        const weir_log_field fields[] = {
            { "key", change->path },
            { "is", change->before != NULL ? change->before : "" },
            { "wanted", change->after != NULL ? change->after : "" },
            { "from", change->after_from != NULL ? change->after_from : "" },
        };
        pending++;
        weir_log_write(a->engine, WEIR_LOG_WARNING, "config", "this key needs a restart", fields,
                       4);
    }
    if (kept > 0) {
        char number[24];
        snprintf(number, sizeof(number), "%zu", kept);
        const weir_log_field field = { "processors", number };
        pending++;
        weir_log_write(a->engine, WEIR_LOG_WARNING, "config",
                       "drop-oldest and block have to be there from the beginning: processors keep "
                       "their overflow policy until they are added anew",
                       &field, 1);
    }
    return pending;
}

/* ---- all of it ---- */

static weir_status run(apply *a, size_t *pending, weir_error *error)
{
    size_t kept = 0;
    const weir_allocator *allocator = weir__engine_allocator(a->engine);
    a->memory = weir__tree_create(allocator, 0);
    a->defaults = (weir_engine_options){ .struct_size = sizeof(a->defaults) };
    weir__engine_options_of(&a->after->engine, &a->defaults);
    if (a->memory == NULL || !weir__changes_find(&a->changes, allocator, a->before, a->after) ||
        !plan_threads(a) || !plan_dispatchers(a) || !find_routers(a) || !plan_processors(a) ||
        !plan_routers(a)) {
        return weir__error_memory(error, "weir_config_apply");
    }
    const weir_status status = carry_out(a, &kept, error);
    if (status != WEIR_OK) {
        take_back(a);
        return status;
    }
    for (size_t i = 0; i < a->tuning_count; i++) {
        const tuning *t = &a->tunings[i];
        weir__router_tune(t->router, t->block_max, t->idle_timeout);
    }
    weir_log_level_set(a->engine, a->defaults.log_level);
    weir__settings_latency(a->engine, &a->before->engine, &a->after->engine);
    weir__engine_metrics_max(a->engine, (uint32_t)a->after->weir.metrics.processors_max);
    const size_t waiting = tell(a, kept);
    if (pending != NULL) {
        *pending = waiting;
    }
    return WEIR_OK;
}

weir_status weir_config_apply(const weir_config *config, weir_engine *engine, size_t *pending,
                              weir_error *error)
{
    weir_error own = WEIR_ERROR_INIT;
    weir_error *told = error != NULL ? error : &own;
    if (weir__error_is_set(error)) {
        return error->status;
    }
    if (config == NULL) {
        return weir__error_at(told, WEIR_E_INVALID, "weir_config_apply.config", "is NULL");
    }
    if (weir__problems_failed(&config->problems)) {
        return weir__problems_error(&config->problems, told);
    }
    if (weir__engine_inside_handler()) {
        return weir__error_at(told, WEIR_E_BLOCKING, "weir_config_apply",
                              "would wait for a turn inside a handler; call it from another "
                              "thread");
    }
    weir__configured *configured;
    if (!weir__engine_configure_lock(engine, &configured)) {
        return weir__error_at(told, WEIR_E_INVALID, "weir_config_apply.engine",
                              "is no usable engine");
    }
    weir_status status;
    if (configured->config == NULL) {
        status = weir__error_at(told, WEIR_E_INVALID, "weir_config_apply.engine",
                                "was not made by weir_config_engine");
    } else {
        apply a = { .engine = engine, .before = configured->config, .after = config };
        status = run(&a, pending, told);
        if (status == WEIR_OK) {
            configured->config = (weir_config *)(uintptr_t)config;
            weir__config_retain(configured->config);
            weir__config_release((weir_config *)(uintptr_t)a.before);
        }
        weir__changes_close(&a.changes);
        weir__tree_destroy(a.memory);
    }
    weir__engine_configure_unlock(engine);
    return status;
}
