/*
 * weir/trace.h - who ran what, where and when: recorded for a while, then written as a file that
 * Perfetto and chrome://tracing open. And the trace context of the W3C, carried along with events.
 *
 *     weir_trace_start(engine, WEIR_TRACE(.records_max = 65536), &error);
 *     ...
 *     weir_trace_stop(engine);
 *     weir_trace_write(engine, "t.json", &error);
 *
 * While it is on each thread writes into a ring of its own: turns with how many events (brief ones
 * drawn together), parks, and of events the post, the handler, and the arrow between: of all of
 * them where they are rare, of some where they are a flood. The oldest records give way. It costs
 * a few per cent at most while it is on, and nothing while it is off.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TRACE_H
#define WEIR_TRACE_H

#include "weir/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_trace_options {
    size_t struct_size;
    uint32_t records_max; /* of each thread; a power of two; default 65,536 of 32 bytes */
} weir_trace_options;
#define WEIR_TRACE_OPTIONS_INIT WEIR_SIZED(weir_trace_options)
#define WEIR_TRACE(...) WEIR_OPTIONS(weir_trace_options, __VA_ARGS__)

/* Control. start: ALREADY, it is on; E_NOMEM. What an earlier one recorded is gone. stop: what was
 * recorded stays until the next start, or the engine's end. ALREADY: it is off. */
WEIR_API weir_status weir_trace_start(weir_engine *engine, const weir_trace_options *options,
                                      weir_error *error);
WEIR_API weir_status weir_trace_stop(weir_engine *engine);

/* Control. Of one that is stopped: pieces of JSON text (the Trace Event Format), in order, until
 * `put` answers false. E_INVALID: it is on, or never was. */
WEIR_API weir_status weir_trace_visit(weir_engine *engine,
                                      bool (*put)(void *context, const char *text, size_t size),
                                      void *context);
/* Blocking. The same into a file, which is there whole or not at all. */
WEIR_API weir_status weir_trace_write(weir_engine *engine, const char *path, weir_error *error);

/* ---- W3C trace context ---- */

typedef struct weir_traceparent {
    uint8_t trace[16];
    uint8_t parent[8]; /* the span that caused it */
    uint8_t flags;     /* bit 0: sampled */
} weir_traceparent;

#define WEIR_TRACEPARENT_TEXT 56u /* "00-...-...-01" and its end */

/* Any. "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01". E_INVALID: it is not one. */
WEIR_API weir_status weir_traceparent_read(const char *text, size_t size, weir_traceparent *out);
WEIR_API void weir_traceparent_text(const weir_traceparent *from, char out[WEIR_TRACEPARENT_TEXT]);

/* Turn. That of the event at hand. UNKNOWN: it has none. What its handler posts inherits it. */
WEIR_API weir_status weir_turn_traceparent(weir_turn *turn, weir_traceparent *out);
/* Turn, in a handler. What it posts from now on carries this one, until its event is over; NULL:
 * none. E_INVALID: in an init or a destroy. E_NOMEM. */
WEIR_API weir_status weir_turn_traceparent_set(weir_turn *turn,
                                               const weir_traceparent *traceparent);
/* Any, except in a turn and in the hook of a timer (E_INVALID). The same for the calling thread and
 * this engine, until it is set again; in a do_work until that returns. E_NOMEM. */
WEIR_API weir_status weir_engine_traceparent_set(weir_engine *engine,
                                                 const weir_traceparent *traceparent);

#ifdef __cplusplus
}
#endif

#endif /* WEIR_TRACE_H */
