/*
 * sync/sim/atomic.c - atomics with store buffers and with clocks.
 *
 * Values. With WEIR_SIM_STORE_BUFFERS a store that is not seq_cst waits in its thread's buffer, in
 * order, and becomes visible when the strategy says so or when the thread does a locked operation,
 * a full fence or a system call: x86-TSO. Loads see their own thread's buffer first.
 *
 * Clocks. What an acquiring load may rely on is what the C standard gives it: the clock that the
 * releasing store left at the atom (or at the fence before a relaxed store). So an edge that is
 * missing in the source shows, even where x86 would be kind. Read-modify-writes continue a release
 * sequence; plain stores begin a new one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sync/sim/core.h"

#define ATOMS_MAX WEIR__SIM_ATOMS_MAX

/* What is known of an atom besides its value. Its shadow has the number of its record. */
typedef struct atom_record {
    uint32_t writer, written; /* of a cell: thread + 1, and its clock */
    weir__sim_clock released;
} atom_record;

static atom_record records[ATOMS_MAX];
static uint32_t records_run, records_used;

static bool acquires(weir__sim_order order)
{
    return order == weir__sim_acquire || order >= weir__sim_acq_rel;
}

static bool releases(weir__sim_order order)
{
    return order >= weir__sim_release;
}

static void join(weir__sim_clock *clock, const weir__sim_clock *with)
{
    const uint32_t count =
        weir__sim.thread_count < WEIR__SIM_CLOCKS ? weir__sim.thread_count : WEIR__SIM_CLOCKS;
    for (uint32_t i = 0; i < count; i++) {
        if (with->at[i] > clock->at[i]) {
            clock->at[i] = with->at[i];
        }
    }
}

/* The atom's record, or NULL. */
static atom_record *record_of(const weir__sim_shadow *shadow)
{
    return shadow != NULL && shadow->run == weir__sim.number && shadow->atom != 0
               ? &records[shadow->atom]
               : NULL;
}

/* The same, made if it is not there. NULL: the table is full. */
static atom_record *make_record(weir__sim_shadow *shadow)
{
    atom_record *record = record_of(shadow);
    if (record != NULL || shadow == NULL) {
        return record;
    }
    if (records_run != weir__sim.number) {
        records_run = weir__sim.number;
        records_used = 0;
    }
    if (records_used + 1 == ATOMS_MAX) {
        weir__sim.racing = false; /* said in the result */
        weir__sim_watch();
        return NULL;
    }
    if (shadow->run != weir__sim.number) {
        *shadow = (weir__sim_shadow){ .run = weir__sim.number };
    }
    shadow->atom = ++records_used;
    record = &records[shadow->atom];
    memset(record, 0, sizeof(*record));
    return record;
}

uint64_t weir__sim_peek(const void *atom, uint32_t size)
{
    uint64_t value = 0;
    if (size == 8) {
        value = *(const volatile uint64_t *)atom;
    } else if (size == 4) {
        value = *(const volatile uint32_t *)atom;
    } else {
        memcpy(&value, atom, size);
    }
    return value;
}

static void poke(void *atom, uint32_t size, uint64_t value)
{
    if (size == 8) {
        *(volatile uint64_t *)atom = value;
    } else if (size == 4) {
        *(volatile uint32_t *)atom = (uint32_t)value;
    } else {
        memcpy(atom, &value, size);
    }
}

/* A store begins a new release sequence: what was released before is no longer to be had. */
static void publish(void *atom, uint32_t size, const weir__sim_store_note *note)
{
    static const weir__sim_clock nothing;
    if (weir__sim_racing()) {
        weir__sim_shadow *shadow = weir__sim_shadow_of((uintptr_t)atom);
        const bool wanted = note->released != NULL || weir__sim.stale;
        atom_record *record = wanted ? make_record(shadow) : record_of(shadow);
        if (record != NULL) {
            record->released = note->released != NULL ? *note->released : nothing;
            if (weir__sim.stale) {
                weir__sim_stale_store(shadow->atom, weir__sim_peek(atom, size), note);
            }
        }
    }
    poke(atom, size, note->value);
}

