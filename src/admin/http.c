/*
 * admin/http.c - see http.h.
 *
 * libmicrohttpd keeps a clock for silence only, and a client that sends a byte now and then is
 * never silent. So each connection has a deadline here: for its request, then for its answer. When
 * it is over the socket is shut down, and the library ends what hangs on it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* accept4, struct ucred, explicit_bzero */
#include "admin/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "admin/route.h"
#include "admin/thread.h"
#include "base/error.h"

#define HOSTS_MAX 32u
#define PAUSE_MS 100u /* when no descriptor is left */
/* Who is refused comes again at once, and to refuse thousands a second is work, too: after so many
 * the door is shut for a moment, and the rest waits in the system's queue at no cost. */
#define REFUSALS_AT_ONCE 128u
#define DOOR_SHUT_MS 250
#define ACCEPTS_MAX 256u /* in a row, before others have their turn */

typedef struct link_of {
    struct link_of *next, *previous;
    int descriptor;
    weir_ns deadline;
    bool whole; /* its request was there, and has its answer */
    bool shut;  /* nothing comes any more, and at the last look nothing was left to be read */
    bool ended; /* by us: too slow, counted */
    uint8_t address[16];
} link_of;

/* One request, from its head to the end of its answer. */
typedef struct visit_of {
    char *body;
    size_t size;
} visit_of;

struct weir__admin_http {
    weir__admin_counts *counts;
    weir__token token;
    weir__route_rules rules;
    weir__admin_bound bound;
    weir_ns timeout;
    uint32_t connections_max, per_address_max;
    char url[96];
    char *hosts[HOSTS_MAX + 1];
    char *origins[HOSTS_MAX + 1];
    struct MHD_Daemon *daemon;
    weir__admin_thread thread;

    /* The thread's. */
    link_of *links;
    uint32_t link_count;
    weir_ns paused_until;  /* accepts nobody before */
    struct pollfd *polled; /* connections_max + 3 of them */
};

/* ---- a request ---- */

/* A zero byte in one would hide what follows it. */
static enum MHD_Result take_header(void *context, enum MHD_ValueKind kind, const char *key,
                                   size_t key_size, const char *value, size_t value_size)
{
    static const char *const names[] = { "Host",         "Origin",         "Authorization",
                                         "Content-Type", "Content-Length", "Transfer-Encoding" };
    weir__route_request *r = context;
    const char **places[] = { &r->host,         &r->origin,         &r->authorization,
                              &r->content_type, &r->content_length, &r->transfer_encoding };
    (void)kind;
    if (key == NULL || strlen(key) != key_size || (value != NULL && strlen(value) != value_size)) {
        r->doubled = true;
    }
    for (size_t i = 0; key != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcasecmp(key, names[i]) == 0) {
            r->doubled = r->doubled || *places[i] != NULL;
            *places[i] = value != NULL ? value : "";
        }
    }
    return MHD_YES;
}

static weir__route_request request_of(struct MHD_Connection *connection, const char *method,
                                      const char *path)
{
    weir__route_request r = { .method = method, .path = path };
    (void)MHD_get_connection_values_n(connection, MHD_HEADER_KIND, take_header, &r);
    return r;
}

static link_of *link_at(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info != NULL ? info->socket_context : NULL;
}

/* Nothing more is expected of the client but to take its answer, which has a time of its own. */
static void is_whole(const weir__admin_http *h, struct MHD_Connection *connection)
{
    link_of *link = link_at(connection);
    if (link != NULL) {
        link->whole = true;
        link->deadline = weir__clock_now() + h->timeout;
    }
}

static enum MHD_Result send_answer(weir__admin_http *h, struct MHD_Connection *connection,
                                   const weir__route_answer *answer)
{
    const char *text = answer->body != NULL ? answer->body : answer->text;
    struct MHD_Response *response = MHD_create_response_from_buffer(
        strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);
    weir_admin_free(h->rules.engine, answer->body);
    is_whole(h, connection);
    if (response == NULL) {
        weir__admin_refuse(h->counts, WEIR__REFUSED_SYSTEM);
        return MHD_NO;
    }
    static const char *const fields[][2] = {
        { "Content-Type", "application/json" },
        { "Cache-Control", "no-store" },
        { "X-Content-Type-Options", "nosniff" },
        { "Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'" },
        { "Connection", "close" },
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        (void)MHD_add_response_header(response, fields[i][0], fields[i][1]);
    }
    if (answer->ask_for_token) {
        (void)MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
    }
    if (answer->status == 405) {
        (void)MHD_add_response_header(response, "Allow", answer->post_only ? "POST" : "GET");
    }
    const enum MHD_Result queued = MHD_queue_response(connection, answer->status, response);
    MHD_destroy_response(response);
    return queued;
}

