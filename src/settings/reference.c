/*
 * settings/reference.c - the tables as text: the built-in layer, config/reference.conf, and the
 * list of keys in weir.conf(5).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "settings/fill.h"
#include "settings/writer.h"

/* NOLINTBEGIN(misc-no-recursion): tables are as deep as they were written */

enum { WIDTH = 96, MANUAL_WIDTH = 72 };

typedef struct page {
    weir__writer out;
    weir__reference_form form;
} page;

/* ---- what may be written ---- */

static void bound(const weir_option *row, double value, char *out, size_t size)
{
    if (row->kind == WEIR_OPTION_DURATION) {
        weir__duration_text((weir_ns)value, out, size);
    } else if (row->kind == WEIR_OPTION_BYTES) {
        weir__bytes_text((uint64_t)value, out, size);
    } else if (row->kind == WEIR_OPTION_DOUBLE) {
        snprintf(out, size, "%.1f", value);
    } else {
        snprintf(out, size, "%.0f", value);
    }
}

static const char *type_name(const weir_option *row)
{
    switch (row->kind) {
    case WEIR_OPTION_STRING:
        return "text";
    case WEIR_OPTION_BOOL:
        return "boolean";
    case WEIR_OPTION_INT:
        return "integer";
    case WEIR_OPTION_DOUBLE:
        return "number";
    case WEIR_OPTION_DURATION:
        return row->unit == WEIR_US ? "duration, a number is in microseconds" : "duration";
    case WEIR_OPTION_BYTES:
        return "size";
    case WEIR_OPTION_ENUM:
        return "one of";
    case WEIR_OPTION_LIST:
        return "list of texts";
    case WEIR_OPTION_LISTS:
        return "list of lists of texts";
    case WEIR_OPTION_INTS:
        return "list of integers";
    case WEIR_OPTION_SECRET:
        return "secret text";
    case WEIR_OPTION_ITEMS:
        return "list of objects";
    case WEIR_OPTION_MAP:
        return "objects by name";
    case WEIR_OPTION_TARGET:
        return "name of a component, processor or router";
    case WEIR_OPTION_TARGETS:
        return "list of names of components, processors or routers";
    case WEIR_OPTION_GROUP:
    case WEIR_OPTION_NAME:
    default:
        return "object";
    }
}

static bool is_bounded(const weir_option *row)
{
    const bool counts = row->kind == WEIR_OPTION_INT || row->kind == WEIR_OPTION_DOUBLE ||
                        row->kind == WEIR_OPTION_DURATION || row->kind == WEIR_OPTION_BYTES ||
                        row->kind == WEIR_OPTION_INTS;
    return counts && (row->min != 0 || row->max != 0);
}

void weir__write_type(weir__writer *out, const weir_option *row)
{
    char low[48], high[48];
    weir__writer_print(out, "%s", type_name(row));
    if (row->kind == WEIR_OPTION_ENUM) {
        for (size_t i = 0; row->words != NULL && row->words[i] != NULL; i++) {
            weir__writer_print(out, "%s%s", i > 0 ? ", " : " ", row->words[i]);
        }
        return;
    }
    if (is_bounded(row)) {
        bound(row, row->min, low, sizeof(low));
        bound(row, row->max, high, sizeof(high));
        if (row->max == 0 || row->max >= 9e18) { /* what a duration or a size can hold at all */
            weir__writer_print(out, ", %s %s", row->above ? "more than" : "at least", low);
        } else if (row->above) {
            weir__writer_print(out, ", more than %s and at most %s", low, high);
        } else {
            weir__writer_print(out, ", %s to %s", low, high);
        }
    }
    if (row->kind == WEIR_OPTION_DURATION && row->words != NULL && row->words[0] != NULL) {
        weir__writer_print(out, ", or %s", row->words[0]);
    }
}

/* ---- values ---- */

static void write_fallback(weir__writer *out, const weir_option *row)
{
    if (row->kind == WEIR_OPTION_STRING || row->kind == WEIR_OPTION_SECRET) {
        weir__writer_quoted(out, row->fallback);
    } else {
        weir__writer_print(out, "%s", row->fallback);
    }
}

/* ---- HOCON ---- */

/* A comment, broken into lines. */
static void write_comment(page *p, const char *indent, const char *text)
{
    const size_t width = WIDTH - strlen(indent) - 2;
    while (*text != '\0') {
        size_t length = strlen(text);
        if (length > width) {
            length = width;
            while (length > 0 && text[length] != ' ') {
                length--;
            }
            length = length == 0 ? width : length;
        }
        weir__writer_print(&p->out, "%s# %.*s\n", indent, (int)length, text);
        text += length;
        text += strspn(text, " ");
    }
}

static void write_facts(page *p, const char *indent, const weir_option *row)
{
    weir__writer_print(&p->out, "%s# ", indent);
    weir__write_type(&p->out, row);
    if (row->required) {
        weir__writer_print(&p->out, "; required");
    }
    if (row->since != NULL) {
        weir__writer_print(&p->out, "; since %s", row->since);
    }
    weir__writer_print(&p->out, "\n");
}

static void write_rows(page *p, const weir_option *rows, size_t count, const char *indent);

/* What has no default is shown in a comment, with its keys. */
static void write_composite(page *p, const weir_option *row, const char *indent)
{
    char deeper[40];
    const bool map = row->kind == WEIR_OPTION_MAP;
    if (p->form == WEIR__REFERENCE_BUILT_IN) {
        return;
    }
    snprintf(deeper, sizeof(deeper), "%s#   ", indent);
    weir__writer_print(&p->out, map ? "%s# %s { \"NAME\" {\n" : "%s# %s = [ {\n", indent, row->key);
    write_rows(p, row->rows, row->row_count, deeper);
    weir__writer_print(&p->out, map ? "%s# } }\n" : "%s# } ]\n", indent);
}

