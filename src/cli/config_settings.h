/*
 * cli/config_settings.h - the subcommands of `weir config` that know weir's keys: check, show,
 * diff, reference.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CLI_CONFIG_SETTINGS_H
#define WEIR_CLI_CONFIG_SETTINGS_H

#include "settings/config.h"

int weir__config_check_run(int argc, char **argv);
int weir__config_show_run(int argc, char **argv);
int weir__config_diff_run(int argc, char **argv);
int weir__config_reference_run(int argc, char **argv);

/* What the three have in common on their command lines. Zeroed: nothing was given. */
typedef struct weir__config_line {
    const char *const *files; /* ends with NULL; NULL: none was named */
    size_t file_count;
    const char **settings; /* of -D; ends with NULL */
    size_t setting_count;
    bool json, strict, ignore_environment;
} weir__config_line;

/* -D, --json, --strict, --no-environment, --help, and the rest as files. True: go on. False: end
 * with *status. `settings` has room for argc + 1. */
bool weir__config_line_read(weir__config_line *line, const char *program, const char *help,
                            const char *letters, int argc, char **argv, int *status);

/* Loads, YAML too. NULL: said. What is wrong is in its problems. Ends with unload. */
weir_config *weir__config_line_load(const weir__config_line *line, const char *program);
void weir__config_line_unload(weir_config *config);

/* How: with the server's parts, a file that has components is read with the keys of their types
 * (config_compose.c); without, as any (server_none.c). */
weir_config *weir__config_line_make(const weir__request *request, weir_error *error);

/* All problems to stderr. Returns how many are errors, or warnings too if those count. */
size_t weir__config_line_tell(const weir_config *config, bool strict);

/* With the server's parts: what the config that was loaded last was composed of, which is the
 * caller's from now on, config and all. */
struct weir__composition *weir__config_line_take(weir_config *config);

#endif /* WEIR_CLI_CONFIG_SETTINGS_H */
