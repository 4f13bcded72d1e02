/*
 * simulate/scale.h - `weir sim scale`: how throughput grows with cores, predicted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SIMULATE_SCALE_H
#define WEIR_SIMULATE_SCALE_H

/* argv[0] is "scale"; the rest is options, see --help. The exit status of the program: 0 all well,
 * 1 a run failed (or, with --strict, a target was missed), 2 used wrongly. */
int weir__simulate_scale(int argc, char **argv);

#endif /* WEIR_SIMULATE_SCALE_H */