static void write_group(page *p, const weir_option *row, const char *indent)
{
    char deeper[40];
    snprintf(deeper, sizeof(deeper), "%s  ", indent);
    weir__writer_print(&p->out, "%s%s {\n", indent, row->key);
    write_rows(p, row->rows, row->row_count, deeper);
    weir__writer_print(&p->out, "%s}\n", indent);
}

static void write_row(page *p, const weir_option *row, const char *indent)
{
    if (row->kind == WEIR_OPTION_GROUP) {
        write_group(p, row, indent);
    } else if (row->kind == WEIR_OPTION_ITEMS || row->kind == WEIR_OPTION_MAP) {
        write_composite(p, row, indent);
    } else if (row->fallback != NULL) {
        weir__writer_print(&p->out, "%s%s = ", indent, row->key);
        write_fallback(&p->out, row);
        weir__writer_print(&p->out, "\n");
    } else if (p->form == WEIR__REFERENCE_FILE) {
        weir__writer_print(&p->out, "%s# %s =\n", indent, row->key);
    }
}

static void write_rows(page *p, const weir_option *rows, size_t count, const char *indent)
{
    bool first = true;
    for (size_t i = 0; i < count; i++) {
        const weir_option row = weir__row(rows, i);
        if (row.kind == WEIR_OPTION_NAME) {
            continue;
        }
        if (p->form == WEIR__REFERENCE_FILE) {
            if (!first) { /* a blank line, behind the # of what is a comment as a whole */
                const char *mark = strrchr(indent, '#');
                weir__writer_print(&p->out, "%.*s\n", mark != NULL ? (int)(mark - indent) + 1 : 0,
                                   indent);
            }
            write_comment(p, indent, row.help != NULL ? row.help : "");
            write_facts(p, indent, &row);
        }
        write_row(p, &row, indent);
        first = false;
    }
}

/* ---- mdoc ---- */

static void write_keys(page *p, const weir_option *rows, size_t count, weir__path *path);

/* A sentence begins on a line of its own, and no line is long. */
static void write_prose(page *p, const char *text)
{
    size_t column = 0;
    char before = ' ';
    for (const char *c = text; *c != '\0'; before = *c++) {
        const size_t word = *c == ' ' ? strcspn(c + 1, " ") : 0;
        if (*c == '"') {
            weir__writer_print(&p->out, "\\(dq");
            column += 4;
        } else if (*c == ' ' && (before == '.' || column + word > MANUAL_WIDTH)) {
            weir__writer_print(&p->out, "\n");
            column = 0;
        } else if (*c != '`') {
            weir__writer_bytes(&p->out, c, 1);
            column++;
        }
    }
}

static void write_key(page *p, const weir_option *row, weir__path *path)
{
    const size_t length = path->length;
    weir__path_name(path, row->key);
    weir__writer_print(&p->out, ".It Cm %s\n", path->text);
    weir__write_type(&p->out, row);
    if (row->fallback != NULL) {
        weir__writer_print(&p->out, "; default\n.Ql ");
        /* mdoc would take an empty pair of quotes for its own. */
        if (row->kind == WEIR_OPTION_LISTS) {
            weir__writer_print(&p->out, "[[\\(dq\\(dq]]");
        } else {
            weir__writer_print(&p->out, "%s", row->fallback);
        }
    } else if (row->required) {
        weir__writer_print(&p->out, "; required");
    }
    if (row->since != NULL) {
        weir__writer_print(&p->out, "\n.Pq since %s", row->since);
    }
    weir__writer_print(&p->out, "\n.br\n");
    write_prose(p, row->help != NULL ? row->help : "");
    weir__writer_print(&p->out, "\n");
    if (row->rows != NULL) {
        if (row->kind == WEIR_OPTION_MAP) {
            weir__path_name(path, "NAME");
        } else if (row->kind == WEIR_OPTION_ITEMS) {
            weir__path_index(path, 0);
            path->text[path->length - 2] = 'N';
        }
        write_keys(p, row->rows, row->row_count, path);
    }
    weir__path_cut(path, length);
}

static void write_keys(page *p, const weir_option *rows, size_t count, weir__path *path)
{
    for (size_t i = 0; i < count; i++) {
        const weir_option row = weir__row(rows, i);
        if (row.kind != WEIR_OPTION_NAME) {
            write_key(p, &row, path);
        }
    }
}

static void write_manual(page *p, const weir_option_table *table)
{
    weir__path path;
    weir__writer_print(&p->out, ".Bl -tag -width 4n\n");
    weir__path_begin(&path, table->path);
    write_keys(p, table->rows, table->row_count, &path);
    weir__writer_print(&p->out, ".El\n");
}

/* ---- all ---- */

bool weir__write_reference(const weir_option_table *const *tables, weir__reference_form form,
                           weir__settings_sink sink, void *context)
{
    page p = { { sink, context, false }, form };
    for (size_t i = 0; tables[i] != NULL; i++) {
        const weir_option_table *table = tables[i];
        if (form == WEIR__REFERENCE_MANUAL) {
            write_manual(&p, table);
            continue;
        }
        if (form == WEIR__REFERENCE_FILE && table->help != NULL) {
            write_comment(&p, "", table->help);
        }
        weir__writer_print(&p.out, "%s {\n", table->path);
        write_rows(&p, table->rows, table->row_count, "  ");
        weir__writer_print(&p.out, "}\n");
    }
    return !p.out.refused;
}

/* NOLINTEND(misc-no-recursion) */
