/*
 * soak/ending.c - the end of an engine, in one of many forms, and the comparison of the books.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "dice.h"
#include "scene.h"

enum { STOPPERS = 3 };

typedef struct stopper {
    weir_engine *engine;
    weir_ns timeout;
    weir_status status;
    weir_stop_report report;
    pthread_t thread;
} stopper;

static void *stop_engine(void *argument)
{
    stopper *s = argument;
    s->status = weir_engine_stop(s->engine, s->timeout, &s->report);
    return NULL;
}

/* Several stops at once; one does it, all get the same report. Answers what the one got. */
static weir_status stop_together(soak_scene *scene, weir_ns timeout, weir_stop_report *report)
{
    stopper stops[STOPPERS];
    weir_status status = WEIR_ALREADY;
    for (uint32_t i = 0; i < STOPPERS; i++) {
        stops[i] = (stopper){ .engine = scene->engine,
                              .timeout = timeout,
                              .report = WEIR_STOP_REPORT_INIT };
        if (pthread_create(&stops[i].thread, NULL, stop_engine, &stops[i]) != 0) {
            (void)stop_engine(&stops[i]);
            stops[i].thread = pthread_self();
        }
    }
    for (uint32_t i = 0; i < STOPPERS; i++) {
        if (!pthread_equal(stops[i].thread, pthread_self())) {
            (void)pthread_join(stops[i].thread, NULL);
        }
        if (memcmp(&stops[0].report, &stops[i].report, sizeof(*report)) != 0) {
            soak_violation(scene->seed, "stops at once got different reports");
        }
        if (stops[i].status != WEIR_ALREADY) {
            status = stops[i].status;
        }
    }
    *report = stops[0].report;
    return status;
}

/* Begun by a handler: events are posted until one of them has seen the wish. */
static void stop_from_inside(soak_scene *scene)
{
    const struct timespec pause = { 0, 1000000 };
    atomic_store(&scene->stop_inside, true);
    for (uint32_t i = 0; i < 1000 && !atomic_load(&scene->stopped_inside); i++) {
        (void)nanosleep(&pause, NULL); /* the foreign threads post */
    }
    if (atomic_exchange(&scene->stop_inside, false)) { /* nobody came: by ourselves then */
        (void)weir_engine_stop_async(scene->engine, SOAK_DRAIN);
    }
}

static weir_status wait_for_end(soak_scene *scene, weir_stop_report *report)
{
    weir_stop_report none = WEIR_STOP_REPORT_INIT;
    (void)weir_engine_wait(scene->engine, WEIR_US, &none); /* too short, as a rule */
    const weir_status status = weir_engine_wait(scene->engine, SOAK_DRAIN, report);
    return status == WEIR_OK && report->left != 0 && scene->timed_out == 0 ? WEIR_TIMEOUT : status;
}

static weir_status stop_somehow(soak_scene *scene, weir_ns timeout, bool started,
                                weir_stop_report *report)
{
    switch (soak_pick(&scene->random, 5)) {
    case 0:
        soak_step(scene->beat, "stops the engine from several threads");
        return stop_together(scene, timeout, report);
    case 1:
        soak_step(scene->beat, "begins the stop of the engine and waits for it");
        (void)weir_engine_stop_async(scene->engine, timeout);
        return wait_for_end(scene, report);
    case 2:
        if (started && timeout == SOAK_DRAIN) {
            soak_step(scene->beat, "has a handler stop the engine");
            stop_from_inside(scene);
            return wait_for_end(scene, report);
        }
        return weir_engine_stop(scene->engine, timeout, report);
    default:
        soak_step(scene->beat, "stops the engine");
        return weir_engine_stop(scene->engine, timeout, report);
    }
}

/* After the stop nothing is accepted, and the counters say what the report said. */
static void check_stopped(soak_scene *scene, const weir_stop_report *r, bool drained,
                          uint64_t *rooms)
{
    weir_counters c = WEIR_COUNTERS_INIT;
    for (uint32_t i = 0; i < SOAK_PLAYERS; i++) {
        soak_mark mark = { .to = soak_handle(scene, i), .size = sizeof(mark) };
        const weir_event event = { .type = &soak_small_type, .data = &mark, .size = sizeof(mark) };
        soak_mark_seal(&mark);
        const weir_status status =
            weir_engine_post(scene->engine, (weir_processor){ mark.to }, &event);
        if (status != WEIR_STOPPING && status != WEIR_UNKNOWN) {
            soak_violation(scene->seed, "a post after the stop answered %s (P-8)",
                           weir_status_name(status));
        }
    }
    if (weir_engine_counters(scene->engine, &c) != WEIR_OK || c.accepted != r->accepted ||
        c.handled != r->handled || c.dropped != r->dropped || c.dead != r->dead ||
        c.left != r->left) {
        soak_violation(scene->seed, "the counters of a stopped engine are not its report's");
    }
    if (drained && scene->timed_out == 0 && c.block_bytes != 0) {
        soak_violation(scene->seed, "%" PRIu64 " bytes of blocks are out after a drained stop",
                       c.block_bytes);
    }
    *rooms = c.rooms;
}

