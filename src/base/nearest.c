/*
 * base/nearest.c - see nearest.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/nearest.h"

#include <stdint.h>
#include <string.h>

enum { WORD_MAX = 64, TYPOS_MAX = 3 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Small letters without hyphens; SIZE_MAX: too long. */
static size_t simplify(const char *word, char *out)
{
    size_t length = 0;
    for (; *word != '\0'; word++) {
        if (*word == '-' || *word == '_') {
            continue;
        }
        if (length == WORD_MAX) {
            return SIZE_MAX;
        }
        out[length++] = (char)(*word >= 'A' && *word <= 'Z' ? *word - 'A' + 'a' : *word);
    }
    return length;
}

/* Damerau's distance (optimal string alignment), row by row. */
size_t weir__distance(const char *a, const char *b)
{
    char left[WORD_MAX], right[WORD_MAX];
    size_t rows[3][WORD_MAX + 1];
    const size_t left_length = simplify(a, left);
    const size_t right_length = simplify(b, right);
    if (left_length == SIZE_MAX || right_length == SIZE_MAX) {
        return SIZE_MAX;
    }
    for (size_t j = 0; j <= right_length; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= left_length; i++) {
        size_t *now = rows[i % 3];
        const size_t *before = rows[(i - 1) % 3], *long_ago = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= right_length; j++) {
            const size_t changed = before[j - 1] + (left[i - 1] != right[j - 1]);
            now[j] = least(changed, least(before[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1]) {
                now[j] = least(now[j], long_ago[j - 2] + 1);
            }
        }
    }
    return rows[left_length % 3][right_length];
}

bool weir__distance_is_near(size_t distance, const char *a, const char *b)
{
    /* A short word is near everything: the bound follows the longer of the two. */
    const size_t longer = strlen(a) > strlen(b) ? strlen(a) : strlen(b);
    return distance <= least((longer + 2) / 3, TYPOS_MAX);
}
