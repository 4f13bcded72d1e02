/*
 * sync/sim/lines.c - the table of lines, the waiting for them, and who waited.
 *
 * Lines of the arena are in an array, all others in a hash table. Entries carry the number of the
 * reset that they belong to, so that a reset costs nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sync/sim/lines.h"

#include <string.h>
#include <sys/mman.h>

#include "sync/sim/core.h"

#define LINE_SHIFT 6
#define ARENA_LINES (WEIR__SIM_ARENA_BYTES >> LINE_SHIFT)
#define OUTSIDE_BITS 14
#define OUTSIDE_LINES (1u << OUTSIDE_BITS)
#define WORDS (WEIR__LINES_CORES_MAX / 64)
#define HOLDS 8u /* lines of which a core remembers that it has just got them */
#define CAUSES_MAX 1024u
#define NOBODY UINT16_MAX

typedef struct line {
    uint32_t epoch;
    uint16_t owner; /* may write; NOBODY: the sharers may read */
    bool dirty;     /* its owner has written it */
    bool has_atom;
    uint64_t sharers[WORDS]; /* the owner is one */
    weir__ps got;            /* its owner has it ... */
    weir__ps free;           /* ... and others may have it, from then on */
    const weir__sim_site *name;
} line;

typedef struct outside_line {
    uintptr_t number;
    line line;
} outside_line;

typedef struct hold {
    const line *line;
    weir__ps until;
    bool write;
} hold;

static weir__lines_costs costs;
static uint32_t epoch;
static line *inside;
static outside_line outside[OUTSIDE_LINES];
static hold holds[WEIR__LINES_CORES_MAX][HOLDS];
static uint32_t holds_next[WEIR__LINES_CORES_MAX];
static bool watching;
static weir__lines_cause causes[CAUSES_MAX];
static size_t cause_count;

void weir__lines_reset(const weir__lines_costs *machine)
{
    if (inside == NULL) {
        inside = mmap(NULL, ARENA_LINES * sizeof(*inside), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        WEIR_ASSERT(inside != MAP_FAILED);
    }
    costs = *machine;
    epoch++;
    memset(holds, 0, sizeof(holds));
    weir__lines_watch(false);
    cause_count = 0;
}

static bool is_shared_by(const line *l, uint32_t core)
{
    return (l->sharers[core / 64] >> (core % 64) & 1) != 0;
}

static void share(line *l, uint32_t core)
{
    l->sharers[core / 64] |= UINT64_C(1) << (core % 64);
}

static void give_to(line *l, uint32_t core, bool dirty)
{
    memset(l->sharers, 0, sizeof(l->sharers));
    share(l, core);
    l->owner = (uint16_t)core;
    l->dirty = dirty;
}

/* Its entry, perhaps from before the reset. */
static line *find(uintptr_t number)
{
    const uintptr_t place = number - ((uintptr_t)weir__sim_arena >> LINE_SHIFT);
    if (weir__likely(weir__sim_arena != NULL && place < ARENA_LINES)) {
        return &inside[place];
    }
    uint32_t at = (uint32_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> (64 - OUTSIDE_BITS));
    for (uint32_t n = 0; n < OUTSIDE_LINES; n++, at = (at + 1) % OUTSIDE_LINES) {
        outside_line *entry = &outside[at];
        if (entry->line.epoch != epoch || entry->number == number) {
            entry->number = number;
            return &entry->line;
        }
    }
    weir__sim_fail("the scale model has no room for more lines outside the arena");
}

/* ---- who waited ---- */

void weir__lines_watch(bool on)
{
    watching = on;
}

const weir__lines_cause *weir__lines_causes(size_t i)
{
    return i < cause_count ? &causes[i] : NULL;
}

static void count(const line *l, const weir__lines_ask *ask, weir__ps queued)
{
    size_t i = 0;
    /* Short, and the frequent ones come first. */
    while (i < cause_count && (causes[i].site != ask->site || causes[i].line != l->name ||
                               causes[i].plain != ask->plain)) {
        i++;
    }
    if (i == CAUSES_MAX) {
        return;
    }
    if (i == cause_count) {
        causes[cause_count++] = (weir__lines_cause){
            .line = l->name, .site = ask->site, .plain_line = !l->has_atom, .plain = ask->plain
        };
    }
    causes[i].transfers++;
    causes[i].moved += costs.transfer;
    causes[i].queued += queued;
}

static void name(line *l, const weir__lines_ask *ask)
{
    if (l->name == NULL || !ask->plain) {
        l->name = ask->site;
        l->has_atom = !ask->plain;
    }
}

/* ---- the waiting ---- */

/* The core has just got it, and the next in the row has not taken it away yet. */
static bool is_held(const line *l, const weir__lines_ask *ask)
{
    const hold *own = holds[ask->core];
    for (uint32_t i = 0; i < HOLDS; i++) {
        if (own[i].line == l && ask->at < own[i].until && (own[i].write || !ask->write)) {
            return true;
        }
    }
    return false;
}

static void note_hold(const line *l, const weir__lines_ask *ask, weir__ps got)
{
    hold *entry = &holds[ask->core][holds_next[ask->core]++ % HOLDS];
    *entry = (hold){ l, got + costs.hold, l->owner == ask->core };
}

static weir__ps latest(weir__ps a, weir__ps b)
{
    return a > b ? a : b;
}

static weir__ps transfer(line *l, const weir__lines_ask *ask)
{
    const weir__ps begin = latest(l->free, ask->at);
    const weir__ps got = begin + costs.transfer;
    const bool was_dirty = l->owner != NOBODY && l->dirty;
    if (watching) {
        count(l, ask, begin - ask->at);
    }
    if (ask->write || (was_dirty && costs.read_takes)) {
        give_to(l, ask->core, ask->write);
        l->got = got;
    } else {
        l->owner = NOBODY;
        share(l, ask->core);
    }
    if (ask->write || was_dirty) {
        l->free = latest(got, ask->visible);
    }
    note_hold(l, ask, got);
    return got;
}

weir__ps weir__lines_get(const weir__lines_ask *ask)
{
    line *l = find(ask->address >> LINE_SHIFT);
    if (weir__unlikely(l->epoch != epoch)) {
        *l = (line){ .epoch = epoch };
        give_to(l, ask->core, ask->write);
        l->free = latest(ask->at, ask->visible);
        name(l, ask);
        return ask->at;
    }
    if (weir__unlikely(!l->has_atom)) {
        name(l, ask);
    }
    if (l->owner == ask->core) {
        l->dirty |= ask->write;
        l->free = latest(l->free, ask->visible);
        return latest(l->got,
                      ask->at); /* it may be on its way, for a store that nobody waits for */
    }
    if ((!ask->write && is_shared_by(l, ask->core)) || is_held(l, ask)) {
        return ask->at;
    }
    return transfer(l, ask);
}
