/*
 * scale_main.c - `weir sim scale` as a program of its own, for tests and for tools/scale-check.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulate/scale.h"

int main(int argc, char **argv)
{
    return weir__simulate_scale(argc, argv);
}
