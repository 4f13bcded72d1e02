/*
 * settings/textbuf.h - a text that grows, with the memory of an allocator.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SETTINGS_TEXTBUF_H
#define WEIR_SETTINGS_TEXTBUF_H

#include "weir/base.h"

/* Zeroed but for the allocator: empty. */
typedef struct weir__textbuf {
    const weir_allocator *allocator;
    char *bytes; /* with a zero behind them; NULL while nothing was appended */
    size_t length, size;
} weir__textbuf;

/* A weir__settings_sink: `textbuf` is one. False: no memory. */
bool weir__textbuf_append(void *textbuf, const char *bytes, size_t length);
void weir__textbuf_close(weir__textbuf *textbuf);

#endif /* WEIR_SETTINGS_TEXTBUF_H */
