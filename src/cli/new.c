/*
 * cli/new.c - `weir new`: writes a plugin or an application to begin with.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/new_templates.h"
#include "cli/usage.h"

static const char program[] = "weir new";

static const char help[] =
    "usage: weir new plugin NAME\n"
    "       weir new app NAME\n"
    "\n"
    "Writes a folder NAME, which must not be there yet:\n"
    "  plugin   a type of component in C, with a Makefile, a meson.build and a test that runs it\n"
    "  app      a server: a configuration, a script that runs it, a plugin of its own\n"
    "\n"
    "NAME is made of small letters, digits and hyphens, and begins with a letter; a path may\n"
    "stand before it.\n"
    "\n"
    "options:\n"
    "  -h, --help    show this text\n"
    "\n"
    "exit status: 0 written, 1 it could not be, 2 wrong usage\n";

enum { NAME_MAX_BYTES = 40 };

/* ---- texts ---- */

/* `text` with @NAME@ and @ID@ filled in. False: it could not be written. */
static bool fill(FILE *out, const char *text, const char *name)
{
    while (*text != '\0') {
        const size_t plain = strcspn(text, "@");
        fwrite(text, 1, plain, out);
        text += plain;
        if (strncmp(text, "@NAME@", 6) == 0) {
            fputs(name, out);
            text += 6;
        } else if (strncmp(text, "@ID@", 4) == 0) {
            for (const char *c = name; *c != '\0'; c++) {
                fputc(*c == '-' ? '_' : *c, out);
            }
            text += 4;
        } else if (*text == '@') {
            fputc(*text++, out);
        }
    }
    return ferror(out) == 0;
}

/* ---- files ---- */

static bool fail(const char *what, const char *path)
{
    fprintf(stderr, "%s: cannot %s %s: %s\n", program, what, path, strerror(errno));
    return false;
}

/* Never over a file that is there. */
static bool write_file(const char *folder, const weir__template *template, const char *name)
{
    char path[PATH_MAX], below[256];
    FILE *named = fmemopen(below, sizeof(below), "w");
    if (named == NULL) {
        return fail("name", template->path);
    }
    (void)fill(named, template->path, name);
    fclose(named);
    snprintf(path, sizeof(path), "%s/%s", folder, below);
    const mode_t mode = template->executable ? 0755 : 0644;
    const int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    FILE *out = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (out == NULL) {
        fail("write", path);
        if (descriptor >= 0) {
            close(descriptor);
        }
        return false;
    }
    const bool well = fill(out, template->text, name);
    if (fclose(out) != 0 || !well) {
        return fail("write", path);
    }
    printf("  %s\n", path);
    return true;
}

static bool make_folder(const char *path)
{
    /* Whatever the mask says of the group: weir refuses plugins in folders that others may
     * write. */
    return mkdir(path, 0755) == 0 && chmod(path, 0755) == 0;
}

static int write_all(const char *folder, const char *name, bool app)
{
    const weir__template *templates = app ? weir__app_templates : weir__plugin_templates;
    char below[PATH_MAX];
    if (!make_folder(folder)) {
        if (errno == EEXIST) {
            fprintf(stderr, "%s: %s is there already, and is left as it is\n", program, folder);
        } else {
            fail("make", folder);
        }
        return WEIR__EXIT_FAILED;
    }
    snprintf(below, sizeof(below), "%s/plugin", folder);
    if (app && !make_folder(below)) {
        fail("make", below);
        return WEIR__EXIT_FAILED;
    }
    for (size_t i = 0; templates[i].path != NULL; i++) {
        if (!write_file(folder, &templates[i], name)) {
            return WEIR__EXIT_FAILED;
        }
    }
    printf("\n%s\n  cd %s && %s\n", app ? "to run it:" : "to build and test it:", folder,
           app ? "./run.sh" : "make test");
    return WEIR__EXIT_OK;
}

/* ---- the command line ---- */

static bool is_name(const char *name)
{
    const size_t length = strlen(name);
    return length > 0 && length <= NAME_MAX_BYTES && name[0] >= 'a' && name[0] <= 'z' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == length &&
           name[length - 1] != '-';
}

int weir__new_run(int argc, char **argv)
{
    static const char *const kinds[] = { "plugin", "app" };
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(help, stdout);
            return WEIR__EXIT_OK;
        }
        if (argv[i][0] == '-') {
            return weir__usage_error(program, "unknown option %s", argv[i]);
        }
    }
    if (argc < 2) {
        return weir__usage_error(program, "say what: plugin or app, and its name");
    }
    const bool app = strcmp(argv[1], "app") == 0;
    if (!app && strcmp(argv[1], "plugin") != 0) {
        const char *nearest = weir__usage_nearest(argv[1], kinds, 2);
        return weir__usage_error(program, "'%s' is neither plugin nor app%s%s%s", argv[1],
                                 nearest != NULL ? ", did you mean " : "",
                                 nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
    }
    if (argc != 3) {
        return weir__usage_error(program, "%s needs one name, as in weir new %s shop", argv[1],
                                 argv[1]);
    }
    const char *slash = strrchr(argv[2], '/');
    const char *name = slash != NULL ? slash + 1 : argv[2];
    if (!is_name(name) || strlen(argv[2]) > PATH_MAX - 300) {
        return weir__usage_error(program,
                                 "'%.100s' is no name: small letters, digits and hyphens, at most "
                                 "%d, a letter first",
                                 name, NAME_MAX_BYTES);
    }
    return write_all(argv[2], name, app);
}
