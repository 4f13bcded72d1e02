/*
 * connect/frame.c - finds the end of the frame at the head of the buffer. Nothing before `scanned`
 * is looked at twice; of a line that is too long only its beginning is kept, of a frame that is too
 * long nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/assert.h"
#include "connect/frame.h"

const char *const weir__format_words[] = { "lines", "json-lines", "length-prefixed", NULL };
const char *const weir__too_long_words[] = { "drop", "cut", NULL };
const char *const weir__byte_order_words[] = { "big", "little", NULL };

enum { READ_SIZE = 64 * 1024 };

const weir_event_type *weir__format_type(int64_t format)
{
    return format == WEIR__FORMAT_LENGTH_PREFIXED ? &weir_bytes_type : &weir_text_type;
}

static bool is_lines(const weir__framer *f)
{
    return f->config.format != WEIR__FORMAT_LENGTH_PREFIXED;
}

/* Of a line, so many bytes are kept: its carriage return is one of them. */
static size_t kept_max(const weir__framer *f)
{
    return (size_t)f->config.max + 1;
}

static size_t capacity_max(const weir__framer *f)
{
    return kept_max(f) + (size_t)f->config.length_bytes + f->read_size;
}

bool weir__framer_open(weir__framer *f, const weir__frame_config *config, size_t read_size,
                       uint64_t position)
{
    *f = (weir__framer){ .config = *config, .read_size = read_size > 0 ? read_size : READ_SIZE };
    WEIR_ASSERT(config->max > 0 && config->max <= SIZE_MAX / 4);
    WEIR_ASSERT(is_lines(f) || (config->length_bytes >= 1 && config->length_bytes <= 8));
    f->buffer = malloc(f->read_size);
    f->capacity = f->read_size;
    f->position = position;
    return f->buffer != NULL;
}

void weir__framer_close(weir__framer *f)
{
    free(f->buffer);
    f->buffer = NULL;
    f->capacity = f->begin = f->end = 0;
}

void weir__framer_reset(weir__framer *f, uint64_t position)
{
    f->begin = f->end = f->scanned = 0;
    f->skip = f->skipped = 0;
    f->position = position;
    f->ended = f->shown = false;
}

/* More memory, if that is allowed and there is some. */
static void grow(weir__framer *f)
{
    const size_t most = capacity_max(f);
    size_t wanted = f->capacity * 2;
    if (wanted < f->end + f->read_size) {
        wanted = f->end + f->read_size;
    }
    if (wanted > most) {
        wanted = most;
    }
    if (wanted <= f->capacity) {
        return;
    }
    char *larger = realloc(f->buffer, wanted);
    if (larger != NULL) {
        f->buffer = larger;
        f->capacity = wanted;
    }
}

char *weir__framer_room(weir__framer *f, size_t *size)
{
    f->shown = false;
    if (f->capacity - f->end < f->read_size && f->begin > 0) {
        memmove(f->buffer, f->buffer + f->begin, f->end - f->begin);
        f->end -= f->begin;
        f->begin = 0;
    }
    if (f->capacity - f->end < f->read_size) {
        grow(f);
    }
    *size = f->capacity - f->end;
    return *size > 0 ? f->buffer + f->end : NULL;
}

void weir__framer_fed(weir__framer *f, size_t size)
{
    WEIR_ASSERT(size <= f->capacity - f->end);
    f->end += size;
    f->ended = false;
    f->shown = false;
}

void weir__framer_end(weir__framer *f)
{
    f->ended = true;
}

static weir__frame_what bad(weir__framer *f, weir__frame_why why, const char *text)
{
    f->frame.why = why;
    f->frame.text = text;
    return WEIR__FRAME_BAD;
}

static weir__frame_what check_json(weir__framer *f)
{
    const weir__frame *frame = &f->frame;
    json_error_t error;
    json_t *value = json_loadb(frame->data, frame->size, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    if (value != NULL) {
        json_decref(value);
        return WEIR__FRAME_READY;
    }
    snprintf(f->text, sizeof(f->text), "not JSON, at byte %d: %.60s", error.position, error.text);
    for (char *c = f->text; *c != '\0'; c++) { /* it quotes the line: no controls for terminals */
        if ((unsigned char)*c < ' ' || *c == 0x7f) {
            *c = '?';
        }
    }
    return bad(f, WEIR__FRAME_NOT_JSON, f->text);
}

static bool is_blank(const char *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (data[i] != ' ' && data[i] != '\t' && data[i] != '\r') {
            return false;
        }
    }
    return true;
}

/* A line that takes `length` bytes of the buffer, and a newline, or the end of the input. */
static weir__frame_what whole_line(weir__framer *f, size_t length, bool newline)
{
    weir__frame *frame = &f->frame;
    const uint64_t max = f->config.max;
    *frame = (weir__frame){
        .data = f->buffer + f->begin, .size = length, .begin = f->position, .text = ""
    };
    f->frame_bytes = length + newline;
    frame->end = f->position + f->skipped + f->frame_bytes;
    if (newline && length > 0 && !f->config.keep_cr && frame->data[length - 1] == '\r') {
        frame->size--;
    }
    const bool json = f->config.format == WEIR__FORMAT_JSON_LINES;
    if (frame->size <= max && f->skipped == 0) {
        return json ? check_json(f) : WEIR__FRAME_READY;
    }
    frame->size = frame->size <= max ? frame->size : (size_t)max;
    const bool cut = f->config.too_long != 0 && !json;
    snprintf(f->text, sizeof(f->text), "a line of %llu bytes, max-line is %llu: %s",
             (unsigned long long)(frame->end - frame->begin - newline), (unsigned long long)max,
             cut ? "cut" : "dropped");
    bad(f, WEIR__FRAME_TOO_LONG, f->text);
    return cut ? WEIR__FRAME_READY : WEIR__FRAME_BAD;
}

