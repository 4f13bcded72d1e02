/*
 * host/admin_engine.c - built-in commands about processors, threads, dispatchers, timers and dead
 * letters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/nearest.h"
#include "engine/engine.h"
#include "host/admin.h"
#include "weir/component.h"
#include "weir/counters.h"
#include "weir/dead_letter.h"
#include "weir/timer.h"

#define LETTERS_DEFAULT 20u
#define LETTERS_MAX 1000u
#define STOP_TIMEOUT (5 * WEIR_S)
#define ROUTER_PARTS "flows:" /* what the names of a router's own begin with */

/* ---- processors ---- */

typedef struct listing {
    weir_admin_call *call;
    const char *wanted; /* a beginning of names; NULL: all */
} listing;

static bool visit_processor(void *context, weir_processor processor)
{
    const listing *l = context;
    weir_admin_call *call = l->call;
    char name[256];
    char dispatcher[256];
    weir_counters c = WEIR_COUNTERS_INIT;
    if (weir_processor_name(call->engine, processor, name, sizeof(name)) == 0 ||
        (l->wanted != NULL && strncmp(name, l->wanted, strlen(l->wanted)) != 0) ||
        weir_processor_counters(call->engine, processor, &c) != WEIR_OK) {
        return true;
    }
    if (weir_processor_dispatcher(call->engine, processor, dispatcher, sizeof(dispatcher)) !=
        WEIR_OK) {
        (void)snprintf(dispatcher, sizeof(dispatcher), "(its own)");
    }
    weir_admin_row(call);
    weir_admin_text(call, "processor", name);
    weir_admin_text(call, "dispatcher", dispatcher);
    weir_admin_unsigned(call, "depth", c.depth);
    weir_admin_unsigned(call, "accepted", c.accepted);
    weir_admin_unsigned(call, "handled", c.handled);
    weir_admin_unsigned(call, "dropped", c.dropped);
    weir_admin_unsigned(call, "dead", c.dead);
    weir_admin_unsigned(call, "retries", c.retries);
    weir_admin_unsigned(call, "restarts", c.restarts);
    return !weir__admin_is_full(call);
}

static weir_status on_processors_list(void *context, weir_admin_call *call)
{
    (void)context;
    listing l = { call, weir_admin_argument(call, 0) };
    weir_processor_visit(call->engine, visit_processor, &l);
    return WEIR_OK;
}

typedef struct nearest {
    weir_admin_call *call;
    const char *wanted;
    weir_processor found; /* of one without a name: "#index.generation" is it */
    size_t distance;
    char name[256];
} nearest;

static bool visit_nearest(void *context, weir_processor processor)
{
    nearest *n = context;
    char name[256];
    if (weir_processor_name(n->call->engine, processor, name, sizeof(name)) == 0) {
        return true;
    }
    if (strcmp(name, n->wanted) == 0) {
        n->found = processor;
        return false;
    }
    const size_t distance = name[0] != '#' ? weir__distance(name, n->wanted) : SIZE_MAX;
    if (distance < n->distance && weir__distance_is_near(distance, name, n->wanted)) {
        n->distance = distance;
        memcpy(n->name, name, sizeof(n->name));
    }
    return true;
}

/* A component has more than its processor: all of it goes, in order, or nothing. */
static weir_status remove_component(weir_admin_call *call, const char *name)
{
    weir_error error = WEIR_ERROR_INIT;
    const weir_status status = weir_component_remove(call->engine, name, STOP_TIMEOUT, &error);
    weir_admin_text(call, "component", name);
    weir_admin_bool(call, "removed", status == WEIR_OK);
    return status == WEIR_OK || error.status == WEIR_OK
               ? status
               : weir_admin_fail(call, status, "%s: %s", error.path, error.text);
}

weir_status weir__admin_processor(weir_admin_call *call, const char *name, weir_processor *out)
{
    nearest n = { .call = call, .wanted = name, .distance = SIZE_MAX };
    n.found = weir_processor_find(call->engine, name);
    if (n.found.id == 0) {
        weir_processor_visit(call->engine, visit_nearest, &n);
    }
    *out = n.found;
    return n.found.id != 0
               ? WEIR_OK
               : weir_admin_fail(call, WEIR_UNKNOWN, "no processor is called '%.64s'%s%s%s", name,
                                 n.name[0] != '\0' ? "; did you mean '" : "", n.name,
                                 n.name[0] != '\0' ? "'?" : "");
}

bool weir__admin_is_router_part(const char *name)
{
    return strncmp(name, ROUTER_PARTS, sizeof(ROUTER_PARTS) - 1) == 0;
}

