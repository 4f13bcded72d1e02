/*
 * libuv.c - libuv as a peer: its timers, and a loop that another thread wakes.
 *
 *     cc -O3 -march=native -std=gnu11 -o libuv libuv.c -luv -lpthread
 *     libuv WORKLOAD THREADS [SCALE]
 *
 * Workloads: w6-parked w8. A loop is one thread, whatever THREADS says.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "peer.h"

#include <pthread.h>
#include <uv.h>

static peer_call call;
static uint64_t fired;
static uint64_t samples[PEER_WAKES], sample_count, wanted, sent_ns;
static uv_loop_t *loop;
static uv_async_t door;

static void count_one(uv_timer_t *timer)
{
    (void)timer;
    fired++;
}

static void run_timers(void)
{
    uint64_t count = peer_scaled(&call, PEER_TIMERS, 2), seed = 1;
    uv_timer_t *timers = calloc(count, sizeof *timers);
    uint64_t *delays = calloc(count, sizeof *delays);
    if (timers == NULL || delays == NULL) {
        peer_fail("no memory");
    }
    for (uint64_t i = 0; i < count; i++) {
        delays[i] = 2000 + peer_random(&seed) % 1000;
    }
    uv_update_time(loop);
    uint64_t start = peer_now_ns();
    for (uint64_t i = 0; i < count; i++) {
        (void)uv_timer_init(loop, &timers[i]);
        (void)uv_timer_start(&timers[i], count_one, delays[i], 0);
    }
    peer_result(&call, "schedule_per_s", (double)count / (double)(peer_now_ns() - start) * 1e9);
    start = peer_now_ns();
    for (uint64_t i = 0; i < count; i += 2) {
        (void)uv_timer_stop(&timers[i]);
    }
    peer_result(&call, "cancel_per_s", (double)count / 2 / (double)(peer_now_ns() - start) * 1e9);
    double before = peer_cpu_ms();
    (void)uv_run(loop, UV_RUN_DEFAULT);
    peer_result(&call, "fire_cpu_ms", peer_cpu_ms() - before);
    if (fired != count / 2) {
        peer_fail("timers did not fire, or fired although cancelled");
    }
}

static void take_sample(uv_async_t *handle)
{
    uint64_t now = peer_now_ns();
    samples[sample_count] = now - __atomic_load_n(&sent_ns, __ATOMIC_ACQUIRE);
    __atomic_store_n(&sample_count, sample_count + 1, __ATOMIC_RELEASE);
    if (sample_count == wanted) {
        uv_close((uv_handle_t *)handle, NULL);
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
        (void)uv_async_send(&door);
    }
    return unused;
}

static void run_wakes(void)
{
    pthread_t sender;
    wanted = peer_scaled(&call, PEER_WAKES, 100);
    if (uv_async_init(loop, &door, take_sample) != 0) {
        peer_fail("no async handle");
    }
    if (pthread_create(&sender, NULL, send_wakes, NULL) != 0) {
        peer_fail("no thread");
    }
    (void)uv_run(loop, UV_RUN_DEFAULT);
    (void)pthread_join(sender, NULL);
    peer_result_latency(&call, samples, sample_count);
}

int main(int count, char **arguments)
{
    call = peer_arguments("libuv", count, arguments);
    loop = uv_default_loop();
    if (peer_is(call.workload, "w8")) {
        run_timers();
    } else if (peer_is(call.workload, "w6-parked")) {
        run_wakes();
    } else {
        peer_unknown(&call);
    }
    return 0;
}
