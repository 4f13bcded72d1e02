/*
 * soak/main.c - random traffic, churn and stops for as long as one likes, checked all the time.
 *
 * Three drivers, each with an engine of its own: one engine lives as long as the run, the others
 * come and go in all shapes. Once a minute (more often in a short run) all come to rest and the
 * process is measured. The last line is the verdict; exit status 0 only if nothing was violated.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dice.h"
#include "pace.h"
#include "scene.h"

enum { DRIVERS = 3 };

/* Growth of resident memory that is no leak: 2 %, and at least 4 MiB. In a run of less than ten
 * minutes the engines have not met all their shapes when it is measured first: 32 MiB then. */
#define GROWTH_MIN_KIB 4096
#define GROWTH_SHORT_KIB 32768
#define GROWTH_PART 50

/* Resident memory is the sanitizer's then: shown, not judged. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

typedef struct options {
    double minutes, load;
    uint64_t seed;
} options;

typedef struct driver {
    soak_beat *beat;
    uint64_t random;
    bool lives_long;
    pthread_t thread;
} driver;

typedef struct measure {
    int64_t resident_kib, descriptors, threads;
} measure;

static soak_beat beats[DRIVERS];

static void *drive(void *argument)
{
    driver *d = argument;
    do {
        soak_scene_run(d->beat, soak_dice(&d->random), d->lives_long);
        soak_pace(2000000000);
        if (!d->lives_long) {
            soak_rest(d->beat);
        }
    } while (!soak_is_over());
    soak_step(d->beat, "is done");
    soak_leave();
    return NULL;
}

static uint64_t sum(size_t offset)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < DRIVERS; i++) {
        total += atomic_load((_Atomic uint64_t *)(void *)((char *)&beats[i] + offset));
    }
    return total;
}
#define SUM(field) sum(offsetof(soak_beat, field))

static void *nothing(void *argument)
{
    return argument;
}

/* A sanitizer has a thread of its own from the first pthread_create on. */
static void wake_sanitizer(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, nothing, NULL) == 0) {
        (void)pthread_join(thread, NULL);
    }
}

static measure take_measure(void)
{
    return (measure){ soak_resident_kib(), soak_descriptors(), soak_threads() };
}

/* Everybody rests meanwhile. */
static measure measure_at_rest(void)
{
    soak_rest_begin(beats, DRIVERS);
    const measure m = take_measure();
    soak_rest_end();
    return m;
}

static void wait_until(int64_t end)
{
    while (soak_now() < end) {
        const int64_t left = end - soak_now();
        const struct timespec t = { left > 1000000000 ? 1 : 0,
                                    left > 1000000000 ? 0 : (long)(left > 0 ? left : 0) };
        (void)nanosleep(&t, NULL);
        soak_watch(beats, DRIVERS);
    }
}

static void show(double minute, const measure *m, uint64_t *events_before, double seconds)
{
    const uint64_t events = SUM(events);
    printf("%6.1f min  %12" PRIu64 " events  %9.0f /s  RSS %7" PRId64 " KiB  %8" PRIu64
           " engines  %9" PRIu64 " stops  %3" PRId64 " threads  %3" PRId64 " descriptors  %" PRIu64
           " violations\n",
           minute, events, (double)(events - *events_before) / seconds, m->resident_kib,
           SUM(engines), SUM(stops), m->threads, m->descriptors, soak_violations());
    (void)fflush(stdout);
    *events_before = events;
}

