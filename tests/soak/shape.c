/*
 * soak/shape.c - what an engine looks like: threads, dispatchers, idle strategies, bounds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>

#include "dice.h"
#include "scene.h"

enum { NAMES = 3 };
static const char *const names[NAMES] = { "", "api", "batch" };
static const char *const outside = "outside"; /* served by the external thread alone */

const char *soak_dispatcher(const soak_scene *scene, uint32_t choice)
{
    const uint32_t count = scene->shape.dispatchers;
    return scene->shape.external && choice == 7 ? outside : names[choice % count];
}

void soak_shape_draw(soak_scene *scene, bool lives_long)
{
    uint64_t *random = &scene->random;
    soak_shape *shape = &scene->shape;
    *shape = (soak_shape){
        .go_on = soak_pick(random, 36), /* of 64: it dies out */
        .slow_ns = soak_once_in(random, 3) ? 1000 + soak_pick(random, 100000) : 0,
        .foreign = 1 + soak_pick(random, SOAK_FOREIGN),
        .dispatchers = 1 + soak_pick(random, NAMES),
        .rounds = soak_pick(random, 4),
        .round_ns = (5 + (int64_t)soak_pick(random, 250)) * WEIR_MS,
        .spins = soak_once_in(random, 4),
        .churn = !soak_once_in(random, 4),
        .timeouts = soak_once_in(random, 4),
        .failing_inits = soak_once_in(random, 6),
        .counted = !soak_once_in(random, 4),
        .external = soak_once_in(random, 3),
        .lives_long = lives_long,
    };
    if (lives_long) {
        shape->dispatchers = NAMES;
        shape->round_ns = 500 * WEIR_MS;
        shape->spins = false;
        shape->churn = shape->counted = shape->external = true;
        shape->timeouts = shape->failing_inits = false;
        shape->slow_ns = 20000;
    } else if (shape->spins) {
        shape->round_ns /= 8;
        shape->rounds = 1;
    } else if (soak_once_in(random, 8)) {
        shape->go_on = SOAK_ENDLESS;
    }
    for (uint32_t i = 0; i < SOAK_PLAYERS; i++) {
        scene->players[i].overflow = (weir_overflow)(WEIR_OVERFLOW_FAIL + soak_pick(random, 4));
    }
}

static void log_nothing(void *context, const weir_log_entry *entry)
{
    (void)entry;
    (void)atomic_fetch_add_explicit((_Atomic uint64_t *)context, 1, memory_order_relaxed);
}

static weir_idle draw_idle(soak_scene *scene)
{
    static const weir_idle sleeping[] = { WEIR_IDLE_BACKOFF, WEIR_IDLE_PARK, WEIR_IDLE_SLEEP };
    static const weir_idle spinning[] = { WEIR_IDLE_YIELD, WEIR_IDLE_BUSY_SPIN, WEIR_IDLE_NOOP };
    return scene->shape.spins && soak_once_in(&scene->random, 2)
               ? spinning[soak_pick(&scene->random, 3)]
               : sleeping[soak_pick(&scene->random, 3)];
}

void soak_thread_add(soak_scene *scene, uint32_t row, weir_error *error)
{
    static const int32_t core = 0;
    const char *served[NAMES + 1] = { NULL };
    uint32_t count = 0;
    uint64_t *random = &scene->random;
    for (uint32_t i = 0; i < scene->shape.dispatchers && i < NAMES; i++) {
        if (i == row % scene->shape.dispatchers || soak_once_in(random, 2)) {
            served[count++] = names[i];
        }
    }
    const bool pinned = soak_once_in(random, 8);
    const bool nice = soak_once_in(random, 8);
    (void)weir_thread_add(scene->engine,
                          WEIR_THREAD(.dispatchers = served, .idle = draw_idle(scene),
                                      .idle_sleep = 200 * WEIR_US, .cores = pinned ? &core : NULL,
                                      .core_count = pinned,
                                      .priority = nice ? WEIR_PRIORITY_NICE : WEIR_PRIORITY_DEFAULT,
                                      .priority_value = nice ? 1 : 0),
                          error);
    scene->threads_added++;
}

static void add_threads(soak_scene *scene, weir_error *error)
{
    uint64_t *random = &scene->random;
    const uint32_t dispatchers = scene->shape.dispatchers;
    if (soak_once_in(random, 4)) {
        const char *served[NAMES + 1] = { NULL };
        for (uint32_t i = 0; i < dispatchers && i < NAMES; i++) {
            served[i] = names[i];
        }
        const weir_strategy strategy =
            (weir_strategy)(WEIR_STRATEGY_PARTITION + soak_pick(random, 3));
        (void)weir_assign_strategy(
            scene->engine,
            WEIR_ASSIGNMENT(.strategy = strategy, .dispatchers = served,
                            .threads = strategy == WEIR_STRATEGY_PER_DISPATCHER
                                           ? 0
                                           : 1 + soak_pick(random, 3),
                            .idle = draw_idle(scene)),
            error);
    } else {
        for (uint32_t i = 0; i < dispatchers + soak_pick(random, 2); i++) {
            soak_thread_add(scene, i, error);
        }
    }
    if (scene->shape.external) {
        const char *also = soak_once_in(random, 2) ? names[0] : NULL;
        const char *const served[3] = { outside, also, NULL };
        scene->external = weir_thread_add(
            scene->engine, WEIR_THREAD(.dispatchers = served, .external = true), error);
    }
}

void soak_shape_build(soak_scene *scene, weir_error *error)
{
    static const uint32_t batches[] = { 1, 8, 64, 1000 };
    static _Atomic uint64_t logged;
    uint64_t *random = &scene->random;
    const weir_allocator purse = soak_purse_allocator(&scene->purse);
    scene->engine = weir_engine_create(
        WEIR_ENGINE(.batch_max = batches[soak_pick(random, 4)],
                    .block_max = (1 + (weir_ns)soak_pick(random, 10)) * WEIR_MS,
                    .block_bytes_max = scene->shape.lives_long || soak_once_in(random, 4)
                                           ? 256 * 1024
                                           : 8 * 1024 * 1024,
                    .backoff_jitter = soak_once_in(random, 2) ? 0.5 : 0, .processors_max = 1000,
                    .log = log_nothing, .log_context = &logged,
                    .allocator = scene->shape.counted ? &purse : NULL),
        error);
    add_threads(scene, error);
    for (uint32_t i = 0; i < scene->shape.dispatchers; i++) {
        if (soak_once_in(random, 3)) {
            (void)weir_dispatcher_tune(scene->engine,
                                       WEIR_DISPATCHER(.name = names[i], .fair = true), error);
        }
    }
}

/* ---- the external thread's loop ---- */

static void *turn_external(void *argument)
{
    soak_scene *scene = argument;
    struct pollfd bell = { .fd = weir_thread_fd(scene->engine, scene->external), .events = POLLIN };
    while (!atomic_load(&scene->turner_leave)) { /* ends: the driver says so after the stop */
        (void)poll(&bell, 1, 20);
        for (int32_t n = 1; n > 0;) {
            n = weir_thread_run_once(scene->engine, scene->external, 0);
        }
    }
    return NULL;
}

void soak_turner_begin(soak_scene *scene)
{
    if (scene->external.id != 0 &&
        pthread_create(&scene->turner, NULL, turn_external, scene) != 0) {
        soak_violation(scene->seed, "no thread to be had");
        scene->external.id = 0;
    }
}

void soak_turner_end(soak_scene *scene)
{
    atomic_store(&scene->turner_leave, true);
    if (scene->external.id != 0) {
        (void)pthread_join(scene->turner, NULL);
    }
}
