/*
 * cli/doctor.c - `weir doctor --machine`: what about this machine will hurt latency.
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
    "usage: weir doctor --machine [--json]\n"
    "\n"
    "Says what about this machine will hurt latency: how cores are clocked, isolated and\n"
    "shared, the cgroup's quota, huge pages, the clock, swap, limits, interrupts. Each with\n"
    "what it means and what to do.\n"
    "\n"
    "options:\n"
    "  --machine     look at the machine\n"
    "  --json        as JSON\n"
    "  -h, --help    show this text\n"
    "\n"
    "environment:\n"
    "  WEIR_MACHINE_ROOT   read <root>/sys and <root>/proc in place of /sys and /proc\n"
    "\n"
    "exit status: 0 nothing hurts, 1 something does, 2 wrong usage\n";

enum { MACHINE = 256, JSON };

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

static void print_json(const weir__finding *findings, size_t count)
{
    printf("[");
    for (size_t i = 0; i < count; i++) {
        const weir__finding *f = &findings[i];
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

static void print_findings(const weir__finding *findings, size_t count)
{
    static const weir__tone tones[] = { [WEIR__VERDICT_GOOD] = WEIR__TONE_GOOD,
                                        [WEIR__VERDICT_NOTE] = WEIR__TONE_FAIR,
                                        [WEIR__VERDICT_BAD] = WEIR__TONE_BAD,
                                        [WEIR__VERDICT_UNKNOWN] = WEIR__TONE_FAINT };
    const weir__terminal terminal = weir__terminal_look();
    for (size_t i = 0; i < count; i++) {
        const weir__finding *f = &findings[i];
        const weir__tone tone = tones[f->verdict];
        printf("%s%-8s%s %s: %s\n", weir__terminal_begin(&terminal, tone),
               verdict_names[f->verdict], weir__terminal_end(&terminal, tone), f->name, f->found);
        printf("         %s\n", f->meaning);
        if (f->advice[0] != '\0') {
            printf("         -> %s\n", f->advice);
        }
    }
}

int weir__doctor_run(int argc, char **argv)
{
    static const struct option known[] = { { "machine", no_argument, NULL, MACHINE },
                                           { "json", no_argument, NULL, JSON },
                                           { "help", no_argument, NULL, 'h' },
                                           { NULL, 0, NULL, 0 } };
    bool machine = false, json = false;
    opterr = 0;
    for (int answer; (answer = getopt_long(argc, argv, ":h", known, NULL)) != -1;) {
        if (answer == MACHINE) {
            machine = true;
        } else if (answer == JSON) {
            json = true;
        } else if (answer == 'h') {
            fputs(help, stdout);
            return WEIR__EXIT_OK;
        } else {
            return weir__usage_option_error(program, answer, argv, known);
        }
    }
    if (optind < argc) {
        return weir__usage_error(program, "takes no argument '%s', only options", argv[optind]);
    }
    if (!machine) {
        return weir__usage_error(program, "say what to look at: --machine");
    }
    weir__finding findings[WEIR__FINDINGS_MAX];
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
