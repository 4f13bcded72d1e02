/*
 * connect/yaml.c - reads a file, looks at its characters, and hands the events of libfyaml's parser
 * to the builder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "connect/yaml.h"

#include <libfyaml.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "connect/yaml_build.h"

typedef struct reader {
    weir__yaml_builder builder;
    const char *source;
    struct fy_diag *diagnosis;
    struct fy_parser *parser;
    uint32_t documents;
} reader;

bool weir__yaml_built_in(void)
{
    return true;
}

/* --- events ----------------------------------------------------------------------------------- */

static weir__text text_of(struct fy_token *token)
{
    weir__text text = { NULL, 0 };
    if (token != NULL) {
        text.bytes = fy_token_get_text0(token); /* zero-terminated: messages quote it */
        text.length = text.bytes != NULL ? fy_token_get_text_length(token) : 0;
    }
    return text;
}

static weir__origin origin_of(const reader *r, struct fy_token *token)
{
    const struct fy_mark *mark = token != NULL ? fy_token_start_mark(token) : NULL;
    weir__origin origin = { .source = r->source };
    if (mark != NULL) {
        origin.line = (uint32_t)mark->line + 1;
        origin.column = (uint32_t)mark->column + 1;
    }
    return origin;
}

static bool is_quoted(struct fy_token *scalar)
{
    const enum fy_scalar_style style = fy_token_scalar_style(scalar);
    return style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED;
}

/* A value that is not written at all stands where its tag, its anchor or its key does. */
static weir__origin origin_of_scalar(const reader *r, const struct fy_event *event)
{
    struct fy_token *const tokens[] = { event->scalar.value, event->scalar.tag,
                                        event->scalar.anchor };
    for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++) {
        weir__origin origin = origin_of(r, tokens[i]);
        if (origin.line != 0) {
            /* libfyaml points behind the quote. */
            const bool quoted = i == 0 && is_quoted(event->scalar.value) && origin.column > 1;
            origin.column -= quoted ? 1 : 0;
            return origin;
        }
    }
    const weir__yaml_builder *b = &r->builder;
    const weir__yaml_frame *f = b->depth > 0 ? &b->frames[b->depth - 1] : NULL;
    if (f == NULL) {
        return (weir__origin){ .source = r->source, .line = 1, .column = 1 };
    }
    return f->has_key ? f->key_origin : f->node->origin;
}

static bool take_scalar(reader *r, const struct fy_event *event)
{
    weir__yaml_value value = {
        .origin = origin_of_scalar(r, event),
        .anchor = text_of(event->scalar.anchor),
        .tag = text_of(event->scalar.tag),
        .text = text_of(event->scalar.value),
    };
    value.plain =
        event->scalar.value == NULL || fy_token_scalar_style(event->scalar.value) == FYSS_PLAIN;
    if (value.text.bytes == NULL) {
        value.text = (weir__text){ "", 0 };
    }
    return weir__yaml_build_scalar(&r->builder, &value);
}

static bool take_begin(reader *r, weir__kind kind, struct fy_token *start, struct fy_token *anchor,
                       struct fy_token *tag)
{
    /* With a tag it begins there: that is what one wants to see of it. */
    const weir__yaml_value value = { .origin = origin_of(r, tag != NULL ? tag : start),
                                     .anchor = text_of(anchor),
                                     .tag = text_of(tag) };
    return weir__yaml_build_begin(&r->builder, kind, &value);
}

static bool take_document(reader *r, const struct fy_event *event)
{
    if (++r->documents > 1) {
        weir__problems_add(r->builder.problems, WEIR__ERROR,
                           origin_of(r, event->document_start.document_start), NULL,
                           "another document begins here: a configuration is one document");
        return false;
    }
    return true;
}

