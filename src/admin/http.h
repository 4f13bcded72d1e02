/*
 * admin/http.h - admin commands over HTTP: libmicrohttpd, turned by a thread of this room's.
 *
 * The thread accepts by itself, so that it can refuse and count, and ends connections that take too
 * long, however busily they trickle. One request a connection.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ADMIN_HTTP_H
#define WEIR_ADMIN_HTTP_H

#include "admin/admin.h"
#include "admin/counts.h"

typedef struct weir__admin_http weir__admin_http;

weir__admin_http *weir__admin_http_open(weir_engine *engine, const weir__admin_options *options,
                                        weir__admin_counts *counts, weir_error *error);
void weir__admin_http_close(weir__admin_http *http);

/* "http://127.0.0.1:8080" */
const char *weir__admin_http_url(const weir__admin_http *http);

/* ---- the address (bind.c) ---- */

typedef struct weir__admin_bound {
    int descriptor;
    bool loopback;
    uint16_t port;
    char host[80]; /* "127.0.0.1:8080", "[::1]:8080" */
} weir__admin_bound;

/* Refuses what strangers could reach, unless there is a token and allow-remote says so; and
 * allow-remote without a token. */
weir_status weir__admin_http_bind(const weir__admin_options *options, bool has_token,
                                  weir__admin_bound *out, weir_error *error);

#endif /* WEIR_ADMIN_HTTP_H */
