/*
 * cli/top_view.c - a page that fits the window: the header, then tables, the most important first.
 *
 * What does not fit is cut, and the page says so: "processor 5/14" in the head of a table, and a
 * line that names the tables that there was no room for. In a wide window tables stand in pairs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/top.h"

enum {
    WIDTH_MIN = 20,
    HEIGHT_MIN = 6,
    HEADER_LINES = 3,
    PAIRS_FROM = 160, /* columns */
    GAP = 3,          /* columns between a pair */
    BLOCKS_MAX = 10,
    NONE = WEIR__TOP_TABLES
};

/* Two tables side by side, or one; one under the other in a narrow window. */
typedef struct block {
    weir__top_grid grids[2];
    uint32_t count;
    size_t rows;    /* of the longer */
    size_t lines;   /* it gets; 0: hidden */
    size_t skipped; /* rows before the first that is shown, of grids[0] */
    bool scrolled;
    uint32_t tables[2];
} block;

typedef struct page {
    FILE *out;
    const weir__top_figures *figures;
    const weir__top_window *window;
    weir__top_state *state;
    int width; /* that is used of the window's; 0: any */
    block blocks[BLOCKS_MAX];
    uint32_t block_count;
    size_t lines; /* for the tables */
} page;

static const uint32_t views[WEIR__TOP_VIEWS][BLOCKS_MAX][2] = {
    { { WEIR__TOP_DISPATCHERS, WEIR__TOP_THREADS },
      { WEIR__TOP_PROCESSORS, NONE },
      { WEIR__TOP_FEEDS, WEIR__TOP_ROUTERS },
      { WEIR__TOP_LETTERS, WEIR__TOP_WORKERS },
      { WEIR__TOP_HEALTH, WEIR__TOP_ERRORS },
      { NONE, NONE } },
    { { WEIR__TOP_DISPATCHERS, NONE }, { NONE, NONE } },
    { { WEIR__TOP_THREADS, NONE }, { NONE, NONE } },
    { { WEIR__TOP_PROCESSORS, NONE }, { NONE, NONE } },
    { { WEIR__TOP_WORKERS, NONE },
      { WEIR__TOP_ROUTERS, NONE },
      { WEIR__TOP_FEEDS, NONE },
      { NONE, NONE } },
    { { WEIR__TOP_HEALTH, NONE },
      { WEIR__TOP_LETTERS, NONE },
      { WEIR__TOP_ERRORS, NONE },
      { NONE, NONE } },
    { { WEIR__TOP_OWN, NONE }, { NONE, NONE } },
};

static const char *const view_names[WEIR__TOP_VIEWS] = { "all",        "dispatchers", "threads",
                                                         "processors", "flows",       "letters",
                                                         "own" };
static const char *const view_words[WEIR__TOP_VIEWS] = { "all",  "disp", "thr", "proc",
                                                         "flow", "dead", "own" };

/* ---- lines of parts ---- */

typedef struct line {
    const page *page;
    int used;
} line;

static int room(const line *l)
{
    return l->page->width == 0 ? 4096 : l->page->width - l->used;
}

/* A part that does not fit is left out, but for the text of somebody else, which is cut. */
__attribute__((format(printf, 3, 4))) static void add(line *l, weir__tone tone, const char *format,
                                                      ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    const int width = (int)strlen(text);
    if (width <= room(l)) {
        const weir__terminal *terminal = &l->page->window->terminal;
        fprintf(l->page->out, "%s%s%s", weir__terminal_begin(terminal, tone), text,
                weir__terminal_end(terminal, tone));
        l->used += width;
    }
}

static void add_text(line *l, weir__tone tone, const char *text)
{
    const weir__terminal *terminal = &l->page->window->terminal;
    if (room(l) > 2) {
        fputs(weir__terminal_begin(terminal, tone), l->page->out);
        l->used += weir__top_text_put(l->page->out, text, room(l), terminal->utf8);
        fputs(weir__terminal_end(terminal, tone), l->page->out);
    }
}

static void end(const line *l)
{
    fputc('\n', l->page->out);
}

/* ---- the header ---- */

