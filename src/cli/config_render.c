/*
 * cli/config_render.c - `weir config render`: the resolved tree as JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cli/command.h"
#include "cli/config.h"
#include "cli/usage.h"
#include "tree/write.h"

static const char program[] = "weir config render";

static const char help[] =
    "usage: weir config render FILE ... [-D KEY=VALUE ...]\n"
    "\n"
    "Reads the files, later ones over earlier ones, resolves their substitutions over\n"
    "the whole, and prints the tree as JSON with sorted keys. What a file is, its name\n"
    "says: .json, .properties, .yaml or .yml; anything else is HOCON. `-` is HOCON on\n"
    "standard input.\n"
    "\n"
    "options:\n"
    "  -D, --define KEY=VALUE  a value over all files; may be given more than once\n"
    "  -h, --help              show this text\n"
    "\n"
    "Numbers are printed as they were written. All errors that can be found are told\n"
    "on stderr, one a line: FILE:LINE:COLUMN: KEY: what is wrong\n"
    "\n"
    "exit status: 0 success, 1 the output could not be written, 2 wrong usage or\n"
    "configuration\n";

typedef struct options {
    char **settings; /* what stood behind -D, in argv's memory */
    size_t setting_count;
    bool help;
} options;

/* WEIR__EXIT_OK, or WEIR__EXIT_USAGE with the reason on stderr. */
static int parse_options(int argc, char **argv, options *o)
{
    static const struct option known[] = { { "define", required_argument, NULL, 'D' },
                                           { "help", no_argument, NULL, 'h' },
                                           { NULL, 0, NULL, 0 } };
    opterr = 0;
    for (int answer; (answer = getopt_long(argc, argv, ":hD:", known, NULL)) != -1;) {
        switch (answer) {
        case 'D':
            o->settings[o->setting_count++] = optarg;
            break;
        case 'h':
            o->help = true;
            break;
        default:
            return weir__usage_option_error(program, answer, argv, known);
        }
    }
    if (optind == argc && !o->help) {
        return weir__usage_error(program, "which file? as in: weir config render app.conf");
    }
    return WEIR__EXIT_OK;
}

static bool to_stdout(void *context, const char *bytes, size_t length)
{
    (void)context;
    return fwrite(bytes, 1, length, stdout) == length;
}

static int render(char *const *files, size_t count, const options *o)
{
    weir__problems problems = { .allocator = weir__allocator_default() };
    weir__tree *tree = weir__config_read(files, count, o->settings, o->setting_count, &problems);
    int status = WEIR__EXIT_USAGE;
    if (tree != NULL) {
        status =
            weir__write_json(tree, tree->root, to_stdout, NULL) ? WEIR__EXIT_OK : WEIR__EXIT_FAILED;
        if (status != WEIR__EXIT_OK && ferror(stdout) == 0) {
            weir__problems_memory(&problems);
        }
    }
    weir__config_tell(program, &problems);
    weir__tree_destroy(tree);
    weir__problems_close(&problems);
    return status;
}

int weir__config_render(int argc, char **argv)
{
    options o = { .settings = calloc((size_t)argc, sizeof(char *)) };
    if (o.settings == NULL) {
        fprintf(stderr, "%s: out of memory\n", program);
        return WEIR__EXIT_FAILED;
    }
    int status = parse_options(argc, argv, &o);
    if (status == WEIR__EXIT_OK && o.help) {
        fputs(help, stdout);
    } else if (status == WEIR__EXIT_OK) {
        status = render(argv + optind, (size_t)(argc - optind), &o);
    }
    free((void *)o.settings);
    return status;
}
