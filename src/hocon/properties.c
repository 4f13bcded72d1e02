/*
 * hocon/properties.c - the files of Java: key and value in a line, all values strings.
 *
 * The dots of a key always separate names, whatever stands between them, and where one key asks for
 * a string and another for an object at the same place, the object wins.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "hocon/read.h"

/* NOLINTBEGIN(misc-no-recursion): objects are as deep as the reader lets them be */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\f';
}

static bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

static void next_line(weir__reader *reader)
{
    if (reader->at[0] == '\r' && reader->at[1] == '\n') {
        reader->at++;
    }
    reader->at++;
    reader->line++;
    reader->line_start = reader->at;
}

static void skip_spaces(weir__reader *reader)
{
    while (is_space(*reader->at)) {
        reader->at++;
    }
}

/* An escape at `at`; the end of a line after the backslash joins the next one to it. */
static bool take_escape(weir__reader *reader, char *out, size_t *used)
{
    const char c = reader->at[1];
    if (c == 'u') {
        uint32_t character;
        const size_t length = weir__scan_unicode(reader, reader->at, &character);
        *used += length != 0 ? weir__utf8_put(out + *used, character) : 0;
        reader->at += length;
        return length != 0;
    }
    reader->at++;
    if (reader->at >= reader->end) {
        return true;
    }
    if (is_line_end(c)) {
        next_line(reader);
        skip_spaces(reader);
        return true;
    }
    out[(*used)++] = c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c == 'f' ? '\f' : c;
    reader->at++;
    return true;
}

/* Up to the end of the line, or (a key) to what separates it from its value. */
static bool take_text(weir__reader *reader, bool key, weir__text *out)
{
    const char *end = reader->at;
    while (end < reader->end && !is_line_end(*end)) {
        end += *end == '\\' && end + 1 < reader->end ? 2 : 1;
    }
    char *text = weir__document_memory(reader->document, (size_t)(end - reader->at) + 3);
    size_t used = 0;
    while (text != NULL && reader->at < reader->end && !is_line_end(*reader->at)) {
        const char c = *reader->at;
        if (key && (is_space(c) || c == '=' || c == ':')) {
            break;
        }
        if (c == '\\') {
            if (!take_escape(reader, text, &used)) {
                return false;
            }
        } else {
            text[used++] = c;
            reader->at++;
        }
    }
    reader->over |= text == NULL;
    *out = (weir__text){ text, used };
    return text != NULL;
}

/* The names of a key onto the document's path. */
static size_t split(weir__reader *reader, weir__text key)
{
    weir__hocon *document = reader->document;
    size_t count = 0;
    for (;;) {
        const char *dot = memchr(key.bytes, '.', key.length);
        const size_t length = dot != NULL ? (size_t)(dot - key.bytes) : key.length;
        if (!weir__document_grow(document, (void **)&document->path, document->path_count,
                                 &document->path_capacity, sizeof(*document->path))) {
            reader->over = true;
            return 0;
        }
        document->path[document->path_count++] = (weir__text){ key.bytes, length };
        if (++count + reader->depth > document->options.depth_max + (size_t)1) {
            weir__read_fail(reader, reader->at, "nested more than %u deep",
                            document->options.depth_max);
            return 0;
        }
        if (dot == NULL) {
            return count;
        }
        key.bytes += length + 1;
        key.length -= length + 1;
    }
}

/* A string gives way to an object, whichever comes first. */
static bool put(weir__reader *reader, weir__node *object, const weir__text *path, size_t count,
                weir__node *value)
{
    weir__hocon *document = reader->document;
    const weir__node *at = object;
    for (size_t i = 0; i < count && at != NULL; i++) {
        at = weir__object_get(document->tree, at, path[i].bytes, path[i].length);
    }
    return (at != NULL && at->kind == WEIR__OBJECT) ||
           weir__merge_at(document, object, path, count, value);
}

static bool read_line(weir__reader *reader, weir__node *object)
{
    weir__hocon *document = reader->document;
    weir__text key, text;
    if (!take_text(reader, true, &key)) {
        return false;
    }
    skip_spaces(reader);
    if (*reader->at == '=' || *reader->at == ':') {
        reader->at++;
        skip_spaces(reader);
    }
    const weir__origin origin = weir__read_origin(reader, reader->at);
    if (!take_text(reader, false, &text)) {
        return false;
    }
    const size_t base = document->path_count;
    const size_t count = split(reader, key);
    weir__node *value = weir__node_string(document->tree, origin, text.bytes, text.length);
    if (value == NULL) {
        weir__document_lack(document, 0);
    }
    const bool good =
        count != 0 && value != NULL && put(reader, object, document->path + base, count, value);
    reader->over |= document->spent;
    document->path_count = base;
    return good;
}

static void clear_cuts(weir__node *object)
{
    weir__cell_of(object)->cut = false;
    for (size_t i = 0; i < object->object.count; i++) {
        if (object->object.members[i].value->kind == WEIR__OBJECT) {
            clear_cuts(object->object.members[i].value);
        }
    }
}

bool weir__read_properties(weir__reader *reader, weir__node *object)
{
    weir__hocon *document = reader->document;
    reader->at = reader->line_start = reader->column_at = reader->start;
    reader->line = reader->column = 1;
    const char *bad =
        weir__text_check(reader->start, (size_t)(reader->end - reader->start), &reader->ascii);
    if (bad != NULL) {
        weir__read_fail(reader, bad, "the byte 0x%02x is not UTF-8: save the file as UTF-8",
                        (unsigned char)*bad);
        return false;
    }
    weir__cell *own =
        weir__document_cell(document, WEIR__OBJECT, weir__read_origin(reader, bad), sizeof(*own));
    if (own == NULL) {
        return false;
    }
    while (reader->at < reader->end && !reader->over) {
        skip_spaces(reader);
        if (is_line_end(*reader->at)) {
            next_line(reader);
        } else if (*reader->at == '#' || *reader->at == '!' ||
                   (reader->at < reader->end && !read_line(reader, &own->node))) {
            while (reader->at < reader->end && !is_line_end(*reader->at)) {
                reader->at++;
            }
        }
    }
    clear_cuts(&own->node);
    return reader->errors == 0 && !reader->over &&
           weir__merge_objects(document, object, &own->node);
}

/* NOLINTEND(misc-no-recursion) */
