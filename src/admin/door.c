/*
 * admin/door.c - see door.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* accept4 */
#include "admin/door.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define PAUSE_MS 100u /* when no descriptor is left */
/* Who is refused learns it at once; so many a second. Beyond that they are parked. */
#define PROMPT_MAX 16u
/* When the lot is full, too, the door is shut for a moment after so many, and the rest waits in the
 * system's queue. */
#define HOMELESS_MAX 128u
#define DOOR_SHUT_MS 250
/* In a row. Then those have their turn: who has sent its request and gets an answer, or becomes a
 * stream, makes room for the next one of its address. */
#define ACCEPTS_MAX 16u

/* ---- links ---- */

weir__link *weir__door_link(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info != NULL ? info->socket_context : NULL;
}

void weir__door_whole(const weir__door *d, struct MHD_Connection *connection)
{
    weir__link *link = weir__door_link(connection);
    if (link != NULL) {
        link->whole = true;
        link->deadline = weir__clock_now() + d->timeout;
    }
}

void weir__door_to_stream(weir__door *d, weir__link *link)
{
    link->whole = true;
    link->stream = true;
    link->deadline = WEIR_FOREVER;
    d->link_count--;
}

void weir__door_forgive(weir__door *d, weir_ns span)
{
    for (weir__link *l = d->links; l != NULL; l = l->next) {
        l->deadline += l->stream ? 0 : span;
    }
}

void weir__door_began(weir__door *d, struct MHD_Connection *connection, void **link)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    for (weir__link *l = d->links; info != NULL && l != NULL; l = l->next) {
        if (l->descriptor == info->connect_fd) {
            *link = l;
            break;
        }
    }
}

static void remove_link(weir__door *d, weir__link *link)
{
    *(link->previous != NULL ? &link->previous->next : &d->links) = link->next;
    if (link->next != NULL) {
        link->next->previous = link->previous;
    }
    d->link_count -= link->stream ? 0 : 1;
    weir__sub(&d->counts->open, 1, relaxed);
    free(link);
}

void weir__door_ended(weir__door *d, weir__link *link)
{
    if (link == NULL) {
        return;
    }
    if (!link->whole && !link->ended) {
        weir__admin_refuse(d->counts, WEIR__REFUSED_MALFORMED);
    }
    remove_link(d, link);
}

/* ---- who comes ---- */

static void bytes_of(const struct sockaddr_storage *from, uint8_t out[16])
{
    memset(out, 0, 16);
    if (from->ss_family == AF_INET) {
        memcpy(out, &((const struct sockaddr_in *)from)->sin_addr, 4);
    } else if (from->ss_family == AF_INET6) {
        memcpy(out, &((const struct sockaddr_in6 *)from)->sin6_addr, 16);
    }
}

static uint32_t count_of(const weir__door *d, const uint8_t address[16])
{
    uint32_t count = 0;
    for (const weir__link *l = d->links; l != NULL; l = l->next) {
        count += !l->stream && memcmp(l->address, address, 16) == 0 ? 1 : 0;
    }
    return count;
}

/* False: it is refused. The last eighth of the places is for addresses that hold none: many clients
 * of a few addresses do not lock out the others. */
static bool may_come(weir__door *d, const uint8_t address[16])
{
    const uint32_t held = count_of(d, address);
    const uint32_t places = d->connections_max - (held > 0 ? d->connections_max / 8 : 0);
    if (held >= d->per_address_max) {
        weir__admin_refuse(d->counts, WEIR__REFUSED_ADDRESS);
        return false;
    }
    if (d->link_count >= places) {
        weir__admin_refuse(d->counts, WEIR__REFUSED_CONNECTIONS);
        return false;
    }
    return true;
}

