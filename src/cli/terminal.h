/*
 * cli/terminal.h - what standard output can show: live redrawing, colours, signs beyond ASCII.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CLI_TERMINAL_H
#define WEIR_CLI_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

typedef enum weir__tone {
    WEIR__TONE_PLAIN = 0,
    WEIR__TONE_STRONG,
    WEIR__TONE_FAINT,
    WEIR__TONE_GOOD,
    WEIR__TONE_FAIR,
    WEIR__TONE_BAD,
} weir__tone;

typedef struct weir__terminal {
    bool live;   /* a terminal that can be redrawn in place */
    bool colour; /* live, and NO_COLOR is not set */
    bool utf8;   /* by the locale, terminal or not */
} weir__terminal;

/* Of standard output, now. */
weir__terminal weir__terminal_look(void);

/* Lines that fit on the screen now; 24 if it does not say. */
uint32_t weir__terminal_height(void);

/* Columns of it; 80 if it does not say. */
uint32_t weir__terminal_width(void);

/* What begins and what ends text of a tone: "" without colour. */
const char *weir__terminal_begin(const weir__terminal *terminal, weir__tone tone);
const char *weir__terminal_end(const weir__terminal *terminal, weir__tone tone);

#endif /* WEIR_CLI_TERMINAL_H */
