/*
 * cli/types.c - `weir types`: what components there are, and their options.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/usage.h"
#include "connect/types.h"
#include "settings/fill.h"
#include "settings/writer.h"
#include "weir/plugin.h"

/* NOLINTBEGIN(misc-no-recursion): tables are as deep as they were written */

static const char program[] = "weir types";

static const char help[] =
    "usage: weir types [NAME] [--plugin FILE ...] [--json]\n"
    "\n"
    "Lists the types that a component of `weir run` can have; with NAME, the keys of one: what\n"
    "may be written, the default, and what it is for.\n"
    "\n"
    "options:\n"
    "      --plugin FILE  the types of a plugin, too; may be given more than once\n"
    "      --json         as JSON\n"
    "  -h, --help         show this text\n"
    "\n"
    "exit status: 0 success, 1 a plugin cannot be loaded, 2 wrong usage, or no such type\n";

enum { PLUGIN = 256, JSON, PLUGINS_MAX = 64, HELP_WIDTH = 76 };

typedef struct request {
    const weir_plugin *plugins[PLUGINS_MAX];
    size_t plugin_count;
    const char *name;
    bool json, help;
} request;

static const char *kind_name(weir_kind kind)
{
    static const char *const names[] = { "", "source", "service", "sink", "processor" };
    return (unsigned)kind < 5 ? names[kind] : "";
}

static bool to_stdout(void *context, const char *bytes, size_t length)
{
    (void)context;
    return fwrite(bytes, 1, length, stdout) == length;
}

/* ---- the command line ---- */

static int open_plugin(request *r, const char *path)
{
    weir_error error = WEIR_ERROR_INIT;
    if (r->plugin_count == PLUGINS_MAX) {
        return weir__usage_error(program, "--plugin: at most %d of them", PLUGINS_MAX - 1);
    }
    if (weir_plugin_open(path, &r->plugins[r->plugin_count], &error) != WEIR_OK) {
        fprintf(stderr, "%s: %s: %s\n", program, path, error.text);
        return WEIR__EXIT_FAILED;
    }
    r->plugin_count++;
    return WEIR__EXIT_OK;
}

static int parse(int argc, char **argv, request *r)
{
    static const struct option known[] = { { "plugin", required_argument, NULL, PLUGIN },
                                           { "json", no_argument, NULL, JSON },
                                           { "help", no_argument, NULL, 'h' },
                                           { NULL, 0, NULL, 0 } };
    opterr = 0;
    for (int answer; (answer = getopt_long(argc, argv, ":h", known, NULL)) != -1;) {
        int status = WEIR__EXIT_OK;
        switch (answer) {
        case PLUGIN:
            status = open_plugin(r, optarg);
            break;
        case JSON:
            r->json = true;
            break;
        case 'h':
            r->help = true;
            break;
        default:
            status = weir__usage_option_error(program, answer, argv, known);
            break;
        }
        if (status != WEIR__EXIT_OK) {
            return status;
        }
    }
    if (argc - optind > 1) {
        return weir__usage_error(program, "one type at a time, not '%s' as well", argv[optind + 1]);
    }
    r->name = optind < argc ? argv[optind] : NULL;
    return WEIR__EXIT_OK;
}

/* ---- for people ---- */

static void print_list(const request *r)
{
    for (size_t p = 0; p < r->plugin_count; p++) {
        const weir_plugin *plugin = r->plugins[p];
        printf("%s%s %s\n", p > 0 ? "\n" : "", plugin->name,
               plugin->version != NULL ? plugin->version : "");
        for (size_t i = 0; i < plugin->type_count; i++) {
            const weir_component_type *type = plugin->types[i];
            printf("  %-16s %-10s %s\n", type->name, kind_name(type->kind),
                   type->help != NULL ? type->help : "");
        }
    }
    printf("\nweir types NAME shows the keys of one.\n");
}

static void print_folded(const char *indent, const char *text)
{
    const size_t width = HELP_WIDTH;
    while (*text != '\0') {
        size_t length = strlen(text);
        if (length > width) {
            length = width;
            while (length > 0 && text[length] != ' ') {
                length--;
            }
            length = length == 0 ? width : length;
        }
        printf("%s%.*s\n", indent, (int)length, text);
        text += length;
        text += strspn(text, " ");
    }
}

static void print_rows(const weir_option *rows, size_t count, const char *above)
{
    for (size_t i = 0; i < count; i++) {
        const weir_option row = weir__row(rows, i);
        weir__writer out = { to_stdout, NULL, false };
        char path[200];
        if (row.kind == WEIR_OPTION_NAME) {
            continue;
        }
        snprintf(path, sizeof(path), "%s%s", above, row.key);
        if (row.kind != WEIR_OPTION_GROUP) {
            printf("  %s: ", path);
            weir__write_type(&out, &row);
            if (row.required) {
                printf("; required");
            } else if (row.fallback != NULL) {
                printf("; default %s", row.fallback[0] != '\0' ? row.fallback : "\"\"");
            }
            printf("\n");
            print_folded("      ", row.help != NULL ? row.help : "");
        }
        if (row.rows != NULL) {
            const char *end = row.kind == WEIR_OPTION_MAP     ? ".NAME."
                              : row.kind == WEIR_OPTION_ITEMS ? "[N]."
                                                              : ".";
            const size_t used = strlen(path);
            snprintf(path + used, sizeof(path) - used, "%s", end);
            print_rows(row.rows, row.row_count, path);
        }
    }
}

