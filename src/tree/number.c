/*
 * tree/number.c - scans numbers, and multiplies them digit by digit: "0.3 kB" is 300 bytes, not the
 * 299 that a double would make of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* strtod_l: a program's locale may write 1,5 */
#include "tree/number.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

static const int64_t exponent_max = 1000000000;

/* --- white space ------------------------------------------------------------------------------ */

/* The length of the white space at `s`: that of Unicode, no-break spaces, the byte order mark. */
static size_t space_length(const unsigned char *s, size_t left)
{
    if (s[0] == ' ' || (s[0] >= 0x09 && s[0] <= 0x0d) || (s[0] >= 0x1c && s[0] <= 0x1f)) {
        return 1;
    }
    if (left >= 2 && s[0] == 0xc2 && s[1] == 0xa0) {
        return 2;
    }
    if (left < 3 || s[0] < 0xe1) {
        return 0;
    }
    const uint32_t c = (s[0] & 0x0fu) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu);
    const bool space = c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
                       c == 0x202f || c == 0x205f || c == 0x3000 || c == 0xfeff;
    return s[0] < 0xf0 && space ? 3 : 0;
}

weir__text weir__text_trim(weir__text text)
{
    const unsigned char *s = (const unsigned char *)text.bytes;
    size_t from = 0, to = text.length, step;
    while (from < to && (step = space_length(s + from, to - from)) != 0) {
        from += step;
    }
    for (;;) {
        const size_t before = to;
        for (step = 1; step <= 3 && step <= to - from; step++) {
            if (space_length(s + to - step, step) == step) {
                to -= step;
                break;
            }
        }
        if (to == before) {
            return (weir__text){ .bytes = text.bytes + from, .length = to - from };
        }
    }
}

/* --- scanning --------------------------------------------------------------------------------- */

typedef struct cursor {
    const char *at, *end;
} cursor;

static bool is_digit(char c, bool hexadecimal)
{
    return (c >= '0' && c <= '9') ||
           (hexadecimal && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')));
}

static bool take(cursor *c, char lower)
{
    if (c->at == c->end || (*c->at | 0x20) != lower) {
        return false;
    }
    c->at++;
    return true;
}

static bool take_sign(cursor *c)
{
    const bool negative = c->at < c->end && *c->at == '-';
    c->at += negative || (c->at < c->end && *c->at == '+') ? 1 : 0;
    return negative;
}

static weir__text take_digits(cursor *c, bool hexadecimal)
{
    const char *from = c->at;
    while (c->at < c->end && is_digit(*c->at, hexadecimal)) {
        c->at++;
    }
    return (weir__text){ .bytes = from, .length = (size_t)(c->at - from) };
}

/* False: no digit. What is beyond the bound is at it: nothing but zero is that small or large. */
static bool take_exponent(cursor *c, int64_t *out)
{
    const bool negative = take_sign(c);
    const weir__text digits = take_digits(c, false);
    int64_t value = 0;
    for (size_t i = 0; i < digits.length && value < exponent_max; i++) {
        value = value * 10 + (digits.bytes[i] - '0');
    }
    value = value > exponent_max ? exponent_max : value;
    *out = negative ? -value : value;
    return digits.length > 0;
}

bool weir__number_scan(const char *bytes, size_t length, weir__number *out)
{
    cursor c = { .at = bytes, .end = bytes + length };
    while (c.at < c.end && (unsigned char)*c.at <= ' ') {
        c.at++;
    }
    while (c.end > c.at && (unsigned char)c.end[-1] <= ' ') {
        c.end--;
    }
    *out = (weir__number){ .negative = take_sign(&c) };
    out->unsigned_text = c.at;
    if (c.end - c.at > 2 && c.at[0] == '0' && (c.at[1] | 0x20) == 'x') {
        out->hexadecimal = true;
        c.at += 2;
    }
    out->before = take_digits(&c, out->hexadecimal);
    out->whole = c.at == c.end;
    if (c.at < c.end && *c.at == '.') {
        c.at++;
        out->after = take_digits(&c, out->hexadecimal);
    }
    if (out->before.length + out->after.length == 0) {
        return false;
    }
    if (take(&c, out->hexadecimal ? 'p' : 'e')) {
        if (!take_exponent(&c, &out->exponent)) {
            return false;
        }
    } else if (out->hexadecimal) {
        return false;
    }
    (void)(take(&c, 'f') || take(&c, 'd'));
    return c.at == c.end;
}

bool weir__number_double(const weir__number *number, double *out)
{
    /* The C library's own "C" locale is always there: no memory is needed for it. */
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double value = plain != (locale_t)0 ? strtod_l(number->unsigned_text, NULL, plain)
                                        : strtod(number->unsigned_text, NULL);
    if (plain != (locale_t)0) {
        freelocale(plain);
    }
    *out = number->negative ? -value : value;
    return isfinite(value);
}

/* --- arithmetic ------------------------------------------------------------------------------- */

/* The digits before and behind the point, as if they were one text. */
static unsigned digit(const weir__number *number, size_t i)
{
    const size_t before = number->before.length;
    return (unsigned)((i < before ? number->before.bytes[i] : number->after.bytes[i - before]) -
                      '0');
}

/* floor(0.ddd * unit), from the last digit to the first: what a step cuts off could not have
 * reached the whole part of the next. */
static weir__wide fraction_times(const weir__number *number, size_t from, uint64_t zeros,
                                 weir__wide unit)
{
    weir__wide sum = 0;
    for (size_t i = number->before.length + number->after.length; i > from; i--) {
        sum = (sum + digit(number, i - 1) * unit) / 10;
    }
    for (; zeros > 0 && sum > 0; zeros--) {
        sum /= 10;
    }
    return sum;
}

bool weir__number_times(const weir__number *number, weir__wide unit, uint64_t most, uint64_t *out)
{
    const size_t count = number->before.length + number->after.length;
    /* Digits before this place are the whole part; it may lie before the first, or behind the
     * last. */
    const int64_t point = (int64_t)number->before.length + number->exponent;
    const weir__wide limit = most;
    weir__wide whole = 0;
    for (int64_t i = 0; i < point && (i < (int64_t)count || whole > 0); i++) {
        whole = whole * 10 + (i < (int64_t)count ? digit(number, (size_t)i) : 0);
        if (whole > limit) {
            return false;
        }
    }
    if (whole > 0 && unit > limit / whole) {
        return false;
    }
    weir__wide sum = whole * unit;
    if (point < (int64_t)count) {
        sum += fraction_times(number, point > 0 ? (size_t)point : 0,
                              point < 0 ? (uint64_t)-point : 0, unit);
    }
    *out = (uint64_t)sum;
    return sum <= limit;
}