static void pass_over(weir__framer *f, size_t size)
{
    f->begin += size;
    f->position += size;
    f->scanned = 0;
}

static weir__frame_what next_line(weir__framer *f)
{
    for (;;) {
        const char *head = f->buffer + f->begin;
        const size_t waits = f->end - f->begin;
        const char *newline = NULL;
        if (waits > f->scanned) {
            newline = memchr(head + f->scanned, '\n', waits - f->scanned);
        }
        if (newline == NULL) {
            break;
        }
        const size_t length = (size_t)(newline - head);
        if (f->config.format == WEIR__FORMAT_JSON_LINES && f->skipped == 0 &&
            length <= kept_max(f) && is_blank(head, length)) {
            pass_over(f, length + 1);
            continue;
        }
        return whole_line(f, length, true);
    }
    size_t waits = f->end - f->begin;
    if (waits > kept_max(f)) {
        f->skipped += waits - kept_max(f);
        waits = kept_max(f);
        f->end = f->begin + waits;
    }
    f->scanned = waits;
    if (!f->ended || waits == 0) {
        return WEIR__FRAME_NONE;
    }
    if (f->config.format == WEIR__FORMAT_JSON_LINES && f->skipped == 0 &&
        is_blank(f->buffer + f->begin, waits)) {
        pass_over(f, waits);
        return WEIR__FRAME_NONE;
    }
    return whole_line(f, waits, false);
}

static uint64_t read_length(const weir__framer *f)
{
    const unsigned char *bytes = (const unsigned char *)f->buffer + f->begin;
    const size_t width = (size_t)f->config.length_bytes;
    uint64_t length = 0;
    for (size_t i = 0; i < width; i++) {
        length = length << 8 | bytes[f->config.length_order == 0 ? i : width - 1 - i];
    }
    return length;
}

/* Of a frame that was too long and taken. */
static void skip_some(weir__framer *f)
{
    const size_t waits = f->end - f->begin;
    const size_t some = f->skip < waits ? (size_t)f->skip : waits;
    f->skip -= some;
    pass_over(f, some);
}

static weir__frame_what next_prefixed(weir__framer *f)
{
    weir__frame *frame = &f->frame;
    const size_t width = (size_t)f->config.length_bytes;
    skip_some(f);
    const size_t waits = f->end - f->begin;
    *frame = (weir__frame){
        .data = f->buffer + f->begin, .size = waits, .begin = f->position, .text = ""
    };
    frame->end = f->position + waits;
    f->frame_bytes = waits;
    if (waits < width || f->skip > 0) {
        return f->ended && waits > 0 ? bad(f, WEIR__FRAME_CUT_OFF, "the input ends inside a length")
                                     : WEIR__FRAME_NONE;
    }
    const uint64_t length = read_length(f);
    f->frame_length = length;
    if (length > f->config.max) {
        frame->size = width;
        frame->end =
            length > UINT64_MAX - width - f->position ? UINT64_MAX : f->position + width + length;
        f->frame_bytes = width;
        snprintf(f->text, sizeof(f->text), "a frame of %llu bytes, max-line is %llu: dropped",
                 (unsigned long long)length, (unsigned long long)f->config.max);
        return bad(f, WEIR__FRAME_TOO_LONG, f->text);
    }
    if (waits - width < length) {
        return f->ended ? bad(f, WEIR__FRAME_CUT_OFF, "the input ends inside a frame")
                        : WEIR__FRAME_NONE;
    }
    frame->data += width;
    frame->size = (size_t)length;
    f->frame_bytes = width + (size_t)length;
    frame->end = f->position + f->frame_bytes;
    return WEIR__FRAME_READY;
}

weir__frame_what weir__framer_next(weir__framer *f, weir__frame *frame)
{
    if (!f->shown) {
        f->what = is_lines(f) ? next_line(f) : next_prefixed(f);
        if (f->what == WEIR__FRAME_NONE) {
            return WEIR__FRAME_NONE;
        }
        f->shown = true;
    }
    *frame = f->frame;
    return f->what;
}

void weir__framer_take(weir__framer *f)
{
    WEIR_ASSERT(f->shown);
    f->shown = false;
    f->frames += f->what == WEIR__FRAME_READY;
    f->too_long += f->frame.why == WEIR__FRAME_TOO_LONG;
    f->not_json += f->frame.why == WEIR__FRAME_NOT_JSON;
    f->cut_off += f->frame.why == WEIR__FRAME_CUT_OFF;
    f->begin += f->frame_bytes;
    f->scanned = 0;
    f->skipped = 0;
    f->position = f->frame.end;
    if (!is_lines(f) && f->frame.why == WEIR__FRAME_TOO_LONG) {
        f->skip_from = f->frame.begin;
        f->position = f->frame.begin + f->frame_bytes;
        f->skip = f->frame_length;
    }
    if (f->begin == f->end) {
        f->begin = f->end = 0;
    }
}

uint64_t weir__framer_done(const weir__framer *f)
{
    return f->skip > 0 ? f->skip_from : f->position;
}

bool weir__framer_partial(const weir__framer *f)
{
    return f->end > f->begin || f->skip > 0;
}