void weir__sim_flush_one(weir__sim_thread *thread)
{
    const weir__sim_buffered *oldest = &thread->buffer[thread->oldest];
    thread->oldest = (thread->oldest + 1) % WEIR__SIM_BUFFER;
    thread->buffered--;
    if (weir__sim.tracing) {
        weir__sim_trace("visible", NULL, oldest->atom, oldest->value);
    }
    publish(oldest->atom, oldest->size,
            &(weir__sim_store_note){ .value = oldest->value,
                                     .writer = thread->index,
                                     .epoch = oldest->epoch,
                                     .released = oldest->releases ? &oldest->released : NULL });
}

void weir__sim_flush_all(weir__sim_thread *thread)
{
    while (thread->buffered > 0) {
        weir__sim_flush_one(thread);
    }
}

static void tick(weir__sim_thread *thread)
{
    if (thread->clocked) {
        thread->clock.at[thread->index]++;
        if (thread == weir__sim.current) {
            weir__sim_watch();
        }
    }
}

void weir__sim_edge(weir__sim_thread *from, weir__sim_thread *to)
{
    join(&to->clock, &from->clock);
    tick(from);
}

static void fence(weir__sim_thread *thread, weir__sim_order order)
{
    if (order == weir__sim_seq_cst) {
        weir__sim_flush(thread);
    }
    if (acquires(order)) {
        join(&thread->clock, &thread->acquirable);
    }
    if (order == weir__sim_seq_cst && weir__sim.stale) {
        weir__sim_stale_fence(thread);
    }
    if (releases(order)) {
        thread->released = thread->clock;
        thread->fenced = true;
        tick(thread);
    }
}

/* The caller's own is before and after those of the others. */
void weir__sim_fence_all(void)
{
    fence(weir__sim.current, weir__sim_seq_cst);
    for (uint32_t i = 0; i < weir__sim.thread_count; i++) {
        if (weir__sim.threads[i].state != WEIR__SIM_FREE) {
            fence(&weir__sim.threads[i], weir__sim_seq_cst);
        }
    }
    fence(weir__sim.current, weir__sim_seq_cst);
}

void weir__sim_fence(weir__sim_order order, const weir__sim_site *site)
{
    weir__sim_step(site);
    if (weir__sim.current == NULL) {
        return;
    }
    weir__sim_touch(NULL, WEIR__SCALE_FENCE, site);
    if (weir__sim.tracing) {
        weir__sim_trace("fence", site, NULL, 0);
    }
    fence(weir__sim.current, order);
}

/* Inlined: most atoms have no record, and then there is nothing to learn. */
__attribute__((always_inline)) static inline weir__sim_shadow *
learn(weir__sim_thread *self, const void *atom, weir__sim_order order)
{
    weir__sim_shadow *shadow = weir__sim_race_atomic((uintptr_t)atom);
    const atom_record *record = record_of(shadow);
    if (record != NULL) {
        join(acquires(order) ? &self->clock : &self->acquirable, &record->released);
    }
    return shadow;
}

/* The same, of a value that may be an older one. */
static uint64_t learn_stale(weir__sim_thread *self, const void *atom, uint64_t newest,
                            weir__sim_order order)
{
    const weir__sim_shadow *shadow = weir__sim_race_atomic((uintptr_t)atom);
    const atom_record *record = record_of(shadow);
    if (record == NULL) {
        return newest;
    }
    const weir__sim_clock *released = &record->released;
    const uint64_t value =
        weir__sim_stale_load(shadow->atom, self, newest, order == weir__sim_seq_cst, &released);
    join(acquires(order) ? &self->clock : &self->acquirable, released);
    return value;
}

/* Own stores that others do not see yet. */
static const weir__sim_buffered *own(const weir__sim_thread *self, const void *atom)
{
    for (uint32_t i = self->buffered; i > 0; i--) {
        const weir__sim_buffered *one = &self->buffer[(self->oldest + i - 1) % WEIR__SIM_BUFFER];
        if (one->atom == atom) {
            return one;
        }
    }
    return NULL;
}