/* Ticks: when the process is measured. The first fifth of them is the warm-up. Answers growth. */
static int64_t run(const options *o)
{
    const double seconds = o->minutes * 60;
    const double tick = seconds < 600 ? seconds / 5 : 60;
    const uint32_t ticks = (uint32_t)(seconds / tick + 0.5);
    const uint32_t warm = ticks / 5 > 0 ? ticks / 5 : 1;
    const int64_t begin = soak_now();
    measure first = { 0, 0, 0 }, last = { 0, 0, 0 };
    uint64_t events = 0;
    for (uint32_t i = 1; i <= ticks; i++) {
        wait_until(begin + (int64_t)(tick * i * 1e9));
        last = measure_at_rest();
        if (i == warm) {
            first = last;
        }
        show((double)(soak_now() - begin) / 60e9, &last, &events, tick);
    }
    const int64_t growth = last.resident_kib - first.resident_kib;
    const int64_t part = first.resident_kib / GROWTH_PART;
    const int64_t least = o->minutes < 10 ? GROWTH_SHORT_KIB : GROWTH_MIN_KIB;
    if (!SANITIZED && growth > (part > least ? part : least)) {
        soak_violation(0, "resident memory grew from %" PRId64 " to %" PRId64 " KiB",
                       first.resident_kib, last.resident_kib);
    }
    if (last.descriptors > first.descriptors) {
        soak_violation(0, "open descriptors grew from %" PRId64 " to %" PRId64, first.descriptors,
                       last.descriptors);
    }
    return growth;
}

static int64_t drive_all(const options *o)
{
    driver drivers[DRIVERS];
    uint64_t random = o->seed;
    soak_pace_open(o->load, DRIVERS);
    for (uint32_t i = 0; i < DRIVERS; i++) {
        drivers[i] =
            (driver){ .beat = &beats[i], .random = soak_dice(&random), .lives_long = i == 0 };
        atomic_store(&beats[i].doing, "begins");
        if (pthread_create(&drivers[i].thread, NULL, drive, &drivers[i]) != 0) {
            fprintf(stderr, "soak: no thread to be had\n");
            exit(2);
        }
    }
    const int64_t growth = run(o);
    soak_over();
    soak_all_left(beats, DRIVERS);
    for (uint32_t i = 0; i < DRIVERS; i++) {
        (void)pthread_join(drivers[i].thread, NULL);
    }
    return growth;
}

static bool read_options(int count, char **arguments, options *o)
{
    for (int i = 1; i + 1 < count; i += 2) {
        char *end = NULL;
        const char *value = arguments[i + 1];
        if (strcmp(arguments[i], "--minutes") == 0) {
            o->minutes = strtod(value, &end);
        } else if (strcmp(arguments[i], "--load") == 0) {
            o->load = strtod(value, &end);
        } else if (strcmp(arguments[i], "--seed") == 0) {
            o->seed = strtoull(value, &end, 10);
        }
        if (end == NULL || end == value || *end != '\0') {
            return false;
        }
    }
    return count % 2 == 1 && o->minutes > 0 && o->minutes <= 100000 && o->load > 0 &&
           o->load <= 1024;
}

int main(int count, char **arguments)
{
    options o = { .minutes = 1, .load = 1, .seed = (uint64_t)time(NULL) };
    if (!read_options(count, arguments, &o)) {
        fprintf(stderr, "usage: soak [--minutes N] [--seed S] [--load CORES]\n");
        return 2;
    }
    printf("soak: %g minutes, load %g, replay with --seed %" PRIu64 "\n", o.minutes, o.load,
           o.seed);
    (void)fflush(stdout);
    wake_sanitizer();
    const measure before = take_measure();
    const int64_t growth = drive_all(&o);
    const measure after = take_measure();
    if (after.threads != before.threads || after.descriptors != before.descriptors) {
        soak_violation(0,
                       "%" PRId64 " threads and %" PRId64 " descriptors at the end, %" PRId64
                       " and %" PRId64 " at the beginning",
                       after.threads, after.descriptors, before.threads, before.descriptors);
    }
    if (soak_owned_out() != 0) {
        soak_violation(0, "%" PRId64 " payloads were never dropped, or dropped twice",
                       soak_owned_out());
    }
    printf("soak: %g minutes, %" PRIu64 " events, %" PRIu64 " engines, %" PRIu64
           " stops, RSS growth %" PRId64 " KiB, %" PRIu64 " violations\n",
           o.minutes, SUM(events), SUM(engines), SUM(stops), growth, soak_violations());
    return soak_violations() == 0 ? 0 : 1;
}
