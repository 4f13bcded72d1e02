/*
 * soak/gauge.c - /proc, and an allocator with a header in front of each block.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gauge.h"

#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int64_t soak_resident_kib(void)
{
    long pages = 0;
    (void)malloc_trim(0);
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL || fscanf(file, "%*s %ld", &pages) != 1) {
        pages = 0;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static int64_t entries(const char *path)
{
    int64_t count = 0;
    DIR *folder = opendir(path);
    const struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        count += entry->d_name[0] != '.';
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    return count;
}

int64_t soak_descriptors(void)
{
    return entries("/proc/self/fd");
}

int64_t soak_threads(void)
{
    return entries("/proc/self/task");
}

/* Stands right before the memory that is given out, whatever its alignment. */
typedef struct header {
    void *memory;
    size_t size;
} header;

static void *purse_allocate(void *context, size_t size, size_t alignment)
{
    soak_purse *purse = context;
    const size_t step = alignment > sizeof(header) ? alignment : sizeof(header);
    char *memory = aligned_alloc(step, (step + size + step - 1) / step * step);
    if (memory == NULL) {
        return NULL;
    }
    header *h = (header *)(void *)(memory + step) - 1;
    h->memory = memory;
    h->size = size;
    const int64_t bytes = atomic_fetch_add(&purse->bytes, (int64_t)size) + (int64_t)size;
    (void)atomic_fetch_add(&purse->blocks, 1);
    int64_t most = atomic_load(&purse->most);
    while (bytes > most && !atomic_compare_exchange_weak(&purse->most, &most, bytes)) {
    }
    return memory + step;
}

static void purse_release(void *context, void *memory, size_t size)
{
    soak_purse *purse = context;
    if (memory == NULL) {
        return;
    }
    const header *h = (const header *)memory - 1;
    if (h->size != size) {
        (void)atomic_fetch_add(&purse->wrong_size, 1);
    }
    (void)atomic_fetch_sub(&purse->bytes, (int64_t)h->size);
    (void)atomic_fetch_sub(&purse->blocks, 1);
    free(h->memory);
}

weir_allocator soak_purse_allocator(soak_purse *purse)
{
    return (weir_allocator){ purse_allocate, purse_release, purse };
}
