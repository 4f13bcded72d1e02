/*
 * base/utf8.h - where a character of UTF-8 ends.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BASE_UTF8_H
#define WEIR_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* The bytes of the character that begins at `s`, of which `left` are there; 0 if it is none. */
static inline size_t weir__utf8_check(const unsigned char *s, size_t left)
{
    const size_t length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0x80 ? 2 : 1;
    if ((s[0] >= 0x80 && s[0] < 0xc2) || s[0] > 0xf4 || length > left) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    /* Longer than it need be, half of a surrogate pair, beyond Unicode. */
    const bool wrong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) ||
                       (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90);
    return wrong ? 0 : length;
}

#endif /* WEIR_BASE_UTF8_H */
