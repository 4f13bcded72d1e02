/*
 * peers/peer.h - what the peers' programs in C and C++ share: the arguments, the clock, the check
 * of what arrives, and the lines that tools/bench-peers reads.
 *
 * A program is called as `PROGRAM WORKLOAD THREADS [SCALE [VARIANT]]` and measures once. Figures
 * leave it as lines `RESULT peer workload metric value`; workloads and metrics have the names of
 * weir's own suite. What is lost, doubled or out of order ends it with status 1 and no figure.
 * Header only, C11 and C++17: a peer is one file and one compile line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BENCH_PEERS_PEER_H
#define WEIR_BENCH_PEERS_PEER_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* The loads of weir's suite at scale 1. */
#define PEER_PINGS 4000000u       /* w1: events, both ways */
#define PEER_FAN_IN 10000000u     /* w2: events of all producers */
#define PEER_PRODUCERS 4u         /* w2 */
#define PEER_RING 1000u           /* w3: actors */
#define PEER_HOPS 5000000u        /* w3: of all tokens */
#define PEER_CROWD 1000000u       /* w4: actors */
#define PEER_SPREAD 64u           /* w5: actors */
#define PEER_SPREAD_EACH 100000u  /* w5: events an actor */
#define PEER_WAKES 5000u          /* w6: samples, one a millisecond */
#define PEER_TIMERS 1000000u      /* w8 */
#define PEER_IDLE_S 5.0           /* w9: so long, and told per second */
#define PEER_IDLE_THREADS 8       /* w9 */
#define PEER_FLOWS 1000u          /* w14: keys */
#define PEER_FLOW_EVENTS 4000000u /* w14: events whose handler does nothing but check ... */
#define PEER_FLOW_WORKED 1000000u /* ... and such as take 1 us */
#define PEER_FLOW_STEPS 950u      /* w14: about 1 us, see bench/suite/keys.h */
#define PEER_FLOW_BATCH 32u       /* w14: events that come at once, in batch variants */
#define PEER_WINDOW 4096u         /* "limited" variants: events of one producer on their way */

typedef struct peer_call {
    const char *peer;
    const char *workload;
    const char *variant; /* "" is the first one */
    int threads;
    double scale;
} peer_call;

static inline void peer_fail(const char *what)
{
    fprintf(stderr, "WRONG %s\n", what);
    exit(1);
}

static inline peer_call peer_arguments(const char *peer, int count, char **arguments)
{
    peer_call call = { peer, "", "", 1, 1.0 };
    if (count < 3) {
        fprintf(stderr, "usage: %s WORKLOAD THREADS [SCALE [VARIANT]]\n", peer);
        exit(2);
    }
    call.workload = arguments[1];
    call.threads = (int)strtol(arguments[2], NULL, 10);
    call.scale = count > 3 ? strtod(arguments[3], NULL) : 1.0;
    call.variant = count > 4 ? arguments[4] : "";
    if (call.threads < 1 || call.threads > 256 || !(call.scale > 0 && call.scale <= 1)) {
        fprintf(stderr, "%s: THREADS is 1 to 256, SCALE above 0 and at most 1\n", peer);
        exit(2);
    }
    return call;
}

static inline void peer_unknown(const peer_call *call)
{
    fprintf(stderr, "%s: does no %s %s\n", call->peer, call->workload, call->variant);
    exit(2);
}

static inline bool peer_is(const char *word, const char *other)
{
    return strcmp(word, other) == 0;
}

/* The share of a full load that was asked for, a multiple of `unit` and at least that. */
static inline uint64_t peer_scaled(const peer_call *call, uint64_t full, uint64_t unit)
{
    uint64_t units = (uint64_t)((double)full * call->scale) / unit;
    return unit * (units > 0 ? units : 1);
}

static inline uint64_t peer_now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline void peer_sleep_us(uint64_t us)
{
    struct timespec t = { (time_t)(us / 1000000), (long)(us % 1000000) * 1000 };
    (void)nanosleep(&t, NULL);
}

