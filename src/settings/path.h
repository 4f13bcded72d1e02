/*
 * settings/path.h - the path of a key, as it stands in messages: weir.engine.threads[2].name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SETTINGS_PATH_H
#define WEIR_SETTINGS_PATH_H

#include <stddef.h>

/* What does not fit is cut, and ends with "...". */
typedef struct weir__path {
    size_t length;
    char text[512];
} weir__path;

void weir__path_begin(weir__path *path, const char *text);
/* One name more, in quotes if it needs them. */
void weir__path_name(weir__path *path, const char *name);
void weir__path_index(weir__path *path, size_t index); /* [2] */
/* Back to a length that it had. */
void weir__path_cut(weir__path *path, size_t length);

#endif /* WEIR_SETTINGS_PATH_H */
