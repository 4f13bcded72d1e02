/*
 * server/reload.c - another composition for a server that runs.
 *
 *     checks -> plugins -> the engine's settings -> what is new is added -> what has other keys of
 *     its type begins anew -> what is gone is stopped
 *
 * Up to the last step everything can be taken back. The last one cannot fail for a reason that the
 * checks have not seen: at worst a component that goes has something left when its time is over.
 * One that is not ready to begin anew (it cannot be flushed, or waits for answers) keeps what it
 * has until a restart.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "server/running.h"
#include "settings/changes.h"

#define ANEW_PATIENCE (5 * WEIR_S) /* with one that is not ready to begin anew */

static bool stays(const weir__composition *after, const weir__running *running)
{
    const weir__part *part = weir__part_find(after, running->part->name);
    return part != NULL && part->is_router == running->part->is_router;
}

/* ---- what has changed ---- */

/* The component that a key belongs to, if it runs and came from `kept`; *key: what is behind its
 * name. NULL: none. */
static weir__running *owner_of(weir__server *server, const weir__kept *kept, const char *path,
                               const char **key)
{
    static const char begin[] = WEIR__COMPONENTS_PATH ".";
    char name[80];
    if (strncmp(path, begin, sizeof(begin) - 1) != 0) {
        return NULL;
    }
    path += sizeof(begin) - 1;
    const size_t length = strcspn(path, ".");
    snprintf(name, sizeof(name), "%.*s", (int)length, path);
    *key = path[length] == '.' ? path + length + 1 : path + length;
    weir__running *running = weir__server_find(server, name);
    return running != NULL && running->kept == kept ? running : NULL;
}

/* One of those that every component has: it goes into what a restart in place does not make. */
static bool is_common(const char *key)
{
    const size_t length = strcspn(key, ".");
    for (size_t i = 0; i < weir__component_table.row_count; i++) {
        const char *name = weir__component_table.rows[i].key;
        if (strncmp(name, key, length) == 0 && name[length] == '\0') {
            return true;
        }
    }
    return false;
}

static void note_changes(weir__server *server, const weir__composition *after)
{
    for (size_t i = 0; i < server->running_count; i++) {
        server->running[i].changed_own = server->running[i].changed_common = false;
        server->running[i].kept_before = NULL;
    }
    for (const weir__kept *kept = server->kept; kept != NULL; kept = kept->next) {
        weir__changes changes;
        const bool found = kept->composition != after &&
                           weir__changes_find(&changes, weir__allocator_default(),
                                              kept->composition->config, after->config);
        for (size_t i = 0; found && i < changes.count; i++) {
            const char *key = "";
            weir__running *running = owner_of(server, kept, changes.items[i].path, &key);
            if (running != NULL) {
                *(is_common(key) ? &running->changed_common : &running->changed_own) = true;
            }
        }
        if (kept->composition != after) {
            weir__changes_close(&changes);
        }
    }
}

/* What is to begin anew. Where a key that every component has is another one, all of it waits: a
 * part of what a file says may not fit together with a part of what another one said. */
static const weir__part *begins_anew(const weir__composition *after, const weir__running *running)
{
    const weir__part *part = weir__part_find(after, running->part->name);
    return running->changed_own && !running->changed_common && part != NULL &&
                   part->type == running->part->type && part->type != NULL
               ? part
               : NULL;
}

/* ---- checks ---- */

/* What it refers to and is to go; NULL: nothing. */
static const weir__reference *refers_to_gone(weir__server *server, const weir__composition *after,
                                             const weir__running *running)
{
    for (const weir__reference *r = running->part->references; r != NULL; r = r->next) {
        const weir__running *to = weir__server_find(server, r->name);
        if (to != NULL && !stays(after, to)) {
            return r;
        }
    }
    return NULL;
}

