/*
 * host/restart.c - a component ends and begins again, where it is.
 *
 *     flush -> halt (all mail so far, finish) -> flush -> stop -> tear_down -> init -> ... -> go on
 *
 * Its processor is not ended but put aside (engine/halt.h): whoever knows its address keeps it, and
 * what comes meanwhile waits in order. Up to the stop nothing has happened that cannot be taken
 * back, except that `finish` may have run. From there on it is begun with what is new, or, if that
 * fails, with what it had.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "engine/halt.h"
#include "host/host.h"

#define PATH "weir_component_restart"
#define TIMEOUT_DEFAULT (30 * WEIR_S)
#define LOOK_AGAIN WEIR_MS
#define SLICE (10 * WEIR_MS)

static weir_status fail(const weir_component *c, weir_status status, const char *what,
                        weir_error *error)
{
    char path[96];
    snprintf(path, sizeof(path), "component %s", c->name);
    return weir__error_at(error, status > 0 && status != WEIR_TIMEOUT ? WEIR_E_FAILED : status,
                          path, "%s: %s", what, weir_status_text(status));
}

/* It goes on, and may be asked again: TIMEOUT, whatever it was that did not go. */
static weir_status not_ready(const weir_component *c, weir_status status, const char *what,
                             weir_error *error)
{
    char path[96];
    snprintf(path, sizeof(path), "component %s", c->name);
    return weir__error_at(error, status == WEIR_E_NOMEM ? status : WEIR_TIMEOUT, path, "%s: %s",
                          what, weir_status_text(status));
}

/* ---- down ---- */

void weir__component_resume(weir_component *c)
{
    if (c->halted) {
        c->halted = false;
        (void)weir__processor_resume(c->host->engine, c->address);
    }
}

/* One request; OK: it is halted. */
static weir_status halt_once(weir_component *c, weir_ns deadline)
{
    weir__halt *halt = NULL;
    weir_status status =
        weir__halt_ask(c->host->engine, c->address, weir__component_last_turn, c, &halt);
    if (status != WEIR_OK) {
        return status;
    }
    do {
        status = weir__halt_wait(halt, SLICE);
    } while (status == WEIR_TIMEOUT && weir__host_left(c->host, deadline) != WEIR_NOW);
    c->halted = weir__halt_close(halt);
    return c->halted ? WEIR_OK : status == WEIR_OK ? WEIR_TIMEOUT : status;
}

/* Its mailbox is full for now, it waits for answers, or its finish cannot be done yet: again. */
static weir_status halt(weir_component *c, weir_ns deadline)
{
    for (;;) {
        const weir_status status = halt_once(c, deadline);
        if (status == WEIR_OK || status == WEIR_UNKNOWN || status == WEIR_E_NOMEM ||
            status == WEIR_TIMEOUT) {
            return status;
        }
        if (weir__host_left(c->host, deadline) == WEIR_NOW) {
            return status == WEIR_FULL || status == WEIR_DROPPED ? WEIR_TIMEOUT : status;
        }
        weir__host_rest(c->host, LOOK_AGAIN);
    }
}

static weir_status flush(weir_component *c, weir_ns deadline, weir_error *error)
{
    const weir_status status = c->type.flush != NULL ? weir__component_flush(c, deadline) : WEIR_OK;
    return status == WEIR_OK ? WEIR_OK
                             : not_ready(c, status, "what it has written cannot be flushed", error);
}

/* Nothing is stopped yet. Not OK: it goes on. */
static weir_status make_ready(weir_component *c, weir_ns deadline, weir_error *error)
{
    weir_status status = flush(c, deadline, error);
    if (status != WEIR_OK || c->address.id == 0 || c->halted) {
        return status;
    }
    status = halt(c, deadline);
    if (status != WEIR_OK) {
        return not_ready(c, status, "has not handled what it had in time", error);
    }
    status = flush(c, deadline, error);
    if (status != WEIR_OK) {
        weir__component_resume(c);
    }
    return status;
}

