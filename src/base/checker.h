/*
 * base/checker.h - bounds and defaults of a caller's options, field by field. Every refusal names
 * the field, the value, and what would be right; after the first one nothing more is looked at.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BASE_CHECKER_H
#define WEIR_BASE_CHECKER_H

#include "weir/error.h"

#define WEIR__NAME_SIZE 256u /* of every name, its end included */

/* Where a check stands: the struct's name and the first refusal. */
typedef struct weir__checker {
    const char *owner;
    weir_error *error;
    weir_status status;
} weir__checker;

/* An unsigned field with bounds; 0 is replaced by the default. */
void weir__check_number(weir__checker *check, const char *field, uint64_t *value, uint64_t least,
                        uint64_t most, uint64_t usual);
void weir__check_number32(weir__checker *check, const char *field, uint32_t *value, uint32_t least,
                          uint32_t most, uint32_t usual);
void weir__check_span(weir__checker *check, const char *field, weir_ns *value, weir_ns least,
                      weir_ns most, weir_ns usual);
void weir__check_real(weir__checker *check, const char *field, double *value, double above,
                      double most, double usual);
void weir__check_choice(weir__checker *check, const char *field, int value, int last,
                        const char *names);
void weir__check_name(weir__checker *check, const char *field, const char *text);
void weir__check_refuse(weir__checker *check, const char *field, const char *text);
/* Begins every check: the caller's struct, of whatever age, into ours. */
weir__checker weir__check_begin(const char *owner, void *out, size_t size, const void *in,
                                weir_error *error);

#endif /* WEIR_BASE_CHECKER_H */
