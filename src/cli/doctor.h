/*
 * cli/doctor.h - what `weir doctor --machine` looks at, one finding each.
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

typedef struct weir__finding {
    const char *name; /* "governor" */
    weir__verdict verdict;
    char found[200];   /* what is there */
    char meaning[400]; /* what that means for latency */
    char advice[400];  /* what to do; "" if nothing */
} weir__finding;

enum { WEIR__FINDINGS_MAX = 16 };

/* `root` stands before /sys and /proc: "" is this machine. Returns how many there are. */
size_t weir__machine_look(const char *root, weir__finding findings[WEIR__FINDINGS_MAX]);

#endif /* WEIR_CLI_DOCTOR_H */
