/*
 * settings/latency.h - which processors a configuration measures.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SETTINGS_LATENCY_H
#define WEIR_SETTINGS_LATENCY_H

#include "settings/table.h"
#include "weir/weir.h"

/* Switches on what `after` names, and off what only `before` (may be NULL) does. What cannot be is
 * said in the log: nothing depends on a figure. */
void weir__settings_latency(weir_engine *engine, const weir__engine_settings *before,
                            const weir__engine_settings *after);

#endif /* WEIR_SETTINGS_LATENCY_H */
