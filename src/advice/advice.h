/*
 * advice/advice.h - what is wrong with a server, in plain words, and what to change: rules over two
 * looks at its figures.
 *
 * A look is a document of /metrics.json. What it lacks (an older server) and what it has too much
 * of is passed over: a rule whose figures are not there says nothing. Every threshold stands in one
 * table, weir__rules, of which docs/guide/doctor.md has a copy that a test compares.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ADVICE_ADVICE_H
#define WEIR_ADVICE_ADVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <jansson.h>

typedef enum weir__severity {
    WEIR__SEVERITY_NONE,
    WEIR__SEVERITY_NOTE,
    WEIR__SEVERITY_WARNING,
    WEIR__SEVERITY_ALERT
} weir__severity;

/* In the order in which they are told, within a severity. */
typedef enum weir__rule_id {
    WEIR__RULE_DOWN,
    WEIR__RULE_STUCK,
    WEIR__RULE_THROTTLING,
    WEIR__RULE_SPIN,
    WEIR__RULE_OVERSUBSCRIBED,
    WEIR__RULE_DROPS,
    WEIR__RULE_REFUSALS,
    WEIR__RULE_FAILURES,
    WEIR__RULE_DEAD_LETTERS,
    WEIR__RULE_MAILBOX,
    WEIR__RULE_GROWING,
    WEIR__RULE_SLOW_CONSUMER,
    WEIR__RULE_HOT_FLOW,
    WEIR__RULE_TOO_MANY_THREADS,
    WEIR__RULE_CONTENTION,
    WEIR__RULE_BACK_OFF,
    WEIR__RULE_UTILISATION,
    WEIR__RULE_SPREAD,
    WEIR__RULE_PARKS,
    WEIR__RULE_WAKE_UPS,
    WEIR__RULE_COUNT
} weir__rule_id;

typedef enum weir__unit {
    WEIR__UNIT_SHARE, /* 0.5 is 50 % */
    WEIR__UNIT_TIMES, /* 2 is twice as much */
    WEIR__UNIT_COUNT,
    WEIR__UNIT_RATE, /* a second */
    WEIR__UNIT_SECONDS
} weir__unit;

typedef struct weir__rule {
    const char *name;
    const char *figure; /* what is compared */
    const char *when;   /* what else must hold; "" nothing */
    weir__unit unit;
    bool below;                  /* it is bad to be below, not above */
    double note, warning, alert; /* NAN: there is none */
} weir__rule;

extern const weir__rule weir__rules[WEIR__RULE_COUNT];

/* Of a value under a rule. A value that is not known (NAN) is none. */
weir__severity weir__rule_judge(const weir__rule *rule, double value);
const char *weir__severity_name(weir__severity severity);

/* Texts are UTF-8 without control characters, whatever the names in the documents are. */
typedef struct weir__finding {
    weir__rule_id id;
    const char *rule;
    weir__severity severity;
    unsigned more; /* that were found besides, of the same rule and no worse; on its last */
    double value;
    char what[96]; /* "dispatcher api" */
    char text[360];
    char remedy[420];
} weir__finding;

enum { WEIR__FINDINGS_A_RULE = 4, WEIR__FINDINGS_ALL = WEIR__FINDINGS_A_RULE * WEIR__RULE_COUNT };

/* The worst first. About 80 KB: not for a small stack. */
typedef struct weir__findings {
    size_t count;
    double
        seconds; /* between the looks; 0: no time passed, and nothing that needs it was looked at */
    bool restarted; /* the server was, between the looks: since its start, then */
    unsigned hidden[WEIR__RULE_COUNT];
    weir__finding items[WEIR__FINDINGS_ALL];
} weir__findings;

/* Any. `before` may be NULL: since the engine's start. Neither need be a document of that kind:
 * then there are no findings. */
void weir__advice_make(const json_t *before, const json_t *after, weir__findings *out);

/* {"findings": [{"rule", "severity", "what", "value", "text", "remedy", "more"} ...]}: a reference
 * of the caller's. NULL: no memory. */
json_t *weir__advice_json(const weir__findings *findings);

/* The table of the rules, as Markdown. */
void weir__advice_print_rules(FILE *out);

#endif /* WEIR_ADVICE_ADVICE_H */
