/*
 * sync/sim/race.c - plain accesses: is there an edge between this one and the last?
 *
 * The engine's rooms are compiled with -fsanitize=thread, but against the functions here instead of
 * the sanitizer's library: the compiler reports every plain load and store by itself, and no line
 * of the engine has to say what it hands over. Each four bytes of memory have a shadow: who wrote
 * last, which two read last, each with its clock (as in FastTrack). Memory that was freed has one
 * too.
 *
 * Stacks are left out: what a thread does on its own is nobody's business, and it is most of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>
#include <sys/mman.h>

#include "sync/sim/core.h"

#define CELL_BYTES WEIR__SIM_CELL_BYTES
#define TWO_CELLS (2 * (size_t)CELL_BYTES)
#define OUTSIDE_CELLS (1u << 16)
#define FREED UINT32_MAX /* "written" by a thread that nobody has an edge to */

typedef struct outside_shadow {
    uintptr_t address;
    weir__sim_shadow shadow;
} outside_shadow;

weir__sim_shadow *weir__sim_shadows;
static outside_shadow outside[OUTSIDE_CELLS]; /* of all that is not in the arena: a hash table */

weir__sim_shadow *weir__sim_shadow_outside(uintptr_t address)
{
    uint32_t at = (uint32_t)((address / CELL_BYTES) * UINT64_C(0x9e3779b97f4a7c15) >> 48);
    for (uint32_t n = 0; n < 64; n++, at = (at + 1) % OUTSIDE_CELLS) {
        outside_shadow *entry = &outside[at];
        if (entry->shadow.run != weir__sim.number) {
            entry->address = address / CELL_BYTES;
            entry->shadow = (weir__sim_shadow){ .run = weir__sim.number };
            return &entry->shadow;
        }
        if (entry->address == address / CELL_BYTES) {
            return &entry->shadow;
        }
    }
    return NULL; /* crowded: this access goes unseen */
}

static void open_shadow(void)
{
    weir__sim_shadows =
        mmap(NULL, WEIR__SIM_ARENA_BYTES / CELL_BYTES * sizeof(*weir__sim_shadows),
             PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    WEIR_ASSERT(weir__sim_shadows != MAP_FAILED);
}

void weir__sim_races_reset(void)
{
    if (weir__sim_shadows == NULL) {
        open_shadow();
    }
}

/* Did the access `then` happen before what the thread does now? */
static bool before(uint32_t then, const weir__sim_thread *self)
{
    return then != FREED && (then & WEIR__SIM_CLOCK_MASK) <= self->clock.at[then >> 28];
}

_Noreturn static void fail_freed(const char *now, uintptr_t address)
{
    char here[120];
    weir__sim_site_text(weir__sim.current->site, here, sizeof(here));
    weir__sim_fail("use after free: thread %u %s @%zx (after %s)", weir__sim.current->index, now,
                   (size_t)(address - (uintptr_t)weir__sim_arena), here);
}

_Noreturn static void fail(const char *now, uintptr_t address, const char *then, uint32_t access)
{
    const weir__sim_thread *self = weir__sim.current;
    const weir__sim_thread *other = &weir__sim.threads[access >> 28];
    char here[120];
    char there[120];
    char place[32];
    const uintptr_t offset = address - (uintptr_t)weir__sim_arena;
    if (access == FREED) {
        fail_freed(now, address);
    }
    weir__sim_site_text(self->site, here, sizeof(here));
    weir__sim_site_text(other->site, there, sizeof(there));
    if (offset < WEIR__SIM_ARENA_BYTES) {
        snprintf(place, sizeof(place), "@%zx", (size_t)offset);
    } else {
        snprintf(place, sizeof(place), "%p", (void *)address);
    }
    weir__sim_fail("data race on %s: thread %u %s (after %s), no edge to where thread %u %s (now "
                   "after %s)",
                   place, self->index, now, here, other->index, then, there);
}

void weir__sim_race_freed(uintptr_t address, size_t size)
{
    for (uintptr_t at = address & ~(uintptr_t)(CELL_BYTES - 1); at < address + size;
         at += CELL_BYTES) {
        *weir__sim_shadow_of(at) = (weir__sim_shadow){ .run = weir__sim.number, .wrote = FREED };
    }
}

__attribute__((noinline)) static void access_cell(weir__sim_shadow *cell, uintptr_t address,
                                                  uint32_t me, bool write)
{
    const weir__sim_thread *self = weir__sim.current;
    const uint32_t mask = me >> 24 & 15;
    if (cell->run != weir__sim.number) {
        cell->run = weir__sim.number;
        cell->wrote = write ? me : 0;
        cell->read[0] = write ? 0 : me;
        cell->read[1] = 0;
        cell->atom = 0;
        return;
    }
    const uint32_t wrote = cell->wrote;
    if (wrote != 0 && wrote >> 28 != self->index && (wrote >> 24 & mask) != 0 &&
        !before(wrote, self)) {
        fail(write ? "writes" : "reads", address, "wrote", wrote);
    }
    if (!write) {
        /* Two readers are kept: this thread's entry, or the older of the two makes room. */
        if (cell->read[0] == 0 || cell->read[0] >> 28 == self->index) {
            cell->read[0] = me;
        } else {
            if (cell->read[1] != 0 && cell->read[1] >> 28 != self->index) {
                cell->read[0] = cell->read[1];
            }
            cell->read[1] = me;
        }
        return;
    }
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t read = cell->read[i];
        if (read != 0 && read >> 28 != self->index && (read >> 24 & mask) != 0 &&
            !before(read, self)) {
            fail("writes", address, "read", read);
        }
    }
    cell->wrote = me;
    cell->read[0] = cell->read[1] = 0;
}

