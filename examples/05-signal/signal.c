/*
 * signal - a signal handler may call exactly one function of weir: weir_signal_post. It writes a
 * number into a ring that was allocated before, and a processor gets it as an event, where
 * everything is allowed again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <signal.h>
#include <stdio.h>
#include <weir/weir.h>

/* Written once, before the handler is installed. A signal handler gets no argument. */
static weir_signal caught;

static void on_signal(int number)
{
    weir_signal_post(caught, (uint64_t)number); /* FULL is counted by the engine */
}

struct tally {
    unsigned hangups, users;
};

static weir_status count_signal(void *state, weir_turn *turn, const weir_event *event)
{
    struct tally *tally = state;
    const uint64_t *number = weir_event_as(event, &weir_signal_type);
    (void)turn;
    if (number == NULL) {
        return WEIR_UNHANDLED;
    }
    tally->hangups += *number == SIGHUP;
    tally->users += *number == SIGUSR1;
    return WEIR_OK;
}

int main(void)
{
    struct tally tally = { 0, 0 };
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = weir_engine_create(NULL, &error);
    weir_processor watch = weir_processor_add(
        engine, WEIR_PROCESSOR(.name = "watch", .handler = count_signal, .argument = &tally),
        &error);
    caught = weir_signal_open(engine, watch, 0, &error);
    weir_engine_start(engine, &error);

    if (error.status == WEIR_OK) {
        const struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
        sigaction(SIGHUP, &action, NULL);
        sigaction(SIGUSR1, &action, NULL);
        raise(SIGHUP);
        raise(SIGUSR1);
        raise(SIGUSR1);
    }

    weir_engine_destroy(engine); /* drains first; a signal after it is answered UNKNOWN */
    printf("%u hang-up, %u user signals\n", tally.hangups, tally.users);
    return weir_error_print(&error);
}
