/*
 * hocon/path.c - path expressions: the keys of fields, and what stands in ${...}.
 *
 * A path is made of the same pieces as a value: quoted texts, and unquoted ones whose dots separate
 * the names. White space between two pieces belongs to the name, before the first and behind the
 * last it does not.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "hocon/read.h"

/* A name in the making: as long as it is one stretch of memory it is not copied. */
typedef struct part {
    weir__text text;
    bool mixed;     /* it lies in the scratch, from `text.bytes` = NULL */
    bool may_empty; /* it holds "" */
} part;

static bool append(weir__reader *reader, part *n, const char *bytes, size_t length)
{
    if (n->text.length == 0) {
        n->text = (weir__text){ bytes, length };
        return true;
    }
    if (!n->mixed && n->text.bytes + n->text.length == bytes) {
        n->text.length += length;
        return true;
    }
    weir__hocon *document = reader->document;
    if (!weir__document_scratch(document, n->text.length + length)) {
        reader->over = true;
        return false;
    }
    if (!n->mixed) {
        memcpy(document->scratch, n->text.bytes, n->text.length);
        n->mixed = true;
    }
    memcpy(document->scratch + n->text.length, bytes, length);
    n->text.length += length;
    return true;
}

/* Ends a name and puts it on the path. */
static bool finish(weir__reader *reader, part *n, const char *start)
{
    weir__hocon *document = reader->document;
    if (n->text.length == 0 && !n->may_empty) {
        weir__read_fail(
            reader, start,
            "a path has a name before and behind each dot; write \"\" for an empty one");
        return false;
    }
    if (n->mixed && !weir__tree_text(document->tree, document->scratch, n->text.length, &n->text)) {
        weir__document_lack(document, 0);
        reader->over = true;
        return false;
    }
    if (!weir__document_grow(document, (void **)&document->path, document->path_count,
                             &document->path_capacity, sizeof(*document->path))) {
        reader->over = true;
        return false;
    }
    document->path[document->path_count++] = n->text;
    *n = (part){ 0 };
    return true;
}

/* An unquoted piece: its dots end names. */
static bool append_split(weir__reader *reader, part *n, weir__text text, const char *start,
                         size_t *count)
{
    for (;;) {
        const char *dot = memchr(text.bytes, '.', text.length);
        const size_t length = dot != NULL ? (size_t)(dot - text.bytes) : text.length;
        if (length > 0 && !append(reader, n, text.bytes, length)) {
            return false;
        }
        if (dot == NULL) {
            return true;
        }
        if (!finish(reader, n, start)) {
            return false;
        }
        if (++*count > reader->document->options.depth_max + (size_t)1) {
            weir__read_fail(reader, start, "a path of more than %u names",
                            reader->document->options.depth_max + 1);
            return false;
        }
        text.bytes += length + 1;
        text.length -= length + 1;
    }
}

static bool append_piece(weir__reader *reader, part *n, const char *start, size_t *count)
{
    weir__text text;
    if (*reader->at == '"') {
        if (!weir__scan_quoted(reader, &text)) {
            return false;
        }
        n->may_empty |= text.length == 0;
        return text.length == 0 || append(reader, n, text.bytes, text.length);
    }
    const weir__token_kind kind = weir__scan_word(reader, &text);
    return kind != WEIR__TOKEN_BAD && append_split(reader, n, text, start, count);
}

size_t weir__scan_path(weir__reader *reader)
{
    const size_t base = reader->document->path_count;
    const char *start = reader->at, *blank = NULL;
    size_t count = 1;
    part n = { 0 };
    while (weir__at_simple(reader) && *reader->at != '$') {
        if (blank != NULL && blank < reader->at &&
            !append(reader, &n, blank, (size_t)(reader->at - blank))) {
            break;
        }
        if (!append_piece(reader, &n, start, &count)) {
            reader->document->path_count = base;
            return 0;
        }
        blank = reader->at;
        weir__skip_blank(reader);
    }
    if (reader->over || !finish(reader, &n, start)) {
        reader->document->path_count = base;
        return 0;
    }
    return count;
}

/* --- references ------------------------------------------------------------------------------- */

