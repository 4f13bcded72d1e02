/*
 * admin/socket.c - the thread of the Unix socket: a poll loop over a few clients.
 *
 * A client is closed when it is too slow, says too much, or does not take its answer; what it sent
 * before is answered first. Commands run here, one after the other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* accept4, struct ucred, explicit_bzero */
#include "admin/socket.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "admin/frame.h"
#include "admin/thread.h"
#include "base/error.h"

#define CLIENTS_MAX 16u
#define REQUEST_TIME                                                                               \
    (10 * WEIR_S)               /* from the first byte of a line to its last; of an answer, too */
#define IDLE_TIME (60 * WEIR_S) /* between two requests */
#define PAUSE_MS 100            /* when no descriptor is left */

typedef struct client {
    int descriptor; /* -1: nobody */
    weir_ns deadline;
    char *in;
    size_t in_length, in_size;
    char *out; /* an answer that is being taken: weir_admin_free; NULL: none */
    size_t out_length, out_sent;
    bool last; /* closed when its answer was taken */
} client;

struct weir__admin_socket {
    weir_engine *engine;
    weir__admin_counts *counts;
    int descriptor;
    dev_t device;
    ino_t inode;
    char *path;
    weir__admin_thread thread;
    client clients[CLIENTS_MAX];
};

static void end_client(weir__admin_socket *s, client *c)
{
    (void)close(c->descriptor);
    free(c->in);
    weir_admin_free(s->engine, c->out);
    *c = (client){ .descriptor = -1 };
    weir__sub(&s->counts->open, 1, relaxed);
}

/* ---- one request ---- */

/* A short one, which a client that reads has room for. */
static void say_error(const client *c, weir_status status, const char *why)
{
    char text[512];
    weir__frame_error(status, why, text, sizeof(text) - 1);
    const size_t length = strlen(text);
    text[length] = '\n';
    (void)send(c->descriptor, text, length + 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void run_line(weir__admin_socket *s, client *c, const char *line, size_t length)
{
    char why[256];
    weir__frame frame;
    if (!weir__frame_read(line, length, &frame, why, sizeof(why))) {
        weir__admin_refuse(s->counts, WEIR__REFUSED_FRAME);
        say_error(c, WEIR_E_INVALID, why);
        c->last = true;
        return;
    }
    weir__add(&s->counts->requests, 1, relaxed);
    const weir_status status =
        weir_admin_run(s->engine, frame.words, frame.count, true, 0, &c->out);
    weir__frame_close(&frame);
    if (c->out == NULL) {
        say_error(c, status, weir_status_text(status));
        return;
    }
    c->out_length = strlen(c->out);
    c->out_sent = 0;
    c->deadline = weir__clock_now() + REQUEST_TIME;
}

/* Sends what can be sent. False: the client is gone. */
static bool send_some(weir__admin_socket *s, client *c)
{
    while (c->out != NULL) {
        const bool body = c->out_sent < c->out_length;
        const char *from = body ? c->out + c->out_sent : "\n";
        const size_t left = body ? c->out_length - c->out_sent : 1;
        const ssize_t sent = send(c->descriptor, from, left, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0) {
            return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
        }
        c->out_sent += (size_t)sent;
        if (c->out_sent > c->out_length) {
            weir_admin_free(s->engine, c->out);
            c->out = NULL;
            c->deadline = weir__clock_now() + IDLE_TIME;
        }
    }
    return true;
}

/* Lines that are complete, one at a time: the next when the answer to the last was taken. */
static bool run_lines(weir__admin_socket *s, client *c)
{
    while (c->out == NULL && !c->last) {
        char *end = c->in_length > 0 ? memchr(c->in, '\n', c->in_length) : NULL;
        if (end == NULL) {
            break;
        }
        const size_t length = (size_t)(end - c->in);
        run_line(s, c, c->in, length);
        c->in_length -= length + 1;
        memmove(c->in, end + 1, c->in_length);
        if (!send_some(s, c)) {
            return false;
        }
    }
    return !(c->last && c->out == NULL);
}

/* ---- bytes ---- */

static bool make_room(client *c)
{
    if (c->in_length < c->in_size) {
        return true;
    }
    const size_t size = c->in_size == 0 ? 1024 : 2 * c->in_size;
    char *grown = size <= 2 * WEIR__FRAME_MAX ? realloc(c->in, size) : NULL;
    if (grown == NULL) {
        return false;
    }
    c->in = grown;
    c->in_size = size;
    return true;
}

/* False: the client is gone, or to go. */
static bool read_some(weir__admin_socket *s, client *c)
{
    if (!make_room(c)) {
        weir__admin_refuse(s->counts, WEIR__REFUSED_SYSTEM);
        return false;
    }
    const bool was_empty = c->in_length == 0;
    const ssize_t got =
        recv(c->descriptor, c->in + c->in_length, c->in_size - c->in_length, MSG_DONTWAIT);
    if (got <= 0) {
        if (got == 0 && c->in_length > 0) {
            weir__admin_refuse(s->counts, WEIR__REFUSED_FRAME); /* cut off */
        }
        return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
    }
    c->in_length += (size_t)got;
    if (was_empty) {
        c->deadline = weir__clock_now() + REQUEST_TIME;
    }
    if (!run_lines(s, c)) {
        return false;
    }
    if (c->out == NULL && c->in_length > WEIR__FRAME_MAX) {
        weir__admin_refuse(s->counts, WEIR__REFUSED_FRAME);
        say_error(c, WEIR_E_LIMIT, "the line is too long");
        return false;
    }
    return true;
}

/* ---- clients ---- */

static bool is_owner(int descriptor)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);
    return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.uid == geteuid() || peer.uid == 0);
}

