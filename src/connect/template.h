/*
 * connect/template.h - a text with places to fill: "${key} pays ${random:100}".
 *
 *     ${n}         the number of the event, from 1 on
 *     ${key}       its key
 *     ${time}      milliseconds since 1970
 *     ${random}    0 to 4294967295, or ${random:N}: 0 to N - 1
 *     ${pad}       as many x as make the whole as long as `size` says; at most once
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CONNECT_TEMPLATE_H
#define WEIR_CONNECT_TEMPLATE_H

#include "weir/error.h"

enum { WEIR__TEMPLATE_PARTS_MAX = 64 };

typedef enum weir__template_what {
    WEIR__TEMPLATE_TEXT,
    WEIR__TEMPLATE_N,
    WEIR__TEMPLATE_KEY,
    WEIR__TEMPLATE_TIME,
    WEIR__TEMPLATE_RANDOM,
    WEIR__TEMPLATE_PAD
} weir__template_what;

typedef struct weir__template_part {
    weir__template_what what;
    const char *text; /* TEXT: `size` bytes of the template */
    size_t size;
    uint64_t below; /* RANDOM */
} weir__template_part;

/* Points into the text that it was read from. */
typedef struct weir__template {
    weir__template_part parts[WEIR__TEMPLATE_PARTS_MAX];
    size_t count;
    size_t text_size; /* of all TEXT parts */
    bool pads;
} weir__template;

typedef struct weir__template_values {
    uint64_t n;
    uint64_t time_ms;
    const char *key; /* NULL: the template must have none */
    size_t key_size;
    uint64_t *random; /* state of weir__random */
    size_t size;      /* to pad to */
} weir__template_values;

/* E_CONFIG: the error, under `path`, says what is wrong and what would be right. */
weir_status weir__template_read(weir__template *out, const char *text, bool has_key,
                                const char *path, weir_error *error);

/* No result is longer than this, with keys and a pad of these sizes. */
size_t weir__template_size_max(const weir__template *t, size_t key_size, size_t pad_to);

/* Writes it; `out` has room for size_max. Returns its length. */
size_t weir__template_fill(const weir__template *t, const weir__template_values *values, char *out);

/* SplitMix64: the next number of a state that may be any. */
uint64_t weir__random(uint64_t *state);
/* 0 ... below - 1, each as likely; below > 0. */
uint64_t weir__random_below(uint64_t *state, uint64_t below);

#endif /* WEIR_CONNECT_TEMPLATE_H */
