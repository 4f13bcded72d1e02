/*
 * connect/udp.c - the source `udp`: datagrams, each of them an event or several lines.
 *
 * One datagram at a time is in hand: when the feed has no room for it, or for the rest of its
 * lines, nothing more is received, and the kernel keeps what it has room for. What it had to drop
 * it counts, and so it is told.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "base/error.h"
#include "connect/address.h"
#include "connect/frame.h"
#include "connect/loop.h"
#include "connect/meter.h"
#include "connect/outlet.h"
#include "connect/stream.h"
#include "connect/types.h"

#ifdef __linux__
#include <linux/sock_diag.h>
#endif

enum { ROUND_EVENTS = 4096, LOOK_MS = 1000 };

enum { FORMAT_LINES, FORMAT_JSON_LINES, FORMAT_TEXT, FORMAT_BYTES };
static const char *const format_words[] = { "lines", "json-lines", "text", "bytes", NULL };

typedef struct udp_config {
    const char *address;
    int64_t port;
    int64_t format;
    uint64_t datagram_max;
    uint64_t receive_buffer;
    bool keep_cr;
    const char *traceparent;
} udp_config;

enum { PORT, DATAGRAMS, BYTES, EVENTS, TRUNCATED, BAD, FAILED, PAUSES, KERNEL_DROPS };
static const char *const figures[] = { "port",         "datagrams",  "bytes",  "events",
                                       "truncated",    "bad-frames", "failed", "pauses",
                                       "kernel-drops", NULL };

typedef struct udp {
    weir__loop loop;
    weir__meter meter;
    weir_component *self;
    const udp_config *config;
    struct sockaddr_storage address;
    uv_udp_t socket;
    uv_timer_t look; /* at what the kernel dropped */
    weir__framer framer;
    bool receives;
    bool whole; /* a datagram that is one event waits in the framer's buffer */
    const char *data;
    size_t size;
    uint32_t budget, published; /* of the round at hand */
    weir__outlet outlet;
    weir__lineage_in lineage;
    weir__complaint bad, failed;
} udp;

static const weir_option options[] = {
    WEIR_KEY(STRING, udp_config, address, "address", .fallback = "127.0.0.1",
             .help = "Where to receive: a number or the name of this machine. 0.0.0.0 or :: is "
                     "every address it has."),
    WEIR_KEY(INT, udp_config, port, "port", .required = true, .min = 0, .max = 65535,
             .help = "Port to receive on. 0: a free one, which the log and the admin command "
                     "connectors tell."),
    WEIR_KEY(ENUM, udp_config, format, "format", .fallback = "lines", .words = format_words,
             .help = "lines: each line of a datagram is an event. json-lines: the same, and what "
                     "is not JSON is reported, counted and left out. text, bytes: a datagram is "
                     "one event."),
    WEIR_KEY(BYTES, udp_config, datagram_max, "max-datagram", .fallback = "64 KiB", .min = 1,
             .max = 65536.0,
             .help = "The largest datagram. A larger one is counted as truncated, reported and "
                     "left out."),
    WEIR_KEY(BYTES, udp_config, receive_buffer, "receive-buffer", .fallback = "0",
             .max = 1073741824.0,
             .help = "Bytes that the kernel keeps for this socket when nobody reads; 0: as it "
                     "likes. More than net.core.rmem_max is a warning."),
    WEIR_KEY(BOOL, udp_config, keep_cr, "keep-cr", .fallback = "false",
             .help = "Whether a carriage return before a newline belongs to the line."),
    WEIR__LINEAGE_IN_ROW(udp_config, traceparent),
};

static void begin(udp *u);

/* False: no room. */
static bool publish(udp *u, const weir_event_type *type, const char *data, size_t size)
{
    if (u->budget == 0) {
        return false;
    }
    const weir__outlet_answer answer = weir__outlet_publish(&u->outlet, type, data, size);
    if (answer == WEIR__OUTLET_WAITS) {
        return false;
    }
    weir__meter_add(&u->meter, FAILED, answer == WEIR__OUTLET_LOST);
    u->budget--;
    u->published++;
    weir__meter_add(&u->meter, EVENTS, 1);
    return true;
}

