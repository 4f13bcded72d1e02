/*
 * tree/number.h - a number as text: what it is worth, to the last digit.
 *
 * The reference implementation of HOCON leaves numbers in strings to its language, so that the
 * forms of that one count: "+5", ".5", "5.", "1e3", "1.5f", "0x1.8p3", with blanks around them.
 * What is not finite ("NaN", "Infinity", 1e400) is no number here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TREE_NUMBER_H
#define WEIR_TREE_NUMBER_H

#include "tree/tree.h"

__extension__ typedef unsigned __int128 weir__wide;

/* Its parts as they were written. */
typedef struct weir__number {
    bool negative;
    bool whole;                /* digits only: no point, no exponent, no suffix */
    bool hexadecimal;          /* the digits and the exponent are for the C library */
    weir__text before;         /* the digits before the point, may be none */
    weir__text after;          /* and behind it; not none both */
    int64_t exponent;          /* of ten, within +-1,000,000,000 */
    const char *unsigned_text; /* from the first digit or the point on */
} weir__number;

/* All of the text must be the number, but for blanks around it. */
bool weir__number_scan(const char *bytes, size_t length, weir__number *out);
/* False: there is no such double. */
bool weir__number_double(const weir__number *number, double *out);
/* The whole part of the number without its sign, times `unit`, without any rounding on the way.
 * False: more than `most`. Decimal numbers only. */
bool weir__number_times(const weir__number *number, weir__wide unit, uint64_t most, uint64_t *out);

/* White space as HOCON sees it, cut off at both ends. */
weir__text weir__text_trim(weir__text text);

#endif /* WEIR_TREE_NUMBER_H */
