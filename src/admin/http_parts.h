/*
 * admin/http_parts.h - what the parts of HTTP share: http.c is its life and its thread, visit.c the
 * way of a request, door.c the connections.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ADMIN_HTTP_PARTS_H
#define WEIR_ADMIN_HTTP_PARTS_H

#include "admin/door.h"
#include "admin/http.h"
#include "admin/route.h"
#include "admin/stream.h"
#include "admin/thread.h"

#define WEIR__HOSTS_MAX 32u

/* Descriptors that the thread waits for; behind them come those of connections. */
enum { POLLED_DOORBELL, POLLED_DOOR, POLLED_LIBRARY, POLLED_LOT, POLLED_FIRST };

struct weir__admin_http {
    weir__admin_counts *counts;
    weir__token token;
    weir__route_rules rules;
    weir__admin_bound bound;
    char url[96];
    char *hosts[WEIR__HOSTS_MAX + 1];
    char *origins[WEIR__HOSTS_MAX + 1];
    struct MHD_Daemon *daemon;
    weir__admin_thread thread;

    /* The thread's. */
    weir__door door;
    weir__adviser adviser;
    weir__streams streams;
    struct pollfd *polled; /* POLLED_FIRST, connections_max, streams.max of them */
};

/* ---- visit.c: the library's callbacks; the context is the weir__admin_http ---- */

enum MHD_Result weir__visit_on_request(void *http, struct MHD_Connection *connection,
                                       const char *url, const char *method, const char *version,
                                       const char *upload, size_t *upload_size, void **context);
void weir__visit_on_completed(void *http, struct MHD_Connection *connection, void **context,
                              enum MHD_RequestTerminationCode code);

#endif /* WEIR_ADMIN_HTTP_PARTS_H */
