/*
 * engine/trace_text.c - a recording as text: the Trace Event Format, which Perfetto and
 * chrome://tracing read.
 *
 *     turns        "X" slices of their thread, called as the processor
 *     handlers     "X" slices inside of them, of the events that are measured, called as the type
 *     sleeps       "X" slices; so rounds of agents, which is where sources publish
 *     arrows       "s" where an event was posted, "f" where its handler began
 *     names        "M", of the process and its threads
 *     what is lost "C" at the end of each thread, and "otherData"
 *
 * A cursor says how far the text was made: 0 the head; | 1 + ring 32 | record 32 |, ring by ring;
 * one behind the last ring the tail. So it can be read in pieces by callers that keep nothing but
 * that number.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "engine/options.h"
#include "engine/trace.h"
#include "engine/traceparent.h"

#define NAME_MAX_BYTES 200u /* of a name that is shown; each may take six */
#define PIECE_MAX 8192u

/* A piece of text that is being made; what does not fit is not there. */
typedef struct piece {
    size_t length;
    char bytes[PIECE_MAX];
} piece;

__attribute__((format(printf, 2, 3))) static void add(piece *p, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length =
        vsnprintf(p->bytes + p->length, sizeof(p->bytes) - p->length, format, arguments);
    va_end(arguments);
    if (length > 0 && (size_t)length < sizeof(p->bytes) - p->length) {
        p->length += (size_t)length;
    }
}

/* Whatever its bytes are: JSON. */
static void add_quoted(piece *p, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t left = strnlen(text, NAME_MAX_BYTES);
    add(p, "\"");
    while (left > 0) {
        const size_t length = weir__utf8_check(s, left);
        if (length == 0) {
            add(p, "\\ufffd");
        } else if (s[0] == '"' || s[0] == '\\') {
            add(p, "\\%c", s[0]);
        } else if (s[0] < 0x20 || s[0] == 0x7f) {
            add(p, "\\u%04x", s[0]);
        } else {
            add(p, "%.*s", (int)length, (const char *)s);
        }
        s += length > 0 ? length : 1;
        left -= length > 0 ? length : 1;
    }
    add(p, "\"");
}

static void add_processor(piece *p, weir_engine *engine, uint64_t id)
{
    char name[WEIR__NAME_SIZE];
    const weir_processor processor = { id };
    if (id == 0) {
        (void)snprintf(name, sizeof(name), "(outside)");
    } else if (weir_processor_name(engine, processor, name, sizeof(name)) == 0) {
        (void)snprintf(name, sizeof(name), "(gone) %" PRIx64, id);
    }
    add_quoted(p, name);
}

static void add_type(piece *p, uint64_t what)
{
    const weir_event_type *type = (const weir_event_type *)(uintptr_t)what;
    add_quoted(p, type != NULL && type->name != NULL ? type->name : "?");
}

static uint32_t tid_of(const weir__recorder *recorder, const weir__trace_ring *ring)
{
    return ring->system_id != 0 ? ring->system_id : (uint32_t)(ring - recorder->rings) + 1;
}

/* What each event begins with. Times are in us, since the recording began. */
static void begin(piece *p, const weir__recorder *recorder, const weir__trace_ring *ring,
                  const char *phase, weir_ns time)
{
    const weir_ns since = time - recorder->began;
    const weir_ns size = since < 0 ? -since : since;
    add(p, ",\n{\"ph\":\"%s\",\"pid\":%ld,\"tid\":%u,\"ts\":%s%" PRId64 ".%03d", phase,
        (long)getpid(), tid_of(recorder, ring), since < 0 ? "-" : "", size / 1000,
        (int)(size % 1000));
}

static void add_length(piece *p, weir_ns length)
{
    add(p, ",\"dur\":%" PRId64 ".%03d", length / 1000, (int)(length % 1000));
}

static void add_core(piece *p, const weir__trace_record *record)
{
    if (record->core != 0) {
        add(p, ",\"core\":%u", record->core - 1u);
    }
}

/* ---- one of each kind ---- */

static void put_turn(piece *p, weir_engine *engine, const weir__recorder *recorder,
                     const weir__trace_ring *ring, const weir__trace_record *record)
{
    char name[WEIR__NAME_SIZE] = "(its own)";
    const weir_ns length = weir__trace_turn_length(record);
    weir__mutex_lock(&engine->registry.lock);
    if (record->extra < weir__dispatchers_count(engine) &&
        engine->dispatchers[record->extra]->name != NULL) {
        (void)snprintf(name, sizeof(name), "%s", engine->dispatchers[record->extra]->name);
    } else if (record->extra == WEIR__STRETCH_MIXED) {
        (void)snprintf(name, sizeof(name), "(several)");
    }
    weir__mutex_unlock(&engine->registry.lock);
    begin(p, recorder, ring, "X", record->end - length);
    add_length(p, length);
    add(p, ",\"cat\":\"turn\",\"name\":");
    if (record->who != 0) {
        add_processor(p, engine, record->who);
    } else {
        add(p, "\"(several)\"");
    }
    add(p, ",\"args\":{\"turns\":%u,\"events\":%u,\"dispatcher\":", weir__trace_turn_count(record),
        record->count);
    add_quoted(p, name);
    add_core(p, record);
    add(p, "}}");
}

