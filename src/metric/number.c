/*
 * metric/number.c - numbers as text, the same in every locale.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "metric/table.h"

/* Digits of `value` up to `end`; returns where they begin. */
static char *put_digits(char *end, uint64_t value)
{
    do {
        *--end = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    return end;
}

static bool put_integer(weir__textbuf *out, const weir__number *n)
{
    char text[24];
    char *end = text + sizeof(text);
    const bool below = n->kind != WEIR__NUMBER_UNSIGNED && (int64_t)n->bits < 0;
    char *begin = put_digits(end, below ? 0 - n->bits : n->bits);
    if (below) {
        *--begin = '-';
    }
    return weir__textbuf_append(out, begin, (size_t)(end - begin));
}

/* Exact, in nine places, without the zeros at their end. */
static bool put_seconds(weir__textbuf *out, const weir__number *n)
{
    char text[40];
    char *end = text + sizeof(text);
    const bool below = (int64_t)n->bits < 0;
    const uint64_t ns = below ? 0 - n->bits : n->bits;
    uint64_t rest = ns % (uint64_t)WEIR_S;
    char *begin = end;
    if (rest > 0) {
        uint32_t places = 9;
        while (rest % 10 == 0) {
            rest /= 10;
            places--;
        }
        begin = put_digits(end, rest);
        while (end - begin < (int)places) {
            *--begin = '0';
        }
        *--begin = '.';
    }
    begin = put_digits(begin, ns / (uint64_t)WEIR_S);
    if (below) {
        *--begin = '-';
    }
    return weir__textbuf_append(out, begin, (size_t)(end - begin));
}

static bool put_real(weir__textbuf *out, double value)
{
    char text[48];
    (void)snprintf(text, sizeof(text), "%.15g", value);
    for (char *c = text; *c != '\0'; c++) { /* the locale's point may be a comma */
        if (strchr("0123456789+-eE", *c) == NULL) {
            *c = '.';
        }
    }
    return weir__textbuf_append(out, text, strlen(text));
}

bool weir__number_json(weir__textbuf *out, const weir__number *number)
{
    if (number->kind != WEIR__NUMBER_REAL) {
        return put_integer(out, number);
    }
    if (!(number->real >= -DBL_MAX && number->real <= DBL_MAX)) {
        return weir__textbuf_append(out, "null", 4);
    }
    return put_real(out, number->real);
}

bool weir__number_prometheus(weir__textbuf *out, const weir__number *number)
{
    if (number->kind == WEIR__NUMBER_NS) {
        return put_seconds(out, number);
    }
    if (number->kind != WEIR__NUMBER_REAL) {
        return put_integer(out, number);
    }
    if (isnan(number->real)) {
        return weir__textbuf_append(out, "NaN", 3);
    }
    if (isinf(number->real)) {
        return weir__textbuf_append(out, number->real > 0 ? "+Inf" : "-Inf", 4);
    }
    return put_real(out, number->real);
}

double weir__number_value(const weir__number *number)
{
    switch (number->kind) {
    case WEIR__NUMBER_UNSIGNED:
        return (double)number->bits;
    case WEIR__NUMBER_SIGNED:
        return (double)(int64_t)number->bits;
    case WEIR__NUMBER_NS:
        return (double)(int64_t)number->bits / (double)WEIR_S;
    default:
        return number->real;
    }
}