/* Not OK: a hook hangs. Then it stays halted: its handler must not run into that. */
static weir_status bring_down(weir_component *c, weir_ns deadline, weir_error *error)
{
    weir_status status = weir__component_run(c, WEIR__ERRAND_STOP, deadline);
    if (status == WEIR_OK && c->type.kind == WEIR_KIND_SOURCE) {
        weir__host_come_to_rest(c->host, deadline);
        status = weir__component_run(c, WEIR__ERRAND_COMMIT, deadline);
    }
    weir__component_tear_down(c, deadline);
    if (status == WEIR_OK && c->lost) {
        status = WEIR_TIMEOUT;
    }
    return status == WEIR_OK ? WEIR_OK : fail(c, status, "a hook of its end hangs", error);
}

/* ---- up ---- */

static weir_status bring_up(weir_component *c, weir_error *error)
{
    c->idle_until = 0;
    c->idle_for = 0;
    weir__store(&c->done, 0, seq_cst);
    weir__mutex_lock(&c->host->lock);
    weir_status status = weir__component_resolve(c, error);
    weir__mutex_unlock(&c->host->lock);
    status = status == WEIR_OK ? weir__component_begin(c, error) : status;
    if (status == WEIR_OK) {
        status = weir__component_errand(c, WEIR__ERRAND_START, error, WEIR_FOREVER);
    }
    if (status == WEIR_OK) {
        status = weir__component_errand(c, WEIR__ERRAND_COMPLETE, error, WEIR_FOREVER);
    }
    if (status == WEIR_OK) {
        weir__component_settle(c);
        weir__component_resume(c);
        return WEIR_OK;
    }
    weir__component_tear_down(c, WEIR_FOREVER);
    if (error->status == WEIR_OK) {
        (void)fail(c, status, "was not started again", error);
    }
    return error->status;
}

static void swap(weir_component *c, weir__config_copy *other)
{
    weir__mutex_lock(&c->host->lock); /* who looks for references reads it */
    const weir__config_copy mine = c->copy;
    c->copy = *other;
    *other = mine;
    weir__mutex_unlock(&c->host->lock);
}

/* It is down, and what is new has failed. */
static void bring_back(weir_component *c)
{
    weir_error error = WEIR_ERROR_INIT;
    if (bring_up(c, &error) != WEIR_OK) {
        weir__component_phase_set(c, WEIR__COMPONENT_FAILED);
        weir__component_fail(c, error.status, "could not be started again: %.120s", error.text);
    }
}

/* *next: what it is to have, and what it had afterwards. NULL: the same. */
static weir_status restart(weir_component *c, weir__config_copy *next, weir_ns deadline,
                           weir_error *error)
{
    const weir__component_phase phase = weir__component_phase_of(c);
    weir_status status = WEIR_OK;
    if (phase != WEIR__COMPONENT_RUNNING && phase != WEIR__COMPONENT_FAILED) {
        return fail(c, WEIR_E_INVALID, "does not run, a hook or handler of it hangs", error);
    }
    if (phase == WEIR__COMPONENT_RUNNING) {
        status = make_ready(c, deadline, error);
        status = status == WEIR_OK ? bring_down(c, deadline, error) : status;
        if (status != WEIR_OK) {
            return status;
        }
    } else {
        weir__component_phase_set(c, WEIR__COMPONENT_ADDED);
    }
    if (next != NULL) {
        swap(c, next);
    }
    status = bring_up(c, error);
    if (status != WEIR_OK && next != NULL) {
        swap(c, next);
    }
    if (status != WEIR_OK) {
        bring_back(c);
    }
    return status;
}

/* ---- all that have the name ---- */

typedef struct change {
    weir_component *component;
    weir__config_copy copy; /* if there is a new config: the other one */
} change;

typedef struct changes {
    change *items;
    size_t count, room;
} changes;

