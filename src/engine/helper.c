/*
 * engine/helper.c - see helper.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/helper.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "engine/options.h"
#include "engine/scheduler.h"

/* ---- plans ---- */

static bool has(const weir__cores *cores, int32_t core)
{
    const uint32_t n = (uint32_t)core;
    return n / 64 < WEIR__CORES_WORDS && (cores->bits[n / 64] >> n % 64 & 1) != 0;
}

/* The first core that is wanted and not allowed; -1: none. */
static int32_t read_cores(weir__helper_plan *plan)
{
    const weir_helper_options *o = &plan->options;
    for (uint32_t i = 0; i < o->core_count; i++) {
        const uint32_t n = (uint32_t)o->cores[i];
        if (!has(&plan->allowed, o->cores[i])) {
            return o->cores[i];
        }
        plan->wanted.bits[n / 64] |= UINT64_C(1) << n % 64;
    }
    return -1;
}

weir_status weir__helper_plan_make(weir_engine *engine, weir__helper_plan *plan,
                                   const weir_helper_options *options, const char *path,
                                   weir_error *error)
{
    const weir_status status = weir__options_helper(options, &plan->options, error);
    if (status != WEIR_OK) {
        return status;
    }
    weir_helper_options *o = &plan->options;
    if (!weir__copy_text(&engine->allocator, o->name, &plan->name)) {
        return weir__error_memory(error, "weir_engine_create");
    }
    weir__cores_allowed(&plan->allowed);
    plan->first = o->core_count > 0 ? o->cores[0] : -1;
    plan->missing = read_cores(plan);
    o->cores = NULL;
    o->name = NULL;
    if (plan->missing >= 0 && o->core_required) {
        return weir__error_system(error, EINVAL, path,
                                  "core %d is required and cannot be had: it does not exist, or "
                                  "this process may not use it",
                                  (int)plan->missing);
    }
    return WEIR_OK;
}

void weir__helper_plan_free(weir_engine *engine, weir__helper_plan *plan)
{
    weir__release_text(&engine->allocator, plan->name);
}

static void name_of(const weir__helper_plan *plan, const char *does, char *out)
{
    snprintf(out, WEIR__HELPER_NAME_SIZE, "%.*s-%s",
             (int)(WEIR__HELPER_NAME_SIZE - 2 - strlen(does)),
             plan->name != NULL ? plan->name : "weir", does);
}

/* ---- the thread ---- */

static void warn(weir_engine *engine, const char *name, const char *key, int32_t value,
                 const char *what)
{
    char component[96];
    char number[16];
    snprintf(component, sizeof(component), "thread %s", name);
    snprintf(number, sizeof(number), "%d", (int)value);
    const weir_log_field field = { key, number };
    weir__log_say(&engine->log, NULL, WEIR_LOG_WARNING, WEIR_E_SYSTEM, component, what, &field, 1);
}

void weir__helper_begin(weir_engine *engine, weir__helper *helper, const weir__helper_plan *plan,
                        const char *does)
{
    const weir_helper_options *o = &plan->options;
    const bool pinned = o->core_count > 0 && plan->missing < 0;
    char name[WEIR__HELPER_NAME_SIZE];
    name_of(plan, does, name);
    weir__os_thread_name(name);
    const int failure = weir__os_thread_place(pinned ? &plan->wanted : &plan->allowed);
    if (o->core_count > 0 && (!pinned || failure != 0)) {
        warn(engine, name, "core", pinned ? plan->first : plan->missing,
             "the core cannot be had; the thread runs unpinned");
    }
    weir__store(&helper->core, pinned && failure == 0 ? 1 + plan->first : 0, relaxed);
    if (weir__os_thread_priority(o->priority, o->priority_value) != 0) {
        warn(engine, name, "priority", o->priority_value, "the system refused its priority");
    }
    weir__store(&helper->system_id, (uint32_t)weir__os_thread_id(), relaxed);
}

void weir__helper_end(weir__helper *helper)
{
    weir__store(&helper->system_id, 0, relaxed);
}

/* ---- which there are ---- */

typedef struct listing {
    weir__helper_info *out;
    uint32_t room, count;
} listing;

static void add(listing *l, weir__helper *helper, const char *kind, const weir__helper_plan *plan,
                const char *does)
{
    const uint32_t id = weir__load(&helper->system_id, relaxed);
    if (id == 0 || l->count == l->room) {
        return;
    }
    weir__helper_info *info = &l->out[l->count++];
    info->kind = kind;
    info->system_id = (int32_t)id;
    info->core = weir__load(&helper->core, relaxed) - 1;
    name_of(plan, does, info->name);
}

uint32_t weir__helpers_get(weir_engine *engine, weir__helper_info *out, uint32_t room)
{
    listing l = { out, room, 0 };
    weir__mutex_lock(&engine->registry.lock);
    for (uint32_t i = 0; i < engine->options.scheduler_threads; i++) {
        weir__scheduler *scheduler = weir__scheduler_at(engine, i);
        if (scheduler != NULL) {
            add(&l, &scheduler->helper, "scheduler", &engine->scheduler_plan, "timer");
        }
    }
    add(&l, &engine->watchdog_helper, "watchdog", &engine->helper_plan, "watchdog");
    add(&l, &engine->monitor_helper, "monitor", &engine->helper_plan, "monitor");
    add(&l, &engine->keeper_helper, "keeper", &engine->helper_plan, "keeper");
    weir__mutex_unlock(&engine->registry.lock);
    return l.count;
}
