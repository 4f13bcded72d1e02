/*
 * soak/watch.h - who watches: violations of a promise are said at once and counted, and a driver
 * that does nothing for 30 s ends the run with a dump of what is known about it. Longer on a
 * machine that has no core to spare: slowness is no violation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SOAK_WATCH_H
#define WEIR_SOAK_WATCH_H

#include <stdatomic.h>
#include <stdint.h>

#include <weir/weir.h>

enum { SOAK_STUCK_SECONDS = 30 };

/* One a driver. Written by that driver (events: by handlers too), read by the watch. */
typedef struct soak_beat {
    _Atomic uint64_t steps;          /* every step of the driver counts one */
    _Atomic(const char *) doing;     /* a literal: the step under way */
    _Atomic uint64_t scene_seed;     /* of the engine under way */
    _Atomic(weir_engine *) engine;   /* NULL: none, or being destroyed */
    _Atomic uint64_t events;         /* handled */
    _Atomic uint64_t engines, stops; /* engines destroyed; stops of engines and processors */
    uint64_t seen_steps;             /* the watch's */
    int64_t seen_at;                 /* the watch's */
} soak_beat;

void soak_step(soak_beat *beat, const char *doing);

/* A promise is broken: says so on stderr. After 20 of them the run ends. */
__attribute__((format(printf, 2, 3))) void soak_violation(uint64_t scene_seed, const char *format,
                                                          ...);
uint64_t soak_violations(void);

/* Aborts, after a dump, if one of them has stood still for too long. */
void soak_watch(soak_beat *beats, uint32_t count);

int64_t soak_now(void); /* ns, monotonic */

#endif /* WEIR_SOAK_WATCH_H */
