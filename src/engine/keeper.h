/*
 * engine/keeper.h - the thread that keeps promises made by asynchronous calls: it ends stops whose
 * time is over, and stops the engine itself. Started by the first such call; asleep otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_KEEPER_H
#define WEIR_ENGINE_KEEPER_H

#include "engine/stop.h"

/* registry.lock held. Makes sure that the keeper runs. */
weir_status weir__keeper_need(weir_engine *engine);
/* registry.lock held. It takes over the caller's reference to the stop. */
void weir__keeper_watch(weir_engine *engine, weir__stop *stop);
/* registry.lock held. A stop that it watches has its answer: it lets go of it. */
void weir__keeper_answered(weir__stop *stop);
/* registry.lock held. By the one that claimed the engine's stop. */
weir_status weir__keeper_stop_engine(weir_engine *engine, weir_ns timeout);
/* Ends it, if it runs. Not with the lock held. */
void weir__keeper_close(weir_engine *engine);

#endif /* WEIR_ENGINE_KEEPER_H */
