/*
 * connect/tcp_sink.c - the sink `tcp-sink`: events over a connection that it makes, and again.
 *
 * What is in the outbox has not gone to the kernel. A connection that breaks takes along what the
 * kernel had; the event that was cut, and those of the one write that was under way, are written
 * again from their beginning on the next connection: none is torn, and those of that write may
 * arrive twice.
 *
 * Its handler, flush and rounds never run at the same time: the host sees to that. So all of them
 * may use the loop; who is not on its thread wakes it afterwards.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "connect/patience.h"
#include "connect/loop.h"
#include "connect/meter.h"
#include "connect/outbox.h"
#include "connect/lineage.h"
#include "connect/payload.h"
#include "connect/types.h"

enum { SLICE = 256 * 1024, PREFIX = 4 };

enum { FORMAT_LINES, FORMAT_LENGTH_PREFIXED };
static const char *const format_words[] = { "lines", "length-prefixed", NULL };

typedef struct tcp_sink_config {
    const char *address;
    int64_t port;
    int64_t format;
    uint64_t buffer;
    weir_ns connect_timeout;
    weir_ns delay, delay_max;
    bool no_delay;
    const char *traceparent;
} tcp_sink_config;

enum { CONNECTED, CONNECTS, FAILURES, EVENTS, BYTES, BUFFERED, FULL, REFUSED };
static const char *const figures[] = { "connected", "connects", "failures",  "events", "bytes",
                                       "buffered",  "full",     "too-large", NULL };

typedef struct tcp_sink tcp_sink;

/* One try to be connected, and what comes of it. */
typedef struct attempt {
    uv_tcp_t tcp;
    uv_connect_t connect;
    uv_write_t write;
    size_t writing; /* bytes that `write` is about; 0: it is not under way */
    tcp_sink *sink; /* NULL: given up, it only closes */
} attempt;

struct tcp_sink {
    weir__loop loop;
    weir__meter meter;
    weir__lineage_out lineage;
    weir_component *self;
    const tcp_sink_config *config;
    weir__outbox box;
    weir__patience patience;
    uv_getaddrinfo_t lookup;
    struct addrinfo *addresses, *address; /* all, and the one to try next */
    uv_timer_t timer;                     /* to try again, or to give a try up */
    attempt *attempt;                     /* NULL: none now */
    bool looking;                         /* the lookup is under way */
    bool connected;
    bool stopping;
    weir_ns since; /* when it was connected */
    char scratch[256];
    weir__complaint trouble, large;
};

static const weir_option options[] = {
    WEIR_KEY(STRING, tcp_sink_config, address, "address", .fallback = "127.0.0.1",
             .help = "Where to connect: a number or the name of a machine, looked up each time."),
    WEIR_KEY(INT, tcp_sink_config, port, "port", .required = true, .min = 1, .max = 65535,
             .help = "Port to connect to."),
    WEIR_KEY(ENUM, tcp_sink_config, format, "format", .fallback = "lines", .words = format_words,
             .help = "lines: each event and a newline. length-prefixed: four bytes of its length, "
                     "the highest first, then the event."),
    WEIR_KEY(BYTES, tcp_sink_config, buffer, "buffer", .fallback = "1 MiB", .min = 1024,
             .max = 1073741824.0,
             .help = "Bytes that wait for the connection. When it is full events stay in the "
                     "mailbox; a single one that is larger is reported, counted and gone."),
    WEIR_KEY(DURATION, tcp_sink_config, connect_timeout, "connect-timeout", .fallback = "10 s",
             .min = 1e6, .max = 3.6e12, .help = "A try to connect is given up after so long."),
    WEIR_KEY(DURATION, tcp_sink_config, delay, "reconnect-delay", .fallback = "100 ms", .min = 1e6,
             .max = 3.6e12,
             .help = "Wait before the second try. It doubles each time, and half of it is "
                     "random."),
    WEIR_KEY(DURATION, tcp_sink_config, delay_max, "reconnect-max", .fallback = "30 s", .min = 1e6,
             .max = 3.6e12, .help = "The longest such wait."),
    WEIR_KEY(BOOL, tcp_sink_config, no_delay, "no-delay", .fallback = "true",
             .help = "Whether small writes go out at once (TCP_NODELAY)."),
    WEIR__LINEAGE_OUT_ROW(tcp_sink_config, traceparent),
};

