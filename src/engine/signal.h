/*
 * engine/signal.h - posting from signal handlers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_SIGNAL_H
#define WEIR_ENGINE_SIGNAL_H

#include "engine/engine.h"

/* An envelope of a ring was taken from its mailbox: it is free again. */
void weir__signal_give_back(weir__lone *lone);

/* True if no signal handler is in the middle of a post. */
bool weir__signals_quiet(weir_engine *engine);

/* Waits until each of its rings was seen without a post under way. False: it was not, by
 * `deadline` (WEIR_FOREVER: none). */
bool weir__signals_wait(weir_engine *engine, weir_ns deadline);

/* Adds what rings were refused; what they attempted. */
void weir__signals_sum_done(weir_engine *engine, weir__sums *sums);
void weir__signals_sum_begun(weir_engine *engine, weir__sums *sums);

/* No thread runs, and no signal handler may any more. */
void weir__signals_close(weir_engine *engine);

#endif /* WEIR_ENGINE_SIGNAL_H */
