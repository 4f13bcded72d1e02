/*
 * cli/admin.c - `weir admin`: one admin command to a running weir.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/admin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/usage.h"

static const char program[] = "weir admin";

#ifdef WEIR_SERVER
static const char help[] =
    "usage: weir admin [OPTION ...] COMMAND [ARGUMENT ...]\n"
    "\n"
    "Sends one command to a running weir and prints its answer. `weir admin help` lists the\n"
    "commands. Without an option: $WEIR_ADMIN_SOCKET, else the one socket that is in\n"
    "$XDG_RUNTIME_DIR/weir (without that: /tmp/weir-UID).\n"
    "\n"
    "options:\n"
    "  -s, --socket PATH      the Unix socket (weir.admin.socket)\n"
    "  -n, --name NAME        the socket of the weir that is called so (weir.engine.name)\n"
    "  -u, --url URL          over HTTP: http://127.0.0.1:8080\n"
    "  -t, --token-file FILE  over HTTP: the token, in a file of mode 0600; without it\n"
    "                         $WEIR_ADMIN_TOKEN, if there is one\n"
    "      --timeout SECONDS  how long to wait for the answer; 30\n"
    "      --json             the answer as it came\n"
    "  -h, --help             show this text\n"
    "\n"
    "exit status: 0 success, 1 the command failed, or nobody answers, 2 wrong usage, an unknown\n"
    "command, or wrong arguments\n";

enum { OPTION_JSON = 256, OPTION_TIMEOUT };
static const struct option options[] = {
    { "socket", required_argument, NULL, 's' },
    { "name", required_argument, NULL, 'n' },
    { "url", required_argument, NULL, 'u' },
    { "token-file", required_argument, NULL, 't' },
    { "timeout", required_argument, NULL, OPTION_TIMEOUT },
    { "json", no_argument, NULL, OPTION_JSON },
    { "help", no_argument, NULL, 'h' },
    { NULL, 0, NULL, 0 },
};

typedef struct line {
    weir__admin_ask ask;
    bool json;
    bool help;
} line;

static bool read_seconds(const char *text, unsigned *out)
{
    char *end;
    const unsigned long seconds = strtoul(text, &end, 10);
    *out = (unsigned)seconds;
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && seconds > 0 && seconds <= 3600;
}

/* An exit status; OK: go on. */
static int read_line(int argc, char **argv, line *l)
{
    opterr = 0;
    optind = 1;
    for (;;) {
        const int answer = getopt_long(argc, argv, "+:s:n:u:t:h", options, NULL);
        switch (answer) {
        case -1:
            l->ask.words = (const char *const *)argv + optind;
            l->ask.count = (size_t)(argc - optind);
            return WEIR__EXIT_OK;
        case 's':
            l->ask.socket = optarg;
            break;
        case 'n':
            l->ask.name = optarg;
            break;
        case 'u':
            l->ask.url = optarg;
            break;
        case 't':
            l->ask.token_file = optarg;
            break;
        case OPTION_TIMEOUT:
            if (!read_seconds(optarg, &l->ask.seconds)) {
                return weir__usage_error(program, "--timeout takes 1 to 3600 seconds, not '%s'",
                                         optarg);
            }
            break;
        case OPTION_JSON:
            l->json = true;
            break;
        case 'h':
            l->help = true;
            return WEIR__EXIT_OK;
        default:
            return weir__usage_option_error(program, answer, argv, options);
        }
    }
}

int weir__admin_run(int argc, char **argv)
{
    line l = { .ask = { .seconds = 30 } };
    int status = read_line(argc, argv, &l);
    if (status != WEIR__EXIT_OK) {
        return status;
    }
    if (l.help) {
        fputs(help, stdout);
        return WEIR__EXIT_OK;
    }
    if (l.ask.count == 0) {
        return weir__usage_error(program, "a command is missing; `weir admin help` lists them");
    }
    status = weir__admin_find(program, &l.ask);
    if (status != WEIR__EXIT_OK) {
        return status;
    }
    char why[512];
    char *answer = weir__admin_ask_run(&l.ask, why, sizeof(why));
    if (answer == NULL) {
        fprintf(stderr, "%s: %s\n", program, why);
        return WEIR__EXIT_FAILED;
    }
    status = weir__admin_show(program, answer, l.json);
    free(answer);
    return status;
}
#else
int weir__admin_run(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    fprintf(stderr,
            "%s: this weir was built without libuv, jansson, libmicrohttpd and PCRE2, which it "
            "needs\n",
            program);
    return WEIR__EXIT_FAILED;
}
#endif
