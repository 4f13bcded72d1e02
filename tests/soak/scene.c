/*
 * soak/scene.c - one engine from create to destroy.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scene.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dice.h"
#include "pace.h"

void soak_books_add(soak_scene *scene, soak_books *part)
{
    (void)pthread_mutex_lock(&scene->lock);
    uint64_t *sums = (uint64_t *)(void *)&scene->books;
    const uint64_t *parts = (const uint64_t *)(const void *)part;
    for (size_t i = 0; i < sizeof(*part) / sizeof(uint64_t); i++) {
        sums[i] += parts[i];
    }
    (void)pthread_mutex_unlock(&scene->lock);
    memset(part, 0, sizeof(*part));
}

static void open_signal(soak_scene *scene, weir_error *error)
{
    if (soak_once_in(&scene->random, 3) && soak_handle(scene, 0) != 0) {
        scene->signal = weir_signal_open(scene->engine, (weir_processor){ soak_handle(scene, 0) },
                                         1 + soak_pick(&scene->random, 100), error);
    }
}

/* Nobody posts any more: what was accepted is handled although no other event ever comes (P-4). If
 * not, the watch ends it. */
static void expect_rest(soak_scene *scene)
{
    const struct timespec pause = { 0, 500000 };
    weir_counters c = WEIR_COUNTERS_INIT;
    soak_step(scene->beat, "waits until what was accepted is handled (P-4)");
    do {
        (void)nanosleep(&pause, NULL);
    } while (weir_engine_counters(scene->engine, &c) == WEIR_OK &&
             (c.depth != 0 || c.accepted != c.handled + c.dropped + c.dead + c.left));
}

/* Posts from foreign threads while the driver does its own; then all come home. */
static void play_round(soak_scene *scene)
{
    const int64_t end = soak_now() + scene->shape.round_ns;
    soak_step(scene->beat, "plays a round");
    soak_foreign_begin(scene);
    while (soak_now() < end && !soak_is_over()) {
        if (scene->shape.churn) {
            soak_churn(scene);
        } else {
            soak_pace(10000000);
            soak_step(scene->beat, "plays a round");
        }
    }
    soak_step(scene->beat, "calls the foreign threads home");
    soak_foreign_end(scene);
    if (scene->shape.go_on != SOAK_ENDLESS && soak_once_in(&scene->random, 2)) {
        expect_rest(scene);
    }
}

/* A start that must fail because a player's init does: everything that was posted is counted. */
static bool start(soak_scene *scene)
{
    weir_error error = WEIR_ERROR_INIT;
    soak_step(scene->beat, "starts the engine");
    soak_turner_begin(scene);
    const weir_status status = weir_engine_start(scene->engine, &error);
    if ((status == WEIR_OK) != (scene->inits_failed == 0) && !scene->shape.external) {
        soak_violation(scene->seed, "a start with %u failing inits answered %s",
                       scene->inits_failed, weir_status_name(status));
    }
    return status == WEIR_OK;
}

/* Memory for envelopes follows what the mailboxes can hold (P-5): 20 of at most 128, and what each
 * thread has in its caches. A leak shows as growth beyond that. */
static void check_pool(soak_scene *scene)
{
    weir_counters c = WEIR_COUNTERS_INIT;
    if (weir_engine_counters(scene->engine, &c) != WEIR_OK || c.pool_bytes > 2 * 1024 * 1024) {
        soak_violation(scene->seed, "%" PRIu64 " bytes for envelopes of an engine that needs few",
                       c.pool_bytes);
    }
}

static void play(soak_scene *scene)
{
    for (uint32_t i = 0; scene->shape.lives_long ? !soak_is_over() : i < scene->shape.rounds; i++) {
        play_round(scene);
        if (scene->shape.lives_long) {
            soak_rest(scene->beat);
            check_pool(scene);
        }
    }
    soak_sweep(scene);
}

static void prepare(soak_scene *scene, soak_beat *beat, uint64_t seed, bool lives_long)
{
    memset(scene, 0, sizeof(*scene));
    scene->seed = scene->random = seed;
    scene->beat = beat;
    (void)pthread_mutex_init(&scene->lock, NULL);
    atomic_store(&beat->scene_seed, seed);
    soak_shape_draw(scene, lives_long);
    for (uint32_t i = 0; i < SOAK_PLAYERS; i++) {
        scene->evicts = scene->evicts || scene->players[i].overflow == WEIR_OVERFLOW_DROP_OLDEST;
    }
}

static void populate(soak_scene *scene, weir_error *error)
{
    const uint32_t count = 2 + soak_pick(&scene->random, SOAK_PLAYERS - 1);
    const bool fails = scene->shape.failing_inits; /* before the start, only if that is the point */
    scene->shape.failing_inits = fails && soak_once_in(&scene->random, 4);
    for (uint32_t i = 0; i < count && i < SOAK_PLAYERS; i++) {
        (void)soak_player_add(scene, i, error);
    }
    scene->shape.failing_inits = fails;
    open_signal(scene, error);
}

void soak_scene_run(soak_beat *beat, uint64_t seed, bool lives_long)
{
    soak_scene *scene = malloc(sizeof(*scene));
    weir_error error = WEIR_ERROR_INIT;
    if (scene == NULL) {
        abort();
    }
    soak_step(beat, "makes an engine");
    prepare(scene, beat, seed, lives_long);
    soak_shape_build(scene, &error);
    atomic_store(&beat->engine, scene->engine);
    populate(scene, &error);
    if (error.status != WEIR_OK) {
        char text[300];
        (void)weir_error_format(&error, text, sizeof(text));
        soak_violation(seed, "making an engine: %s", text);
        abort();
    }
    soak_foreign_once(scene, soak_pick(&scene->random, 20));
    const bool never = !lives_long && soak_once_in(&scene->random, 32);
    const bool started = !never && start(scene);
    if (never) {
        scene->external.id = 0; /* nobody turns it */
    } else if (started) {
        play(scene);
    }
    soak_end(scene, started);
    (void)pthread_mutex_destroy(&scene->lock);
    free(scene);
}