/* The same access again, by the same thread, with no release in between: nobody who could have an
 * edge to the last one has been here, and nothing new is to be noted. */
static inline bool is_old_news(const weir__sim_shadow *cell, uint32_t me, bool write)
{
    return cell->run == weir__sim.number &&
           (cell->wrote == me || (!write && (cell->read[0] == me || cell->read[1] == me)));
}

static bool gone(uintptr_t address)
{
    const uintptr_t offset = address - (uintptr_t)weir__sim_arena;
    return offset < WEIR__SIM_ARENA_BYTES && weir__sim_page_gone[offset >> WEIR__SIM_PAGE_SHIFT];
}

static bool on_a_stack(uintptr_t address)
{
    return address - (uintptr_t)weir__sim_stacks < WEIR__SIM_STACKS_BYTES;
}

/* Any memory, any size, cell by cell. */
__attribute__((noinline)) static void access_slow(uintptr_t address, size_t size, bool write)
{
    if (gone(address)) {
        fail_freed(write ? "writes" : "reads", address);
    }
    while (size > 0) {
        const uint32_t skip = (uint32_t)(address % CELL_BYTES);
        const uint32_t part = size < CELL_BYTES - skip ? (uint32_t)size : CELL_BYTES - skip;
        const uint32_t me = weir__sim.epoch | (((1u << part) - 1) << skip) << 24;
        weir__sim_shadow *cell = weir__sim_shadow_of(address);
        if (cell != NULL && !is_old_news(cell, me, write)) {
            access_cell(cell, address, me, write);
        }
        address += part;
        size -= part;
    }
}

__attribute__((noinline)) static void access_two_cells(weir__sim_shadow *cell, uintptr_t address,
                                                       uint32_t me, bool write)
{
    for (uint32_t i = 0; i < 2; i++) {
        if (!is_old_news(cell + i, me, write)) {
            access_cell(cell + i, address + (uintptr_t)i * CELL_BYTES, me, write);
        }
    }
}

__attribute__((noinline)) static void unwatched(uintptr_t address, size_t size, bool write)
{
    if (weir__sim.timed) {
        weir__scale_access(address, size, write);
    }
}

/* Inlined with a constant size into what the compiler calls: this is a good part of a run's time.
 * What lies in one cell of the arena, or in two whole ones, is the usual case. Every call in here
 * is the last thing that it does, so that the usual case saves no registers. */
__attribute__((always_inline)) static inline void access_bytes(uintptr_t address, size_t size,
                                                               bool write)
{
    if (!weir__sim.watching) {
        unwatched(address, size, write);
        return;
    }
    const uint32_t skip = (uint32_t)(address % CELL_BYTES);
    const uintptr_t offset = address - (uintptr_t)weir__sim_arena;
    if ((size == TWO_CELLS ? skip != 0 : skip + size > CELL_BYTES) ||
        offset >= WEIR__SIM_ARENA_BYTES || weir__sim_page_gone[offset >> WEIR__SIM_PAGE_SHIFT]) {
        if (!on_a_stack(address)) {
            access_slow(address, size, write);
        }
        return;
    }
    const uint32_t mask = size >= CELL_BYTES ? 15u : ((1u << size) - 1) << skip;
    const uint32_t me = weir__sim.epoch | mask << 24;
    weir__sim_shadow *cell = &weir__sim_shadows[offset / CELL_BYTES];
    if (size == TWO_CELLS) {
        if (!is_old_news(cell, me, write) || !is_old_news(cell + 1, me, write)) {
            access_two_cells(cell, address, me, write);
        }
    } else if (!is_old_news(cell, me, write)) {
        access_cell(cell, address, me, write);
    }
}

