/*
 * config/text.h - a made-up configuration of a given size, as JSON and as HOCON: one tree, two
 * spellings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BENCH_CONFIG_TEXT_H
#define WEIR_BENCH_CONFIG_TEXT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct config_text {
    char *bytes; /* the caller frees them */
    size_t size, capacity;
    size_t services; /* members of the root */
} config_text;

/* Services, each with nested settings, lists, texts and numbers, until the text as JSON is `size`
 * bytes long. False: no memory. */
bool config_text_make(config_text *text, size_t size, bool hocon);

#endif /* WEIR_BENCH_CONFIG_TEXT_H */
