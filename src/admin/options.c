/*
 * admin/options.c - the keys below weir.admin, and where the socket is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "admin/admin.h"

#define SINCE "0.1"
#define ROWS(array) .rows = (array), .row_count = sizeof(array) / sizeof((array)[0])
#define KEY(kind, member, name, ...)                                                               \
    WEIR_KEY(kind, weir__admin_options, member, name, .since = SINCE, __VA_ARGS__)

static const weir_option http_rows[] = {
    KEY(INT, http.port, "port", .fallback = "-1", .min = -1, .max = 65535,
        .help = "Where it listens; 0 takes any that is free, -1 leaves HTTP off."),
    KEY(STRING, http.address, "address", .fallback = "127.0.0.1",
        .help = "A number, of IPv4 or IPv6. Anything but a loopback address needs a token and "
                "allow-remote."),
    KEY(STRING, http.token_file, "token-file",
        .help = "A file with the token that changes need, of mode 0600. Without a token nothing "
                "can be changed over HTTP."),
    KEY(SECRET, http.token, "token",
        .help = "The token itself; better in a file, or in $WEIR_ADMIN_TOKEN. 16 to 1,024 visible "
                "characters."),
    KEY(BOOL, http.allow_remote, "allow-remote", .fallback = "false",
        .help = "Others reach it: by an address of their network, or by a proxy in front of this "
                "one. Nothing of the server is told without the token then; the proxy has TLS."),
    KEY(LIST, http.hosts, "hosts",
        .help = "What a Host header may say besides the address and localhost, with the port."),
    KEY(LIST, http.origins, "origins",
        .help = "Sites whose pages may ask, as in http://panel.example:8080."),
    KEY(INT, http.connections_max, "connections-max", .fallback = "64", .min = 1, .max = 4096,
        .help = "At once; one more is refused. Event streams are counted by themselves."),
    KEY(INT, http.connections_per_address_max, "connections-per-address-max", .fallback = "32",
        .min = 1, .max = 4096, .help = "The same, of one address."),
    KEY(INT, http.stream_clients_max, "stream-clients-max", .fallback = "100", .min = 0,
        .max = 4096,
        .help = "Clients of /events at once, such as pages that are open; besides "
                "connections-max."),
    KEY(BYTES, http.headers_max, "headers-max", .fallback = "8KiB", .min = 1024, .max = 1048576,
        .help = "Bytes of a request before its body."),
    KEY(BYTES, http.body_max, "body-max", .fallback = "64KiB", .min = 64, .max = 327680,
        .help = "Bytes of a body."),
    KEY(DURATION, http.timeout, "timeout", .fallback = "10s", .min = 1e7, .max = 3.6e12,
        .help = "From connecting until the request is there, and again until the answer was "
                "taken."),
};

static const char *const priority_words[] = { "default", "nice", "fifo", "round-robin", NULL };

static const weir_option thread_rows[] = {
    KEY(INTS, cores, "cores", .min = 0, .max = 1023,
        .help = "The cores that the threads of the socket and of HTTP may run on."),
    KEY(BOOL, core_required, "core-required", .fallback = "false",
        .help = "A core that cannot be had is an error, not a warning."),
    KEY(INT, nice, "nice", .fallback = "10", .min = -20, .max = 19,
        .help = "Their priority: the higher, the less they take away from others."),
    KEY(ENUM, priority, "priority", .fallback = "default", .words = priority_words,
        .help = "How the system schedules them; default is by nice."),
    KEY(INT, priority_value, "priority-value", .fallback = "0", .min = -20, .max = 99,
        .help = "For nice -20 to 19, for fifo and round-robin 1 to 99."),
    KEY(STRING, thread_name, "name", .fallback = "weir",
        .help =
            "What their names begin with; -admin and -http follow. The system shows 15 letters."),
};

const weir_option weir__admin_rows[] = {
    KEY(BOOL, enabled, "enabled", .fallback = "true", .help = "Whether there is any of it."),
    KEY(STRING, socket, "socket",
        .help = "Where the Unix socket is. Without: $WEIR_ADMIN_SOCKET, else NAME.sock in "
                "$XDG_RUNTIME_DIR/weir, else in /tmp/weir-UID; NAME is weir.engine.name."),
    KEY(BOOL, socket_enabled, "socket-enabled", .fallback = "true",
        .help = "Whether there is a socket."),
    KEY(GROUP, http, "http", ROWS(http_rows), .help = "The same commands over HTTP, as JSON."),
    KEY(GROUP, cores, "thread", ROWS(thread_rows), .help = "The threads that serve them."),
};
#undef KEY
const size_t weir__admin_row_count = sizeof(weir__admin_rows) / sizeof(weir__admin_rows[0]);

const weir_option_table weir__admin_table = {
    .struct_size = sizeof(weir_option_table),
    .path = "weir.admin",
    .rows = weir__admin_rows,
    .row_count = sizeof(weir__admin_rows) / sizeof(weir__admin_rows[0]),
    .help = "Commands for the people who run it.",
};

void weir__admin_defaults(weir__admin_options *options)
{
    *options = (weir__admin_options){ .enabled = true,
                                      .socket_enabled = true,
                                      .nice = 10,
                                      .http = { .port = -1,
                                                .address = "127.0.0.1",
                                                .connections_max = 64,
                                                .connections_per_address_max = 32,
                                                .stream_clients_max = 100,
                                                .headers_max = 8192,
                                                .body_max = 65536,
                                                .timeout = 10 * WEIR_S } };
}

bool weir__admin_socket_default(const char *name, char *out, size_t size)
{
    /* Nothing of weir's changes the environment. NOLINTBEGIN(concurrency-mt-unsafe) */
    const char *given = getenv("WEIR_ADMIN_SOCKET");
    const char *folder = getenv("XDG_RUNTIME_DIR");
    /* NOLINTEND(concurrency-mt-unsafe) */
    char before[512];
    int length;
    if (name != NULL && given != NULL && given[0] != '\0') {
        length = snprintf(out, size, "%s", given);
        return length > 0 && (size_t)length < size;
    }
    length = folder != NULL && folder[0] == '/'
                 ? snprintf(before, sizeof(before), "%s/weir", folder)
                 : snprintf(before, sizeof(before), "/tmp/weir-%u", (unsigned)geteuid());
    if (length < 0 || (size_t)length >= sizeof(before)) {
        return false;
    }
    length = name != NULL ? snprintf(out, size, "%s/%s.sock", before, name)
                          : snprintf(out, size, "%s", before);
    return length > 0 && (size_t)length < size;
}
