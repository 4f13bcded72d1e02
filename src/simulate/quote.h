/*
 * simulate/quote.h - words of a command line as a shell wants them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SIMULATE_QUOTE_H
#define WEIR_SIMULATE_QUOTE_H

#include <stddef.h>

/* Appends the word to the line in `out`, in quotes if need be. What does not fit is left out. */
void weir__simulate_quote(char *out, size_t size, const char *word);

#endif /* WEIR_SIMULATE_QUOTE_H */
