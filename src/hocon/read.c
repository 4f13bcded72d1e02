/*
 * hocon/read.c - a text as an object: fields, separators, and what to do after a mistake.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "hocon/read.h"

#include <stdio.h>
#include <string.h>

bool weir__read_separator(weir__reader *reader)
{
    const uint32_t line = reader->line;
    if (*reader->at != ',') {
        weir__skip_lines(reader);
    }
    if (*reader->at == ',') {
        reader->at++;
        return true;
    }
    return reader->line != line && !reader->json;
}

/* --- fields ----------------------------------------------------------------------------------- */

/* ${?key} [value] */
static weir__node *appended(weir__reader *reader, weir__node *value)
{
    weir__hocon *document = reader->document;
    weir__cell *list = weir__document_cell(document, WEIR__LIST, value->origin, sizeof(*list));
    weir__node *self = weir__self_reference(reader, value->origin);
    weir__concatenation *all = (weir__concatenation *)weir__document_cell(
        document, WEIR__CONCATENATION, value->origin, sizeof(*all));
    weir__piece *pieces = weir__document_memory(document, 2 * sizeof(*pieces));
    if (list == NULL || self == NULL || all == NULL || pieces == NULL) {
        reader->over = true;
        return NULL;
    }
    if (!weir__list_append(document->tree, &list->node, value)) {
        weir__document_lack(document, 0);
        reader->over = true;
        return NULL;
    }
    list->open = weir__is_open(value);
    pieces[0].node = self;
    pieces[1].node = &list->node;
    all->pieces = pieces;
    all->count = 2;
    all->self = all->append = true;
    return &all->cell.node;
}

typedef enum separator { NONE, EQUALS, APPEND, BRACE } separator;

/* What stands between key and value. */
static separator scan_between(weir__reader *reader)
{
    weir__skip_lines(reader);
    const char *at = reader->at;
    if (*at == ':' || (*at == '=' && !reader->json)) {
        reader->at++;
        return EQUALS;
    }
    if (*at == '{' && !reader->json) {
        return BRACE;
    }
    if (at[0] == '+' && at[1] == '=' && !reader->json) {
        reader->at += 2;
        return APPEND;
    }
    const weir__shown shown = weir__read_shown(reader, at);
    weir__read_fail(reader, at, "the key is followed by %s: %s", shown.text,
                    reader->json ? "':' is missing between key and value"
                                 : "'=', ':', '+=' or '{' is missing");
    return NONE;
}

static size_t read_key(weir__reader *reader)
{
    if (!reader->json) {
        if (weir__at_simple(reader) && *reader->at != '$') {
            return weir__scan_path(reader);
        }
        const weir__shown shown = weir__read_shown(reader, reader->at);
        weir__read_fail(reader, reader->at, "a key may not begin with %s%s", shown.text,
                        *reader->at == ',' || *reader->at == ']' ? "" : "; quote it if it is one");
        return 0;
    }
    weir__hocon *document = reader->document;
    weir__text key;
    if (*reader->at != '"') {
        const weir__shown shown = weir__read_shown(reader, reader->at);
        weir__read_fail(reader, reader->at, "a key of JSON stands in quotes, here stands %s",
                        shown.text);
        return 0;
    }
    if (!weir__scan_quoted(reader, &key) ||
        !weir__document_grow(document, (void **)&document->path, document->path_count,
                             &document->path_capacity, sizeof(*document->path))) {
        return 0;
    }
    document->path[document->path_count++] = key;
    return 1;
}

static weir__node *read_field_value(weir__reader *reader, separator between)
{
    if (between == APPEND && reader->lists > 0) {
        weir__problems_add(&reader->late, WEIR__ERROR, weir__read_origin(reader, reader->at - 2),
                           weir__read_path(reader),
                           "+= does not work inside a list: it stands for a substitution of the "
                           "key's own path, and what is in a list has no path");
    }
    if (between != BRACE) {
        weir__skip_lines(reader);
    }
    reader->lists += between == APPEND;
    weir__node *value = weir__read_value(reader);
    reader->lists -= between == APPEND;
    return value != NULL && between == APPEND ? appended(reader, value) : value;
}