static weir__tone tone_of_status(const char *status)
{
    return strcmp(status, "up") == 0         ? WEIR__TONE_GOOD
           : strcmp(status, "degraded") == 0 ? WEIR__TONE_FAIR
           : status[0] != '\0'               ? WEIR__TONE_BAD
                                             : WEIR__TONE_PLAIN;
}

static weir__top_text life_text(double ns)
{
    weir__top_text out = { "-" };
    if (!(ns >= 0 && ns < 1e19)) {
        return out;
    }
    const unsigned long long s = (unsigned long long)(ns / 1e9);
    if (s < 120) {
        (void)snprintf(out.text, sizeof(out.text), "%.1f s", ns / 1e9);
    } else if (s < 86400) {
        (void)snprintf(out.text, sizeof(out.text), "%llu:%02llu:%02llu", s / 3600, s / 60 % 60,
                       s % 60);
    } else {
        (void)snprintf(out.text, sizeof(out.text), "%llu d %llu:%02llu", s / 86400, s / 3600 % 24,
                       s / 60 % 60);
    }
    return out;
}

static void put_first_line(const page *p)
{
    const weir__top_figures *f = p->figures;
    const weir__top_rows *reasons = &f->rows[WEIR__TOP_HEALTH];
    line l = { p, 0 };
    add(&l, WEIR__TONE_STRONG, "weir top");
    add(&l, WEIR__TONE_PLAIN, "  ");
    add_text(&l, WEIR__TONE_PLAIN, f->name);
    add(&l, WEIR__TONE_PLAIN, "  ");
    add(&l, tone_of_status(f->status), "%.20s", f->status[0] != '\0' ? f->status : "health -");
    add(&l, strcmp(f->phase, "running") == 0 ? WEIR__TONE_PLAIN : WEIR__TONE_FAIR, "  %.20s %s",
        f->phase, life_text(f->uptime_ns).text);
    if (reasons->count > 0) {
        const weir__top_reason *first = reasons->items;
        char why[512];
        char more[32] = "";
        if (reasons->count > 1) {
            (void)snprintf(more, sizeof(more), "(+%zu) ", reasons->count - 1);
        }
        (void)snprintf(why, sizeof(why), "  %s%s: %s", more, first->what, first->reason);
        add_text(&l, WEIR__TONE_PLAIN, why);
    }
    end(&l);
}

static void add_figure(line *l, const char *name, weir__top_kind kind, double value,
                       weir__tone tone)
{
    const char *mark = tone == WEIR__TONE_BAD ? "!" : tone == WEIR__TONE_FAIR ? "*" : "";
    const weir__top_text text = weir__top_number_text(kind, value, 15);
    const int width = (int)(strlen(name) + strlen(mark) + strlen(text.text)) + 1;
    if (width + (l->used > 0 ? 2 : 0) <= room(l)) {
        add(l, WEIR__TONE_PLAIN, "%s%s ", l->used > 0 ? "  " : "", name);
        add(l, tone, "%s%s", mark, text.text);
    }
}

static weir__tone growing(double per_s, double total)
{
    return per_s > 0 ? WEIR__TONE_BAD : total > 0 ? WEIR__TONE_FAIR : WEIR__TONE_PLAIN;
}

