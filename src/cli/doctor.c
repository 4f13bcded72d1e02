/*
 * cli/doctor.c - `weir doctor`: what is wrong with a server, and what about this machine will hurt
 * latency.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/terminal.h"
#include "cli/usage.h"

static const char program[] = "weir doctor";

static const char help[] =
    "usage: weir doctor [--socket PATH | --name NAME] [OPTION ...]\n"
    "       weir doctor --snapshot FILE [FILE2] [--json]\n"
    "       weir doctor --machine [--json]\n"
    "\n"
    "Looks twice at a running weir and says in plain words what is wrong and what to change.\n"
    "Without --socket and --name: $WEIR_ADMIN_SOCKET, else the one that runs here.\n"
    "--machine says what about this machine will hurt latency: how cores are clocked, isolated\n"
    "and shared, the cgroup's quota, huge pages, the clock, swap, limits, interrupts.\n"
    "\n"
    "options:\n"
    "  -s, --socket PATH    the Unix socket (weir.admin.socket)\n"
    "  -n, --name NAME      the socket of the weir that is called so (weir.engine.name)\n"
    "      --seconds N      between the two looks; 2\n"
    "      --save FILE      keep both looks, for --snapshot\n"
    "      --snapshot FILE  look at what was saved: by --save, or from /metrics.json; with\n"
    "                       FILE2 that is the later look\n"
    "      --rules          print all rules with their thresholds\n"
    "      --machine        look at the machine; with an option above, at both\n"
    "      --json           as JSON\n"
    "  -h, --help           show this text\n"
    "\n"
    "environment:\n"
    "  WEIR_ADMIN_SOCKET   the socket, if nothing else is said\n"
    "  WEIR_MACHINE_ROOT   read <root>/sys and <root>/proc in place of /sys and /proc\n"
    "\n"
    "exit status: 0 nothing hurts, 1 something does (an alert), 2 wrong usage, or nothing to\n"
    "look at\n";

enum { MACHINE = 256, JSON, SECONDS, SAVE, SNAPSHOT, RULES };

static const char *const verdict_names[] = { [WEIR__VERDICT_GOOD] = "good",
                                             [WEIR__VERDICT_NOTE] = "note",
                                             [WEIR__VERDICT_BAD] = "hurts",
                                             [WEIR__VERDICT_UNKNOWN] = "unknown" };

static void print_text(const char *text)
{
    putchar('"');
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            printf("\\%c", *text);
        } else if ((unsigned char)*text < 0x20) {
            printf("\\u%04x", (unsigned)(unsigned char)*text);
        } else {
            putchar(*text);
        }
    }
    putchar('"');
}

static void print_json(const weir__machine_finding *findings, size_t count)
{
    printf("[");
    for (size_t i = 0; i < count; i++) {
        const weir__machine_finding *f = &findings[i];
        printf("%s{\"name\":\"%s\",\"verdict\":\"%s\",\"found\":", i > 0 ? ",\n" : "", f->name,
               verdict_names[f->verdict]);
        print_text(f->found);
        printf(",\"meaning\":");
        print_text(f->meaning);
        printf(",\"advice\":");
        print_text(f->advice);
        printf("}");
    }
    printf("]\n");
}

static void print_findings(const weir__machine_finding *findings, size_t count)
{
    static const weir__tone tones[] = { [WEIR__VERDICT_GOOD] = WEIR__TONE_GOOD,
                                        [WEIR__VERDICT_NOTE] = WEIR__TONE_FAIR,
                                        [WEIR__VERDICT_BAD] = WEIR__TONE_BAD,
                                        [WEIR__VERDICT_UNKNOWN] = WEIR__TONE_FAINT };
    const weir__terminal terminal = weir__terminal_look();
    for (size_t i = 0; i < count; i++) {
        const weir__machine_finding *f = &findings[i];
        const weir__tone tone = tones[f->verdict];
        printf("%s%-8s%s %s: %s\n", weir__terminal_begin(&terminal, tone),
               verdict_names[f->verdict], weir__terminal_end(&terminal, tone), f->name, f->found);
        printf("         %s\n", f->meaning);
        if (f->advice[0] != '\0') {
            printf("         -> %s\n", f->advice);
        }
    }
}

static int look_at_machine(bool json)
{
    weir__machine_finding findings[WEIR__MACHINE_FINDINGS_MAX];
    const char *root = getenv("WEIR_MACHINE_ROOT"); /* NOLINT(concurrency-mt-unsafe): one thread */
    const size_t count = weir__machine_look(root != NULL ? root : "", findings);
    bool hurts = false;
    for (size_t i = 0; i < count; i++) {
        hurts = hurts || findings[i].verdict == WEIR__VERDICT_BAD;
    }
    if (json) {
        print_json(findings, count);
    } else {
        print_findings(findings, count);
    }
    return hurts ? WEIR__EXIT_FAILED : WEIR__EXIT_OK;
}

