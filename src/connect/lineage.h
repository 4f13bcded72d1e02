/*
 * connect/lineage.h - the trace context of a line: out of a field of its JSON where it comes in,
 * and into one where it goes out. In between the engine carries it (weir/trace.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CONNECT_LINEAGE_H
#define WEIR_CONNECT_LINEAGE_H

#include "connect/meter.h"
#include "connect/payload.h"
#include "connect/pick.h"
#include "weir/turn.h"

/* NOLINTBEGIN(bugprone-macro-parentheses): `m` is a member's name */
#define WEIR__LINEAGE_IN_ROW(T, m)                                                                 \
    WEIR_KEY(STRING, T, m, "traceparent",                                                          \
             .help = "A field of the line's JSON, with dots into objects. If there is a "          \
                     "traceparent of the W3C in it, the event carries that. What is none is "      \
                     "reported, and the event goes without.")
#define WEIR__LINEAGE_OUT_ROW(T, m)                                                                \
    WEIR_KEY(STRING, T, m, "traceparent",                                                          \
             .help = "Into this field of a JSON object the traceparent is written that the event " \
                     "carries, in place of what is there. Others stay as they are.")
/* NOLINTEND(bugprone-macro-parentheses) */

/* ---- of a source: its hosting thread's ---- */

/* Zeroed memory looks for nothing. */
typedef struct weir__lineage_in {
    weir_component *self;
    weir__pick *pick;
    weir__complaint none;
} weir__lineage_in;

/* `field` may be NULL: then it looks for nothing. */
weir_status weir__lineage_in_open(weir__lineage_in *in, weir_component *self, const char *field,
                                  weir_error *error);
void weir__lineage_in_close(weir__lineage_in *in);

/* Around the publish of a line. E_NOMEM: it would go without; come again. */
weir_status weir__lineage_take(weir__lineage_in *in, const void *line, size_t size);
void weir__lineage_drop(weir__lineage_in *in);

/* ---- of a sink: its handler's ---- */

/* Zeroed memory writes nothing. */
typedef struct weir__lineage_out {
    const char *field;
    char *text;
    size_t capacity;
} weir__lineage_out;

/* `field` may be NULL, and stays the caller's. E_CONFIG: it is no name. */
weir_status weir__lineage_out_open(weir__lineage_out *out, const char *field, const char *who,
                                   weir_error *error);
void weir__lineage_out_close(weir__lineage_out *out);

/* The payload has it from now on, until the next call; or is as before. E_NOMEM. */
weir_status weir__lineage_give(weir__lineage_out *out, weir_turn *turn, weir__payload *payload);

/* The same with a text: what `weir_traceparent_text` made. */
weir_status weir__lineage_write(weir__lineage_out *out, const char *parent, weir__payload *payload);

#endif /* WEIR_CONNECT_LINEAGE_H */