static void put_header(const page *p)
{
    const weir__top_figures *f = p->figures;
    put_first_line(p);
    line l = { p, 0 };
    add_figure(&l, "events/s", WEIR__TOP_COUNT, f->events_per_s, WEIR__TONE_STRONG);
    add_figure(&l, "depth", WEIR__TOP_COUNT, f->depth, WEIR__TONE_PLAIN);
    add_figure(&l, "dropped", WEIR__TOP_COUNT, f->dropped, growing(f->dropped_per_s, f->dropped));
    add_figure(&l, "dead", WEIR__TOP_COUNT, f->dead, growing(f->dead_per_s, f->dead));
    add_figure(&l, "refused", WEIR__TOP_COUNT, f->refused, growing(0, f->refused));
    add_figure(&l, "failures", WEIR__TOP_COUNT, f->failures, growing(0, f->failures));
    add_figure(&l, "refused/s", WEIR__TOP_COUNT, f->refused_per_s, WEIR__TONE_PLAIN);
    add_figure(&l, "dropped/s", WEIR__TOP_COUNT, f->dropped_per_s, WEIR__TONE_PLAIN);
    add_figure(&l, "dead letters", WEIR__TOP_COUNT, f->letters, WEIR__TONE_PLAIN);
    end(&l);
    l.used = 0;
    add_figure(&l, "CPU", WEIR__TOP_SHARE, f->cpu, WEIR__TONE_STRONG);
    add_figure(&l, "of cores", WEIR__TOP_COUNT, f->cores, WEIR__TONE_PLAIN);
    add_figure(&l, "RSS", WEIR__TOP_BYTES, f->rss, WEIR__TONE_PLAIN);
    if (f->throttled_per_s > 0) {
        add_figure(&l, "throttled", WEIR__TOP_SHARE, f->throttling, WEIR__TONE_BAD);
    }
    add_figure(&l, "threads", WEIR__TOP_COUNT, f->threads, WEIR__TONE_PLAIN);
    add_figure(&l, "processors", WEIR__TOP_COUNT, f->processors, WEIR__TONE_PLAIN);
    add_figure(&l, "timers", WEIR__TOP_COUNT, f->timers, WEIR__TONE_PLAIN);
    if (f->since_start) {
        add(&l, WEIR__TONE_FAINT, "  rates since its start");
    }
    end(&l);
}

/* ---- the last line ---- */

static void put_footer(const page *p)
{
    const weir__top_state *s = p->state;
    const uint32_t table = weir__top_state_table(s);
    line l = { p, 0 };
    if (s->typing || s->filter[0] != '\0') {
        add(&l, WEIR__TONE_STRONG, "filter: ");
        add_text(&l, WEIR__TONE_STRONG, s->filter);
        add(&l, WEIR__TONE_STRONG, s->typing ? "_  " : "  ");
    }
    if (s->typing) {
        add(&l, WEIR__TONE_FAINT, "Enter keeps it, Esc shows all");
        end(&l);
        return;
    }
    if (s->paused) {
        add(&l, WEIR__TONE_FAIR, "paused  ");
    }
    for (uint32_t i = 0; i < WEIR__TOP_VIEWS; i++) {
        add(&l, i == s->view ? WEIR__TONE_STRONG : WEIR__TONE_FAINT, "%s%u%s%s", i > 0 ? " " : "",
            i + 1, i == s->view ? ">" : " ", (p->width < 100 ? view_words : view_names)[i]);
    }
    const int column = s->orders[table].column;
    const bool narrow = p->width < 100;
    add(&l, WEIR__TONE_FAINT, narrow ? " ? help q quit" : "  ? help  q quit");
    add(&l, WEIR__TONE_FAINT, narrow ? "  sort: %s" : "  s sort: %s",
        column >= 0 ? weir__top_tables[table].columns[column].key : "none");
    add(&l, WEIR__TONE_FAINT, "  r turn round  / filter  p pause");
    end(&l);
}

static void put_help(const page *p)
{
    static const char *const lines[] = {
        "1-7, Tab        views: all, dispatchers, threads, processors, flows, dead, own",
        "j k, arrows     scroll; PgUp PgDn, g and G: by pages, to the begin and the end",
        "s, < and >      sort by the next column, by the one before",
        "r               the other way round",
        "/               show only what has this text in a name; Esc: all again",
        "p, blank        pause: the page stays, the server goes on",
        "?               this help; q, Ctrl-C: the end",
        "",
        "! beyond a rule of thumb, * worth a look (`weir doctor` says what to do):",
        "contend > 50 %, backoff > 30 %, p99/p50 > 10, busy < 30 % beside a full thread,",
        "found < 90 % of wake-ups, woke < 95 % of signals, waits p99 > 100 us under load.",
        "q: time in a queue, h: in a handler, of one event in 64, since the start.",
    };
    for (size_t i = 0; i < p->lines; i++) {
        line l = { p, 0 };
        add_text(&l, WEIR__TONE_PLAIN, i < sizeof(lines) / sizeof(lines[0]) ? lines[i] : "");
        end(&l);
    }
}

/* ---- tables ---- */

