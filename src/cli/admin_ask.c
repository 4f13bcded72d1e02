/*
 * cli/admin_ask.c - a request to a running weir and its answer, by a Unix socket or by HTTP.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <jansson.h>
#include <netdb.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "admin/token.h"
#include "cli/admin.h"

__attribute__((format(printf, 3, 4))) static void say(char *why, size_t size, const char *format,
                                                      ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(why, size, format, arguments);
    va_end(arguments);
}

/* {"words": [...]}; NULL: no memory, or a word is not UTF-8. */
static char *request_text(const weir__admin_ask *ask)
{
    json_t *words = json_array();
    bool ok = words != NULL;
    for (size_t i = 0; ok && i < ask->count; i++) {
        ok = json_array_append_new(words, json_string(ask->words[i])) == 0;
    }
    json_t *request = ok ? json_pack("{s:O}", "words", words) : NULL;
    char *text = request != NULL ? json_dumps(request, JSON_COMPACT) : NULL;
    json_decref(request);
    json_decref(words);
    return text;
}

/* ---- waiting ---- */

/* Of a whole request: a server that sends a byte now and then would never be given up otherwise. */
typedef struct patience {
    int64_t until; /* ms */
    int interrupts;
} patience;

static int64_t now_ms(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static patience begin_waiting(const weir__admin_ask *ask)
{
    return (patience){ now_ms() + (int64_t)ask->seconds * 1000,
                       ask->interrupts > 0 ? ask->interrupts : -1 };
}

/* For any of `events`, at most until then; a descriptor of -1 waits `pause` only. False: errno is
 * EAGAIN if the time is over, EINTR if somebody wants to end. */
static bool wait_for(const patience *p, int descriptor, short events, int64_t pause)
{
    for (;;) {
        struct pollfd set[] = { { .fd = descriptor, .events = events },
                                { .fd = p->interrupts, .events = POLLIN } };
        const int64_t left = p->until - now_ms();
        if (left <= 0) {
            errno = EAGAIN;
            return false;
        }
        const int ready = poll(set, 2, (int)(left < pause ? left : pause));
        if (ready < 0 && errno != EINTR) {
            return false;
        }
        if (ready > 0 && set[1].revents != 0) {
            errno = EINTR;
            return false;
        }
        if ((ready > 0 && set[0].revents != 0) || descriptor < 0) {
            return true;
        }
    }
}

#define PAUSE_LONG 3600000
#define PAUSE_SHORT 10

/* ---- bytes ---- */

static bool send_all(const patience *p, int descriptor, const char *bytes, size_t length)
{
    while (length > 0) {
        const ssize_t sent = send(descriptor, bytes, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN && wait_for(p, descriptor, POLLOUT, PAUSE_LONG)) {
            continue;
        }
        if (sent <= 0) {
            return false;
        }
        bytes += sent;
        length -= (size_t)sent;
    }
    return true;
}

/* Twice as much room; NULL: errno says why, and `text` is as it was. */
static char *grow(char *text, size_t *size)
{
    char *grown = NULL;
    errno = EMSGSIZE;
    if (2 * *size <= 2 * WEIR__ADMIN_REPLY_MAX) {
        grown = realloc(text, 2 * *size);
        *size *= grown != NULL ? 2 : 1;
    }
    return grown;
}

/* Up to the first newline, or up to the end. NULL: errno says why. */
static char *receive(const patience *p, int descriptor, bool line)
{
    size_t size = 65536;
    size_t length = 0;
    char *text = malloc(size);
    while (text != NULL) {
        const ssize_t got = recv(descriptor, text + length, size - length - 1, 0);
        if (got < 0 && errno == EAGAIN && wait_for(p, descriptor, POLLIN, PAUSE_LONG)) {
            continue;
        }
        if (got < 0) {
            break;
        }
        char *end = line && got > 0 ? memchr(text + length, '\n', (size_t)got) : NULL;
        length += (size_t)got;
        if (got == 0 || end != NULL) {
            text[end != NULL ? (size_t)(end - text) : length] = '\0';
            return text;
        }
        if (now_ms() >= p->until) { /* also of one that sends without end */
            errno = EAGAIN;
            break;
        }
        char *grown = length + 1 == size ? grow(text, &size) : text;
        if (grown == NULL) {
            break;
        }
        text = grown;
    }
    free(text);
    return NULL;
}

static const char *reason(void)
{
    return errno == EAGAIN     ? "no answer came in time"
           : errno == EINTR    ? "interrupted"
           : errno == EMSGSIZE ? "its answer does not end: none of weir's is as long as that"
                               : strerror(errno);
}

/* ---- the Unix socket ---- */

static int connect_socket(const patience *p, const char *path, char *why, size_t size)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (strlen(path) >= sizeof(address.sun_path)) {
        say(why, size, "the path %s is too long for a socket", path);
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path));
    const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) {
        say(why, size, "no socket can be had: %s", strerror(errno));
        return -1;
    }
    while (connect(descriptor, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        /* EAGAIN: too many wait to be accepted, and no descriptor tells when that is over. */
        if (errno != EAGAIN || !wait_for(p, -1, 0, PAUSE_SHORT)) {
            say(why, size, "nobody answers at %s: %s", path, reason());
            (void)close(descriptor);
            return -1;
        }
    }
    return descriptor;
}

