/*
 * admin/http.c - see http.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "admin/http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "admin/http_parts.h"
#include "base/error.h"

/* ---- what the library asks ---- */

/* What is sent is not decoded: letters that would need it are in no path of ours, and a zero byte
 * cannot cut one short. */
static size_t leave_as_it_is(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context;
    (void)connection;
    return strlen(text);
}

static void on_connection(void *http, struct MHD_Connection *connection, void **link,
                          enum MHD_ConnectionNotificationCode code)
{
    weir__admin_http *h = http;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        weir__door_began(&h->door, connection, link);
    } else {
        weir__door_ended(&h->door, *link);
    }
}

/* ---- the thread ---- */

static int patience(weir__admin_http *h, weir_ns now, weir_ns next)
{
    MHD_UNSIGNED_LONG_LONG wanted;
    const weir_ns lot = weir__lot_next(&h->door.lot);
    const weir_ns frame = weir__streams_next(&h->streams);
    next = lot < next ? lot : next;
    next = frame < next ? frame : next;
    next = next > now ? next : now;
    weir_ns left = next != WEIR_FOREVER ? (next - now) / WEIR_MS + 1 : 60000;
    if (MHD_get_timeout(h->daemon, &wanted) == MHD_YES && (weir_ns)wanted < left) {
        left = (weir_ns)wanted;
    }
    if (h->door.paused_until > now && left > (h->door.paused_until - now) / WEIR_MS) {
        left = (h->door.paused_until - now) / WEIR_MS + 1;
    }
    return (int)(left < 60000 ? left : 60000);
}

static void fill_polled(weir__admin_http *h, int library, weir_ns now)
{
    const bool shut = h->door.paused_until > now;
    h->polled[POLLED_DOORBELL] = (struct pollfd){ .fd = h->thread.doorbell, .events = POLLIN };
    h->polled[POLLED_DOOR] =
        (struct pollfd){ .fd = shut ? -1 : h->bound.descriptor, .events = POLLIN };
    h->polled[POLLED_LIBRARY] = (struct pollfd){ .fd = library, .events = POLLIN };
    h->polled[POLLED_LOT] = (struct pollfd){ .fd = h->door.lot.descriptor, .events = POLLIN };
}

static void turn_parts(weir__admin_http *h, bool found, const struct pollfd *stream,
                       uint32_t streams)
{
    const weir_ns now = weir__clock_now();
    weir__lot_turn(&h->door.lot, now, found && h->polled[POLLED_LOT].revents != 0);
    weir__streams_turn(&h->streams, now, stream, found ? streams : 0);
    weir__door_forgive(&h->door, weir__clock_now() - now); /* figures take a while, too */
}

static void run(void *context)
{
    weir__admin_http *h = context;
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    for (;;) { /* until the doorbell rings */
        const weir_ns now = weir__clock_now();
        const weir_ns next = weir__door_end_slow(&h->door, now);
        fill_polled(h, info->epoll_fd, now);
        struct pollfd *partial = h->polled + POLLED_FIRST;
        const uint32_t partials = weir__door_poll(&h->door, partial);
        struct pollfd *stream = partial + partials;
        const uint32_t streams = weir__streams_poll(&h->streams, stream);
        const bool found =
            poll(h->polled, POLLED_FIRST + partials + streams, patience(h, now, next)) > 0;
        if (found && h->polled[POLLED_DOORBELL].revents != 0) {
            break;
        }
        turn_parts(h, found, stream, streams);
        if (found && h->polled[POLLED_DOOR].revents != 0) {
            weir__door_take(&h->door);
        }
        (void)MHD_run(h->daemon);
        if (found) {
            weir__door_end_shut(&h->door, partial, partials);
        }
    }
}

/* ---- its life ---- */

/* `port` 0: none stands behind it. */
static bool add_text(char **list, uint32_t *count, const char *text, unsigned port)
{
    char made[128];
    const int length = port != 0 ? snprintf(made, sizeof(made), "%s:%u", text, port)
                                 : snprintf(made, sizeof(made), "%s", text);
    if (*count >= WEIR__HOSTS_MAX || length < 0 || (size_t)length >= sizeof(made)) {
        return false;
    }
    list[*count] = strdup(made);
    return list[(*count)++] != NULL;
}

static bool copy_list(char **list, uint32_t *count, const char *const *from)
{
    for (; from != NULL && *from != NULL; from++) {
        if (!add_text(list, count, *from, 0)) {
            return false;
        }
    }
    return true;
}

