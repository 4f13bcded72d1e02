/*
 * admin/stream.c - see stream.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* POLLRDHUP */
#include "admin/stream.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "admin/headers.h"
#include "sync/thread.h"
#include "weir/metrics.h"

#define SEND_BYTES (128 << 10) /* that the system keeps for one who is slow */

/* Bytes for several clients; the last one frees them. */
typedef struct weir__sent {
    uint32_t users;
    size_t size;
    char bytes[];
} weir__sent;

struct weir__stream {
    weir__stream *next, *previous;
    struct MHD_Connection *connection;
    int descriptor;
    uint8_t address[16];
    weir__sent *sending; /* NULL: it has all that there is */
    size_t sent;
    weir_ns since; /* it is being sent */
    bool ended;    /* no longer in the list; the library has been told */
};

/* ---- frames ---- */

static void release(weir__sent *s)
{
    if (s != NULL && --s->users == 0) {
        free(s);
    }
}

static weir__sent *make_sent(size_t size)
{
    weir__sent *s = malloc(sizeof(*s) + size);
    if (s != NULL) {
        *s = (weir__sent){ .users = 1, .size = size };
    }
    return s;
}

/* The line breaks of JSON are blanks, but they would end a line of the stream. */
static size_t put_line(char *to, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        to[i] = text[i] == '\n' || text[i] == '\r' ? ' ' : text[i];
    }
    return size;
}

static weir__sent *join(uint64_t number, const char *figures, size_t figures_size,
                        const char *advice)
{
    char head[64];
    static const char between[] = "\n\nevent: advice\ndata: ";
    static const char end[] = "\n\n";
    const size_t advice_size = advice != NULL ? strlen(advice) : 0;
    const int head_size = snprintf(head, sizeof(head),
                                   "id: %llu\nevent: figures\ndata: ", (unsigned long long)number);
    weir__sent *s =
        make_sent((size_t)head_size + figures_size + sizeof(between) + advice_size + sizeof(end));
    if (s == NULL) {
        return NULL;
    }
    size_t at = (size_t)head_size;
    memcpy(s->bytes, head, at);
    at += put_line(s->bytes + at, figures, figures_size);
    if (advice != NULL) {
        memcpy(s->bytes + at, between, sizeof(between) - 1);
        at += sizeof(between) - 1;
        at += put_line(s->bytes + at, advice, advice_size);
    }
    memcpy(s->bytes + at, end, sizeof(end) - 1);
    s->size = at + sizeof(end) - 1;
    return s;
}

/* One that says nothing keeps who listens sure that somebody is there. */
static weir__sent *make_heartbeat(void)
{
    static const char text[] = ": no figures, for want of memory\n\n";
    weir__sent *s = make_sent(sizeof(text) - 1);
    if (s != NULL) {
        memcpy(s->bytes, text, s->size);
    }
    return s;
}

static weir__sent *make_frame(weir__streams *all)
{
    size_t size = 0;
    const uint64_t number = all->number++;
    char *figures = weir_metrics_json(
        all->engine, WEIR_METRICS(.processors_max = WEIR__STREAM_PROCESSORS), &size);
    char *advice = number % WEIR__STREAM_ADVICE_EVERY == 0 ? weir__adviser_ask(all->adviser) : NULL;
    weir__sent *s = figures != NULL ? join(number, figures, size, advice) : NULL;
    weir_metrics_free(all->engine, figures);
    free(advice);
    return s != NULL ? s : make_heartbeat();
}

/* ---- one client ---- */

static void forget(weir__streams *all, weir__stream *s)
{
    s->ended = true;
    *(s->previous != NULL ? &s->previous->next : &all->first) = s->next;
    if (s->next != NULL) {
        s->next->previous = s->previous;
    }
    all->count--;
    weir__sub(&all->counts->streams, 1, relaxed);
    release(s->sending);
    s->sending = NULL;
}

/* Asked for its answer again, on_request says that there is none, and the library ends it. */
static void let_go(weir__streams *all, weir__stream *s)
{
    forget(all, s);
    MHD_resume_connection(s->connection);
}

static void go_on(weir__streams *all, weir__stream *s)
{
    while (s->sending != NULL) {
        const ssize_t sent = send(s->descriptor, s->sending->bytes + s->sent,
                                  s->sending->size - s->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0) {
            if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
                let_go(all, s);
            }
            return;
        }
        s->sent += (size_t)sent;
        if (s->sent == s->sending->size) {
            release(s->sending);
            s->sending = NULL;
        }
    }
}

static void give(weir__streams *all, weir__stream *s, weir__sent *frame, weir_ns now)
{
    frame->users++;
    s->sending = frame;
    s->sent = 0;
    s->since = now;
    go_on(all, s);
}

/* ---- places ---- */

static uint32_t held_by(const weir__streams *all, const uint8_t address[16])
{
    uint32_t count = 0;
    for (const weir__stream *s = all->first; s != NULL; s = s->next) {
        count += memcmp(s->address, address, 16) == 0 ? 1 : 0;
    }
    return count;
}

