/*
 * floor/floor.c - threads and memory of the floors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "floor/floor.h"

#include <stdlib.h>
#include <string.h>

bool floor_start(pthread_t *thread, void *(*run)(void *), void *argument, bench_result *result)
{
    if (pthread_create(thread, NULL, run, argument) != 0) {
        bench_wrong(result, "no threads");
        return false;
    }
    return true;
}

void *floor_allocate(size_t size, bench_result *result)
{
    const size_t rounded = (size + FLOOR_LINE - 1) / FLOOR_LINE * FLOOR_LINE;
    void *memory = aligned_alloc(FLOOR_LINE, rounded);
    if (memory == NULL) {
        bench_wrong(result, "out of memory");
        return NULL;
    }
    return memset(memory, 0, rounded);
}