/* What is left of the datagram in hand. False: no room. */
static bool publish_rest(udp *u)
{
    if (u->whole) {
        u->whole =
            !publish(u, u->config->format == FORMAT_TEXT ? &weir_text_type : &weir_bytes_type,
                     u->data, u->size);
        return !u->whole;
    }
    weir__frame frame;
    weir__frame_what what;
    while ((what = weir__framer_next(&u->framer, &frame)) != WEIR__FRAME_NONE) {
        if (what == WEIR__FRAME_BAD) {
            weir__meter_add(&u->meter, BAD, 1);
            weir__complain(&u->bad, u->self, WEIR_E_TYPE, "a bad line: %s", frame.text);
        } else if (!publish(u, &weir_text_type, frame.data, frame.size)) {
            return false;
        }
        weir__framer_take(&u->framer);
    }
    return true;
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
    (void)suggested;
    udp *u = handle->data;
    size_t room = 0;
    weir__framer_reset(&u->framer, 0); /* what was in hand is done */
    char *at = weir__framer_room(&u->framer, &room);
    const size_t most = u->config->datagram_max;
    *buffer = uv_buf_init(at, (unsigned)(room < most ? room : most));
}

static void pause_receiving(udp *u)
{
    if (u->receives) {
        (void)uv_udp_recv_stop(&u->socket);
        u->receives = false;
        weir__meter_add(&u->meter, PAUSES, u->budget > 0); /* else only its turn is over */
    }
}

static void on_datagram(uv_udp_t *socket, ssize_t got, const uv_buf_t *buffer,
                        const struct sockaddr *from, unsigned flags)
{
    udp *u = socket->data;
    if (got < 0) { /* no memory, or what the network says about something that was sent: neither */
        weir__complain(&u->failed, u->self, WEIR_E_SYSTEM, "cannot receive: %s",
                       uv_strerror((int)got));
        pause_receiving(u); /* tried again in the next round */
        return;
    }
    if (from == NULL) {
        return; /* nothing there after all */
    }
    weir__loop_worked(&u->loop, 1);
    weir__meter_add(&u->meter, DATAGRAMS, 1);
    weir__meter_add(&u->meter, BYTES, (uint64_t)got);
    if ((flags & UV_UDP_PARTIAL) != 0) {
        weir__meter_add(&u->meter, TRUNCATED, 1);
        weir__complain(&u->bad, u->self, WEIR_E_LIMIT,
                       "a datagram was longer than max-datagram, %llu bytes",
                       (unsigned long long)u->config->datagram_max);
        return;
    }
    if (u->config->format >= FORMAT_TEXT) {
        u->whole = true;
        u->data = buffer->base;
        u->size = (size_t)got;
    } else {
        weir__framer_fed(&u->framer, (size_t)got);
        weir__framer_end(&u->framer);
    }
    if (!publish_rest(u)) {
        pause_receiving(u);
    }
}

static void begin(udp *u)
{
    const int status = uv_udp_recv_start(&u->socket, on_alloc, on_datagram);
    u->receives = status == 0;
    if (status < 0) {
        weir__complain(&u->failed, u->self, WEIR_E_SYSTEM, "cannot receive: %s",
                       uv_strerror(status));
    }
}

static void on_look(uv_timer_t *timer)
{
#if defined(__linux__) && defined(SO_MEMINFO)
    udp *u = timer->data;
    uint32_t about[SK_MEMINFO_VARS] = { 0 };
    socklen_t size = sizeof(about);
    uv_os_fd_t descriptor;
    if (uv_fileno((uv_handle_t *)&u->socket, &descriptor) == 0 &&
        getsockopt(descriptor, SOL_SOCKET, SO_MEMINFO, about, &size) == 0 &&
        size > SK_MEMINFO_DROPS * sizeof(about[0])) {
        weir__meter_set(&u->meter, KERNEL_DROPS, about[SK_MEMINFO_DROPS]);
    }
#else
    (void)timer;
#endif
}

/* ---- the hooks ---- */

