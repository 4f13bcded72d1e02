/*
 * admin/token.h - the secret that lets a client change something over HTTP.
 *
 * It is never logged, never shown, and compared in a time that says nothing about it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ADMIN_TOKEN_H
#define WEIR_ADMIN_TOKEN_H

#include "weir/error.h"

#define WEIR__TOKEN_MIN 16u
#define WEIR__TOKEN_MAX 1024u

typedef struct weir__token {
    size_t length; /* 0: there is none */
    char bytes[WEIR__TOKEN_MAX + 1];
} weir__token;

/* From the file (regular, its owner's alone: mode 0600), else `text`, else $WEIR_ADMIN_TOKEN, else
 * none. A wrong one is an error. */
weir_status weir__token_open(weir__token *token, const char *file, const char *text,
                             weir_error *error);
/* The same from a file only; for the client. */
weir_status weir__token_read(weir__token *token, const char *file, weir_error *error);
void weir__token_close(weir__token *token);

/* Whether an Authorization header, "Bearer ...", has it. NULL: it does not. */
bool weir__token_fits(const weir__token *token, const char *authorization);

#endif /* WEIR_ADMIN_TOKEN_H */
