/*
 * connect/stream.c - a listener: who may connect, for how long, and in which order they are served.
 *
 * A process that runs out of descriptors gets no connection, and a listener that stays readable
 * would turn its thread in circles. So connections keep away from the last descriptors, which
 * others need more; and if accept fails all the same the listener is closed for a second.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "connect/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/error.h"

enum {
    ROUND_FRAMES = 4096, /* published in one do_work: then the thread's other work has its turn */
    SPARE_DESCRIPTORS = 16,
    LISTEN_AGAIN_MS = 1000
};

const char *const weir__never_words[] = { "never", NULL };

static const char *const figures[] = { "port",   "connections", "accepted", "refused",    "idle",
                                       "reset",  "bytes",       "frames",   "bad-frames", "failed",
                                       "pauses", "paused",      NULL };

static int listen_now(weir__stream *s);

/* ---- idle connections ---- */

static void watch_idle(weir__stream *s);

static void on_idle(uv_timer_t *timer)
{
    weir__stream *s = timer->data;
    const weir_ns now = (weir_ns)uv_now(&s->loop.uv) * WEIR_MS;
    weir__connection *c;
    /* Ends: each round takes one out. */
    while ((c = TAILQ_FIRST(&s->active)) != NULL && now - c->heard >= s->config->idle) {
        weir__meter_add(&s->meter, WEIR__STREAM_IDLE, 1);
        weir__loop_worked(&s->loop, 1);
        weir__connection_close(c);
    }
    watch_idle(s);
}

/* Looks again when the one that was heard of least could be due. */
static void watch_idle(weir__stream *s)
{
    const weir__connection *c = TAILQ_FIRST(&s->active);
    if (s->config->idle == WEIR_FOREVER || c == NULL) {
        return;
    }
    const weir_ns left = c->heard + s->config->idle - (weir_ns)uv_now(&s->loop.uv) * WEIR_MS;
    const uint64_t ms = left > 0 ? (uint64_t)((left + WEIR_MS - 1) / WEIR_MS) : 0;
    (void)uv_timer_start(&s->idle, on_idle, ms, 0);
}

/* ---- listening ---- */

static void on_listener_closed(uv_handle_t *handle)
{
    free(handle);
}

static void on_again(uv_timer_t *timer)
{
    weir__stream *s = timer->data;
    const int status = listen_now(s);
    if (status < 0) {
        weir__complain(&s->refused, s->self, WEIR_E_SYSTEM, "cannot listen: %s; tried again in 1 s",
                       uv_strerror(status));
        (void)uv_timer_start(&s->again, on_again, LISTEN_AGAIN_MS, 0);
    }
}

static void stop_listening(weir__stream *s)
{
    if (s->listener != NULL) {
        uv_close(&s->listener->handle, on_listener_closed);
        s->listener = NULL;
    }
}

static void refuse(weir__stream *s, const char *why)
{
    weir__meter_add(&s->meter, WEIR__STREAM_REFUSED, 1);
    weir__complain(&s->refused, s->self, WEIR_E_LIMIT, "a connection was refused: %s", why);
}

static void on_connection(uv_stream_t *listener, int status)
{
    weir__stream *s = listener->data;
    weir__loop_worked(&s->loop, 1);
    if (status < 0) {
        /* Libuv would ask accept again at once, and for ever, while this goes on. */
        weir__complain(&s->refused, s->self, WEIR_E_SYSTEM,
                       "connections cannot be accepted: %s; tried again in 1 s",
                       uv_strerror(status));
        stop_listening(s);
        (void)uv_timer_start(&s->again, on_again, LISTEN_AGAIN_MS, 0);
        return;
    }
    weir__connection *c = weir__connection_new(s);
    if (c == NULL) {
        /* It stays unaccepted, and the listener quiet, until it is told to go on: the same. */
        refuse(s, "no memory");
        stop_listening(s);
        (void)uv_timer_start(&s->again, on_again, LISTEN_AGAIN_MS, 0);
        return;
    }
    if (uv_accept(listener, &c->io.stream) < 0) {
        weir__connection_close(c);
        return;
    }
    uv_os_fd_t descriptor = 0;
    const char *why = NULL;
    if (s->count > (uint64_t)s->config->connections_max) {
        why = "there are max-connections already";
    } else if (uv_fileno(&c->io.handle, &descriptor) == 0 &&
               (uint64_t)descriptor >= s->descriptors_spare) {
        why = "the process is running out of descriptors (ulimit -n)";
    }
    if (why != NULL) {
        refuse(s, why);
        weir__connection_close(c);
        return;
    }
    weir__meter_add(&s->meter, WEIR__STREAM_ACCEPTED, 1);
    if (s->plan->accepted != NULL) {
        s->plan->accepted(s, &c->io);
    }
    weir__connection_begin(c);
    if (!uv_is_active((uv_handle_t *)&s->idle)) {
        watch_idle(s);
    }
}