static weir_status init(void *state, weir_component *self, const void *config, weir_error *error)
{
    udp *u = state;
    u->self = self;
    u->outlet = (weir__outlet){ .self = self, .lineage = &u->lineage };
    u->config = config;
    weir_status status = weir__address_find(self, u->config->address, u->config->port, true,
                                            SOCK_DGRAM, &u->address, error);
    if (status != WEIR_OK) {
        return status;
    }
    status = weir__lineage_in_open(&u->lineage, self, u->config->traceparent, error);
    if (status != WEIR_OK) {
        return status;
    }
    const weir__frame_config frame = {
        .format =
            u->config->format == FORMAT_JSON_LINES ? WEIR__FORMAT_JSON_LINES : WEIR__FORMAT_LINES,
        .max = u->config->datagram_max,
        .keep_cr = u->config->keep_cr,
    };
    if (!weir__framer_open(&u->framer, &frame, u->config->datagram_max, 0)) {
        weir__lineage_in_close(&u->lineage);
        return weir__error_memory(error, weir_component_name(self));
    }
    weir__meter_open(&u->meter, self, "udp", figures);
    return WEIR_OK;
}

static void size_buffer(udp *u)
{
    int size = (int)u->config->receive_buffer;
    if (size == 0) {
        return;
    }
    int now = 0;
    const int status = uv_recv_buffer_size((uv_handle_t *)&u->socket, &size);
    if (status < 0 || uv_recv_buffer_size((uv_handle_t *)&u->socket, &now) < 0 ||
        (uint64_t)now < u->config->receive_buffer) {
        char text[128];
        snprintf(text, sizeof(text),
                 "receive-buffer: the kernel gives %d bytes (net.core.rmem_max)", now);
        weir_log_write(weir_component_engine(u->self), WEIR_LOG_WARNING,
                       weir_component_name(u->self), text, NULL, 0);
    }
}

static weir_status start(void *state, weir_component *self, weir_error *error)
{
    udp *u = state;
    const weir_status opened = weir__loop_open(&u->loop, self, error);
    if (opened != WEIR_OK) {
        return opened;
    }
    int status = uv_udp_init(&u->loop.uv, &u->socket);
    if (status == 0) {
        u->socket.data = u;
        status = uv_udp_bind(&u->socket, (const struct sockaddr *)&u->address, 0);
    }
    if (status < 0) {
        weir__loop_close(&u->loop);
        return weir__loop_error(error, self, "it cannot receive", status);
    }
    int size = (int)sizeof(u->address);
    (void)uv_udp_getsockname(&u->socket, (struct sockaddr *)&u->address, &size);
    weir__meter_set(&u->meter, PORT, weir__address_port(&u->address));
    size_buffer(u);
    (void)uv_timer_init(&u->loop.uv, &u->look);
    u->look.data = u;
    (void)uv_timer_start(&u->look, on_look, LOOK_MS, LOOK_MS);
    char where[96];
    weir__address_text(&u->address, where, sizeof(where));
    const weir_log_field fields[] = { { "address", where } };
    weir_log_write(weir_component_engine(self), WEIR_LOG_INFO, weir_component_name(self),
                   "receives", fields, 1);
    return WEIR_OK;
}

static int32_t do_work(void *state, weir_component *self, weir_ns *next)
{
    (void)self;
    udp *u = state;
    u->budget = ROUND_EVENTS;
    u->published = 0;
    if (!u->receives && publish_rest(u)) {
        begin(u);
    }
    const int32_t work = weir__loop_run(&u->loop, next);
    if (!u->receives) {
        *next = 0; /* nobody says when a feed has room again */
    }
    return work + (int32_t)u->published;
}

static void stop(void *state, weir_component *self)
{
    udp *u = state;
    if (!u->loop.open) {
        return;
    }
    u->budget = UINT32_MAX;
    if (!publish_rest(u)) {
        weir_component_report(self, WEIR_FULL, "the feed had no room for the last datagram");
    }
    on_look(&u->look);
    weir__loop_close(&u->loop);
}

static void tear_down(void *state, weir_component *self)
{
    udp *u = state;
    (void)self;
    weir__framer_close(&u->framer);
    weir__lineage_in_close(&u->lineage);
    weir__meter_close(&u->meter);
}

const weir_component_type weir__udp_type = {
    .struct_size = sizeof(weir_component_type),
    .kind = WEIR_KIND_SOURCE,
    .name = "udp",
    .help = "receives datagrams; each of them, or each line in it, is an event",
    .state_size = sizeof(udp),
    .config_size = sizeof(udp_config),
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .init = init,
    .start = start,
    .do_work = do_work,
    .stop = stop,
    .tear_down = tear_down,
};
