/*
 * connect/tcp.c - the source `tcp`: a listener, each connection a stream of frames.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "connect/address.h"
#include "connect/stream.h"
#include "connect/types.h"

typedef struct tcp_config {
    weir__stream_config stream;
    const char *address;
    int64_t port;
    weir_ns keep_alive;
} tcp_config;

typedef struct tcp {
    weir__stream stream; /* first: the hooks are its own */
    const tcp_config *config;
    struct sockaddr_storage address;
} tcp;

static const weir_option options[] = {
    WEIR_KEY(STRING, tcp_config, address, "address", .fallback = "127.0.0.1",
             .help = "Where to listen: a number or the name of this machine. 0.0.0.0 or :: is "
                     "every address it has; whoever reaches one of them can send events."),
    WEIR_KEY(INT, tcp_config, port, "port", .required = true, .min = 0, .max = 65535,
             .help = "Port to listen on. 0: a free one, which the log and the admin command "
                     "connectors tell."),
    WEIR_KEY(DURATION, tcp_config, keep_alive, "keep-alive", .fallback = "60 s", .unit = WEIR_S,
             .words = weir__never_words, .min = 1e9, .max = 7.2e12,
             .help = "After so long without a byte the kernel asks whether the peer is still "
                     "there, and ends the connection if it is not. Whole seconds."),
    WEIR__STREAM_ROWS(tcp_config, stream),
};

static int prepare(weir__stream *stream, weir__stream_io *io)
{
    return uv_tcp_init(&stream->loop.uv, &io->tcp);
}

static int bind_to(weir__stream *stream, weir__stream_io *io)
{
    const tcp *t = (const tcp *)stream;
    return uv_tcp_bind(&io->tcp, (const struct sockaddr *)&t->address, 0);
}

static void bound(weir__stream *stream, weir__stream_io *io)
{
    tcp *t = (tcp *)stream;
    int size = (int)sizeof(t->address);
    (void)uv_tcp_getsockname(&io->tcp, (struct sockaddr *)&t->address, &size);
    weir__meter_set(&stream->meter, WEIR__STREAM_PORT, weir__address_port(&t->address));
    char where[96];
    weir__address_text(&t->address, where, sizeof(where));
    const weir_log_field fields[] = { { "address", where } };
    weir_log_write(weir_component_engine(stream->self), WEIR_LOG_INFO,
                   weir_component_name(stream->self), "listens", fields, 1);
}

static void accepted(weir__stream *stream, weir__stream_io *io)
{
    const weir_ns delay = ((const tcp *)stream)->config->keep_alive;
    if (delay != WEIR_FOREVER) {
        (void)uv_tcp_keepalive(&io->tcp, 1, (unsigned)(delay / WEIR_S));
    }
}

static const weir__stream_plan plan = {
    .type = "tcp",
    .prepare = prepare,
    .bind = bind_to,
    .bound = bound,
    .accepted = accepted,
};

static weir_status init(void *state, weir_component *self, const void *config, weir_error *error)
{
    tcp *t = state;
    t->config = config;
    const weir_status status = weir__address_find(self, t->config->address, t->config->port, true,
                                                  SOCK_STREAM, &t->address, error);
    return status != WEIR_OK
               ? status
               : weir__stream_init(&t->stream, self, &plan, &t->config->stream, error);
}

const weir_component_type weir__tcp_type = {
    .struct_size = sizeof(weir_component_type),
    .kind = WEIR_KIND_SOURCE,
    .name = "tcp",
    .help = "listens on a TCP port; each line or frame of a connection is an event",
    .state_size = sizeof(tcp),
    .config_size = sizeof(tcp_config),
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .init = init,
    .start = weir__stream_start,
    .do_work = weir__stream_work,
    .stop = weir__stream_stop,
    .tear_down = weir__stream_tear_down,
    .slow = WEIR_SLOW_BLOCK, /* what comes next can wait */
};
