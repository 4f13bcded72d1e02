/*
 * server/notify.c - see notify.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "server/notify.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "sync/thread.h"

enum { MESSAGE_MAX = 512 };

/* A path, or @name for one that is in no file system. 0: neither, or too long. */
static socklen_t address_of(const char *text, struct sockaddr_un *address)
{
    const size_t length = strlen(text);
    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    if ((text[0] != '/' && text[0] != '@') || length < 2 || length >= sizeof(address->sun_path)) {
        return 0;
    }
    memcpy(address->sun_path, text, length);
    if (text[0] == '@') {
        address->sun_path[0] = '\0'; /* then the length says where the name ends */
        return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    }
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + 1);
}

/* NOLINTBEGIN(concurrency-mt-unsafe): the environment is read before any thread is there */

/* $WATCHDOG_USEC counts if $WATCHDOG_PID is this process, or not given. */
static weir_ns read_watchdog(void)
{
    const char *text = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
    char *end = NULL;
    if (text == NULL || text[0] < '0' || text[0] > '9') {
        return 0;
    }
    errno = 0;
    const unsigned long long usec = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || usec == 0 || usec > (unsigned long long)WEIR_FOREVER / 1000) {
        return 0;
    }
    if (pid != NULL && strtoull(pid, NULL, 10) != (unsigned long long)getpid()) {
        return 0;
    }
    return (weir_ns)usec * WEIR_US;
}

bool weir__notify_open(weir__notify *notify, char *text, size_t size)
{
    struct sockaddr_un address;
    const char *where = getenv("NOTIFY_SOCKET");
    *notify = (weir__notify){ .socket = -1 };
    text[0] = '\0';
    if (where == NULL || where[0] == '\0') {
        return true;
    }
    const socklen_t length = address_of(where, &address);
    if (length == 0) {
        snprintf(text, size, "NOTIFY_SOCKET '%.100s' is neither a path nor @name, or too long",
                 where);
        return false;
    }
    const int opened = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (opened < 0 || connect(opened, (const struct sockaddr *)&address, length) != 0) {
        snprintf(text, size, "NOTIFY_SOCKET '%.100s' cannot be used: %s", where, strerror(errno));
        if (opened >= 0) {
            close(opened);
        }
        return false;
    }
    notify->socket = opened;
    notify->watchdog = read_watchdog();
    return true;
}

/* NOLINTEND(concurrency-mt-unsafe) */

void weir__notify_close(weir__notify *notify)
{
    if (notify->socket >= 0) {
        close(notify->socket);
    }
    notify->socket = -1;
}

void weir__notify_send(const weir__notify *notify, const char *format, ...)
{
    char message[MESSAGE_MAX];
    va_list arguments;
    if (notify->socket < 0) {
        return;
    }
    va_start(arguments, format);
    const int length = vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    if (length > 0) {
        const size_t size = (size_t)length < sizeof(message) ? (size_t)length : sizeof(message) - 1;
        (void)send(notify->socket, message, size, MSG_NOSIGNAL);
    }
}

void weir__notify_reloading(const weir__notify *notify)
{
    weir__notify_send(notify, "RELOADING=1\nMONOTONIC_USEC=%lld\nSTATUS=reloading",
                      (long long)(weir__clock_now() / WEIR_US));
}
