/*
 * soak/churn.c - what the driver does to a running engine while others post: registers players,
 * stops them in every form, posts to handles that are gone, adds threads, reads counters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "dice.h"
#include "scene.h"

enum { THREADS_ADDED_MAX = 6 };

/* The player's place is free again; its handle is one that must be refused from now on. */
static void vacate(soak_scene *scene, soak_player *p)
{
    scene->stale[scene->stale_count++ % SOAK_STALE] =
        atomic_exchange_explicit(&p->handle, 0, memory_order_acq_rel);
    atomic_store(&p->state, SOAK_FREE);
}

void soak_sweep(soak_scene *scene)
{
    for (uint32_t i = 0; i < SOAK_PLAYERS; i++) {
        if (atomic_load(&scene->players[i].state) == SOAK_GONE) {
            vacate(scene, &scene->players[i]);
        }
    }
}

bool soak_adds_up(const weir_stop_report *r)
{
    return r->accepted == r->handled + r->dropped + r->dead + r->left;
}

static void check_report(soak_scene *scene, const soak_player *p, const weir_stop_report *r)
{
    const soak_books *own = p->hooked ? &p->done : &p->sender.books;
    if (!soak_adds_up(r) || r->left != 0) {
        soak_violation(scene->seed,
                       "a processor's report: %" PRIu64 " accepted, %" PRIu64 " handled, %" PRIu64
                       " dropped, %" PRIu64 " dead, %" PRIu64 " left",
                       r->accepted, r->handled, r->dropped, r->dead, r->left);
    }
    if (!p->has_family && !p->init_fails &&
        (r->handled != own->handled || r->dead != own->failed)) {
        soak_violation(scene->seed,
                       "a processor's report: %" PRIu64 " handled, %" PRIu64
                       " dead; its handler saw %" PRIu64 ", %" PRIu64,
                       r->handled, r->dead, own->handled, own->failed);
    }
}

/* Nothing more may be accepted by a handle whose stop has returned. */
static void expect_refusal(soak_scene *scene, uint64_t handle)
{
    soak_mark mark = { .to = handle, .size = sizeof(mark) };
    const weir_event event = { .type = &soak_small_type, .data = &mark, .size = sizeof(mark) };
    soak_mark_seal(&mark);
    const weir_status status = weir_engine_post(scene->engine, (weir_processor){ handle }, &event);
    if (status != WEIR_UNKNOWN && status != WEIR_STOPPING) {
        soak_violation(scene->seed, "a handle that is gone answered %s", weir_status_name(status));
    }
}

/* What a blocking stop answered. */
static void settle(soak_scene *scene, soak_player *p, uint64_t handle, weir_status status,
                   const weir_stop_report *report, bool may_time_out)
{
    (void)atomic_fetch_add(&scene->beat->stops, 1);
    if (status == WEIR_OK) {
        check_report(scene, p, report);
        expect_refusal(scene, handle);
        if (!p->hooked) {
            soak_books_add(scene, &p->sender.books);
            vacate(scene, p);
        }
    } else if (status == WEIR_TIMEOUT && may_time_out) {
        scene->timed_out++;
        if (!soak_adds_up(report)) {
            soak_violation(scene->seed, "the report of a stop that ran out of time: no sum");
        }
    } else if (status != WEIR_UNKNOWN || !p->hooked) {
        soak_violation(scene->seed, "weir_processor_stop answered %s", weir_status_name(status));
    }
}

static void stop_one(soak_scene *scene, soak_player *p)
{
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    const weir_processor handle = { atomic_load(&p->handle) };
    const bool hasty = p->hooked && scene->shape.timeouts && soak_once_in(&scene->random, 2);
    const weir_ns timeout =
        hasty ? (soak_once_in(&scene->random, 2) ? WEIR_NOW : 50 * WEIR_US) : SOAK_DRAIN;
    soak_step(scene->beat, "stops a processor");
    const weir_status status = weir_processor_stop(scene->engine, handle, timeout, &report);
    settle(scene, p, handle.id, status, &report, hasty || (p->has_family && scene->shape.timeouts));
}

static void stop_async(soak_scene *scene, soak_player *p)
{
    const weir_processor handle = { atomic_load(&p->handle) };
    soak_step(scene->beat, "begins the stop of a processor");
    const weir_status status = weir_processor_stop_async(scene->engine, handle, SOAK_DRAIN);
    (void)atomic_fetch_add(&scene->beat->stops, 1);
    if (status != WEIR_OK && status != WEIR_ALREADY && status != WEIR_UNKNOWN) {
        soak_violation(scene->seed, "weir_processor_stop_async answered %s",
                       weir_status_name(status));
    }
}

