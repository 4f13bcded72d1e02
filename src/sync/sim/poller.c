/*
 * sync/sim/poller.c - doorbells, and pollers over them: descriptors of the system are not
 * simulated, so what is watched is a doorbell, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sync/poller.h"

#include <errno.h>
#include <string.h>

#include "sync/sim/core.h"

#define DOORBELLS_MAX 64
#define DOORBELL_FIRST 1000000 /* far from descriptors of the system */
#define POLLERS_MAX 64
#define POLLER_FIRST 2000000
#define WATCHED_MAX 8

typedef struct bell {
    bool open, rung;
} bell;

typedef struct poller {
    bool open, own;
    int bell;
    int watched[WATCHED_MAX]; /* 0: none */
    weir_ns alarm_at;
} poller;

static bell doorbells[DOORBELLS_MAX];
static poller pollers[POLLERS_MAX];

void weir__sim_pollers_reset(void)
{
    memset(doorbells, 0, sizeof(doorbells));
    memset(pollers, 0, sizeof(pollers));
}

static bell *doorbell_of(int descriptor)
{
    const int index = descriptor - DOORBELL_FIRST;
    return index >= 0 && index < DOORBELLS_MAX && doorbells[index].open ? &doorbells[index] : NULL;
}

static poller *poller_of(int descriptor)
{
    const int index = descriptor - POLLER_FIRST;
    return index >= 0 && index < POLLERS_MAX && pollers[index].open ? &pollers[index] : NULL;
}

static bool is_rung(int descriptor)
{
    const bell *b = doorbell_of(descriptor);
    return b != NULL && b->rung;
}

/* ---- doorbells ---- */

bool weir__sim_is_doorbell(int descriptor)
{
    return doorbell_of(descriptor) != NULL || poller_of(descriptor) != NULL;
}

int weir__doorbell_open(void)
{
    for (int i = 0; i < DOORBELLS_MAX; i++) {
        if (!doorbells[i].open) {
            doorbells[i] = (bell){ true, false };
            return DOORBELL_FIRST + i;
        }
    }
    return -EMFILE;
}

static void wake_pollers_of(int descriptor)
{
    for (int i = 0; i < POLLERS_MAX; i++) {
        bool has = pollers[i].open && pollers[i].bell == descriptor;
        for (int k = 0; k < WATCHED_MAX && pollers[i].open; k++) {
            has |= pollers[i].watched[k] == descriptor;
        }
        if (has) {
            weir__sim_wake(&pollers[i], UINT32_MAX);
        }
    }
}

void weir__doorbell_ring(int descriptor)
{
    static const weir__sim_site site = { "sync/thread.h", 0, "weir__doorbell_ring" };
    weir__sim_step(&site);
    weir__sim_counted.calls++;
    bell *b = doorbell_of(descriptor);
    if (b != NULL && weir__sim.current != NULL) {
        weir__sim_flush(weir__sim.current);
        b->rung = true;
        weir__sim_wake(b, UINT32_MAX);
        wake_pollers_of(descriptor);
    }
}

void weir__doorbell_clear(int descriptor)
{
    static const weir__sim_site site = { "sync/thread.h", 0, "weir__doorbell_clear" };
    weir__sim_step(&site);
    weir__sim_counted.calls++;
    bell *b = doorbell_of(descriptor);
    if (b != NULL && weir__sim.current != NULL) {
        weir__sim_flush(weir__sim.current);
        b->rung = false;
    }
}

void weir__doorbell_close(int descriptor)
{
    bell *b = doorbell_of(descriptor);
    if (b != NULL) {
        b->open = false;
    }
}

/* ---- pollers ---- */

int weir__poller_open(weir__poller *out, int doorbell, bool own)
{
    *out = WEIR__POLLER_NONE;
    for (int i = 0; i < POLLERS_MAX; i++) {
        if (!pollers[i].open) {
            pollers[i] =
                (poller){ .open = true, .own = own, .bell = doorbell, .alarm_at = WEIR_FOREVER };
            out->descriptor = POLLER_FIRST + i;
            out->doorbell = doorbell;
            return 0;
        }
    }
    return EMFILE;
}

