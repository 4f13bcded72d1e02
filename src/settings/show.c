/*
 * settings/show.c - walks the tables beside the tree, and says what counts and since where.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "settings/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "settings/textbuf.h"
#include "settings/writer.h"
#include "tree/read.h"

/* NOLINTBEGIN(misc-no-recursion): tables are as deep as they were written */

typedef struct walk {
    const weir_config *config;
    bool (*visit)(void *context, const weir__shown *shown);
    void *context;
    weir__textbuf value;
    weir__path path;
    bool ended; /* the visitor said so, or no memory */
} walk;

void weir__origin_text(weir__origin origin, char *out, size_t size)
{
    const char *source = origin.source != NULL ? origin.source : WEIR__BUILT_IN;
    if (strcmp(source, WEIR__BUILT_IN) == 0 || origin.line == 0 || source[0] == '-' ||
        strncmp(source, "environment", 11) == 0) {
        snprintf(out, size, "%s", source);
    } else if (origin.column == 0) {
        snprintf(out, size, "%s:%u", source, origin.line);
    } else {
        snprintf(out, size, "%s:%u:%u", source, origin.line, origin.column);
    }
}

/* ---- values, in one form ---- */

static void write_number(weir__writer *out, double number)
{
    char text[40];
    for (int digits = 1; digits <= 17; digits++) { /* as short as it stays the same */
        double back = 0;
        snprintf(text, sizeof(text), "%.*g", digits, number);
        if (sscanf(text, "%lf", &back) == 1 && back == number) {
            break;
        }
    }
    weir__writer_print(out, "%s%s", text, strpbrk(text, ".en") == NULL ? ".0" : "");
}

static void write_texts(weir__writer *out, const weir__node *list)
{
    weir__writer_print(out, "[");
    for (size_t i = 0; list->kind == WEIR__LIST && i < list->list.count; i++) {
        const weir__node *item = list->list.items[i];
        weir__text text = { "", 0 };
        weir__writer_print(out, i > 0 ? ", " : "%s", "");
        if (item->kind == WEIR__LIST) {
            weir__writer_print(out, "[");
            for (size_t k = 0; k < item->list.count; k++) {
                weir__text inner = { "", 0 };
                (void)weir__read_text(item->list.items[k], &inner, NULL);
                weir__writer_print(out, k > 0 ? ", " : "%s", "");
                weir__writer_quoted(out, inner.bytes);
            }
            weir__writer_print(out, "]");
        } else {
            (void)weir__read_text(item, &text, NULL);
            weir__writer_quoted(out, text.bytes);
        }
    }
    weir__writer_print(out, "]");
}

static void write_integers(weir__writer *out, const weir__node *list)
{
    weir__writer_print(out, "[");
    for (size_t i = 0; list->kind == WEIR__LIST && i < list->list.count; i++) {
        int64_t number = 0;
        (void)weir__read_long(list->list.items[i], &number, NULL);
        weir__writer_print(out, "%s%" PRId64, i > 0 ? ", " : "", number);
    }
    weir__writer_print(out, "]");
}

static void write_duration(weir__writer *out, const weir_option *row, const weir__node *node)
{
    char text[48];
    weir_ns duration = WEIR_FOREVER;
    bool word = false;
    for (size_t i = 0; row->words != NULL && row->words[i] != NULL; i++) {
        word = word || (node->kind == WEIR__STRING && strcmp(node->text.bytes, row->words[i]) == 0);
    }
    if (!word) {
        (void)weir__read_duration(node, row->unit != 0 ? row->unit : WEIR_MS, &duration, NULL);
    }
    weir__duration_text(duration, text, sizeof(text));
    weir__writer_print(out, "%s", text);
}

