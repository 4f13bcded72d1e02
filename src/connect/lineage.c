/*
 * connect/lineage.c - the trace context of a line, in and out.
 *
 * A line that goes out keeps every byte but those of the field: it is not printed anew, since that
 * would change numbers and spaces that are not ours. Jansson says whether it is JSON; after that
 * a few lines here find the field.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "connect/lineage.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "weir/trace.h"

/* ---- in ---- */

weir_status weir__lineage_in_open(weir__lineage_in *in, weir_component *self, const char *field,
                                  weir_error *error)
{
    *in = (weir__lineage_in){ .self = self };
    if (field == NULL) {
        return WEIR_OK;
    }
    in->pick = weir__pick_open(&(weir__pick_config){ .field = field }, false,
                               weir_component_name(self), error);
    return in->pick != NULL ? WEIR_OK : error->status;
}

void weir__lineage_in_close(weir__lineage_in *in)
{
    weir__pick_close(in->pick);
    in->pick = NULL;
}

weir_status weir__lineage_take(weir__lineage_in *in, const void *line, size_t size)
{
    weir_traceparent parent;
    const char *text = NULL;
    size_t length = 0;
    if (in->pick == NULL || weir__pick_run(in->pick, line, size, &text, &length) != WEIR__PICKED) {
        return WEIR_OK; /* most have none */
    }
    if (length == strlen("null") && memcmp(text, "null", length) == 0) {
        return WEIR_OK; /* says that it has none */
    }
    if (weir_traceparent_read(text, length, &parent) != WEIR_OK) {
        weir__complain(&in->none, in->self, WEIR_E_INVALID,
                       "a line has no traceparent where one should be: wanted is "
                       "00-, 32 digits, -, 16 digits, -, 2 digits; it goes without");
        return WEIR_OK;
    }
    return weir_engine_traceparent_set(weir_component_engine(in->self), &parent);
}

void weir__lineage_drop(weir__lineage_in *in)
{
    if (in->pick != NULL) {
        (void)weir_engine_traceparent_set(weir_component_engine(in->self), NULL);
    }
}

/* ---- out ---- */

weir_status weir__lineage_out_open(weir__lineage_out *out, const char *field, const char *who,
                                   weir_error *error)
{
    *out = (weir__lineage_out){ .field = field };
    bool good = field == NULL || field[0] != '\0';
    for (const char *c = field; c != NULL && *c != '\0'; c++) {
        good = good && (unsigned char)*c >= 0x20 && strchr("\"\\.", *c) == NULL;
    }
    return good ? WEIR_OK
                : weir__error_at(error, WEIR_E_CONFIG, who,
                                 "traceparent is '%s': the name of a field is wanted, without "
                                 "dots, quotes and backslashes",
                                 field);
}

void weir__lineage_out_close(weir__lineage_out *out)
{
    free(out->text);
    *out = (weir__lineage_out){ 0 };
}

/* A text that is known to be an object, and how far it was looked at. */
typedef struct scan {
    const char *text;
    size_t size, at;
} scan;

static void skip_blanks(scan *s)
{
    while (s->at < s->size && strchr(" \t\r\n", s->text[s->at]) != NULL && s->text[s->at] != '\0') {
        s->at++;
    }
}

static void skip_string(scan *s)
{
    for (s->at++; s->at < s->size && s->text[s->at] != '"'; s->at++) {
        s->at += s->text[s->at] == '\\';
    }
    s->at++;
}

/* Of any kind: up to the comma or the brace behind it, blanks included. */
static void skip_value(scan *s)
{
    size_t depth = 0;
    while (s->at < s->size) {
        const char c = s->text[s->at];
        if (c == '"') {
            skip_string(s);
            continue;
        }
        if (depth == 0 && (c == ',' || c == '}')) {
            return;
        }
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        s->at++;
    }
}

/* Where the new text goes, and what it takes the place of. */
typedef struct place {
    size_t begin, end;
    bool found;  /* a value is there */
    bool others; /* it is not the only member */
} place;

/* The last member of that name: so do readers. Else the end of the object. */
static place find_place(scan *s, const char *field)
{
    const size_t length = strlen(field);
    place p = { 0 };
    skip_blanks(s);
    s->at++; /* the brace */
    skip_blanks(s);
    while (s->at < s->size && s->text[s->at] == '"') {
        const char *name = s->text + s->at + 1;
        skip_string(s);
        const size_t size = (size_t)(s->text + s->at - 1 - name);
        skip_blanks(s);
        s->at++; /* the colon */
        skip_blanks(s);
        const size_t begin = s->at;
        skip_value(s);
        if (size == length && memcmp(name, field, length) == 0) {
            p = (place){ .begin = begin, .end = s->at, .found = true };
        }
        p.others = true;
        s->at += s->at < s->size && s->text[s->at] == ',';
        skip_blanks(s);
    }
    if (!p.found) {
        p.begin = p.end = s->at; /* the last brace */
    }
    return p;
}

static weir_status is_object(const weir__payload *payload, bool *answer)
{
    json_error_t error;
    json_t *root = json_loadb(payload->data, payload->size, JSON_ALLOW_NUL, &error);
    *answer = json_is_object(root);
    const bool memory = root == NULL && json_error_code(&error) == json_error_out_of_memory;
    json_decref(root);
    return memory ? WEIR_E_NOMEM : WEIR_OK;
}

static bool make_room(weir__lineage_out *out, size_t size)
{
    if (size > out->capacity) {
        char *text = realloc(out->text, size);
        if (text == NULL) {
            return false;
        }
        out->text = text;
        out->capacity = size;
    }
    return true;
}

static size_t append(char *to, size_t at, const char *text, size_t size)
{
    memcpy(to + at, text, size);
    return at + size;
}

weir_status weir__lineage_write(weir__lineage_out *out, const char *parent, weir__payload *payload)
{
    bool object = false;
    const size_t length = strlen(out->field);
    const weir_status status = is_object(payload, &object);
    if (status != WEIR_OK || !object) {
        return status;
    }
    scan s = { payload->data, payload->size, 0 };
    const place p = find_place(&s, out->field);
    if (!make_room(out, payload->size + length + strlen(parent) + sizeof(",\"\":\"\""))) {
        return WEIR_E_NOMEM;
    }
    size_t at = append(out->text, 0, payload->data, p.begin);
    if (!p.found) {
        at = append(out->text, at, ",", p.others ? 1 : 0);
        at = append(out->text, at, "\"", 1);
        at = append(out->text, at, out->field, length);
        at = append(out->text, at, "\":", 2);
    }
    at = append(out->text, at, "\"", 1);
    at = append(out->text, at, parent, strlen(parent));
    at = append(out->text, at, "\"", 1);
    at = append(out->text, at, payload->data + p.end, payload->size - p.end);
    payload->data = out->text;
    payload->size = at;
    return WEIR_OK;
}

weir_status weir__lineage_give(weir__lineage_out *out, weir_turn *turn, weir__payload *payload)
{
    weir_traceparent parent;
    char text[WEIR_TRACEPARENT_TEXT];
    if (out->field == NULL || weir_turn_traceparent(turn, &parent) != WEIR_OK) {
        return WEIR_OK;
    }
    weir_traceparent_text(&parent, text);
    const weir_status status = weir__lineage_write(out, text, payload);
    return status == WEIR_OK
               ? status
               : weir_turn_fail(turn, status, "no memory for a line with its traceparent");
}
