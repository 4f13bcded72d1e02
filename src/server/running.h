/*
 * server/running.h - a server from inside: what runs, and which composition each came from.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SERVER_RUNNING_H
#define WEIR_SERVER_RUNNING_H

#include "server/server.h"

/* A composition, and how many need it: what runs of it, and the server if it is the current one. */
typedef struct weir__kept {
    weir__composition *composition;
    size_t uses;
    struct weir__kept *next;
} weir__kept;

typedef struct weir__running {
    weir__kept *kept;
    const weir__part *part; /* of that composition */
    weir_processor address; /* of a component's handler */
    weir_router router;

    /* In a reload. */
    bool changed_own, changed_common; /* keys of its type; keys that every component has */
    weir__kept *kept_before;          /* it has begun anew: what it came from; or NULL */
    const weir__part *part_before;
} weir__running;

struct weir__server {
    weir_engine *engine;
    weir__admin_server *admin; /* NULL: not open */
    weir__kept *kept, *current;
    weir__running *running; /* in the order they were added */
    size_t running_count, running_room;
};

/* NULL: no memory, error set, and the composition destroyed. It has one use. */
weir__kept *weir__server_keep(weir__server *server, weir__composition *composition,
                              weir_error *error);
void weir__kept_release(weir__server *server, weir__kept *kept);

weir__running *weir__server_find(weir__server *server, const char *name);
/* Room for so many more in `running`. False: no memory. */
bool weir__server_room(weir__server *server, size_t more);
/* Adds one part; there is room for it. */
weir_status weir__server_add(weir__server *server, weir__kept *kept, const weir__part *part,
                             weir_error *error);
/* Loads the plugins that are not there yet. */
weir_status weir__server_plugins(weir__server *server, const weir__composition *composition,
                                 weir_error *error);

#endif /* WEIR_SERVER_RUNNING_H */