static void print_type(const weir_component_type *type, const weir_plugin *from)
{
    printf("%s: a %s of %s%s%s\n%s\n", type->name, kind_name(type->kind), from->name,
           from->version != NULL ? " " : "", from->version != NULL ? from->version : "",
           type->help != NULL ? type->help : "");
    if (type->option_count > 0) {
        printf("\nkeys:\n");
        print_rows(type->options, type->option_count, "");
    }
    printf("\nand those that every component has: see weir.conf(5), weir.components.NAME\n");
}

/* ---- for programs ---- */

static void print_json_rows(weir__writer *out, const weir_option *rows, size_t count,
                            const char *above, bool *first);

static void print_json_row(weir__writer *out, const weir_option *row, const char *path)
{
    weir__writer_print(out, "{\"key\":");
    weir__writer_quoted(out, path);
    weir__writer_print(out, ",\"type\":\"");
    weir__write_type(out, row);
    weir__writer_print(out, "\",\"required\":%s,\"default\":", row->required ? "true" : "false");
    if (row->fallback != NULL) {
        weir__writer_quoted(out, row->fallback);
    } else {
        weir__writer_print(out, "null");
    }
    if (row->min != 0 || row->max != 0) {
        weir__writer_print(out, ",\"min\":%.17g,\"max\":%.17g", row->min, row->max);
    }
    if (row->kind == WEIR_OPTION_ENUM) {
        weir__writer_print(out, ",\"words\":[");
        for (size_t i = 0; row->words != NULL && row->words[i] != NULL; i++) {
            weir__writer_print(out, "%s", i > 0 ? "," : "");
            weir__writer_quoted(out, row->words[i]);
        }
        weir__writer_print(out, "]");
    }
    weir__writer_print(out, ",\"help\":");
    weir__writer_quoted(out, row->help != NULL ? row->help : "");
    weir__writer_print(out, "}");
}

static void print_json_rows(weir__writer *out, const weir_option *rows, size_t count,
                            const char *above, bool *first)
{
    for (size_t i = 0; i < count; i++) {
        const weir_option row = weir__row(rows, i);
        char path[200];
        if (row.kind == WEIR_OPTION_NAME) {
            continue;
        }
        snprintf(path, sizeof(path), "%s%s", above, row.key);
        if (row.kind != WEIR_OPTION_GROUP) {
            weir__writer_print(out, "%s", *first ? "" : ",");
            print_json_row(out, &row, path);
            *first = false;
        }
        if (row.rows != NULL) {
            const size_t used = strlen(path);
            snprintf(path + used, sizeof(path) - used, "%s",
                     row.kind == WEIR_OPTION_MAP     ? ".NAME."
                     : row.kind == WEIR_OPTION_ITEMS ? "[N]."
                                                     : ".");
            print_json_rows(out, row.rows, row.row_count, path, first);
        }
    }
}

static void print_json(const request *r)
{
    weir__writer out = { to_stdout, NULL, false };
    bool first = true;
    weir__writer_print(&out, "[");
    for (size_t p = 0; p < r->plugin_count; p++) {
        for (size_t i = 0; i < r->plugins[p]->type_count; i++) {
            const weir_component_type *type = r->plugins[p]->types[i];
            if (r->name != NULL && strcmp(type->name, r->name) != 0) {
                continue;
            }
            bool first_row = true;
            weir__writer_print(&out, "%s{\"name\":", first ? "" : ",\n");
            weir__writer_quoted(&out, type->name);
            weir__writer_print(&out, ",\"kind\":\"%s\",\"plugin\":", kind_name(type->kind));
            weir__writer_quoted(&out, r->plugins[p]->name);
            weir__writer_print(&out, ",\"help\":");
            weir__writer_quoted(&out, type->help != NULL ? type->help : "");
            weir__writer_print(&out, ",\"options\":[");
            print_json_rows(&out, type->options, type->option_count, "", &first_row);
            weir__writer_print(&out, "]}");
            first = false;
        }
    }
    weir__writer_print(&out, "]\n");
}

/* ---- one of them ---- */

static int refuse(const request *r)
{
    const char *names[256];
    size_t count = 0;
    for (size_t p = 0; p < r->plugin_count; p++) {
        for (size_t i = 0; i < r->plugins[p]->type_count && count < 256; i++) {
            names[count++] = r->plugins[p]->types[i]->name;
        }
    }
    const char *nearest = weir__usage_nearest(r->name, names, count);
    if (nearest != NULL) {
        return weir__usage_error(program, "'%s' is no type, did you mean '%s'?", r->name, nearest);
    }
    return weir__usage_error(program, "'%s' is no type; weir types lists them", r->name);
}

static int show(const request *r)
{
    const weir_component_type *found = NULL;
    const weir_plugin *from = NULL;
    for (size_t p = 0; p < r->plugin_count && r->name != NULL; p++) {
        for (size_t i = 0; i < r->plugins[p]->type_count; i++) {
            if (found == NULL && strcmp(r->plugins[p]->types[i]->name, r->name) == 0) {
                found = r->plugins[p]->types[i];
                from = r->plugins[p];
            }
        }
    }
    if (r->name != NULL && found == NULL) {
        return refuse(r);
    }
    if (r->json) {
        print_json(r);
    } else if (found != NULL) {
        print_type(found, from);
    } else {
        print_list(r);
    }
    return WEIR__EXIT_OK;
}

int weir__types_run(int argc, char **argv)
{
    request r = { .plugins = { &weir__connect_plugin }, .plugin_count = 1 };
    const int status = parse(argc, argv, &r);
    if (status != WEIR__EXIT_OK) {
        return status;
    }
    if (r.help) {
        fputs(help, stdout);
        return WEIR__EXIT_OK;
    }
    return show(&r);
}

/* NOLINTEND(misc-no-recursion) */
