/*
 * server/server.c - see server.h: from a composition to an engine with components and routers.
 *
 * Texts in a component's configuration lie in the composition it was made from. So a composition
 * stays until the last component that came from it has gone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "server/server.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "connect/types.h"
#include "server/running.h"

/* ---- compositions ---- */

static weir__kept *keep(weir__server *server, weir__composition *composition)
{
    weir__kept *kept = weir__allocate(weir__allocator_default(), sizeof(*kept));
    if (kept == NULL) {
        weir__composition_destroy(composition);
        return NULL;
    }
    *kept = (weir__kept){ .composition = composition, .uses = 1, .next = server->kept };
    server->kept = kept;
    return kept;
}

void weir__kept_release(weir__server *server, weir__kept *kept)
{
    if (--kept->uses > 0) {
        return;
    }
    for (weir__kept **at = &server->kept; *at != NULL; at = &(*at)->next) {
        if (*at == kept) {
            *at = kept->next;
            break;
        }
    }
    weir__composition_destroy(kept->composition);
    weir__release(weir__allocator_default(), kept, sizeof(*kept));
}

weir__kept *weir__server_keep(weir__server *server, weir__composition *composition,
                              weir_error *error)
{
    weir__kept *kept = keep(server, composition);
    if (kept == NULL) {
        weir__error_memory(error, "weir run");
    }
    return kept;
}

/* ---- components ---- */

static void feed_options_of(const weir__component_settings *s, weir_feed_options *out)
{
    *out = (weir_feed_options){
        .struct_size = sizeof(*out),
        .queue_max = (uint32_t)s->feed.queue_max,
        .many_writers = s->feed.many_writers,
        .broadcast = s->feed.broadcast,
        .named = s->feed.named,
        .slow = (weir_slow_consumer)s->feed.slow,
        .slow_max = s->feed.slow_max,
        .replay_max = (uint32_t)s->feed.replay_max,
    };
}

static weir_status add_component(weir__server *server, weir__running *running, weir_error *error)
{
    const weir__part *part = running->part;
    const weir__component_settings *s = part->settings;
    weir_feed_options feed;
    weir_component_options options = {
        .struct_size = sizeof(options),
        .name = part->name,
        .thread = s->thread,
        .dispatcher = s->dispatcher,
        .instances = (uint32_t)s->instances,
        .config = part->type->config_size > 0 ? part->config : NULL,
        .after = s->after,
        .feeds = s->feeds,
        .mailbox_max = (uint32_t)s->mailbox_max,
        .overflow = (weir_overflow)s->overflow,
        .on_failure = (weir_directive)s->on_failure,
    };
    if (weir__part_publishes(part)) {
        feed_options_of(s, &feed);
        options.feed = &feed;
    }
    return weir_component_add(server->engine, part->type, &options, &running->address, error);
}

/* ---- routers ---- */

static weir__running *find_running(weir__server *server, const char *name)
{
    for (size_t i = 0; i < server->running_count; i++) {
        if (strcmp(server->running[i].part->name, name) == 0) {
            return &server->running[i];
        }
    }
    return NULL;
}

weir__running *weir__server_find(weir__server *server, const char *name)
{
    return find_running(server, name);
}

/* The handlers of a component: one, or one of each instance. */
static uint32_t targets_of(weir__server *server, const char *name, weir_processor *out,
                           uint32_t room)
{
    const weir__running *to = find_running(server, name);
    uint32_t count = 0;
    if (to == NULL || to->part->is_router) {
        return 0;
    }
    const uint32_t instances = (uint32_t)to->part->settings->instances;
    if (instances <= 1 && room > 0) {
        out[count++] = to->address;
    }
    for (uint32_t i = 1; instances > 1 && i <= instances && count < room; i++) {
        char full[96];
        snprintf(full, sizeof(full), "%s/%u", name, i);
        out[count++] = weir_processor_find(server->engine, full);
    }
    return count;
}

static weir_status add_router(weir__server *server, weir__running *running, weir_error *error)
{
    enum { TARGETS_MAX = 256 };
    const weir__part *part = running->part;
    weir_processor targets[TARGETS_MAX];
    uint32_t count = 0;
    if (part->references == NULL) {
        return WEIR_OK; /* warned of: nobody would handle it */
    }
    for (const weir__reference *r = part->references; r != NULL; r = r->next) {
        count += targets_of(server, r->name, targets + count, TARGETS_MAX - count);
    }
    weir_router_options options = WEIR_ROUTER_OPTIONS_INIT;
    const weir_config *config = running->kept->composition->config;
    if (weir_config_router_options(config, part->name, &options, error) < 0) {
        return error->status;
    }
    if (options.keys == WEIR_FLOW_KEYS_DEFAULT) {
        options.keys = WEIR_FLOW_KEYS_BYTES; /* what stands in a line is text */
    }
    options.targets = targets;
    options.target_count = count;
    running->router = weir_router_add(server->engine, &options, error);
    return error->status;
}

/* ---- both ---- */

