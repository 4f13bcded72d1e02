/*
 * admin/lot.c - see lot.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* EPOLLRDHUP */
#include "admin/lot.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define GONE_AT_ONCE 256

struct weir__parked {
    weir__parked *older, *newer;
    int descriptor;
    weir_ns since;
};

uint32_t weir__lot_room(uint64_t descriptors)
{
    const uint64_t room = descriptors > 4096 ? descriptors / 2 : descriptors / 4;
    return room < WEIR__LOT_MAX ? (uint32_t)room : WEIR__LOT_MAX;
}

bool weir__lot_open(weir__lot *lot, uint32_t max, weir__admin_counts *counts)
{
    *lot = (weir__lot){ .counts = counts, .max = max, .descriptor = epoll_create1(EPOLL_CLOEXEC) };
    return lot->descriptor >= 0;
}

static void let_go(weir__lot *lot, weir__parked *p)
{
    *(p->older != NULL ? &p->older->newer : &lot->oldest) = p->newer;
    *(p->newer != NULL ? &p->newer->older : &lot->newest) = p->older;
    /* By itself epoll forgets it with the last copy, and a child just forked may have one. */
    (void)epoll_ctl(lot->descriptor, EPOLL_CTL_DEL, p->descriptor, NULL);
    (void)close(p->descriptor);
    free(p);
    lot->count--;
    weir__sub(&lot->counts->parked, 1, relaxed);
}

void weir__lot_close(weir__lot *lot)
{
    weir__lot_release(lot, lot->count);
    if (lot->descriptor >= 0) {
        (void)close(lot->descriptor);
    }
    lot->descriptor = -1;
}

bool weir__lot_park(weir__lot *lot, int descriptor, weir_ns now)
{
    weir__parked *p = lot->count < lot->max ? calloc(1, sizeof(*p)) : NULL;
    if (p == NULL) {
        return false;
    }
    /* Bytes that arrive are not asked for, so they wake nobody; that it has gone is said once. */
    struct epoll_event event = { .events = EPOLLRDHUP | EPOLLET, .data = { .ptr = p } };
    const int bytes = WEIR__LOT_RECEIVE_BYTES;
    if (epoll_ctl(lot->descriptor, EPOLL_CTL_ADD, descriptor, &event) != 0) {
        free(p);
        return false;
    }
    (void)setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
    *p = (weir__parked){ .older = lot->newest, .descriptor = descriptor, .since = now };
    *(lot->newest != NULL ? &lot->newest->newer : &lot->oldest) = p;
    lot->newest = p;
    lot->count++;
    weir__add(&lot->counts->parked, 1, relaxed);
    return true;
}

weir_ns weir__lot_next(const weir__lot *lot)
{
    if (lot->oldest == NULL) {
        return WEIR_FOREVER;
    }
    const weir_ns ripe = lot->oldest->since + WEIR__LOT_STAY;
    return ripe > lot->next ? ripe : lot->next;
}

void weir__lot_turn(weir__lot *lot, weir_ns now, bool gone)
{
    if (gone) {
        struct epoll_event events[GONE_AT_ONCE];
        const int found = epoll_wait(lot->descriptor, events, GONE_AT_ONCE, 0);
        for (int i = 0; i < found; i++) {
            let_go(lot, events[i].data.ptr);
        }
    }
    if (now < weir__lot_next(lot)) {
        return;
    }
    uint32_t left = WEIR__LOT_AT_ONCE;
    while (left-- > 0 && lot->oldest != NULL && lot->oldest->since + WEIR__LOT_STAY <= now) {
        let_go(lot, lot->oldest);
    }
    lot->next = now + WEIR__LOT_TURN;
}

void weir__lot_release(weir__lot *lot, uint32_t count)
{
    for (; count > 0 && lot->oldest != NULL; count--) {
        let_go(lot, lot->oldest);
    }
}
