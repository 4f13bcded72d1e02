/*
 * metric/shown.c - which processors have a row of their own: metric/shown.h says why it is so.
 *
 * Busy is who was sent most: so one that is stuck in front of a full mailbox is among them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "metric/shown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "metric/metric.h"

#define ROWS_FIRST 16u

typedef struct pick {
    weir_processor handle;
    weir_counters c;
} pick;

/* ---- sums ---- */

static void move(weir__outcome *to, const weir__outcome *from)
{
#define MOVE(name) to->name += from->name;
    WEIR__OUTCOMES(MOVE)
#undef MOVE
}

static void take_away(weir__outcome *from, const weir__outcome *what)
{
#define TAKE(name) from->name -= what->name;
    WEIR__OUTCOMES(TAKE)
#undef TAKE
}

/* None falls: what was read too early is less than it is. */
static void grow(weir__outcome *told, const weir__outcome *now)
{
#define GROW(name) told->name = (int64_t)(now->name - told->name) > 0 ? now->name : told->name;
    WEIR__OUTCOMES(GROW)
#undef GROW
}

static weir__outcome outcome_of(const weir_counters *c)
{
    weir__outcome outcome = { .accepted = 0 };
    weir__outcome_add(&outcome, c);
    return outcome;
}

void weir__shown_counters(weir_counters *out, const weir__outcome *from)
{
#define COPY(name) out->name = from->name;
    WEIR__OUTCOMES(COPY)
#undef COPY
    out->dropped = out->dropped_newest + out->dropped_oldest;
    out->dead = out->dead_failed + out->dead_stopped;
    out->failures = out->dead_failed + out->retries;
}

weir_counters weir__shown_tell(weir__shown_row *row)
{
    weir_counters c = row->now;
    weir__outcome now = outcome_of(&row->now);
    take_away(&now, &row->offset);
    move(&now, &row->before);
    grow(&row->told, &now);
    weir__shown_counters(&c, &row->told);
    return c;
}

/* Of one that has no row. */
static void add_hidden(weir__shown_look *look, const weir_counters *c)
{
    weir_counters *sum = &look->others;
    look->hidden++;
    weir__outcome o = outcome_of(sum);
    weir__outcome_add(&o, c);
    weir__shown_counters(sum, &o);
    sum->depth += c->depth;
    sum->depth_high = c->depth_high > sum->depth_high ? c->depth_high : sum->depth_high;
    sum->mailbox_max = c->mailbox_max > sum->mailbox_max ? c->mailbox_max : sum->mailbox_max;
}

/* ---- orders ---- */

static int busier(uint64_t accepted, uint64_t id, uint64_t accepted2, uint64_t id2)
{
    if (accepted != accepted2) {
        return accepted > accepted2 ? -1 : 1;
    }
    return id < id2 ? -1 : id > id2 ? 1 : 0;
}

static int busier_pick(const void *a, const void *b)
{
    const pick *x = a;
    const pick *y = b;
    return busier(x->c.accepted, x->handle.id, y->c.accepted, y->handle.id);
}

static int busier_row(const void *a, const void *b)
{
    const weir__shown_row *x = a;
    const weir__shown_row *y = b;
    return busier(x->now.accepted, x->handle.id, y->now.accepted, y->handle.id);
}

static int by_handle(const void *a, const void *b)
{
    const uint64_t x = ((const weir__shown_row *)a)->handle.id;
    const uint64_t y = ((const weir__shown_row *)b)->handle.id;
    return x < y ? -1 : x > y ? 1 : 0;
}

static void sort(weir__shown *shown, int (*order)(const void *, const void *))
{
    if (shown->count > 1) {
        qsort(shown->rows, shown->count, sizeof(*shown->rows), order);
    }
}

static void sink(pick *heap, uint32_t count, uint32_t at)
{
    for (;;) { /* ends: `at` grows */
        uint32_t least = at;
        for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++) {
            least = busier_pick(&heap[child], &heap[least]) > 0 ? child : least;
        }
        if (least == at) {
            return;
        }
        const pick moved = heap[at];
        heap[at] = heap[least];
        heap[least] = moved;
        at = least;
    }
}

/* ---- a look ---- */