uint64_t weir__sim_load(const void *atom, uint32_t size, weir__sim_order order,
                        const weir__sim_site *site)
{
    weir__sim_step(site);
    weir__sim_touch(atom, WEIR__SCALE_LOAD, site);
    weir__sim_thread *self = weir__sim.current;
    uint64_t value = weir__sim_peek(atom, size);
    if (self == NULL || weir__sim.checking) {
        return value;
    }
    const weir__sim_buffered *mine = own(self, atom);
    if (mine != NULL) {
        value = mine->value;
    } else if (weir__sim_racing()) {
        value = weir__unlikely(weir__sim.stale) ? learn_stale(self, atom, value, order)
                                                : (learn(self, atom, order), value);
    }
    if (weir__sim.tracing) {
        weir__sim_trace("load", site, atom, value);
    }
    return value;
}

/* What a store of this order hands over: all, what the last fence had seen, or nothing (NULL). */
static const weir__sim_clock *handed_over(const weir__sim_thread *self, weir__sim_order order)
{
    return releases(order) ? &self->clock : self->fenced ? &self->released : NULL;
}

static uint32_t epoch_of(const weir__sim_thread *self)
{
    return self->clocked ? self->clock.at[self->index] : 0;
}

static void put(weir__sim_thread *self, void *atom, uint32_t size, uint64_t value,
                weir__sim_order order)
{
    const weir__sim_clock *released = handed_over(self, order);
    if ((weir__sim.faults & WEIR_SIM_STORE_BUFFERS) != 0 && order != weir__sim_seq_cst) {
        if (self->buffered == WEIR__SIM_BUFFER) {
            weir__sim_flush_one(self);
        }
        weir__sim_buffered *newest =
            &self->buffer[(self->oldest + self->buffered++) % WEIR__SIM_BUFFER];
        newest->atom = atom;
        newest->value = value;
        newest->size = size;
        newest->epoch = epoch_of(self);
        newest->releases = released != NULL;
        if (released != NULL) {
            newest->released = *released;
        }
    } else {
        weir__sim_flush(self);
        publish(atom, size,
                &(weir__sim_store_note){ .value = value,
                                         .writer = self->index,
                                         .epoch = epoch_of(self),
                                         .strong = order == weir__sim_seq_cst,
                                         .released = released });
    }
    if (releases(order)) {
        tick(self);
    }
}

void weir__sim_store(void *atom, uint32_t size, uint64_t value, weir__sim_order order,
                     const weir__sim_site *site)
{
    weir__sim_step(site);
    weir__sim_touch(atom, order == weir__sim_seq_cst ? WEIR__SCALE_LOCK : WEIR__SCALE_STORE, site);
    weir__sim_thread *self = weir__sim.current;
    if (self == NULL || weir__sim.checking) {
        poke(atom, size, value);
        return;
    }
    if (weir__sim.tracing) {
        weir__sim_trace("store", site, atom, value);
    }
    if (weir__sim_racing()) {
        weir__sim_race_atomic((uintptr_t)atom);
    }
    put(self, atom, size, value, order);
}

void weir__sim_cell_add(void *cell, uint64_t amount, const weir__sim_site *site)
{
    weir__sim_step(site);
    weir__sim_touch(cell, WEIR__SCALE_ADD, site);
    weir__sim_thread *self = weir__sim.current;
    uint64_t value = weir__sim_peek(cell, 8);
    if (self == NULL || weir__sim.checking) {
        poke(cell, 8, value + amount);
        return;
    }
    const weir__sim_buffered *mine = own(self, cell);
    value = (mine != NULL ? mine->value : value) + amount;
    if (weir__sim.tracing) {
        weir__sim_trace("count", site, cell, value);
    }
    if (weir__sim_racing() && self->clocked) {
        atom_record *record = make_record(weir__sim_race_atomic((uintptr_t)cell));
        if (record != NULL) {
            if (record->writer != 0 && record->writer != self->index + 1 &&
                record->written > self->clock.at[record->writer - 1]) {
                char text[160];
                weir__sim_site_text(site, text, sizeof(text));
                weir__sim_fail("two writers of one counter: threads %u and %u at %s",
                               record->writer - 1, self->index, text);
            }
            record->writer = self->index + 1;
            record->written = self->clock.at[self->index];
        }
    }
    put(self, cell, 8, value, weir__sim_relaxed);
}

/* A locked operation, from the step to the old value. False: no run is under way. *shadow: the
 * atom's, if races are looked for. */
