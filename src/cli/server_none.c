/*
 * cli/server_none.c - the commands that need the server's libraries, without them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "cli/command.h"
#include "cli/config_settings.h"

static int refuse(const char *command)
{
    fprintf(stderr,
            "weir %s: this weir was built without the server: it needs libuv, jansson,\n"
            "libmicrohttpd and PCRE2 (Debian: libuv1-dev libjansson-dev libmicrohttpd-dev\n"
            "libpcre2-dev); install them and build again with -Dserver=enabled\n",
            command);
    return WEIR__EXIT_FAILED;
}

int weir__run_run(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return refuse("run");
}

int weir__types_run(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return refuse("types");
}

weir_config *weir__config_line_make(const weir__request *request, weir_error *error)
{
    return weir__config_make(request, error);
}

void weir__config_line_unload(weir_config *config)
{
    weir_config_destroy(config);
}
