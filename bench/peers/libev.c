/*
 * libev.c - libev as a peer: its timers, and a loop that another thread wakes.
 *
 *     cc -O3 -march=native -std=gnu11 -o libev libev.c -lev -lpthread
 *     libev WORKLOAD THREADS [SCALE]
 *
 * Workloads: w6-parked w8. A loop is one thread, whatever THREADS says.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "peer.h"

#include <ev.h>
#include <pthread.h>

static peer_call call;
static uint64_t fired;
static uint64_t samples[PEER_WAKES], sample_count, wanted, sent_ns;
static struct ev_loop *loop;
static ev_async door;

static void count_one(struct ev_loop *where, ev_timer *timer, int events)
{
    (void)where, (void)timer, (void)events;
    fired++;
}

static void run_timers(void)
{
    uint64_t count = peer_scaled(&call, PEER_TIMERS, 2), seed = 1;
    ev_timer *timers = calloc(count, sizeof *timers);
    double *delays = calloc(count, sizeof *delays);
    if (timers == NULL || delays == NULL) {
        peer_fail("no memory");
    }
    for (uint64_t i = 0; i < count; i++) {
        delays[i] = 2 + (double)(peer_random(&seed) % 1000) / 1e3;
    }
    ev_now_update(loop);
    uint64_t start = peer_now_ns();
    for (uint64_t i = 0; i < count; i++) {
        ev_timer_init(&timers[i], count_one, delays[i], 0.);
        ev_timer_start(loop, &timers[i]);
    }
    peer_result(&call, "schedule_per_s", (double)count / (double)(peer_now_ns() - start) * 1e9);
    start = peer_now_ns();
    for (uint64_t i = 0; i < count; i += 2) {
        ev_timer_stop(loop, &timers[i]);
    }
    peer_result(&call, "cancel_per_s", (double)count / 2 / (double)(peer_now_ns() - start) * 1e9);
    double before = peer_cpu_ms();
    ev_run(loop, 0);
    peer_result(&call, "fire_cpu_ms", peer_cpu_ms() - before);
    if (fired != count / 2) {
        peer_fail("timers did not fire, or fired although cancelled");
    }
}

static void take_sample(struct ev_loop *where, ev_async *watcher, int events)
{
    (void)events;
    uint64_t now = peer_now_ns();
    samples[sample_count] = now - __atomic_load_n(&sent_ns, __ATOMIC_ACQUIRE);
    __atomic_store_n(&sample_count, sample_count + 1, __ATOMIC_RELEASE);
    if (sample_count == wanted) {
        ev_async_stop(where, watcher);
    }
}

/* Sends that meet become one: each waits until the last was taken. */
static void *send_wakes(void *unused)
{
    for (uint64_t i = 0; i < wanted; i++) {
        peer_sleep_us(1000);
        while (__atomic_load_n(&sample_count, __ATOMIC_ACQUIRE) < i) {
            sched_yield();
        }
        __atomic_store_n(&sent_ns, peer_now_ns(), __ATOMIC_RELEASE);
        ev_async_send(loop, &door);
    }
    return unused;
}

static void run_wakes(void)
{
    pthread_t sender;
    wanted = peer_scaled(&call, PEER_WAKES, 100);
    ev_async_init(&door, take_sample);
    ev_async_start(loop, &door);
    if (pthread_create(&sender, NULL, send_wakes, NULL) != 0) {
        peer_fail("no thread");
    }
    ev_run(loop, 0);
    (void)pthread_join(sender, NULL);
    peer_result_latency(&call, samples, sample_count);
}

int main(int count, char **arguments)
{
    call = peer_arguments("libev", count, arguments);
    loop = ev_default_loop(0);
    if (peer_is(call.workload, "w8")) {
        run_timers();
    } else if (peer_is(call.workload, "w6-parked")) {
        run_wakes();
    } else {
        peer_unknown(&call);
    }
    return 0;
}