static void look_up(tcp_sink *s);
static void try_next(tcp_sink *s);
static void push(tcp_sink *s);

static void on_timer(uv_timer_t *timer);

/* ---- an end, and what follows it ---- */

static void on_attempt_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void give_up(tcp_sink *s)
{
    attempt *a = s->attempt;
    if (a == NULL) {
        return;
    }
    s->attempt = NULL;
    a->sink = NULL;
    s->connected = false;
    weir__meter_set(&s->meter, CONNECTED, 0);
    weir__outbox_rewind(&s->box);
    uv_close((uv_handle_t *)&a->tcp, on_attempt_closed);
}

static void forget_addresses(tcp_sink *s)
{
    uv_freeaddrinfo(s->addresses);
    s->addresses = s->address = NULL;
}

/* Another address, or after a while from the beginning. */
static void failed(tcp_sink *s, const char *what, int status)
{
    const bool was_connected = s->connected;
    const weir_ns now = weir_time_now(weir_component_engine(s->self));
    give_up(s);
    (void)uv_timer_stop(&s->timer);
    weir__loop_worked(&s->loop, 1);
    if (s->stopping) {
        return;
    }
    if (!was_connected && s->address != NULL) {
        (void)uv_timer_start(&s->timer, on_timer, 0, 0); /* the next address, at once */
        return;
    }
    forget_addresses(s);
    weir__meter_add(&s->meter, FAILURES, 1);
    if (was_connected && now - s->since > WEIR_S && now - s->since > s->config->delay) {
        weir__patience_reset(&s->patience); /* it went well for a while */
    }
    const weir_ns delay = weir__patience_next(&s->patience);
    weir__complain(&s->trouble, s->self, WEIR_E_SYSTEM,
                   "%s %s:%" PRId64 ": %s; tried again in %" PRId64 " ms", what, s->config->address,
                   s->config->port, uv_strerror(status), delay / WEIR_MS);
    (void)uv_timer_start(&s->timer, on_timer, (uint64_t)((delay + WEIR_MS - 1) / WEIR_MS), 0);
}

static void on_timer(uv_timer_t *timer)
{
    tcp_sink *s = timer->data;
    if (s->attempt != NULL) {
        failed(s, "cannot connect to", UV_ETIMEDOUT);
    } else if (s->address != NULL) {
        try_next(s);
    } else {
        look_up(s);
    }
}

/* ---- writing ---- */

static void on_written(uv_write_t *write, int status)
{
    attempt *a = write->data;
    tcp_sink *s = a->sink;
    if (s == NULL) {
        return; /* given up meanwhile: what it wrote is written again */
    }
    if (status < 0) {
        failed(s, "lost the connection to", status);
        return;
    }
    weir__meter_add(&s->meter, BYTES, a->writing);
    weir__meter_add(&s->meter, EVENTS, weir__outbox_took(&s->box, a->writing));
    a->writing = 0;
    weir__loop_worked(&s->loop, 1);
    push(s);
}

/* As much as goes at once; the rest when the kernel has room. */
static void push(tcp_sink *s)
{
    attempt *a = s->attempt;
    if (!s->connected || a->writing > 0) {
        return;
    }
    uv_buf_t pieces[2];
    unsigned count;
    while ((count = weir__outbox_look(&s->box, SLICE, pieces)) > 0) {
        int status = uv_try_write((uv_stream_t *)&a->tcp, pieces, count);
        if (status > 0) {
            weir__meter_add(&s->meter, BYTES, (uint64_t)status);
            weir__meter_add(&s->meter, EVENTS, weir__outbox_took(&s->box, (size_t)status));
            continue;
        }
        if (status == UV_EAGAIN) {
            a->writing = pieces[0].len + (count > 1 ? pieces[1].len : 0);
            status = uv_write(&a->write, (uv_stream_t *)&a->tcp, pieces, count, on_written);
        }
        if (status < 0) {
            failed(s, "lost the connection to", status);
        }
        break;
    }
    weir__meter_set(&s->meter, BUFFERED, s->box.used);
}

