/*
 * connect/connection.c - one connection of a listener: bytes in, frames out.
 *
 * A connection is in one of the stream's two lists: it is read, or it waits for the feed to have
 * room. It is read only when nothing whole is left in its framer, so that a framer always has room
 * for the next read; what it cannot publish makes it wait, whatever else it is told meanwhile.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "connect/stream.h"

static void on_closed(uv_handle_t *handle)
{
    weir__connection *c = handle->data;
    weir__framer_close(&c->framer);
    free(c);
}

/* Rounded up, since the loop's clock is rounded down: nobody is idle too early. */
static weir_ns heard_now(const weir__stream *s)
{
    return (weir_ns)(uv_now(&s->loop.uv) + 1) * WEIR_MS;
}

static void leave_list(weir__connection *c)
{
    weir__stream *s = c->stream;
    if (c->phase == WEIR__CONNECTION_PAUSED) {
        TAILQ_REMOVE(&s->paused, c, links);
        weir__meter_sub(&s->meter, WEIR__STREAM_PAUSED, 1);
    } else {
        TAILQ_REMOVE(&s->active, c, links);
    }
}

void weir__connection_close(weir__connection *c)
{
    if (c->phase == WEIR__CONNECTION_CLOSES) {
        return;
    }
    leave_list(c);
    c->phase = WEIR__CONNECTION_CLOSES;
    c->stream->count--;
    weir__meter_sub(&c->stream->meter, WEIR__STREAM_CONNECTIONS, 1);
    uv_close(&c->io.handle, on_closed);
}

static void pause_reading(weir__connection *c)
{
    weir__stream *s = c->stream;
    if (c->phase == WEIR__CONNECTION_PAUSED) {
        TAILQ_REMOVE(&s->paused, c, links); /* behind the others */
        TAILQ_INSERT_TAIL(&s->paused, c, links);
        return;
    }
    (void)uv_read_stop(&c->io.stream);
    TAILQ_REMOVE(&s->active, c, links);
    c->phase = WEIR__CONNECTION_PAUSED;
    TAILQ_INSERT_TAIL(&s->paused, c, links);
    weir__meter_add(&s->meter, WEIR__STREAM_PAUSES, s->budget > 0); /* else only its turn is over */
    weir__meter_add(&s->meter, WEIR__STREAM_PAUSED, 1);
}

/* Of a frame that is none. False: nothing that follows in this stream can be trusted. */
static bool pass_over(weir__connection *c, const weir__frame *frame)
{
    weir__stream *s = c->stream;
    weir__meter_add(&s->meter, WEIR__STREAM_BAD, 1);
    const bool lost = s->config->frame.format == WEIR__FORMAT_LENGTH_PREFIXED &&
                      frame->why == WEIR__FRAME_TOO_LONG;
    weir__complain(&s->bad, s->self, WEIR_E_TYPE, "a bad frame: %s%s", frame->text,
                   lost ? "; its connection is closed" : "");
    return !lost;
}

/* OK: nothing whole waits. FULL: something does. STOPPING: this connection has to end. */
static weir_status publish_all(weir__connection *c)
{
    weir__stream *s = c->stream;
    const weir_event_type *type = weir__format_type(s->config->frame.format);
    weir__frame frame;
    weir__frame_what what;
    while ((what = weir__framer_next(&c->framer, &frame)) != WEIR__FRAME_NONE) {
        if (s->budget == 0) {
            return WEIR_FULL;
        }
        if (what == WEIR__FRAME_BAD) {
            if (!pass_over(c, &frame)) {
                return WEIR_STOPPING;
            }
            s->budget--;
            weir__framer_take(&c->framer);
            continue;
        }
        const weir__outlet_answer answer =
            weir__outlet_publish(&s->outlet, type, frame.data, frame.size);
        if (answer == WEIR__OUTLET_WAITS) {
            return WEIR_FULL;
        }
        weir__meter_add(&s->meter, WEIR__STREAM_FAILED, answer == WEIR__OUTLET_LOST);
        if (frame.why == WEIR__FRAME_TOO_LONG) {
            (void)pass_over(c, &frame); /* was cut: counted, said, and published */
        }
        s->budget--;
        s->published++;
        weir__meter_add(&s->meter, WEIR__STREAM_FRAMES, 1);
        weir__framer_take(&c->framer);
    }
    return WEIR_OK;
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
    (void)suggested;
    weir__connection *c = handle->data;
    size_t room = 0;
    char *at = weir__framer_room(&c->framer, &room);
    *buffer = uv_buf_init(at, (unsigned)room); /* none: libuv answers ENOBUFS */
}