/* Of one without a row: the busiest are remembered, all others only counted. */
static bool note_pick(weir__shown_look *look, const pick *new)
{
    if (look->picks.count < look->most) {
        pick *added = weir__list_add(look->f, &look->picks, sizeof(*added));
        if (added != NULL) {
            *added = *new;
        }
        return added != NULL;
    }
    pick *heap = look->picks.items;
    if (!look->heaped) {
        look->heaped = true;
        for (uint32_t i = look->most / 2; i > 0; i--) {
            sink(heap, look->most, i - 1);
        }
    }
    if (look->most > 0 && busier_pick(new, &heap[0]) < 0) {
        add_hidden(look, &heap[0].c);
        heap[0] = *new;
        sink(heap, look->most, 0);
    } else {
        add_hidden(look, &new->c);
    }
    return true;
}

static bool visit_processor(void *context, weir_processor processor)
{
    weir__shown_look *look = context;
    weir__shown *shown = look->shown;
    pick new = { .handle = processor, .c = WEIR_COUNTERS_INIT };
    if (weir_processor_counters(look->f->engine, processor, &new.c) != WEIR_OK) {
        return true; /* it has ended meanwhile */
    }
    look->total++;
    if (look->health != NULL) {
        weir__health_processor(look->health, processor, &new.c);
    }
    const weir__shown_row key = { .handle = processor };
    weir__shown_row *row =
        shown->count > 0 ? bsearch(&key, shown->rows, shown->count, sizeof(key), by_handle) : NULL;
    if (row != NULL) {
        row->now = new.c;
        row->seen = true;
        return true;
    }
    return note_pick(look, &new);
}

/* The next of that name goes on with it. What the one before did after the last look is for
 * "(others)": it was not told. */
static void pass_on(weir__shown_row *row, weir_processor next)
{
    row->handle = next;
    row->before = row->told;
    row->offset = (weir__outcome){ .accepted = 0 };
    row->queueing_before = row->queueing_told;
    row->handling_before = row->handling_told;
}

/* Rows of processors that have ended, but whose names are there again. */
static void follow_names(weir__shown_look *look)
{
    weir_engine *engine = look->f->engine;
    for (uint32_t i = 0; i < look->shown->count; i++) {
        weir__shown_row *row = &look->shown->rows[i];
        char name[WEIR__NAME_SIZE];
        row->seen = false;
        if (weir_processor_name(engine, row->handle, name, sizeof(name)) > 0) {
            continue;
        }
        const weir_processor again = weir_processor_find(engine, row->name);
        if (again.id != 0) {
            pass_on(row, again);
        }
    }
    sort(look->shown, by_handle);
}

/* ---- who has a row ---- */

static void end_row(weir__shown *shown, uint32_t at)
{
    move(&shown->earlier, &shown->rows[at].told);
    shown->rows[at] = shown->rows[--shown->count];
}

/* It ended during this look, and who has its name now was seen: two rows of one name in two looks
 * in a row would be one that falls. */
static bool follow_pick(weir__shown_look *look, weir__shown_row *row)
{
    const weir_processor again = weir_processor_find(look->f->engine, row->name);
    pick *picks = look->picks.items;
    for (uint32_t i = 0; again.id != 0 && i < look->picks.count; i++) {
        if (picks[i].handle.id == again.id) {
            pass_on(row, again);
            row->now = picks[i].c;
            row->seen = true;
            picks[i] = picks[--look->picks.count];
            return true;
        }
    }
    return false;
}

static bool reserve(weir__shown_look *look, uint32_t rows)
{
    weir__shown *shown = look->shown;
    const weir_allocator *allocator = look->f->allocator;
    if (rows <= shown->room) {
        return true;
    }
    uint32_t room = shown->room > 0 ? 2 * shown->room : ROWS_FIRST;
    room = room > rows ? room : rows;
    weir__shown_row *more = weir__allocate(allocator, room * sizeof(*more));
    if (more == NULL) {
        look->f->failed = true;
        return false;
    }
    if (shown->count > 0) {
        memcpy(more, shown->rows, shown->count * sizeof(*more));
    }
    weir__release(allocator, shown->rows, shown->room * sizeof(*more));
    shown->rows = more;
    shown->room = room;
    return true;
}

/* False: it has ended meanwhile. */
static bool begin_row(weir__shown_look *look, weir__shown_row *row, const pick *from, bool fresh)
{
    *row = (weir__shown_row){ .handle = from->handle, .now = from->c, .seen = true };
    if (!fresh) {
        row->offset = outcome_of(&from->c);
    }
    return weir_processor_name(look->f->engine, from->handle, row->name, sizeof(row->name)) > 0;
}

