/*
 * floor/records.c - W4: a million records are allocated, each gets one message, all are freed.
 *
 * A record is 128 bytes, what a small processor needs; the message is written into it, and a list
 * of all records that have one is gone through. Bytes are what the process grew by.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "floor/floor.h"

enum { RECORD_BYTES = 128 };

typedef struct record {
    struct record *next;
    uint64_t message, handled;
    char rest[RECORD_BYTES - 24];
} record;

_Static_assert(sizeof(record) == RECORD_BYTES, "a record is what it says");

static double resident_bytes(void)
{
    unsigned long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file != NULL) {
        if (fscanf(file, "%lu %lu", &all, &resident) != 2) {
            resident = 0;
        }
        (void)fclose(file);
    }
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

/* So many are there now. */
static uint64_t create(record **table, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        table[i] = malloc(sizeof(record));
        if (table[i] == NULL) {
            return i;
        }
        *table[i] = (record){ .next = NULL };
    }
    return count;
}

static void post_and_handle(record **table, uint64_t count)
{
    record *list = NULL;
    for (uint64_t i = 0; i < count; i++) {
        table[i]->message = i + 1;
        table[i]->next = list;
        list = table[i];
    }
    for (record *r = list; r != NULL; r = r->next) {
        r->handled = r->message;
    }
}

/* How many had got their message. */
static uint64_t destroy(record **table, uint64_t count)
{
    uint64_t handled = 0;
    for (uint64_t i = 0; i < count; i++) {
        handled += table[i]->handled == i + 1;
        free(table[i]);
    }
    return handled;
}

FLOOR_RUN(floor_records)
{
    const uint64_t count = bench_scaled(setup, 1000000, 10000);
    record **table = floor_allocate(count * sizeof(record *), result);
    if (table == NULL) {
        return;
    }
    (void)malloc_trim(0); /* what earlier rows have left would be taken again, unseen */
    const double before = resident_bytes();
    int64_t begin = bench_now();
    const uint64_t created = create(table, count);
    int64_t elapsed = bench_now() - begin;
    const double after = resident_bytes(); /* the clock stands still meanwhile */
    begin = bench_now();
    post_and_handle(table, created);
    const uint64_t handled = destroy(table, created);
    elapsed += bench_now() - begin;
    bench_result_rate(result, count, elapsed);
    result->seconds = (double)elapsed / 1e9;
    result->bytes_each = (after - before) / (double)count;
    if (handled != count) {
        bench_wrong(result, "%llu of %llu records got their message", (unsigned long long)handled,
                    (unsigned long long)count);
    }
    free(table);
}