static bool put_field(weir__reader *reader, weir__node *object, size_t base, size_t count,
                      const char *key, weir__node *value)
{
    weir__hocon *document = reader->document;
    const weir__text *path = document->path + base;
    if (reader->json &&
        weir__object_get(document->tree, object, path->bytes, path->length) != NULL) {
        weir__read_fail(reader, key, "JSON has no two fields of one name in an object");
        return false;
    }
    const bool good = weir__merge_at(document, object, path, count, value);
    reader->over |= !good;
    return good;
}

static bool read_field(weir__reader *reader, weir__node *object)
{
    weir__hocon *document = reader->document;
    const char *key = reader->at;
    if (*key == 'i' && !reader->json && strncmp(key, "include", 7) == 0) {
        weir__text word;
        reader->names = 0;
        reader->value = NULL;
        if (weir__scan_word(reader, &word) == WEIR__TOKEN_TEXT && word.length == 7) {
            return weir__read_include(reader, object, key);
        }
        reader->at = key;
    }
    const size_t base = document->path_count;
    const size_t count = read_key(reader);
    bool good = false;
    if (count != 0 && reader->depth + count - 1 > document->options.depth_max) {
        weir__read_fail(reader, key, "nested more than %u deep", document->options.depth_max);
    } else if (count != 0) {
        const separator between = scan_between(reader);
        if (between != NONE) {
            reader->depth += (uint32_t)count - 1;
            const char *start = reader->at;
            weir__node *value = read_field_value(reader, between);
            reader->depth -= (uint32_t)count - 1;
            good = value != NULL && put_field(reader, object, base, count, key, value);
            reader->names = count;
            reader->value = start;
        }
    }
    document->path_count = base;
    return good;
}

/* After a mistake: goes on behind what was skipped. False: the object ends here. */
static bool go_on(weir__reader *reader, bool braced)
{
    weir__read_recover(reader, false);
    if (reader->over) {
        return false;
    }
    if (*reader->at == ',') {
        reader->at++;
    } else if (*reader->at == ']') {
        if (reader->lists > 0 && braced) {
            return false; /* the list around goes on with it */
        }
        reader->at++;
    }
    return true;
}

/* The value that the last field seems to be meant to have: to the end of its line. */
static weir__shown meant(const weir__reader *reader)
{
    weir__shown shown;
    const char *begin = reader->value != NULL ? reader->value : reader->at, *end;
    while (weir__blank_at(begin) != 0) {
        begin += weir__blank_at(begin);
    }
    for (end = begin; end < reader->end && *end != '\n' && *end != '"' && *end != '\\';) {
        end += weir__utf8_length(end);
    }
    while (end > begin && (end[-1] == ' ' || end[-1] == '\r')) {
        end--;
    }
    const bool fits = *end != '"' && *end != '\\' && begin < reader->at &&
                      (size_t)(end - begin) < sizeof(shown.text) - 2;
    snprintf(shown.text, sizeof(shown.text), fits ? "\"%.*s\"" : "\"...\"", (int)(end - begin),
             begin);
    return shown;
}

static void fail_between(weir__reader *reader, weir__origin opened, bool braced)
{
    const weir__shown shown = weir__read_shown(reader, reader->at);
    const char c = *reader->at;
    if (c == ']' && braced) {
        weir__read_fail(reader, reader->at,
                        "']' in the object that begins with '{' at %u:%u: '}' is missing before it",
                        opened.line, opened.column);
    } else if (c == ']') {
        weir__read_fail(reader, reader->at, "']' without '['; quote it if it is part of a string");
    } else if (c == '"' || weir__at_simple(reader) || c == '{' || c == '[') {
        weir__read_fail(reader, reader->at,
                        "%s may not follow here: a comma or a new line is missing before it",
                        shown.text);
    } else {
        const weir__shown value = meant(reader);
        weir__read_fail(reader, reader->at,
                        "%s may not stand outside quotes in a value; quote the value: %s%s",
                        shown.text, value.text,
                        c == ':' || c == '=' ? ", or put a comma or a new line before the key that "
                                               "begins here"
                                             : "");
    }
}

