/*
 * soak/watch.c - violations, beats, and the dump of a run that stands still.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "watch.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { VIOLATIONS_MAX = 20 };

static _Atomic uint64_t violations;

int64_t soak_now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void soak_step(soak_beat *beat, const char *doing)
{
    atomic_store_explicit(&beat->doing, doing, memory_order_relaxed);
    (void)atomic_fetch_add_explicit(&beat->steps, 1, memory_order_relaxed);
}

void soak_violation(uint64_t scene_seed, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    fprintf(stderr, "VIOLATION (scene %016" PRIx64 "): %s\n", scene_seed, text);
    if (atomic_fetch_add(&violations, 1) + 1 == VIOLATIONS_MAX) {
        fprintf(stderr, "soak: %d violations, that is enough\n", VIOLATIONS_MAX);
        abort(); /* a core tells more than another hour */
    }
}

uint64_t soak_violations(void)
{
    return atomic_load(&violations);
}

/* What the system says of each thread: its name, its state, the system call it sleeps in. */
static void dump_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    const struct dirent *entry;
    while (tasks != NULL && (entry = readdir(tasks)) != NULL) {
        static const char *const files[3] = { "comm", "syscall", "stat" };
        if (entry->d_name[0] == '.') {
            continue;
        }
        for (int i = 0; i < 3; i++) {
            char path[300], text[200];
            (void)snprintf(path, sizeof(path), "/proc/self/task/%s/%s", entry->d_name, files[i]);
            const int file = open(path, O_RDONLY | O_CLOEXEC);
            const ssize_t length = file >= 0 ? read(file, text, sizeof(text) - 1) : 0;
            text[length > 0 ? length : 0] = '\0';
            fprintf(stderr, "  task %s %s: %s\n", entry->d_name, files[i], text);
            if (file >= 0) {
                (void)close(file);
            }
        }
    }
    if (tasks != NULL) {
        (void)closedir(tasks);
    }
}

static bool dump_dispatcher(void *context, const char *name)
{
    weir_dispatcher_counters c = WEIR_DISPATCHER_COUNTERS_INIT;
    (void)weir_dispatcher_counters_get(context, name, &c);
    fprintf(stderr,
            "  dispatcher \"%s\": %" PRIu64 " threads, %" PRIu64 " ready, %" PRIu64
            " turns, %" PRIu64 " signals\n",
            name, c.threads, c.ready, c.turns, c.signals);
    return true;
}

static void dump_beat(const soak_beat *beat, uint32_t index)
{
    weir_engine *engine = atomic_load(&beat->engine);
    weir_counters c = WEIR_COUNTERS_INIT;
    fprintf(stderr, "driver %" PRIu32 ": scene %016" PRIx64 ", step %" PRIu64 ": %s\n", index,
            atomic_load(&beat->scene_seed), atomic_load(&beat->steps), atomic_load(&beat->doing));
    if (engine != NULL && weir_engine_counters(engine, &c) == WEIR_OK) {
        fprintf(stderr,
                "  accepted %" PRIu64 " handled %" PRIu64 " dropped %" PRIu64 " dead %" PRIu64
                " left %" PRIu64 " depth %" PRIu64 " processors %" PRIu64 " threads %" PRIu64 "\n",
                c.accepted, c.handled, c.dropped, c.dead, c.left, c.depth, c.processors, c.threads);
        /* This may wait for a lock that the stuck one holds: it is the last thing said of it. */
        weir_dispatcher_visit(engine, dump_dispatcher, engine);
    }
}

/* How long the threads that there are now have waited for a core, all together. 0: not known. */
static int64_t waited_for_cores(void)
{
    int64_t total = 0;
    DIR *tasks = opendir("/proc/self/task");
    const struct dirent *entry;
    while (tasks != NULL && (entry = readdir(tasks)) != NULL) {
        char path[300];
        int64_t waited = 0;
        (void)snprintf(path, sizeof(path), "/proc/self/task/%s/schedstat", entry->d_name);
        FILE *file = fopen(path, "re");
        if (file != NULL) {
            total += fscanf(file, "%*u %" SCNd64, &waited) == 1 ? waited : 0;
            (void)fclose(file);
        }
    }
    if (tasks != NULL) {
        (void)closedir(tasks);
    }
    return total;
}

/* A clock for patience: it goes ten times slower while the machine has no core for us, and never
 * jumps. A process where everybody sleeps waits for no core. */
static int64_t patience_clock(void)
{
    static int64_t clock, last, last_waited;
    const int64_t now = soak_now(), waited = waited_for_cores();
    const int64_t most = 2 * (int64_t)1000000000;
    const int64_t passed = now - last < most ? now - last : most;
    const bool starved = waited - last_waited > passed / 2;
    clock += last == 0 ? 1 : starved ? passed / 10 : passed;
    last = now;
    last_waited = waited;
    return clock;
}

void soak_watch(soak_beat *beats, uint32_t count)
{
    const int64_t now = patience_clock();
    for (uint32_t i = 0; i < count; i++) {
        soak_beat *beat = &beats[i];
        const uint64_t steps = atomic_load_explicit(&beat->steps, memory_order_relaxed);
        if (steps != beat->seen_steps || beat->seen_at == 0) {
            beat->seen_steps = steps;
            beat->seen_at = now;
        } else if (now - beat->seen_at > SOAK_STUCK_SECONDS * (int64_t)1000000000) {
            fprintf(stderr, "soak: driver %" PRIu32 " made no step for %d s or more\n", i,
                    SOAK_STUCK_SECONDS);
            dump_threads();
            for (uint32_t k = 0; k < count; k++) {
                dump_beat(&beats[(i + 1 + k) % count], (i + 1 + k) % count);
            }
            abort();
        }
    }
}