/* False: no memory. Empty ones are left out, where others are to be seen. */
static bool add_block(page *p, uint32_t first, uint32_t second, bool lonely)
{
    block *b = &p->blocks[p->block_count];
    const uint32_t tables[] = { first, second };
    *b = (block){ 0 };
    for (uint32_t i = 0; i < 2; i++) {
        if (tables[i] == NONE || (p->figures->rows[tables[i]].count == 0 && !lonely)) {
            continue;
        }
        weir__top_grid *grid = &b->grids[b->count];
        grid->table = &weir__top_tables[tables[i]];
        grid->order = p->state->orders[tables[i]];
        grid->terminal = p->window->terminal;
        if (!weir__top_list_open(&grid->list, p->figures, p->state, tables[i])) {
            return false;
        }
        if (grid->list.count == 0 && !lonely) { /* nothing of it passes the filter */
            weir__top_list_close(&grid->list);
            continue;
        }
        b->tables[b->count++] = tables[i];
        b->rows = grid->list.count > b->rows ? grid->list.count : b->rows;
        b->scrolled = b->scrolled || tables[i] == weir__top_state_table(p->state);
    }
    const int width = b->count == 2 ? (p->width - GAP) / 2 : p->width;
    for (uint32_t i = 0; i < b->count; i++) {
        weir__top_grid_open(&b->grids[i], (uint32_t)(width > 0 ? width : 0));
    }
    p->block_count += b->count > 0 ? 1 : 0;
    return true;
}

static bool add_blocks(page *p)
{
    const uint32_t(*view)[2] = views[p->state->view];
    const bool pairs = p->width >= PAIRS_FROM;
    /* What is asked for by name is shown although there is none of it. */
    const bool lonely = view[1][0] == NONE;
    bool ok = true;
    for (; ok && view[0][0] != NONE; view++) {
        if (pairs) {
            ok = add_block(p, view[0][0], view[0][1], lonely);
        } else {
            ok = add_block(p, view[0][0], NONE, lonely) &&
                 (view[0][1] == NONE || add_block(p, view[0][1], NONE, lonely));
        }
    }
    return ok;
}

static size_t wanted(const block *b)
{
    return 1 + b->rows;
}

/* With its head. A table of which less can be seen is not worth its place. */
static size_t least_lines(const block *b)
{
    static const uint8_t lines[WEIR__TOP_TABLES] = {
        [WEIR__TOP_DISPATCHERS] = 4, [WEIR__TOP_THREADS] = 5, [WEIR__TOP_PROCESSORS] = 6
    };
    const size_t least = lines[b->tables[0]];
    return least > 0 ? least : 3;
}

/* The important ones first, each its least; then a row each in turn. */
static bool share_lines(page *p, size_t lines)
{
    bool all = true;
    for (uint32_t i = 0; i < p->block_count; i++) {
        block *b = &p->blocks[i];
        const size_t least = least_lines(b);
        const size_t take = wanted(b) < least ? wanted(b) : least;
        /* A head and a row of what is important rather than all of what is not. */
        b->lines = take <= lines ? take : lines >= 2 ? lines : 0;
        lines -= b->lines;
        all = all && b->lines > 0;
    }
    for (bool given = true; given && lines > 0;) {
        given = false;
        for (uint32_t i = 0; i < p->block_count && lines > 0; i++) {
            block *b = &p->blocks[i];
            if (b->lines > 0 && b->lines < wanted(b)) {
                b->lines++;
                lines--;
                given = true;
            }
        }
    }
    p->lines = lines; /* that are left */
    return all;
}

static void put_block(const page *p, const block *b)
{
    for (size_t at = 0; at < b->lines; at++) {
        int used = 0;
        for (uint32_t i = 0; i < b->count; i++) {
            const weir__top_grid *grid = &b->grids[i];
            const size_t shown = grid->list.count < b->lines - 1 ? grid->list.count : b->lines - 1;
            const size_t first = b->scrolled && grid->list.count > shown ? b->skipped : 0;
            const bool any = at == 0 || first + at - 1 < grid->list.count;
            if (i > 0) {
                fprintf(p->out, "%*s", (p->width + GAP) / 2 - used, "");
            }
            if (at == 0) {
                weir__top_grid_head(p->out, grid, shown);
            } else if (any) {
                weir__top_grid_row(p->out, grid, first + at - 1);
            }
            used = any ? weir__top_grid_width(grid) : 0;
        }
        fputc('\n', p->out);
    }
}

