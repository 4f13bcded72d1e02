/*
 * glib.c - GLib as a peer: GAsyncQueue between threads, an actor on a GThreadPool, timeouts.
 *
 *     cc -O3 -march=native -std=gnu11 -o glib glib.c $(pkg-config --cflags --libs glib-2.0)
 *     glib WORKLOAD THREADS [SCALE [VARIANT]]
 *
 * Workloads: w1 (two threads) w2-external w5-external w6-parked w7-1 w7-4 w8 w9-idle.
 * Variants: plain; limited: external producers keep at most PEER_WINDOW events each on their way.
 * GLib has no actors: w5 builds one from a locked GQueue, put into the pool when it fills.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "peer.h"

#include <glib.h>
#include <semaphore.h>
#include <stdatomic.h>

enum { TURN = 64, TIMERS = 100000 };

static peer_call call;
static bool limited;
static sem_t all_done;
static atomic_uint_fast64_t left; /* receivers or samples that are not done */

static void one_done(void)
{
    if (atomic_fetch_sub(&left, 1) == 1) {
        sem_post(&all_done);
    }
}

static void wait_until_done(void)
{
    while (sem_wait(&all_done) != 0) {
    }
}

/* A queue takes no NULL. */
static gpointer to_pointer(uint64_t event)
{
    return GSIZE_TO_POINTER(event + 1);
}

static uint64_t to_event(gpointer pointer)
{
    return GPOINTER_TO_SIZE(pointer) - 1;
}

/* --- W1 --------------------------------------------------------------------------------------- */

typedef struct court {
    GAsyncQueue *to, *back;
    uint64_t rounds;
} court;

static gpointer return_balls(gpointer argument)
{
    court *c = argument;
    for (uint64_t i = 0; i < c->rounds; i++) {
        g_async_queue_push(c->back, g_async_queue_pop(c->to));
    }
    return NULL;
}

static void run_ping_pong(void)
{
    /* Both park each time: so slow that few are enough. */
    const uint64_t pings = peer_scaled(&call, PEER_PINGS / 40, 2);
    court c = { g_async_queue_new(), g_async_queue_new(), pings / 2 };
    GThread *other = g_thread_new("pong", return_balls, &c);
    uint64_t start = peer_now_ns();
    for (uint64_t i = 0; i < c.rounds; i++) {
        g_async_queue_push(c.to, to_pointer(i));
        if (to_event(g_async_queue_pop(c.back)) != i) {
            peer_fail("another event came back");
        }
    }
    uint64_t elapsed = peer_now_ns() - start;
    g_thread_join(other);
    peer_result_rate(&call, 2 * c.rounds, elapsed);
}

/* --- W2, W7: threads into one queue ----------------------------------------------------------- */

typedef struct producer {
    GAsyncQueue *queue;
    peer_order *order;
    uint64_t sender, each;
} producer;

static gpointer produce(gpointer argument)
{
    const producer *p = argument;
    for (uint64_t n = 0; n < p->each; n++) {
        if (limited) {
            peer_wait_for_room(p->order, p->sender, n);
        }
        g_async_queue_push(p->queue, to_pointer(peer_event(p->sender, n)));
    }
    return NULL;
}

static void run_fan_in(unsigned producers)
{
    peer_order order = { .count = 0 };
    producer all[PEER_PRODUCERS];
    GThread *threads[PEER_PRODUCERS];
    GAsyncQueue *queue = g_async_queue_new();
    uint64_t total = peer_scaled(&call, PEER_FAN_IN, producers);
    uint64_t start = peer_now_ns();
    for (unsigned p = 0; p < producers; p++) {
        all[p] = (producer){ queue, &order, p, total / producers };
        threads[p] = g_thread_new("producer", produce, &all[p]);
    }
    while (order.count < total) {
        peer_arrived(&order, to_event(g_async_queue_pop(queue)));
    }
    uint64_t elapsed = peer_now_ns() - start;
    for (unsigned p = 0; p < producers; p++) {
        g_thread_join(threads[p]);
    }
    peer_check_order(&order, total);
    peer_result_rate(&call, total, elapsed);
}

/* --- W5: an actor on a pool ------------------------------------------------------------------- */

typedef struct actor {
    GMutex lock;
    GQueue events; /* under the lock */
    bool scheduled;
    uint64_t expected;
    peer_order order;
} actor;

static GThreadPool *pool;
static actor actors[PEER_SPREAD];

static void take_turn(gpointer argument, gpointer unused)
{
    actor *a = argument;
    (void)unused;
    for (int i = 0; i < TURN; i++) {
        g_mutex_lock(&a->lock);
        gpointer event = g_queue_pop_head(&a->events);
        a->scheduled = event != NULL;
        g_mutex_unlock(&a->lock);
        if (event == NULL) {
            return;
        }
        if (peer_arrived(&a->order, to_event(event)) == a->expected) {
            one_done();
        }
    }
    g_thread_pool_push(pool, a, NULL);
}