static enum MHD_Result begin(weir__admin_http *h, struct MHD_Connection *connection,
                             const weir__route_request *r, void **context)
{
    weir__route_answer answer;
    weir__route_head(&h->rules, r, &answer);
    if (answer.status != 0) {
        return send_answer(h, connection, &answer);
    }
    visit_of *v = calloc(1, sizeof(*v));
    if (v == NULL) {
        weir__admin_refuse(h->counts, WEIR__REFUSED_SYSTEM);
        return MHD_NO;
    }
    *context = v;
    return MHD_YES;
}

static bool take_body(const weir__admin_http *h, visit_of *v, const char *bytes, size_t size)
{
    if (size > h->rules.body_max - v->size) {
        return false;
    }
    char *grown = realloc(v->body, v->size + size);
    if (grown == NULL) {
        return false;
    }
    memcpy(grown + v->size, bytes, size);
    v->body = grown;
    v->size += size;
    return true;
}

/* While a command ran nobody else was looked at: that is no slowness of theirs. */
static void forgive(weir__admin_http *h, weir_ns span)
{
    for (link_of *l = h->links; l != NULL; l = l->next) {
        l->deadline += span;
    }
}

static enum MHD_Result on_request(void *http, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **context)
{
    weir__admin_http *h = http;
    const weir__route_request r = request_of(connection, method, url);
    weir__route_answer answer;
    (void)version;
    if (*context == NULL) {
        return begin(h, connection, &r, context);
    }
    visit_of *v = *context;
    if (*upload_size > 0) {
        if (!take_body(h, v, upload, *upload_size)) {
            weir__admin_refuse(h->counts, WEIR__REFUSED_SIZE);
            is_whole(h, connection);
            return MHD_NO;
        }
        *upload_size = 0;
        return MHD_YES;
    }
    const weir_ns began = weir__clock_now();
    weir__route_body(&h->rules, &r, v->body != NULL ? v->body : "", v->size, &answer);
    forgive(h, weir__clock_now() - began);
    return send_answer(h, connection, &answer);
}

static void on_completed(void *http, struct MHD_Connection *connection, void **context,
                         enum MHD_RequestTerminationCode code)
{
    visit_of *v = *context;
    (void)http;
    (void)connection;
    (void)code;
    if (v != NULL) {
        free(v->body);
        free(v);
        *context = NULL;
    }
}

/* What is sent is not decoded: letters that would need it are in no path of ours, and a zero byte
 * cannot cut one short. */
static size_t leave_as_it_is(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context;
    (void)connection;
    return strlen(text);
}

/* ---- connections ---- */

static void on_connection(void *http, struct MHD_Connection *connection, void **socket_context,
                          enum MHD_ConnectionNotificationCode code)
{
    weir__admin_http *h = http;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        for (link_of *l = h->links; info != NULL && l != NULL; l = l->next) {
            if (l->descriptor == info->connect_fd) {
                *socket_context = l;
                break;
            }
        }
        return;
    }
    link_of *link = *socket_context;
    if (link == NULL) {
        return;
    }
    if (!link->whole && !link->ended) {
        weir__admin_refuse(h->counts, WEIR__REFUSED_MALFORMED);
    }
    *(link->previous != NULL ? &link->previous->next : &h->links) = link->next;
    if (link->next != NULL) {
        link->next->previous = link->previous;
    }
    h->link_count--;
    weir__sub(&h->counts->open, 1, relaxed);
    free(link);
}

static void bytes_of(const struct sockaddr_storage *from, uint8_t out[16])
{
    memset(out, 0, 16);
    if (from->ss_family == AF_INET) {
        memcpy(out, &((const struct sockaddr_in *)from)->sin_addr, 4);
    } else if (from->ss_family == AF_INET6) {
        memcpy(out, &((const struct sockaddr_in6 *)from)->sin6_addr, 16);
    }
}

static uint32_t count_of(const weir__admin_http *h, const uint8_t address[16])
{
    uint32_t count = 0;
    for (const link_of *l = h->links; l != NULL; l = l->next) {
        count += memcmp(l->address, address, 16) == 0 ? 1 : 0;
    }
    return count;
}

