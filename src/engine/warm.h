/*
 * engine/warm.h - a thread that spins stays ready: what it will need when an event comes is kept in
 * its caches.
 *
 * The loop of a spinning thread is a few lines of code and data, for milliseconds or hours, and
 * whoever shares the caches with its core pushes out the rest: then the way from the first look at
 * a queue to the handler is paid line by line, and takes longer than everything else. So it asks
 * for these lines now and then.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_WARM_H
#define WEIR_ENGINE_WARM_H

#include "engine/thread.h"

/* The thread, at every look. */
void weir__stay_warm(weir__thread *thread);

#endif /* WEIR_ENGINE_WARM_H */
