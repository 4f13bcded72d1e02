/*
 * metric/reference.c - the table of metrics as Markdown.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "metric/reference.h"

#include <string.h>

#include "metric/table.h"

static const char head[] =
    "<!-- Made by tools/metrics_reference.py from src/metric/table.c: edit that. -->\n"
    "# Metrics\n"
    "\n"
    "Every figure of an engine, as Prometheus reads it (`/metrics`, `weir_metrics_prometheus`) "
    "and\n"
    "as JSON (`/metrics.json`, `weir_metrics_json`). [The guide](guide/metrics.md) says how to "
    "get\n"
    "at them and what to make of them.\n"
    "\n"
    "Counters only grow; a rate is the difference of two looks over the difference of their times\n"
    "(in JSON: `engine.time_ns`). Times are seconds for Prometheus and nanoseconds, `_ns`, in "
    "JSON.\n"
    "A summary has the quantiles 0.5, 0.9, 0.95, 0.99, 0.999 and 1, `_sum` and `_count`; those of\n"
    "routers, workers and timers have only some quantiles. In JSON it is an object with `count`,\n"
    "`sum_ns`, `p50_ns`, `p90_ns`, `p95_ns`, `p99_ns`, `p999_ns` and `max_ns`; it counts the "
    "events\n"
    "that were measured, one in `latency_every`.\n";

static const char tail[] =
    "\n"
    "## Health, and what is no figure\n"
    "\n"
    "In JSON only, but for `weir_health` above.\n"
    "\n"
    "| JSON | what |\n"
    "|---|---|\n"
    "| `weir` | The version |\n"
    "| `health.status` | up, degraded or down: the worst of the reasons |\n"
    "| `health.reasons[]` | `what`, `status`, `reason`: who is not up, and why; the worst first |\n"
    "| `processors_total`, `processors_shown` | Processors that there are, and that have figures "
    "of "
    "their own |\n"
    "| `edges[]` | `from`, `to`, `events`: who sends to whom. Names begin with `component:`, "
    "`feed:`, `router:` or `processor:`, or are `outside`. Between processors `events` is an "
    "estimate from those that were measured; 0: known from the configuration, and not seen yet |\n"
    "| `dead_letters[]` | The newest 20: `number`, `reason`, `status`, `sender`, `receiver`, "
    "`type`, "
    "`size`, `time`, `text` |\n"
    "| `errors[]` | The newest 20: `component`, `time`, `status`, `text` |\n"
    "| `own[]` | Figures of the application's own: `name`, `labels`, `kind`, `help`, `value` (null "
    "if it is no number) |\n";

static bool add(weir__textbuf *out, const char *text)
{
    return weir__textbuf_append(out, text, strlen(text));
}

static bool add_code(weir__textbuf *out, const char *text)
{
    return text == NULL ? true : add(out, "`") && add(out, text) && add(out, "`");
}

static bool add_row(weir__textbuf *out, const weir__metric_row *row)
{
    static const char *const types[] = { "", "counter", "gauge", "summary" };
    return add(out, "| ") && add_code(out, row->name) && add(out, " | ") &&
           add(out, types[row->name != NULL ? row->type : WEIR__TYPE_NONE]) && add(out, " | ") &&
           add_code(out, row->label) && add(out, " | ") && add_code(out, row->key) &&
           add(out, " | ") && add(out, row->help) && add(out, " |\n");
}

static bool add_group(weir__textbuf *out, weir__metric_group group)
{
    const weir__metric_section *section = &weir__metric_sections[group];
    bool ok = add(out, "\n## ") && add(out, section->title) && add(out, "\n\nIn JSON: `") &&
              add(out, section->key) && add(out, "`.");
    if (section->labels[0] != '\0') {
        ok = ok && add(out, " Labels: ") && add(out, section->labels) && add(out, ".");
    }
    if (section->text[0] != '\0') {
        ok = ok && add(out, " ") && add(out, section->text);
    }
    ok = ok && add(out, "\n\n| Prometheus | type | label | JSON | what |\n|---|---|---|---|---|\n");
    for (uint32_t i = 0; i < weir__metric_row_count && ok; i++) {
        if (weir__metric_rows[i].group == group) {
            ok = add_row(out, &weir__metric_rows[i]);
        }
    }
    return ok;
}

bool weir__metrics_reference(weir__textbuf *out)
{
    bool ok = add(out, head);
    for (uint32_t group = 0; group < WEIR__GROUPS && ok; group++) {
        ok = add_group(out, (weir__metric_group)group);
    }
    return ok && add(out, tail);
}
