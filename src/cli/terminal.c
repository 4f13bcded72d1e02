/*
 * cli/terminal.c - see terminal.h. The few ECMA-48 sequences that every terminal of the last
 * decades knows, so no terminfo.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/terminal.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

weir__terminal weir__terminal_look(void)
{
    const char *kind = getenv("TERM");
    const char *no_colour = getenv("NO_COLOR"); /* no-color.org: any value but the empty one */
    weir__terminal terminal = { .utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0 };
    terminal.live = isatty(STDOUT_FILENO) != 0 && kind != NULL && strcmp(kind, "dumb") != 0;
    terminal.colour = terminal.live && (no_colour == NULL || no_colour[0] == '\0');
    return terminal;
}

uint32_t weir__terminal_height(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) {
        return 24;
    }
    return size.ws_row;
}

uint32_t weir__terminal_width(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
        return 80;
    }
    return size.ws_col;
}

const char *weir__terminal_begin(const weir__terminal *terminal, weir__tone tone)
{
    if (!terminal->colour) {
        return "";
    }
    switch (tone) {
    case WEIR__TONE_PLAIN:
        return "";
    case WEIR__TONE_STRONG:
        return "\033[1m";
    case WEIR__TONE_FAINT:
        return "\033[2m";
    case WEIR__TONE_GOOD:
        return "\033[32m";
    case WEIR__TONE_FAIR:
        return "\033[33m";
    case WEIR__TONE_BAD:
        return "\033[31m";
    }
    return "";
}

const char *weir__terminal_end(const weir__terminal *terminal, weir__tone tone)
{
    return terminal->colour && tone != WEIR__TONE_PLAIN ? "\033[0m" : "";
}
