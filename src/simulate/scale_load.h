/*
 * simulate/scale_load.h - what a load needs in the scale model: the simulator computes and sleeps
 * for it, and watches the lines of its window.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SIMULATE_SCALE_LOAD_H
#define WEIR_SIMULATE_SCALE_LOAD_H

#include "simulate/workload.h"

/* Sets who computes, who waits, and what is done around the window. */
void weir__scale_load(weir__workload *load);

#endif /* WEIR_SIMULATE_SCALE_LOAD_H */
