/*
 * hocon/text.h - characters: which are white space, which may stand outside quotes, and whether
 * bytes are UTF-8 at all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_HOCON_TEXT_H
#define WEIR_HOCON_TEXT_H

#include "weir/base.h"

enum {
    WEIR__BLANK = 1, /* ASCII white space but the newline */
    WEIR__APART = 2, /* may not stand in an unquoted text: $ " { } [ ] : = , + # ` ^ ? ! @ * & \ */
    WEIR__NUMERIC = 4, /* 0-9 e E + - . */
    WEIR__HIGH = 8,    /* part of a character of several bytes */
    WEIR__SLASH = 16,  /* may begin a comment */
    WEIR__END = 32,    /* newline, or the zero byte (which may be the end) */
    WEIR__FIRST = 64,  /* may begin a number: 0-9 - */
};

extern const uint8_t weir__class[256];

/* How many bytes of white space (not a newline) stand at `s`, one character at most: ASCII, the
 * spaces of Unicode, the byte order mark. The text ends with a zero byte. */
size_t weir__blank_at(const char *s);
/* The first byte that is not UTF-8 (overlong, surrogates and beyond U+10FFFF included), or NULL.
 * *ascii: there is nothing but ASCII. */
const char *weir__text_check(const char *text, size_t size, bool *ascii);
/* Writes a character; returns its length. */
size_t weir__utf8_put(char *out, uint32_t character);
/* The length of the character that begins at `s`, of a text that was checked. */
static inline size_t weir__utf8_length(const char *s)
{
    const unsigned char c = (unsigned char)*s;
    return c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}
/* Is it a number? `java`: as the reference takes them (007, 1., -.5), else as JSON has them. */
bool weir__is_number(const char *s, size_t length, bool json);

#endif /* WEIR_HOCON_TEXT_H */
