/*
 * floor/rows.c - the rows of this folder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "suite/rows.h"

const bench_row bench_floor_rows[] = { { 0 } };
