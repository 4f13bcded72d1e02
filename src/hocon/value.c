/*
 * hocon/value.c - values: single ones, and what several side by side make.
 *
 * Unquoted words with white space between them are one stretch of the text, taken as it stands;
 * only where something else stands beside them do they become pieces of a concatenation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "hocon/read.h"

/* NOLINTBEGIN(misc-no-recursion): depth_max bounds it */

/* Unquoted words, as far as they go on. */
typedef struct run {
    const char *begin, *end;
    size_t words;
    weir__token_kind kind; /* of the only one */
    weir__origin origin;
} run;

static weir__node *made(weir__reader *reader, weir__node *node)
{
    if (node == NULL) {
        weir__document_lack(reader->document, 0);
        reader->over = true;
    }
    return node;
}

static weir__node *run_node(weir__reader *reader, const run *r)
{
    weir__tree *tree = reader->document->tree;
    const size_t length = (size_t)(r->end - r->begin);
    switch (r->words == 1 ? r->kind : WEIR__TOKEN_TEXT) {
    case WEIR__TOKEN_NUMBER:
        return made(reader, weir__node_number(tree, r->origin, r->begin, length));
    case WEIR__TOKEN_TRUE:
        return made(reader, weir__node_boolean(tree, r->origin, true));
    case WEIR__TOKEN_FALSE:
        return made(reader, weir__node_boolean(tree, r->origin, false));
    case WEIR__TOKEN_NULL:
        return made(reader, weir__node_null(tree, r->origin));
    default:
        return made(reader, weir__node_string(tree, r->origin, r->begin, length));
    }
}

static bool add_piece(weir__reader *reader, weir__node *node, bool blank)
{
    weir__hocon *document = reader->document;
    if (node == NULL ||
        !weir__document_grow(document, (void **)&document->pieces, document->piece_count,
                             &document->piece_capacity, sizeof(*document->pieces))) {
        return false;
    }
    document->pieces[document->piece_count++] = (weir__piece){ node, blank };
    return true;
}

static bool flush_run(weir__reader *reader, run *r)
{
    const bool good = r->words == 0 || add_piece(reader, run_node(reader, r), false);
    r->words = 0;
    return good;
}

/* White space between two simple values is part of what they make. */
static bool add_blank(weir__reader *reader, const char *from)
{
    const size_t length = (size_t)(reader->at - from);
    return length == 0 ||
           add_piece(reader,
                     made(reader, weir__node_string(reader->document->tree,
                                                    weir__read_origin(reader, from), from, length)),
                     true);
}

/* --- lists and objects ------------------------------------------------------------------------ */

static weir__cell *open_container(weir__reader *reader, int kind)
{
    if (reader->depth >= reader->document->options.depth_max) {
        weir__read_fail(reader, reader->at, "nested more than %u deep",
                        reader->document->options.depth_max);
        reader->over = true;
        return NULL;
    }
    weir__cell *cell = weir__document_cell(reader->document, kind,
                                           weir__read_origin(reader, reader->at), sizeof(*cell));
    reader->over |= cell == NULL;
    reader->at++;
    return cell;
}

static weir__node *read_object(weir__reader *reader)
{
    weir__cell *cell = open_container(reader, WEIR__OBJECT);
    if (cell == NULL) {
        return NULL;
    }
    reader->depth++;
    const bool good = weir__read_fields(reader, &cell->node, cell->node.origin, true);
    reader->depth--;
    return good ? &cell->node : NULL;
}

/* Behind an item: is there another? False: the list ends here, *good says whether as it should. */
static bool more_items(weir__reader *reader, weir__origin opened, bool *good)
{
    const bool separated = weir__read_separator(reader);
    const bool comma = separated && reader->at[-1] == ',';
    weir__skip_lines(reader);
    *good = true;
    if (*reader->at == ']' && (!comma || !reader->json)) {
        return false;
    }
    if (separated && *reader->at != ',' && *reader->at != '}' && *reader->at != ']' &&
        reader->at < reader->end) {
        return true;
    }
    const weir__shown shown = weir__read_shown(reader, reader->at);
    *good = false;
    if (comma && *reader->at == ',') {
        weir__read_fail(reader, reader->at, "two commas with no item between them");
        return false;
    }
    if (comma && *reader->at == ']') {
        weir__read_fail(reader, reader->at, "JSON has no comma behind the last item");
        return false;
    }
    weir__read_fail(reader, reader->at,
                    "%s in the list that begins with '[' at %u:%u: ',' or ']' %s", shown.text,
                    opened.line, opened.column, "is missing before it");
    return false;
}

