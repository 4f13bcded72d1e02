/*
 * engine/retry.h - the part of engine/supervise.h that is about trying again: the event is copied,
 * its processor is put aside, and a timer's hook brings it back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_RETRY_H
#define WEIR_ENGINE_RETRY_H

#include "engine/supervise.h"

/* Owner: this event is to be handled again. It is copied, and keeps the reference to its block. */
void weir__retry_hold(weir_turn *turn, weir__envelope *envelope);
/* It is not: what it refers to is given back. */
void weir__retry_release(weir__context *context, const weir__supervision *s);

/* Owner, at the very end of a turn. True: it is no longer ours, until the time has come. */
bool weir__retry_aside(weir_turn *turn);

/* registry.lock held. It is frozen: if it waits for its time, it is brought back now. */
void weir__retry_hurry(weir_engine *engine, weir__processor *processor);

#endif /* WEIR_ENGINE_RETRY_H */