/* A status of libuv's. */
static int listen_now(weir__stream *s)
{
    weir__stream_io *io = calloc(1, sizeof(*io));
    if (io == NULL) {
        return UV_ENOMEM;
    }
    int status = s->plan->prepare(s, io);
    if (status < 0) {
        free(io);
        return status;
    }
    io->handle.data = s;
    s->listener = io;
    status = s->plan->bind(s, io);
    if (status == 0) {
        status = uv_listen(&io->stream, (int)s->config->backlog, on_connection);
    }
    if (status < 0) {
        stop_listening(s);
    } else if (s->plan->bound != NULL) {
        s->plan->bound(s, io);
    }
    return status;
}

/* ---- the hooks ---- */

weir_status weir__stream_init(weir__stream *s, weir_component *self, const weir__stream_plan *plan,
                              const weir__stream_config *config, weir_error *error)
{
    s->self = self;
    s->outlet = (weir__outlet){ .self = self, .lineage = &s->lineage };
    s->plan = plan;
    s->config = config;
    TAILQ_INIT(&s->active);
    TAILQ_INIT(&s->paused);
    struct rlimit limit = { 0 };
    s->descriptors_spare = UINT64_MAX;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        limit.rlim_cur / 2 > SPARE_DESCRIPTORS) {
        s->descriptors_spare = limit.rlim_cur - SPARE_DESCRIPTORS;
    }
    const weir_status status =
        weir__lineage_in_open(&s->lineage, self, config->frame.traceparent, error);
    if (status == WEIR_OK) {
        weir__meter_open(&s->meter, self, plan->type, figures);
    }
    return status;
}

weir_status weir__stream_start(void *state, weir_component *self, weir_error *error)
{
    weir__stream *s = state;
    const weir_status status = weir__loop_open(&s->loop, self, error);
    if (status != WEIR_OK) {
        return status;
    }
    (void)uv_timer_init(&s->loop.uv, &s->again);
    (void)uv_timer_init(&s->loop.uv, &s->idle);
    s->again.data = s;
    s->idle.data = s;
    const int listening = listen_now(s);
    if (listening < 0) {
        weir__loop_close(&s->loop);
        return weir__loop_error(error, self, "it cannot listen", listening);
    }
    return WEIR_OK;
}

int32_t weir__stream_work(void *state, weir_component *self, weir_ns *next)
{
    (void)self;
    weir__stream *s = state;
    s->budget = ROUND_FRAMES;
    s->published = 0;
    weir__connection *last = TAILQ_LAST(&s->paused, weir__connections);
    weir__connection *c;
    /* Each that waits has one try. Ends: a round takes the first one away or ends it, and who comes
     * to the end of the list again comes behind `last`. */
    while (last != NULL && (c = TAILQ_FIRST(&s->paused)) != NULL) {
        if (!weir__connection_resume(c) || c == last) {
            break;
        }
    }
    const int32_t work = weir__loop_run(&s->loop, next);
    if (!TAILQ_EMPTY(&s->paused)) {
        *next = 0; /* nobody says when a feed has room again */
    }
    return work + (int32_t)s->published;
}

void weir__stream_stop(void *state, weir_component *self)
{
    weir__stream *s = state;
    if (!s->loop.open) {
        return;
    }
    s->budget = UINT32_MAX;
    uint32_t left = 0;
    weir__connection *c;
    while ((c = TAILQ_FIRST(&s->paused)) != NULL) { /* ends: each is closed, or read again */
        if (!weir__connection_resume(c)) {
            left++;
            weir__connection_close(c);
        }
    }
    while ((c = TAILQ_FIRST(&s->active)) != NULL) {
        weir__connection_close(c);
    }
    stop_listening(s);
    weir__loop_close(&s->loop);
    if (left > 0) {
        char text[96];
        snprintf(text, sizeof(text), "%u connections had brought more than the feed had room for",
                 left);
        weir_component_report(self, WEIR_FULL, text);
    }
}

void weir__stream_tear_down(void *state, weir_component *self)
{
    weir__stream *s = state;
    (void)self;
    weir__lineage_in_close(&s->lineage);
    weir__meter_close(&s->meter);
}