static void send_away(weir__door *d, int descriptor)
{
    const weir_ns now = weir__clock_now();
    if (now >= d->prompt_until) {
        d->prompt_until = now + WEIR_S;
        d->prompt = 0;
        d->homeless = 0;
    }
    if (d->prompt >= PROMPT_MAX && weir__lot_park(&d->lot, descriptor, now)) {
        return;
    }
    (void)close(descriptor);
    if (d->prompt < PROMPT_MAX) {
        d->prompt++;
    } else if (++d->homeless % HOMELESS_MAX == 0) {
        d->paused_until = now + DOOR_SHUT_MS * WEIR_MS;
    }
}

static void take(weir__door *d, int descriptor, const struct sockaddr_storage *from, socklen_t size)
{
    uint8_t address[16];
    bytes_of(from, address);
    weir__add(&d->counts->connections, 1, relaxed);
    weir__link *link = may_come(d, address) ? calloc(1, sizeof(*link)) : NULL;
    if (link == NULL) {
        send_away(d, descriptor);
        return;
    }
    link->descriptor = descriptor;
    link->deadline = weir__clock_now() + d->timeout;
    memcpy(link->address, address, sizeof(address));
    link->next = d->links;
    if (d->links != NULL) {
        d->links->previous = link;
    }
    d->links = link;
    d->link_count++;
    weir__add(&d->counts->open, 1, relaxed);
    if (MHD_add_connection(d->daemon, descriptor, (const struct sockaddr *)from, size) != MHD_YES) {
        /* The library has closed it, and told us if it had begun; what it did not know of is still
         * the first in the list. */
        if (d->links == link) {
            remove_link(d, link);
        }
        weir__admin_refuse(d->counts, WEIR__REFUSED_SYSTEM);
    }
}

void weir__door_take(weir__door *d)
{
    d->paused_until = 0;
    for (uint32_t i = 0; i < ACCEPTS_MAX && d->paused_until == 0; i++) {
        struct sockaddr_storage from = { .ss_family = AF_UNSPEC };
        socklen_t size = sizeof(from);
        const int descriptor =
            accept4(d->descriptor, (struct sockaddr *)&from, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (descriptor < 0) {
            if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
                weir__admin_refuse(d->counts, WEIR__REFUSED_SYSTEM);
                weir__lot_release(&d->lot, WEIR__LOT_AT_ONCE);
                d->paused_until = weir__clock_now() + PAUSE_MS * WEIR_MS;
            }
            return;
        }
        take(d, descriptor, &from, size);
    }
}

/* ---- who is slow, who has gone ---- */

weir_ns weir__door_end_slow(weir__door *d, weir_ns now)
{
    weir_ns next = WEIR_FOREVER;
    for (weir__link *l = d->links; l != NULL; l = l->next) {
        if (!l->ended && l->deadline <= now) {
            l->ended = true;
            weir__admin_refuse(d->counts, WEIR__REFUSED_SLOW);
            (void)shutdown(l->descriptor, SHUT_RDWR);
        }
        if (!l->ended && l->deadline < next) {
            next = l->deadline;
        }
    }
    return next;
}

uint32_t weir__door_poll(const weir__door *d, struct pollfd *polled)
{
    uint32_t count = 0;
    for (const weir__link *l = d->links; l != NULL; l = l->next) {
        if (!l->whole && !l->ended && count < d->connections_max) {
            polled[count++] = (struct pollfd){ .fd = l->descriptor, .events = POLLRDHUP };
        }
    }
    return count;
}

void weir__door_end_shut(weir__door *d, const struct pollfd *polled, uint32_t count)
{
    for (weir__link *l = d->links; l != NULL; l = l->next) {
        for (uint32_t i = 0; i < count && !l->whole; i++) {
            int left = 0;
            if (polled[i].fd == l->descriptor && (polled[i].revents & POLLRDHUP) != 0 &&
                ioctl(l->descriptor, FIONREAD, &left) == 0 && left == 0) {
                if (l->shut) {
                    (void)shutdown(l->descriptor, SHUT_RDWR);
                }
                l->shut = true;
            }
        }
    }
}