static inline double peer_cpu_ms(void)
{
    struct rusage r;
    (void)getrusage(RUSAGE_SELF, &r);
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1e3 +
           (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e3;
}

static inline double peer_resident_bytes(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%*d %ld", &pages) != 1) {
        peer_fail("/proc/self/statm cannot be read");
    }
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

/* A generator of our own: the same delays in every program. */
static inline uint32_t peer_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* --- what arrives: an event is a word, its sender above, its number below --------------------- */

#define PEER_SENDERS 4u
#define PEER_NUMBER_BITS 40

static inline uint64_t peer_event(uint64_t sender, uint64_t number)
{
    return sender << PEER_NUMBER_BITS | number;
}

/* One receiver's; `next` is read by the senders of a "limited" variant, so they stand apart. */
typedef struct peer_order {
    struct {
        uint64_t next; /* written by the receiver */
        char apart[120];
    } sender[PEER_SENDERS];
    uint64_t count;
    uint64_t wrong;
} peer_order;

/* Counts an event; answers how many there are now. */
static inline uint64_t peer_arrived(peer_order *order, uint64_t event)
{
    uint64_t sender = event >> PEER_NUMBER_BITS & (PEER_SENDERS - 1);
    uint64_t number = event & ((1ull << PEER_NUMBER_BITS) - 1);
    order->wrong += number != order->sender[sender].next;
    __atomic_store_n(&order->sender[sender].next, number + 1, __ATOMIC_RELAXED);
    return ++order->count;
}

static inline void peer_check_order(const peer_order *order, uint64_t count)
{
    if (order->count != count || order->wrong != 0) {
        fprintf(stderr, "%llu of %llu events, %llu out of order\n",
                (unsigned long long)order->count, (unsigned long long)count,
                (unsigned long long)order->wrong);
        peer_fail("events were lost, doubled or out of order");
    }
}

/* A sender of a "limited" variant looks now and then, and waits while too many are on their way. */
static inline void peer_wait_for_room(const peer_order *order, uint64_t sender, uint64_t sent)
{
    if (sent % 256 != 0) {
        return;
    }
    while (sent - __atomic_load_n(&order->sender[sender].next, __ATOMIC_RELAXED) > PEER_WINDOW) {
        sched_yield();
    }
}

/* --- w14: keys in order, as in bench/suite/keys.h --------------------------------------------- */

static inline uint64_t peer_key(uint64_t index)
{
    uint64_t x = (index + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static inline void peer_keys_shuffle(uint64_t *keys, uint32_t count)
{
    uint64_t random = 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = peer_random(&random) % (i + 1);
        keys[i] = keys[at];
        keys[at] = peer_key(i);
    }
}

static inline void peer_work(uint32_t steps)
{
    uint64_t x = steps;
    for (uint32_t i = 0; i < steps; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
    }
    __asm__ volatile("" : : "r"(x));
}

/* --- what is printed -------------------------------------------------------------------------- */

static inline void peer_result(const peer_call *call, const char *metric, double value)
{
    printf("RESULT %s %s %s %.6g\n", call->peer, call->workload, metric, value);
    fflush(stdout);
}

static inline void peer_result_rate(const peer_call *call, uint64_t events, uint64_t elapsed_ns)
{
    peer_result(call, "events_per_s", (double)events / (double)elapsed_ns * 1e9);
    peer_result(call, "ns_per_event", (double)elapsed_ns / (double)events);
}

static inline int peer_compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Sorts the samples. */
static inline void peer_result_latency(const peer_call *call, uint64_t *samples, size_t count)
{
    qsort(samples, count, sizeof *samples, peer_compare);
    peer_result(call, "p50_ns", (double)samples[count / 2]);
    peer_result(call, "p95_ns", (double)samples[count * 95 / 100]);
    peer_result(call, "p99_ns", (double)samples[count * 99 / 100]);
    peer_result(call, "p999_ns", (double)samples[count * 999 / 1000]);
}

/* W9: nothing happens for a while. */
static inline void peer_result_idle(const peer_call *call)
{
    double seconds = PEER_IDLE_S * call->scale < 0.2 ? 0.2 : PEER_IDLE_S * call->scale;
    peer_sleep_us(300000); /* what has just begun comes to rest */
    double before = peer_cpu_ms();
    peer_sleep_us((uint64_t)(seconds * 1e6));
    peer_result(call, "cpu_ms", (peer_cpu_ms() - before) / seconds);
}

#endif /* WEIR_BENCH_PEERS_PEER_H */
