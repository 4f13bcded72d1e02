/*
 * cli/config_diff.c - `weir config diff`: what two files make different, in effect.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/command.h"
#include "cli/config_settings.h"
#include "cli/usage.h"
#include "settings/changes.h"

enum { COLUMN = 56 };

static const char program[] = "weir config diff";

static const char help[] =
    "usage: weir config diff A B [-D KEY=VALUE ...]\n"
    "\n"
    "Compares what two files mean, not how they are written: 1000ms is 1s. Prints each setting\n"
    "that differs, as it is with A (-) and with B (+), and where it came from.\n"
    "\n"
    "options:\n"
    "  -D, --define KEY=VALUE  a setting over both files\n"
    "      --no-environment    do not look at WEIR__... and other variables\n"
    "  -h, --help              show this text\n"
    "\n"
    "exit status: 0 no difference, 1 differences, as diff(1); 2 wrong usage or configuration\n";

static void print_side(char sign, const char *path, const char *value, const char *from)
{
    if (value != NULL) {
        const size_t length = strlen(path) + 3 + strlen(value);
        printf("%c %s = %s%*s # %s\n", sign, path, value,
               length < COLUMN ? (int)(COLUMN - length) : 0, "", from);
    }
}

static int compare(const weir_config *a, const weir_config *b)
{
    weir__changes changes;
    int status = WEIR__EXIT_USAGE;
    if (!weir__changes_find(&changes, weir__allocator_default(), a, b)) {
        fprintf(stderr, "%s: out of memory\n", program);
    } else {
        for (size_t i = 0; i < changes.count; i++) {
            const weir__change *change = &changes.items[i];
            print_side('-', change->path, change->before, change->before_from);
            print_side('+', change->path, change->after, change->after_from);
        }
        status = changes.count > 0 ? WEIR__EXIT_FAILED : WEIR__EXIT_OK;
    }
    weir__changes_close(&changes);
    return status;
}

static weir_config *load(const weir__config_line *line, size_t i)
{
    const char *const file[] = { line->files[i], NULL };
    weir__config_line one = *line;
    one.files = file;
    one.file_count = 1;
    return weir__config_line_load(&one, program);
}

int weir__config_diff_run(int argc, char **argv)
{
    int status = WEIR__EXIT_USAGE;
    weir__config_line line = { .settings = calloc((size_t)argc + 1, sizeof(char *)) };
    if (line.settings == NULL) {
        fprintf(stderr, "%s: out of memory\n", program);
        return WEIR__EXIT_USAGE;
    }
    if (weir__config_line_read(&line, program, help, "Dhe", argc, argv, &status)) {
        if (line.file_count != 2) {
            status = weir__usage_error(program, "needs two files, not %zu", line.file_count);
        } else {
            weir_config *a = load(&line, 0), *b = load(&line, 1);
            status = WEIR__EXIT_USAGE;
            if (a != NULL && b != NULL && weir__config_line_tell(a, false) == 0 &&
                weir__config_line_tell(b, false) == 0) {
                status = compare(a, b);
            }
            weir__config_line_unload(a);
            weir__config_line_unload(b);
        }
    }
    free(line.settings);
    return status;
}