static void put_hidden(const page *p)
{
    line l = { p, 0 };
    bool first = true;
    add(&l, WEIR__TONE_FAINT, "no room for:");
    for (uint32_t i = 0; i < p->block_count; i++) {
        const block *b = &p->blocks[i];
        for (uint32_t j = 0; b->lines == 0 && j < b->count; j++) {
            const weir__top_table *t = b->grids[j].table;
            const size_t count = b->grids[j].list.count;
            add(&l, WEIR__TONE_FAINT, "%s %zu %s%s", first ? "" : ",", count, t->one,
                count == 1 ? "" : "s");
            first = false;
        }
    }
    end(&l);
}

/* Scrolled no further than to the last row. */
static void clamp(page *p, size_t *shown)
{
    size_t *at = &p->state->scroll[p->state->view];
    for (uint32_t i = 0; i < p->block_count; i++) {
        block *b = &p->blocks[i];
        if (b->scrolled && b->lines > 0) {
            const size_t visible = b->lines - 1;
            const size_t most = b->rows > visible ? b->rows - visible : 0;
            *at = *at < most ? *at : most;
            b->skipped = *at;
            *shown = visible;
        }
    }
}

static void put_tables(page *p, size_t *shown)
{
    const size_t lines = p->lines;
    const bool endless = p->window->height == 0;
    const bool all = share_lines(p, endless ? SIZE_MAX / 2 : lines);
    if (!all) {
        (void)share_lines(p, lines > 0 ? lines - 1 : 0);
    }
    clamp(p, shown);
    /* What is left makes the page easier to read. */
    const bool apart = all && p->lines >= p->block_count;
    for (uint32_t i = 0; i < p->block_count; i++) {
        if (apart) {
            fputc('\n', p->out);
            p->lines--;
        }
        put_block(p, &p->blocks[i]);
    }
    if (!all && lines > 0) {
        put_hidden(p);
    }
}

/* ---- the page ---- */

static void put_notice(const page *p)
{
    if (p->window->notice != NULL) {
        line l = { p, 0 };
        add_text(&l, WEIR__TONE_BAD, p->window->notice);
        end(&l);
    }
}

static void put_small(const page *p)
{
    line l = { p, 0 };
    add_text(&l, WEIR__TONE_PLAIN, "weir top: the window is too small");
    end(&l);
}

static bool put_page(page *p, size_t *shown)
{
    const weir__top_window *w = p->window;
    const bool endless = w->height == 0;
    if (!endless && (w->height < HEIGHT_MIN || (w->width > 0 && w->width < WIDTH_MIN))) {
        put_small(p);
        return true;
    }
    put_header(p);
    put_notice(p);
    p->lines = endless ? 0 : w->height - HEADER_LINES - 1 - (w->notice != NULL ? 1 : 0);
    if (p->state->help) {
        put_help(p);
    } else if (!add_blocks(p)) {
        return false;
    } else {
        put_tables(p, shown);
    }
    if (!endless) {
        /* The last line of the window, whatever is above it. */
        for (; !p->state->help && p->lines > 0; p->lines--) {
            fputc('\n', p->out);
        }
        put_footer(p);
    }
    return true;
}

char *weir__top_page(const weir__top_figures *figures, weir__top_state *state,
                     const weir__top_window *window, size_t *page_rows)
{
    char *text = NULL;
    size_t size = 0;
    page *p = calloc(1, sizeof(*p));
    *page_rows = 1;
    if (p == NULL) {
        return NULL;
    }
    /* The last column stays free: to clear the rest of a line that is full would clear it. */
    *p = (page){ .figures = figures, .state = state, .window = window };
    p->width = window->width > 1 ? (int)window->width - 1 : (int)window->width;
    p->out = open_memstream(&text, &size);
    bool ok = p->out != NULL && put_page(p, page_rows);
    for (uint32_t i = 0; i < BLOCKS_MAX; i++) {
        weir__top_list_close(&p->blocks[i].grids[0].list);
        weir__top_list_close(&p->blocks[i].grids[1].list);
    }
    ok = p->out != NULL && fclose(p->out) == 0 && ok;
    free(p);
    if (!ok) {
        free(text);
        text = NULL;
    }
    return text;
}