typedef struct line {
    weir__doctor_options server;
    bool asks_server; /* an option says so */
    bool machine, rules, help;
} line;

static const struct option known[] = { { "machine", no_argument, NULL, MACHINE },
                                       { "json", no_argument, NULL, JSON },
                                       { "socket", required_argument, NULL, 's' },
                                       { "name", required_argument, NULL, 'n' },
                                       { "seconds", required_argument, NULL, SECONDS },
                                       { "save", required_argument, NULL, SAVE },
                                       { "snapshot", required_argument, NULL, SNAPSHOT },
                                       { "rules", no_argument, NULL, RULES },
                                       { "help", no_argument, NULL, 'h' },
                                       { NULL, 0, NULL, 0 } };

/* An exit status; OK: go on. */
static int take_option(line *l, int answer, char **argv)
{
    l->asks_server = l->asks_server || (answer != MACHINE && answer != JSON);
    switch (answer) {
    case MACHINE:
        l->machine = true;
        break;
    case JSON:
        l->server.json = true;
        break;
    case 's':
        l->server.socket = optarg;
        break;
    case 'n':
        l->server.name = optarg;
        break;
    case SECONDS:
        if (!weir__usage_seconds(optarg, &l->server.seconds)) {
            return weir__usage_error(program, "--seconds takes 0.1 to 86400, not '%s'", optarg);
        }
        break;
    case SAVE:
        l->server.save = optarg;
        break;
    case SNAPSHOT:
        l->server.snapshots[0] = optarg;
        break;
    case RULES:
        l->rules = true;
        break;
    case 'h':
        l->help = true;
        break;
    default:
        return weir__usage_option_error(program, answer, argv, known);
    }
    return WEIR__EXIT_OK;
}

static int read_line(int argc, char **argv, line *l)
{
    int status = WEIR__EXIT_OK;
    opterr = 0;
    for (int answer; status == WEIR__EXIT_OK && !l->help &&
                     (answer = getopt_long(argc, argv, ":s:n:h", known, NULL)) != -1;) {
        status = take_option(l, answer, argv);
    }
    if (status != WEIR__EXIT_OK || l->help) {
        return status;
    }
    weir__doctor_options *s = &l->server;
    if (s->snapshots[0] != NULL && optind < argc) {
        s->snapshots[1] = argv[optind++];
    }
    if (optind < argc) {
        return weir__usage_error(program, "takes no argument '%s', only options", argv[optind]);
    }
    if (s->snapshots[0] != NULL && (s->socket != NULL || s->name != NULL || s->save != NULL)) {
        return weir__usage_error(program, "--snapshot is in place of a running weir: it goes "
                                          "without --socket, --name and --save");
    }
    return WEIR__EXIT_OK;
}

int weir__doctor_run(int argc, char **argv)
{
    line l = { .server = { .seconds = 2 } };
    const int status = read_line(argc, argv, &l);
    if (status != WEIR__EXIT_OK) {
        return status;
    }
    if (l.help) {
        fputs(help, stdout);
        return WEIR__EXIT_OK;
    }
    if (l.rules) {
        return weir__doctor_rules();
    }
    if (!l.machine || !l.asks_server) {
        return l.machine ? look_at_machine(l.server.json) : weir__doctor_server(&l.server, false);
    }
    /* Both: in JSON two members of one object. */
    fputs(l.server.json ? "{\"server\": " : "", stdout);
    const int server = weir__doctor_server(&l.server, true);
    fputs(l.server.json ? (server == WEIR__EXIT_USAGE ? "null,\n\"machine\": " : ",\n\"machine\": ")
                        : "",
          stdout);
    const int machine = look_at_machine(l.server.json);
    fputs(l.server.json ? "}\n" : "", stdout);
    return server != WEIR__EXIT_OK ? server : machine;
}
