/*
 * base/error.h - filling a caller's weir_error.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BASE_ERROR_H
#define WEIR_BASE_ERROR_H

#include "weir/error.h"

/* True when an earlier call failed: the sticky rule says to do nothing then. */
static inline bool weir__error_is_set(const weir_error *error)
{
    return error != NULL && error->status != WEIR_OK;
}

/* Sets it, unless something is set already; returns `status`. `error` may be NULL. */
__attribute__((format(printf, 4, 5))) weir_status
weir__error_at(weir_error *error, weir_status status, const char *path, const char *format, ...);

/* The same with the errno behind it. */
__attribute__((format(printf, 4, 5))) weir_status
weir__error_system(weir_error *error, int os_errno, const char *path, const char *format, ...);

/* "out of memory" for `path`; returns E_NOMEM. */
weir_status weir__error_memory(weir_error *error, const char *path);

#endif /* WEIR_BASE_ERROR_H */
