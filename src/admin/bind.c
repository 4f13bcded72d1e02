/*
 * admin/bind.c - where HTTP listens, and whether it may.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* strerrordesc_np */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "admin/http.h"
#include "admin/reason.h"
#include "base/error.h"

#define PATH "weir.admin.http"
#define BACKLOG SOMAXCONN /* who is to be refused waits there for it */

typedef union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
} address;

/* Numbers only: a name could lead anywhere. */
static bool read_address(const char *text, uint16_t port, address *out, socklen_t *size)
{
    memset(out, 0, sizeof(*out));
    if (inet_pton(AF_INET, text, &out->v4.sin_addr) == 1) {
        out->v4.sin_family = AF_INET;
        out->v4.sin_port = htons(port);
        *size = sizeof(out->v4);
        return true;
    }
    if (inet_pton(AF_INET6, text, &out->v6.sin6_addr) == 1) {
        out->v6.sin6_family = AF_INET6;
        out->v6.sin6_port = htons(port);
        *size = sizeof(out->v6);
        return true;
    }
    return false;
}

static bool is_loopback(const address *a)
{
    return a->any.sa_family == AF_INET ? (ntohl(a->v4.sin_addr.s_addr) >> 24) == 127
                                       : IN6_IS_ADDR_LOOPBACK(&a->v6.sin6_addr);
}

static weir_status check(const weir__admin_options *options, bool has_token, bool loopback,
                         weir_error *error)
{
    const char *at = options->http.address;
    if (options->http.allow_remote && !has_token) {
        return weir__error_at(error, WEIR_E_CONFIG, PATH ".allow-remote",
                              "others can reach %s, which needs a token: set "
                              "weir.admin.http.token-file",
                              at);
    }
    if (!loopback && !options->http.allow_remote) {
        return weir__error_at(error, WEIR_E_CONFIG, PATH ".address",
                              "%s can be reached by others: use 127.0.0.1, or set a token-file "
                              "and allow-remote = true",
                              at);
    }
    return WEIR_OK;
}

static weir_status listen_at(int descriptor, address *a, socklen_t size, const char *text,
                             weir_error *error)
{
    const int on = 1;
    (void)setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (a->any.sa_family == AF_INET6) {
        (void)setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
    }
    if (bind(descriptor, &a->any, size) != 0 || listen(descriptor, BACKLOG) != 0 ||
        getsockname(descriptor, &a->any, &size) != 0) {
        return weir__error_system(error, errno, PATH ".port", "cannot listen at %s: %s", text,
                                  weir__reason(errno));
    }
    return WEIR_OK;
}

weir_status weir__admin_http_bind(const weir__admin_options *options, bool has_token,
                                  weir__admin_bound *out, weir_error *error)
{
    address a;
    socklen_t size;
    const char *text = options->http.address;
    *out = (weir__admin_bound){ .descriptor = -1 };
    if (!read_address(text, (uint16_t)options->http.port, &a, &size)) {
        return weir__error_at(error, WEIR_E_CONFIG, PATH ".address",
                              "'%.64s' is no address of IPv4 or IPv6 in numbers", text);
    }
    out->loopback = is_loopback(&a);
    weir_status status = check(options, has_token, out->loopback, error);
    if (status != WEIR_OK) {
        return status;
    }
    out->descriptor = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (out->descriptor < 0) {
        return weir__error_system(error, errno, PATH, "no socket can be had");
    }
    status = listen_at(out->descriptor, &a, size, text, error);
    if (status != WEIR_OK) {
        (void)close(out->descriptor);
        out->descriptor = -1;
        return status;
    }
    out->port = ntohs(a.any.sa_family == AF_INET ? a.v4.sin_port : a.v6.sin6_port);
    (void)snprintf(out->host, sizeof(out->host),
                   a.any.sa_family == AF_INET ? "%.64s:%u" : "[%.64s]:%u", text,
                   (unsigned)out->port);
    return WEIR_OK;
}
