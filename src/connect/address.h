/*
 * connect/address.h - "127.0.0.1", "::1", "localhost" and a port, as the system has it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CONNECT_ADDRESS_H
#define WEIR_CONNECT_ADDRESS_H

#include <sys/socket.h>

#include "weir/component.h"

/* Control; asks the resolver for what is no number, which may take its time. `listen`: to bind to.
 * E_CONFIG: there is no such address; the error names the component and says what would be
 * right. */
weir_status weir__address_find(const weir_component *self, const char *host, int64_t port,
                               bool listen, int socket_type, struct sockaddr_storage *out,
                               weir_error *error);

/* The port in it, in the order of the host. */
uint16_t weir__address_port(const struct sockaddr_storage *address);

/* "127.0.0.1:80", "[::1]:80"; cut at `size`. */
void weir__address_text(const struct sockaddr_storage *address, char *out, size_t size);

#endif /* WEIR_CONNECT_ADDRESS_H */
