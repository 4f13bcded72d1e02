#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the Grafana dashboard, dist/grafana/weir.json, from the table below: a row of it is a
panel. tests/contract/prometheus.py checks that the file is current and that every expression is one
that Prometheus knows, of figures that weir has.

    tools/grafana_dashboard.py            writes it
    tools/grafana_dashboard.py --check    says whether it is current
"""
import json
import pathlib
import sys

FILE = pathlib.Path(__file__).parents[1] / "dist/grafana/weir.json"
SELF = '{job=~"$job",instance=~"$instance"'  # of the servers that are chosen; } follows
WINDOW = "[$__rate_interval]"


def of(name, labels=""):
    return f"{name}{SELF}{',' + labels if labels else ''}}}"


def rate(name, labels=""):
    return f"rate({of(name, labels)}{WINDOW})"


def share(part, whole):
    return f"{rate(part)} / ({rate(whole)} > 0)"


def quantiles(name, label):
    return [(of(name, f'quantile="{q}"'), f"{{{{{label}}}}} p{word}")
            for q, word in (("0.5", "50"), ("0.95", "95"), ("0.99", "99"))]


def tail(name):
    p99, p50 = 'quantile="0.99"', 'quantile="0.5"'
    return f"{of(name, p99)} / ignoring (quantile) ({of(name, p50)} > 0)"


def low_is_good(fair, bad):
    return [("green", None), ("yellow", fair), ("red", bad)]


def high_is_good(bad, fair):
    return [("red", None), ("yellow", bad), ("green", fair)]


# A section, then its panels: title, kind, width of 24, unit, [(expression, legend)], thresholds,
# what it tells.
SECTIONS = [
    ("At a glance", [
        ("Health", "stat", 4, "health", [(of("weir_health"), "{{instance}}")],
         low_is_good(1, 2), "0 up, 1 degraded, 2 down: `weir admin health` has the reasons."),
        ("Events a second", "stat", 4, "short", [(f"sum({rate('weir_handled_total')})", "")], None,
         "Handled, all servers together."),
        ("Waiting", "stat", 4, "short", [(f"sum({of('weir_depth')})", "")], None,
         "Accepted, not yet handled."),
        ("Dropped a second", "stat", 4, "short", [(f"sum({rate('weir_dropped_total')})", "")],
         low_is_good(0.001, 1), "By policy of a full mailbox."),
        ("Dead letters", "stat", 4, "short", [(f"sum({of('weir_dead_letters_total')})", "")],
         low_is_good(1, 100), "Events that came to nothing, since the start."),
        ("Up for", "stat", 4, "s", [(of("weir_uptime_seconds"), "{{instance}}")], None, ""),
        ("Events a second", "timeseries", 12, "short",
         [(rate("weir_accepted_total"), "accepted {{instance}}"),
          (rate("weir_handled_total"), "handled {{instance}}")], None, ""),
        ("What is lost or refused, by reason", "timeseries", 12, "short",
         [(rate("weir_dropped_total"), "dropped {{reason}}"),
          (rate("weir_dead_total"), "dead {{reason}}"),
          (rate("weir_dead_letters_unaccepted_total"), "letter {{reason}}"),
          (rate("weir_refused_total"), "refused {{reason}}")], None, "A second."),
    ]),
    ("Dispatchers", [
        ("Events a second", "timeseries", 8, "short",
         [(rate("weir_dispatcher_handled_total"), "{{dispatcher}}")], None, ""),
        ("Contention", "timeseries", 8, "percentunit",
         [(share("weir_dispatcher_try_locks_failed_total", "weir_dispatcher_try_locks_total"),
           "{{dispatcher}}")], low_is_good(0.1, 0.5),
         "Attempts to take it that fail. Below 10 % good, below 30 % tolerable, above 50 % too many "
         "threads share it."),
        ("Back-off", "timeseries", 8, "percentunit",
         [(share("weir_dispatcher_backoffs_total", "weir_dispatcher_rounds_total"),
           "{{dispatcher}}")], low_is_good(0.01, 0.3),
         "Rounds that end in a sleep because it was taken. 5 to 15 % under contention, above 30 % "
         "too eager."),
        ("Depth", "timeseries", 8, "short", [(of("weir_dispatcher_depth"), "{{dispatcher}}")], None,
         "Events that wait in the mailboxes of its processors."),
        ("Wake-ups that found work", "timeseries", 8, "percentunit",
         [(share("weir_dispatcher_wakeups_found_total", "weir_dispatcher_wakeups_total"),
           "{{dispatcher}}")], high_is_good(0.5, 0.9), "Above 90 % is good."),
        ("Signals that woke a thread", "timeseries", 8, "percentunit",
         [(share("weir_dispatcher_wakeups_total", "weir_dispatcher_signals_total"),
           "{{dispatcher}}")], high_is_good(0.5, 0.95), "Above 95 % is good."),
        ("Time in a queue", "timeseries", 12, "s",
         quantiles("weir_dispatcher_queueing_seconds", "dispatcher"), None,
         "Of one event in `latency-every`, since the start or the last reset."),
        ("Time in a handler", "timeseries", 12, "s",
         quantiles("weir_dispatcher_handling_seconds", "dispatcher"), None, ""),
    ]),
    ("Threads", [
        ("Utilisation, thread by thread", "status-history", 24, "percentunit",
         [(share("weir_thread_busy_seconds_total", "weir_thread_alive_seconds_total"),
           "{{thread}}")], None,
         "A row a thread, darker is busier. At least 90 % for CPU-bound work, 50 % for I/O; below "
         "30 % beside a full one the assignment is wrong."),
        ("CPU", "timeseries", 8, "percentunit",
         [(rate("weir_thread_cpu_seconds_total"), "{{thread}}")], None, "Of one core."),
        ("Parks a second", "timeseries", 8, "short",
         [(rate("weir_thread_parks_total"), "{{thread}}")], None, ""),
        ("Length of waits", "timeseries", 8, "s", quantiles("weir_thread_waits_seconds", "thread"),
         low_is_good(0.0001, 0.01), "Under load a p99 below 100 us is good."),
    ]),
    ("Processors", [
        ("Events a second", "timeseries", 12, "short",
         [(f"topk(20, {rate('weir_processor_handled_total')})", "{{processor}}")], None,
         "The 20 busiest."),
        ("Depth", "timeseries", 12, "short",
         [(f"topk(20, {of('weir_processor_depth')})", "{{processor}}")], None, "The 20 deepest."),
        ("Time in a handler", "timeseries", 12, "s",
         quantiles("weir_processor_handling_seconds", "processor"), None,
         "Of processors that are measured: `weir admin latency enable PATTERN`."),
        ("Time in a queue", "timeseries", 12, "s",
         quantiles("weir_processor_queueing_seconds", "processor"), None, ""),
        ("P99 / P50 of the handler", "timeseries", 8, "none",
         [(tail("weir_processor_handling_seconds"), "{{processor}}")], low_is_good(3, 10),
         "Up to 3 is good, above 10 some events cost far more than most."),
        ("Dropped a second, by reason", "timeseries", 8, "short",
         [(f"{rate('weir_processor_dropped_total')} > 0", "{{processor}} {{reason}}")], None, ""),
        ("Failures and restarts a second", "timeseries", 8, "short",
         [(f"{rate('weir_processor_failures_total')} > 0", "{{processor}} failed"),
          (f"{rate('weir_processor_restarts_total')} > 0", "{{processor}} restarted")], None, ""),
        ("Mailboxes, how full", "timeseries", 12, "percentunit",
         [(f"topk(20, {of('weir_processor_depth')} / ({of('weir_processor_mailbox_max')} > 0))",
           "{{processor}}")], low_is_good(0.5, 0.9), ""),
        ("Processors without figures of their own", "timeseries", 12, "short",
         [(of("weir_metrics_processors_hidden"), "{{instance}}")], None,
         "Summed up in (others): weir.metrics.processors-max."),
    ]),
    ("Feeds", [
        ("Published and delivered a second", "timeseries", 8, "short",
         [(rate("weir_feed_published_total"), "{{feed}} published"),
          (rate("weir_feed_delivered_total"), "{{feed}} delivered")], None, ""),
        ("Dropped a second", "timeseries", 8, "short",
         [(rate("weir_feed_dropped_total"), "{{feed}}")], low_is_good(0.001, 1),
         "For a subscriber that is too slow."),
        ("Waiting for subscribers", "timeseries", 8, "percentunit",
         [(rate("weir_feed_waited_seconds_total"), "{{feed}}")], low_is_good(0.01, 0.1),
         "Share of the time that its source waits."),
        ("The deepest queue, how full", "timeseries", 12, "percentunit",
         [(f"{of('weir_feed_deepest')} / ({of('weir_feed_queue_max')} > 0)", "{{feed}}")],
         low_is_good(0.5, 0.9), ""),
        ("Not yet committed", "timeseries", 12, "short",
         [(of("weir_feed_outstanding"), "{{feed}}")], None, ""),
    ]),
    ("Flows", [
        ("Events a second", "timeseries", 8, "short",
         [(rate("weir_router_submitted_total"), "{{router}}")], None, "Submitted."),
        ("Imbalance", "timeseries", 8, "none", [(of("weir_router_imbalance_ratio"), "{{router}}")],
         low_is_good(1.3, 2), "The busiest worker over the mean: above 2 one key is hot."),
        ("Flows", "timeseries", 8, "short", [(of("weir_router_flows"), "{{router}}")], None, ""),
        ("Depth of workers", "timeseries", 8, "short",
         [(of("weir_worker_depth"), "{{router}} {{worker}}")], None, ""),
        ("Workers, how busy", "status-history", 8, "percentunit",
         [(rate("weir_worker_busy_seconds_total"), "{{router}} {{worker}}")], None, ""),
        ("Time in a handler", "timeseries", 8, "s",
         quantiles("weir_router_handling_seconds", "router"), None, ""),
        ("Refused and dropped a second", "timeseries", 24, "short",
         [(f"{rate('weir_router_refused_total')} > 0", "{{router}} refused {{reason}}"),
          (f"{rate('weir_router_dropped_total')} > 0", "{{router}} dropped {{reason}}")], None, ""),
    ]),
    ("The process", [
        ("CPU", "timeseries", 8, "none",
         [(rate("weir_process_cpu_seconds_total"), "{{instance}}"),
          (of("weir_process_cores_usable"), "usable {{instance}}")], None, "Cores."),
        ("Memory", "timeseries", 8, "bytes",
         [(of("weir_process_resident_memory_bytes"), "resident {{instance}}"),
          (of("weir_pool_bytes"), "pools {{instance}}"),
          (of("weir_block_bytes"), "blocks {{instance}}")], None, ""),
        ("Throttled by the CPU quota", "timeseries", 8, "percentunit",
         [(rate("weir_process_throttled_seconds_total"), "{{instance}}")], low_is_good(0.001, 0.05),
         "Share of the time."),
        ("Timers pending", "timeseries", 12, "short",
         [(of("weir_timers_pending"), "{{instance}}")], None, ""),
        ("Lateness of timers", "timeseries", 12, "s",
         [(of("weir_timers_late_seconds", 'quantile="0.5"'), "p50 {{instance}}"),
          (of("weir_timers_late_seconds", 'quantile="0.99"'), "p99 {{instance}}")], None, ""),
    ]),
]

SOURCE = {"type": "prometheus", "uid": "${datasource}"}
HEALTH = [{"type": "value", "options": {"0": {"text": "up"}, "1": {"text": "degraded"},
                                        "2": {"text": "down"}}}]


def panel(number, place, row):
    title, kind, _, unit, targets, thresholds, text = row
    steps = [{"color": colour, "value": value} for colour, value in thresholds or [("blue", None)]]
    defaults = {"unit": "none" if unit == "health" else unit,
                "thresholds": {"mode": "absolute", "steps": steps}}
    options = {}
    if unit == "health":
        defaults["mappings"] = HEALTH
    if unit == "percentunit":
        defaults["min"] = 0
    if kind == "timeseries":
        options = {"legend": {"displayMode": "list", "placement": "bottom"},
                   "tooltip": {"mode": "multi", "sort": "desc"}}
        defaults["custom"] = {"lineWidth": 1, "fillOpacity": 8, "showPoints": "never",
                              "thresholdsStyle": {"mode": "line" if thresholds else "off"}}
    elif kind == "status-history":
        defaults |= {"color": {"mode": "continuous-GrYlRd"}, "max": 1}
        options = {"rowHeight": 0.9, "colWidth": 1, "showValue": "never",
                   "legend": {"showLegend": False}}
    else:
        defaults["color"] = {"mode": "thresholds"}
        options = {"colorMode": "value", "graphMode": "area",
                   "reduceOptions": {"calcs": ["lastNotNull"]}}
    return {"id": number, "title": title, "type": kind, "description": text, "gridPos": place,
            "datasource": SOURCE, "fieldConfig": {"defaults": defaults, "overrides": []},
            "options": options,
            "targets": [{"refId": chr(ord("A") + i), "datasource": SOURCE, "expr": expression,
                         "legendFormat": legend or "__auto"}
                        for i, (expression, legend) in enumerate(targets)]}


def panels():
    found, number, y = [], 0, 0
    for title, rows in SECTIONS:
        number += 1
        found.append({"id": number, "title": title, "type": "row", "collapsed": False,
                      "gridPos": {"x": 0, "y": y, "w": 24, "h": 1}, "panels": []})
        y += 1
        x = height = 0
        for row in rows:
            tall = 4 if row[1] == "stat" else 8
            if x + row[2] > 24:
                x, y, height = 0, y + height, 0
            number += 1
            found.append(panel(number, {"x": x, "y": y, "w": row[2], "h": tall}, row))
            x, height = x + row[2], max(height, tall)
        y += height
    return found


def variable(name, query):
    return {"name": name, "type": "query", "datasource": SOURCE, "query": query, "refresh": 2,
            "includeAll": True, "multi": True, "allValue": ".*",
            "current": {"text": "All", "value": "$__all"}}


def dashboard():
    return {"uid": "weir", "title": "weir", "tags": ["weir"], "schemaVersion": 38, "version": 1,
            "editable": True, "refresh": "5s", "time": {"from": "now-15m", "to": "now"},
            "timezone": "", "graphTooltip": 1,
            "templating": {"list": [
                {"name": "datasource", "type": "datasource", "query": "prometheus"},
                variable("job", "label_values(weir_uptime_seconds, job)"),
                variable("instance", 'label_values(weir_uptime_seconds{job=~"$job"}, instance)')]},
            "annotations": {"list": []}, "panels": panels()}


def main():
    text = json.dumps(dashboard(), indent=1) + "\n"
    if sys.argv[1:] == ["--check"]:
        if not FILE.exists() or FILE.read_text(encoding="utf-8") != text:
            sys.exit(f"{FILE.name} is not current: run tools/grafana_dashboard.py")
        return
    FILE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