static bool modify_begin(const void *atom, uint32_t size, weir__sim_order order,
                         const weir__sim_site *site, uint64_t *old, weir__sim_shadow **shadow)
{
    weir__sim_step(site);
    weir__sim_touch(atom, WEIR__SCALE_LOCK, site);
    weir__sim_thread *self = weir__sim.current;
    if (self == NULL || weir__sim.checking) {
        *old = weir__sim_peek(atom, size);
        return false;
    }
    weir__sim_flush(self);
    *old = weir__sim_peek(atom, size);
    *shadow = weir__sim_racing() ? learn(self, atom, order) : NULL;
    return true;
}

static void modify_end(void *atom, uint32_t size, uint64_t value, weir__sim_order order,
                       weir__sim_shadow *shadow)
{
    weir__sim_thread *self = weir__sim.current;
    const uint64_t before = weir__sim_peek(atom, size);
    poke(atom, size, value);
    if (!weir__sim_racing()) {
        return;
    }
    const weir__sim_clock *released = handed_over(self, order);
    atom_record *record = released != NULL || weir__sim.stale ? make_record(shadow) : NULL;
    if (record != NULL && released != NULL) {
        join(&record->released, released);
    }
    if (record != NULL && weir__sim.stale) {
        weir__sim_stale_store(shadow->atom, before,
                              &(weir__sim_store_note){ .value = weir__sim_peek(atom, size),
                                                       .writer = self->index,
                                                       .epoch = epoch_of(self),
                                                       .strong = order == weir__sim_seq_cst,
                                                       .released = &record->released });
    }
    if (releases(order)) {
        tick(self);
    }
}

uint64_t weir__sim_exchange(void *atom, uint32_t size, uint64_t value, weir__sim_order order,
                            const weir__sim_site *site)
{
    uint64_t old;
    weir__sim_shadow *shadow;
    if (!modify_begin(atom, size, order, site, &old, &shadow)) {
        poke(atom, size, value);
        return old;
    }
    if (weir__sim.tracing) {
        weir__sim_trace("exchange", site, atom, value);
    }
    modify_end(atom, size, value, order, shadow);
    return old;
}

static uint64_t cut(uint64_t value, uint32_t size)
{
    return size == 8 ? value : value & ((UINT64_C(1) << (size * 8)) - 1);
}

uint64_t weir__sim_cas(void *atom, uint32_t size, uint64_t expected, uint64_t value,
                       weir__sim_order success, weir__sim_order failure, const weir__sim_site *site)
{
    uint64_t old;
    weir__sim_step(site);
    weir__sim_touch(atom, WEIR__SCALE_LOCK, site);
    weir__sim_thread *self = weir__sim.current;
    old = weir__sim_peek(atom, size);
    if (self == NULL || weir__sim.checking) {
        if (old == cut(expected, size)) {
            poke(atom, size, value);
            return expected;
        }
        return old;
    }
    weir__sim_flush(self);
    old = weir__sim_peek(atom, size);
    const bool good = old == cut(expected, size);
    if (weir__sim.tracing) {
        weir__sim_trace(good ? "cas" : "cas fails", site, atom, good ? value : old);
    }
    weir__sim_shadow *shadow =
        weir__sim_racing() ? learn(self, atom, good ? success : failure) : NULL;
    if (!good) {
        return old;
    }
    modify_end(atom, size, value, success, shadow);
    return expected;
}

#define MODIFY(name, expression)                                                                   \
    uint64_t weir__sim_##name(void *atom, uint32_t size, uint64_t by, weir__sim_order order,       \
                              const weir__sim_site *site)                                          \
    {                                                                                              \
        uint64_t old;                                                                              \
        weir__sim_shadow *shadow;                                                                  \
        const bool running = modify_begin(atom, size, order, site, &old, &shadow);                 \
        const uint64_t value = (expression);                                                       \
        if (!running) {                                                                            \
            poke(atom, size, value);                                                               \
            return old;                                                                            \
        }                                                                                          \
        if (weir__sim.tracing) {                                                                   \
            weir__sim_trace(#name, site, atom, cut(value, size));                                  \
        }                                                                                          \
        modify_end(atom, size, value, order, shadow);                                              \
        return old;                                                                                \
    }
MODIFY(add, old + by)
MODIFY(or, old | by)
MODIFY(and, old &by)