/* ---- connecting ---- */

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
    (void)suggested;
    tcp_sink *s = ((attempt *)handle->data)->sink;
    *buffer = uv_buf_init(s->scratch, sizeof(s->scratch)); /* nobody reads it */
}

/* A peer that says something is not listened to; that it has gone is seen here. */
static void on_read(uv_stream_t *stream, ssize_t got, const uv_buf_t *buffer)
{
    (void)buffer;
    tcp_sink *s = ((attempt *)stream->data)->sink;
    if (got < 0 && s != NULL) {
        failed(s, "lost the connection to", (int)got);
    }
}

static void on_connect(uv_connect_t *connect, int status)
{
    attempt *a = connect->data;
    tcp_sink *s = a->sink;
    if (s == NULL) {
        return;
    }
    if (status == 0) {
        status = uv_read_start((uv_stream_t *)&a->tcp, on_alloc, on_read);
    }
    if (status < 0) {
        failed(s, "cannot connect to", status);
        return;
    }
    (void)uv_timer_stop(&s->timer);
    forget_addresses(s);
    (void)uv_tcp_nodelay(&a->tcp, s->config->no_delay);
    s->connected = true;
    s->since = weir_time_now(weir_component_engine(s->self));
    weir__meter_set(&s->meter, CONNECTED, 1);
    weir__meter_add(&s->meter, CONNECTS, 1);
    weir__loop_worked(&s->loop, 1);
    push(s);
}

/* One more address; there is one. */
static void try_next(tcp_sink *s)
{
    const struct addrinfo *address = s->address;
    s->address = address->ai_next;
    attempt *a = calloc(1, sizeof(*a));
    int status = a == NULL ? UV_ENOMEM : uv_tcp_init(&s->loop.uv, &a->tcp);
    if (status < 0) {
        free(a);
        failed(s, "cannot connect to", status);
        return;
    }
    a->sink = s;
    a->tcp.data = a->connect.data = a->write.data = a;
    s->attempt = a;
    (void)uv_timer_start(&s->timer, on_timer, (uint64_t)(s->config->connect_timeout / WEIR_MS), 0);
    status = uv_tcp_connect(&a->connect, &a->tcp, address->ai_addr, on_connect);
    if (status < 0) {
        failed(s, "cannot connect to", status);
    }
}

static void on_found(uv_getaddrinfo_t *lookup, int status, struct addrinfo *found)
{
    tcp_sink *s = lookup->data;
    s->looking = false;
    if (s->stopping) {
        uv_freeaddrinfo(found);
        return;
    }
    s->addresses = s->address = found;
    if (status < 0 || found == NULL) {
        forget_addresses(s);
        failed(s, "cannot find", status < 0 ? status : UV_EAI_NODATA);
        return;
    }
    try_next(s);
}

static void look_up(tcp_sink *s)
{
    const struct addrinfo want = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
    char service[24];
    snprintf(service, sizeof(service), "%" PRId64, s->config->port);
    s->lookup.data = s;
    const int status =
        uv_getaddrinfo(&s->loop.uv, &s->lookup, on_found, s->config->address, service, &want);
    s->looking = status == 0;
    if (status < 0) {
        failed(s, "cannot find", status);
    }
}

/* ---- the hooks ---- */

