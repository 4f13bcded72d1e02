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

/* Owner, in phase STARTING; `dispatcher` is the one that its thread serves, wherever the processor
 * has been moved meanwhile. */
void weir__hold(weir__context *context, weir__dispatcher *dispatcher, weir__processor *processor);
/* Everything held goes to the ready queue of where it belongs now. Inside the mark, or with
 * registry.lock held; any number. */
void weir__hold_release(weir__dispatcher *dispatcher);

#endif /* WEIR_ENGINE_HOLD_H */
