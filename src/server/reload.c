/*
 * server/reload.c - another composition for a server that runs.
 *
 *     checks -> plugins -> the engine's settings -> what is new is added -> what is gone is stopped
 *
 * Up to the last step everything can be taken back. The last one cannot fail for a reason that the
 * checks have not seen: at worst a component that goes has something left when its time is over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "server/running.h"
#include "settings/changes.h"

static bool stays(const weir__composition *after, const weir__running *running)
{
    const weir__part *part = weir__part_find(after, running->part->name);
    return part != NULL && part->is_router == running->part->is_router;
}

/* What stays as it is until a restart may refer to what goes now. */
static weir_status check_references(weir__server *server, const weir__composition *after,
                                    weir_error *error)
{
    for (size_t i = 0; i < server->running_count; i++) {
        const weir__running *running = &server->running[i];
        if (!stays(after, running)) {
            continue;
        }
        for (const weir__reference *r = running->part->references; r != NULL; r = r->next) {
            const weir__running *to = weir__server_find(server, r->name);
            if (to != NULL && !stays(after, to)) {
                return weir__error_at(error, WEIR_E_CONFIG, r->path,
                                      "refers to '%.60s', which is to go: '%.60s' keeps what it "
                                      "has until a restart, or is taken out first",
                                      r->name, running->part->name);
            }
        }
    }
    return WEIR_OK;
}

/* A name that is a component's now and a router's then, or the other way round. */
static weir_status check_kinds(weir__server *server, const weir__composition *after,
                               weir_error *error)
{
    for (size_t i = 0; i < after->part_count; i++) {
        const weir__part *part = &after->parts[i];
        const weir__running *running = weir__server_find(server, part->name);
        if (running != NULL && running->part->is_router != part->is_router) {
            return weir__error_at(error, WEIR_E_CONFIG, part->name,
                                  "is a %s, and cannot become a %s without a restart",
                                  running->part->is_router ? "router" : "component",
                                  part->is_router ? "router" : "component");
        }
    }
    return WEIR_OK;
}

/* ---- steps ---- */

static weir_status take_out(weir__server *server, size_t index, weir_ns timeout, weir_error *error)
{
    weir__running *running = &server->running[index];
    weir_status status = WEIR_OK;
    if (!running->part->is_router) {
        status = weir_component_remove(server->engine, running->part->name, timeout, error);
    } else if (running->router.id != 0) {
        status = weir_router_stop(server->engine, running->router, timeout, NULL);
    }
    if (status < 0) {
        return status; /* it is still there */
    }
    weir__kept *kept = running->kept;
    server->running_count--;
    memmove(running, running + 1, (server->running_count - index) * sizeof(*running));
    weir__kept_release(server, kept);
    return status;
}

static weir_status add_new(weir__server *server, weir__kept *kept, size_t *added, weir_error *error)
{
    const weir__composition *c = kept->composition;
    for (size_t i = 0; i < c->part_count; i++) {
        if (weir__server_find(server, c->order[i]->name) == NULL) {
            const weir_status status = weir__server_add(server, kept, c->order[i], error);
            if (status != WEIR_OK) {
                return status;
            }
            (*added)++;
        }
    }
    return WEIR_OK;
}

static void say(weir__server *server, weir_log_level level, const char *name, const char *text)
{
    const weir_log_field fields[] = { { "name", name } };
    weir_log_write(server->engine, level, "server", text, fields, 1);
}

/* In the reverse order: who refers goes before whom it refers to. */
static size_t remove_old(weir__server *server, const weir__composition *after, weir_ns timeout)
{
    size_t removed = 0;
    for (size_t i = server->running_count; i-- > 0;) {
        if (stays(after, &server->running[i])) {
            continue;
        }
        weir_error error = WEIR_ERROR_INIT;
        char name[80];
        snprintf(name, sizeof(name), "%s", server->running[i].part->name);
        const weir_status status = take_out(server, i, timeout, &error);
        removed += status >= 0;
        if (status != WEIR_OK) {
            say(server, WEIR_LOG_ERROR, name,
                status == WEIR_TIMEOUT ? "taken out; it had not handled all when its time was over"
                                       : "could not be taken out");
        }
    }
    return removed;
}

/* The component that a key belongs to, if it runs and came from `kept`. */
static bool is_of(weir__server *server, const weir__kept *kept, const char *path)
{
    static const char begin[] = WEIR__COMPONENTS_PATH ".";
    char name[80];
    if (strncmp(path, begin, sizeof(begin) - 1) != 0) {
        return false;
    }
    path += sizeof(begin) - 1;
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(path, "."), path);
    const weir__running *running = weir__server_find(server, name);
    return running != NULL && running->kept == kept;
}

static void tell_change(weir__server *server, const weir__change *change)
{
    const weir_log_field fields[] = {
        { "key", change->path },
        { "is", change->before != NULL ? change->before : "" },
        { "wanted", change->after != NULL ? change->after : "" },
        { "from", change->after_from != NULL ? change->after_from : "" },
    };
    weir_log_write(server->engine, WEIR_LOG_WARNING, "server", "needs a restart", fields, 4);
}

/* What runs and stays, compared with what it would be now; each came from a composition of its
 * own. */
static size_t tell_pending(weir__server *server, const weir__composition *after)
{
    static const char admin[] = "weir.admin.";
    size_t pending = 0;
    for (const weir__kept *kept = server->kept; kept != NULL; kept = kept->next) {
        weir__changes changes;
        const weir_config *before = kept->composition->config;
        if (kept->composition == after) {
            continue;
        }
        const bool found =
            weir__changes_find(&changes, weir__allocator_default(), before, after->config);
        for (size_t i = 0; found && i < changes.count; i++) {
            const weir__change *change = &changes.items[i];
            if (is_of(server, kept, change->path) ||
                (kept == server->current && strncmp(change->path, admin, sizeof(admin) - 1) == 0)) {
                tell_change(server, change);
                pending++;
            }
        }
        weir__changes_close(&changes);
    }
    return pending;
}

weir_status weir__server_reload(weir__server *server, weir__composition *composition,
                                weir__reload *out, weir_error *error)
{
    weir__kept *kept = weir__server_keep(server, composition, error);
    weir__kept *old = server->current;
    const weir_config *before = old->composition->config;
    size_t added = 0, of_engine = 0;
    weir_status status = kept != NULL ? WEIR_OK : error->status;
    if (kept == NULL) {
        return status;
    }
    if (!weir__server_room(server, composition->part_count)) {
        status = weir__error_memory(error, "weir run");
    } else if (check_kinds(server, composition, error) != WEIR_OK ||
               check_references(server, composition, error) != WEIR_OK ||
               weir__server_plugins(server, composition, error) != WEIR_OK ||
               weir_config_apply(composition->config, server->engine, &of_engine, error) !=
                   WEIR_OK) {
        status = error->status;
    } else if (add_new(server, kept, &added, error) != WEIR_OK) {
        status = error->status;
        weir_error ignored = WEIR_ERROR_INIT;
        for (; added > 0; added--) {
            (void)take_out(server, server->running_count - 1, 0, &ignored);
        }
        (void)weir_config_apply(before, server->engine, NULL, &(weir_error)WEIR_ERROR_INIT);
    }
    if (status != WEIR_OK) {
        weir__kept_release(server, kept);
        return status;
    }
    out->added = added;
    out->removed = remove_old(server, composition, composition->server.stop_timeout);
    out->pending = of_engine + tell_pending(server, composition);
    server->current = kept;
    weir__kept_release(server, old);
    return WEIR_OK;
}
