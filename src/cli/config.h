/*
 * cli/config.h - the subcommands of `weir config`, and what they share: reading files of any kind
 * into one document, and telling what is wrong with them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CLI_CONFIG_H
#define WEIR_CLI_CONFIG_H

#include "hocon/hocon.h"

/* Each is one row of the table in config.c; argv[0] is the name, the answer an exit status. */
int weir__config_render(int argc, char **argv);
int weir__config_get(int argc, char **argv);

/* One layer more: YAML if the name ends in .yaml or .yml, standard input if it is "-", else what
 * weir__hocon_add_file makes of it. False: see the problems. */
bool weir__config_add(weir__hocon *document, const char *file, weir__problems *problems);

/* Files, later ones over earlier ones, and over all of them settings as behind -D; then resolved.
 * NULL: see the problems. */
weir__tree *weir__config_read(char *const *files, size_t file_count, char *const *settings,
                              size_t setting_count, weir__problems *problems);

/* All that was found, in order, to stderr. */
void weir__config_tell(const char *program, weir__problems *problems);

#endif /* WEIR_CLI_CONFIG_H */
