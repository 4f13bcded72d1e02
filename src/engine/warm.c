/*
 * engine/warm.c - see warm.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/warm.h"

#include "base/memory.h"

#define LOOKS 64u     /* between two times: a few microseconds */
#define WAY_MAX 16384 /* bytes: another linker has put them elsewhere */

/* Before and behind the functions that are WEIR__WARM. */
__attribute__((section(".text.sorted.weir_warm_0"), noinline)) static void way_begins(void)
{
}

__attribute__((section(".text.sorted.weir_warm_2"), noinline)) static void way_ends(void)
{
}

static void ask_for(const void *begin, const void *end)
{
    for (const char *line = begin; line < (const char *)end; line += WEIR_CACHE_LINE) {
        __builtin_prefetch(line, 0, 2);
    }
}

static void ask_for_all(const weir__thread *thread)
{
    const uintptr_t begin = (uintptr_t)way_begins;
    const uintptr_t end = (uintptr_t)way_ends;
    if (begin < end && end - begin <= WAY_MAX) {
        ask_for((const void *)begin, (const void *)end);
    }
    ask_for(thread, thread->trail.steps);
    for (uint32_t i = 0; i < thread->serving_count; i++) {
        const weir__serving *serving = thread->servings[i];
        ask_for(serving, &serving->latency);
    }
    weir__clock_warm();
}

void weir__stay_warm(weir__thread *thread)
{
    if (++thread->looks % LOOKS == 0) {
        ask_for_all(thread);
    }
}
