/*
 * settings/show.h - the effective settings, one by one, each with where it came from.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SETTINGS_SHOW_H
#define WEIR_SETTINGS_SHOW_H

#include "settings/config.h"

typedef struct weir__shown {
    const char *path;
    const char *value; /* as a file has it, in one form whatever was written; "***" of a secret */
    const char *compared; /* the same, but of a secret the secret: never to be shown */
    bool is_json;         /* JSON reads the value as it is; else it is a text there */
    weir__origin origin;
} weir__shown;

/* In the order of the tables. Everything is valid during the visit, which must not read the config
 * in turn. False: the visitor said so, or no memory. */
bool weir__show(const weir_config *config, bool (*visit)(void *context, const weir__shown *shown),
                void *context);

/* "app.conf:3:5", "built-in", "environment WEIR__ENGINE__NAME": cut at `size`. */
void weir__origin_text(weir__origin origin, char *out, size_t size);

#endif /* WEIR_SETTINGS_SHOW_H */