static void post(actor *a, uint64_t event)
{
    g_mutex_lock(&a->lock);
    g_queue_push_tail(&a->events, to_pointer(event));
    bool was_scheduled = a->scheduled;
    a->scheduled = true;
    g_mutex_unlock(&a->lock);
    if (!was_scheduled) {
        g_thread_pool_push(pool, a, NULL);
    }
}

static gpointer produce_for_half(gpointer argument)
{
    uint64_t sender = GPOINTER_TO_SIZE(argument), each = actors[0].expected;
    for (uint64_t n = 0; n < each; n++) {
        for (size_t i = sender; i < PEER_SPREAD; i += 2) {
            if (limited) {
                peer_wait_for_room(&actors[i].order, sender, n);
            }
            post(&actors[i], peer_event(sender, n));
        }
    }
    return NULL;
}

static void run_spread(void)
{
    GThread *threads[2];
    for (size_t i = 0; i < PEER_SPREAD; i++) {
        g_mutex_init(&actors[i].lock);
        g_queue_init(&actors[i].events);
        actors[i].expected = peer_scaled(&call, PEER_SPREAD_EACH, 1);
    }
    left = PEER_SPREAD;
    pool = g_thread_pool_new(take_turn, NULL, call.threads, TRUE, NULL);
    uint64_t start = peer_now_ns();
    for (size_t p = 0; p < 2; p++) {
        threads[p] = g_thread_new("producer", produce_for_half, GSIZE_TO_POINTER(p));
    }
    wait_until_done();
    uint64_t elapsed = peer_now_ns() - start;
    g_thread_join(threads[0]);
    g_thread_join(threads[1]);
    g_thread_pool_free(pool, FALSE, TRUE);
    for (size_t i = 0; i < PEER_SPREAD; i++) {
        peer_check_order(&actors[i].order, actors[i].expected);
    }
    peer_result_rate(&call, PEER_SPREAD * actors[0].expected, elapsed);
}

/* --- W6, W8, W9 ------------------------------------------------------------------------------- */

static uint64_t samples[PEER_WAKES];
static atomic_size_t sample_count;

static void take_sample(gpointer sent, gpointer unused)
{
    (void)unused;
    samples[atomic_fetch_add(&sample_count, 1)] = peer_now_ns() - GPOINTER_TO_SIZE(sent);
    one_done();
}

static void run_wakes(void)
{
    uint64_t count = peer_scaled(&call, PEER_WAKES, 100);
    left = count;
    pool = g_thread_pool_new(take_sample, NULL, call.threads, TRUE, NULL);
    for (uint64_t i = 0; i < count; i++) {
        peer_sleep_us(1000);
        g_thread_pool_push(pool, GSIZE_TO_POINTER(peer_now_ns()), NULL);
    }
    wait_until_done();
    peer_result_latency(&call, samples, count);
}

static gboolean count_one(gpointer counter)
{
    ++*(uint64_t *)counter;
    return G_SOURCE_REMOVE;
}

/* A turn of the loop looks at every source: a tenth of the timers, and they are not fired. */
static void run_timers(void)
{
    static GSource *timers[TIMERS];
    uint64_t count = peer_scaled(&call, TIMERS, 2), fired = 0, seed = 1;
    GMainContext *context = g_main_context_new();
    uint64_t start = peer_now_ns();
    for (uint64_t i = 0; i < count; i++) {
        timers[i] = g_timeout_source_new(4000 + peer_random(&seed) % 1000);
        g_source_set_callback(timers[i], count_one, &fired, NULL);
        g_source_attach(timers[i], context);
    }
    peer_result(&call, "schedule_per_s", (double)count / (double)(peer_now_ns() - start) * 1e9);
    start = peer_now_ns();
    for (uint64_t i = 0; i < count; i += 2) {
        g_source_destroy(timers[i]);
    }
    peer_result(&call, "cancel_per_s", (double)count / 2 / (double)(peer_now_ns() - start) * 1e9);
    if (fired != 0) {
        peer_fail("a timer fired before its time");
    }
}

static void run_idle(void)
{
    pool = g_thread_pool_new(take_sample, NULL, PEER_IDLE_THREADS, TRUE, NULL);
    peer_result_idle(&call);
}

int main(int count, char **arguments)
{
    call = peer_arguments("glib", count, arguments);
    limited = peer_is(call.variant, "limited");
    if (!limited && *call.variant != '\0' && !peer_is(call.variant, "plain")) {
        peer_unknown(&call);
    }
    sem_init(&all_done, 0, 0);
    const char *w = call.workload;
    if (peer_is(w, "w1")) {
        run_ping_pong();
    } else if (peer_is(w, "w2-external") || peer_is(w, "w7-4")) {
        run_fan_in(PEER_PRODUCERS);
    } else if (peer_is(w, "w7-1")) {
        run_fan_in(1);
    } else if (peer_is(w, "w5-external")) {
        run_spread();
    } else if (peer_is(w, "w6-parked")) {
        run_wakes();
    } else if (peer_is(w, "w8")) {
        run_timers();
    } else if (peer_is(w, "w9-idle")) {
        run_idle();
    } else {
        peer_unknown(&call);
    }
    return 0;
}
