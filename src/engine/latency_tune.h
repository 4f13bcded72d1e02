/*
 * engine/latency_tune.h - how much is measured, of an engine that may be running.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_LATENCY_TUNE_H
#define WEIR_ENGINE_LATENCY_TUNE_H

#include "weir/latency.h"

/* From now on: one event in so many (UINT32_MAX: none), so many processors at most. Those that are
 * measured already stay. */
void weir__engine_latency(weir_engine *engine, uint32_t every, uint32_t max_processors);

#endif /* WEIR_ENGINE_LATENCY_TUNE_H */
