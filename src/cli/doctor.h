/*
 * cli/doctor.h - the two patients of `weir doctor`: the machine, one finding each, and a server.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CLI_DOCTOR_H
#define WEIR_CLI_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

typedef enum weir__verdict {
    WEIR__VERDICT_GOOD,
    WEIR__VERDICT_NOTE, /* good to know: it matters to some */
    WEIR__VERDICT_BAD,  /* will hurt latency */
    WEIR__VERDICT_UNKNOWN
} weir__verdict;

typedef struct weir__machine_finding {
    const char *name; /* "governor" */
    weir__verdict verdict;
    char found[200];   /* what is there */
    char meaning[400]; /* what that means for latency */
    char advice[400];  /* what to do; "" if nothing */
} weir__machine_finding;

enum { WEIR__MACHINE_FINDINGS_MAX = 16 };

/* `root` stands before /sys and /proc: "" is this machine. Returns how many there are. */
size_t weir__machine_look(const char *root,
                          weir__machine_finding findings[WEIR__MACHINE_FINDINGS_MAX]);

/* What the line says about a server. */
typedef struct weir__doctor_options {
    const char *socket, *name; /* of a running one; neither: the one that there is */
    const char *snapshots[2];  /* in place of it: files; NULL: none */
    const char *save;          /* where its looks go; NULL: nowhere */
    double seconds;            /* between the looks */
    bool json;
} weir__doctor_options;

/* Says what it found, to stdout; with `machine_too` the JSON without a newline behind it. Answers
 * an exit status: OK, FAILED if there is an alert, USAGE if it could not look, and stderr says
 * why. */
int weir__doctor_server(const weir__doctor_options *options, bool machine_too);
/* The table of its rules, to stdout. An exit status. */
int weir__doctor_rules(void);

#endif /* WEIR_CLI_DOCTOR_H */