void weir__poller_close(weir__poller *out)
{
    poller *p = poller_of(out->descriptor);
    if (p != NULL) {
        p->open = false;
    }
    *out = WEIR__POLLER_NONE;
}

int weir__poller_watch(weir__poller *own, int descriptor, bool readable, bool writable)
{
    poller *p = poller_of(own->descriptor);
    int *place = NULL;
    if (p == NULL || (readable && doorbell_of(descriptor) == NULL)) {
        return EPERM;
    }
    (void)writable; /* a doorbell always is; nobody simulates waiting for that */
    for (int i = 0; i < WATCHED_MAX; i++) {
        if (p->watched[i] == descriptor || (p->watched[i] == 0 && place == NULL)) {
            place = &p->watched[i];
        }
    }
    if (place == NULL) {
        return ENOSPC;
    }
    if (readable || *place == descriptor) {
        *place = readable ? descriptor : 0;
    }
    return 0;
}

static bool is_ready(const poller *p)
{
    bool ready = weir__sim_time() >= p->alarm_at;
    for (int i = 0; i < WATCHED_MAX; i++) {
        ready |= is_rung(p->watched[i]);
    }
    return ready;
}

/* False: the time was over. */
static bool sleep_until(const void *word, weir_ns deadline, weir_ns alarm_at)
{
    const weir_ns end = alarm_at < deadline ? alarm_at : deadline;
    return weir__sim_time() < end &&
           (weir__sim_sleep_on(word, end == WEIR_FOREVER ? WEIR_FOREVER : end - weir__sim_time()) ||
            end < deadline);
}

static weir_ns deadline_of(weir_ns timeout)
{
    return timeout >= WEIR_FOREVER - weir__sim_time() ? WEIR_FOREVER : weir__sim_time() + timeout;
}

weir__polled weir__poller_wait(weir__poller *own, weir_ns timeout)
{
    static const weir__sim_site site = { "sync/poller.h", 0, "weir__poller_wait" };
    weir__sim_step(&site);
    weir__sim_counted.calls++;
    const poller *p = poller_of(own->descriptor);
    if (p == NULL || weir__sim.current == NULL) {
        return WEIR__POLLED_TIME;
    }
    weir__sim_pass(WEIR__SCALE_CALL);
    weir__sim_flush(weir__sim.current);
    const weir_ns deadline = deadline_of(timeout > 0 ? timeout : 0);
    for (;;) {
        bell *b = doorbell_of(p->bell);
        if (is_ready(p)) {
            return WEIR__POLLED_READY;
        }
        if (b != NULL && b->rung) {
            b->rung = !p->own; /* told once */
            return WEIR__POLLED_RUNG;
        }
        if (!sleep_until(p, deadline, p->alarm_at)) {
            return is_ready(p) ? WEIR__POLLED_READY : WEIR__POLLED_TIME;
        }
    }
}

int weir__poller_alarm(weir__poller *own, weir_ns at)
{
    poller *p = poller_of(own->descriptor);
    if (p != NULL) {
        p->alarm_at = at;
        own->alarm_at = at;
    }
    return 0;
}

/* ---- the application's poll ---- */

static bool is_readable(const bell *b, const poller *p)
{
    return p != NULL ? is_ready(p) || is_rung(p->bell) : b->rung;
}

bool weir_sim_poll(int descriptor, weir_ns timeout)
{
    static const weir__sim_site site = { "weir/sim.h", 0, "weir_sim_poll" };
    weir__sim_step(&site);
    const bell *b = doorbell_of(descriptor);
    const poller *p = poller_of(descriptor);
    if ((b == NULL && p == NULL) || weir__sim.current == NULL) {
        return true;
    }
    weir__sim_flush(weir__sim.current);
    const weir_ns deadline = deadline_of(timeout);
    while (!is_readable(b, p)) {
        if (!sleep_until(p != NULL ? (const void *)p : (const void *)b, deadline,
                         p != NULL ? p->alarm_at : WEIR_FOREVER)) {
            return is_readable(b, p);
        }
    }
    return true;
}
