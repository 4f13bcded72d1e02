/*
 * engine/crash.h - the crash report: who was doing what, when a handler crashed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_CRASH_H
#define WEIR_ENGINE_CRASH_H

#include "weir/engine.h"

/* Whether crashes on this engine's threads are reported. */
bool weir__crash_reports(const weir_engine *engine);

/* At the beginning and at the end of an engine's life. */
void weir__crash_report_begin(const weir_engine *engine);
void weir__crash_report_end(const weir_engine *engine);

#endif /* WEIR_ENGINE_CRASH_H */
