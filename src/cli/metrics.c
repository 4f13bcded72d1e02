/*
 * cli/metrics.c - `weir metrics reference`: docs/METRICS.md, for tools/metrics_reference.py.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "cli/command.h"
#include "cli/usage.h"
#include "connect/figure.h"
#include "metric/reference.h"

static const char program[] = "weir metrics";

static const char help[] = "usage: weir metrics reference\n"
                           "\n"
                           "Prints every metric with its type, labels and what it counts, as\n"
                           "Markdown: docs/METRICS.md is this.\n"
                           "\n"
                           "exit status: 0 success, 2 wrong usage\n";

static void print_connectors(void)
{
    fputs("\n## Connectors\n\n"
          "Of the sources and sinks that `weir run` brings, and of `fan-out`. Labels: component, "
          "type. In JSON they\nstand in `own`; `weir admin connectors` has them, too, by the name "
          "in the last column. One that is\nrestarted begins anew.\n\n"
          "| Prometheus | type | what | name |\n|---|---|---|---|\n",
          stdout);
    for (size_t i = 0; i < weir__connector_figure_count; i++) {
        const weir__figure *f = &weir__connector_figures[i];
        printf("| `%s` | %s | %s | `%s` |\n", f->name, f->grows ? "counter" : "gauge", f->help,
               f->figure);
    }
}

int weir__metrics_run(int argc, char **argv)
{
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(help, stdout);
        return WEIR__EXIT_OK;
    }
    if (argc != 2 || strcmp(argv[1], "reference") != 0) {
        return weir__usage_error(program, "say `weir metrics reference`");
    }
    weir__textbuf text = { .allocator = weir__allocator_default() };
    if (!weir__metrics_reference(&text)) {
        fprintf(stderr, "%s: out of memory\n", program);
        weir__textbuf_close(&text);
        return WEIR__EXIT_FAILED;
    }
    fputs(text.bytes, stdout);
    weir__textbuf_close(&text);
    print_connectors();
    return WEIR__EXIT_OK;
}
