/*
 * connect/loop.c - a libuv loop inside a component.
 *
 * libuv tells epoll about new watchers only when the loop runs, so a round that began a watcher is
 * followed by one more: uv_backend_timeout answers 0 as long as there is such a one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "connect/loop.h"

#include "base/error.h"

enum { ROUNDS_MAX = 4 }; /* in a row: then the thread's other work has its turn */

weir_status weir__loop_error(weir_error *error, const weir_component *self, const char *what,
                             int uv_status)
{
    if (uv_status == UV_ENOMEM) {
        return weir__error_memory(error, weir_component_name(self));
    }
    return weir__error_system(error, -uv_status, weir_component_name(self), "%s: %s", what,
                              uv_strerror(uv_status));
}

weir_status weir__loop_open(weir__loop *loop, weir_component *self, weir_error *error)
{
    const int status = uv_loop_init(&loop->uv);
    if (status < 0) {
        return weir__loop_error(error, self, "no event loop", status);
    }
    loop->uv.data = loop;
    loop->self = self;
    loop->work = 0;
    loop->open = true;
    const weir_status polled = weir_component_poll(self, uv_backend_fd(&loop->uv), true, false);
    if (polled != WEIR_OK) {
        (void)uv_loop_close(&loop->uv);
        loop->open = false;
        return weir__error_at(error, polled, weir_component_name(self),
                              "the descriptor of its event loop cannot be watched: %s",
                              weir_status_text(polled));
    }
    return WEIR_OK;
}

int32_t weir__loop_run(weir__loop *loop, weir_ns *next)
{
    if (!loop->open) {
        return 0;
    }
    loop->work = 0;
    int wait_ms = 0;
    for (int round = 0; round < ROUNDS_MAX && wait_ms == 0; round++) {
        if (uv_run(&loop->uv, UV_RUN_NOWAIT) == 0) {
            return loop
                ->work; /* nothing is open in it: whoever wakes the component opens something */
        }
        wait_ms = uv_backend_timeout(&loop->uv);
    }
    if (wait_ms >= 0) {
        const weir_ns due = weir_time_now(weir_component_engine(loop->self)) + wait_ms * WEIR_MS;
        *next = due < *next ? due : *next;
    }
    return loop->work;
}

static void close_one(uv_handle_t *handle, void *context)
{
    (void)context;
    if (!uv_is_closing(handle)) {
        uv_close(handle, NULL);
    }
}

void weir__loop_close(weir__loop *loop)
{
    if (!loop->open) {
        return;
    }
    (void)weir_component_poll(loop->self, uv_backend_fd(&loop->uv), false, false);
    uv_walk(&loop->uv, close_one, NULL);
    /* Ends: nothing is open any more, and a close callback opens nothing. */
    while (uv_run(&loop->uv, UV_RUN_DEFAULT) != 0) {
    }
    const int status = uv_loop_close(&loop->uv);
    if (status < 0) {
        weir_component_report(loop->self, WEIR_E_FAILED, "its event loop did not close");
    }
    loop->open = false;
}
