/*
 * cli/usage.c - see usage.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/usage.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"

enum { WORD_MAX = 32, OPTIONS_MAX = 32, TYPOS_MAX = 3 };

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

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Damerau's distance (optimal string alignment), the plain table: both words are short, and it
 * runs once, on the way out. Words that are too long for the table are far from everything. */
static size_t distance(const char *a, const char *b)
{
    size_t table[WORD_MAX + 1][WORD_MAX + 1];
    const size_t a_length = strlen(a);
    const size_t b_length = strlen(b);
    if (a_length > WORD_MAX || b_length > WORD_MAX) {
        return SIZE_MAX;
    }
    for (size_t i = 0; i <= a_length; i++) {
        table[i][0] = i;
    }
    for (size_t j = 0; j <= b_length; j++) {
        table[0][j] = j;
    }
    for (size_t i = 1; i <= a_length; i++) {
        for (size_t j = 1; j <= b_length; j++) {
            const size_t changed = table[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            const size_t shorter = least(table[i - 1][j], table[i][j - 1]) + 1;
            table[i][j] = least(changed, shorter);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                table[i][j] = least(table[i][j], table[i - 2][j - 2] + 1);
            }
        }
    }
    return table[a_length][b_length];
}

const char *weir__usage_nearest(const char *word, const char *const *names, size_t count)
{
    const char *nearest = NULL;
    size_t nearest_distance = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        const size_t d = distance(word, names[i]);
        /* A short word is near everything: the bound follows the longer of the two. */
        const size_t longer = strlen(word) > strlen(names[i]) ? strlen(word) : strlen(names[i]);
        if (d < nearest_distance && d <= least((longer + 2) / 3, TYPOS_MAX)) {
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
