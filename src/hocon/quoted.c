/*
 * hocon/quoted.c - texts in quotes: those of JSON with its escapes, and the raw ones in three.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "hocon/read.h"

static bool hex4(const char *s, const char *end, uint32_t *out)
{
    *out = 0;
    for (int i = 0; i < 4; i++) {
        const char c = s + i < end ? s[i] : '\0';
        uint32_t digit;
        if (c >= '0' && c <= '9') {
            digit = (uint32_t)(c - '0');
        } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
            digit = (uint32_t)((c | 0x20) - 'a') + 10;
        } else {
            return false;
        }
        *out = *out << 4 | digit;
    }
    return true;
}

size_t weir__scan_unicode(weir__reader *reader, const char *s, uint32_t *out)
{
    uint32_t first, second;
    if (!hex4(s + 2, reader->end, &first)) {
        weir__read_fail(reader, s, "\\u is followed by four hexadecimal digits, as in \\u00e9");
        return 0;
    }
    *out = first;
    if (first < 0xd800 || first > 0xdfff) {
        return 6;
    }
    if (first < 0xdc00 && s[6] == '\\' && s[7] == 'u' && hex4(s + 8, reader->end, &second) &&
        second >= 0xdc00 && second <= 0xdfff) {
        *out = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        return 12;
    }
    weir__read_fail(reader, s,
                    "%.6s is half of a surrogate pair without its other half: no character", s);
    return 0;
}

static bool decode(weir__reader *reader, const char *s, const char *end, weir__text *out)
{
    char *text = weir__document_memory(reader->document, (size_t)(end - s) + 1);
    if (text == NULL) {
        reader->over = true;
        return false;
    }
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    size_t used = 0;
    while (s < end) {
        if (*s != '\\') {
            text[used++] = *s++;
            continue;
        }
        const char *known = s[1] != '\0' ? strchr(from, s[1]) : NULL;
        if (known != NULL) {
            text[used++] = to[known - from];
            s += 2;
        } else if (s[1] == 'u') {
            uint32_t character;
            const size_t length = weir__scan_unicode(reader, s, &character);
            if (length == 0) {
                return false;
            }
            used += weir__utf8_put(text + used, character);
            s += length;
        } else {
            const weir__shown shown = weir__read_shown(reader, s + 1);
            weir__read_fail(
                reader, s,
                "a backslash before %s means nothing: escapes are \\\" \\\\ \\/ \\b \\f "
                "\\n \\r \\t \\uXXXX; write \\\\ for a backslash",
                shown.text);
            return false;
        }
    }
    *out = (weir__text){ text, used };
    return true;
}

/* JSON takes these as they are, the reference of HOCON does not. */
static bool is_high_control(const char *s)
{
    const unsigned char c = (unsigned char)s[0];
    return c == 0x7f || (c == 0xc2 && (unsigned char)s[1] < 0xa0);
}

static bool scan_single(weir__reader *reader, weir__text *out)
{
    const char *start = reader->at + 1, *s = start;
    bool escapes = false;
    for (;; s++) {
        const unsigned char c = (unsigned char)*s;
        if (c == '"') {
            break;
        }
        if (c == '\\') {
            escapes = true;
            s += s[1] != '\n' && s + 1 < reader->end ? 1 : 0;
        } else if (s >= reader->end) {
            const weir__origin origin = weir__read_origin(reader, reader->at);
            weir__read_fail(reader, s, "the string that begins at column %u has no closing '\"'",
                            origin.column);
            return false;
        } else if (c == '\n') {
            const weir__origin origin = weir__read_origin(reader, reader->at);
            reader->at = s;
            weir__read_fail(
                reader, s,
                "the string that begins at column %u does not end in its line: close it "
                "with '\"', write \\n for a new line, or use \"\"\"three quotes\"\"\"",
                origin.column);
            return false;
        } else if (c < 0x20 || (!reader->json && is_high_control(s))) {
            weir__read_fail(reader, s,
                            "a control character may not stand in a string as it is: write \\u%04x",
                            c == 0xc2 ? (unsigned char)s[1] : c);
            return false;
        }
    }
    *out = (weir__text){ start, (size_t)(s - start) };
    if (escapes && !decode(reader, start, s, out)) {
        return false;
    }
    reader->at = s + 1;
    return true;
}

static bool scan_triple(weir__reader *reader, weir__text *out)
{
    const weir__origin opened = weir__read_origin(reader, reader->at);
    const char *start = reader->at + 3, *s = start;
    for (;; s++) {
        if (s >= reader->end) {
            reader->at = s;
            weir__read_fail(reader, s,
                            "the text that begins with \"\"\" at %u:%u is not closed by \"\"\"",
                            opened.line, opened.column);
            return false;
        }
        if (*s == '\n') {
            reader->line++;
            reader->line_start = s + 1;
        } else if (s[0] == '"' && s[1] == '"' && s[2] == '"') {
            break;
        }
    }
    while (s[3] == '"') {
        s++; /* more than three: the last three close it */
    }
    *out = (weir__text){ start, (size_t)(s - start) };
    reader->at = s + 3;
    return true;
}

bool weir__scan_quoted(weir__reader *reader, weir__text *out)
{
    if (!reader->json && reader->at[1] == '"' && reader->at[2] == '"') {
        return scan_triple(reader, out);
    }
    return scan_single(reader, out);
}
