/*
 * tree/write.c - walks a tree with a stack of its own, not with the program's: no depth of a file
 * can overflow it. What it writes is gathered in a buffer, so that the sink is called seldom.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tree/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tree/number.h"

enum { BUFFER_SIZE = 4096, FRAMES_FIRST = 16, INDENT = 2 };

typedef enum form { JSON_LINES, JSON_LINE, HOCON_LINE } form;

/* A list or an object that has been opened. */
typedef struct frame {
    const weir__node *node;
    size_t next;                 /* its first item that is not written yet */
    const weir__member **sorted; /* of an object whose keys were out of order */
} frame;

typedef struct writer {
    const weir_allocator *allocator;
    form form;
    weir__sink sink;
    void *context;
    frame *frames;
    size_t depth, capacity;
    size_t used;
    char buffer[BUFFER_SIZE];
} writer;

/* --- bytes ------------------------------------------------------------------------------------ */

static bool flush(writer *w)
{
    const size_t used = w->used;
    w->used = 0;
    return used == 0 || w->sink(w->context, w->buffer, used);
}

static bool put(writer *w, const char *bytes, size_t length)
{
    while (length > BUFFER_SIZE - w->used) {
        const size_t part = BUFFER_SIZE - w->used;
        memcpy(w->buffer + w->used, bytes, part);
        w->used = BUFFER_SIZE;
        bytes += part;
        length -= part;
        if (!flush(w)) {
            return false;
        }
    }
    if (length > 0) {
        memcpy(w->buffer + w->used, bytes, length);
        w->used += length;
    }
    return true;
}

static bool put_word(writer *w, const char *word)
{
    return put(w, word, strlen(word));
}

/* The bytes of the character at `s` that has to be written in another way: quotes, and whatever a
 * terminal would act upon; 0: none. */
static size_t special(const unsigned char *s, size_t left)
{
    if (s[0] == 0xc2 && left > 1 && s[1] < 0xa0) {
        return 2;
    }
    return s[0] < 0x20 || s[0] == 0x7f || s[0] == '"' || s[0] == '\\' ? 1 : 0;
}

static bool put_escaped(writer *w, const unsigned char *s, size_t length)
{
    static const char plain[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *known = s[0] != '\0' ? strchr(plain, s[0]) : NULL;
    char escape[8];
    if (length == 1 && known != NULL) {
        snprintf(escape, sizeof(escape), "\\%c", letters[known - plain]);
    } else {
        snprintf(escape, sizeof(escape), "\\u%04x", (unsigned)s[length - 1]);
    }
    return put_word(w, escape);
}

/* HOCON's quoted strings are JSON's. */
static bool put_quoted(writer *w, weir__text text)
{
    const unsigned char *s = (const unsigned char *)text.bytes;
    size_t from = 0;
    bool good = put(w, "\"", 1);
    for (size_t i = 0; good && i < text.length;) {
        const size_t length = special(s + i, text.length - i);
        if (length == 0) {
            i++;
            continue;
        }
        good = put(w, text.bytes + from, i - from) && put_escaped(w, s + i, length);
        i += length;
        from = i;
    }
    return good && put(w, text.bytes + from, text.length - from) && put(w, "\"", 1);
}

/* --- values ----------------------------------------------------------------------------------- */

/* HOCON's numbers are more than JSON's: 007, 1., -.5, 1.e3. Others stay as they were written. */
static bool put_number(writer *w, weir__text text)
{
    weir__number number;
    const char last = text.length > 0 ? text.bytes[text.length - 1] : '\0';
    if (!weir__number_scan(text.bytes, text.length, &number) || number.hexadecimal ||
        ((last < '0' || last > '9') && last != '.')) {
        return put_quoted(w, text); /* nothing that a reader makes; it stays readable */
    }
    while (number.before.length > 1 && number.before.bytes[0] == '0') {
        number.before.bytes++;
        number.before.length--;
    }
    bool good = !number.negative || put(w, "-", 1);
    good = good && (number.before.length > 0 ? put(w, number.before.bytes, number.before.length)
                                             : put(w, "0", 1));
    if (number.after.length > 0) {
        good = good && put(w, ".", 1) && put(w, number.after.bytes, number.after.length);
    }
    const char *digits_end = number.after.length > 0 ? number.after.bytes + number.after.length
                                                     : number.before.bytes + number.before.length;
    const char *end = text.bytes + text.length;
    const char *e = digits_end;
    while (e < end && *e != 'e' && *e != 'E') {
        e++;
    }
    /* The exponent as it was written: it may be of any size. */
    return good && (e == end || put(w, e, (size_t)(end - e)));
}

static bool is_plain_key(weir__text key)
{
    for (size_t i = 0; i < key.length; i++) {
        const char c = key.bytes[i];
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (i == 0 || !((c >= '0' && c <= '9') || c == '-'))) {
            return false;
        }
    }
    /* `include` at the beginning of a field is a statement. */
    return key.length > 0 && !(key.length == 7 && memcmp(key.bytes, "include", 7) == 0);
}

static bool put_key(writer *w, weir__text key)
{
    if (w->form == HOCON_LINE) {
        return (is_plain_key(key) ? put(w, key.bytes, key.length) : put_quoted(w, key)) &&
               put(w, " = ", 3);
    }
    return put_quoted(w, key) && put(w, ": ", 2);
}

