/*
 * cli/keyboard.c - see keyboard.h. Signals are blocked and read from a descriptor (as in
 * interrupt.c), so keys and signals are waited for in one place and no code runs in a handler.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/keyboard.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { SEQUENCE_MS = 50 }; /* the bytes of one key come together, but maybe not in one read */

/* ---- one key ---- */

static weir__key key_of_letter(char letter)
{
    switch (letter) {
    case 'A':
        return WEIR__KEY_UP;
    case 'B':
        return WEIR__KEY_DOWN;
    case 'C':
        return WEIR__KEY_RIGHT;
    case 'D':
        return WEIR__KEY_LEFT;
    case 'F':
        return WEIR__KEY_END;
    case 'H':
        return WEIR__KEY_HOME;
    case 'Z':
        return WEIR__KEY_BACK_TAB;
    default:
        return WEIR__KEY_OTHER;
    }
}

static weir__key key_of_number(char digit)
{
    switch (digit) {
    case '1':
    case '7':
        return WEIR__KEY_HOME;
    case '4':
    case '8':
        return WEIR__KEY_END;
    case '5':
        return WEIR__KEY_PAGE_UP;
    case '6':
        return WEIR__KEY_PAGE_DOWN;
    default:
        return WEIR__KEY_OTHER;
    }
}

size_t weir__key_read(const char *bytes, size_t length, bool last, weir__key *out)
{
    *out = WEIR__KEY_NONE;
    if (length == 0) {
        return 0;
    }
    *out = (unsigned char)bytes[0];
    if (bytes[0] != '\033') {
        return 1;
    }
    if (length == 1 || (bytes[1] != '[' && bytes[1] != 'O')) {
        return length > 1 || last ? 1 : 0;
    }
    /* ESC [ parameters final, ESC O final. */
    size_t end = 2;
    while (end < length && (bytes[end] < '@' || bytes[end] > '~')) {
        end++;
    }
    if (end == length) {
        *out = WEIR__KEY_OTHER;
        return last ? length : 0;
    }
    *out = bytes[end] != '~' ? key_of_letter(bytes[end])
           : end == 3        ? key_of_number(bytes[2])
                             : WEIR__KEY_OTHER;
    return end + 1;
}

/* ---- the terminal ---- */

static sigset_t signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGQUIT); /* Ctrl-\: else the terminal would stay as it is */
    sigaddset(&set, SIGTSTP);
    sigaddset(&set, SIGWINCH);
    return set;
}

/* A byte at a time and unseen; Ctrl-C and Ctrl-Z are signals still. */
static void set_raw(const weir__keyboard *keys)
{
    struct termios raw = keys->before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

bool weir__keyboard_open(weir__keyboard *keys)
{
    const sigset_t set = signals();
    *keys = (weir__keyboard){ .signals = -1 };
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0) {
        return false;
    }
    keys->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (keys->signals < 0) {
        (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
        return false;
    }
    /* In the background it would be stopped for the attempt to change the terminal. */
    keys->typed =
        tcgetattr(STDIN_FILENO, &keys->before) == 0 && tcgetpgrp(STDIN_FILENO) == getpgrp();
    if (keys->typed) {
        set_raw(keys);
    }
    return true;
}

void weir__keyboard_close(weir__keyboard *keys)
{
    const sigset_t set = signals();
    if (keys->typed) {
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &keys->before);
    }
    (void)close(keys->signals);
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void weir__keyboard_suspend(weir__keyboard *keys)
{
    if (keys->typed) {
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &keys->before);
    }
    (void)raise(SIGSTOP);
    if (keys->typed) {
        set_raw(keys);
    }
}

/* ---- waiting ---- */

static weir__key take(weir__keyboard *keys, bool last)
{
    weir__key key;
    const size_t used = weir__key_read(keys->bytes, keys->length, last, &key);
    memmove(keys->bytes, keys->bytes + used, keys->length - used);
    keys->length -= used;
    return used > 0 ? key : WEIR__KEY_NONE;
}

static weir__key read_signal(const weir__keyboard *keys)
{
    struct signalfd_siginfo info;
    if (read(keys->signals, &info, sizeof(info)) != (ssize_t)sizeof(info)) {
        return WEIR__KEY_NONE;
    }
    return info.ssi_signo == SIGWINCH  ? WEIR__KEY_RESIZED
           : info.ssi_signo == SIGTSTP ? WEIR__KEY_SUSPEND
                                       : WEIR__KEY_END_ALL;
}

weir__key weir__keyboard_wait(weir__keyboard *keys, weir_ns timeout)
{
    weir__key key = take(keys, false);
    if (key != WEIR__KEY_NONE) {
        return key;
    }
    struct pollfd set[2] = { { .fd = keys->signals, .events = POLLIN },
                             { .fd = STDIN_FILENO, .events = POLLIN } };
    weir_ns milliseconds = timeout > 0 ? (timeout + WEIR_MS - 1) / WEIR_MS : 0;
    if (keys->length > 0 && milliseconds > SEQUENCE_MS) {
        milliseconds = SEQUENCE_MS;
    }
    const int ready = poll(set, keys->typed ? 2 : 1, (int)milliseconds);
    if (ready <= 0) {
        return take(keys, true);
    }
    if (set[0].revents != 0) {
        return read_signal(keys);
    }
    const ssize_t got =
        read(STDIN_FILENO, keys->bytes + keys->length, sizeof(keys->bytes) - keys->length);
    if (got > 0) {
        keys->length += (size_t)got;
    } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
        keys->typed = false; /* the terminal is gone; its SIGHUP comes, or nothing does */
    }
    /* A sequence that fills all there is room for is none. */
    return take(keys, keys->length == sizeof(keys->bytes));
}