/* The busiest first, to whom there is a place for, or who are more than twice as busy as the least
 * busy one with a row. */
static void fill_rows(weir__shown_look *look)
{
    weir__shown *shown = look->shown;
    const bool fresh = !shown->looked || shown->hidden == 0; /* none of them was in "(others)" */
    pick *picks = look->picks.items;
    if (look->picks.count > 0) {
        qsort(picks, look->picks.count, sizeof(*picks), busier_pick);
    }
    sort(shown, busier_row);
    uint32_t least = shown->count; /* those from here on came at this look, or are to go */
    for (uint32_t i = 0; i < look->picks.count; i++) {
        weir__shown_row new;
        const bool place = shown->count < look->most;
        const bool better =
            !place && least > 0 && picks[i].c.accepted / 2 > shown->rows[least - 1].now.accepted;
        if ((!place && !better) || !begin_row(look, &new, &picks[i], fresh)) {
            add_hidden(look, &picks[i].c);
        } else if (place) {
            shown->rows[shown->count++] = new;
        } else {
            weir__shown_row *old = &shown->rows[--least];
            add_hidden(look, &old->now);
            move(&shown->earlier, &old->told);
            *old = new;
        }
    }
    sort(shown, busier_row);
}

/* What is neither in a row nor was. */
static void tell_others(weir__shown_look *look)
{
    weir__shown *shown = look->shown;
    weir__outcome others = outcome_of(&look->others);
    move(&others, &look->gone);
    for (uint32_t i = 0; i < shown->count; i++) {
        move(&others, &shown->rows[i].offset);
        take_away(&others, &shown->rows[i].before);
    }
    take_away(&others, &shown->earlier);
    grow(&shown->others, &others);
    weir__shown_counters(&look->others, &shown->others);
}

bool weir__shown_update(weir__shown_look *look)
{
    weir_engine *engine = look->f->engine;
    weir__shown *shown = look->shown;
    /* First: who ends after this is missing at this look, not there twice. */
    weir__mutex_lock(&engine->registry.lock);
    look->gone = engine->registry.gone;
    weir__mutex_unlock(&engine->registry.lock);
    follow_names(look);
    weir_processor_visit(engine, visit_processor, look);
    const uint32_t rows = shown->count + look->picks.count;
    if (look->f->failed || !reserve(look, rows < look->most ? rows : look->most)) {
        return false;
    }
    for (uint32_t i = shown->count; i > 0; i--) {
        if (!shown->rows[i - 1].seen && !follow_pick(look, &shown->rows[i - 1])) {
            end_row(shown, i - 1);
        }
    }
    sort(shown, busier_row);
    while (shown->count > look->most) { /* the bound has become less */
        add_hidden(look, &shown->rows[shown->count - 1].now);
        end_row(shown, shown->count - 1);
    }
    fill_rows(look);
    tell_others(look);
    shown->hidden = look->hidden;
    shown->looked = true;
    return true;
}

/* ---- tables ---- */

static void free_table(weir_engine *engine, weir__shown *shown)
{
    weir__release(&engine->allocator, shown->rows, shown->room * sizeof(*shown->rows));
    weir__release(&engine->allocator, shown, sizeof(*shown));
}

weir__shown *weir__shown_find(weir_engine *engine, weir__shown **first, uint32_t key)
{
    weir__shown **at = first;
    weir__shown *found = NULL;
    for (uint32_t i = 0; *at != NULL; i++) {
        if ((*at)->key == key) {
            found = *at;
            *at = found->next;
            break;
        }
        if (i + 1 == WEIR__SHOWN_TABLES_MAX) { /* the one that was not asked for longest */
            free_table(engine, *at);
            *at = NULL;
            break;
        }
        at = &(*at)->next;
    }
    found = found != NULL ? found : weir__allocate(&engine->allocator, sizeof(*found));
    if (found != NULL) {
        found->key = key;
        found->next = *first;
        *first = found;
    }
    return found;
}

void weir__shown_close(weir_engine *engine, weir__shown *first)
{
    while (first != NULL) {
        weir__shown *next = first->next;
        free_table(engine, first);
        first = next;
    }
}
