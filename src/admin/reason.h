/*
 * admin/reason.h - an errno in words, from any thread. For files that define _GNU_SOURCE.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ADMIN_REASON_H
#define WEIR_ADMIN_REASON_H

#include <string.h>

static inline const char *weir__reason(int error)
{
    const char *text = strerrordesc_np(error);
    return text != NULL ? text : "unknown error";
}

#endif /* WEIR_ADMIN_REASON_H */
