/*
 * cli/top_list.c - the rows of a table that pass the filter, in the order that was asked for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* qsort_r, strcasestr */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/top.h"

typedef struct order {
    const weir__top_column *column;
    bool reverse;
} order;

/* Unknown figures are last, whatever the order. */
static int compare_numbers(double a, double b, bool reverse)
{
    if (isnan(a) || isnan(b)) {
        return (isnan(a) ? 1 : 0) - (isnan(b) ? 1 : 0);
    }
    const int larger_first = (a < b ? 1 : 0) - (a > b ? 1 : 0);
    return reverse ? -larger_first : larger_first;
}

static int compare(const void *a, const void *b, void *context)
{
    const order *o = context;
    const char *const row_a = *(const char *const *)a;
    const char *const row_b = *(const char *const *)b;
    int answer;
    if (o->column->kind == WEIR__TOP_TEXT) {
        answer =
            strcmp(weir__top_cell_text(o->column, row_a), weir__top_cell_text(o->column, row_b));
        answer = o->reverse ? -answer : answer;
    } else {
        answer = compare_numbers(weir__top_cell_number(o->column, row_a),
                                 weir__top_cell_number(o->column, row_b), o->reverse);
    }
    /* As they came: rows that are alike must not change places at every look. */
    return answer != 0 ? answer : (row_a > row_b ? 1 : 0) - (row_a < row_b ? 1 : 0);
}

/* Any of its texts has the filter. */
static bool passes(const weir__top_table *table, const void *row, const char *filter)
{
    for (uint32_t i = 0; i < table->count; i++) {
        const weir__top_column *c = &table->columns[i];
        if (c->kind == WEIR__TOP_TEXT && strcasestr(weir__top_cell_text(c, row), filter) != NULL) {
            return true;
        }
    }
    return false;
}

bool weir__top_list_open(weir__top_list *list, const weir__top_figures *figures,
                         const weir__top_state *state, uint32_t table)
{
    const weir__top_table *t = &weir__top_tables[table];
    const weir__top_rows *from = &figures->rows[table];
    const weir__top_order *by = &state->orders[table];
    *list = (weir__top_list){ .total = from->count };
    if (from->count == 0) {
        return true;
    }
    list->rows = calloc(from->count, sizeof(*list->rows));
    if (list->rows == NULL) {
        return false;
    }
    for (size_t i = 0; i < from->count; i++) {
        const void *row = (const char *)from->items + i * t->row_size;
        if (state->filter[0] == '\0' || passes(t, row, state->filter)) {
            list->rows[list->count++] = row;
        }
    }
    if (by->column >= 0) {
        order o = { &t->columns[by->column], by->reverse };
        qsort_r(list->rows, list->count, sizeof(*list->rows), compare, &o);
    }
    return true;
}

void weir__top_list_close(weir__top_list *list)
{
    free(list->rows);
    *list = (weir__top_list){ 0 };
}
