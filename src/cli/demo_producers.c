/*
 * cli/demo_producers.c - the threads outside the engine that feed `weir demo`.
 *
 * Both keep a rate, in slices of a millisecond: a slice's events, then sleep until the next slice
 * begins. The rates follow the cores that there are, so that the engine is busy and the machine
 * stays usable. One that falls behind (a slow machine, a laptop that slept) does not try to catch
 * up, and one that meets a full mailbox gives up that slice: the demo shows the engine's speed, not
 * how it can be drowned.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "cli/demo_load.h"

enum {
    REQUESTS_A_SLICE = 150, /* for each core, so are the ticks; each becomes four events */
    TICKS_A_SLICE = 75,     /* each becomes five */
    CORES_MAX = 8,          /* more would only tire the two producers */
    BURST_EVERY = 250,      /* slices */
    BURST_RECORDS = 4000,   /* to the importer, and to the sampler, whose mailbox is smaller */
    BATCH = 250,            /* records in one call */
};

static bool accepted(weir_status status)
{
    return status == WEIR_OK || status == WEIR_DROPPED;
}

/* True: all accepted. Numbers go on from *number, so that all receivers get their share. */
static bool post_slice(weir__demo_producer *self, const weir__demo_actor *receivers,
                       uint32_t receiver_count, const weir_event_type *type, uint32_t count,
                       uint32_t *number)
{
    for (uint32_t i = 0; i < count; i++) {
        const weir__demo_stamp stamp = { weir_time_now(self->load->engine), *number, 0 };
        const weir_event event = { .type = type, .data = &stamp, .size = sizeof(stamp) };
        const weir_processor to = receivers[*number % receiver_count].handle;
        *number += 1;
        if (!accepted(weir_engine_post(self->load->engine, to, &event))) {
            return false;
        }
        weir__cell_add(&self->posted, 1);
    }
    return true;
}

/* Many events in one call: one wake-up for all of them. */
static void post_burst(weir__demo_producer *self, const weir__demo_actor *to)
{
    weir__demo_stamp stamps[BATCH];
    weir_event events[BATCH];
    const weir_event *pointers[BATCH];
    for (uint32_t sent = 0; sent < BURST_RECORDS; sent += BATCH) {
        const weir_ns now = weir_time_now(self->load->engine);
        for (uint32_t i = 0; i < BATCH; i++) {
            stamps[i] = (weir__demo_stamp){ now, sent + i, 0 };
            events[i] = (weir_event){ .type = &weir__demo_record_type,
                                      .data = &stamps[i],
                                      .size = sizeof(stamps[i]) };
            pointers[i] = &events[i];
        }
        weir__cell_add(&self->posted, weir_engine_post_batch(self->load->engine, &to->handle, 1,
                                                             pointers, BATCH, NULL));
    }
}

/* Sleeps until the next millisecond of the producer's own time begins. */
static void end_slice(struct timespec *next)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    next->tv_nsec += WEIR_MS;
    if (next->tv_nsec >= WEIR_S) {
        next->tv_nsec -= WEIR_S;
        next->tv_sec += 1;
    }
    const bool late =
        now.tv_sec > next->tv_sec || (now.tv_sec == next->tv_sec && now.tv_nsec > next->tv_nsec);
    if (late) {
        *next = now;
        return;
    }
    /* Interrupted or not: a slice that is short by some microseconds hurts nobody. */
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL);
}

static uint32_t cores(void)
{
    const uint32_t usable = weir__cores_usable();
    return usable < CORES_MAX ? usable : CORES_MAX;
}

static void run_clients(void *argument)
{
    weir__demo_producer *self = argument;
    const uint32_t slice = REQUESTS_A_SLICE * cores();
    uint32_t number = 0;
    struct timespec next;
    weir__os_thread_name("demo-clients");
    clock_gettime(CLOCK_MONOTONIC, &next);
    /* Ends with the demo. */
    while (weir__load(&self->load->stopping, relaxed) == 0) {
        post_slice(self, self->load->gateways, WEIR__DEMO_GATEWAYS, &weir__demo_request_type, slice,
                   &number);
        end_slice(&next);
    }
}

static void run_feed(void *argument)
{
    weir__demo_producer *self = argument;
    const uint32_t slice = TICKS_A_SLICE * cores();
    uint32_t number = 0;
    struct timespec next;
    weir__os_thread_name("demo-feed");
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (uint32_t i = 0; weir__load(&self->load->stopping, relaxed) == 0; i++) {
        post_slice(self, self->load->tickers, WEIR__DEMO_TICKERS, &weir__demo_tick_type, slice,
                   &number);
        if (i % BURST_EVERY == 0) {
            post_burst(self, self->load->importer);
            post_burst(self, self->load->sampler);
        }
        end_slice(&next);
    }
}

void weir__demo_producers_start(weir__demo_load *load, weir_error *error)
{
    void (*const run[WEIR__DEMO_PRODUCERS])(void *) = { run_clients, run_feed };
    for (uint32_t i = 0; i < WEIR__DEMO_PRODUCERS && error->status == WEIR_OK; i++) {
        weir__demo_producer *producer = &load->producers[i];
        producer->load = load;
        const int failure = weir__os_thread_start(&producer->thread, run[i], producer);
        if (failure != 0) {
            weir_error_set(error, WEIR_E_SYSTEM, "weir demo", strerror(failure));
            return;
        }
        producer->running = true;
    }
}

void weir__demo_producers_stop(weir__demo_load *load)
{
    weir__store(&load->stopping, 1, relaxed);
    for (uint32_t i = 0; i < WEIR__DEMO_PRODUCERS; i++) {
        if (load->producers[i].running) {
            weir__os_thread_join(&load->producers[i].thread);
            load->producers[i].running = false;
        }
    }
}
