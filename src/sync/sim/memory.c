/*
 * sync/sim/memory.c - the arena: all memory that the engine takes, at the same addresses in every
 * run.
 *
 * Memory is handed out in ascending order and not used again before the next run, so that whoever
 * touches what was freed is found out (race.c). Blocks of a page and more begin on a page, and are
 * marked page by page; the shadow of small ones is marked cell by cell.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/processwide.h"
#include "sync/sim/core.h"

#define PAGE ((size_t)1 << WEIR__SIM_PAGE_SHIFT)
#define ARENA_AT ((void *)UINT64_C(0x5e0000000000)) /* so that traces of two processes agree */
#define TAKEN UINT64_C(0x7765697274616b65)
#define GIVEN_BACK UINT64_C(0x7765697266726565)

/* In front of every block. */
typedef struct header {
    uint64_t state;
    size_t size;
    char fill[WEIR_CACHE_LINE - 2 * sizeof(uint64_t)];
} header;

char *weir__sim_arena;
uint8_t *weir__sim_page_gone;
static size_t used;
static size_t live;

static void *map(void *at, size_t size)
{
    void *memory =
        mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    WEIR_ASSERT(memory != MAP_FAILED);
    return memory;
}

void *weir__sim_table(size_t size)
{
    return map(NULL, size);
}

void weir__sim_memory_reset(void)
{
    if (weir__sim_arena == NULL) {
        weir__sim_arena = map(ARENA_AT, WEIR__SIM_ARENA_BYTES);
        weir__sim_page_gone = map(NULL, WEIR__SIM_ARENA_BYTES >> WEIR__SIM_PAGE_SHIFT);
    }
    memset(weir__sim_page_gone, 0, (used >> WEIR__SIM_PAGE_SHIFT) + 1);
    used = 0;
    live = 0;
    weir__sim_races_reset();
}

size_t weir__sim_memory_live(void)
{
    return live;
}

static void *take(void *context, size_t size, size_t alignment)
{
    (void)context;
    WEIR_ASSERT(alignment <= WEIR_CACHE_LINE);
    if (weir__sim.current == NULL) {
        return aligned_alloc(alignment, (size + alignment - 1) & ~(alignment - 1));
    }
    if (weir__sim_decide_fault(WEIR_SIM_ALLOCATIONS, 'a', 16)) {
        return NULL;
    }
    size_t at = used + sizeof(header);
    size_t room = (size + WEIR_CACHE_LINE - 1) & ~(size_t)(WEIR_CACHE_LINE - 1);
    if (size >= PAGE) {
        at = (at + PAGE - 1) & ~(PAGE - 1);
        room = (size + PAGE - 1) & ~(PAGE - 1);
    }
    if (size > WEIR__SIM_ARENA_BYTES || at + room > WEIR__SIM_ARENA_BYTES) {
        return NULL;
    }
    used = at + room;
    live += size;
    header *head = (header *)(void *)(weir__sim_arena + at - sizeof(header));
    head->state = TAKEN;
    head->size = size;
    return head + 1;
}

static void give_back(void *context, void *memory, size_t size)
{
    (void)context;
    const uintptr_t offset = (uintptr_t)memory - (uintptr_t)weir__sim_arena;
    if (offset >= WEIR__SIM_ARENA_BYTES || weir__sim_arena == NULL) {
        free(memory);
        return;
    }
    if (weir__sim.current == NULL) {
        return; /* a run is over: its memory went with it */
    }
    header *head = (header *)memory - 1;
    if (head->state == GIVEN_BACK) {
        weir__sim_fail("double free of @%zx, %zu bytes", (size_t)offset, size);
    }
    if (head->state != TAKEN || head->size != size) {
        weir__sim_fail("bad free of @%zx: %zu bytes, of %zu", (size_t)offset, size,
                       head->state == TAKEN ? head->size : (size_t)0);
    }
    head->state = GIVEN_BACK;
    live -= size;
    if (size >= PAGE) {
        memset(weir__sim_page_gone + (offset >> WEIR__SIM_PAGE_SHIFT), 1,
               (size + PAGE - 1) >> WEIR__SIM_PAGE_SHIFT);
    } else if (weir__sim_racing()) {
        weir__sim_race_freed((uintptr_t)memory, size);
    }
}

void weir__memory_prepare(void *memory, size_t size)
{
    (void)memory;
    (void)size;
}

void weir__memory_huge(void *memory, size_t size)
{
    (void)memory;
    (void)size;
}

const weir_allocator *weir__allocator_default(void)
{
    static const weir_allocator arena = { take, give_back, NULL };
    return &arena;
}

/* ---- variables of the process (base/processwide.h): every run finds them as new ---- */

extern char __start_weir_process_wide[];
extern char __stop_weir_process_wide[];

void weir__sim_process_wide_restore(void)
{
    static char *first; /* as they were before the first run */
    /* By way of integers: the linker has put both around one object. */
    const size_t size = (uintptr_t)__stop_weir_process_wide - (uintptr_t)__start_weir_process_wide;
    if (first == NULL) {
        first = malloc(size);
        WEIR_ASSERT(first != NULL);
        memcpy(first, __start_weir_process_wide, size);
    } else {
        memcpy(__start_weir_process_wide, first, size);
    }
}
