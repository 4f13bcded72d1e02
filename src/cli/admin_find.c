/*
 * cli/admin_find.c - which running weir is meant.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "admin/admin.h"
#include "cli/admin.h"
#include "cli/command.h"
#include "cli/usage.h"

/* The only socket in the usual folder. */
static int look_around(const char *program, weir__admin_ask *ask)
{
    char folder[400];
    char found[512] = "";
    unsigned count = 0;
    const char *given = getenv("WEIR_ADMIN_SOCKET");
    if (given != NULL && given[0] != '\0') {
        ask->socket = given;
        return WEIR__EXIT_OK;
    }
    DIR *files = weir__admin_socket_default(NULL, folder, sizeof(folder)) ? opendir(folder) : NULL;
    for (const struct dirent *e = files != NULL ? readdir(files) : NULL; e != NULL;
         e = readdir(files)) {
        const size_t length = strlen(e->d_name);
        if (length > 5 && strcmp(e->d_name + length - 5, ".sock") == 0) {
            const size_t used = strlen(found);
            (void)snprintf(found + used, sizeof(found) - used, "%s%.*s", count == 0 ? "" : ", ",
                           (int)(length - 5), e->d_name);
            (void)snprintf(ask->path, sizeof(ask->path), "%.250s/%.255s", folder, e->d_name);
            count++;
        }
    }
    if (files != NULL) {
        (void)closedir(files);
    }
    if (count > 1) {
        return weir__usage_error(program, "several are there, say which with --name: %s", found);
    }
    if (count == 0) {
        fprintf(stderr, "%s: no weir is running here: there is no socket in %s\n", program, folder);
        return WEIR__EXIT_FAILED;
    }
    ask->socket = ask->path;
    return WEIR__EXIT_OK;
}

int weir__admin_find(const char *program, weir__admin_ask *ask)
{
    const int ways =
        (ask->socket != NULL ? 1 : 0) + (ask->url != NULL ? 1 : 0) + (ask->name != NULL ? 1 : 0);
    if (ways > 1) {
        return weir__usage_error(program, "one of --socket, --name and --url is enough");
    }
    if (ask->token_file != NULL && ask->url == NULL) {
        return weir__usage_error(program, "--token-file goes with --url");
    }
    if (ask->name != NULL) {
        char folder[256];
        const bool known = weir__admin_socket_default(NULL, folder, sizeof(folder));
        (void)snprintf(ask->path, sizeof(ask->path), "%s/%.200s.sock", known ? folder : "",
                       ask->name);
        ask->socket = ask->path;
    }
    return ways == 0 ? look_around(program, ask) : WEIR__EXIT_OK;
}
