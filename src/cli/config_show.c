/*
 * cli/config_show.c - `weir config show`: the effective settings, each with where it came from.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/config_settings.h"
#include "cli/usage.h"
#include "settings/show.h"

enum { COLUMN = 56 };

static const char program[] = "weir config show";

static const char help[] =
    "usage: weir config show [FILE ...] [-D KEY=VALUE ...] [--json]\n"
    "\n"
    "Prints every setting that counts, and where it came from: a file with line and column,\n"
    "the environment, -D, or the built-in reference. Secrets are shown as ***. Without a file:\n"
    "$WEIR_CONFIG, else ./application.conf, else ./weir.conf, else the built-in reference.\n"
    "- alone is standard input.\n"
    "\n"
    "options:\n"
    "  -D, --define KEY=VALUE  a setting over all files\n"
    "      --json              as JSON\n"
    "      --no-environment    do not look at WEIR__... and other variables\n"
    "  -h, --help              show this text\n"
    "\n"
    "exit status: 0 success, 1 the job failed, 2 wrong usage or configuration\n";

static bool print_one(void *context, const weir__shown *shown)
{
    char from[400];
    (void)context;
    weir__origin_text(shown->origin, from, sizeof(from));
    const size_t length = strlen(shown->path) + 3 + strlen(shown->value);
    printf("%s = %s%*s # %s\n", shown->path, shown->value,
           length < COLUMN ? (int)(COLUMN - length) : 0, "", from);
    return true;
}

static int print_json(const weir_config *config)
{
    const size_t length = weir_config_show(config, NULL, 0);
    char *text = length > 0 ? malloc(length + 1) : NULL;
    if (text == NULL || weir_config_show(config, text, length + 1) != length) {
        fprintf(stderr, "%s: out of memory\n", program);
        free(text);
        return WEIR__EXIT_FAILED;
    }
    fputs(text, stdout);
    free(text);
    return WEIR__EXIT_OK;
}

static int show(const weir__config_line *line, const weir_config *config)
{
    if (weir__config_line_tell(config, false) > 0) {
        return WEIR__EXIT_USAGE;
    }
    if (line->json) {
        return print_json(config);
    }
    if (!weir__show(config, print_one, NULL)) {
        fprintf(stderr, "%s: out of memory\n", program);
        return WEIR__EXIT_FAILED;
    }
    return WEIR__EXIT_OK;
}

int weir__config_show_run(int argc, char **argv)
{
    int status = WEIR__EXIT_USAGE;
    weir__config_line line = { .settings = calloc((size_t)argc + 1, sizeof(char *)) };
    if (line.settings == NULL) {
        fprintf(stderr, "%s: out of memory\n", program);
        return WEIR__EXIT_FAILED;
    }
    if (weir__config_line_read(&line, program, help, "Dhje", argc, argv, &status)) {
        weir_config *config = weir__config_line_load(&line, program);
        status = config != NULL ? show(&line, config) : WEIR__EXIT_FAILED;
        weir__config_line_unload(config);
    }
    free(line.settings);
    return status;
}
