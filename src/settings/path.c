/*
 * settings/path.c - see path.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "settings/path.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static void add(weir__path *path, const char *text, size_t length)
{
    const size_t room = sizeof(path->text) - 1 - path->length;
    if (length > room) {
        memcpy(path->text + path->length, text, room);
        path->length = sizeof(path->text) - 1;
        memcpy(path->text + path->length - 3, "...", 3);
    } else {
        memcpy(path->text + path->length, text, length);
        path->length += length;
    }
    path->text[path->length] = '\0';
}

void weir__path_begin(weir__path *path, const char *text)
{
    path->length = 0;
    add(path, text, strlen(text));
}

static bool is_plain(const char *name)
{
    const char *c = name;
    for (; isalnum((unsigned char)*c) != 0 || *c == '-' || *c == '_'; c++) {
    }
    return c != name && *c == '\0';
}

void weir__path_name(weir__path *path, const char *name)
{
    if (path->length > 0) {
        add(path, ".", 1);
    }
    if (is_plain(name)) {
        add(path, name, strlen(name));
        return;
    }
    add(path, "\"", 1);
    for (const char *c = name; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') {
            add(path, "\\", 1);
        }
        add(path, c, 1);
    }
    add(path, "\"", 1);
}

void weir__path_index(weir__path *path, size_t index)
{
    char text[32];
    const int length = snprintf(text, sizeof(text), "[%zu]", index);
    add(path, text, (size_t)length);
}

void weir__path_cut(weir__path *path, size_t length)
{
    path->length = length;
    path->text[length] = '\0';
}