static char *ask_socket(const weir__admin_ask *ask, const char *request, char *why, size_t size)
{
    const patience p = begin_waiting(ask);
    const int descriptor = connect_socket(&p, ask->socket, why, size);
    if (descriptor < 0) {
        return NULL;
    }
    /* A server that refuses may answer before it has all: what it said counts. */
    const bool sent =
        send_all(&p, descriptor, request, strlen(request)) && send_all(&p, descriptor, "\n", 1);
    const bool gone = !sent && errno == EPIPE;
    char *answer = sent || gone ? receive(&p, descriptor, true) : NULL;
    if (answer == NULL) {
        say(why, size, "%s: %s", ask->socket, reason());
    } else if (answer[0] == '\0') {
        say(why, size, "%s closed the connection without an answer", ask->socket);
        free(answer);
        answer = NULL;
    }
    (void)close(descriptor);
    return answer;
}

/* ---- HTTP ---- */

typedef struct place {
    char host[256]; /* as in the Host header */
    char node[256]; /* without brackets */
    char port[8];
} place;

static bool read_url(const char *url, place *out)
{
    static const char scheme[] = "http://";
    if (strncmp(url, scheme, sizeof(scheme) - 1) != 0) {
        return false;
    }
    const char *from = url + sizeof(scheme) - 1;
    const size_t length = strcspn(from, "/");
    if (length == 0 || length >= sizeof(out->host) ||
        (from[length] != '\0' && from[length + 1] != '\0')) {
        return false;
    }
    (void)snprintf(out->host, sizeof(out->host), "%.*s", (int)length, from);
    const char *bracket = out->host[0] == '[' ? strchr(out->host, ']') : NULL;
    const char *colon = strchr(bracket != NULL ? bracket : out->host, ':');
    (void)snprintf(out->port, sizeof(out->port), "%.6s", colon != NULL ? colon + 1 : "80");
    const size_t node = colon != NULL ? (size_t)(colon - out->host) : length;
    (void)snprintf(out->node, sizeof(out->node), "%.*s",
                   (int)(bracket != NULL ? (size_t)(bracket - out->host) - 1 : node),
                   out->host + (bracket != NULL ? 1 : 0));
    return out->node[0] != '\0' && out->port[0] != '\0' && strpbrk(out->host, " \r\n@") == NULL;
}

static bool connect_one(const patience *p, int descriptor, const struct addrinfo *to)
{
    int failure = 0;
    socklen_t size = sizeof(failure);
    if (connect(descriptor, to->ai_addr, to->ai_addrlen) == 0) {
        return true;
    }
    if (errno != EINPROGRESS || !wait_for(p, descriptor, POLLOUT, PAUSE_LONG) ||
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &failure, &size) != 0) {
        return false;
    }
    errno = failure;
    return failure == 0;
}