static weir_status make_rules(weir__admin_http *h, weir_engine *engine,
                              const weir__admin_options *options, weir_error *error)
{
    uint32_t hosts = 0;
    uint32_t origins = 0;
    bool ok = add_text(h->hosts, &hosts, h->bound.host, 0);
    if (h->bound.loopback) {
        ok = ok && add_text(h->hosts, &hosts, "localhost", h->bound.port) &&
             add_text(h->hosts, &hosts, "127.0.0.1", h->bound.port) &&
             add_text(h->hosts, &hosts, "[::1]", h->bound.port);
    }
    if (h->bound.loopback && h->bound.port == 80) {
        ok = ok && add_text(h->hosts, &hosts, "localhost", 0);
    }
    if (!ok || !copy_list(h->hosts, &hosts, options->http.hosts) ||
        !copy_list(h->origins, &origins, options->http.origins)) {
        return weir__error_at(error, WEIR_E_CONFIG, "weir.admin.http.hosts",
                              "at most %u hosts and origins of 127 bytes fit", WEIR__HOSTS_MAX - 4);
    }
    h->rules = (weir__route_rules){ .engine = engine,
                                    .token = &h->token,
                                    .remote = !h->bound.loopback || options->http.allow_remote,
                                    .hosts = (const char *const *)h->hosts,
                                    .origins = (const char *const *)h->origins,
                                    .body_max = options->http.body_max,
                                    .counts = h->counts,
                                    .adviser = &h->adviser };
    h->adviser.engine = engine;
    (void)snprintf(h->url, sizeof(h->url), "http://%s", h->bound.host);
    return WEIR_OK;
}

static weir_status make_door(weir__admin_http *h, const weir__admin_options *options,
                             weir_error *error)
{
    struct rlimit files = { 0, 0 };
    h->door =
        (weir__door){ .counts = h->counts,
                      .descriptor = h->bound.descriptor,
                      .timeout = options->http.timeout,
                      .connections_max = (uint32_t)options->http.connections_max,
                      .per_address_max = (uint32_t)options->http.connections_per_address_max };
    (void)getrlimit(RLIMIT_NOFILE, &files);
    if (!weir__lot_open(&h->door.lot, weir__lot_room(files.rlim_cur), h->counts)) {
        return weir__error_system(error, errno, "weir.admin.http", "no descriptor is left");
    }
    h->streams = (weir__streams){ .engine = h->rules.engine,
                                  .counts = h->counts,
                                  .adviser = &h->adviser,
                                  .timeout = options->http.timeout,
                                  .max = (uint32_t)options->http.stream_clients_max };
    h->polled = calloc(POLLED_FIRST + h->door.connections_max + h->streams.max, sizeof(*h->polled));
    return h->polled != NULL ? WEIR_OK : weir__error_memory(error, "weir.admin.http");
}

static weir_status start(weir__admin_http *h, const weir__admin_options *options, weir_error *error)
{
    /* Part of the memory is for the library's own, and for what it answers. */
    h->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
        weir__visit_on_request, h, MHD_OPTION_NOTIFY_COMPLETED, weir__visit_on_completed, h,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, h, MHD_OPTION_UNESCAPE_CALLBACK,
        leave_as_it_is, NULL, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)options->http.headers_max + 2048, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)options->http.connections_max + h->streams.max + 1, MHD_OPTION_STRICT_FOR_CLIENT,
        1, MHD_OPTION_END);
    if (h->daemon == NULL) {
        return weir__error_at(error, WEIR_E_SYSTEM, "weir.admin.http", "libmicrohttpd refuses");
    }
    h->door.daemon = h->daemon;
    h->thread =
        (weir__admin_thread){ .name = "http", .engine = h->rules.engine, .run = run, .context = h };
    return weir__admin_thread_start(&h->thread, options, error);
}

static void free_http(weir__admin_http *h)
{
    if (h->daemon != NULL) {
        weir__streams_end(&h->streams);
        MHD_stop_daemon(h->daemon);
    }
    weir__lot_close(&h->door.lot);
    if (h->bound.descriptor >= 0) {
        (void)close(h->bound.descriptor);
    }
    for (uint32_t i = 0; i <= WEIR__HOSTS_MAX; i++) {
        free(h->hosts[i]);
        free(h->origins[i]);
    }
    weir__adviser_close(&h->adviser);
    weir__token_close(&h->token);
    free(h->polled);
    free(h);
}

weir__admin_http *weir__admin_http_open(weir_engine *engine, const weir__admin_options *options,
                                        weir__admin_counts *counts, weir_error *error)
{
    weir__admin_http *h = calloc(1, sizeof(*h));
    if (h == NULL) {
        (void)weir__error_memory(error, "weir.admin.http");
        return NULL;
    }
    h->counts = counts;
    h->bound.descriptor = -1;
    h->door.lot.descriptor = -1;
    if (weir__token_open(&h->token, options->http.token_file, options->http.token, error) !=
            WEIR_OK ||
        weir__admin_http_bind(options, h->token.length > 0, &h->bound, error) != WEIR_OK ||
        make_rules(h, engine, options, error) != WEIR_OK ||
        make_door(h, options, error) != WEIR_OK || start(h, options, error) != WEIR_OK) {
        free_http(h);
        return NULL;
    }
    return h;
}

void weir__admin_http_close(weir__admin_http *h)
{
    if (h != NULL) {
        weir__admin_thread_stop(&h->thread);
        free_http(h);
    }
}

const char *weir__admin_http_url(const weir__admin_http *http)
{
    return http->url;
}
