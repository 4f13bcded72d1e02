/*
 * fuzz.h - what the fuzz targets share: a promise that is checked, and a look at all that was
 * written.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_FUZZ_H
#define WEIR_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* libFuzzer keeps the input of whoever aborts. */
#define FUZZ_PROMISE(condition)                                                                    \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: this does not hold: %s\n", __FILE__, __LINE__, #condition);    \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* Whether all of a text may be shown on a terminal: no controls but newlines. */
static inline bool fuzz_is_harmless(const char *text, size_t length, bool newlines)
{
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)text[i];
        if ((c < 0x20 && !(newlines && c == '\n')) || c == 0x7f) {
            return false;
        }
    }
    return true;
}

/* A sink for the writers: counts, looks at each byte, and follows quotes to their end. */
typedef struct fuzz_sink {
    size_t length;
    bool quoted, escaped;
} fuzz_sink;

static inline bool fuzz_take(void *context, const char *bytes, size_t length)
{
    fuzz_sink *sink = context;
    FUZZ_PROMISE(fuzz_is_harmless(bytes, length, true));
    for (size_t i = 0; i < length; i++) {
        FUZZ_PROMISE(!sink->quoted || bytes[i] != '\n');
        if (sink->escaped) {
            sink->escaped = false;
        } else if (sink->quoted && bytes[i] == '\\') {
            sink->escaped = true;
        } else if (bytes[i] == '"') {
            sink->quoted = !sink->quoted;
        }
    }
    sink->length += length;
    return sink->length < 50000000; /* what is long enough to have been looked at */
}

#endif /* WEIR_FUZZ_H */