/* Of a value that was found right. Returns whether JSON reads it as it is. */
static bool write_value(weir__writer *out, const weir_option *row, const weir__node *node)
{
    weir__text text = { "", 0 };
    int64_t integer = 0;
    uint64_t bytes = 0;
    double number = 0;
    bool truth = false;
    char shown[48];
    (void)weir__read_text(node, &text, NULL);
    switch (row->kind) {
    case WEIR_OPTION_SECRET:
        weir__writer_print(out, "***");
        return false;
    case WEIR_OPTION_BOOL:
        (void)weir__read_boolean(node, &truth, NULL);
        weir__writer_print(out, truth ? "true" : "false");
        return true;
    case WEIR_OPTION_INT:
        (void)weir__read_long(node, &integer, NULL);
        weir__writer_print(out, "%" PRId64, integer);
        return true;
    case WEIR_OPTION_DOUBLE:
        (void)weir__read_double(node, &number, NULL);
        write_number(out, number);
        return true;
    case WEIR_OPTION_DURATION:
        write_duration(out, row, node);
        return false;
    case WEIR_OPTION_BYTES:
        (void)weir__read_bytes(node, &bytes, NULL);
        weir__bytes_text(bytes, shown, sizeof(shown));
        weir__writer_print(out, "%s", shown);
        return false;
    case WEIR_OPTION_LIST:
    case WEIR_OPTION_LISTS:
        write_texts(out, node);
        return true;
    case WEIR_OPTION_TARGETS:
        if (node->kind == WEIR__STRING) {
            weir__writer_print(out, "[");
            weir__writer_quoted(out, text.bytes);
            weir__writer_print(out, "]");
        } else {
            write_texts(out, node);
        }
        return true;
    case WEIR_OPTION_INTS:
        write_integers(out, node);
        return true;
    case WEIR_OPTION_ENUM:
        weir__writer_bytes(out, text.bytes, text.length);
        return false;
    default:
        weir__writer_quoted(out, text.bytes);
        return true;
    }
}

/* ---- the walk ---- */

static void walk_rows(walk *w, const weir_option *rows, size_t count, const weir__node *object);

static void walk_value(walk *w, const weir_option *row, const weir__node *node)
{
    bool memory = true;
    if (node == NULL || node->kind == WEIR__NULL) {
        node = weir__fallback(w->config->tree, row, &memory);
    }
    if (node == NULL) {
        w->ended = w->ended || !memory;
        return;
    }
    w->value.length = 0;
    weir__writer out = { weir__textbuf_append, &w->value, false };
    const bool is_json = write_value(&out, row, node);
    const char *value = w->value.length > 0 ? w->value.bytes : "";
    weir__text secret = { "", 0 };
    (void)weir__read_text(node, &secret, NULL);
    const weir__shown shown = {
        .path = w->path.text,
        .value = value,
        .compared = row->kind == WEIR_OPTION_SECRET ? secret.bytes : value,
        .is_json = is_json,
        .origin = node->origin,
    };
    w->ended = w->ended || out.refused || !w->visit(w->context, &shown);
}

static void walk_items(walk *w, const weir_option *row, const weir__node *node)
{
    const size_t length = w->path.length;
    weir__node **items = NULL;
    size_t count = 0;
    if (node != NULL && !weir__read_list(w->config->tree, node, &items, &count, NULL)) {
        return;
    }
    for (size_t i = 0; i < count && !w->ended; i++) {
        weir__path_index(&w->path, i);
        walk_rows(w, row->rows, row->row_count, items[i]);
        weir__path_cut(&w->path, length);
    }
}

static void walk_map(walk *w, const weir_option *row, const weir__node *node)
{
    const size_t length = w->path.length;
    for (size_t i = 0; node != NULL && node->kind == WEIR__OBJECT && i < node->object.count; i++) {
        weir__path_name(&w->path, node->object.members[i].key.bytes);
        walk_rows(w, row->rows, row->row_count, node->object.members[i].value);
        weir__path_cut(&w->path, length);
    }
}

