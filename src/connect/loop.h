/*
 * connect/loop.h - a libuv loop inside a component: its thread parks in weir's poller, which
 * watches the loop's one descriptor, and the loop is run without waiting.
 *
 *     start:    weir__loop_open(&state->loop, self, error), then uv_..._init(&state->loop.uv, ...)
 *     do_work:  return weir__loop_run(&state->loop, next);
 *     stop:     uv_close what has memory of its own, then weir__loop_close(&state->loop)
 *
 * All of it on the hosting thread: a loop is no other thread's business. A handler that runs on
 * another one leaves its work behind a lock and calls weir_component_wake.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CONNECT_LOOP_H
#define WEIR_CONNECT_LOOP_H

#include <uv.h>

#include "weir/component.h"

/* Zeroed memory is a loop that is not open. Does not move while it is. */
typedef struct weir__loop {
    uv_loop_t uv; /* uv.data is this struct */
    weir_component *self;
    int32_t work; /* of the round at hand: callbacks add what they have done */
    bool open;
} weir__loop;

/* E_SYSTEM, E_NOMEM, E_LIMIT: the error says why, and nothing is open. */
weir_status weir__loop_open(weir__loop *loop, weir_component *self, weir_error *error);

/* A callback says that it did something: the thread looks again before it idles. */
static inline void weir__loop_worked(weir__loop *loop, int32_t much)
{
    loop->work = much > INT32_MAX - loop->work ? INT32_MAX : loop->work + much;
}

/* One round: whatever is ready, and never a wait. Lowers *next to the loop's next timer. Returns
 * what weir__loop_worked was told; 0 of a loop that is not open. */
int32_t weir__loop_run(weir__loop *loop, weir_ns *next);

/* Closes what is still open in it, with no callback (so close before what has memory of its own),
 * sees the end of all closing, and lets go of the descriptor. Waits for one thing only: a name that
 * is being looked up. A loop that is not open: nothing. */
void weir__loop_close(weir__loop *loop);

/* The error of a component's hook: its name, what failed, and what libuv says about a status below
 * zero. Returns E_SYSTEM, or E_NOMEM. */
weir_status weir__loop_error(weir_error *error, const weir_component *self, const char *what,
                             int uv_status);

#endif /* WEIR_CONNECT_LOOP_H */
