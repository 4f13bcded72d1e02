/*
 * base/line.h - a line of text put together in a signal handler: no printf, no memory, no locale.
 *
 * What does not fit is cut. Async-signal-safe, all of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BASE_LINE_H
#define WEIR_BASE_LINE_H

#include <stddef.h>
#include <stdint.h>

#define WEIR__LINE_MAX 2000u

/* Zeroed memory is an empty line. */
typedef struct weir__line {
    size_t length;
    char text[WEIR__LINE_MAX + 1]; /* no final zero; one byte is for weir__line_end */
} weir__line;

void weir__line_text(weir__line *line, const char *text);
/* At most `most` bytes of a name, with "..." if it is cut; control characters become '?'. */
void weir__line_name(weir__line *line, const char *name, size_t most);
void weir__line_number(weir__line *line, uint64_t number);
void weir__line_hex(weir__line *line, uint64_t number); /* 0x1f */
/* Spaces up to this column, at least one. */
void weir__line_column(weir__line *line, size_t column);
/* A newline, which always fits. */
void weir__line_end(weir__line *line);

#endif /* WEIR_BASE_LINE_H */
