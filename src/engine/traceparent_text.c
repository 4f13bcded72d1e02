/*
 * engine/traceparent_text.c - a trace context as text, which comes from anywhere.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "weir/trace.h"

#define TEXT_LENGTH (WEIR_TRACEPARENT_TEXT - 1u)

/* Only as the standard has them: in lower case. */
static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* False: they are no digits. *zero: all were 0. */
static bool read_bytes(const char *text, uint8_t *out, size_t count, bool *zero)
{
    *zero = true;
    for (size_t i = 0; i < count; i++) {
        const int high = digit_of(text[2 * i]);
        const int low = high >= 0 ? digit_of(text[2 * i + 1]) : -1;
        if (low < 0) {
            return false;
        }
        out[i] = (uint8_t)(high * 16 + low);
        *zero = *zero && out[i] == 0;
    }
    return true;
}

weir_status weir_traceparent_read(const char *text, size_t size, weir_traceparent *out)
{
    weir_traceparent read;
    uint8_t version;
    bool zero;
    if (text == NULL || out == NULL || size < TEXT_LENGTH || text[2] != '-' || text[35] != '-' ||
        text[52] != '-' || !read_bytes(text, &version, 1, &zero) || version == 0xff) {
        return WEIR_E_INVALID;
    }
    /* A later version may have more to say, behind another dash. */
    if (size > TEXT_LENGTH && (version == 0 || text[TEXT_LENGTH] != '-')) {
        return WEIR_E_INVALID;
    }
    if (!read_bytes(text + 3, read.trace, sizeof(read.trace), &zero) || zero ||
        !read_bytes(text + 36, read.parent, sizeof(read.parent), &zero) || zero ||
        !read_bytes(text + 53, &read.flags, 1, &zero)) {
        return WEIR_E_INVALID;
    }
    *out = read;
    return WEIR_OK;
}

void weir_traceparent_text(const weir_traceparent *from, char out[WEIR_TRACEPARENT_TEXT])
{
    static const char digits[] = "0123456789abcdef";
    char *at = out;
    const struct {
        const uint8_t *bytes;
        size_t count;
    } parts[] = { { (const uint8_t[]){ 0 }, 1 },
                  { from->trace, sizeof(from->trace) },
                  { from->parent, sizeof(from->parent) },
                  { &from->flags, 1 } };
    for (size_t p = 0; p < sizeof(parts) / sizeof(parts[0]); p++) {
        if (p > 0) {
            *at++ = '-';
        }
        for (size_t i = 0; i < parts[p].count; i++) {
            *at++ = digits[parts[p].bytes[i] >> 4];
            *at++ = digits[parts[p].bytes[i] & 15];
        }
    }
    *at = '\0';
}