static void put_park(piece *p, const weir__recorder *recorder, const weir__trace_ring *ring,
                     const weir__trace_record *record)
{
    const weir_ns length = (weir_ns)record->what;
    begin(p, recorder, ring, "X", record->end - length);
    add_length(p, length);
    add(p, ",\"cat\":\"park\",\"name\":\"parked\",\"args\":{\"woken\":%s",
        record->count != 0 ? "true" : "false");
    add_core(p, record);
    add(p, "}}");
}

static void put_agents(piece *p, const weir__recorder *recorder, const weir__trace_ring *ring,
                       const weir__trace_record *record)
{
    const weir_ns length = (weir_ns)record->what;
    begin(p, recorder, ring, "X", record->end - length);
    add_length(p, length);
    add(p, ",\"cat\":\"agents\",\"name\":\"agents\",\"args\":{\"hosted\":true");
    add_core(p, record);
    add(p, "}}");
}

/* An arrow is called by its receiver and its time: both ends know that. */
static void put_arrow(piece *p, const weir__recorder *recorder, const weir__trace_ring *ring,
                      const char *phase, weir_ns at, uint64_t receiver, weir_ns posted)
{
    begin(p, recorder, ring, phase, at);
    add(p, ",\"cat\":\"event\",\"name\":\"event\",\"id\":\"%" PRIx64 ".%" PRIx64 "\"%s}", receiver,
        (uint64_t)posted, phase[0] == 'f' ? ",\"bp\":\"e\"" : "");
}

static void put_posted(piece *p, weir_engine *engine, const weir__recorder *recorder,
                       const weir__trace_ring *ring, const weir__trace_record *record)
{
    if (ring->foreign || record->extra != 0) { /* nothing is there for the arrow to begin in */
        begin(p, recorder, ring, "X", record->end);
        add_length(p, 1);
        add(p, ",\"cat\":\"post\",\"name\":\"post\",\"args\":{\"type\":");
        add_type(p, record->what);
        add(p, ",\"receiver\":");
        add_processor(p, engine, record->who);
        add_core(p, record);
        add(p, "}}");
    }
    put_arrow(p, recorder, ring, "s", record->end, record->who, record->end);
}

static void put_parent(piece *p, const weir__trace_record *record)
{
    weir_traceparent parent = { .flags = (uint8_t)record->count };
    char text[WEIR_TRACEPARENT_TEXT];
    memcpy(parent.trace, &record->end, sizeof(record->end));
    memcpy(parent.trace + 8, &record->who, sizeof(record->who));
    memcpy(parent.parent, &record->what, sizeof(record->what));
    weir_traceparent_text(&parent, text);
    add(p, ",\"traceparent\":\"%s\"", text);
}

/* The record and the `more` that follow it. */
static void put_handled(piece *p, weir_engine *engine, const weir__recorder *recorder,
                        const weir__trace_ring *ring, uint32_t at, uint32_t more)
{
    const weir__trace_record *record = weir__trace_at(ring, at);
    const weir_ns length = (weir_ns)((uint64_t)record->extra << 32 | record->count);
    const weir_ns began = record->end - length;
    weir_ns posted = 0;
    begin(p, recorder, ring, "X", began);
    add_length(p, length);
    add(p, ",\"cat\":\"handler\",\"name\":");
    add_type(p, record->what);
    add(p, ",\"args\":{\"type\":");
    add_type(p, record->what);
    add_core(p, record);
    for (uint32_t i = 1; i <= more; i++) {
        const weir__trace_record *next = weir__trace_at(ring, at + i);
        if (next->kind == WEIR__TRACE_PARENT) {
            put_parent(p, next);
            continue;
        }
        posted = next->end;
        add(p, ",\"sender\":");
        add_processor(p, engine, next->who);
        add(p, ",\"bytes\":%u,\"flow\":\"%" PRIx64 "\",\"queueing_ns\":%" PRId64, next->count,
            next->what, began - posted);
    }
    add(p, "}}");
    if (weir__recorder_knows(recorder, record->who, posted)) {
        put_arrow(p, recorder, ring, "f", began, record->who, posted);
    }
}

