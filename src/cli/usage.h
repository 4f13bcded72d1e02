/*
 * cli/usage.h - wrong usage: say what is wrong, what would be right, and where to read on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CLI_USAGE_H
#define WEIR_CLI_USAGE_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

/* Prints "PROGRAM: text", then "try: PROGRAM --help", to stderr. Returns WEIR__EXIT_USAGE. */
int weir__usage_error(const char *program, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same for an answer '?' or ':' of getopt_long: unknown option with the nearest known one,
 * missing value, value too many. It was called with opterr = 0, short options that begin with ':',
 * and values above 255 for long options that have no letter. */
int weir__usage_option_error(const char *program, int answer, char *const *argv,
                             const struct option *options);

/* The name among names[0..count) that `word` was probably meant to be, or NULL: at most a third of
 * its letters, and never more than three, are wrong, missing, too many or swapped. */
const char *weir__usage_nearest(const char *word, const char *const *names, size_t count);

/* All of `text` is a number of seconds, 0.1 to 86400. */
bool weir__usage_seconds(const char *text, double *out);

#endif /* WEIR_CLI_USAGE_H */