/* lock held. False: no memory, or its config cannot be copied; error set. */
static bool collect(weir__host *host, const char *name, const void *config, changes *all,
                    weir_error *error)
{
    const weir_allocator *allocator = &host->engine->allocator;
    for (weir_component *c = host->components; c != NULL; c = c->next) {
        all->room += weir__component_is_called(c, name) ? 1 : 0;
    }
    all->items = all->room > 0 ? weir__allocate(allocator, all->room * sizeof(change)) : NULL;
    if (all->items == NULL && all->room > 0) {
        all->room = 0;
        (void)weir__error_memory(error, PATH);
        return false;
    }
    for (weir_component *c = host->components; c != NULL; c = c->next) {
        if (!weir__component_is_called(c, name)) {
            continue;
        }
        char path[96];
        snprintf(path, sizeof(path), "component %s", c->name);
        change *one = &all->items[all->count];
        one->component = c;
        if (config != NULL && weir__config_copy_make(allocator, &c->type, config, path, &one->copy,
                                                     error) != WEIR_OK) {
            return false;
        }
        all->count++;
    }
    return true;
}

static void let_go(weir__host *host, changes *all)
{
    const weir_allocator *allocator = &host->engine->allocator;
    for (size_t i = 0; i < all->count; i++) {
        weir__config_copy_free(allocator, &all->items[i].copy);
    }
    weir__release(allocator, all->items, all->room * sizeof(change));
}

/* One after the other. If one will not, those before it get back what they had. */
static weir_status restart_all(changes *all, bool config, weir_ns deadline, weir_error *error)
{
    weir_status status = WEIR_OK;
    size_t done = 0;
    while (done < all->count && status == WEIR_OK) {
        change *one = &all->items[done];
        status = restart(one->component, config ? &one->copy : NULL, deadline, error);
        done += status == WEIR_OK ? 1 : 0;
    }
    for (size_t i = done; status != WEIR_OK && config && i > 0; i--) {
        weir_error own = WEIR_ERROR_INIT;
        change *one = &all->items[i - 1];
        if (restart(one->component, &one->copy, WEIR_FOREVER, &own) != WEIR_OK) {
            weir__component_fail(one->component, own.status, "keeps its new settings: %.120s",
                                 own.text);
        }
    }
    return status;
}

/* life held. */
static weir_status restart_named(weir__host *host, const char *name, const void *config,
                                 weir_ns deadline, weir_error *error)
{
    changes all = { 0 };
    if (host->ended || !host->running) {
        return weir__error_at(error, WEIR_E_INVALID, PATH, "the components do not run");
    }
    weir__mutex_lock(&host->lock);
    weir_status status = collect(host, name, config, &all, error) ? WEIR_OK : error->status;
    if (status == WEIR_OK && all.count == 0) {
        char nearest[96];
        weir__host_nearest(host, name, nearest, sizeof(nearest));
        status = weir__error_at(error, WEIR_UNKNOWN, PATH, "no component is called %.64s%s", name,
                                nearest);
    }
    weir__mutex_unlock(&host->lock);
    status = status == WEIR_OK ? restart_all(&all, config != NULL, deadline, error) : status;
    let_go(host, &all);
    return status;
}

weir_status weir_component_restart(weir_engine *engine, const char *name, const void *config,
                                   weir_ns timeout, weir_error *error)
{
    weir_error own = WEIR_ERROR_INIT;
    if (weir__error_is_set(error)) {
        return error->status;
    }
    if (!weir__engine_usable(engine) || name == NULL) {
        return weir__error_at(error, WEIR_E_INVALID, PATH, "needs a usable engine and a name");
    }
    if (weir__context_in_handler()) {
        return WEIR_E_BLOCKING;
    }
    weir__host *host = weir__host_need(engine);
    if (host == NULL) {
        return weir__error_memory(error, PATH);
    }
    weir__mutex_lock(&host->life);
    const weir_status status = restart_named(
        host, name, config, weir__deadline(timeout, TIMEOUT_DEFAULT), error != NULL ? error : &own);
    weir__mutex_unlock(&host->life);
    return status;
}
