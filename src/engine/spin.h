/*
 * engine/spin.h - between two rounds of a thread that is told to spin.
 *
 * A round looks at everything that a thread may have to do, and takes several times as long as a
 * look at a queue: an event that comes meanwhile waits for the rest of it. So most looks are at the
 * queues alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_SPIN_H
#define WEIR_ENGINE_SPIN_H

#include "engine/thread.h"

/* Some looks at its queues, a pause before each, until one finds something. They count as rounds
 * that found nothing. With agents it is one: those are called in every round. */
void weir__spin(weir__thread *thread);

#endif /* WEIR_ENGINE_SPIN_H */