static void on_read(uv_stream_t *stream, ssize_t got, const uv_buf_t *buffer)
{
    (void)buffer;
    weir__connection *c = stream->data;
    weir__stream *s = c->stream;
    if (got == 0 || c->phase != WEIR__CONNECTION_READS) {
        return; /* nothing to read after all */
    }
    weir__loop_worked(&s->loop, 1);
    if (got == UV_ENOBUFS) {
        weir__complain(&s->failed, s->self, WEIR_E_NOMEM, "no memory to read a connection");
        pause_reading(c);
        return;
    }
    if (got < 0 && got != UV_EOF) {
        weir__meter_add(&s->meter, WEIR__STREAM_RESET, 1);
        if (weir__framer_partial(&c->framer)) { /* what it began is not whole: no event */
            weir__meter_add(&s->meter, WEIR__STREAM_BAD, 1);
            weir__complain(&s->bad, s->self, WEIR_E_SYSTEM, "a connection broke inside a frame: %s",
                           uv_strerror((int)got));
        }
        weir__connection_close(c);
        return;
    }
    if (got == UV_EOF) {
        c->ended = true;
        weir__framer_end(&c->framer);
    } else {
        weir__framer_fed(&c->framer, (size_t)got);
        weir__meter_add(&s->meter, WEIR__STREAM_BYTES, (uint64_t)got);
        c->heard = heard_now(s);
        TAILQ_REMOVE(&s->active, c, links);
        TAILQ_INSERT_TAIL(&s->active, c, links);
    }
    (void)weir__connection_resume(c);
}

bool weir__connection_resume(weir__connection *c)
{
    weir__stream *s = c->stream;
    const weir_status status = publish_all(c);
    if (status == WEIR_FULL) {
        pause_reading(c);
        return false;
    }
    if (status != WEIR_OK || c->ended) {
        weir__connection_close(c);
        return true;
    }
    if (c->phase == WEIR__CONNECTION_PAUSED) {
        leave_list(c);
        c->phase = WEIR__CONNECTION_READS;
        c->heard = heard_now(s);
        TAILQ_INSERT_TAIL(&s->active, c, links);
        weir__connection_begin(c);
    }
    return true;
}

weir__connection *weir__connection_new(weir__stream *s)
{
    weir__connection *c = calloc(1, sizeof(*c));
    if (c == NULL) {
        return NULL;
    }
    if (!weir__framer_open(&c->framer, &s->config->frame, s->config->read_size, 0)) {
        free(c);
        return NULL;
    }
    c->stream = s;
    if (s->plan->prepare(s, &c->io) < 0) {
        weir__framer_close(&c->framer);
        free(c);
        return NULL;
    }
    c->io.handle.data = c;
    c->heard = heard_now(s);
    c->phase = WEIR__CONNECTION_READS;
    TAILQ_INSERT_TAIL(&s->active, c, links);
    s->count++;
    weir__meter_add(&s->meter, WEIR__STREAM_CONNECTIONS, 1);
    return c;
}

void weir__connection_begin(weir__connection *c)
{
    if (uv_read_start(&c->io.stream, on_alloc, on_read) < 0) {
        weir__connection_close(c);
    }
}