/* False: it is refused. */
static bool may_come(weir__admin_http *h, const uint8_t address[16])
{
    if (h->link_count >= h->connections_max) {
        weir__admin_refuse(h->counts, WEIR__REFUSED_CONNECTIONS);
        return false;
    }
    if (count_of(h, address) >= h->per_address_max) {
        weir__admin_refuse(h->counts, WEIR__REFUSED_ADDRESS);
        return false;
    }
    return true;
}

/* False: it was refused at the door. */
static bool take(weir__admin_http *h, int descriptor, const struct sockaddr_storage *from,
                 socklen_t size)
{
    uint8_t address[16];
    bytes_of(from, address);
    weir__add(&h->counts->connections, 1, relaxed);
    link_of *link = may_come(h, address) ? calloc(1, sizeof(*link)) : NULL;
    if (link == NULL) {
        (void)close(descriptor);
        return false;
    }
    link->descriptor = descriptor;
    link->deadline = weir__clock_now() + h->timeout;
    memcpy(link->address, address, sizeof(address));
    link->next = h->links;
    if (h->links != NULL) {
        h->links->previous = link;
    }
    h->links = link;
    h->link_count++;
    weir__add(&h->counts->open, 1, relaxed);
    if (MHD_add_connection(h->daemon, descriptor, (const struct sockaddr *)from, size) != MHD_YES) {
        /* The library has closed it, and told us if it had begun; what it did not know of is still
         * the first in the list. */
        if (h->links == link) {
            h->links = link->next;
            if (link->next != NULL) {
                link->next->previous = NULL;
            }
            h->link_count--;
            weir__sub(&h->counts->open, 1, relaxed);
            free(link);
        }
        weir__admin_refuse(h->counts, WEIR__REFUSED_SYSTEM);
    }
    return true;
}

static void take_all(weir__admin_http *h)
{
    uint32_t refused = 0;
    for (uint32_t i = 0; i < ACCEPTS_MAX; i++) {
        struct sockaddr_storage from = { .ss_family = AF_UNSPEC };
        socklen_t size = sizeof(from);
        const int descriptor = accept4(h->bound.descriptor, (struct sockaddr *)&from, &size,
                                       SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (descriptor < 0) {
            if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
                weir__admin_refuse(h->counts, WEIR__REFUSED_SYSTEM);
                h->paused_until = weir__clock_now() + PAUSE_MS * WEIR_MS;
            }
            return;
        }
        refused += take(h, descriptor, &from, size) ? 0 : 1;
        if (refused == REFUSALS_AT_ONCE) {
            h->paused_until = weir__clock_now() + DOOR_SHUT_MS * WEIR_MS;
            return;
        }
    }
}

/* ---- the thread ---- */

/* Ends who is too slow; when the next one will be. */
static weir_ns end_slow(weir__admin_http *h, weir_ns now)
{
    weir_ns next = WEIR_FOREVER;
    for (link_of *l = h->links; l != NULL; l = l->next) {
        if (!l->ended && l->deadline <= now) {
            l->ended = true;
            weir__admin_refuse(h->counts, WEIR__REFUSED_SLOW);
            (void)shutdown(l->descriptor, SHUT_RDWR);
        }
        if (!l->ended && l->deadline < next) {
            next = l->deadline;
        }
    }
    return next;
}

static int patience(weir__admin_http *h, weir_ns now, weir_ns next)
{
    MHD_UNSIGNED_LONG_LONG wanted;
    weir_ns left = next != WEIR_FOREVER ? (next - now) / WEIR_MS + 1 : 60000;
    if (MHD_get_timeout(h->daemon, &wanted) == MHD_YES && (weir_ns)wanted < left) {
        left = (weir_ns)wanted;
    }
    if (h->paused_until > now && left > (h->paused_until - now) / WEIR_MS) {
        left = (h->paused_until - now) / WEIR_MS + 1;
    }
    return (int)(left < 60000 ? left : 60000);
}

/* A client that has said its last before its request was whole is one that the library may go on
 * waiting for: so they are looked at here. */
static uint32_t poll_partial(const weir__admin_http *h, struct pollfd *polled)
{
    uint32_t count = 0;
    for (const link_of *l = h->links; l != NULL; l = l->next) {
        if (!l->whole && !l->ended && count < h->connections_max) {
            polled[count++] = (struct pollfd){ .fd = l->descriptor, .events = POLLRDHUP };
        }
    }
    return count;
}

