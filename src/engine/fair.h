/*
 * engine/fair.h - fair dispatchers: who waits longest is served first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_FAIR_H
#define WEIR_ENGINE_FAIR_H

#include "engine/dispatcher.h"
#include "engine/thread.h"

/* Dispatcher's lock held. True: this thread may take what is there (its number is given back).
 * False: it waits with a number from now on; if there is work, the first in line has been woken. */
bool weir__fair_may_take(weir__dispatcher *dispatcher, weir__thread *thread, uint32_t place,
                         bool has_work);

/* Gets the first in line up, if it sleeps. Any thread. */
void weir__fair_wake(weir__dispatcher *dispatcher);

/* True if work lies there that this thread may take: the look before it parks. */
bool weir__fair_has_work_for(weir__dispatcher *dispatcher, const weir__serving *serving);

/* The thread begins a turn: it waits nowhere any more, and passes wake-ups on. */
void weir__fair_step_out(weir__thread *thread);

#endif /* WEIR_ENGINE_FAIR_H */
