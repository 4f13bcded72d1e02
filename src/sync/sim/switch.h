/*
 * sync/sim/switch.h - from one stack to another.
 *
 * weir__sim_switch saves what the calling convention wants kept on the stack it leaves, stores that
 * stack pointer, and goes on where the other stack was left. A new stack is laid out by
 * weir__sim_stack_make as if it had been left at the beginning of `entry`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SYNC_SIM_SWITCH_H
#define WEIR_SYNC_SIM_SWITCH_H

#include <stddef.h>

void weir__sim_switch(void **save, void *to);
void *weir__sim_stack_make(char *stack, size_t size, void (*entry)(void));

#endif /* WEIR_SYNC_SIM_SWITCH_H */
