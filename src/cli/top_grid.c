/*
 * cli/top_grid.c - one table in a given width: the most important columns that fit, then names as
 * long as there is room. Every line of a grid takes the same number of columns, so that two stand
 * side by side.
 *
 * A figure that is beyond a rule of thumb has a mark as well as a colour: '*' for what is worth a
 * look, '!' for what is wrong.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "cli/top.h"

enum { BAR_MORE = 20, PERCENT_WIDTH = 8, TEXT_MAX = 80 };

/* ---- the columns ---- */

/* A blank before it, but before the first: after that. */
static int text_need(const weir__top_grid *grid, const weir__top_column *c)
{
    int need = (int)strlen(c->title);
    for (size_t i = 0; i < grid->list.count; i++) {
        const int width =
            weir__top_text_width(weir__top_cell_text(c, grid->list.rows[i]), grid->terminal.utf8);
        need = width > need ? width : need;
    }
    return (need < TEXT_MAX ? need : TEXT_MAX) + 1;
}

static int column_need(const weir__top_grid *grid, uint32_t i)
{
    const weir__top_column *c = &grid->table->columns[i];
    return c->kind == WEIR__TOP_TEXT ? text_need(grid, c) : c->width;
}

static void grow(weir__top_grid *grid, const int *needs, int left)
{
    for (uint32_t i = 0; i < grid->count; i++) {
        const int more = needs[grid->columns[i]] - grid->widths[i];
        const int given = more < left ? more : left;
        grid->widths[i] += given > 0 ? given : 0;
        left -= given > 0 ? given : 0;
    }
    for (uint32_t i = 0; i < grid->count; i++) {
        if (grid->table->columns[grid->columns[i]].kind == WEIR__TOP_BAR) {
            grid->widths[i] += left < BAR_MORE ? left : BAR_MORE;
            left = 0;
        }
    }
}

void weir__top_grid_open(weir__top_grid *grid, uint32_t width)
{
    const weir__top_table *table = grid->table;
    int needs[WEIR__TOP_COLUMNS_MAX];
    int widths[WEIR__TOP_COLUMNS_MAX] = { 0 };
    bool chosen[WEIR__TOP_COLUMNS_MAX] = { true };
    for (uint32_t i = 0; i < table->count; i++) {
        needs[i] = column_need(grid, i);
        widths[i] = needs[i] < table->columns[i].width ? needs[i] : table->columns[i].width;
        widths[i] = width == 0 ? needs[i] : widths[i];
    }
    int left = (width == 0 ? (int)(TEXT_MAX * table->count) : (int)width) - widths[0];
    for (uint32_t rank = 0; rank <= UINT8_MAX; rank++) {
        for (uint32_t i = 1; i < table->count; i++) {
            if (table->columns[i].rank == rank && widths[i] <= left) {
                chosen[i] = true;
                left -= widths[i];
            }
        }
    }
    grid->count = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        if (chosen[i]) {
            grid->columns[grid->count] = i;
            grid->widths[grid->count++] = widths[i];
        }
    }
    if (left < 0) { /* a window narrower than the name */
        grid->widths[0] += left;
    } else if (width > 0) {
        grow(grid, needs, left);
    }
}

int weir__top_grid_width(const weir__top_grid *grid)
{
    int width = 0;
    for (uint32_t i = 0; i < grid->count; i++) {
        width += grid->widths[i];
    }
    return width;
}

/* ---- lines ---- */

static void put_toned(FILE *out, const weir__top_grid *grid, weir__tone tone, int padding,
                      const char *mark, const char *text)
{
    fprintf(out, "%*s%s%s%s%s", padding > 0 ? padding : 0, "",
            weir__terminal_begin(&grid->terminal, tone), mark, text,
            weir__terminal_end(&grid->terminal, tone));
}

/* At the end of a line nothing is padded: what follows are blanks anyway. */
static void put_name(FILE *out, const weir__top_grid *grid, uint32_t i, weir__tone tone,
                     const char *text, const char *after)
{
    const int before = i > 0 ? 1 : 0;
    const int room = grid->widths[i] - 1 - (int)(after[0] != '\0' ? 1 : 0);
    fprintf(out, "%*s%s", before, "", weir__terminal_begin(&grid->terminal, tone));
    const int used = weir__top_text_put(out, text, room > 0 ? room : 0, grid->terminal.utf8);
    fprintf(out, "%s%s%*s", after, weir__terminal_end(&grid->terminal, tone),
            grid->widths[i] - before - used - (after[0] != '\0' ? 1 : 0), "");
}

