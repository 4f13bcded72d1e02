/*
 * server/compose.h - what files say of components, read and checked: nothing runs yet.
 *
 * Two passes. The first one reads which plugins there are and which type each component has; with
 * the types known, the second one loads the same files again with a table of options for every
 * component. So all that is wrong, of weir's keys, of the types' own, of the names that lead from
 * one component to another, is found at once, each with its place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SERVER_COMPOSE_H
#define WEIR_SERVER_COMPOSE_H

#include "admin/admin.h"
#include "settings/config.h"
#include "weir/plugin.h"

#define WEIR__COMPONENTS_PATH "weir.components"
#define WEIR__SERVER_PATH "weir.server"

/* The keys that every component has, whatever its type. */
typedef struct weir__component_settings {
    const char *type, *thread, *dispatcher;
    int64_t instances;
    const char *const *feeds, *const *after;
    int64_t mailbox_max;
    int64_t overflow;   /* weir_overflow */
    int64_t on_failure; /* weir_directive */
    struct {
        int64_t queue_max;
        int64_t slow; /* weir_slow_consumer */
        weir_ns slow_max;
        int64_t replay_max;
        bool named, broadcast, many_writers;
    } feed;
} weir__component_settings;

/* Keys of weir.server. */
typedef struct weir__server_settings {
    weir_ns stop_timeout;
} weir__server_settings;

typedef enum weir__reference_kind {
    WEIR__REFERS_TARGET,
    WEIR__REFERS_FEED,
    WEIR__REFERS_AFTER
} weir__reference_kind;

/* A name that a component or a router says, and where. */
typedef struct weir__reference {
    weir__reference_kind kind;
    const char *name;
    const char *path; /* of the key */
    weir__origin origin;
    struct weir__reference *next;
} weir__reference;

/* One component, or one router of weir.flows (`is_router`). */
typedef struct weir__part {
    const char *name;
    bool is_router;
    const weir_component_type *type; /* NULL: a router, or unknown, which was said */
    const weir_option *rows;         /* common ones, then the type's */
    size_t row_count;
    weir_option_table table;
    weir__component_settings *settings;
    const void *config; /* a struct of the type's own */
    const weir__node *node;
    weir__reference *references, *last_reference;
    uint8_t mark; /* of the walk that finds the order */
} weir__part;

/* A shared object that was opened. */
typedef struct weir__opened {
    const char *path;
    const weir_plugin *plugin;
} weir__opened;

typedef struct weir__composition {
    weir__tree *memory;  /* of all that hangs below */
    weir_config *config; /* as it is, errors too; NULL: no memory */
    weir__opened *plugins;
    size_t plugin_count;
    weir__part *parts; /* components and routers, by the place they have in the files */
    size_t part_count, component_count;
    weir__part **order; /* who is referred to comes before; NULL: it has errors */
    weir__server_settings server;
    weir__admin_options admin;
    bool admin_socket_said; /* a file names its place */
} weir__composition;

/* NULL: no memory. Else it may have errors: composition->config->problems. `request->options` may
 * have tables of its own. */
weir__composition *weir__compose(const weir__request *request, weir_error *error);
void weir__composition_destroy(weir__composition *composition);

/* NULL: no such one. */
weir__part *weir__part_find(const weir__composition *composition, const char *name);
/* True: something can be sent to it. */
bool weir__part_receives(const weir__part *part);
/* True: it has a feed; or nobody knows what it is. */
bool weir__part_publishes(const weir__part *part);

/* ---- its steps ---- */

/* Opens what weir.plugins of `config` names. False: no memory. */
bool weir__compose_plugins(weir__composition *composition, const weir_config *config,
                           weir__problems *problems);
/* A type by its name, of what is built in and of the plugins; NULL: none. */
const weir_component_type *weir__compose_type(const weir__composition *composition,
                                              const char *name);
/* Visits all of them until `visit` answers false. */
void weir__compose_types(const weir__composition *composition,
                         bool (*visit)(void *context, const weir_component_type *type,
                                       const weir_plugin *from),
                         void *context);

/* The rows of a component of this type. False: no memory. */
bool weir__part_rows(weir__tree *memory, weir__part *part);
/* Fills its settings from the tree. False: no memory. */
bool weir__part_fill(weir__tree *memory, weir__part *part, const weir_config *config);
/* All names that it refers to. False: no memory. */
bool weir__part_references(weir__tree *memory, weir__part *part, const weir_config *config);

/* What must hold between components, threads, feeds and routers; the order. False: no memory. */
bool weir__compose_plan(weir__composition *composition);

/* Those of weir.server and weir.admin; ends with NULL. */
extern const weir_option_table *const weir__server_tables[];
/* The rows that every component has; and the same as a page shows them, below weir. */
extern const weir_option_table weir__component_table, weir__components_page;

#endif /* WEIR_SERVER_COMPOSE_H */