/* False: accept fails for want of something. */
static bool take_clients(weir__admin_socket *s)
{
    for (uint32_t i = 0; i < CLIENTS_MAX; i++) { /* some at a time: others wait too */
        const int descriptor = accept4(s->descriptor, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (descriptor < 0) {
            const bool lack =
                errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
            if (lack) {
                weir__admin_refuse(s->counts, WEIR__REFUSED_SYSTEM);
            }
            return !lack;
        }
        weir__add(&s->counts->connections, 1, relaxed);
        client *c = NULL;
        for (uint32_t k = 0; k < CLIENTS_MAX && c == NULL; k++) {
            c = s->clients[k].descriptor < 0 ? &s->clients[k] : NULL;
        }
        const bool owner = is_owner(descriptor);
        if (c == NULL || !owner) {
            weir__admin_refuse(s->counts, owner ? WEIR__REFUSED_CONNECTIONS : WEIR__REFUSED_PEER);
            (void)close(descriptor);
            continue;
        }
        *c = (client){ .descriptor = descriptor, .deadline = weir__clock_now() + IDLE_TIME };
        weir__add(&s->counts->open, 1, relaxed);
    }
    return true;
}

static void serve(weir__admin_socket *s, client *c, short events)
{
    bool on = true;
    if (c->out != NULL) {
        on = (events & (POLLERR | POLLNVAL)) == 0 && send_some(s, c) && run_lines(s, c);
    } else if (events != 0) {
        on = read_some(s, c);
    }
    if (on && weir__clock_now() >= c->deadline) {
        if (c->in_length > 0 || c->out != NULL) {
            weir__admin_refuse(s->counts, WEIR__REFUSED_SLOW);
        }
        on = false;
    }
    if (!on) {
        end_client(s, c);
    }
}

/* How long to sleep, in ms; -1: until something comes. */
static int patience(const weir__admin_socket *s)
{
    weir_ns least = WEIR_FOREVER;
    for (uint32_t i = 0; i < CLIENTS_MAX; i++) {
        if (s->clients[i].descriptor >= 0 && s->clients[i].deadline < least) {
            least = s->clients[i].deadline;
        }
    }
    if (least == WEIR_FOREVER) {
        return -1;
    }
    const weir_ns left = least - weir__clock_now();
    return left > 0 ? (int)(left / WEIR_MS) + 1 : 0;
}

static void run(void *context)
{
    weir__admin_socket *s = context;
    bool listening = true;
    for (;;) { /* until the doorbell rings */
        struct pollfd polled[CLIENTS_MAX + 2] = {
            { .fd = s->thread.doorbell, .events = POLLIN },
            { .fd = listening ? s->descriptor : -1, .events = POLLIN },
        };
        for (uint32_t i = 0; i < CLIENTS_MAX; i++) {
            const client *c = &s->clients[i];
            polled[i + 2] =
                (struct pollfd){ .fd = c->descriptor, .events = c->out != NULL ? POLLOUT : POLLIN };
        }
        int timeout = patience(s);
        if (!listening && (timeout < 0 || timeout > PAUSE_MS)) {
            timeout = PAUSE_MS;
        }
        const int found = poll(polled, CLIENTS_MAX + 2, timeout);
        if (found < 0 && errno != EINTR) {
            break; /* cannot be: its arguments are sane */
        }
        if (found >= 0 && polled[0].revents != 0) {
            break;
        }
        for (uint32_t i = 0; i < CLIENTS_MAX && found >= 0; i++) {
            if (polled[i + 2].fd >= 0) {
                serve(s, &s->clients[i], polled[i + 2].revents);
            }
        }
        listening = !listening || found < 0 || polled[1].revents == 0 || take_clients(s);
    }
}

/* ---- its life ---- */

weir__admin_socket *weir__admin_socket_open(weir_engine *engine, const char *path,
                                            const weir__admin_options *options,
                                            weir__admin_counts *counts, weir_error *error)
{
    struct stat found;
    weir__admin_socket *s = calloc(1, sizeof(*s));
    char *copy = strdup(path);
    if (s == NULL || copy == NULL) {
        free(s);
        free(copy);
        (void)weir__error_memory(error, "weir.admin.socket");
        return NULL;
    }
    s->engine = engine;
    s->counts = counts;
    s->path = copy;
    for (uint32_t i = 0; i < CLIENTS_MAX; i++) {
        s->clients[i].descriptor = -1;
    }
    s->descriptor = weir__admin_socket_listen(path, error);
    if (s->descriptor >= 0) {
        if (lstat(path, &found) == 0) {
            s->device = found.st_dev;
            s->inode = found.st_ino;
        }
        s->thread =
            (weir__admin_thread){ .name = "admin", .engine = engine, .run = run, .context = s };
        if (weir__admin_thread_start(&s->thread, options, error) == WEIR_OK) {
            return s;
        }
        (void)close(s->descriptor);
        (void)unlink(path);
    }
    free(s->path);
    free(s);
    return NULL;
}

void weir__admin_socket_close(weir__admin_socket *s)
{
    struct stat found;
    if (s == NULL) {
        return;
    }
    weir__admin_thread_stop(&s->thread);
    for (uint32_t i = 0; i < CLIENTS_MAX; i++) {
        if (s->clients[i].descriptor >= 0) {
            end_client(s, &s->clients[i]);
        }
    }
    (void)close(s->descriptor);
    /* Only if it is still ours: somebody may have begun anew at the same place. */
    if (lstat(s->path, &found) == 0 && found.st_dev == s->device && found.st_ino == s->inode) {
        (void)unlink(s->path);
    }
    free(s->path);
    free(s);
}