static void put_bar(FILE *out, const weir__top_grid *grid, uint32_t i, double share,
                    weir__tone tone)
{
    const char *full = grid->terminal.utf8 ? "█" : "#";
    const char *empty = grid->terminal.utf8 ? "░" : ".";
    const int cells = grid->widths[i] - PERCENT_WIDTH - 1;
    fprintf(out, " %s", weir__terminal_begin(&grid->terminal, tone));
    for (int cell = 0; cell < cells; cell++) {
        fputs(cell < (int)(share * cells + 0.5) ? full : empty, out);
    }
    fputs(weir__terminal_end(&grid->terminal, tone), out);
}

static const char *mark_of(weir__tone tone)
{
    return tone == WEIR__TONE_BAD ? "!" : tone == WEIR__TONE_FAIR ? "*" : "";
}

static void put_cell(FILE *out, const weir__top_grid *grid, uint32_t i, const void *row)
{
    const weir__top_column *c = &grid->table->columns[grid->columns[i]];
    if (c->kind == WEIR__TOP_TEXT) {
        const char *text = weir__top_cell_text(c, row);
        /* The default dispatcher's name is "". */
        const bool quoted = text[0] == '\0' && strncmp(c->key, "dispatcher", 10) == 0;
        put_name(out, grid, i, WEIR__TONE_PLAIN, quoted ? "\"\"" : text, "");
        return;
    }
    const double value = weir__top_cell_number(c, row);
    const weir__tone tone = weir__top_cell_tone(c, row);
    const char *mark = mark_of(tone);
    int width = grid->widths[i];
    if (c->kind == WEIR__TOP_BAR) {
        put_bar(out, grid, i, isfinite(value) ? value : 0, tone);
        width = PERCENT_WIDTH;
    }
    const int marked = (int)strlen(mark);
    const weir__top_text text = weir__top_number_text(c->kind, value, width - 1 - marked);
    put_toned(out, grid, tone, width - (int)strlen(text.text) - marked, mark, text.text);
}

void weir__top_grid_row(FILE *out, const weir__top_grid *grid, size_t row)
{
    for (uint32_t i = 0; i < grid->count; i++) {
        put_cell(out, grid, i, grid->list.rows[row]);
    }
}

static const char *order_mark(const weir__top_grid *grid, uint32_t column)
{
    if (grid->order.column != (int)column) {
        return "";
    }
    const bool down = (grid->table->columns[column].kind != WEIR__TOP_TEXT) != grid->order.reverse;
    return grid->terminal.utf8 ? (down ? "▼" : "▲") : (down ? "v" : "^");
}

/* "processor 5/14"; of a narrow one the numbers rather than the word. */
static void put_part(char *out, size_t size, const weir__top_grid *grid, size_t shown)
{
    const char *title = grid->table->columns[0].title;
    const int numbers = snprintf(NULL, 0, " %zu/%zu", shown, grid->list.total);
    const int left = grid->widths[0] - 2 - numbers; /* a blank, and the mark of the order */
    (void)snprintf(out, size, "%.*s %zu/%zu", left > 1 ? left : 1, title, shown, grid->list.total);
}

void weir__top_grid_head(FILE *out, const weir__top_grid *grid, size_t shown)
{
    for (uint32_t i = 0; i < grid->count; i++) {
        const weir__top_column *c = &grid->table->columns[grid->columns[i]];
        const char *mark = order_mark(grid, grid->columns[i]);
        const weir__tone tone = mark[0] != '\0' ? WEIR__TONE_STRONG : WEIR__TONE_FAINT;
        char title[96];
        (void)snprintf(title, sizeof(title), "%s", c->title);
        if (i == 0 && shown < grid->list.total) {
            put_part(title, sizeof(title), grid, shown);
        }
        if (c->kind == WEIR__TOP_TEXT) {
            put_name(out, grid, i, tone, title, mark);
        } else {
            put_toned(out, grid, tone,
                      grid->widths[i] - (int)strlen(title) - (mark[0] != '\0' ? 1 : 0), mark,
                      title);
        }
    }
}