void weir__sim_access(uintptr_t address, size_t size, bool write)
{
    if (size > 0) {
        access_bytes(address, size, write);
    }
}

weir__sim_shadow *weir__sim_race_atomic_slow(uintptr_t address)
{
    const weir__sim_thread *self = weir__sim.current;
    weir__sim_shadow *cell = weir__sim_shadow_of(address);
    if (weir__unlikely(gone(address))) {
        fail_freed("touches", address);
    }
    /* Its neighbour of two bytes may be plain: who writes an atom plainly writes its first byte. */
    const uint32_t mask = 1u << address % CELL_BYTES;
    if (cell != NULL && cell->run == weir__sim.number && cell->wrote != 0 &&
        (cell->wrote >> 24 & mask) != 0 && cell->wrote >> 28 != self->index &&
        !before(cell->wrote, self)) {
        fail("touches (atomically)", address, "wrote (plainly)", cell->wrote);
    }
    return cell;
}

/* ---- what the compiler calls ---- */

/* The names are the sanitizer's, reserved for implementations: here we are one. */
/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): see above */
#define ACCESS(kind, bytes, write)                                                                 \
    WEIR_API void __tsan_##kind##bytes(void *p);                                                   \
    void __tsan_##kind##bytes(void *p)                                                             \
    {                                                                                              \
        access_bytes((uintptr_t)p, bytes, write);                                                  \
    }                                                                                              \
    WEIR_API void __tsan_unaligned_##kind##bytes(void *p);                                         \
    void __tsan_unaligned_##kind##bytes(void *p)                                                   \
    {                                                                                              \
        access_bytes((uintptr_t)p, bytes, write);                                                  \
    }                                                                                              \
    WEIR_API void __tsan_volatile_##kind##bytes(void *p);                                          \
    void __tsan_volatile_##kind##bytes(void *p)                                                    \
    {                                                                                              \
        access_bytes((uintptr_t)p, bytes, write);                                                  \
    }
ACCESS(read, 1, false)
ACCESS(read, 2, false)
ACCESS(read, 4, false)
ACCESS(read, 8, false)
ACCESS(read, 16, false)
ACCESS(write, 1, true)
ACCESS(write, 2, true)
ACCESS(write, 4, true)
ACCESS(write, 8, true)
ACCESS(write, 16, true)

WEIR_API void __tsan_read_range(void *p, unsigned long size);
void __tsan_read_range(void *p, unsigned long size)
{
    weir__sim_access((uintptr_t)p, size, false);
}
WEIR_API void __tsan_write_range(void *p, unsigned long size);
void __tsan_write_range(void *p, unsigned long size)
{
    weir__sim_access((uintptr_t)p, size, true);
}
WEIR_API void __tsan_init(void);
void __tsan_init(void)
{
}
WEIR_API void __tsan_func_entry(void *caller);
void __tsan_func_entry(void *caller)
{
    (void)caller;
}
WEIR_API void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

/* ---- what the engine's rooms call in place of libc's (meson.build renames them) ---- */

void *weir__sim_memset(void *to, int value, size_t size);
void *weir__sim_memset(void *to, int value, size_t size)
{
    weir__sim_access((uintptr_t)to, size, true);
    return memset(to, value, size);
}

void *weir__sim_memcpy(void *restrict to, const void *restrict from, size_t size);
void *weir__sim_memcpy(void *restrict to, const void *restrict from, size_t size)
{
    weir__sim_access((uintptr_t)from, size, false);
    weir__sim_access((uintptr_t)to, size, true);
    return memcpy(to, from, size);
}

void *weir__sim_memmove(void *to, const void *from, size_t size);
void *weir__sim_memmove(void *to, const void *from, size_t size)
{
    weir__sim_access((uintptr_t)from, size, false);
    weir__sim_access((uintptr_t)to, size, true);
    return memmove(to, from, size);
}

void weir_sim_reads(const void *memory, size_t size)
{
    weir__sim_access((uintptr_t)memory, size, false);
}

void weir_sim_writes(const void *memory, size_t size)
{
    weir__sim_access((uintptr_t)memory, size, true);
}
