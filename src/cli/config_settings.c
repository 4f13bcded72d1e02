/*
 * cli/config_settings.c - command line, loading and messages of `weir config check|show|diff`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/config_settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/usage.h"
#include "connect/yaml.h"

enum { JSON = 256, STRICT, NO_ENVIRONMENT, SHOWN_MAX = 4096, INPUT_MAX = 16 * 1024 * 1024 };

/* Each command takes some of them, named by letters: j, s, e. */
static const struct option all_options[] = {
    { "define", required_argument, NULL, 'D' },
    { "help", no_argument, NULL, 'h' },
    { "json", no_argument, NULL, JSON },
    { "strict", no_argument, NULL, STRICT },
    { "no-environment", no_argument, NULL, NO_ENVIRONMENT },
};
static const char option_letters[] = "Dhjse";

static void choose_options(const char *letters, struct option *out)
{
    size_t used = 0;
    for (size_t i = 0; i < sizeof(all_options) / sizeof(all_options[0]); i++) {
        if (strchr(letters, option_letters[i]) != NULL) {
            out[used++] = all_options[i];
        }
    }
    out[used] = (struct option){ NULL, 0, NULL, 0 };
}

bool weir__config_line_read(weir__config_line *line, const char *program, const char *help,
                            const char *letters, int argc, char **argv, int *status)
{
    struct option options[8];
    int answer;
    choose_options(letters, options);
    opterr = 0;
    optind = 1;
    while ((answer = getopt_long(argc, argv, ":D:h", options, NULL)) != -1) {
        switch (answer) {
        case 'D':
            line->settings[line->setting_count++] = optarg;
            break;
        case 'h':
            fputs(help, stdout);
            *status = WEIR__EXIT_OK;
            return false;
        case JSON:
            line->json = true;
            break;
        case STRICT:
            line->strict = true;
            break;
        case NO_ENVIRONMENT:
            line->ignore_environment = true;
            break;
        default:
            *status = weir__usage_option_error(program, answer, argv, options);
            return false;
        }
    }
    line->settings[line->setting_count] = NULL;
    line->file_count = (size_t)(argc - optind);
    line->files = line->file_count > 0 ? (const char *const *)(argv + optind) : NULL;
    return true;
}

static weir__tree *read_yaml(const weir_allocator *allocator, const char *path,
                             weir__problems *problems)
{
    const weir__yaml_options options = { .allocator = allocator };
    return weir__yaml_read_file(&options, path, problems);
}

/* A file from a pipe: how long it is shows at its end. */
static bool read_standard_input(const char *program, weir__request *request)
{
    char *text = malloc(INPUT_MAX + 1);
    const size_t size = text != NULL ? fread(text, 1, INPUT_MAX + 1, stdin) : 0;
    if (text == NULL || ferror(stdin) != 0 || size > INPUT_MAX) {
        fprintf(stderr, "%s: standard input cannot be read, or has more than %d bytes\n", program,
                INPUT_MAX);
        free(text);
        return false;
    }
    request->name = "standard input";
    request->text = text;
    request->text_size = size;
    return true;
}

weir_config *weir__config_line_load(const weir__config_line *line, const char *program)
{
    weir_error error = WEIR_ERROR_INIT;
    const weir_config_options options = {
        .struct_size = sizeof(options),
        .overrides = line->settings,
        .ignore_environment = line->ignore_environment,
        .keep_going = true,
    };
    weir__request request = {
        .paths = line->files,
        .foreign = read_yaml,
        .options = &options,
    };
    if (line->file_count == 1 && strcmp(line->files[0], "-") == 0 &&
        !read_standard_input(program, &request)) {
        return NULL;
    }
    weir_config *config = weir__config_line_make(&request, &error);
    if (config == NULL) {
        fprintf(stderr, "%s: %s\n", program, error.text);
    }
    free((void *)(uintptr_t)request.text);
    return config;
}

size_t weir__config_line_tell(const weir_config *config, bool strict)
{
    const weir__problems *problems = &config->problems;
    size_t counted = problems->errors;
    fflush(stdout); /* what was printed stands before what is wrong */
    for (size_t i = 0; i < problems->count; i++) {
        char text[SHOWN_MAX];
        (void)weir__problem_format(&problems->items[i], text, sizeof(text));
        fprintf(stderr, "%s\n", text);
        counted += strict && problems->items[i].severity == WEIR__WARNING;
    }
    if (problems->left_out > 0) {
        fprintf(stderr, "%zu more errors are not shown\n", problems->left_out);
    }
    return counted;
}
