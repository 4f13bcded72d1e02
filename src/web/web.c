/*
 * web/web.c - see web.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "web/web.h"

#include <string.h>

const weir__web_file *weir__web_find(const char *path)
{
    for (size_t i = 0; i < weir__web_file_count; i++) {
        if (strcmp(weir__web_files[i].path, path) == 0) {
            return &weir__web_files[i];
        }
    }
    return NULL;
}
