/*
 * cli/screen.h - a table on a terminal that is redrawn in place.
 *
 * A frame is composed in memory and written in one call, so that the screen never shows half of
 * one. It begins by moving up over the frame before it; every line clears what is left of the old
 * one; wrapping is off meanwhile, so that a narrow terminal cuts lines and the count stays right.
 *
 * A screen can be the whole window, on the terminal's second page: what was there before comes back
 * when it is closed. Then a frame begins at the top and may use the last line, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CLI_SCREEN_H
#define WEIR_CLI_SCREEN_H

#include <stdio.h>

#include "cli/terminal.h"

typedef struct weir__screen {
    weir__terminal terminal;
    uint32_t lines; /* on the screen now */
    bool whole;     /* the window is all its own */
} weir__screen;

typedef struct weir__frame {
    FILE *out; /* what is printed here is shown */
    const weir__terminal *terminal;
    uint32_t lines;
    weir__screen *screen;
    char *memory;
    size_t size;
} weir__frame;

/* False: no memory for a frame; the next one may have it. */
bool weir__frame_begin(weir__frame *frame, weir__screen *screen);
void weir__frame_line(weir__frame *frame); /* ends one */
/* Text of a tone, right-aligned: the escape sequences do not count as width. */
void weir__frame_right(weir__frame *frame, weir__tone tone, int width, const char *text);
void weir__frame_head(weir__frame *frame, const char *text); /* a faint line */
void weir__frame_show(weir__frame *frame);

/* The whole window from now on, without a cursor; and as it was. */
void weir__screen_open(weir__screen *screen);
void weir__screen_close(weir__screen *screen);

/* Leaves no trace of it. */
void weir__screen_erase(weir__screen *screen);

#endif /* WEIR_CLI_SCREEN_H */
