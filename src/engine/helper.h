/*
 * engine/helper.h - threads of weir's own that serve no dispatcher: those of timers, and those that
 * watch and keep. What they are called, where and how urgently they run, and which there are.
 *
 * Each has a record that its thread writes, two cells, and that lives as long as the engine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_HELPER_H
#define WEIR_ENGINE_HELPER_H

#include "sync/thread.h"
#include "weir/thread.h"

#define WEIR__HELPER_NAME_SIZE 16u /* with its zero: what the system shows */

/* What the options said, in the engine's memory. */
typedef struct weir__helper_plan {
    weir_helper_options options; /* without pointers */
    char *name;
    weir__cores allowed;    /* to who made the engine: a thread that starts one may be pinned */
    weir__cores wanted;     /* none: all that are allowed */
    int32_t first, missing; /* of what was wanted, and what cannot be had; -1: none */
} weir__helper_plan;

typedef struct weir__helper {
    weir__atomic_u32 system_id; /* its thread: 0 before and after */
    WEIR__ATOMIC(int32_t) core; /* its thread: 1 + the first one that it is pinned to; 0: none */
} weir__helper;

/* At create. */
weir_status weir__helper_plan_make(weir_engine *engine, weir__helper_plan *plan,
                                   const weir_helper_options *options, const char *path,
                                   weir_error *error);
void weir__helper_plan_free(weir_engine *engine, weir__helper_plan *plan);

/* The thread itself, first and last. What cannot be had is a warning. `does` stands behind the
 * name. */
void weir__helper_begin(weir_engine *engine, weir__helper *helper, const weir__helper_plan *plan,
                        const char *does);
void weir__helper_end(weir__helper *helper);

typedef struct weir__helper_info {
    const char *kind; /* "scheduler", "watchdog", "monitor", "keeper" */
    char name[WEIR__HELPER_NAME_SIZE];
    int32_t system_id;
    int32_t core; /* -1: not pinned */
} weir__helper_info;
/* Control. Those that run, at most `room`; how many they are. */
uint32_t weir__helpers_get(weir_engine *engine, weir__helper_info *out, uint32_t room);
#define WEIR__HELPERS_MAX 67u /* 64 schedulers, and one each of the others */

#endif /* WEIR_ENGINE_HELPER_H */
