/*
 * hocon/text.c - the classes of characters, and the checking of UTF-8.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "hocon/text.h"

#include <string.h>

#include "base/utf8.h"

#define B WEIR__BLANK
#define A WEIR__APART
#define N WEIR__NUMERIC
#define P (WEIR__APART | WEIR__NUMERIC) /* + */
#define D (WEIR__NUMERIC | WEIR__FIRST)
#define S WEIR__SLASH
#define H WEIR__HIGH
#define E WEIR__END

/* clang-format off */
const uint8_t weir__class[256] = {
    E, 0, 0, 0, 0, 0, 0, 0, 0, B, E, B, B, B, 0, 0, /* 0x00 */
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, B, B, B, B, /* 0x10 */
    B, A, A, A, A, 0, A, 0, 0, 0, A, P, A, D, N, S, /* 0x20 */
    D, D, D, D, D, D, D, D, D, D, A, 0, 0, A, 0, A, /* 0x30 */
    A, 0, 0, 0, 0, N, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, /* 0x40 */
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, A, A, A, A, 0, /* 0x50 */
    A, 0, 0, 0, 0, N, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, /* 0x60 */
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, A, 0, A, 0, 0, /* 0x70 */
    H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, /* 0x80 */
    H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, /* 0x90 */
    H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, /* 0xa0 */
    H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, /* 0xb0 */
    H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, /* 0xc0 */
    H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, /* 0xd0 */
    H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, /* 0xe0 */
    H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, /* 0xf0 */
};
/* clang-format on */

size_t weir__blank_at(const char *s)
{
    const uint8_t class = weir__class[(unsigned char)s[0]];
    if ((class & WEIR__BLANK) != 0) {
        return 1;
    }
    if ((class & WEIR__HIGH) == 0) {
        return 0;
    }
    /* The text was checked, so the bytes that a first byte promises are there. */
    const unsigned char a = (unsigned char)s[0], b = (unsigned char)s[1];
    if (a == 0xc2) {
        return b == 0xa0 ? 2 : 0; /* no-break space */
    }
    if (a != 0xe1 && a != 0xe2 && a != 0xe3 && a != 0xef) {
        return 0;
    }
    const uint32_t character =
        (uint32_t)(a & 0x0f) << 12 | (uint32_t)(b & 0x3f) << 6 | ((unsigned char)s[2] & 0x3f);
    const bool blank = (character >= 0x2000 && character <= 0x200a) || character == 0x1680 ||
                       character == 0x2028 || character == 0x2029 || character == 0x202f ||
                       character == 0x205f || character == 0x3000 || character == 0xfeff;
    return blank ? 3 : 0;
}

const char *weir__text_check(const char *text, size_t size, bool *ascii)
{
    *ascii = true;
    for (size_t i = 0; i < size;) {
        uint64_t word;
        if (size - i >= sizeof(word)) {
            memcpy(&word, text + i, sizeof(word));
            if ((word & UINT64_C(0x8080808080808080)) == 0) {
                i += sizeof(word);
                continue;
            }
        }
        if ((unsigned char)text[i] < 0x80) {
            i++;
            continue;
        }
        *ascii = false;
        const size_t length = weir__utf8_check((const unsigned char *)text + i, size - i);
        if (length == 0) {
            return text + i;
        }
        i += length;
    }
    return NULL;
}

size_t weir__utf8_put(char *out, uint32_t character)
{
    if (character < 0x80) {
        out[0] = (char)character;
        return 1;
    }
    if (character < 0x800) {
        out[0] = (char)(0xc0 | character >> 6);
        out[1] = (char)(0x80 | (character & 0x3f));
        return 2;
    }
    if (character < 0x10000) {
        out[0] = (char)(0xe0 | character >> 12);
        out[1] = (char)(0x80 | (character >> 6 & 0x3f));
        out[2] = (char)(0x80 | (character & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | character >> 18);
    out[1] = (char)(0x80 | (character >> 12 & 0x3f));
    out[2] = (char)(0x80 | (character >> 6 & 0x3f));
    out[3] = (char)(0x80 | (character & 0x3f));
    return 4;
}

static size_t digits(const char *s, size_t length)
{
    size_t i = 0;
    while (i < length && s[i] >= '0' && s[i] <= '9') {
        i++;
    }
    return i;
}

bool weir__is_number(const char *s, size_t length, bool json)
{
    size_t i = length > 0 && s[0] == '-' ? 1 : 0;
    const size_t whole = digits(s + i, length - i);
    if (json && (whole == 0 || (whole > 1 && s[i] == '0'))) {
        return false;
    }
    i += whole;
    size_t fraction = 0;
    if (i < length && s[i] == '.') {
        fraction = digits(s + i + 1, length - i - 1);
        if (json && fraction == 0) {
            return false;
        }
        i += 1 + fraction;
    }
    if (whole + fraction == 0) {
        return false;
    }
    if (i < length && (s[i] == 'e' || s[i] == 'E')) {
        i++;
        i += i < length && (s[i] == '+' || s[i] == '-') ? 1 : 0;
        const size_t power = digits(s + i, length - i);
        if (power == 0) {
            return false;
        }
        i += power;
    }
    return i == length;
}
