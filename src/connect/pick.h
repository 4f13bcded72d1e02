/*
 * connect/pick.h - a piece of a line: a field of its JSON, or a group of a regular expression.
 *
 * What the built-in processors look at (filter, count, key-by). Lines come from anywhere, so that a
 * pattern that would search for ever gives up, and JSON is read within jansson's bound of depth.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CONNECT_PICK_H
#define WEIR_CONNECT_PICK_H

#include "weir/config.h"

/* As a component's options have it: a member of its struct, filled by WEIR__PICK_ROWS. */
typedef struct weir__pick_config {
    const char *field;
    const char *pattern;
    int64_t group;
} weir__pick_config;

/* NOLINTBEGIN(bugprone-macro-parentheses): `m` is a member's name */
#define WEIR__PICK_ROWS(T, m)                                                                      \
    WEIR_KEY(STRING, T, m.field, "field",                                                          \
             .help =                                                                               \
                 "A field of the line's JSON, with dots into objects: user.id. A number after "    \
                 "a dot is a place in an array. This or pattern."),                                \
        WEIR_KEY(STRING, T, m.pattern, "pattern",                                                  \
                 .help = "A regular expression (of Perl's kind) that is searched in the line."),   \
        WEIR_KEY(INT, T, m.group, "group", .fallback = "0", .max = 99,                             \
                 .help = "Which group of the pattern; 0: all that it matched.")
/* NOLINTEND(bugprone-macro-parentheses) */

typedef enum weir__picked {
    WEIR__PICKED,
    WEIR__PICK_MISSING, /* no such field, no match, or what is there is no text or number */
    WEIR__PICK_NOT_JSON,
    WEIR__PICK_GAVE_UP /* the pattern took too long, or there was no memory */
} weir__picked;

typedef struct weir__pick weir__pick;

/* NULL: error set, with `who` as the component. Both field and pattern are E_CONFIG; neither, too,
 * unless `optional`: then it picks nothing, and run answers the line. */
weir__pick *weir__pick_open(const weir__pick_config *config, bool optional, const char *who,
                            weir_error *error);
void weir__pick_close(weir__pick *pick);

/* One thread at a time. *data lives until the next run, or as long as the line. */
weir__picked weir__pick_run(weir__pick *pick, const void *line, size_t size, const char **data,
                            size_t *length);

const char *weir__picked_text(weir__picked picked);

#endif /* WEIR_CONNECT_PICK_H */