/* The newest stream of the address that holds the most, if those are several. */
static weir__stream *one_too_many(const weir__streams *all)
{
    weir__stream *found = NULL;
    uint32_t most = 1;
    for (weir__stream *s = all->first; s != NULL; s = s->next) {
        const uint32_t held = held_by(all, s->address);
        if (held > most) {
            most = held;
            found = s;
        }
    }
    return found;
}

static bool make_place(weir__streams *all, const uint8_t address[16])
{
    if (all->count < all->max) {
        return true;
    }
    weir__stream *other = held_by(all, address) == 0 ? one_too_many(all) : NULL;
    weir__admin_refuse(all->counts, WEIR__REFUSED_STREAMS);
    if (other == NULL) {
        return false;
    }
    let_go(all, other);
    return true;
}

static weir__sent *make_head(void)
{
    weir__sent *s = make_sent(2048);
    if (s == NULL) {
        return NULL;
    }
    int at = snprintf(s->bytes, s->size, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n");
    for (size_t i = 0; i < WEIR__HEADERS; i++) {
        at += snprintf(s->bytes + at, s->size - (size_t)at, "%s: %s\r\n", weir__headers[i][0],
                       weir__headers[i][1]);
    }
    at += snprintf(s->bytes + at, s->size - (size_t)at,
                   "Content-Security-Policy: " WEIR__POLICY_DATA
                   "\r\nCache-Control: no-store\r\nX-Accel-Buffering: no\r\n\r\nretry: 1000\n\n");
    s->size = (size_t)at;
    return s;
}

weir__stream *weir__stream_open(weir__streams *all, struct MHD_Connection *connection,
                                int descriptor, const uint8_t address[16])
{
    const int on = 1;
    const int bytes = SEND_BYTES;
    if (!make_place(all, address)) {
        return NULL;
    }
    weir__stream *s = calloc(1, sizeof(*s));
    weir__sent *head = make_head();
    if (s == NULL || head == NULL) {
        free(s);
        free(head);
        weir__admin_refuse(all->counts, WEIR__REFUSED_SYSTEM);
        return NULL;
    }
    const weir_ns now = weir__clock_now();
    *s = (weir__stream){ .next = all->first, .connection = connection, .descriptor = descriptor };
    memcpy(s->address, address, sizeof(s->address));
    if (all->first != NULL) {
        all->first->previous = s;
    } else {
        all->next = now; /* the first one need not wait for its frame */
    }
    all->first = s;
    all->count++;
    weir__add(&all->counts->streams, 1, relaxed);
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    (void)setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
    MHD_suspend_connection(connection);
    give(all, s, head, now);
    release(head);
    return s;
}

void weir__stream_close(weir__streams *all, weir__stream *s)
{
    if (s != NULL && !s->ended) {
        forget(all, s);
    }
    free(s);
}

void weir__streams_end(weir__streams *all)
{
    while (all->first != NULL) {
        let_go(all, all->first);
    }
}

/* ---- turns ---- */

weir_ns weir__streams_next(const weir__streams *all)
{
    return all->first != NULL ? all->next : WEIR_FOREVER;
}

uint32_t weir__streams_poll(const weir__streams *all, struct pollfd *polled)
{
    uint32_t count = 0;
    for (const weir__stream *s = all->first; s != NULL && count < all->max; s = s->next) {
        polled[count++] =
            (struct pollfd){ .fd = s->descriptor,
                             .events = s->sending != NULL ? POLLOUT | POLLRDHUP : POLLRDHUP };
    }
    return count;
}

/* Of this thread alone: that others had the core is no work of ours. */
static weir_ns cpu_now(void)
{
    return weir__os_thread_cpu(weir__os_thread_id());
}

static weir_ns period_after(weir_ns cost)
{
    const weir_ns wanted = cost * WEIR__STREAM_SHARE;
    return wanted < WEIR__STREAM_PERIOD       ? WEIR__STREAM_PERIOD
           : wanted < WEIR__STREAM_PERIOD_MAX ? wanted
                                              : WEIR__STREAM_PERIOD_MAX;
}

static void tick(weir__streams *all, weir_ns now)
{
    const weir_ns before = cpu_now();
    weir__sent *frame = make_frame(all);
    weir__stream *next;
    for (weir__stream *s = all->first; s != NULL; s = next) {
        next = s->next;
        if (s->sending != NULL && now - s->since >= all->timeout) {
            weir__admin_refuse(all->counts, WEIR__REFUSED_SLOW);
            let_go(all, s);
        } else if (s->sending == NULL && frame != NULL) {
            give(all, s, frame, now);
        }
    }
    release(frame);
    const weir_ns period = period_after(cpu_now() - before);
    all->next = all->next + period > now ? all->next + period : now + period;
}

void weir__streams_turn(weir__streams *all, weir_ns now, const struct pollfd *polled,
                        uint32_t count)
{
    uint32_t i = 0;
    weir__stream *next;
    for (weir__stream *s = all->first; s != NULL && i < count; s = next) {
        next = s->next;
        if (polled[i].fd != s->descriptor) {
            continue; /* it came after that */
        }
        const int found = polled[i++].revents;
        if ((found & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0) {
            let_go(all, s);
        } else if ((found & POLLOUT) != 0) {
            go_on(all, s);
        }
    }
    if (all->first != NULL && now >= all->next) {
        tick(all, now);
    }
}
