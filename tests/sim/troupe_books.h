/*
 * troupe_books.h - what troupe.c writes down, and troupe_check.c compares.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TESTS_SIM_TROUPE_BOOKS_H
#define WEIR_TESTS_SIM_TROUPE_BOOKS_H

#include "troupe.h"

#define NOBODY UINT32_MAX
#define SENDERS (PLAYERS_MAX + 16u) /* players, then threads */

typedef enum kind { POST, QUESTION, ANSWER, DOWN, COPY, TRIGGER } kind;

/* Of one line, and one that it came to. */
typedef struct arrival {
    uint32_t begun;
    bool again, done; /* it failed and is tried again; it is done with */
} arrival;

typedef struct entry {
    kind kind;
    uint32_t from, to, about; /* about: of a DOWN, who is watched */
    bool told;                /* the call has returned ... */
    weir_status status;       /* ... with this */
    bool then, withdrawn;
    uint32_t life; /* of an answer: which incarnation has asked */
    uint64_t delivered;
    arrival at[PLAYERS_MAX];
} entry;

typedef struct books {
    uint64_t turns;                   /* plain on purpose */
    bool runs, lives, ended;          /* a handler or hook is at it; between init and destroy */
    bool stopped, failed, frozen;     /* early, by a stop; by a failure; out of time */
    uint32_t life, parent;            /* incarnations so far */
    uint32_t retries, tries, again;   /* allowed; of the line `again` */
    uint32_t last_of[SENDERS];        /* 1 + the last line of each sender */
    uint32_t heard[LINES_MAX], count; /* copies, as they came */
} books;

typedef struct troupe_scene {
    uint32_t player_count, line_count;
    uint64_t handled, finally_failed;
    bool settling; /* somebody waits for rest */
    bool stopping; /* the engine's stop has begun ... */
    bool cut;      /* ... and has run out of time */
} troupe_scene;

extern player players[PLAYERS_MAX];
extern books of[PLAYERS_MAX];
extern entry lines[LINES_MAX];
extern troupe_scene scene;

#endif /* WEIR_TESTS_SIM_TROUPE_BOOKS_H */
