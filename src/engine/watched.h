/*
 * engine/watched.h - what the watchdog (engine/watchdog.h) knows of one trail.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_WATCHED_H
#define WEIR_ENGINE_WATCHED_H

#include "engine/trail.h"

#define WEIR__WATCHED_NAME 96 /* bytes of a name that are shown, the final zero included */

/* Who runs, and what. */
typedef struct weir__doing {
    uint64_t processor; /* a handle */
    const weir_event_type *type;
    weir__hook hook;
} weir__doing;

/* Zeroed but for the first two is one that rests. */
typedef struct weir__watched {
    weir__trail *trail;
    const char *name;           /* of its thread; NULL: one of the application's */
    weir__atomic_u32 up;        /* 0: nothing runs there. Its thread writes it */
    weir__atomic_u32 system_id; /* of its thread, which writes it; 0: unknown */

    /* The watchdog's, under watch_lock. */
    struct weir__watched *next;
    uint64_t seen;                /* `at` of the trail at the last look ... */
    weir_ns since;                /* ... and when it was first seen: it has begun before */
    weir_ns due;                  /* if it is the same at that time, it is reported */
    weir_ns interval;             /* from the last report to the next one */
    uint32_t reports;             /* of this run, so far */
    bool told;                    /* ... and some were said: so will be the rest, and its end */
    weir__doing doing;            /* since the first report ... */
    char who[WEIR__WATCHED_NAME]; /* ... and its processor, which may be gone later */
    weir_ns silent_until;         /* a load can repeat it: no other run is spoken of before ... */
    uint64_t unsaid;              /* ... and so many were only counted */
} weir__watched;

#endif /* WEIR_ENGINE_WATCHED_H */
