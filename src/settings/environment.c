/*
 * settings/environment.c - WEIR__ENGINE__DEFAULT_QUEUE_SIZE is weir.engine.default-queue-size.
 *
 * Two underscores are the dot between names, one is the hyphen within a name, letters become small.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "settings/layers.h"

bool weir__environment_path(const char *name, char *out, size_t size)
{
    static const char prefix[] = "WEIR__";
    size_t used = 0;
    out[0] = '\0';
    if (strncmp(name, prefix, sizeof(prefix) - 1) != 0) {
        return false;
    }
    for (const char *c = name; *c != '\0';) {
        const bool dot = c[0] == '_' && c[1] == '_';
        /* A name between dots that is empty, or a hyphen at its edge, is a slip. */
        const bool edge = used == 0 || out[used - 1] == '.';
        if (used + 2 >= size || ((dot || *c == '_') && edge) || (dot && c[2] == '\0') ||
            (*c == '_' && c[1] == '\0')) {
            snprintf(out, size, "is no key: names between __ are made of letters, digits and _");
            return false;
        }
        if (dot) {
            out[used++] = '.';
            c += 2;
        } else if (*c == '_') {
            out[used++] = '-';
            c++;
        } else if (isalnum((unsigned char)*c) != 0) {
            out[used++] = (char)tolower((unsigned char)*c++);
        } else {
            snprintf(out, size, "is no key: names between __ are made of letters, digits and _");
            return false;
        }
    }
    out[used] = '\0';
    return true;
}