/* False: to go on is of no use. */
static bool take(reader *r, const struct fy_event *event)
{
    switch (event->type) {
    case FYET_DOCUMENT_START:
        return take_document(r, event);
    case FYET_SCALAR:
        return take_scalar(r, event);
    case FYET_SEQUENCE_START:
        return take_begin(r, WEIR__LIST, event->sequence_start.sequence_start,
                          event->sequence_start.anchor, event->sequence_start.tag);
    case FYET_MAPPING_START:
        return take_begin(r, WEIR__OBJECT, event->mapping_start.mapping_start,
                          event->mapping_start.anchor, event->mapping_start.tag);
    case FYET_SEQUENCE_END:
    case FYET_MAPPING_END:
        return weir__yaml_build_end(&r->builder);
    case FYET_ALIAS: {
        const weir__yaml_value value = { .origin = origin_of(r, event->alias.anchor),
                                         .anchor = text_of(event->alias.anchor) };
        return weir__yaml_build_alias(&r->builder, &value);
    }
    default:
        return true;
    }
}

/* --- errors of syntax ------------------------------------------------------------------------- */

/* What to do about those that puzzle people. */
static const char *advice(const char *message)
{
    static const struct {
        const char *part, *advice;
    } rows[] = {
        { "tab character", ": use spaces" },
        { "invalid multiline plain key", ": the next line is indented more than this one's key" },
        { "invalid nested block mapping", ": quote the text if the second colon is part of it" },
        { "plain scalar cannot start", ": put it in quotes" },
        { "invalid escape", ": a backslash is \\\\ there, or take single quotes" },
        { "undefined tag prefix", ": a tag is !name or !!name" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strstr(message, rows[i].part) != NULL) {
            return rows[i].advice;
        }
    }
    return "";
}

static void tell_syntax(reader *r)
{
    weir__problems *problems = r->builder.problems;
    const size_t before = problems->errors;
    void *at = NULL;
    /* Ends with the list: libfyaml stops at the first error. */
    for (struct fy_diag_error *e; (e = fy_diag_errors_iterate(r->diagnosis, &at)) != NULL;) {
        const weir__origin origin = { .source = r->source,
                                      .line = e->line > 0 ? (uint32_t)e->line : 0,
                                      .column = e->column > 0 ? (uint32_t)e->column : 0 };
        const bool error = e->type == FYET_ERROR;
        weir__problems_add(problems, error ? WEIR__ERROR : WEIR__WARNING, origin, NULL, "%s%s",
                           e->msg, advice(e->msg));
    }
    if (problems->errors == before && fy_parser_get_stream_error(r->parser)) {
        weir__problems_add(problems, WEIR__ERROR, (weir__origin){ .source = r->source }, NULL,
                           "is no YAML 1.2 that can be read");
    }
}

/* --- characters ------------------------------------------------------------------------------- */

/* libfyaml passes over what is not UTF-8 without a word, so it is looked for before. */
static bool check_characters(const char *source, const char *text, size_t size,
                             weir__problems *problems)
{
    const unsigned char *s = (const unsigned char *)text;
    weir__origin origin = { .source = source, .line = 1, .column = 1 };
    for (size_t i = 0; i < size; origin.column++) {
        const size_t length = weir__utf8_check(s + i, size - i);
        if (length == 0) {
            weir__problems_add(problems, WEIR__ERROR, origin, NULL,
                               "the byte 0x%02x is not UTF-8 here: save the file as UTF-8", s[i]);
            return false;
        }
        if ((s[i] < 0x20 && s[i] != '\t' && s[i] != '\n' && s[i] != '\r') || s[i] == 0x7f) {
            weir__problems_add(problems, WEIR__ERROR, origin, NULL,
                               "the control character \\x%02x: in double quotes it is written as "
                               "\\x%02x",
                               s[i], s[i]);
            return false;
        }
        if (s[i] == '\n') {
            origin.line++;
            origin.column = 0;
        }
        i += length;
    }
    return true;
}

static bool is_blank(const char *text, size_t size, size_t i)
{
    return i >= size || text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r';
}

/* Whether a line begins with the '? ' of a key that is written at length. */
static bool has_long_keys(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        while (i < size && (text[i] == ' ' || text[i] == '\t' || text[i] == '-')) {
            i++;
        }
        if (i < size && text[i] == '?' && is_blank(text, size, i + 1)) {
            return true;
        }
        while (i < size && text[i] != '\n') {
            i++;
        }
    }
    return false;
}

/* YAML allows no tab before an indicator; behind a '? ' libfyaml 0.7 does not say so but writes to
 * memory that is not its own. */
