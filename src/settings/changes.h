/*
 * settings/changes.h - what is different between two configurations, key by key.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SETTINGS_CHANGES_H
#define WEIR_SETTINGS_CHANGES_H

#include "settings/config.h"

/* One key whose effective value is another. Texts are copies; secrets are shown as ***, and compare
 * by what they are. */
typedef struct weir__change {
    const char *path;
    const char *before, *after; /* NULL: the key is not there */
    const char *before_from, *after_from;
} weir__change;

typedef struct weir__changes {
    weir__tree *memory; /* of all texts; what is in it lies apart from both configurations */
    weir__change *items;
    size_t count;
} weir__changes;

/* In the order of the second one's settings; what is gone comes last. False: no memory. */
bool weir__changes_find(weir__changes *changes, const weir_allocator *allocator,
                        const weir_config *before, const weir_config *after);
void weir__changes_close(weir__changes *changes);

#endif /* WEIR_SETTINGS_CHANGES_H */
