/*
 * server/pulse.h - whether every dispatcher still answers: an event to a processor on each, and
 * back. What feeds the service manager's watchdog.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SERVER_PULSE_H
#define WEIR_SERVER_PULSE_H

#include "weir/engine.h"

typedef struct weir__pulse weir__pulse;

/* Control. A processor on each dispatcher that there is. NULL: error set. */
weir__pulse *weir__pulse_open(weir_engine *engine, weir_error *error);
/* Blocking. Takes them back; NULL is a no-op. */
void weir__pulse_close(weir__pulse *pulse);

/* Never waits. True: all that was asked by the last call has been answered; asks again. False: a
 * dispatcher still owes an answer, *slow (may be NULL) is its name. The first call is true. */
bool weir__pulse_beat(weir__pulse *pulse, const char **slow);

#endif /* WEIR_SERVER_PULSE_H */
