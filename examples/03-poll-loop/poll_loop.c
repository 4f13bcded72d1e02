/*
 * poll-loop - weir inside a loop that is not weir's. Handlers of the dispatcher "ui" run on the
 * loop's own thread, between its other work; all others run on weir's threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <poll.h>
#include <stdio.h>
#include <unistd.h>
#include <weir/weir.h>

enum { NUMBERS = 5 };

typedef struct number {
    int value;
} number;
WEIR_EVENT_TYPE(number, "poll-loop.number");

/* On a thread of weir: the hard work, which must not hold up the loop. */
static weir_status square(void *state, weir_turn *turn, const weir_event *event)
{
    const weir_processor *screen = state;
    const int value = ((const number *)event->data)->value;
    return weir_turn_post(turn, *screen, WEIR_EVENT(number, .value = value * value));
}

/* On main's own thread, inside weir_thread_run_once: it may touch main's variables. */
static weir_status show(void *state, weir_turn *turn, const weir_event *event)
{
    int *shown = state;
    (void)turn;
    printf("%d\n", ((const number *)event->data)->value);
    *shown += 1;
    return WEIR_OK;
}

int main(void)
{
    int shown = 0;
    int ends[2]; /* a pipe stands for the sockets that a real loop would watch */
    const number numbers[NUMBERS] = { { 1 }, { 2 }, { 3 }, { 4 }, { 5 } };
    if (pipe(ends) != 0 || write(ends[1], numbers, sizeof(numbers)) != (ssize_t)sizeof(numbers)) {
        return 1;
    }
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = weir_engine_create(NULL, &error);
    weir_thread_add(engine, NULL, &error); /* one of weir's own, on the default dispatcher */
    weir_thread loop = weir_thread_add(
        engine, WEIR_THREAD(.name = "loop", .external = true, .dispatchers = WEIR_NAMES("ui")),
        &error);
    weir_processor screen = weir_processor_add(
        engine, WEIR_PROCESSOR(.dispatcher = "ui", .handler = show, .argument = &shown), &error);
    weir_processor worker =
        weir_processor_add(engine, WEIR_PROCESSOR(.handler = square, .argument = &screen), &error);
    weir_engine_start(engine, &error);

    struct pollfd fds[] = { { .fd = weir_thread_fd(engine, loop), .events = POLLIN },
                            { .fd = ends[0], .events = POLLIN } };
    number next;
    while (error.status == WEIR_OK && shown < NUMBERS && poll(fds, 2, -1) > 0) {
        if (fds[1].revents != 0 && read(ends[0], &next, sizeof(next)) == (ssize_t)sizeof(next)) {
            error.status = weir_engine_post(engine, worker, WEIR_EVENT(number, next.value));
        }
        if (fds[0].revents != 0) {
            weir_thread_run_once(engine, loop, 64); /* its descriptor stays readable until idle */
        }
    }

    /* The thread that turns a weir thread must go on turning it: begin the stop, do not wait. */
    weir_engine_stop_async(engine, 0);
    while (weir_engine_wait(engine, WEIR_NOW, NULL) == WEIR_TIMEOUT) {
        if (weir_thread_run_once(engine, loop, 64) == 0) {
            poll(fds, 1, 10);
        }
    }
    weir_engine_destroy(engine);
    close(ends[0]);
    close(ends[1]);
    return weir_error_print(&error);
}
