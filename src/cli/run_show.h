/*
 * cli/run_show.h - the faces of what `weir run` has done: a live table, sums, JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CLI_RUN_SHOW_H
#define WEIR_CLI_RUN_SHOW_H

#include "cli/screen.h"
#include "server/figures.h"
#include "server/life.h"

/* `before` is the look before this one, for what happens in a second. */
void weir__run_table_draw(weir__screen *screen, const weir__run_figures *before,
                          const weir__run_figures *now, double seconds);

void weir__run_sums_print(FILE *out, const weir__run_figures *figures,
                          const weir__life_result *result);
void weir__run_json_print(FILE *out, const weir__run_figures *figures,
                          const weir__life_result *result);

#endif /* WEIR_CLI_RUN_SHOW_H */
