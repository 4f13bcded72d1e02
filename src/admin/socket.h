/*
 * admin/socket.h - admin commands over a Unix socket: a line of JSON in, a line of JSON out.
 *
 * It is its owner's alone: the file has mode 0600, its folder must belong to the same user, and
 * every client is asked who it is (SO_PEERCRED). So it may change things.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ADMIN_SOCKET_H
#define WEIR_ADMIN_SOCKET_H

#include "admin/admin.h"
#include "admin/counts.h"

typedef struct weir__admin_socket weir__admin_socket;

/* `path` is made; a file that a process left behind there is replaced, a living one is an error. */
weir__admin_socket *weir__admin_socket_open(weir_engine *engine, const char *path,
                                            const weir__admin_options *options,
                                            weir__admin_counts *counts, weir_error *error);
void weir__admin_socket_close(weir__admin_socket *socket);

/* A descriptor that listens there, non-blocking; -1: error set. For tests and the above. */
int weir__admin_socket_listen(const char *path, weir_error *error);

#endif /* WEIR_ADMIN_SOCKET_H */
