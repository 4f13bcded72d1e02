/*
 * admin/admin.c - both ways in, and the command that tells how they fare.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "admin/admin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "admin/counts.h"
#include "admin/http.h"
#include "admin/socket.h"
#include "base/error.h"
#include "weir/admin.h"

struct weir__admin_server {
    weir_engine *engine;
    weir__admin_counts socket_counts, http_counts;
    weir__admin_socket *socket;
    weir__admin_http *http;
    char path[256];
    char url[96];
    weir__atomic_u32 open; /* 1: the two above are settled */
    bool has_command;
};

/* ---- the command `admin` ---- */

static const char *const reasons[] = {
#define TEXT(name, text) text,
    WEIR__REFUSED_MAP(TEXT)
#undef TEXT
};

static void add_way(weir_admin_call *call, const char *way, const char *at,
                    weir__admin_counts *counts)
{
    weir_admin_row(call);
    weir_admin_text(call, "way", way);
    weir_admin_text(call, "what", at[0] != '\0' ? at : "off");
    weir_admin_unsigned(call, "connections", weir__load(&counts->connections, relaxed));
    weir_admin_unsigned(call, "open", weir__load(&counts->open, relaxed));
    weir_admin_unsigned(call, "requests", weir__load(&counts->requests, relaxed));
    uint64_t refused = 0;
    for (int i = 0; i < WEIR__REFUSED_REASONS; i++) {
        refused += weir__load(&counts->refused[i], relaxed);
    }
    weir_admin_unsigned(call, "refused", refused);
    weir_admin_unsigned(call, "streams", weir__load(&counts->streams, relaxed));
    weir_admin_unsigned(call, "parked", weir__load(&counts->parked, relaxed));
}

static void add_refused(weir_admin_call *call, const char *way, weir__admin_counts *counts)
{
    for (int i = 0; i < WEIR__REFUSED_REASONS; i++) {
        const uint64_t count = weir__load(&counts->refused[i], relaxed);
        if (count > 0) {
            weir_admin_row(call);
            weir_admin_text(call, "way", way);
            weir_admin_text(call, "what", reasons[i]);
            weir_admin_unsigned(call, "refused", count);
        }
    }
}

static weir_status on_admin(void *context, weir_admin_call *call)
{
    weir__admin_server *server = context;
    /* [AD8] pairs with [AD9]: one way may be asked while the other is being opened. */
    const bool open = weir__load(&server->open, acquire) != 0;
    add_way(call, "socket", open ? server->path : "", &server->socket_counts);
    add_way(call, "http", open ? server->url : "", &server->http_counts);
    add_refused(call, "socket", &server->socket_counts);
    add_refused(call, "http", &server->http_counts);
    return WEIR_OK;
}

/* ---- its life ---- */

static weir_status open_socket(weir__admin_server *server, const weir__admin_options *options,
                               const char *name, weir_error *error)
{
    const bool given = options->socket != NULL && options->socket[0] != '\0';
    const bool fits = given ? strlen(options->socket) < sizeof(server->path)
                            : weir__admin_socket_default(name, server->path, sizeof(server->path));
    if (!fits) {
        server->path[0] = '\0';
        return weir__error_at(error, WEIR_E_CONFIG, "weir.admin.socket", "the path is too long");
    }
    if (given) {
        (void)snprintf(server->path, sizeof(server->path), "%s", options->socket);
    }
    server->socket = weir__admin_socket_open(server->engine, server->path, options,
                                             &server->socket_counts, error);
    return server->socket != NULL ? WEIR_OK : WEIR_E_CONFIG;
}

static weir_status open_http(weir__admin_server *server, const weir__admin_options *options,
                             weir_error *error)
{
    server->http = weir__admin_http_open(server->engine, options, &server->http_counts, error);
    if (server->http == NULL) {
        return WEIR_E_CONFIG;
    }
    (void)snprintf(server->url, sizeof(server->url), "%s", weir__admin_http_url(server->http));
    return WEIR_OK;
}

weir__admin_server *weir__admin_open(weir_engine *engine, const weir__admin_options *options,
                                     const char *name, weir_error *error)
{
    weir_error own = WEIR_ERROR_INIT;
    if (error == NULL) {
        error = &own;
    }
    if (weir__error_is_set(error)) {
        return NULL;
    }
    weir__admin_server *server = calloc(1, sizeof(*server));
    if (server == NULL) {
        (void)weir__error_memory(error, "weir.admin");
        return NULL;
    }
    server->engine = engine;
    weir_status status =
        weir_admin_add(engine,
                       WEIR_ADMIN(.name = "admin",
                                  .help = "the ways to these commands, and what was refused there",
                                  .handler = on_admin, .context = server),
                       error);
    server->has_command = status == WEIR_OK;
    if (status == WEIR_OK && options->enabled && options->socket_enabled) {
        status = open_socket(server, options, name, error);
    }
    if (status == WEIR_OK && options->enabled && options->http.port >= 0) {
        status = open_http(server, options, error);
    }
    if (status != WEIR_OK) {
        weir__admin_close(server);
        return NULL;
    }
    weir__store(&server->open, 1, release); /* [AD9] pairs with [AD8]: path and url */
    return server;
}

void weir__admin_close(weir__admin_server *server)
{
    if (server == NULL) {
        return;
    }
    weir__admin_http_close(server->http);
    weir__admin_socket_close(server->socket);
    if (server->has_command) {
        (void)weir_admin_remove(server->engine, "admin");
    }
    free(server);
}

const char *weir__admin_socket_path(const weir__admin_server *server)
{
    return server->path;
}

const char *weir__admin_url(const weir__admin_server *server)
{
    return server->url;
}