weir_status weir__server_add(weir__server *server, weir__kept *kept, const weir__part *part,
                             weir_error *error)
{
    weir__running *running = &server->running[server->running_count];
    *running = (weir__running){ .kept = kept, .part = part };
    const weir_status status = part->is_router ? add_router(server, running, error)
                                               : add_component(server, running, error);
    if (status == WEIR_OK) {
        kept->uses++;
        server->running_count++;
    }
    return status;
}

bool weir__server_room(weir__server *server, size_t more)
{
    const weir_allocator *allocator = weir__allocator_default();
    const size_t wanted = server->running_count + more;
    if (wanted <= server->running_room) {
        return true;
    }
    weir__running *larger = weir__allocate(allocator, wanted * sizeof(*larger));
    if (larger == NULL) {
        return false;
    }
    if (server->running_count > 0) {
        memcpy(larger, server->running, server->running_count * sizeof(*larger));
    }
    weir__release(allocator, server->running, server->running_room * sizeof(*larger));
    server->running = larger;
    server->running_room = wanted;
    return true;
}

weir_status weir__server_plugins(weir__server *server, const weir__composition *c,
                                 weir_error *error)
{
    for (size_t i = 0; i < c->plugin_count; i++) {
        const weir_status status = weir_plugin_load(server->engine, c->plugins[i].path, error);
        if (status != WEIR_OK && status != WEIR_ALREADY) {
            return status;
        }
    }
    return WEIR_OK;
}

static bool furnish(weir__server *server, weir__composition *c, weir_error *error)
{
    if (weir_plugin_register(server->engine, &weir__connect_plugin, error) != WEIR_OK ||
        weir__server_plugins(server, c, error) != WEIR_OK) {
        return false;
    }
    if (!weir__server_room(server, c->part_count)) {
        weir__error_memory(error, "weir run");
        return false;
    }
    for (size_t i = 0; i < c->part_count; i++) {
        if (weir__server_add(server, server->current, c->order[i], error) != WEIR_OK) {
            return false;
        }
    }
    return true;
}

weir__server *weir__server_create(weir__composition *composition, const weir_engine_options *code,
                                  weir_error *error)
{
    weir__server *server = weir__allocate(weir__allocator_default(), sizeof(*server));
    if (server == NULL) {
        weir__error_memory(error, "weir run");
        weir__composition_destroy(composition);
        return NULL;
    }
    server->current = weir__server_keep(server, composition, error);
    if (server->current != NULL) {
        server->engine = weir_config_engine(composition->config, code, error);
    }
    if (server->engine == NULL || !furnish(server, composition, error)) {
        weir__server_destroy(server);
        return NULL;
    }
    return server;
}

weir_engine *weir__server_engine(const weir__server *server)
{
    return server->engine;
}

const weir__server_settings *weir__server_settings_of(const weir__server *server)
{
    return &server->current->composition->server;
}

weir_status weir__server_start(weir__server *server, weir_error *error)
{
    return weir_components_start(server->engine, error);
}

weir_status weir__server_stop(weir__server *server, weir_ns timeout, weir_stop_report *report)
{
    return weir_components_stop(server->engine, timeout, report);
}

/* ---- admin ---- */

weir_status weir__server_admin_open(weir__server *server, void (*say)(void *, const char *),
                                    void *context, weir_error *error)
{
    const weir__composition *c = server->current->composition;
    const char *name = c->config->engine.name;
    weir_error first = WEIR_ERROR_INIT;
    server->admin = weir__admin_open(server->engine, &c->admin, name, &first);
    const bool placed = strcmp(first.path, "weir.admin.thread.cores") != 0; /* that is required */
    if (server->admin == NULL && first.status != WEIR_OK && c->admin.socket_enabled &&
        !c->admin_socket_said && placed) {
        weir__admin_options without = c->admin;
        char text[400];
        without.socket_enabled = false;
        server->admin = weir__admin_open(server->engine, &without, name, error);
        if (error->status == WEIR_OK) {
            snprintf(text, sizeof(text), "no admin socket: %s", first.text);
            say(context, text);
        }
        return error->status;
    }
    if (first.status != WEIR_OK) {
        *error = first;
    }
    return first.status;
}

const char *weir__server_admin_socket(const weir__server *server)
{
    return server->admin != NULL ? weir__admin_socket_path(server->admin) : "";
}

const char *weir__server_admin_url(const weir__server *server)
{
    return server->admin != NULL ? weir__admin_url(server->admin) : "";
}

void weir__server_admin_close(weir__server *server)
{
    weir__admin_close(server->admin);
    server->admin = NULL;
}

void weir__server_admin_drop(const weir__server *server)
{
    const char *path = weir__server_admin_socket(server);
    if (path[0] != '\0') {
        (void)unlink(path);
    }
}

void weir__server_destroy(weir__server *server)
{
    if (server == NULL) {
        return;
    }
    weir__server_admin_close(server);
    weir_engine_destroy(server->engine); /* before the texts that its components have */
    while (server->kept != NULL) {
        server->kept->uses = 1;
        weir__kept_release(server, server->kept);
    }
    const weir_allocator *allocator = weir__allocator_default();
    weir__release(allocator, server->running, server->running_room * sizeof(*server->running));
    weir__release(allocator, server, sizeof(*server));
}
