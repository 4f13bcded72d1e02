/*
 * engine/bury.h - what is left of processors when no thread runs any more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_BURY_H
#define WEIR_ENGINE_BURY_H

#include "engine/engine.h"

/* No thread of the engine runs. Releases the payloads of events that were never handled, runs the
 * destroy hooks that did not run (children first), frees states and cold parts. */
void weir__bury_all(weir_engine *engine);

#endif /* WEIR_ENGINE_BURY_H */