typedef struct second_stop {
    weir_engine *engine;
    weir_processor handle;
    weir_status status;
    weir_stop_report report;
} second_stop;

static void *stop_too(void *argument)
{
    second_stop *s = argument;
    s->status = weir_processor_stop(s->engine, s->handle, SOAK_DRAIN, &s->report);
    return NULL;
}

/* Two at once: the same answer for both, or one comes too late. */
static void stop_twice(soak_scene *scene, soak_player *p)
{
    pthread_t thread;
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    second_stop second = { .engine = scene->engine,
                           .handle = { atomic_load(&p->handle) },
                           .report = WEIR_STOP_REPORT_INIT };
    soak_step(scene->beat, "stops a processor twice");
    if (pthread_create(&thread, NULL, stop_too, &second) != 0) {
        return;
    }
    const weir_status status =
        weir_processor_stop(scene->engine, second.handle, SOAK_DRAIN, &report);
    (void)pthread_join(thread, NULL);
    if (status == WEIR_OK && second.status == WEIR_OK &&
        memcmp(&report, &second.report, sizeof(report)) != 0) {
        soak_violation(scene->seed, "two stops at once got different reports");
    }
    const bool first = status != WEIR_UNKNOWN;
    settle(scene, p, second.handle.id, first ? status : second.status,
           first ? &report : &second.report, p->has_family && scene->shape.timeouts);
}

static void stop_some(soak_scene *scene, soak_player *p)
{
    const uint32_t form = soak_pick(&scene->random, 4);
    if (p->stopped) {
        return;
    }
    p->stopped = true;
    if (form == 0 && p->hooked) {
        stop_async(scene, p);
    } else if (form == 1) {
        stop_twice(scene, p);
    } else {
        stop_one(scene, p);
    }
}

static void read_counters(soak_scene *scene, const soak_player *p)
{
    weir_counters all = WEIR_COUNTERS_INIT, one = WEIR_COUNTERS_INIT;
    const weir_processor handle = { atomic_load(&p->handle) };
    char name[64];
    weir_dispatcher_counters d = WEIR_DISPATCHER_COUNTERS_INIT;
    weir_thread_counters t = WEIR_THREAD_COUNTERS_INIT;
    (void)weir_dispatcher_counters_get(scene->engine, soak_dispatcher(scene, 0), &d);
    (void)weir_thread_counters_get(scene->engine, weir_thread_find(scene->engine, "weir-0"), &t);
    const weir_status status = weir_engine_counters(scene->engine, &all);
    const weir_status other = weir_processor_counters(scene->engine, handle, &one);
    (void)weir_processor_name(scene->engine, handle, name, sizeof(name));
    (void)weir_processor_find(scene->engine, name);
    if (status != WEIR_OK || (other != WEIR_OK && other != WEIR_UNKNOWN)) {
        soak_violation(scene->seed, "counters answered %s, %s", weir_status_name(status),
                       weir_status_name(other));
    }
}

void soak_churn(soak_scene *scene)
{
    uint64_t *random = &scene->random;
    const uint32_t place = soak_pick(random, SOAK_PLAYERS);
    soak_player *p = &scene->players[place];
    soak_sweep(scene);
    const uint32_t state = atomic_load(&p->state);
    weir_error error = WEIR_ERROR_INIT;
    if (state == SOAK_FREE) {
        soak_step(scene->beat, "registers a processor");
        (void)soak_player_add(scene, place, &error);
    } else if (state == SOAK_LIVE && soak_once_in(random, 2)) {
        stop_some(scene, p);
    } else {
        soak_step(scene->beat, "reads counters");
        read_counters(scene, p);
    }
    if (scene->stale_count > 0) {
        const uint32_t known = scene->stale_count < SOAK_STALE ? scene->stale_count : SOAK_STALE;
        expect_refusal(scene, scene->stale[soak_pick(random, known)]);
    }
    if (scene->threads_added < THREADS_ADDED_MAX && soak_once_in(random, 64)) {
        soak_step(scene->beat, "adds a thread");
        soak_thread_add(scene, soak_pick(random, 8), &error);
    }
    if (error.status != WEIR_OK) {
        char text[256];
        (void)weir_error_format(&error, text, sizeof(text));
        soak_violation(scene->seed, "while it runs: %s", text);
    }
    const struct timespec pause = { 0, 100000 + (long)soak_pick(random, 4000000) };
    (void)nanosleep(&pause, NULL);
}