static void differ(const soak_scene *scene, const char *what, const weir_stop_report *r)
{
    const soak_books *b = &scene->books;
    soak_violation(scene->seed,
                   "%s: report %" PRIu64 " accepted, %" PRIu64 " handled, %" PRIu64
                   " dropped, %" PRIu64 " dead, %" PRIu64 " left; own %" PRIu64
                   " accepted, %" PRIu64 " handled, %" PRIu64 " dropped, %" PRIu64
                   " failed, %" PRIu64 " rooms",
                   what, r->accepted, r->handled, r->dropped, r->dead, r->left, b->accepted,
                   b->handled, b->dropped, b->failed, b->rooms);
}

/* The engine is gone, all is at rest: the program's own numbers against the engine's (P-3). */
static void compare(soak_scene *scene, const weir_stop_report *r, uint64_t rooms, bool drained)
{
    const soak_books *b = &scene->books;
    if (!soak_adds_up(r)) {
        differ(scene, "the sum does not hold", r);
    }
    if (b->accepted + rooms != r->accepted) {
        differ(scene, "posts that were accepted are not what the engine counted", r);
    }
    const bool exact = drained && scene->timed_out == 0;
    if (exact && (b->handled != r->handled || r->left != 0 || b->rooms != rooms)) {
        differ(scene, "handlers saw another number of events", r);
    }
    /* A handler that had not returned when time was up: left, and seen by it. */
    if (!exact && (b->handled < r->handled || b->handled - r->handled > r->left)) {
        differ(scene, "more was handled than the report has handled or left", r);
    }
    if (exact && scene->inits_failed == 0 && b->failed != r->dead) {
        differ(scene, "handlers failed another number of times", r);
    }
    if (b->dropped > r->dropped || b->rooms > b->wanted) {
        differ(scene, "drops or rooms were lost", r);
    }
}

static void check_memory(soak_scene *scene)
{
    const int64_t bytes = atomic_load(&scene->purse.bytes);
    const int64_t blocks = atomic_load(&scene->purse.blocks);
    if (bytes != 0 || blocks != 0 || atomic_load(&scene->purse.wrong_size) != 0) {
        soak_violation(scene->seed,
                       "a destroyed engine keeps %" PRId64 " bytes in %" PRId64 " pieces; %" PRIu64
                       " releases named a wrong size",
                       bytes, blocks, atomic_load(&scene->purse.wrong_size));
    }
}

static void free_engine(soak_scene *scene)
{
    soak_step(scene->beat, "destroys the engine");
    atomic_store(&scene->beat->engine, NULL);
    weir_engine_destroy(scene->engine);
    for (uint32_t i = 0; i < SOAK_PLAYERS; i++) { /* those who have no hook to do it */
        soak_books_add(scene, &scene->players[i].sender.books);
    }
    check_memory(scene);
    (void)atomic_fetch_add(&scene->beat->engines, 1);
}

/* No stop: destroy drains by itself, and only the own books are there to be compared. */
static void end_without_stop(soak_scene *scene)
{
    const soak_books *b = &scene->books;
    free_engine(scene);
    if (scene->timed_out == 0 && scene->inits_failed == 0 && !scene->evicts &&
        b->accepted + b->rooms != b->handled + b->failed + b->dropped) {
        const weir_stop_report none = WEIR_STOP_REPORT_INIT;
        differ(scene, "destroy without a stop", &none);
    }
}

void soak_end(soak_scene *scene, bool started)
{
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    uint64_t rooms = 0;
    const bool hasty = scene->shape.go_on == SOAK_ENDLESS;
    const weir_ns hasty_ns[3] = { WEIR_NOW, 100 * WEIR_US, 5 * WEIR_MS };
    const weir_ns timeout = hasty ? hasty_ns[soak_pick(&scene->random, 3)] : SOAK_DRAIN;
    const bool amid = started && soak_once_in(&scene->random, 2); /* posts go on meanwhile */
    if (started && !hasty && scene->external.id == 0 && soak_once_in(&scene->random, 8)) {
        end_without_stop(scene);
        return;
    }
    if (amid) {
        soak_foreign_begin(scene);
    }
    const weir_status status = stop_somehow(scene, timeout, started, &report);
    (void)atomic_fetch_add(&scene->beat->stops, 1);
    soak_step(scene->beat, "calls the foreign threads home");
    if (amid) {
        soak_foreign_end(scene);
    }
    const bool drained = status == WEIR_OK && !hasty;
    if (started && !hasty && !drained) {
        soak_violation(scene->seed, "a stop answered %s", weir_status_name(status));
    }
    check_stopped(scene, &report, started && drained, &rooms);
    soak_turner_end(scene);
    free_engine(scene);
    compare(scene, &report, rooms, started && drained);
}
