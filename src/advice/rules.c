/*
 * advice/rules.c - the table of the rules: what is compared with what.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "advice/advice.h"

#define NONE ((double)NAN)

const weir__rule weir__rules[WEIR__RULE_COUNT] = {
    [WEIR__RULE_DOWN] = { "down", "parts that are down, or failed", "", WEIR__UNIT_COUNT, false,
                          NONE, NONE, 0 },
    [WEIR__RULE_STUCK] = { "stuck", "handlers that ran longer than `stuck-after`",
                           "now, or between the looks", WEIR__UNIT_COUNT, false, NONE, NONE, 0 },
    [WEIR__RULE_THROTTLING] = { "throttling", "time that a quota kept the process off its cores",
                                "", WEIR__UNIT_SHARE, false, 0, 0.01, 0.10 },
    [WEIR__RULE_SPIN] = { "spin", "threads that spin, for each usable core",
                          "`idle` is busy-spin or noop", WEIR__UNIT_TIMES, false, NONE, NONE, 1 },
    [WEIR__RULE_OVERSUBSCRIBED] = { "oversubscribed",
                                    "threads at work at once, for each usable core",
                                    "the cores are 70 % used or more, and threads at work were on "
                                    "one for less than 90 % of the time",
                                    WEIR__UNIT_TIMES, false, NONE, 1.1, 1.5 },
    [WEIR__RULE_DROPS] = { "drops", "events dropped, of those that came", "", WEIR__UNIT_SHARE,
                           false, NONE, 0, 0.01 },
    [WEIR__RULE_REFUSALS] = { "refusals", "posts refused because a mailbox was full, of all", "",
                              WEIR__UNIT_SHARE, false, NONE, 0.01, 0.10 },
    [WEIR__RULE_FAILURES] = { "failures", "handlers that failed, of those that ran", "",
                              WEIR__UNIT_SHARE, false, NONE, 0, 0.01 },
    [WEIR__RULE_DEAD_LETTERS] = { "dead-letters", "dead letters, of all events", "",
                                  WEIR__UNIT_SHARE, false, NONE, 0, 0.01 },
    [WEIR__RULE_MAILBOX] = { "mailbox", "how full a mailbox is", "", WEIR__UNIT_SHARE, false, NONE,
                             0.90, 0.99 },
    [WEIR__RULE_GROWING] = { "growing", "time until a mailbox is full, at this pace",
                             "10 % full or more, and grown by 1 % of its bound between the looks",
                             WEIR__UNIT_SECONDS, true, 3600, 600, 60 },
    [WEIR__RULE_SLOW_CONSUMER] = { "slow-consumer",
                                   "time that publishing into a feed waited for a subscriber", "",
                                   WEIR__UNIT_SHARE, false, 0.01, 0.10, 0.50 },
    [WEIR__RULE_HOT_FLOW] = { "hot-flow", "the busiest worker of a router against their mean",
                              "it is at work for half of the time, or 100 events wait for it",
                              WEIR__UNIT_TIMES, false, NONE, 1.5, 1.9 },
    [WEIR__RULE_TOO_MANY_THREADS] = { "too-many-threads",
                                      "attempts at a dispatcher's lock that failed",
                                      "its threads have work for at least one fewer, or are more "
                                      "than the usable cores; 1,000 attempts a second",
                                      WEIR__UNIT_SHARE, false, 0.10, 0.30, 0.50 },
    [WEIR__RULE_CONTENTION] = { "contention", "attempts at a dispatcher's lock that failed",
                                "1,000 attempts a second", WEIR__UNIT_SHARE, false, 0.10, 0.30,
                                0.50 },
    [WEIR__RULE_BACK_OFF] = { "back-off", "looks at a dispatcher that ended in a back-off sleep",
                              "100 looks a second", WEIR__UNIT_SHARE, false, NONE, 0.15, 0.30 },
    [WEIR__RULE_UTILISATION] = { "utilisation", "time that a dispatcher's threads are at work",
                                 "two threads or more, and 100 events wait at both looks",
                                 WEIR__UNIT_SHARE, true, NONE, NONE, 0.30 },
    [WEIR__RULE_SPREAD] = { "spread", "P99 of the time in the queue, or in handlers, against P50",
                            "P99 is 1 ms or more; 500 events were measured", WEIR__UNIT_TIMES,
                            false, NONE, NONE, 10 },
    [WEIR__RULE_PARKS] = { "parks", "times that a thread parks", "fewer than 4 events each time",
                           WEIR__UNIT_RATE, false, NONE, 20000, 50000 },
    [WEIR__RULE_WAKE_UPS] = { "wake-ups", "wake-ups of a dispatcher's threads that found work",
                              "100 a second", WEIR__UNIT_SHARE, true, NONE, 0.90, 0.50 },
};

/* NAN, the value's or the threshold's, is never beyond. */
static bool is_beyond(const weir__rule *rule, double value, double threshold)
{
    return rule->below ? value < threshold : value > threshold;
}

weir__severity weir__rule_judge(const weir__rule *rule, double value)
{
    return is_beyond(rule, value, rule->alert)     ? WEIR__SEVERITY_ALERT
           : is_beyond(rule, value, rule->warning) ? WEIR__SEVERITY_WARNING
           : is_beyond(rule, value, rule->note)    ? WEIR__SEVERITY_NOTE
                                                   : WEIR__SEVERITY_NONE;
}

const char *weir__severity_name(weir__severity severity)
{
    static const char *const names[] = { "none", "note", "warning", "alert" };
    return names[severity];
}

static void print_threshold(FILE *out, const weir__rule *rule, double threshold)
{
    static const char *const units[] = { [WEIR__UNIT_SHARE] = " %",
                                         [WEIR__UNIT_TIMES] = " x",
                                         [WEIR__UNIT_COUNT] = "",
                                         [WEIR__UNIT_RATE] = " a second",
                                         [WEIR__UNIT_SECONDS] = " s" };
    if (isnan(threshold)) {
        fputs("  |", out);
    } else {
        fprintf(out, " %s %g%s |", rule->below ? "<" : ">",
                rule->unit == WEIR__UNIT_SHARE ? threshold * 100 : threshold, units[rule->unit]);
    }
}

void weir__advice_print_rules(FILE *out)
{
    fputs("| rule | what is looked at | note | warning | alert | only if |\n"
          "|---|---|---|---|---|---|\n",
          out);
    for (size_t i = 0; i < WEIR__RULE_COUNT; i++) {
        const weir__rule *rule = &weir__rules[i];
        fprintf(out, "| `%s` | %s |", rule->name, rule->figure);
        print_threshold(out, rule, rule->note);
        print_threshold(out, rule, rule->warning);
        print_threshold(out, rule, rule->alert);
        fprintf(out, " %s |\n", rule->when);
    }
}