static weir_status on_processors_stop(void *context, weir_admin_call *call)
{
    (void)context;
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    const char *name = weir_admin_argument(call, 0);
    weir_processor found;
    const weir_status known = weir__admin_processor(call, name, &found);
    if (known != WEIR_OK) {
        return known;
    }
    char component[64];
    if (weir__admin_component_of(call->engine, found, component, sizeof(component))) {
        return remove_component(call, component);
    }
    if (weir__admin_is_router_part(name)) {
        return weir_admin_fail(call, WEIR_E_INVALID,
                               "'%.64s' is a part of a router, which needs all of them", name);
    }
    const weir_status status = weir_processor_stop(call->engine, found, STOP_TIMEOUT, &report);
    weir_admin_text(call, "processor", name);
    weir_admin_unsigned(call, "accepted", report.accepted);
    weir_admin_unsigned(call, "handled", report.handled);
    weir_admin_unsigned(call, "dropped", report.dropped);
    weir_admin_unsigned(call, "dead", report.dead);
    weir_admin_unsigned(call, "left", report.left);
    return status == WEIR_TIMEOUT
               ? weir_admin_fail(call, status, "it was not drained in 5 s; what was left is gone")
               : status;
}

/* ---- threads ---- */

/* What a thread serves; returns what it is. The table may be that of the next thread on the seat:
 * then it is a moment old. */
static const char *describe(weir_engine *engine, weir_thread thread, char *out, size_t size)
{
    size_t used = 0;
    const char *kind = "dispatcher";
    out[0] = '\0';
    weir__mutex_lock(&engine->registry.lock);
    const weir__thread *t = weir__thread_known(engine, thread);
    for (uint32_t i = 0; t != NULL && i < t->serving_count && used < size; i++) {
        const char *name = t->servings[i]->dispatcher->name;
        const int length = snprintf(out + used, size - used, "%s'%s'", i == 0 ? "" : " ",
                                    name != NULL ? name : "(its own)");
        used += length > 0 ? (size_t)length : 0;
        kind = name != NULL ? kind : "dedicated";
    }
    if (t != NULL && (t->external || t->serving_count == 0)) {
        kind = t->external ? "external" : "components";
    }
    weir__mutex_unlock(&engine->registry.lock);
    return kind;
}

static bool visit_thread(void *context, weir_thread thread, const char *name)
{
    weir_admin_call *call = context;
    char dispatchers[512];
    weir_thread_counters c = WEIR_THREAD_COUNTERS_INIT;
    if (weir_thread_counters_get(call->engine, thread, &c) != WEIR_OK) {
        return true;
    }
    const char *kind = describe(call->engine, thread, dispatchers, sizeof(dispatchers));
    weir_admin_row(call);
    weir_admin_text(call, "thread", name);
    weir_admin_text(call, "kind", kind);
    weir_admin_number(call, "system-id", c.system_id);
    weir_admin_number(call, "core", c.core);
    weir_admin_text(call, "dispatchers", dispatchers);
    weir_admin_unsigned(call, "handled", c.handled);
    weir_admin_unsigned(call, "turns", c.turns);
    weir_admin_unsigned(call, "rounds", c.rounds);
    weir_admin_unsigned(call, "idle", c.rounds_idle);
    weir_admin_unsigned(call, "parks", c.parks);
    weir_admin_unsigned(call, "backoffs", c.backoffs);
    return !weir__admin_is_full(call);
}

/* Those that serve no dispatcher. */
static void add_helpers(weir_admin_call *call)
{
    weir__helper_info helpers[WEIR__HELPERS_MAX];
    const uint32_t count = weir__helpers_get(call->engine, helpers, WEIR__HELPERS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        weir_admin_row(call);
        weir_admin_text(call, "thread", helpers[i].name);
        weir_admin_text(call, "kind", helpers[i].kind);
        weir_admin_number(call, "system-id", helpers[i].system_id);
        weir_admin_number(call, "core", helpers[i].core);
    }
}

static weir_status on_threads(void *context, weir_admin_call *call)
{
    (void)context;
    weir_thread_visit(call->engine, visit_thread, call);
    add_helpers(call);
    return WEIR_OK;
}

/* ---- dispatchers ---- */

static bool visit_dispatcher(void *context, const char *name)
{
    weir_admin_call *call = context;
    weir_dispatcher_counters c = WEIR_DISPATCHER_COUNTERS_INIT;
    if (weir_dispatcher_counters_get(call->engine, name, &c) != WEIR_OK) {
        return true;
    }
    weir_admin_row(call);
    weir_admin_text(call, "dispatcher", name);
    weir_admin_unsigned(call, "threads", c.threads);
    weir_admin_unsigned(call, "processors", c.processors);
    weir_admin_unsigned(call, "ready", c.ready);
    weir_admin_unsigned(call, "handled", c.handled);
    weir_admin_unsigned(call, "turns", c.turns);
    weir_admin_real(call, "contention",
                    c.try_locks > 0 ? (double)c.try_locks_failed / (double)c.try_locks : 0.0);
    weir_admin_unsigned(call, "backoffs", c.backoffs);
    weir_admin_unsigned(call, "signals", c.signals);
    weir_admin_unsigned(call, "wakeups", c.wakeups);
    return !weir__admin_is_full(call);
}

