/*
 * host/admin_answer.c - the handler's side of a call, and its answer as JSON.
 *
 * Whatever bytes a handler gives become valid JSON: what is not UTF-8 is shown as U+FFFD, numbers
 * that JSON does not have are null, and an answer that is too long is cut between two fields.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "engine/engine.h"
#include "host/admin.h"

/* ---- what a handler reads ---- */

size_t weir_admin_argument_count(const weir_admin_call *call)
{
    return call != NULL ? call->argument_count : 0;
}

const char *weir_admin_argument(const weir_admin_call *call, size_t i)
{
    return call != NULL && i < call->argument_count ? call->arguments[i] : NULL;
}

weir_engine *weir_admin_engine(const weir_admin_call *call)
{
    return call != NULL ? call->engine : NULL;
}

weir_turn *weir_admin_turn(const weir_admin_call *call)
{
    return call != NULL ? call->turn : NULL;
}

/* ---- pieces of JSON ---- */

static bool add(weir__textbuf *out, const char *text)
{
    return weir__textbuf_append(out, text, strlen(text));
}

/* What stands for the character at `s`, of which `length` bytes (0: it is none) are there. NULL: it
 * stands for itself. */
static const char *escape_of(const unsigned char *s, size_t length, char *buffer, size_t size)
{
    if (length == 0) {
        return "\xef\xbf\xbd"; /* U+FFFD */
    }
    switch (s[0]) {
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '\n':
        return "\\n";
    case '\t':
        return "\\t";
    case '\r':
        return "\\r";
    default:
        break;
    }
    if (s[0] < 0x20 || s[0] == 0x7f) {
        snprintf(buffer, size, "\\u%04x", s[0]);
        return buffer;
    }
    return NULL;
}

bool weir__admin_quote(weir__textbuf *out, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t left = strlen(text);
    size_t run = 0; /* bytes before s that stand for themselves */
    bool ok = weir__textbuf_append(out, "\"", 1);
    while (left > 0 && ok) {
        char buffer[8];
        const size_t length = weir__utf8_check(s, left);
        const char *escape = escape_of(s, length, buffer, sizeof(buffer));
        const size_t step = length > 0 ? length : 1;
        if (escape != NULL) {
            ok = weir__textbuf_append(out, (const char *)s - run, run) && add(out, escape);
            run = 0;
        } else {
            run += step;
        }
        s += step;
        left -= step;
    }
    return ok && weir__textbuf_append(out, (const char *)s - run, run) &&
           weir__textbuf_append(out, "\"", 1);
}

/* ---- what a handler writes ---- */

/* Takes back what does not fit. */
static void settle(weir_admin_call *call, size_t length, bool row_open, bool ok)
{
    if (ok && call->rows.length <= WEIR__ADMIN_ANSWER_MAX) {
        return;
    }
    call->no_memory = call->no_memory || !ok;
    call->cut = call->cut || ok;
    call->rows.length = length;
    call->row_open = row_open;
}

static void add_field(weir_admin_call *call, const char *key, const char *value, bool quoted)
{
    if (call == NULL || key == NULL || weir__admin_is_full(call)) {
        return;
    }
    const size_t length = call->rows.length;
    const bool was_open = call->row_open;
    bool ok = add(&call->rows, was_open ? ", " : length > 0 ? ", {" : "{");
    call->row_open = true;
    ok = ok && weir__admin_quote(&call->rows, key) && add(&call->rows, ": ") &&
         (quoted ? weir__admin_quote(&call->rows, value) : add(&call->rows, value));
    settle(call, length, was_open, ok);
}

void weir_admin_row(weir_admin_call *call)
{
    if (call != NULL && call->row_open) {
        const size_t length = call->rows.length;
        call->row_open = false;
        if (!weir__textbuf_append(&call->rows, "}", 1)) {
            settle(call, length, true, false);
        }
    }
}

void weir_admin_text(weir_admin_call *call, const char *key, const char *value)
{
    add_field(call, key, value != NULL ? value : "null", value != NULL);
}

void weir_admin_number(weir_admin_call *call, const char *key, int64_t value)
{
    char text[32];
    snprintf(text, sizeof(text), "%" PRId64, value);
    add_field(call, key, text, false);
}

void weir_admin_unsigned(weir_admin_call *call, const char *key, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof(text), "%" PRIu64, value);
    add_field(call, key, text, false);
}

void weir_admin_real(weir_admin_call *call, const char *key, double value)
{
    char text[48];
    if (!(value >= -DBL_MAX && value <= DBL_MAX)) {
        add_field(call, key, "null", false);
        return;
    }
    snprintf(text, sizeof(text), "%.15g", value);
    for (char *c = text; *c != '\0'; c++) { /* the locale's point may be a comma */
        if (strchr("0123456789+-eE", *c) == NULL) {
            *c = '.';
        }
    }
    add_field(call, key, text, false);
}

void weir_admin_bool(weir_admin_call *call, const char *key, bool value)
{
    add_field(call, key, value ? "true" : "false", false);
}

weir_status weir_admin_fail(weir_admin_call *call, weir_status status, const char *format, ...)
{
    if (call != NULL && format != NULL) {
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(call->error, sizeof(call->error), format, arguments);
        va_end(arguments);
    }
    return status;
}

/* ---- the whole ---- */

static bool add_answer(weir__textbuf *out, const char *command, weir_status status,
                       const weir_admin_call *call, const char *error)
{
    bool ok = add(out, "{\"command\": ") && weir__admin_quote(out, command) &&
              add(out, ", \"status\": ") && weir__admin_quote(out, weir_status_name(status)) &&
              add(out, ", \"rows\": [");
    if (call != NULL && call->rows.length > 0) {
        ok = ok && weir__textbuf_append(out, call->rows.bytes, call->rows.length) &&
             add(out, call->row_open ? "}" : "");
    }
    ok = ok && add(out, "]");
    if (call != NULL && call->cut) {
        ok = ok && add(out, ", \"cut\": true");
    }
    if (status != WEIR_OK) {
        ok = ok && add(out, ", \"error\": ") && weir__admin_quote(out, error);
    }
    return ok && add(out, "}");
}

char *weir__admin_answer(weir_engine *engine, const char *command, weir_status status,
                         const weir_admin_call *call, const char *error)
{
    weir__textbuf out = { .allocator = &engine->allocator };
    char *answer = NULL;
    if (add_answer(&out, command, status, call, error)) {
        (void)weir__copy_text(&engine->allocator, out.bytes, &answer);
    }
    weir__textbuf_close(&out);
    return answer;
}

void weir_admin_free(weir_engine *engine, char *answer)
{
    if (engine != NULL) {
        weir__release_text(&engine->allocator, answer);
    }
}
