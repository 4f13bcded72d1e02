/*
 * cli/usage.c - see usage.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/usage.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "cli/command.h"

enum { WORD_MAX = 32, OPTIONS_MAX = 32 };
#define SECONDS_MIN 0.1
#define SECONDS_MAX 86400.0

int weir__usage_error(const char *program, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", program);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\ntry: %s --help\n", program);
    va_end(arguments);
    return WEIR__EXIT_USAGE;
}

const char *weir__usage_nearest(const char *word, const char *const *names, size_t count)
{
    const char *nearest = NULL;
    size_t nearest_distance = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        const size_t d = weir__distance(word, names[i]);
        if (d < nearest_distance && weir__distance_is_near(d, word, names[i])) {
            nearest = names[i];
            nearest_distance = d;
        }
    }
    return nearest;
}

/* The long option that getopt_long stumbled over, without its value. */
static void read_word(char word[static WORD_MAX + 1], const char *given)
{
    snprintf(word, WORD_MAX + 1, "%.*s", (int)strcspn(given + 2, "="), given + 2);
}

int weir__usage_option_error(const char *program, int answer, char *const *argv,
                             const struct option *options)
{
    const char *given = argv[optind - 1];
    if (answer == ':') {
        return weir__usage_error(program, "%s needs a value", given);
    }
    const char *names[OPTIONS_MAX];
    size_t count = 0;
    bool is_known = false;
    for (; count < OPTIONS_MAX && options[count].name != NULL; count++) {
        names[count] = options[count].name;
        is_known = is_known || options[count].val == optopt;
    }
    /* getopt_long says 0 for an unknown long option, and the letter of an unknown short one; it
     * says the value of an option that it knows if that one was given a value too many. */
    if (optopt != 0 && !is_known) {
        return weir__usage_error(program, "unknown option -%c", optopt);
    }
    char word[WORD_MAX + 1];
    read_word(word, given);
    if (optopt != 0) {
        return weir__usage_error(program, "--%s takes no value", word);
    }
    const char *nearest = weir__usage_nearest(word, names, count);
    if (nearest != NULL) {
        return weir__usage_error(program, "unknown option --%s, did you mean --%s?", word, nearest);
    }
    return weir__usage_error(program, "unknown option --%s", word);
}

bool weir__usage_seconds(const char *text, double *out)
{
    char *end = NULL;
    errno = 0;
    *out = strtod(text, &end);
    /* Written so that NaN is not within the bounds. */
    return end != text && *end == '\0' && isspace((unsigned char)text[0]) == 0 && errno == 0 &&
           *out >= SECONDS_MIN && *out <= SECONDS_MAX;
}
