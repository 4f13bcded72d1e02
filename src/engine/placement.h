/*
 * engine/placement.h - which threads serve what, and what runs where, while the engine runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_PLACEMENT_H
#define WEIR_ENGINE_PLACEMENT_H

#include "engine/engine.h"

/* Waits until everybody has left who, at the call, is inside its mark, posts from a signal handler,
 * or looks after lists (the monitor). The caller is none of them; it may have registry.lock. Who
 * comes later sees all that the caller wrote before. False: somebody was still there at `deadline`
 * (WEIR_FOREVER: none). */
bool weir__engine_settle(weir_engine *engine, weir_ns deadline);

/* The same as weir_thread_remove, inside a handler too. Not with the lock held. */
weir_status weir__thread_dismiss(weir_engine *engine, weir_thread handle, weir_error *error);
/* Several at once, all or none: registry.lock held. Threads that are gone or on their way are
 * passed over; what is left of `threads`, its length in *count, the caller has to see off, without
 * the lock. An error: a dispatcher that has processors would be left without a thread. */
weir_status weir__threads_begin_to_go(weir_engine *engine, weir_thread *threads, size_t *count,
                                      weir_error *error);
void weir__thread_see_off(weir_engine *engine, weir_thread thread);
/* Takes back a thread that was not told to anybody yet. Not with the lock held. */
void weir__thread_retire(weir__thread *thread);

#endif /* WEIR_ENGINE_PLACEMENT_H */
