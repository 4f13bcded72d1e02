/*
 * guard/scene.h - what the paths share: an engine that one thread turns, and the measured part of a
 * path.
 *
 * There is no other thread, nothing depends on time, and every path ends idle: what a path costs is
 * the same in every run. Where something is not as it must be, the process says so and ends: counts
 * of wrong work are worth nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BENCH_GUARD_SCENE_H
#define WEIR_BENCH_GUARD_SCENE_H

#include <weir/weir.h>

#define GUARD_MEMBERS_MAX 100u

typedef struct guard_scene guard_scene;

typedef struct guard_member {
    guard_scene *scene;
    weir_processor self, next;
    uint32_t left; /* to be sent */
} guard_member;

struct guard_scene {
    weir_engine *engine;
    weir_thread thread;
    weir_error error; /* sticky */
    uint64_t handled; /* events of the path, by its handlers */
    uint64_t ended;   /* processors that are no more */
    weir_channel channel;
    weir_router router;
    guard_member members[GUARD_MEMBERS_MAX];
};

typedef struct guard_path {
    const char *name;
    uint32_t events; /* handled in a round */
    uint32_t rounds; /* measured; as many before that, unmeasured */
    void (*open)(guard_scene *scene);
    void (*round)(guard_scene *scene);
} guard_path;

extern const guard_path guard_paths[]; /* ends with a name that is NULL */

/* Calls `mark` at the beginning and at the end of what is measured. */
void guard_run(const guard_path *path, void (*mark)(void));

/* For paths. */
guard_member *guard_add(guard_scene *scene, uint32_t index, weir_handler handler);
void guard_post(guard_scene *scene, weir_processor to, const weir_event *event);
/* Turns the thread until so many more events of the path are handled. */
void guard_turn(guard_scene *scene, uint32_t events);
/* The same, once: for what is no event. */
void guard_turn_once(guard_scene *scene);
void guard_check(bool good, const char *what);

/* Every program: the paths that are named, or all. Returns what main returns. */
int guard_main(int argc, char **argv, void (*run)(const guard_path *path));

#endif /* WEIR_BENCH_GUARD_SCENE_H */