/* After MHD_run: what was there to be read was read, twice over. */
static void end_shut(weir__admin_http *h, const struct pollfd *polled, uint32_t count)
{
    for (link_of *l = h->links; l != NULL; l = l->next) {
        for (uint32_t i = 0; i < count && !l->whole; i++) {
            int left = 0;
            if (polled[i].fd == l->descriptor && (polled[i].revents & POLLRDHUP) != 0 &&
                ioctl(l->descriptor, FIONREAD, &left) == 0 && left == 0) {
                if (l->shut) {
                    (void)shutdown(l->descriptor, SHUT_RDWR);
                }
                l->shut = true;
            }
        }
    }
}

static void run(void *context)
{
    weir__admin_http *h = context;
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    for (;;) { /* until the doorbell rings */
        const weir_ns now = weir__clock_now();
        const weir_ns next = end_slow(h, now);
        h->polled[0] = (struct pollfd){ .fd = h->thread.doorbell, .events = POLLIN };
        h->polled[1] = (struct pollfd){ .fd = h->paused_until > now ? -1 : h->bound.descriptor,
                                        .events = POLLIN };
        h->polled[2] = (struct pollfd){ .fd = info->epoll_fd, .events = POLLIN };
        const uint32_t partial = poll_partial(h, h->polled + 3);
        const int found = poll(h->polled, 3 + partial, patience(h, now, next));
        if (found > 0 && h->polled[0].revents != 0) {
            break;
        }
        if (found > 0 && h->polled[1].revents != 0) {
            take_all(h);
        }
        (void)MHD_run(h->daemon);
        if (found > 0) {
            end_shut(h, h->polled + 3, partial);
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
    if (*count >= HOSTS_MAX || length < 0 || (size_t)length >= sizeof(made)) {
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
                              "at most %u hosts and origins of 127 bytes fit", HOSTS_MAX - 4);
    }
    h->rules = (weir__route_rules){ .engine = engine,
                                    .token = &h->token,
                                    .remote = !h->bound.loopback,
                                    .hosts = (const char *const *)h->hosts,
                                    .origins = (const char *const *)h->origins,
                                    .body_max = options->http.body_max,
                                    .counts = h->counts };
    h->timeout = options->http.timeout;
    h->connections_max = (uint32_t)options->http.connections_max;
    h->per_address_max = (uint32_t)options->http.connections_per_address_max;
    h->polled = calloc(h->connections_max + 3, sizeof(*h->polled));
    (void)snprintf(h->url, sizeof(h->url), "http://%s", h->bound.host);
    return h->polled != NULL ? WEIR_OK : weir__error_memory(error, "weir.admin.http");
}

static weir_status start(weir__admin_http *h, const weir__admin_options *options, weir_error *error)
{
    /* Part of the memory is for the library's own, and for what it answers. */
    h->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL, on_request, h,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, h, MHD_OPTION_NOTIFY_CONNECTION, on_connection,
        h, MHD_OPTION_UNESCAPE_CALLBACK, leave_as_it_is, NULL, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)options->http.headers_max + 2048, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)options->http.connections_max + 1, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_END);
    if (h->daemon == NULL) {
        return weir__error_at(error, WEIR_E_SYSTEM, "weir.admin.http", "libmicrohttpd refuses");
    }
    h->thread = (weir__admin_thread){
        .name = "weir-http", .engine = h->rules.engine, .run = run, .context = h
    };
    return weir__admin_thread_start(&h->thread, options, error);
}

static void free_http(weir__admin_http *h)
{
    if (h->daemon != NULL) {
        MHD_stop_daemon(h->daemon);
    }
    if (h->bound.descriptor >= 0) {
        (void)close(h->bound.descriptor);
    }
    for (uint32_t i = 0; i <= HOSTS_MAX; i++) {
        free(h->hosts[i]);
        free(h->origins[i]);
    }
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
    if (weir__token_open(&h->token, options->http.token_file, options->http.token, error) !=
            WEIR_OK ||
        weir__admin_http_bind(options, h->token.length > 0, &h->bound, error) != WEIR_OK ||
        make_rules(h, engine, options, error) != WEIR_OK || start(h, options, error) != WEIR_OK) {
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
