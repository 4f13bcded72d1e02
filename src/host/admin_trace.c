/*
 * host/admin_trace.c - built-in commands that record what runs, and that show what just ran.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/trace.h"
#include "engine/trace_recent.h"
#include "host/admin.h"
#include "weir/processor.h"
#include "weir/trace.h"

#define PIECE_MAX ((size_t)1 << 20) /* of text in one answer */

/* ---- trace ---- */

static bool read_number(const char *text, uint64_t *out)
{
    char *end;
    *out = text != NULL ? strtoull(text, &end, 10) : 0;
    return text == NULL || (text[0] >= '0' && text[0] <= '9' && *end == '\0' && strlen(text) < 20);
}

static weir_status on_trace_start(void *context, weir_admin_call *call)
{
    (void)context;
    const char *said = weir_admin_argument(call, 0);
    weir_error error = WEIR_ERROR_INIT;
    uint64_t records;
    if (!read_number(said, &records) || records > UINT32_MAX) {
        return weir_admin_fail(call, WEIR_E_INVALID, "'%.32s' is no number of records", said);
    }
    const weir_status status =
        weir_trace_start(call->engine, WEIR_TRACE(.records_max = (uint32_t)records), &error);
    if (status == WEIR_ALREADY) {
        return weir_admin_fail(call, status,
                               "a trace is on already; `trace stop` ends it, whose ever it is");
    }
    if (status != WEIR_OK) {
        return weir_admin_fail(call, status, "%s: %s", error.path, error.text);
    }
    weir__mutex_lock(&call->engine->tracing.lock);
    weir_admin_unsigned(call, "recording", call->engine->tracing.serial);
    weir__mutex_unlock(&call->engine->tracing.lock);
    return WEIR_OK;
}

static weir_status on_trace_stop(void *context, weir_admin_call *call)
{
    (void)context;
    const weir_status status = weir_trace_stop(call->engine);
    if (status != WEIR_OK) {
        return weir_admin_fail(call, status, "no trace is on");
    }
    weir__recorder *recorder = weir__trace_take(call->engine);
    if (recorder != NULL) { /* unless the next one has just begun */
        uint64_t records = 0;
        uint64_t lost = 0;
        for (uint32_t i = 0; i < weir__recorder_rings(recorder); i++) {
            records += weir__trace_held(&recorder->rings[i]);
            lost += weir__trace_lost(&recorder->rings[i]);
        }
        weir_admin_unsigned(call, "recording", recorder->serial);
        weir_admin_unsigned(call, "threads", weir__recorder_rings(recorder));
        weir_admin_unsigned(call, "records", records);
        weir_admin_unsigned(call, "lost", lost);
        weir__trace_give_back(call->engine, recorder);
    }
    return WEIR_OK;
}

static bool append(void *context, const char *text, size_t size)
{
    return weir__textbuf_append(context, text, size);
}

static weir_status on_trace_read(void *context, weir_admin_call *call)
{
    (void)context;
    const char *said = weir_admin_argument(call, 0);
    uint64_t cursor;
    if (!read_number(said, &cursor)) {
        return weir_admin_fail(call, WEIR_E_INVALID, "'%.32s' is no cursor; the first is 0", said);
    }
    weir__recorder *recorder = weir__trace_take(call->engine);
    if (recorder == NULL) {
        return weir_admin_fail(call, WEIR_E_INVALID,
                               "there is no trace to read: none was recorded, or it is still on");
    }
    weir__textbuf text = { .allocator = &call->engine->allocator };
    weir_status status = WEIR_E_INVALID;
    if (cursor != WEIR__TRACE_END) {
        status = weir__trace_text(call->engine, recorder, &cursor, PIECE_MAX, append, &text);
    }
    if (status != WEIR_OK) {
        status = weir_admin_fail(call, status, "no piece of this trace begins at %.32s", said);
    } else if (cursor != WEIR__TRACE_END && text.length < PIECE_MAX) {
        status = WEIR_E_NOMEM;
    } else {
        weir_admin_unsigned(call, "recording", recorder->serial);
        weir_admin_bool(call, "more", cursor != WEIR__TRACE_END);
        weir_admin_unsigned(call, "next", cursor != WEIR__TRACE_END ? cursor : 0);
        weir_admin_text(call, "text", text.bytes);
    }
    weir__textbuf_close(&text);
    weir__trace_give_back(call->engine, recorder);
    return status;
}

/* ---- what just ran ---- */

static bool add_recent(void *context, const weir__recent *event)
{
    weir_admin_call *call = context;
    char sender[256] = "";
    if (event->sender.id != 0 &&
        weir_processor_name(call->engine, event->sender, sender, sizeof(sender)) == 0) {
        (void)snprintf(sender, sizeof(sender), "(gone)");
    }
    weir_admin_row(call);
    weir_admin_text(call, "thread", event->thread);
    weir_admin_unsigned(call, "back", event->back);
    weir_admin_bool(call, "runs", event->runs);
    weir_admin_text(call, "type", event->type->name != NULL ? event->type->name : "");
    weir_admin_text(call, "sender", sender);
    weir_admin_unsigned(call, "size", event->size);
    return !weir__admin_is_full(call);
}

static weir_status on_processors_recent(void *context, weir_admin_call *call)
{
    (void)context;
    const char *name = weir_admin_argument(call, 0);
    weir_processor processor;
    const weir_status status = weir__admin_processor(call, name, &processor);
    if (status == WEIR_OK) {
        weir__trace_recent(call->engine, processor, add_recent, call);
    }
    return status;
}

const weir__admin_group weir__admin_trace = {
    (const weir__admin_row[]){
        { "trace start", "[RECORDS]",
          "records turns, sleeps and events, so many records a thread (65536)", on_trace_start,
          true, false },
        { "trace stop", NULL, "ends the recording; it is kept until the next one", on_trace_stop,
          true, false },
        { "trace read", "[CURSOR]",
          "a piece of the recording as JSON of the Trace Event Format, and where the next begins",
          on_trace_read, false, false },
        { "processors recent", "NAME",
          "the last events that a processor handled, by the thread that did it",
          on_processors_recent, false, false },
    },
    4,
};
