/*
 * sync/poller.h - sleep until a descriptor is ready, or a doorbell rings: the kernel's waiting for
 * threads that have descriptors to look after.
 *
 * A poller has a doorbell (sync/thread.h) of its owner's, and a descriptor of its own, which is
 * readable while the doorbell is rung, a watched descriptor is ready, or its alarm is over.
 *
 * Ring it AFTER everything that the sleeper looks at; the sleeper looks, then waits: what was rung
 * in between ends the wait at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SYNC_POLLER_H
#define WEIR_SYNC_POLLER_H

#include "sync/thread.h"

typedef struct weir__poller {
    int descriptor; /* -1: not open */
    int doorbell;
    int timer;        /* -1: not needed so far */
    weir_ns alarm_at; /* WEIR_FOREVER: never */
} weir__poller;

#define WEIR__POLLER_NONE ((weir__poller){ -1, -1, -1, WEIR_FOREVER })

typedef enum weir__polled {
    WEIR__POLLED_TIME,  /* it is over */
    WEIR__POLLED_RUNG,  /* the doorbell, or for no reason: look again */
    WEIR__POLLED_READY, /* a descriptor */
} weir__polled;

/* 0, or an errno. `own`: for weir__poller_wait, which uses the ring up; else its descriptor is for
 * others to poll, and weir__doorbell_clear makes it quiet. */
int weir__poller_open(weir__poller *poller, int doorbell, bool own);
void weir__poller_close(weir__poller *poller);

/* Any thread. Level-triggered; both false: forgotten, whether it was watched or not. 0, or an
 * errno. */
int weir__poller_watch(weir__poller *poller, int descriptor, bool readable, bool writable);

/* At most `timeout` (WEIR_FOREVER: no limit; <= 0: not at all, but a look). */
weir__polled weir__poller_wait(weir__poller *poller, weir_ns timeout);

/* The descriptor is readable from then on (WEIR_FOREVER: not for this), until another time is set.
 * 0, or an errno: then nothing has changed. */
int weir__poller_alarm(weir__poller *poller, weir_ns at);

#endif /* WEIR_SYNC_POLLER_H */
