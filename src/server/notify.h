/*
 * server/notify.h - telling the service manager how it goes, by systemd's protocol: a datagram of
 * lines to the socket that $NOTIFY_SOCKET names. Without one every call does nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SERVER_NOTIFY_H
#define WEIR_SERVER_NOTIFY_H

#include "weir/base.h"

typedef struct weir__notify {
    int socket;       /* -1: nobody wants to know */
    weir_ns watchdog; /* to be told that all is well at least that often; 0: not at all */
} weir__notify;

/* Reads the environment. False: what it says cannot be used; `text` says why, and it goes on
 * without. */
bool weir__notify_open(weir__notify *notify, char *text, size_t size);
void weir__notify_close(weir__notify *notify);

/* One datagram: "READY=1\nSTATUS=running". Never waits, and a manager that is gone is no error. */
__attribute__((format(printf, 2, 3))) void weir__notify_send(const weir__notify *notify,
                                                             const char *format, ...);
/* RELOADING=1 with the time that Type=notify-reload asks for. */
void weir__notify_reloading(const weir__notify *notify);

#endif /* WEIR_SERVER_NOTIFY_H */
