/*
 * cli/admin.h - the parts of `weir admin`: finding a running weir, asking, and showing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CLI_ADMIN_H
#define WEIR_CLI_ADMIN_H

#include <stdbool.h>
#include <stddef.h>

#define WEIR__ADMIN_REPLY_MAX ((size_t)20 << 20)

typedef struct weir__admin_ask {
    const char *socket, *url; /* one of them, once it is found */
    const char *name;         /* or by its name; NULL: what there is */
    const char *token_file;   /* may be NULL: $WEIR_ADMIN_TOKEN, or none */
    const char *const *words;
    size_t count;
    unsigned seconds; /* until there is an answer, all of it */
    int interrupts;   /* of weir__interrupt_open: what comes there ends it; 0: nothing does */
    char path[512];   /* of the socket that was found */
} weir__admin_ask;

/* Sees to it that `socket` or `url` is set: as was said, by the name, else $WEIR_ADMIN_SOCKET, else
 * the one socket in the usual folder. An exit status; unless it is OK, stderr says why. */
int weir__admin_find(const char *program, weir__admin_ask *ask);

/* The answer as JSON text, for free(); NULL: `why` says what went wrong. */
char *weir__admin_ask_run(const weir__admin_ask *ask, char *why, size_t size);

/* Prints it: a table, or "key: value" of a single row; or the error, to stderr. Answers an exit
 * status. */
int weir__admin_show(const char *program, const char *answer, bool json);

#endif /* WEIR_CLI_ADMIN_H */