/* Of the three ways to say which threads there are, those that nobody used are not shown. */
static bool is_idle_form(const walk *w, const weir_option *row, const weir__node *node)
{
    const weir__node *engine =
        weir__tree_at(w->config->tree, w->config->tree->root, WEIR__ENGINE_PATH);
    const bool by_strategy = w->config->engine.assignment.strategy != 0;
    if (strcmp(w->path.text, "weir.engine.assignment") == 0) {
        return !by_strategy;
    }
    return strcmp(w->path.text, "weir.engine.thread-dispatcher-assignment") == 0 &&
           row->kind == WEIR_OPTION_LISTS && !weir__is_given(node) &&
           (by_strategy || weir__is_given(weir__child(w->config->tree, engine, "threads")));
}

static void walk_rows(walk *w, const weir_option *rows, size_t count, const weir__node *object)
{
    for (size_t i = 0; i < count && !w->ended; i++) {
        const weir_option row = weir__row(rows, i);
        const size_t length = w->path.length;
        if (row.kind == WEIR_OPTION_NAME) {
            continue;
        }
        const weir__node *node = weir__child(w->config->tree, object, row.key);
        weir__path_name(&w->path, row.key);
        if (is_idle_form(w, &row, node)) {
            /* nothing */
        } else if (row.kind == WEIR_OPTION_GROUP) {
            walk_rows(w, row.rows, row.row_count, node);
        } else if (row.kind == WEIR_OPTION_ITEMS) {
            walk_items(w, &row, node);
        } else if (row.kind == WEIR_OPTION_MAP) {
            walk_map(w, &row, node);
        } else {
            walk_value(w, &row, node);
        }
        weir__path_cut(&w->path, length);
    }
}

bool weir__show(const weir_config *config, bool (*visit)(void *context, const weir__shown *shown),
                void *context)
{
    walk w = { config, visit, context, { .allocator = &config->allocator }, { 0, "" }, false };
    if (config->tree == NULL) {
        return true;
    }
    /* Fallbacks are put into the tree's memory: one at a time. */
    weir__mutex *lock = (weir__mutex *)(uintptr_t)&config->lock;
    weir__mutex_lock(lock);
    for (size_t i = 0; config->tables[i] != NULL && !w.ended; i++) {
        const weir_option_table *table = config->tables[i];
        weir__path_begin(&w.path, table->path);
        walk_rows(&w, table->rows, table->row_count,
                  weir__tree_at(config->tree, config->tree->root, table->path));
    }
    weir__mutex_unlock(lock);
    weir__textbuf_close(&w.value);
    return !w.ended;
}

/* ---- JSON ---- */

typedef struct json {
    weir__writer out;
    bool first;
} json;

static bool write_shown(void *context, const weir__shown *shown)
{
    json *j = context;
    char origin[400];
    weir__origin_text(shown->origin, origin, sizeof(origin));
    weir__writer_print(&j->out, "%s\n  {\"key\": ", j->first ? "" : ",");
    weir__writer_quoted(&j->out, shown->path);
    weir__writer_print(&j->out, ", \"value\": ");
    if (shown->is_json) {
        weir__writer_bytes(&j->out, shown->value, strlen(shown->value));
    } else {
        weir__writer_quoted(&j->out, shown->value);
    }
    weir__writer_print(&j->out, ", \"from\": ");
    weir__writer_quoted(&j->out, origin);
    weir__writer_print(&j->out, "}");
    j->first = false;
    return !j->out.refused;
}

size_t weir_config_show(const weir_config *config, char *out, size_t size)
{
    if (out != NULL && size > 0) {
        out[0] = '\0';
    }
    if (config == NULL || (out == NULL && size > 0)) {
        return 0;
    }
    weir__textbuf text = { .allocator = &config->allocator };
    json j = { { weir__textbuf_append, &text, false }, true };
    weir__writer_print(&j.out, "{\"settings\": [");
    const bool well = weir__show(config, write_shown, &j);
    weir__writer_print(&j.out, "\n]}\n");
    const size_t length = well && !j.out.refused ? text.length : 0;
    if (length > 0 && size > 0) {
        const size_t shown = length < size ? length : size - 1;
        memcpy(out, text.bytes, shown);
        out[shown] = '\0';
    }
    weir__textbuf_close(&text);
    return length;
}

/* NOLINTEND(misc-no-recursion) */
