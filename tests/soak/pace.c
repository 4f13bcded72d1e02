/*
 * soak/pace.c - a budget of processor time, and a room to rest in.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pace.h"

#include <pthread.h>
#include <time.h>

#define SLACK_NS INT64_C(50000000)

static double load;
static int64_t started;
static _Atomic bool over;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint32_t active; /* drivers that are not at rest */
static bool resting;    /* whoever comes rests */

static int64_t processor_time(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void soak_pace_open(double cores, uint32_t drivers)
{
    load = cores;
    active = drivers;
    started = soak_now() - (int64_t)((double)processor_time() / cores);
}

void soak_pace(int64_t most_ns)
{
    const double budget = load * (double)(soak_now() - started);
    const double ahead = (double)processor_time() - budget - (double)SLACK_NS;
    if (ahead <= 0) {
        return;
    }
    const double wait = ahead / load;
    const int64_t ns = wait < (double)most_ns ? (int64_t)wait : most_ns;
    const struct timespec t = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
    (void)nanosleep(&t, NULL);
}

bool soak_is_over(void)
{
    return atomic_load_explicit(&over, memory_order_relaxed);
}

void soak_over(void)
{
    atomic_store(&over, true);
}

void soak_rest(soak_beat *beat)
{
    (void)pthread_mutex_lock(&lock);
    if (resting) {
        active--;
        (void)pthread_cond_broadcast(&changed);
        while (resting) {
            (void)pthread_cond_wait(&changed, &lock);
        }
        active++;
    }
    (void)pthread_mutex_unlock(&lock);
    soak_step(beat, "rested");
}

void soak_leave(void)
{
    (void)pthread_mutex_lock(&lock);
    active--;
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&lock);
}

/* Until no driver is active, watching them. The lock is held. */
static void await_all(soak_beat *beats, uint32_t count)
{
    while (active > 0) { /* ends: all come to rest, or the watch ends the run */
        struct timespec soon;
        (void)clock_gettime(CLOCK_REALTIME, &soon);
        soon.tv_sec++;
        (void)pthread_cond_timedwait(&changed, &lock, &soon);
        (void)pthread_mutex_unlock(&lock);
        soak_watch(beats, count);
        (void)pthread_mutex_lock(&lock);
    }
}

void soak_rest_begin(soak_beat *beats, uint32_t count)
{
    (void)pthread_mutex_lock(&lock);
    resting = true;
    await_all(beats, count);
    (void)pthread_mutex_unlock(&lock);
}

void soak_all_left(soak_beat *beats, uint32_t count)
{
    (void)pthread_mutex_lock(&lock);
    await_all(beats, count);
    (void)pthread_mutex_unlock(&lock);
}

void soak_rest_end(void)
{
    (void)pthread_mutex_lock(&lock);
    resting = false;
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&lock);
}