/* The records from `at` on that belong together. Returns how many. */
static uint32_t put_record(piece *p, weir_engine *engine, const weir__recorder *recorder,
                           const weir__trace_ring *ring, uint32_t at)
{
    const uint32_t held = weir__trace_held(ring);
    const weir__trace_record *record = weir__trace_at(ring, at);
    uint32_t more = 0;
    while (at + more + 1 < held && weir__trace_follows(weir__trace_at(ring, at + more + 1))) {
        more++;
    }
    switch ((weir__trace_kind)record->kind) {
    case WEIR__TRACE_TURN:
        put_turn(p, engine, recorder, ring, record);
        break;
    case WEIR__TRACE_PARK:
        put_park(p, recorder, ring, record);
        break;
    case WEIR__TRACE_AGENTS:
        put_agents(p, recorder, ring, record);
        break;
    case WEIR__TRACE_POSTED:
        put_posted(p, engine, recorder, ring, record);
        break;
    case WEIR__TRACE_HANDLED:
        put_handled(p, engine, recorder, ring, at, more);
        break;
    case WEIR__TRACE_NONE:
    case WEIR__TRACE_CAME: /* what they speak of was overwritten */
    case WEIR__TRACE_PARENT:
    default:
        break;
    }
    return more + 1;
}

/* ---- around them ---- */

static void put_head(piece *p, weir_engine *engine)
{
    add(p,
        "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
        "{\"ph\":\"M\",\"pid\":%ld,\"tid\":0,\"ts\":0,\"name\":\"process_name\","
        "\"args\":{\"name\":",
        (long)getpid());
    add_quoted(p, engine->name);
    add(p, "}}");
}

static void put_thread(piece *p, const weir__recorder *recorder, const weir__trace_ring *ring)
{
    char name[WEIR__TRACE_NAME_MAX + 16];
    (void)snprintf(name, sizeof(name), "%s", ring->name);
    if (ring->foreign) {
        (void)snprintf(name, sizeof(name), "outside %u", tid_of(recorder, ring));
    }
    begin(p, recorder, ring, "M", recorder->began);
    add(p, ",\"name\":\"thread_name\",\"args\":{\"name\":");
    add_quoted(p, name);
    add(p, "}}");
}

static void put_thread_end(piece *p, const weir__recorder *recorder, const weir__trace_ring *ring)
{
    begin(p, recorder, ring, "C", recorder->ended);
    add(p, ",\"name\":\"records lost, %s %u\",\"args\":{\"lost\":%" PRIu64 "}}",
        ring->foreign ? "outside" : "thread", tid_of(recorder, ring), weir__trace_lost(ring));
}

static void put_tail(piece *p, weir__recorder *recorder)
{
    uint64_t lost = 0;
    for (uint32_t i = 0; i < weir__recorder_rings(recorder); i++) {
        lost += weir__trace_lost(&recorder->rings[i]);
    }
    add(p,
        "\n],\"otherData\":{\"records_lost\":%" PRIu64 ",\"threads_left_out\":%u,"
        "\"records_per_thread\":%u,\"length_ns\":%" PRId64 "}}\n",
        lost, weir__recorder_left_out(recorder), recorder->records,
        recorder->ended - recorder->began);
}

/* What the cursor stands at; it moves on. */
static void put_next(piece *p, weir_engine *engine, weir__recorder *recorder, uint64_t *cursor)
{
    const uint64_t ring_step = UINT64_C(1) << 32;
    const uint32_t rings = weir__recorder_rings(recorder);
    if (*cursor == WEIR__TRACE_BEGIN) {
        put_head(p, engine);
        *cursor = ring_step;
        return;
    }
    const uint32_t place = (uint32_t)(*cursor >> 32) - 1;
    if (place == rings) {
        put_tail(p, recorder);
        *cursor = WEIR__TRACE_END;
        return;
    }
    const weir__trace_ring *ring = &recorder->rings[place];
    const uint32_t at = (uint32_t)*cursor;
    if (at == 0) {
        put_thread(p, recorder, ring);
    }
    if (at < weir__trace_held(ring)) {
        *cursor += put_record(p, engine, recorder, ring, at);
        return;
    }
    put_thread_end(p, recorder, ring);
    *cursor = ring_step * ((uint64_t)place + 2);
}

/* One of those that came out of here. */
static bool is_sane(weir__recorder *recorder, uint64_t cursor)
{
    const uint32_t place = (uint32_t)(cursor >> 32);
    const uint32_t rings = weir__recorder_rings(recorder);
    if (place == 0 || place > rings) {
        return cursor == WEIR__TRACE_BEGIN || cursor == ((uint64_t)rings + 1) << 32;
    }
    return (uint32_t)cursor <= weir__trace_held(&recorder->rings[place - 1]);
}

weir_status weir__trace_text(weir_engine *engine, weir__recorder *recorder, uint64_t *cursor,
                             size_t most, bool (*put)(void *context, const char *text, size_t size),
                             void *context)
{
    size_t total = 0;
    if (*cursor != WEIR__TRACE_END && !is_sane(recorder, *cursor)) {
        return WEIR_E_INVALID;
    }
    while (*cursor != WEIR__TRACE_END && total < most) {
        piece p;
        p.length = 0;
        put_next(&p, engine, recorder, cursor);
        total += p.length;
        if (p.length > 0 && !put(context, p.bytes, p.length)) {
            break;
        }
    }
    return WEIR_OK;
}