static weir_status init(void *state, weir_component *self, const void *config, weir_error *error)
{
    tcp_sink *s = state;
    s->self = self;
    s->config = config;
    const weir_status named = weir__lineage_out_open(&s->lineage, s->config->traceparent,
                                                     weir_component_name(self), error);
    if (named != WEIR_OK) {
        return named;
    }
    s->patience = (weir__patience){
        .base = s->config->delay,
        .max = s->config->delay_max,
        .random = uv_hrtime() ^ (uint64_t)(uintptr_t)s,
    };
    if (!weir__outbox_open(&s->box, s->config->buffer)) {
        return weir__error_memory(error, weir_component_name(self));
    }
    weir__meter_open(&s->meter, self, "tcp-sink", figures);
    return WEIR_OK;
}

/* Not being connected yet is no failure: it comes. */
static weir_status start(void *state, weir_component *self, weir_error *error)
{
    tcp_sink *s = state;
    const weir_status status = weir__loop_open(&s->loop, self, error);
    if (status != WEIR_OK) {
        return status;
    }
    (void)uv_timer_init(&s->loop.uv, &s->timer);
    s->timer.data = s;
    look_up(s);
    return WEIR_OK;
}

static int32_t do_work(void *state, weir_component *self, weir_ns *next)
{
    (void)self;
    return weir__loop_run(&((tcp_sink *)state)->loop, next);
}

static weir_status put(tcp_sink *s, const weir__payload *payload)
{
    if (s->config->format == FORMAT_LINES) {
        return weir__outbox_put(&s->box, NULL, 0, payload->data, payload->size, "\n", 1);
    }
    const uint32_t size = (uint32_t)payload->size;
    const unsigned char prefix[PREFIX] = { (unsigned char)(size >> 24), (unsigned char)(size >> 16),
                                           (unsigned char)(size >> 8), (unsigned char)size };
    return weir__outbox_put(&s->box, prefix, PREFIX, payload->data, payload->size, NULL, 0);
}

static weir_status handler(void *state, weir_turn *turn, const weir_event *event)
{
    tcp_sink *s = state;
    weir__payload payload;
    if (!weir__payload_read(&payload, event)) {
        return WEIR_UNHANDLED;
    }
    weir_status status = weir__lineage_give(&s->lineage, turn, &payload);
    if (status != WEIR_OK) {
        return status;
    }
    status = put(s, &payload);
    if (status == WEIR_FULL) {
        push(s);
        weir_component_wake(s->self);
        status = put(s, &payload);
    }
    if (status == WEIR_FULL) {
        weir__meter_add(&s->meter, FULL, 1);
    } else if (status == WEIR_E_LIMIT) {
        weir__meter_add(&s->meter, REFUSED, 1);
        weir__complain(&s->large, s->self, status, "an event of %zu bytes is larger than buffer",
                       payload.size);
        return WEIR_DROPPED; /* later it would not fit either */
    }
    return status;
}

static weir_status flush(void *state, weir_component *self)
{
    tcp_sink *s = state;
    push(s);
    return weir__outbox_flushed(&s->box, self);
}

static void stop(void *state, weir_component *self)
{
    tcp_sink *s = state;
    if (!s->loop.open) {
        return;
    }
    s->stopping = true;
    if (s->looking) {
        (void)uv_cancel((uv_req_t *)&s->lookup);
    }
    push(s);
    give_up(s);
    weir__loop_close(&s->loop);
    forget_addresses(s);
    weir__outbox_report(&s->box, self);
}

static void tear_down(void *state, weir_component *self)
{
    (void)self;
    tcp_sink *s = state;
    weir__outbox_close(&s->box);
    weir__lineage_out_close(&s->lineage);
    weir__meter_close(&s->meter);
}

const weir_component_type weir__tcp_sink_type = {
    .struct_size = sizeof(weir_component_type),
    .kind = WEIR_KIND_SINK,
    .name = "tcp-sink",
    .help = "connects to a TCP port and writes events to it; connects again when it has to",
    .state_size = sizeof(tcp_sink),
    .config_size = sizeof(tcp_sink_config),
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .init = init,
    .start = start,
    .do_work = do_work,
    .stop = stop,
    .tear_down = tear_down,
    .handler = handler,
    .flush = flush,
    WEIR_PASSES_ON, /* FULL waits, in order */
};
