/*
 * sync/sim/stale.c - loads that see what was: memory that is weaker than x86's.
 *
 * Memory holds the newest value of an atom. With WEIR_SIM_STALE_READS its last few values are kept
 * with it, and a load may get an older one, as long as the C standard allows that: nothing that is
 * *known* to the thread has overwritten it. Known is
 *
 *     what happens before the load: its own stores, those of others by way of acquire and release;
 *     what was read by whoever happens before it (reads do not go back);
 *     for what is behind a seq_cst fence: what was before seq_cst fences that came earlier, and
 *     seq_cst stores; for a seq_cst load: the same, without the fence.
 *
 * So two loads change places, and two stores do in the eyes of a reader: what arm64 does, and x86
 * does not. Loads that change places with later stores are not here. In doubt a value counts as
 * known: what is found is no false alarm, some of what exists is not found.
 *
 * Nothing stays old for ever: a value can be had for some steps after it was overwritten, and a
 * thread that slept sees all that was there when it woke up.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sync/sim/core.h"

#define VERSIONS 4u
#define STALE_STEPS 100u /* so long after its end a value can be had */

typedef struct version {
    uint64_t value;
    uint64_t step;      /* of weir__sim.steps: it is there since then */
    uint64_t strong_at; /* a seq_cst store: its place in their order; 0: it is none */
    uint32_t writer, epoch;
    uint32_t read_at[WEIR__SIM_CLOCKS]; /* when each thread read it first; 0: it did not */
    weir__sim_clock released;
} version;

typedef struct history {
    uint32_t run;    /* that wrote it */
    uint32_t stores; /* so far; the newest is at (stores - 1) % VERSIONS */
    version versions[VERSIONS];
} history;

static history *histories;     /* one for each record of atomic.c, by its number */
static weir__sim_clock fenced; /* what was before seq_cst fences */
static uint64_t strong_count;  /* seq_cst operations so far */

static history *history_of(uint32_t atom)
{
    if (histories == NULL) {
        histories = weir__sim_table(WEIR__SIM_ATOMS_MAX * sizeof(*histories));
    }
    if (histories[atom].run != weir__sim.number) {
        histories[atom].run = weir__sim.number;
        histories[atom].stores = 0;
    }
    return &histories[atom];
}

void weir__sim_stale_reset(void)
{
    memset(&fenced, 0, sizeof(fenced));
    strong_count = 0;
}

static version *new_version(history *h, uint64_t value)
{
    version *v = &h->versions[h->stores++ % VERSIONS];
    memset(v, 0, sizeof(*v));
    v->value = value;
    v->step = weir__sim.steps;
    return v;
}

void weir__sim_stale_store(uint32_t atom, uint64_t before, const weir__sim_store_note *note)
{
    history *h = history_of(atom);
    if (h->stores == 0) {
        new_version(h, before);
    }
    version *v = new_version(h, note->value);
    v->writer = note->writer;
    v->epoch = note->epoch;
    v->strong_at = note->strong ? ++strong_count : 0;
    if (note->released != NULL) {
        v->released = *note->released;
    }
}

void weir__sim_stale_fence(weir__sim_thread *thread)
{
    for (uint32_t i = 0; i < WEIR__SIM_CLOCKS; i++) {
        const uint32_t mine = thread->clock.at[i] > thread->fence_knows.at[i]
                                  ? thread->clock.at[i]
                                  : thread->fence_knows.at[i];
        fenced.at[i] = fenced.at[i] > mine ? fenced.at[i] : mine;
    }
    thread->fence_knows = fenced;
    thread->fence_at = ++strong_count;
}

/* Is the version's store, or a read of it, before what this clock says? */
static bool covers(const weir__sim_clock *clock, const version *v)
{
    if (v->epoch != 0 && v->epoch <= clock->at[v->writer]) {
        return true;
    }
    for (uint32_t i = 0; i < WEIR__SIM_CLOCKS; i++) {
        if (v->read_at[i] != 0 && v->read_at[i] <= clock->at[i]) {
            return true;
        }
    }
    return false;
}

static bool is_known(const weir__sim_thread *self, const version *v, bool strong)
{
    return covers(&self->clock, v) || covers(&self->fence_knows, v) ||
           (v->strong_at != 0 && (strong || v->strong_at <= self->fence_at)) ||
           (strong && covers(&fenced, v)) || v->step <= self->fresh_since ||
           v->step + STALE_STEPS < weir__sim.steps;
}

uint64_t weir__sim_stale_load(uint32_t atom, weir__sim_thread *self, uint64_t newest, bool strong,
                              const weir__sim_clock **released)
{
    history *h = history_of(atom);
    if (h->stores == 0 || h->versions[(h->stores - 1) % VERSIONS].value != newest) {
        return newest; /* nobody was there to see the last store: it is no news to anybody */
    }
    const uint32_t kept = h->stores < VERSIONS ? h->stores : VERSIONS;
    uint32_t choices = 1;
    while (choices < kept &&
           !is_known(self, &h->versions[(h->stores - choices) % VERSIONS], strong)) {
        choices++;
    }
    const uint32_t back = weir__sim_decide_choice(choices);
    version *v = &h->versions[(h->stores - 1 - back) % VERSIONS];
    if (v->read_at[self->index] == 0) {
        v->read_at[self->index] = self->clock.at[self->index];
    }
    *released = &v->released;
    return v->value;
}