static int connect_http(const patience *p, const place *at, char *why, size_t size)
{
    struct addrinfo wanted = { .ai_socktype = SOCK_STREAM };
    struct addrinfo *found;
    int descriptor = -1;
    const int failure = getaddrinfo(at->node, at->port, &wanted, &found);
    if (failure != 0) {
        say(why, size, "%s: %s", at->host, gai_strerror(failure));
        return -1;
    }
    errno = 0;
    for (const struct addrinfo *a = found; a != NULL && descriptor < 0; a = a->ai_next) {
        descriptor = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (descriptor >= 0 && !connect_one(p, descriptor, a)) {
            const int refused = errno;
            (void)close(descriptor);
            errno = refused;
            descriptor = -1;
        }
    }
    const int failed = errno;
    freeaddrinfo(found);
    if (descriptor < 0) {
        errno = failed;
        say(why, size, "nobody answers at http://%s: %s", at->host, reason());
    }
    return descriptor;
}

static bool send_request(const patience *p, int descriptor, const place *at,
                         const weir__token *token, const char *request)
{
    char head[2048];
    const int length =
        snprintf(head, sizeof(head),
                 "POST /api/v1/run HTTP/1.1\r\nHost: %s\r\n"
                 "Content-Type: application/json\r\nContent-Length: %zu\r\n"
                 "%s%s%sConnection: close\r\n\r\n",
                 at->host, strlen(request), token->length > 0 ? "Authorization: Bearer " : "",
                 token->bytes, token->length > 0 ? "\r\n" : "");
    const bool sent = length > 0 && (size_t)length < sizeof(head) &&
                      send_all(p, descriptor, head, (size_t)length) &&
                      send_all(p, descriptor, request, strlen(request));
    explicit_bzero(head, sizeof(head));
    return sent;
}

/* What follows the head, in place. NULL: it is no answer of weir's. */
static char *body_of(char *text)
{
    char *end = strncmp(text, "HTTP/1.", 7) == 0 ? strstr(text, "\r\n\r\n") : NULL;
    if (end == NULL || end[4] != '{') {
        return NULL;
    }
    memmove(text, end + 4, strlen(end + 4) + 1);
    return text;
}

static char *ask_http(const weir__admin_ask *ask, const char *request, char *why, size_t size)
{
    place at;
    weir__token token;
    weir_error error = WEIR_ERROR_INIT;
    if (!read_url(ask->url, &at)) {
        say(why, size, "'%.200s' is no address like http://127.0.0.1:8080", ask->url);
        return NULL;
    }
    if (weir__token_open(&token, ask->token_file, NULL, &error) != WEIR_OK) {
        say(why, size, "%s", error.text);
        return NULL;
    }
    const patience p = begin_waiting(ask);
    const int descriptor = connect_http(&p, &at, why, size);
    char *text = NULL;
    if (descriptor >= 0) {
        /* A server that refuses may answer before it has all: what it said counts. */
        (void)send_request(&p, descriptor, &at, &token, request);
        text = receive(&p, descriptor, false);
        (void)close(descriptor);
        if (text == NULL) {
            say(why, size, "%s: %s", ask->url, reason());
        } else if (body_of(text) == NULL) {
            say(why, size, "%s does not answer as weir does", ask->url);
            free(text);
            text = NULL;
        }
    }
    weir__token_close(&token);
    return text;
}

char *weir__admin_ask_run(const weir__admin_ask *ask, char *why, size_t size)
{
    char *request = request_text(ask);
    if (request == NULL) {
        say(why, size, "the words must be UTF-8");
        return NULL;
    }
    char *answer =
        ask->url != NULL ? ask_http(ask, request, why, size) : ask_socket(ask, request, why, size);
    free(request);
    return answer;
}
