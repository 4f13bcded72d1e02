/*
 * cli/demo_show.h - the three faces of the figures: a live table, a summary, JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CLI_DEMO_SHOW_H
#define WEIR_CLI_DEMO_SHOW_H

#include <stdio.h>

#include "cli/demo_figures.h"
#include "cli/screen.h"

/* Redrawn in place. */
void weir__demo_table_draw(weir__screen *screen, const weir__demo_figures *figures,
                           double seconds_gone, double seconds_all);

/* For people: what each dispatcher did, and the equation. `wrong` is the judge's sentence or
 * NULL. */
void weir__demo_summary_print(FILE *out, const weir__terminal *terminal,
                              const weir__demo_figures *figures, const weir__demo_look *last,
                              const char *wrong);

/* For programs: one object and a newline. */
void weir__demo_json_print(FILE *out, const weir__demo_figures *figures);

/* Numbers for people, by value: printf("%s", weir__demo_text_count(n).text). */
typedef struct weir__demo_text {
    char text[32];
} weir__demo_text;
weir__demo_text weir__demo_text_count(uint64_t count);   /* 1,234,567 */
weir__demo_text weir__demo_text_rate(double per_second); /* the same, rounded */
weir__demo_text weir__demo_text_share(double share);     /* 12.3 % */
weir__demo_text weir__demo_text_time(uint64_t ns);       /* 850 ns, 12.3 us */

/* The rules of thumb for these figures (SPEC, "Seeing it work"). */
weir__tone weir__demo_tone_contention(double share);
weir__tone weir__demo_tone_backoff(double share);

#endif /* WEIR_CLI_DEMO_SHOW_H */
