/*
 * base/checker.h - bounds and defaults of a caller's options, field by field. Every refusal names
 * the field, the value, and what would be right; after the first one nothing more is looked at.
 *
 * What fits is seen in line: processors may be added by the million.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BASE_CHECKER_H
#define WEIR_BASE_CHECKER_H

#include "base/assert.h"
#include "weir/error.h"

#define WEIR__NAME_SIZE 256u /* of every name, its end included */

/* Where a check stands: the struct's name and the first refusal. */
typedef struct weir__checker {
    const char *owner;
    weir_error *error;
    weir_status status;
} weir__checker;

/* Begins every check: the caller's struct, of whatever age, into ours. */
weir__checker weir__check_begin(const char *owner, void *out, size_t size, const void *in,
                                weir_error *error);
void weir__check_refuse(weir__checker *check, const char *field, const char *text);

/* The refusals of those below. */
void weir__check_refuse_number(weir__checker *check, const char *field, uint64_t value,
                               uint64_t least, uint64_t most, uint64_t usual);
void weir__check_refuse_span(weir__checker *check, const char *field, weir_ns value, weir_ns least,
                             weir_ns most, weir_ns usual);
void weir__check_refuse_choice(weir__checker *check, const char *field, int value,
                               const char *names);
void weir__check_long_name(weir__checker *check, const char *field, const char *text);

/* An unsigned field with bounds; 0 is replaced by the default. */
static inline void weir__check_number(weir__checker *check, const char *field, uint64_t *value,
                                      uint64_t least, uint64_t most, uint64_t usual)
{
    if (*value == 0 && check->status == WEIR_OK) {
        *value = usual;
    } else if (weir__unlikely(*value < least || *value > most)) {
        weir__check_refuse_number(check, field, *value, least, most, usual);
    }
}

static inline void weir__check_number32(weir__checker *check, const char *field, uint32_t *value,
                                        uint32_t least, uint32_t most, uint32_t usual)
{
    uint64_t wide = *value;
    weir__check_number(check, field, &wide, least, most, usual);
    *value = (uint32_t)wide;
}

static inline void weir__check_span(weir__checker *check, const char *field, weir_ns *value,
                                    weir_ns least, weir_ns most, weir_ns usual)
{
    if (*value == 0 && check->status == WEIR_OK) {
        *value = usual;
    } else if (weir__unlikely(*value < least || *value > most)) {
        weir__check_refuse_span(check, field, *value, least, most, usual);
    }
}

/* More than `above`, at most `most`; 0 is replaced by the default. */
void weir__check_real(weir__checker *check, const char *field, double *value, double above,
                      double most, double usual);

/* From 0 to `last`. */
static inline void weir__check_choice(weir__checker *check, const char *field, int value, int last,
                                      const char *names)
{
    if (weir__unlikely(value < 0 || value > last)) {
        weir__check_refuse_choice(check, field, value, names);
    }
}

/* NULL, or shorter than WEIR__NAME_SIZE. */
static inline void weir__check_name(weir__checker *check, const char *field, const char *text)
{
    if (text != NULL) {
        weir__check_long_name(check, field, text);
    }
}

#endif /* WEIR_BASE_CHECKER_H */
