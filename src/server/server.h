/*
 * server/server.h - a composition that runs: its engine, components, routers; and another
 * composition in place of it while it does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SERVER_SERVER_H
#define WEIR_SERVER_SERVER_H

#include "server/compose.h"

typedef struct weir__server weir__server;

/* Control. An engine with all that the composition names, not started; it must have no errors. The
 * server owns it from now on, whatever the answer. NULL: error set. */
weir__server *weir__server_create(weir__composition *composition, const weir_engine_options *code,
                                  weir_error *error);
weir_engine *weir__server_engine(const weir__server *server);
const weir__server_settings *weir__server_settings_of(const weir__server *server);

/* Blocking; a stop meanwhile ends it as STOPPING. */
weir_status weir__server_start(weir__server *server, weir_error *error);
/* Blocking. Sources first, then what they fed is handled. TIMEOUT: `report` says what is left. */
weir_status weir__server_stop(weir__server *server, weir_ns timeout, weir_stop_report *report);
/* Blocking, of one that is stopped or was never started. NULL is a no-op. */
void weir__server_destroy(weir__server *server);

/* Control. The ways for people to watch and change it, as weir.admin says. A socket at the usual
 * place that cannot be had (another weir of that name has it) is told by `say`, and it goes on
 * without. Else E_...: error set. */
weir_status weir__server_admin_open(weir__server *server, void (*say)(void *, const char *),
                                    void *context, weir_error *error);
/* Where it is to be reached; "" if it is not. */
const char *weir__server_admin_socket(const weir__server *server);
const char *weir__server_admin_url(const weir__server *server);
/* Blocking: a command under way returns first. */
void weir__server_admin_close(weir__server *server);
/* The same in a hurry: what stands in the file system goes, and that is all. */
void weir__server_admin_drop(const weir__server *server);

/* What a reload did, or could not do without a restart. */
typedef struct weir__reload {
    size_t added, removed; /* components and routers */
    size_t anew;           /* components that began anew, with other keys */
    size_t pending;        /* keys and components that wait for a restart; the log names each */
} weir__reload;

/* Blocking. Another composition, which must have no errors, for one that runs: new components and
 * routers are added, components with other keys begin anew, those that are gone are stopped, the
 * engine's settings change as weir_config_apply does it. All of it, or nothing and an error. Owns
 * the composition from now on, whatever the answer. */
weir_status weir__server_reload(weir__server *server, weir__composition *composition,
                                weir__reload *out, weir_error *error);

#endif /* WEIR_SERVER_SERVER_H */
