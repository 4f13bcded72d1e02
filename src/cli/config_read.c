/*
 * cli/config_read.c - files of any kind into one document, and its problems onto stderr.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/config.h"
#include "connect/yaml.h"

enum { INPUT_MAX = 16 * 1024 * 1024, SHOWN_MAX = 8192 };

/* --- one layer -------------------------------------------------------------------------------- */

static bool ends_in(const char *text, const char *end)
{
    const size_t length = strlen(text), end_length = strlen(end);
    return length > end_length && strcmp(text + length - end_length, end) == 0;
}

static bool add_yaml(weir__hocon *document, const char *file, weir__problems *problems)
{
    weir__tree *tree = weir__yaml_read_file(NULL, file, problems);
    if (tree == NULL) {
        return false;
    }
    const bool added = weir__hocon_add_tree(document, tree);
    weir__tree_destroy(tree);
    return added;
}

/* A file from a pipe: how long it is shows at its end. */
static bool add_standard_input(weir__hocon *document, weir__problems *problems)
{
    static const char name[] = "standard input";
    const weir__origin origin = { .source = name };
    char *text = malloc(INPUT_MAX + 1);
    if (text == NULL) {
        weir__problems_memory(problems);
        return false;
    }
    errno = 0;
    const size_t size = fread(text, 1, INPUT_MAX + 1, stdin);
    bool added = false;
    if (ferror(stdin) != 0) {
        weir__problems_add(problems, WEIR__ERROR, origin, NULL, "cannot read it: %s",
                           strerror(errno));
    } else if (size > INPUT_MAX) {
        weir__problems_add(problems, WEIR__ERROR, origin, NULL,
                           "cannot read it: it is larger than %d bytes", INPUT_MAX);
    } else {
        added = weir__hocon_add_text(document, name, text, size);
    }
    free(text);
    return added;
}

bool weir__config_add(weir__hocon *document, const char *file, weir__problems *problems)
{
    if (strcmp(file, "-") == 0) {
        return add_standard_input(document, problems);
    }
    if (ends_in(file, ".yaml") || ends_in(file, ".yml")) {
        return add_yaml(document, file, problems);
    }
    return weir__hocon_add_file(document, file);
}

/* --- all of them ------------------------------------------------------------------------------ */

weir__tree *weir__config_read(char *const *files, size_t file_count, char *const *settings,
                              size_t setting_count, weir__problems *problems)
{
    weir__hocon *document = weir__hocon_create(NULL, problems);
    if (document == NULL) {
        weir__problems_memory(problems);
        return NULL;
    }
    bool good = true;
    for (size_t i = 0; i < file_count; i++) {
        good = weir__config_add(document, files[i], problems) && good; /* the others' errors too */
    }
    for (size_t i = 0; i < setting_count; i++) {
        good = weir__hocon_add_setting(document, "-D", settings[i]) && good;
    }
    weir__tree *tree = good ? weir__hocon_resolve(document) : NULL;
    weir__hocon_destroy(document);
    return tree;
}

void weir__config_tell(const char *program, weir__problems *problems)
{
    weir__problems_sort(problems);
    fflush(stdout); /* what was printed stands before what went wrong later */
    for (size_t i = 0; i < problems->count; i++) {
        char text[SHOWN_MAX];
        (void)weir__problem_format(&problems->items[i], text, sizeof(text));
        fprintf(stderr, "%s\n", text);
    }
    if (problems->left_out > 0) {
        fprintf(stderr, "%s: %zu more errors are not shown\n", program, problems->left_out);
    }
    if (problems->out_of_memory) {
        fprintf(stderr, "%s: out of memory\n", program);
    }
}