/* The last `count` names of the document's path behind the first `prefix`, copied. */
static weir__reference *new_reference(weir__reader *reader, weir__origin origin, size_t first,
                                      size_t prefix, size_t count)
{
    weir__hocon *document = reader->document;
    if (prefix + count > document->options.depth_max * (size_t)2) {
        weir__read_fail(reader, reader->at, "a path of more than %u names",
                        document->options.depth_max * 2);
        return NULL;
    }
    weir__reference *reference = (weir__reference *)weir__document_cell(document, WEIR__REFERENCE,
                                                                        origin, sizeof(*reference));
    weir__text *path = weir__document_memory(document, (prefix + count) * sizeof(*path));
    for (size_t i = 0; reference != NULL && path != NULL && i < prefix + count; i++) {
        const weir__text name = document->path[i < prefix ? i : first + i - prefix];
        if (!weir__tree_text(document->tree, name.bytes, name.length, &path[i])) {
            weir__document_lack(document, 0);
            path = NULL;
        }
    }
    if (reference == NULL || path == NULL) {
        reader->over = true;
        return NULL;
    }
    reference->path = path;
    reference->count = (uint32_t)(prefix + count);
    reference->prefix = (uint32_t)prefix;
    return reference;
}

weir__node *weir__self_reference(weir__reader *reader, weir__origin origin)
{
    const size_t prefix = reader->prefix;
    weir__reference *reference =
        new_reference(reader, origin, prefix, prefix, reader->document->path_count - prefix);
    if (reference == NULL) {
        return NULL;
    }
    reference->optional = true;
    reference->self = true;
    return &reference->cell.node;
}

static bool is_own_path(const weir__hocon *document, const weir__reference *reference,
                        size_t path_count)
{
    if (reference->count != path_count) {
        return false;
    }
    for (size_t i = path_count; i-- > 0;) {
        const weir__text a = document->path[i], b = reference->path[i];
        if (a.length != b.length || (a.length > 0 && memcmp(a.bytes, b.bytes, a.length) != 0)) {
            return false;
        }
    }
    return true;
}

static weir__node *scan_reference(weir__reader *reader)
{
    weir__hocon *document = reader->document;
    const char *start = reader->at;
    const weir__origin origin = weir__read_origin(reader, start);
    if (start[1] != '{') {
        const weir__shown next = weir__read_shown(reader, start + 1);
        weir__read_fail(reader, start,
                        "'$' begins a substitution, ${path}, and is followed by %s; quote it if it "
                        "is part of a string",
                        next.text);
        return NULL;
    }
    reader->at += 2;
    const bool optional = *reader->at == '?';
    reader->at += optional;
    weir__skip_blank(reader);
    const size_t base = document->path_count;
    if (*reader->at == '}') {
        weir__read_fail(reader, start, "a substitution names a path: ${path}");
        return NULL;
    }
    const bool at_name = weir__at_simple(reader) && *reader->at != '$';
    const size_t count = at_name ? weir__scan_path(reader) : 0;
    document->path_count = base;
    if (at_name && count == 0) {
        return NULL;
    }
    const bool list = count > 0 && reader->at[0] == '[' && reader->at[1] == ']';
    reader->at += list ? 2 : 0;
    weir__skip_blank(reader);
    if (*reader->at != '}' || count == 0) {
        const weir__shown shown = weir__read_shown(reader, reader->at);
        weir__read_fail(reader, reader->at, "%s may not stand in ${path}%s", shown.text,
                        *reader->at == '?' ? ": an optional one is written ${?path}"
                        : reader->at < reader->end && *reader->at != '\n'
                            ? "; quote it if it is part of a name"
                            : ": '}' is missing");
        return NULL;
    }
    reader->at++;
    weir__reference *reference = new_reference(reader, origin, base, reader->prefix, count);
    if (reference == NULL) {
        return NULL;
    }
    reference->optional = optional;
    reference->list = list;
    reference->self = reader->lists == 0 && is_own_path(document, reference, base);
    return &reference->cell.node;
}

weir__node *weir__scan_reference(weir__reader *reader)
{
    const char *start = reader->at;
    weir__node *node = scan_reference(reader);
    if (node == NULL && !reader->over) {
        reader->at = start; /* so that its brace is skipped with the one that closes it */
    }
    return node;
}

/* --- as text ---------------------------------------------------------------------------------- */

static bool is_plain(weir__text name)
{
    for (size_t i = 0; i < name.length; i++) {
        const char c = name.bytes[i];
        if ((c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' &&
            c != '_' && (unsigned char)c < 0x80) {
            return false;
        }
    }
    return name.length > 0;
}

static void put(char *buffer, size_t size, size_t *used, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++, (*used)++) {
        if (*used + 1 < size) {
            buffer[*used] = bytes[i];
        }
    }
}

size_t weir__path_format(const weir__text *path, size_t count, char *buffer, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        put(buffer, size, &used, ".", i > 0);
        const bool plain = is_plain(path[i]);
        put(buffer, size, &used, "\"", !plain);
        put(buffer, size, &used, path[i].bytes, path[i].length);
        put(buffer, size, &used, "\"", !plain);
    }
    if (size > 0) {
        buffer[used < size ? used : size - 1] = '\0';
    }
    return used;
}
