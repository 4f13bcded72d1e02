/*
 * connect/udp_sink.c - the sink `udp-sink`: a datagram an event.
 *
 * Nobody says whether a datagram arrives. What the kernel does not take at once waits; what it
 * refuses for good is counted and gone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "base/error.h"
#include "connect/address.h"
#include "connect/loop.h"
#include "connect/meter.h"
#include "connect/outbox.h"
#include "connect/lineage.h"
#include "connect/payload.h"
#include "connect/types.h"

enum { DATAGRAM_MAX = 65507 };

typedef struct udp_sink_config {
    const char *address;
    int64_t port;
    uint64_t buffer;
    const char *traceparent;
} udp_sink_config;

enum { EVENTS, BYTES, FAILED, BUFFERED, FULL, TOO_LARGE };
static const char *const figures[] = { "events", "bytes",     "failed", "buffered",
                                       "full",   "too-large", NULL };

typedef struct udp_sink {
    weir__loop loop;
    weir__meter meter;
    weir__lineage_out lineage;
    weir_component *self;
    const udp_sink_config *config;
    struct sockaddr_storage address;
    weir__outbox box;
    uv_udp_t socket;
    uv_udp_send_t send;
    size_t sending; /* bytes of `send`; 0: it is not under way */
    weir__complaint failed, large;
} udp_sink;

static const weir_option options[] = {
    WEIR_KEY(STRING, udp_sink_config, address, "address", .fallback = "127.0.0.1",
             .help = "Where to send: a number or the name of a machine, looked up at the start."),
    WEIR_KEY(INT, udp_sink_config, port, "port", .required = true, .min = 1, .max = 65535,
             .help = "Port to send to."),
    WEIR_KEY(BYTES, udp_sink_config, buffer, "buffer", .fallback = "1 MiB", .min = 65536,
             .max = 1073741824.0,
             .help = "Bytes that wait for the kernel to take them. When it is full events stay in "
                     "the mailbox."),
    WEIR__LINEAGE_OUT_ROW(udp_sink_config, traceparent),
};

static void push(udp_sink *u);

/* The first datagram is gone, one way or the other. */
static void done(udp_sink *u, size_t size, int status)
{
    (void)weir__outbox_took(&u->box, size);
    if (status >= 0) {
        weir__meter_add(&u->meter, EVENTS, 1);
        weir__meter_add(&u->meter, BYTES, size);
        return;
    }
    weir__meter_add(&u->meter, FAILED, 1);
    weir__complain(&u->failed, u->self, WEIR_E_SYSTEM, "a datagram of %zu bytes was not sent: %s",
                   size, uv_strerror(status));
}

static void on_sent(uv_udp_send_t *send, int status)
{
    udp_sink *u = send->data;
    const size_t size = u->sending;
    u->sending = 0;
    if (status == UV_ECANCELED) {
        return; /* it is being stopped */
    }
    done(u, size, status);
    weir__loop_worked(&u->loop, 1);
    push(u);
}

static void push(udp_sink *u)
{
    size_t size;
    while (u->sending == 0 && u->loop.open && (size = weir__outbox_first(&u->box)) > 0) {
        uv_buf_t pieces[2];
        const unsigned count = weir__outbox_look(&u->box, size, pieces);
        const struct sockaddr *to = (const struct sockaddr *)&u->address;
        int status = uv_udp_try_send(&u->socket, pieces, count, to);
        if (status == UV_EAGAIN) {
            u->sending = size;
            u->send.data = u;
            status = uv_udp_send(&u->send, &u->socket, pieces, count, to, on_sent);
            if (status == 0) {
                break;
            }
            u->sending = 0;
        }
        done(u, size, status);
    }
    weir__meter_set(&u->meter, BUFFERED, u->box.used);
}

static weir_status init(void *state, weir_component *self, const void *config, weir_error *error)
{
    udp_sink *u = state;
    u->self = self;
    u->config = config;
    const weir_status named = weir__lineage_out_open(&u->lineage, u->config->traceparent,
                                                     weir_component_name(self), error);
    if (named != WEIR_OK) {
        return named;
    }
    const weir_status status = weir__address_find(self, u->config->address, u->config->port, false,
                                                  SOCK_DGRAM, &u->address, error);
    if (status != WEIR_OK) {
        return status;
    }
    if (!weir__outbox_open(&u->box, u->config->buffer)) {
        return weir__error_memory(error, weir_component_name(self));
    }
    weir__meter_open(&u->meter, self, "udp-sink", figures);
    return WEIR_OK;
}

static weir_status start(void *state, weir_component *self, weir_error *error)
{
    udp_sink *u = state;
    const weir_status opened = weir__loop_open(&u->loop, self, error);
    if (opened != WEIR_OK) {
        return opened;
    }
    /* With a family, so that the socket is there now, and not at the first send. */
    const int status = uv_udp_init_ex(&u->loop.uv, &u->socket, u->address.ss_family);
    if (status < 0) {
        weir__loop_close(&u->loop);
        return weir__loop_error(error, self, "it cannot send", status);
    }
    return WEIR_OK;
}

static int32_t do_work(void *state, weir_component *self, weir_ns *next)
{
    (void)self;
    return weir__loop_run(&((udp_sink *)state)->loop, next);
}

static weir_status handler(void *state, weir_turn *turn, const weir_event *event)
{
    udp_sink *u = state;
    weir__payload payload;
    if (!weir__payload_read(&payload, event)) {
        return WEIR_UNHANDLED;
    }
    weir_status status = weir__lineage_give(&u->lineage, turn, &payload);
    if (status != WEIR_OK) {
        return status;
    }
    if (payload.size == 0 || payload.size > DATAGRAM_MAX) {
        weir__meter_add(&u->meter, TOO_LARGE, payload.size > 0);
        if (payload.size > 0) {
            weir__complain(&u->large, u->self, WEIR_E_LIMIT,
                           "an event of %zu bytes is larger than a datagram", payload.size);
        }
        return WEIR_DROPPED; /* an empty one has nothing to say */
    }
    status = weir__outbox_put(&u->box, NULL, 0, payload.data, payload.size, NULL, 0);
    if (status == WEIR_FULL) {
        push(u);
        weir_component_wake(u->self);
        status = weir__outbox_put(&u->box, NULL, 0, payload.data, payload.size, NULL, 0);
    }
    if (status == WEIR_FULL) {
        weir__meter_add(&u->meter, FULL, 1);
    }
    return status;
}

static weir_status flush(void *state, weir_component *self)
{
    udp_sink *u = state;
    push(u);
    return weir__outbox_flushed(&u->box, self);
}

static void stop(void *state, weir_component *self)
{
    udp_sink *u = state;
    if (!u->loop.open) {
        return;
    }
    push(u);
    weir__loop_close(&u->loop);
    weir__outbox_report(&u->box, self);
}

static void tear_down(void *state, weir_component *self)
{
    (void)self;
    udp_sink *u = state;
    weir__outbox_close(&u->box);
    weir__lineage_out_close(&u->lineage);
    weir__meter_close(&u->meter);
}

const weir_component_type weir__udp_sink_type = {
    .struct_size = sizeof(weir_component_type),
    .kind = WEIR_KIND_SINK,
    .name = "udp-sink",
    .help = "sends each event as a datagram",
    .state_size = sizeof(udp_sink),
    .config_size = sizeof(udp_sink_config),
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
