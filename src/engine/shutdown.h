/*
 * engine/shutdown.h - the stop of a whole engine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_SHUTDOWN_H
#define WEIR_ENGINE_SHUTDOWN_H

#include "engine/engine.h"

/* True once per engine: the caller is the one that stops it. */
bool weir__shutdown_claim(weir_engine *engine);

/* registry.lock held, by the one that claimed it: outsiders are refused from here on, although
 * weir__shutdown runs later. During a start it does nothing: the start ends first. */
void weir__shutdown_announce(weir_engine *engine);

/* Whether nothing was in flight at some moment of the call. Who may still post makes that old. */
bool weir__engine_is_quiet(weir_engine *engine);

/* Drains, closes, ends, joins, writes the report. By the one that claimed it. */
void weir__shutdown(weir_engine *engine, weir_ns timeout);

/* Waits for threads to leave until `deadline` and joins those that have. True: all have. */
bool weir__shutdown_join(weir_engine *engine, weir_ns deadline);

/* A start failed after its threads were running: everything ends, nothing is reported. */
void weir__shutdown_failed_start(weir_engine *engine);

#endif /* WEIR_ENGINE_SHUTDOWN_H */