static weir__node *read_list(weir__reader *reader)
{
    weir__cell *cell = open_container(reader, WEIR__LIST);
    if (cell == NULL) {
        return NULL;
    }
    const weir__origin opened = cell->node.origin;
    reader->depth++;
    reader->lists++;
    weir__skip_lines(reader);
    bool good = true, more = *reader->at != ']';
    if (*reader->at == ',') {
        weir__read_fail(reader, reader->at, "',' without an item before it");
        more = good = false;
    }
    while (more) {
        weir__node *item = reader->at < reader->end ? weir__read_value(reader) : NULL;
        if (item == NULL) {
            if (reader->at >= reader->end) {
                weir__read_fail(reader, reader->at,
                                "the list that begins with '[' at %u:%u is not "
                                "closed by ']'",
                                opened.line, opened.column);
            }
            good = false;
            break;
        }
        cell->open |= weir__is_open(item);
        if (!weir__list_append(reader->document->tree, &cell->node, item)) {
            (void)made(reader, NULL);
            good = false;
            break;
        }
        more = more_items(reader, opened, &good);
    }
    reader->depth--;
    reader->lists--;
    if (!good) {
        weir__read_recover(reader, true);
        if (*reader->at != ']') {
            return NULL;
        }
    }
    reader->at++;
    return &cell->node;
}

/* --- several pieces --------------------------------------------------------------------------- */

static bool all_scalars(const weir__piece *pieces, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (pieces[i].node->kind >= WEIR__LIST) {
            return false;
        }
    }
    return true;
}

static weir__text piece_text(const weir__node *node)
{
    return node->kind == WEIR__NULL ? (weir__text){ "null", 4 } : node->text;
}

static weir__node *join_texts(weir__reader *reader, const weir__piece *pieces, size_t count)
{
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        length += piece_text(pieces[i].node).length;
    }
    weir__hocon *document = reader->document;
    if (!weir__document_scratch(document, length)) {
        reader->over = true;
        return NULL;
    }
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        const weir__text text = piece_text(pieces[i].node);
        memcpy(document->scratch + used, text.bytes, text.length);
        used += text.length;
    }
    return made(reader, weir__node_string(document->tree, pieces[0].node->origin, document->scratch,
                                          length));
}

/* Literal lists and objects that stand side by side, of one kind: joined at once. Else false. */
static bool join_alike(weir__reader *reader, const weir__piece *pieces, size_t count)
{
    weir__node *first = pieces[0].node;
    if (first->kind != WEIR__LIST && first->kind != WEIR__OBJECT) {
        return false;
    }
    for (size_t i = 1; i < count; i++) {
        if (pieces[i].node->kind != first->kind) {
            return false;
        }
    }
    weir__hocon *document = reader->document;
    for (size_t i = 1; i < count && !reader->over; i++) {
        weir__node *next = pieces[i].node;
        if (first->kind == WEIR__OBJECT) {
            reader->over |= !weir__merge_objects(document, first, next);
            continue;
        }
        weir__cell_of(first)->open |= weir__cell_of(next)->open;
        for (size_t k = 0; k < next->list.count; k++) {
            if (!weir__list_append(document->tree, first, next->list.items[k])) {
                (void)made(reader, NULL);
            }
        }
    }
    return true;
}

/* What no substitution can make good: a list or an object beside a text. */
static void check_pieces(weir__reader *reader, const weir__piece *pieces, size_t count)
{
    const weir__node *text = NULL, *container = NULL;
    for (size_t i = 0; i < count; i++) {
        const weir__node *node = pieces[i].node;
        if (node->kind == WEIR__LIST || node->kind == WEIR__OBJECT) {
            container = node;
        } else if (node->kind < WEIR__LIST && !pieces[i].blank) {
            text = node;
        }
    }
    if (text != NULL && container != NULL) {
        weir__problems_add(&reader->late, WEIR__ERROR, text->origin, weir__read_path(reader),
                           "%s and %s cannot stand side by side in one value; put the text into "
                           "quotes and a comma or a new line between them",
                           weir__kind_name(text->kind), weir__kind_name(container->kind));
    }
}

