/*
 * cli/new_templates.h - the files that `weir new` writes. In their texts @NAME@ stands for the name
 * that was given, @ID@ for the same as C has it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CLI_NEW_TEMPLATES_H
#define WEIR_CLI_NEW_TEMPLATES_H

#include <stdbool.h>

typedef struct weir__template {
    const char *path; /* below the new folder */
    bool executable;
    const char *text;
} weir__template;

/* Each ends with a row whose path is NULL. */
extern const weir__template weir__plugin_templates[];
extern const weir__template weir__app_templates[];

#endif /* WEIR_CLI_NEW_TEMPLATES_H */
