/*
 * cli/config_check.c - `weir config check`: everything that is wrong with a configuration.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "cli/command.h"
#include "cli/config_settings.h"
#include "cli/usage.h"

static const char program[] = "weir config check";

static const char help[] =
    "usage: weir config check [FILE ...] [-D KEY=VALUE ...]\n"
    "\n"
    "Loads files as an engine would, later ones over earlier ones, and says all that is\n"
    "wrong, each with file, line, column, key, and what would be right. Without a file:\n"
    "$WEIR_CONFIG, else ./application.conf, else ./weir.conf, else the built-in reference.\n"
    "- alone is standard input.\n"
    "\n"
    "options:\n"
    "  -D, --define KEY=VALUE  a setting over all files\n"
    "      --strict            warnings count as errors\n"
    "      --no-environment    do not look at WEIR__... and other variables\n"
    "  -h, --help              show this text\n"
    "\n"
    "exit status: 0 it can be used, 2 it cannot, or wrong usage\n";

/* "app.conf, more.conf: " */
static void print_names(FILE *out, const weir__config_line *line)
{
    for (size_t i = 0; i < line->file_count; i++) {
        fprintf(out, "%s%s", i > 0 ? ", " : "", line->files[i]);
    }
    fputs(line->file_count > 0 ? ": " : "configuration: ", out);
}

static void sum_up(const weir__config_line *line, const weir_config *config, size_t bad)
{
    size_t warnings = 0;
    for (size_t i = 0; i < config->problems.count; i++) {
        warnings += config->problems.items[i].severity == WEIR__WARNING;
    }
    FILE *out = bad == 0 ? stdout : stderr;
    print_names(out, line);
    const size_t errors = config->problems.errors;
    if (errors > 0) {
        fprintf(out, "%zu error%s", errors, errors == 1 ? "" : "s");
    } else if (bad == 0) {
        fputs("ok", out);
    }
    if (warnings > 0) {
        fprintf(out, "%s%zu warning%s", errors > 0 || bad == 0 ? ", " : "", warnings,
                warnings == 1 ? "" : "s");
    }
    fputs("\n", out);
}

int weir__config_check_run(int argc, char **argv)
{
    int status = WEIR__EXIT_USAGE;
    weir__config_line line = { .settings = calloc((size_t)argc + 1, sizeof(char *)) };
    if (line.settings == NULL) {
        fprintf(stderr, "%s: out of memory\n", program);
        return WEIR__EXIT_FAILED;
    }
    if (weir__config_line_read(&line, program, help, "Dhse", argc, argv, &status)) {
        weir_config *config = weir__config_line_load(&line, program);
        status = WEIR__EXIT_FAILED;
        if (config != NULL) {
            const size_t bad = weir__config_line_tell(config, line.strict);
            sum_up(&line, config, bad);
            status = bad == 0 ? WEIR__EXIT_OK : WEIR__EXIT_USAGE;
            weir__config_line_unload(config);
        }
    }
    free(line.settings);
    return status;
}
