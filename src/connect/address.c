/*
 * connect/address.c - addresses as people write them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "connect/address.h"

#include <inttypes.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

#include "base/error.h"

weir_status weir__address_find(const weir_component *self, const char *host, int64_t port,
                               bool listen, int socket_type, struct sockaddr_storage *out,
                               weir_error *error)
{
    const struct addrinfo want = {
        .ai_family = AF_UNSPEC,
        .ai_socktype = socket_type,
        .ai_flags = AI_NUMERICSERV | (listen ? AI_PASSIVE : 0),
    };
    char service[24];
    snprintf(service, sizeof(service), "%" PRId64, port);
    struct addrinfo *found = NULL;
    const int failure = getaddrinfo(host, service, &want, &found);
    if (failure != 0) {
        return weir__error_at(error, WEIR_E_CONFIG, weir_component_name(self),
                              "address '%s': %s; a number (127.0.0.1, ::1) or the name of a "
                              "machine is needed",
                              host, gai_strerror(failure));
    }
    memset(out, 0, sizeof(*out));
    memcpy(out, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return WEIR_OK;
}

uint16_t weir__address_port(const struct sockaddr_storage *address)
{
    uint16_t port = 0; /* at the same place in both families; of others: none */
    if (address->ss_family == AF_INET) {
        port = ((const struct sockaddr_in *)address)->sin_port;
    } else if (address->ss_family == AF_INET6) {
        port = ((const struct sockaddr_in6 *)address)->sin6_port;
    }
    return ntohs(port);
}

void weir__address_text(const struct sockaddr_storage *address, char *out, size_t size)
{
    char host[64] = "?";
    if (address->ss_family == AF_INET6) {
        (void)uv_ip6_name((const struct sockaddr_in6 *)address, host, sizeof(host));
        snprintf(out, size, "[%s]:%u", host, weir__address_port(address));
        return;
    }
    if (address->ss_family == AF_INET) {
        (void)uv_ip4_name((const struct sockaddr_in *)address, host, sizeof(host));
    }
    snprintf(out, size, "%s:%u", host, weir__address_port(address));
}