/* What stays as it is until a restart may refer to what goes now. */
static weir_status check_references(weir__server *server, const weir__composition *after,
                                    weir_error *error)
{
    for (size_t i = 0; i < server->running_count; i++) {
        const weir__running *running = &server->running[i];
        if (!stays(after, running) || begins_anew(after, running) != NULL) {
            continue;
        }
        const weir__reference *r = refers_to_gone(server, after, running);
        if (r != NULL) {
            return weir__error_at(error, WEIR_E_CONFIG, r->path,
                                  "refers to '%.60s', which is to go: '%.60s' keeps what it has "
                                  "until a restart, or is taken out first",
                                  r->name, running->part->name);
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

/* ---- beginning anew ---- */

/* It runs with `part` now; what it had is kept, in case it has to go back. */
static void renew(weir__running *running, weir__kept *kept, const weir__part *part)
{
    running->kept_before = running->kept;
    running->part_before = running->part;
    running->kept = kept;
    running->part = part;
    kept->uses++;
}

static const void *config_of(const weir__part *part)
{
    return part->type->config_size > 0 ? part->config : NULL;
}

/* All of them, or as it was before and an error. */
static weir_status begin_anew(weir__server *server, weir__kept *kept, weir_error *error)
{
    const weir__composition *after = kept->composition;
    const weir_ns most = after->server.stop_timeout;
    const weir_ns patience = most != 0 && most < ANEW_PATIENCE ? most : ANEW_PATIENCE;
    for (size_t i = 0; i < server->running_count; i++) {
        weir__running *running = &server->running[i];
        const weir__part *part = running->kept != kept ? begins_anew(after, running) : NULL;
        if (part == NULL) {
            continue;
        }
        weir_error own = WEIR_ERROR_INIT;
        const weir_status status =
            weir_component_restart(server->engine, part->name, config_of(part), patience, &own);
        if (status == WEIR_OK) {
            renew(running, kept, part);
        } else if (status == WEIR_TIMEOUT && refers_to_gone(server, after, running) == NULL) {
            char text[320];
            snprintf(text, sizeof(text), "keeps its keys until a restart: %s", own.text);
            say(server, WEIR_LOG_WARNING, part->name, text);
        } else {
            *error = own;
            return status < 0 ? status : WEIR_E_FAILED;
        }
    }
    return WEIR_OK;
}

/* Those that have begun anew get back what they had. */
static void go_back(weir__server *server)
{
    for (size_t i = server->running_count; i-- > 0;) {
        weir__running *running = &server->running[i];
        weir_error error = WEIR_ERROR_INIT;
        if (running->kept_before == NULL) {
            continue;
        }
        const weir_status status = weir_component_restart(
            server->engine, running->part_before->name, config_of(running->part_before), 0, &error);
        if (status != WEIR_OK) {
            say(server, WEIR_LOG_ERROR, running->part->name,
                "could not be given back what it had; it keeps what is new");
            continue;
        }
        weir__kept *kept = running->kept;
        running->kept = running->kept_before;
        running->part = running->part_before;
        running->kept_before = NULL;
        weir__kept_release(server, kept);
    }
}

/* There is no way back any more. How many they are. */
static size_t let_go_of_before(weir__server *server)
{
    size_t count = 0;
    for (size_t i = 0; i < server->running_count; i++) {
        weir__running *running = &server->running[i];
        if (running->kept_before != NULL) {
            weir__kept_release(server, running->kept_before);
            running->kept_before = NULL;
            count++;
        }
    }
    return count;
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
            const char *key = "";
            if (owner_of(server, kept, change->path, &key) != NULL ||
                (kept == server->current && strncmp(change->path, admin, sizeof(admin) - 1) == 0)) {
                tell_change(server, change);
                pending++;
            }
        }
        weir__changes_close(&changes);
    }
    return pending;
}

/* Nothing of it stays. */
static void undo(weir__server *server, size_t added, const weir_config *before)
{
    weir_error ignored = WEIR_ERROR_INIT;
    go_back(server);
    for (; added > 0; added--) {
        (void)take_out(server, server->running_count - 1, 0, &ignored);
    }
    (void)weir_config_apply(before, server->engine, NULL, &(weir_error)WEIR_ERROR_INIT);
    (void)let_go_of_before(server); /* of one that could not go back */
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
    note_changes(server, composition);
    if (!weir__server_room(server, composition->part_count)) {
        status = weir__error_memory(error, "weir run");
    } else if (check_kinds(server, composition, error) != WEIR_OK ||
               check_references(server, composition, error) != WEIR_OK ||
               weir__server_plugins(server, composition, error) != WEIR_OK ||
               weir_config_apply(composition->config, server->engine, &of_engine, error) !=
                   WEIR_OK) {
        status = error->status;
    } else if (add_new(server, kept, &added, error) != WEIR_OK ||
               begin_anew(server, kept, error) != WEIR_OK) {
        status = error->status < 0 ? error->status : WEIR_E_FAILED;
        undo(server, added, before);
    }
    if (status != WEIR_OK) {
        weir__kept_release(server, kept);
        return status;
    }
    out->added = added;
    out->anew = let_go_of_before(server);
    out->removed = remove_old(server, composition, composition->server.stop_timeout);
    out->pending = of_engine + tell_pending(server, composition);
    server->current = kept;
    weir__kept_release(server, old);
    return WEIR_OK;
}
