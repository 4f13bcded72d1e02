/*
 * engine/hold.h - while a start runs the inits, nothing else runs: processors that are ready but
 * must not handle events yet wait here, per dispatcher.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_HOLD_H
#define WEIR_ENGINE_HOLD_H

#include "engine/engine.h"
#include "engine/processor.h"

/* Owner, in phase STARTING. */
void weir__hold(weir__processor *processor);
/* After the phase has changed: everything held goes to its ready queue. Any thread, any number. */
void weir__hold_release(weir__dispatcher *dispatcher);

#endif /* WEIR_ENGINE_HOLD_H */
