/*
 * suite/handover.h - what it costs to hand one cache line over from a core to another, now.
 *
 * On some machines (virtual ones above all) it changes by itself, sixfold and within seconds, and
 * every figure with two busy cores follows it. So the runner measures it before and after each
 * measurement, and never mixes the two.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BENCH_SUITE_HANDOVER_H
#define WEIR_BENCH_SUITE_HANDOVER_H

/* Between near (the cores share a cache) and far there is nothing: 27 to 32 ns and 166 to 174 ns
 * were seen. */
#define BENCH_HANDOVER_NEAR_MAX_NS 80.0
/* Twice as much, or half: it changed, even if both are near (19 and 55 ns were seen, too). */
#define BENCH_HANDOVER_CHANGE 2.0

typedef enum bench_mode {
    BENCH_NEAR,
    BENCH_FAR,
    BENCH_MIXED,  /* of a measurement: it changed meanwhile */
    BENCH_SINGLE, /* this process has one core, and nothing to hand over */
    BENCH_MODE_COUNT
} bench_mode;

const char *bench_mode_name(bench_mode mode);

typedef struct bench_handover {
    bench_mode mode;
    double ns; /* 0 if single */
} bench_handover;

/* Takes a millisecond or two on two idle cores, the first two that this process may use. */
bench_handover bench_handover_measure(void);

/* Of what was in between. */
bench_handover bench_handover_join(bench_handover before, bench_handover after);

#endif /* WEIR_BENCH_SUITE_HANDOVER_H */
