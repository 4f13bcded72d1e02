/*
 * cli/config_reference.c - `weir config reference`: every key, as a file to begin with.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/config_settings.h"
#include "cli/usage.h"
#include "server/compose.h"
#include "settings/writer.h"

static const char program[] = "weir config reference";

static const char help[] =
    "usage: weir config reference [--manual]\n"
    "\n"
    "Prints the reference configuration: every key with its type, unit, bounds, default and\n"
    "what it is for. It is what an engine has without any file.\n"
    "\n"
    "options:\n"
    "      --manual   the same as the manual page weir.conf(5)\n"
    "  -h, --help     show this text\n"
    "\n"
    "exit status: 0 success, 2 wrong usage\n";

static const char file_head[] =
    "# weir's reference configuration: every key, and the value that it has if nothing else is\n"
    "# said. Printed by `weir config reference`, made from the table of settings.\n"
    "#\n"
    "# A file of your own needs only what is to be different. Durations are written with a unit\n"
    "# (ns, us, ms, s, m, h, d; without one: milliseconds), sizes too (B, KiB, MiB, kB, MB).\n"
    "# docs/guide/configuration.md is the introduction.\n"
    "\n";

static const char manual_head[] =
    ".\\\" SPDX-License-Identifier: Apache-2.0\n"
    ".\\\" Made by `weir config reference --manual`: edit src/settings/table.c (and\n"
    ".\\\" src/server/rows.c, src/admin/options.c), then run\n"
    ".\\\" tools/config_reference.py.\n"
    ".Dd November 16, 2026\n"
    ".Dt WEIR.CONF 5\n"
    ".Os\n"
    ".Sh NAME\n"
    ".Nm weir.conf\n"
    ".Nd configuration of an engine\n"
    ".Sh DESCRIPTION\n"
    "An engine that a program makes with\n"
    ".Fn weir_config_load\n"
    "and\n"
    ".Fn weir_config_engine\n"
    "is described by files in HOCON, or in YAML for the\n"
    ".Xr weir 1\n"
    "command.\n"
    "If none is named, it is the one in the environment variable\n"
    ".Ev WEIR_CONFIG ,\n"
    "else\n"
    ".Pa application.conf ,\n"
    "else\n"
    ".Pa weir.conf\n"
    "in the working directory, else the built-in reference alone.\n"
    ".Pp\n"
    "Later layers win: the built-in reference, files in order, the environment,\n"
    "then settings of the command line\n"
    ".Pq Fl D Ar key Ns = Ns Ar value .\n"
    "Every problem is reported, with its place and what would be right; a key that\n"
    "is not listed here is an error.\n"
    ".Sh KEYS\n";

static const char manual_tail[] =
    ".Sh ENVIRONMENT\n"
    ".Bl -tag -width 4n\n"
    ".It Ev WEIR_CONFIG\n"
    "The file to read if none is named.\n"
    ".It Ev WEIR__ENGINE__DEFAULT_QUEUE_SIZE\n"
    "and others like it are settings: two underscores are the dot between names,\n"
    "one is the hyphen within a name, letters become small.\n"
    "The value is HOCON, so that a list is written\n"
    ".Ql [a, b] .\n"
    "A name that is not made of small letters, digits and hyphens cannot be written\n"
    "that way; use\n"
    ".Fl D ,\n"
    "where it may stand in quotes.\n"
    ".El\n"
    ".Sh EXAMPLES\n"
    ".Bd -literal\n"
    "weir.engine {\n"
    "  default-queue-size = 5000\n"
    "  thread-dispatcher-assignment = [[\"\"], [\"api\", \"realtime\"], [\"api\"]]\n"
    "  processors { journal { dispatcher = api, overflow = block, block-max = 200ms } }\n"
    "}\n"
    "weir.flows.sessions { dispatcher = realtime, workers = 4, policy = drop-oldest }\n"
    ".Ed\n"
    ".Sh SEE ALSO\n"
    ".Xr weir 1 ,\n"
    ".Xr libweir 3\n";

static bool print(void *context, const char *bytes, size_t length)
{
    (void)context;
    return fwrite(bytes, 1, length, stdout) == length;
}

int weir__config_reference_run(int argc, char **argv)
{
    const bool manual = argc == 2 && strcmp(argv[1], "--manual") == 0;
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(help, stdout);
        return WEIR__EXIT_OK;
    }
    if (argc > 1 && !manual) {
        return weir__usage_error(program, "takes --manual or nothing, not '%s'", argv[1]);
    }
    const weir_option_table *const page[] = { &weir__components_page, NULL };
    const weir_option_table *const *const all[] = { weir__tables, page, weir__server_tables };
    fputs(manual ? manual_head : file_head, stdout);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        (void)weir__write_reference(all[i], manual ? WEIR__REFERENCE_MANUAL : WEIR__REFERENCE_FILE,
                                    print, NULL); /* main looks whether stdout took it all */
    }
    fputs(manual ? manual_tail : "", stdout);
    return WEIR__EXIT_OK;
}