static weir_status on_dispatchers(void *context, weir_admin_call *call)
{
    (void)context;
    weir_dispatcher_visit(call->engine, visit_dispatcher, call);
    return WEIR_OK;
}

/* ---- timers ---- */

static weir_status on_timers(void *context, weir_admin_call *call)
{
    (void)context;
    weir_timer_counters c = WEIR_TIMER_COUNTERS_INIT;
    const weir_status status = weir_timer_counters_get(call->engine, &c);
    if (status != WEIR_OK) {
        return status;
    }
    weir_admin_unsigned(call, "pending", c.pending);
    weir_admin_unsigned(call, "added", c.added);
    weir_admin_unsigned(call, "posted", c.posted);
    weir_admin_unsigned(call, "cancelled", c.cancelled);
    weir_admin_unsigned(call, "failed", c.failed_unknown + c.failed_full + c.failed_other);
    weir_admin_unsigned(call, "missed", c.missed);
    weir_admin_number(call, "late-p50-ns", c.late_p50);
    weir_admin_number(call, "late-p99-ns", c.late_p99);
    weir_admin_number(call, "late-max-ns", c.late_max);
    weir_admin_unsigned(call, "bytes", c.bytes);
    return WEIR_OK;
}

/* ---- dead letters ---- */

void weir__admin_time(weir_admin_call *call, const char *key, weir_ns wall)
{
    char text[48];
    const time_t seconds = (time_t)(wall / WEIR_S);
    struct tm parts;
    if (gmtime_r(&seconds, &parts) == NULL) {
        weir_admin_number(call, key, wall);
        return;
    }
    const size_t length = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
    (void)snprintf(text + length, sizeof(text) - length, ".%03dZ", (int)(wall / WEIR_MS % 1000));
    weir_admin_text(call, key, text);
}

static void add_letter(weir_admin_call *call, const weir_dead_letter *letter)
{
    static const char *const reasons[] = { "?", "failed", "unknown", "stopped", "refused", "late" };
    char from[96] = "";
    char to[96] = "";
    (void)weir_processor_name(call->engine, letter->from, from, sizeof(from));
    if (weir_processor_name(call->engine, letter->to, to, sizeof(to)) == 0 && letter->to.id != 0) {
        (void)snprintf(to, sizeof(to), "(gone)");
    }
    weir_admin_row(call);
    weir_admin_unsigned(call, "number", letter->number);
    weir__admin_time(call, "time", letter->wall_time);
    weir_admin_text(call, "reason",
                    reasons[letter->reason <= WEIR_DEAD_LATE ? (unsigned)letter->reason : 0u]);
    weir_admin_text(call, "status", weir_status_name(letter->status));
    weir_admin_text(call, "from", from);
    weir_admin_text(call, "to", to);
    weir_admin_text(call, "type", letter->type != NULL ? letter->type->name : "");
    weir_admin_unsigned(call, "size", letter->size);
    weir_admin_text(call, "text", letter->text);
}

static weir_status on_dead_letters(void *context, weir_admin_call *call)
{
    (void)context;
    const char *said = weir_admin_argument(call, 0);
    char *end = NULL;
    const unsigned long wanted = said != NULL ? strtoul(said, &end, 10) : LETTERS_DEFAULT;
    if (said != NULL && (said[0] < '0' || said[0] > '9' || *end != '\0' || wanted > LETTERS_MAX)) {
        return weir_admin_fail(call, WEIR_E_INVALID, "'%.32s' is no number from 0 to %u", said,
                               LETTERS_MAX);
    }
    const size_t size = LETTERS_MAX * sizeof(weir_dead_letter);
    weir_dead_letter *letters = weir__allocate(&call->engine->allocator, size);
    if (letters == NULL) {
        return WEIR_E_NOMEM;
    }
    letters[0].struct_size = sizeof(letters[0]);
    const size_t count = weir_dead_letter_read(call->engine, 0, letters, LETTERS_MAX);
    for (size_t i = count > wanted ? count - wanted : 0; i < count; i++) {
        add_letter(call, &letters[i]);
    }
    weir__release(&call->engine->allocator, letters, size);
    return WEIR_OK;
}

const weir__admin_group weir__admin_engine = {
    (const weir__admin_row[]){
        { "processors list", "[PREFIX]", "processors, with what became of their events",
          on_processors_list, false, false },
        { "processors stop", "NAME",
          "drains a processor and its children, or a component, for up to 5 s; ends them",
          on_processors_stop, true, false },
        { "threads", NULL,
          "all threads: what they are, where they run, how often they found nothing", on_threads,
          false, false },
        { "dispatchers", NULL, "dispatchers: who serves them, what waits, contention",
          on_dispatchers, false, false },
        { "timers", NULL, "timers: how many, and how late they came", on_timers, false, false },
        { "dead-letters", "[COUNT]", "the newest events that came to nothing, 20 or so many",
          on_dead_letters, false, false },
    },
    6,
};
