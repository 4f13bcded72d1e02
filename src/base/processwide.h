/*
 * base/processwide.h - the mark on the few variables that belong to the process, not to an engine.
 *
 * The simulated build gathers them, to begin every run with the same state.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BASE_PROCESSWIDE_H
#define WEIR_BASE_PROCESSWIDE_H

#ifdef WEIR_SIMULATED
#define WEIR__PROCESS_WIDE __attribute__((section("weir_process_wide")))
#else
#define WEIR__PROCESS_WIDE
#endif

#endif /* WEIR_BASE_PROCESSWIDE_H */