static bool check_tabs(const char *source, const char *text, size_t size, weir__problems *problems)
{
    weir__origin origin = { .source = source, .line = 1, .column = 1 };
    if (!has_long_keys(text, size)) {
        return true;
    }
    for (size_t i = 0; i < size; i++, origin.column++) {
        size_t next = i;
        while (text[i] == '\t' && next < size && (text[next] == ' ' || text[next] == '\t')) {
            next++;
        }
        const bool indicates = next > i && next < size && strchr(":-?", text[next]) != NULL;
        if (indicates && is_blank(text, size, next + 1)) {
            weir__problems_add(problems, WEIR__ERROR, origin, NULL,
                               "a tab before '%c': write spaces there", text[next]);
            return false;
        }
        if (text[i] == '\n') {
            origin.line++;
            origin.column = 0;
        }
    }
    return true;
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool open_reader(reader *r, const char *text, size_t size)
{
    struct fy_diag_cfg diagnosis;
    fy_diag_cfg_default(&diagnosis);
    diagnosis.fp = NULL;
    r->diagnosis = fy_diag_create(&diagnosis);
    if (r->diagnosis == NULL) {
        return false;
    }
    fy_diag_set_collect_errors(r->diagnosis, true);
    const struct fy_parse_cfg configuration = {
        .flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_DEFAULT_VERSION_1_2 | FYPCF_JSON_NONE,
        .diag = r->diagnosis,
    };
    r->parser = fy_parser_create(&configuration);
    return r->parser != NULL && fy_parser_set_string(r->parser, text, size) == 0 &&
           weir__yaml_build_open(&r->builder);
}

static void close_reader(reader *r)
{
    weir__yaml_build_close(&r->builder);
    if (r->parser != NULL) {
        fy_parser_destroy(r->parser);
    }
    if (r->diagnosis != NULL) {
        fy_diag_destroy(r->diagnosis);
    }
}

/* A file of comments is an empty object; anything but a mapping is no configuration. */
static void check_root(reader *r)
{
    weir__tree *tree = r->builder.tree;
    const bool empty = tree->root == NULL || tree->root->kind == WEIR__NULL;
    if (empty) {
        tree->root = weir__node_object(tree, (weir__origin){ .source = r->source });
        if (tree->root == NULL) {
            weir__problems_memory(r->builder.problems);
        }
    } else if (tree->root->kind != WEIR__OBJECT) {
        weir__problems_add(r->builder.problems, WEIR__ERROR, tree->root->origin, NULL,
                           "%s is no configuration: a file is a mapping, as in key: value",
                           weir__kind_name(tree->root->kind));
    }
}

static void read_events(reader *r)
{
    bool go_on = true;
    /* Ends with the text: every event takes some of it, and the last is the stream's. */
    while (go_on) {
        struct fy_event *event = fy_parser_parse(r->parser);
        if (event == NULL) {
            break;
        }
        go_on = event->type != FYET_STREAM_END && take(r, event);
        fy_parser_event_free(r->parser, event);
    }
    tell_syntax(r);
}

weir__tree *weir__yaml_read_text(const weir__yaml_options *options, const char *name,
                                 const char *text, size_t size, weir__problems *problems)
{
    const weir__yaml_options given = options != NULL ? *options : (weir__yaml_options){ 0 };
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text += 3;
        size -= 3;
    }
    if (!check_characters(name, text, size, problems) || !check_tabs(name, text, size, problems)) {
        return NULL;
    }
    weir__tree *tree = weir__tree_create(given.allocator, 0);
    if (tree == NULL) {
        weir__problems_memory(problems);
        return NULL;
    }
    reader r = {
        .source = weir__tree_source(tree, name),
        .builder = {
            .tree = tree,
            .problems = problems,
            .depth_max = given.depth_max != 0 ? given.depth_max : 64,
            .alias_size_left = given.alias_size_max != 0 ? given.alias_size_max : 64u << 20,
        },
    };
    const size_t before = problems->errors;
    if (r.source == NULL || !open_reader(&r, text, size)) {
        weir__problems_memory(problems);
    } else {
        read_events(&r);
        if (problems->errors == before && !problems->out_of_memory) {
            check_root(&r);
        }
    }
    close_reader(&r);
    if (problems->errors == before && !problems->out_of_memory) {
        return tree;
    }
    weir__tree_destroy(tree);
    return NULL;
}
