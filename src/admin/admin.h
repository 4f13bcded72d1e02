/*
 * admin/admin.h - the ways to an engine's admin commands: a Unix socket for its owner, and HTTP.
 *
 * Each has a thread of its own, which is no thread of the engine's: whatever clients do, no
 * dispatcher waits for them. Commands of one way run one after the other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ADMIN_ADMIN_H
#define WEIR_ADMIN_ADMIN_H

#include "weir/config.h"

/* What stands below weir.admin; weir__admin_rows fill it (weir_config_read; zeroed before). */
typedef struct weir__admin_options {
    bool enabled;
    const char *socket; /* "" or NULL: the default place */
    bool socket_enabled;
    weir_option_ints cores;
    bool core_required;
    int64_t nice;     /* unless there is a priority */
    int64_t priority; /* weir_priority */
    int64_t priority_value;
    const char *thread_name; /* "" or NULL: weir */

    struct {
        int64_t port; /* 0: any, -1: no HTTP */
        const char *address;
        const char *token_file;
        const char *token;
        bool allow_remote;
        const char *const *hosts;
        const char *const *origins;
        int64_t connections_max;
        int64_t connections_per_address_max;
        int64_t stream_clients_max;
        uint64_t headers_max;
        uint64_t body_max;
        weir_ns timeout;
    } http;
} weir__admin_options;

extern const weir_option weir__admin_rows[];
extern const size_t weir__admin_row_count;
/* The same, as a table below "weir.admin". */
extern const weir_option_table weir__admin_table;

/* What the rows' fallbacks say. */
void weir__admin_defaults(weir__admin_options *options);

typedef struct weir__admin_server weir__admin_server;

/* Control. NULL on error: nothing is open then. What is not enabled is not opened. `name`: of the
 * default socket. The engine outlives it. */
weir__admin_server *weir__admin_open(weir_engine *engine, const weir__admin_options *options,
                                     const char *name, weir_error *error);
/* Blocking: a command under way returns first. NULL is a no-op. */
void weir__admin_close(weir__admin_server *server);

/* Where it is to be reached; "" if it is not. Live as long as it. */
const char *weir__admin_socket_path(const weir__admin_server *server);
const char *weir__admin_url(const weir__admin_server *server);

/* $WEIR_ADMIN_SOCKET, or NAME.sock below $XDG_RUNTIME_DIR/weir (without that: /tmp/weir-UID).
 * False: longer than `size`. `name` NULL: the folder alone. */
bool weir__admin_socket_default(const char *name, char *out, size_t size);

#endif /* WEIR_ADMIN_ADMIN_H */