/* Behind a field: a comma, a new line, or the end of the object. */
static bool between_fields(weir__reader *reader, weir__origin opened, bool braced)
{
    if (weir__read_separator(reader) || reader->at >= reader->end || *reader->at == '}') {
        return true;
    }
    reader->document->path_count += reader->names;
    fail_between(reader, opened, braced);
    reader->document->path_count -= reader->names;
    return false;
}

bool weir__read_fields(weir__reader *reader, weir__node *object, weir__origin opened, bool braced)
{
    bool comma = false;
    for (;;) {
        weir__skip_lines(reader);
        if (reader->at >= reader->end) {
            if (braced) {
                weir__read_fail(reader, reader->at,
                                "the object that begins with '{' at %u:%u is not closed by '}'",
                                opened.line, opened.column);
            }
            return !braced && !reader->over;
        }
        if (*reader->at == '}') {
            if (comma && reader->json) {
                weir__read_fail(reader, reader->at, "JSON has no comma behind the last field");
            }
            if (!braced) {
                weir__read_fail(reader, reader->at, "'}' without '{'");
            }
            reader->at++;
            if (braced) {
                return true;
            }
        } else if (!read_field(reader, object) || !between_fields(reader, opened, braced)) {
            if (!go_on(reader, braced)) {
                return false;
            }
        } else {
            comma = reader->at[-1] == ',';
        }
    }
}

/* --- a whole text ----------------------------------------------------------------------------- */

static void read_root(weir__reader *reader, weir__node *object)
{
    weir__skip_lines(reader);
    const weir__origin opened = weir__read_origin(reader, reader->at);
    if (*reader->at == '[') {
        weir__read_fail(
            reader, reader->at,
            "the root is an object, not a list: give the list a key, as in items = [...]");
        reader->over = true;
        return;
    }
    if (*reader->at != '{') {
        if (reader->json) {
            const weir__shown shown = weir__read_shown(reader, reader->at);
            weir__read_fail(reader, reader->at, "a JSON file is an object, '{...}', here stands %s",
                            shown.text);
            return;
        }
        (void)weir__read_fields(reader, object, opened, false);
        return;
    }
    reader->at++;
    if (weir__read_fields(reader, object, opened, true)) {
        weir__skip_lines(reader);
        if (reader->at < reader->end) {
            const weir__shown shown = weir__read_shown(reader, reader->at);
            weir__read_fail(reader, reader->at,
                            "%s behind the '}' that ends the document, which begins with '{' at "
                            "%u:%u",
                            shown.text, opened.line, opened.column);
        }
    }
}

/* Where a byte stands that the lines were not counted up to. */
static void move_to(weir__reader *reader, const char *at)
{
    for (const char *s = reader->start; s < at; s++) {
        if (*s == '\n') {
            reader->line++;
            reader->line_start = s + 1;
        }
    }
}

bool weir__read_text_into(weir__reader *reader, weir__node *object)
{
    weir__hocon *document = reader->document;
    reader->at = reader->line_start = reader->column_at = reader->start;
    reader->line = reader->column = 1;
    reader->late.allocator = document->problems->allocator;
    const char *bad =
        weir__text_check(reader->start, (size_t)(reader->end - reader->start), &reader->ascii);
    if (bad != NULL) {
        move_to(reader, bad);
        weir__read_fail(reader, bad, "the byte 0x%02x is not UTF-8 here: save the file as UTF-8",
                        (unsigned char)*bad);
        return false;
    }
    read_root(reader, object);
    for (size_t i = 0; i < reader->late.count && reader->errors == 0; i++) {
        const weir__problem *late = &reader->late.items[i];
        weir__problems_add(document->problems, late->severity, late->origin, late->path, "%s",
                           late->text);
    }
    const bool good = reader->errors == 0 && reader->late.count == 0 && !document->spent;
    if (reader->late.out_of_memory) {
        weir__problems_memory(document->problems);
    }
    weir__problems_close(&reader->late);
    return good && !reader->over;
}
