/*
 * engine/halt.h - a processor that is put aside for somebody outside, with its mail, until it is
 * told to go on; and one that is restarted because somebody outside wants it.
 *
 * Both are requests (engine/request.h), so they come in order: what was accepted before is handled
 * before. A halt is put aside as engine/supervise.h says: its mailbox stays READY, it is in no
 * queue, and who lets it go pushes it. `halted` says that it is so, under registry.lock; whoever
 * clears it pushes: the one who asked (weir__processor_resume), or a stop that has no more time.
 *
 * The record of a halt is its asker's and the request's:
 *
 *     ASKED -> TAKEN -> HALTED     the turn has come; it is put aside at its end
 *         |       '---> OVER       ... or not: a stop was faster
 *         |---> OVER               it will not be: lost, or `before` said no
 *         '---> GIVEN_UP           the asker's time was over first
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_HALT_H
#define WEIR_ENGINE_HALT_H

#include "weir/turn.h"

/* Answers of weir's own request handler, which are no failures: see weir__supervise. */
#define WEIR__RESTARTS (INT32_MIN + 1)
#define WEIR__HALTS (INT32_MIN + 2)

struct weir__processor;

typedef struct weir__halt weir__halt;

/* Any. The statuses of a post. `before` runs in the turn, last: what it answers, unless OK, is why
 * there is no halt. */
weir_status weir__halt_ask(weir_engine *engine, weir_processor processor,
                           weir_status (*before)(void *argument, weir_turn *turn), void *argument,
                           weir__halt **out);
/* Its asker. OK: it is halted. TIMEOUT: not yet. Else it will not be: STOPPING, the request was
 * lost; or what `before` answered. */
weir_status weir__halt_wait(weir__halt *halt, weir_ns timeout);
/* Its asker, at last; `before` does not run after it has returned. True: it is halted, and to be
 * let go. */
bool weir__halt_close(weir__halt *halt);

/* Control. UNKNOWN: it is gone. ALREADY: it is not halted. */
weir_status weir__processor_resume(weir_engine *engine, weir_processor processor);

/* Owner, at the very end of its turn. True: it is no longer ours. */
bool weir__halt_aside(weir_turn *turn);
/* Owner: its turn came, and it ends. */
void weir__halt_lost(const weir_turn *turn);
/* registry.lock held. It is frozen: nobody is to wait for its asker. True: it was halted. */
bool weir__halt_end(struct weir__processor *processor);

/* Any. As a restart by supervision: in its turn, in order. The statuses of a post. */
weir_status weir__processor_restart(weir_engine *engine, weir_processor processor);

#endif /* WEIR_ENGINE_HALT_H */
