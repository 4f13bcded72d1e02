/*
 * weir/error.h - what went wrong on the control plane, in words, once.
 *
 * The caller owns the struct; weir keeps no per-thread error, and sets it with negative statuses
 * only. It is sticky: a call that is given one whose status is not 0 does nothing and answers that
 * status. So a whole set-up is written straight down and checked once, and the first error is the
 * one shown:
 *
 *     weir_error error = WEIR_ERROR_INIT;
 *     weir_engine *engine = weir_engine_create(NULL, &error);
 *     weir_processor p = weir_processor_add(engine, WEIR_PROCESSOR(.handler = on_event), &error);
 *     weir_engine_start(engine, &error);
 *     if (error.status != 0) return weir_error_print(&error);
 *
 * Every function that takes a weir_error takes it last, and NULL is allowed: then the returned
 * object or handle is NULL or zero, or the returned status says it. Data-plane calls take none:
 * they return a status that the compiler makes you look at. Stop and destroy never look at an
 * error.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ERROR_H
#define WEIR_ERROR_H

#include "weir/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fixed size, no pointer inside: copy it, keep it, send it. Long texts end in "...". */
typedef struct weir_error {
    size_t struct_size;
    weir_status status; /* 0: nothing happened yet */
    int32_t os_errno;   /* 0, or the errno that caused it */
    uint32_t line;      /* of `file`, 0: none */
    uint32_t column;    /* in `line`, 0: none */
    char file[128];     /* a file that was read, "" if none */
    char path[128];     /* the field or component, as in "weir_processor_options.mailbox_max" */
    char text[256];     /* what is wrong, then what would be right */
} weir_error;

#define WEIR_ERROR_INIT WEIR_SIZED(weir_error)

/* Any. Writes "file:line:column: path: text (WEIR_E_INVALID)" without the parts that are empty, cut
 * at `size`; returns the full length without the final zero, as snprintf does. */
WEIR_API size_t weir_error_format(const weir_error *error, char *buffer, size_t size);

/* Any. Prints that line to stderr. Returns 1, or 0 if the status is 0: fit for main's return. A
 * status that the caller put there (of a post) is printed with weir_status_text. */
WEIR_API int weir_error_print(const weir_error *error);

/* Any. Sets it, unless something is set already. Returns error->status; `status` if it is NULL. */
WEIR_API weir_status weir_error_set(weir_error *error, weir_status status, const char *path,
                                    const char *text);

#ifdef __cplusplus
}
#endif

#endif /* WEIR_ERROR_H */
