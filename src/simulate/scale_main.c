/*
 * simulate/scale_main.c - the weir-sim-scale program: what `weir sim scale` hands over to.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulate/scale.h"

int main(int argc, char **argv)
{
    return weir__simulate_scale(argc, argv);
}
