/*
 * host/admin_change.c - built-in commands that change what runs: a restart, a move.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "engine/engine.h"
#include "engine/halt.h"
#include "host/admin.h"
#include "sync/word.h"
#include "weir/component.h"
#include "weir/counters.h"

#define TIMEOUT (5 * WEIR_S)
#define LOOK_AGAIN WEIR_MS

/* ---- restart ---- */

typedef struct search {
    const char *name;
    bool found;
} search;

static bool visit_component(void *context, const weir_component_info *info)
{
    search *s = context;
    const size_t length = strlen(s->name);
    s->found = strncmp(info->name, s->name, length) == 0 &&
               (info->name[length] == '\0' || info->name[length] == '/');
    return !s->found;
}

/* Its own name, or that of its instances. */
static bool is_component(weir_engine *engine, const char *name)
{
    search s = { name, false };
    weir_component_visit(engine, visit_component, &s);
    return s.found;
}

static weir_status restart_component(weir_admin_call *call, const char *name)
{
    weir_error error = WEIR_ERROR_INIT;
    const weir_status status = weir_component_restart(call->engine, name, NULL, TIMEOUT, &error);
    weir_admin_text(call, "component", name);
    weir_admin_bool(call, "restarted", status == WEIR_OK);
    return status == WEIR_OK || error.status == WEIR_OK
               ? status
               : weir_admin_fail(call, status, "%s: %s", error.path, error.text);
}

static void rest(void)
{
    weir__atomic_u32 nobody;
    weir__init(&nobody, 0);
    weir__word_wait(&nobody, 0, LOOK_AGAIN);
}

/* Until one more restart was counted. */
static weir_status await_restart(weir_admin_call *call, weir_processor processor,
                                 const weir_counters *before, weir_counters *after)
{
    const weir_ns end = weir__clock_now() + TIMEOUT;
    weir_status status;
    while ((status = weir_processor_counters(call->engine, processor, after)) == WEIR_OK &&
           after->restarts == before->restarts) {
        if (weir__clock_now() >= end) {
            return weir_admin_fail(call, WEIR_TIMEOUT,
                                   "it has not come to it in 5 s; it is restarted when it does");
        }
        rest();
    }
    return status == WEIR_OK ? WEIR_OK
                             : weir_admin_fail(call, WEIR_E_FAILED,
                                               "it has ended: its init failed, or it was stopped");
}

static weir_status on_restart(void *context, weir_admin_call *call)
{
    (void)context;
    const char *name = weir_admin_argument(call, 0);
    char component[64];
    weir_counters before = WEIR_COUNTERS_INIT, after = WEIR_COUNTERS_INIT;
    if (is_component(call->engine, name)) {
        return restart_component(call, name);
    }
    weir_processor found;
    if (weir__admin_processor(call, name, &found) != WEIR_OK) {
        return WEIR_UNKNOWN;
    }
    if (weir__admin_component_of(call->engine, found, component, sizeof(component))) {
        return restart_component(call, component);
    }
    if (weir__admin_is_router_part(name)) {
        return weir_admin_fail(call, WEIR_E_INVALID,
                               "'%.64s' is a part of a router, whose flows would be lost", name);
    }
    weir_status status = weir_processor_counters(call->engine, found, &before);
    status = status == WEIR_OK ? weir__processor_restart(call->engine, found) : status;
    if (status != WEIR_OK) {
        return weir_admin_fail(call, status, "it cannot be asked to: %s", weir_status_text(status));
    }
    status = await_restart(call, found, &before, &after);
    weir_admin_text(call, "processor", name);
    weir_admin_bool(call, "restarted", status == WEIR_OK);
    weir_admin_unsigned(call, "restarts", after.restarts);
    return status;
}

/* ---- move ---- */

typedef struct nearest {
    const char *wanted;
    size_t distance;
    char name[256];
} nearest;

static bool visit_dispatcher(void *context, const char *name)
{
    nearest *n = context;
    const size_t distance = weir__distance(name, n->wanted);
    if (distance < n->distance && weir__distance_is_near(distance, name, n->wanted)) {
        n->distance = distance;
        (void)snprintf(n->name, sizeof(n->name), "%s", name);
    }
    return true;
}

static weir_status refuse_move(weir_admin_call *call, weir_status status, const char *wanted,
                               const weir_error *error)
{
    nearest n = { .wanted = wanted, .distance = SIZE_MAX };
    if (strcmp(error->path, "weir_processor_move.dispatcher") != 0) {
        return weir_admin_fail(call, status, "it %s",
                               error->text[0] != '\0' ? error->text : weir_status_text(status));
    }
    weir_dispatcher_visit(call->engine, visit_dispatcher, &n);
    return weir_admin_fail(call, WEIR_UNKNOWN, "the dispatcher %s%s%s%s", error->text,
                           n.name[0] != '\0' ? "; did you mean '" : "", n.name,
                           n.name[0] != '\0' ? "'?" : "");
}

static weir_status on_move(void *context, weir_admin_call *call)
{
    (void)context;
    const char *name = weir_admin_argument(call, 0);
    const char *wanted = weir_admin_argument(call, 1);
    char from[256];
    weir_error error = WEIR_ERROR_INIT;
    weir_processor found;
    if (weir__admin_processor(call, name, &found) != WEIR_OK) {
        return WEIR_UNKNOWN;
    }
    (void)weir_processor_dispatcher(call->engine, found, from, sizeof(from));
    const weir_status status = weir_processor_move(call->engine, found, wanted, &error);
    if (status != WEIR_OK && status != WEIR_ALREADY) {
        return refuse_move(call, status, wanted, &error);
    }
    weir_admin_text(call, "processor", name);
    weir_admin_bool(call, "moved", status == WEIR_OK);
    weir_admin_text(call, "from", from);
    weir_admin_text(call, "dispatcher", wanted);
    return WEIR_OK;
}

const weir__admin_group weir__admin_change = {
    (const weir__admin_row[]){
        { "processors restart", "NAME",
          "begins a processor, or a component, anew: after what waits for it, with its mail kept",
          on_restart, true, false },
        { "processors move", "NAME DISPATCHER",
          "puts a processor onto another dispatcher; nothing is lost, nor changes its order",
          on_move, true, false },
    },
    2,
};
