/*
 * cli/keyboard.h - keys as they are pressed, and what else happens to a program on a terminal.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CLI_KEYBOARD_H
#define WEIR_CLI_KEYBOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

#include "weir/base.h"

/* A byte that was typed is itself; the others are above all bytes. */
typedef int weir__key;
enum {
    WEIR__KEY_ESCAPE = 27,
    WEIR__KEY_UP = 256,
    WEIR__KEY_DOWN,
    WEIR__KEY_LEFT,
    WEIR__KEY_RIGHT,
    WEIR__KEY_PAGE_UP,
    WEIR__KEY_PAGE_DOWN,
    WEIR__KEY_HOME,
    WEIR__KEY_END,
    WEIR__KEY_BACK_TAB,
    WEIR__KEY_OTHER, /* a key that nothing is known of */

    /* What is no key. */
    WEIR__KEY_NONE,    /* the time is over */
    WEIR__KEY_RESIZED, /* the window */
    WEIR__KEY_SUSPEND, /* Ctrl-Z: leave the terminal as it was, then weir__keyboard_suspend */
    WEIR__KEY_END_ALL  /* Ctrl-C, Ctrl-\, SIGTERM, SIGHUP */
};

/* How many bytes of bytes[0..length) are the first key; 0: more of it may come, unless `last`. */
size_t weir__key_read(const char *bytes, size_t length, bool last, weir__key *out);

typedef struct weir__keyboard {
    struct termios before; /* how the terminal was */
    bool typed;            /* standard input is a terminal, and not at its end */
    int signals;
    char bytes[64]; /* read, not yet taken */
    size_t length;
} weir__keyboard;

/* False: errno says why. Standard input need not be a terminal: then no keys come. */
bool weir__keyboard_open(weir__keyboard *keys);
/* At most so long. */
weir__key weir__keyboard_wait(weir__keyboard *keys, weir_ns timeout);
/* Stops the process as Ctrl-Z does; returns when it is continued. */
void weir__keyboard_suspend(weir__keyboard *keys);
void weir__keyboard_close(weir__keyboard *keys);

#endif /* WEIR_CLI_KEYBOARD_H */
