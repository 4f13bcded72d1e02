/*
 * cli/server_none.c - the commands that need the server's libraries, without them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "cli/command.h"
#include "cli/config_settings.h"
#include "cli/doctor.h"
#include "server/compose.h"

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

int weir__top_run(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return refuse("top");
}

int weir__trace_run(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return refuse("trace");
}

int weir__types_run(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return refuse("types");
}

int weir__doctor_server(const weir__doctor_options *options, bool machine_too)
{
    (void)options;
    (void)machine_too;
    (void)refuse("doctor");
    return WEIR__EXIT_USAGE;
}

int weir__doctor_rules(void)
{
    (void)refuse("doctor --rules");
    return WEIR__EXIT_USAGE;
}

/* The keys of a server are known, if not those of its components. */
weir_config *weir__config_line_make(const weir__request *request, weir_error *error)
{
    weir_config_options options = *request->options;
    options.tables = weir__server_tables;
    weir__request with = *request;
    with.options = &options;
    return weir__config_make(&with, error);
}

void weir__config_line_unload(weir_config *config)
{
    weir_config_destroy(config);
}
