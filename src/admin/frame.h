/*
 * admin/frame.h - a request as JSON, {"words": ["processors", "list"]}, to words and on to a
 * command: what both ways in have in common.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ADMIN_FRAME_H
#define WEIR_ADMIN_FRAME_H

#include "weir/admin.h"

#define WEIR__FRAME_WORDS_MAX 64u
#define WEIR__FRAME_MAX ((size_t)320 << 10) /* bytes of one; 64 words of 4 KiB fit */

typedef struct weir__frame {
    void *document; /* that the words lie in */
    const char *words[WEIR__FRAME_WORDS_MAX];
    size_t count;
} weir__frame;

/* False: it is no request, and `why` says so. Else weir__frame_close is due. */
bool weir__frame_read(const char *bytes, size_t size, weir__frame *out, char *why, size_t why_size);
void weir__frame_close(weir__frame *frame);

/* {"command": "", "status": "...", "rows": [], "error": "..."}: cut at `size`. */
void weir__frame_error(weir_status status, const char *error, char *out, size_t size);

#endif /* WEIR_ADMIN_FRAME_H */
