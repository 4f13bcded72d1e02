/*
 * base/nearest.h - which of the known words somebody probably meant.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BASE_NEAREST_H
#define WEIR_BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/* How many letters are wrong, missing, too many or swapped. Capitals, hyphens and underscores make
 * no difference: queueSize is queue-size. Words beyond 64 letters are far from everything
 * (SIZE_MAX). */
size_t weir__distance(const char *a, const char *b);

/* True: `distance` is small enough for one to be a slip of the other: at most a third of the longer
 * one's letters, and never more than three. */
bool weir__distance_is_near(size_t distance, const char *a, const char *b);

#endif /* WEIR_BASE_NEAREST_H */