static weir__node *concatenate(weir__reader *reader, const weir__piece *pieces, size_t count)
{
    if (all_scalars(pieces, count)) {
        return join_texts(reader, pieces, count);
    }
    if (join_alike(reader, pieces, count)) {
        return reader->over ? NULL : pieces[0].node;
    }
    check_pieces(reader, pieces, count);
    weir__hocon *document = reader->document;
    weir__concatenation *all = (weir__concatenation *)weir__document_cell(
        document, WEIR__CONCATENATION, pieces[0].node->origin, sizeof(*all));
    weir__piece *copy = weir__document_memory(document, count * sizeof(*copy));
    if (all == NULL || copy == NULL) {
        reader->over = true;
        return NULL;
    }
    memcpy(copy, pieces, count * sizeof(*copy));
    all->pieces = copy;
    all->count = count;
    for (size_t i = 0; i < count; i++) {
        all->self |= (int)copy[i].node->kind == WEIR__REFERENCE &&
                     ((const weir__reference *)copy[i].node)->self;
    }
    return &all->cell.node;
}

/* --- a value ---------------------------------------------------------------------------------- */

static weir__node *read_quoted(weir__reader *reader)
{
    const weir__origin origin = weir__read_origin(reader, reader->at);
    weir__text text;
    if (!weir__scan_quoted(reader, &text)) {
        return NULL;
    }
    return made(reader, weir__node_string(reader->document->tree, origin, text.bytes, text.length));
}

/* One piece that is not a word. */
static weir__node *read_piece(weir__reader *reader)
{
    switch (*reader->at) {
    case '{':
        return read_object(reader);
    case '[':
        return read_list(reader);
    case '"':
        return read_quoted(reader);
    default:
        if (reader->json) {
            weir__read_fail(reader, reader->at, "JSON has no substitutions");
            return NULL;
        }
        return weir__scan_reference(reader);
    }
}

static bool read_word(weir__reader *reader, run *r)
{
    weir__text text;
    const weir__origin origin = r->words == 0 ? weir__read_origin(reader, reader->at) : r->origin;
    const weir__token_kind kind = weir__scan_word(reader, &text);
    if (kind == WEIR__TOKEN_BAD) {
        return false;
    }
    if (kind == WEIR__TOKEN_TEXT && reader->json) {
        const weir__shown shown = weir__read_shown(reader, text.bytes);
        weir__read_fail(reader, text.bytes, "%s is no JSON value: strings stand in quotes",
                        shown.text);
        return false;
    }
    r->begin = r->words == 0 ? text.bytes : r->begin;
    r->end = reader->at;
    r->origin = origin;
    r->kind = kind;
    r->words++;
    return true;
}

static void fail_no_value(weir__reader *reader)
{
    const weir__shown shown = weir__read_shown(reader, reader->at);
    const char c = *reader->at;
    if (reader->at >= reader->end || c == ',' || c == '}' || c == ']' || c == '\n') {
        weir__read_fail(reader, reader->at, "a value is missing before %s", shown.text);
    } else {
        weir__read_fail(reader, reader->at, "a value may not begin with %s; quote it: \"%c...\"",
                        shown.text, c);
    }
}

/* The pieces of a value onto the document's list, all but the last run of words. */
static bool read_pieces(weir__reader *reader, run *r)
{
    bool simple = false; /* the piece before was */
    const char *blank = reader->at;
    for (;;) {
        const char c = *reader->at;
        const bool container = c == '{' || c == '[';
        if (!container && !weir__at_simple(reader)) {
            return true;
        }
        if (container || c == '"' || c == '$') {
            if (!flush_run(reader, r) || (simple && !container && !add_blank(reader, blank)) ||
                !add_piece(reader, read_piece(reader), false)) {
                return false;
            }
        } else {
            if (r->words == 0 && simple && !add_blank(reader, blank)) {
                return false;
            }
            if (!read_word(reader, r)) {
                return false;
            }
        }
        simple = !container;
        if (reader->json) {
            return true;
        }
        blank = reader->at;
        weir__skip_blank(reader);
    }
}

weir__node *weir__read_value(weir__reader *reader)
{
    weir__hocon *document = reader->document;
    const size_t base = document->piece_count;
    run r = { 0 };
    weir__node *node = NULL;
    if (read_pieces(reader, &r)) {
        if (document->piece_count == base) {
            if (r.words > 0) {
                node = run_node(reader, &r);
            } else {
                fail_no_value(reader);
            }
        } else if (flush_run(reader, &r)) {
            const size_t count = document->piece_count - base;
            node = count == 1 ? document->pieces[base].node
                              : concatenate(reader, document->pieces + base, count);
        }
    }
    document->piece_count = base;
    return node;
}

/* NOLINTEND(misc-no-recursion) */