static bool put_scalar(writer *w, const weir__node *node)
{
    switch (node->kind) {
    case WEIR__NULL:
        return put(w, "null", 4);
    case WEIR__BOOLEAN:
        return put_word(w, node->truth ? "true" : "false");
    case WEIR__NUMBER:
        return put_number(w, node->text);
    default:
        return put_quoted(w, node->text);
    }
}

static bool put_line_break(writer *w)
{
    static const char blanks[] = "                                ";
    bool good = put(w, "\n", 1);
    for (size_t left = w->depth * INDENT; good && left > 0;) {
        const size_t part = left < sizeof(blanks) - 1 ? left : sizeof(blanks) - 1;
        good = put(w, blanks, part);
        left -= part;
    }
    return good;
}

/* --- the walk --------------------------------------------------------------------------------- */

static size_t count_of(const weir__node *node)
{
    return node->kind == WEIR__LIST     ? node->list.count
           : node->kind == WEIR__OBJECT ? node->object.count
                                        : 0;
}

static int compare_keys(const weir__member *a, const weir__member *b)
{
    const size_t shorter = a->key.length < b->key.length ? a->key.length : b->key.length;
    const int order = shorter > 0 ? memcmp(a->key.bytes, b->key.bytes, shorter) : 0;
    return order != 0 ? order : (a->key.length > b->key.length) - (a->key.length < b->key.length);
}

static int compare_members(const void *a, const void *b)
{
    return compare_keys(*(const weir__member *const *)a, *(const weir__member *const *)b);
}

static bool is_sorted(const weir__node *object)
{
    const weir__member *members = object->object.members;
    for (size_t i = 1; i < object->object.count; i++) {
        if (compare_keys(&members[i - 1], &members[i]) > 0) {
            return false;
        }
    }
    return true;
}

static bool sort(writer *w, frame *f)
{
    const size_t count = f->node->object.count;
    f->sorted = weir__allocate_raw(w->allocator, count * sizeof(const weir__member *));
    if (f->sorted == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        f->sorted[i] = &f->node->object.members[i];
    }
    qsort((void *)f->sorted, count, sizeof(const weir__member *), compare_members);
    return true;
}

static bool push(writer *w, const weir__node *node)
{
    if (w->depth == w->capacity) {
        const size_t capacity = w->capacity == 0 ? FRAMES_FIRST : w->capacity * 2;
        frame *frames = weir__allocate_raw(w->allocator, capacity * sizeof(*frames));
        if (frames == NULL) {
            return false;
        }
        if (w->depth > 0) {
            memcpy(frames, w->frames, w->depth * sizeof(*frames));
        }
        weir__release(w->allocator, w->frames, w->capacity * sizeof(*frames));
        w->frames = frames;
        w->capacity = capacity;
    }
    frame *f = &w->frames[w->depth++];
    *f = (frame){ .node = node };
    return w->form == HOCON_LINE || node->kind != WEIR__OBJECT || is_sorted(node) || sort(w, f);
}

static void pop(writer *w)
{
    const frame *f = &w->frames[--w->depth];
    if (f->sorted != NULL) {
        weir__release(w->allocator, (void *)f->sorted,
                      f->node->object.count * sizeof(const weir__member *));
    }
}

/* A scalar or an empty one as it is; else its first line, and the rest is the stack's. */
static bool open_value(writer *w, const weir__node *node)
{
    if (node->kind != WEIR__LIST && node->kind != WEIR__OBJECT) {
        return put_scalar(w, node);
    }
    const bool list = node->kind == WEIR__LIST;
    if (count_of(node) == 0) {
        return put(w, list ? "[]" : "{}", 2);
    }
    return put(w, list ? "[" : "{", 1) && push(w, node);
}

static bool step(writer *w)
{
    frame *f = &w->frames[w->depth - 1];
    const bool list = f->node->kind == WEIR__LIST;
    if (f->next == count_of(f->node)) {
        pop(w);
        return (w->form != JSON_LINES || put_line_break(w)) && put(w, list ? "]" : "}", 1);
    }
    if (f->next > 0 && !put(w, ",", 1)) {
        return false;
    }
    if (w->form == JSON_LINES ? !put_line_break(w) : f->next > 0 && !put(w, " ", 1)) {
        return false;
    }
    const size_t i = f->next++;
    if (list) {
        return open_value(w, f->node->list.items[i]);
    }
    const weir__member *member = f->sorted != NULL ? f->sorted[i] : &f->node->object.members[i];
    return put_key(w, member->key) && open_value(w, member->value);
}

static bool write_value(const weir__tree *tree, const weir__node *node, form how, weir__sink sink,
                        void *context)
{
    writer w = { .allocator = tree->allocator, .form = how, .sink = sink, .context = context };
    bool good = open_value(&w, node);
    while (good && w.depth > 0) {
        good = step(&w);
    }
    while (w.depth > 0) {
        pop(&w);
    }
    weir__release(w.allocator, w.frames, w.capacity * sizeof(*w.frames));
    return good && (how != JSON_LINES || put(&w, "\n", 1)) && flush(&w);
}

bool weir__write_json(const weir__tree *tree, const weir__node *node, weir__sink sink,
                      void *context)
{
    return write_value(tree, node, JSON_LINES, sink, context);
}

bool weir__write_json_line(const weir__tree *tree, const weir__node *node, weir__sink sink,
                           void *context)
{
    return write_value(tree, node, JSON_LINE, sink, context);
}

bool weir__write_hocon(const weir__tree *tree, const weir__node *node, weir__sink sink,
                       void *context)
{
    return write_value(tree, node, HOCON_LINE, sink, context);
}
