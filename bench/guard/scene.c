/*
 * guard/scene.c - an engine for one path, and its measured part.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "guard/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TURN_MAX                                                                                   \
    65536u /* events: a turn ends because there are no more, as it does in a poll loop */
#define TURNS_MAX 100u

static const char *running = "guard"; /* the path, for what is said */

void guard_check(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "%s: %s\n", running, what);
        exit(1);
    }
}

guard_member *guard_add(guard_scene *scene, uint32_t index, weir_handler handler)
{
    guard_member *member = &scene->members[index];
    member->scene = scene;
    member->self = weir_processor_add(
        scene->engine, WEIR_PROCESSOR(.handler = handler, .argument = member), &scene->error);
    return member;
}

void guard_post(guard_scene *scene, weir_processor to, const weir_event *event)
{
    guard_check(weir_engine_post(scene->engine, to, event) == WEIR_OK, "a post was refused");
}

void guard_turn_once(guard_scene *scene)
{
    guard_check(weir_thread_run_once(scene->engine, scene->thread, TURN_MAX) >= 0,
                "the thread could not be turned");
}

void guard_turn(guard_scene *scene, uint32_t events)
{
    const uint64_t all = scene->handled + events;
    for (uint32_t i = 0; i < TURNS_MAX && scene->handled < all; i++) {
        guard_turn_once(scene);
    }
    guard_check(scene->handled == all, "an event is lost, or one too many");
}

static void open_scene(guard_scene *scene, const guard_path *path)
{
    memset(scene, 0, sizeof(*scene));
    scene->error = (weir_error)WEIR_ERROR_INIT;
    scene->engine = weir_engine_create(
        WEIR_ENGINE(.log_level = WEIR_LOG_OFF, .crash_report = WEIR_CRASH_REPORT_OFF,
                    .stuck_after = WEIR_FOREVER), /* no other thread */
        &scene->error);
    scene->thread = weir_thread_add(scene->engine, WEIR_THREAD(.external = true), &scene->error);
    path->open(scene);
    weir_engine_start(scene->engine, &scene->error);
    guard_check(scene->error.status == WEIR_OK, scene->error.text);
    guard_turn_once(scene);
}

static void close_scene(guard_scene *scene, const guard_path *path)
{
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    const uint64_t events = (uint64_t)2 * path->rounds * path->events;
    guard_check(scene->handled == events, "not every event was handled once");
    /* Nobody turns the thread meanwhile, so it ends at once, drained or not: it is idle. */
    weir_engine_stop(scene->engine, WEIR_NOW, &report);
    guard_check(report.left == 0 && report.dead == 0 && report.dropped == 0 &&
                    report.accepted == report.handled && report.handled >= events,
                "the sums of the engine are wrong");
    weir_engine_destroy(scene->engine);
}

void guard_run(const guard_path *path, void (*mark)(void))
{
    static guard_scene scene;
    running = path->name;
    open_scene(&scene, path);
    for (uint32_t i = 0; i < path->rounds; i++) {
        path->round(&scene);
    }
    mark();
    for (uint32_t i = 0; i < path->rounds; i++) {
        path->round(&scene);
    }
    mark();
    close_scene(&scene, path);
}

static const guard_path *find(const char *name)
{
    const guard_path *path = guard_paths;
    while (path->name != NULL && strcmp(path->name, name) != 0) {
        path++;
    }
    return path->name != NULL ? path : NULL;
}

int guard_main(int argc, char **argv, void (*run)(const guard_path *path))
{
    for (int i = 1; i < argc; i++) {
        if (find(argv[i]) == NULL) {
            fprintf(stderr, "usage: %s [PATH...]\npaths:", argv[0]);
            for (const guard_path *path = guard_paths; path->name != NULL; path++) {
                fprintf(stderr, " %s", path->name);
            }
            fputc('\n', stderr);
            return 2;
        }
    }
    for (const guard_path *path = guard_paths; argc == 1 && path->name != NULL; path++) {
        run(path);
    }
    for (int i = 1; i < argc; i++) {
        run(find(argv[i]));
    }
    return 0;
}
