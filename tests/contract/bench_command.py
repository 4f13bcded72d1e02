# SPDX-License-Identifier: Apache-2.0
"""`weir bench`: what it lists, the shape of what it measures, and what it says when it is used
wrongly, or when a row does not end. No time is judged here."""
import json
import os
import re
import subprocess

import tap

WEIR = os.environ.get("WEIR_COMMAND", str(tap.BUILD / "weir"))
MODES = {"near", "far", "mixed", "single"}
FIGURES = {"events_per_s", "ns_per_event", "p50_ns", "p95_ns", "p99_ns", "p999_ns", "efficiency",
           "contention", "backoff", "imbalance", "cpu_ms", "syscalls", "switches", "retries", "schedule_per_s",
           "cancel_per_s", "fire_cpu_ms", "seconds",
           "bytes_each"}
WORKLOADS = ["w1", "w2-external", "w2-inside", "w3-1", "w3-100", "w4", "w5-external", "w5-inside",
             "w5-dispatchers-2", "w5-dispatchers-4", "w5-dispatchers-8", "w6-parked", "w6-spinning",
             "w6-hop-10k", "w6-hop-100k", "w6-hop-1m", "w6-hop-10m", "w7-alone", "w7-1", "w7-4",
             "w8", "timers-1000", "timers-1000000", "w9-idle", "w9-quota", "w10", "w11-ask", "w11-deep",
             "w11-external-1", "w11-inside-1", "w11-external-10", "w11-inside-10",
             "w11-external-1000", "w11-inside-1000", "w12-100", "w12-1000", "w13-backoff", "w13-fair",
             "w14-route", "w14-flat-1000", "w14-flat-10000", "w14-flat-100000", "w14-flat-1000000",
             "w14-scale-10us", "w14-scale-1us", "w14-race-0us", "w14-race-1us", "w14-zipf", "lock",
             "cpu-bound"]


def bench(*arguments, **options):
    """(exit status, standard output, standard error)"""
    done = subprocess.run([WEIR, "bench", *arguments], capture_output=True, text=True, check=False,
                          timeout=tap.TIMEOUT_S, **options)
    return done.returncode, done.stdout, done.stderr


def measured(*arguments):
    """The objects that a run with --json prints; None: it failed, or printed something else."""
    status, out, error = bench("run", *arguments, "--json")
    try:
        return json.loads(out) if status == 0 and error == "" else None
    except ValueError:
        return None


def check_list(check):
    status, out, error = bench("list", "--json")
    rows = json.loads(out)
    check("list --json is an array of rows with their threads and a line about them",
          status == 0 and error == "" and rows and
          all(set(row) == {"workload", "variant", "threads", "summary"} and row["threads"] and
              row["summary"] for row in rows), out + error)
    names = [(row["workload"], row["variant"]) for row in rows]
    check("no row is there twice", len(names) == len(set(names)), names)
    missing = [name for name in WORKLOADS if (name, "weir") not in names
               and not any(workload == name and variant.startswith("weir-")
                           for workload, variant in names)]
    check("weir runs every workload", not missing, missing)
    status, out, error = bench("list")
    check("list says the same for people, a line a row",
          status == 0 and error == "" and len(out.splitlines()) == len(rows) and
          all(line.startswith(row["workload"]) and row["summary"] in line
              for line, row in zip(out.splitlines(), rows)), out + error)
    for arguments in (["--help"], ["run", "-h"], ["help"]):
        status, out, _ = bench(*arguments)
        check(f"weir bench {' '.join(arguments)} explains every option, in 80 columns",
              status == 0 and out.startswith("usage: weir bench list") and
              all(f"--{word}" in out for word in
                  ("json", "runs", "threads", "variant", "scale", "mode", "limit", "smoke")) and
              max(map(len, out.splitlines())) <= 80, out)


def well_formed(row):
    figures = FIGURES & set(row)
    return ({"workload", "variant", "threads", "mode", "handover_ns", "runs", "thrown_away",
             "best", "spread"} == set(row) - FIGURES and
            row["mode"] in MODES and figures and
            figures == set(row["best"]) == set(row["spread"]) and
            (row["handover_ns"] > 0) == (row["mode"] != "single") and
            all(row[figure] >= 0 for figure in figures))


def check_results(check):
    rows = measured("w1", "--variant", "weir", "--runs", "3", "--scale", "0.001")
    if check("run --json is an array and nothing else", isinstance(rows, list), rows):
        check("an object has the medians of its figures, with best and spread",
              rows and all(map(well_formed, rows)), rows)
        check("every thread count has its runs, mode by mode",
              all(sum(row["runs"] for row in rows if row["threads"] == threads) == 3
                  for threads in (1, 2)), rows)
        check("the best is not worse than the median",
              all(row["best"]["events_per_s"] >= row["events_per_s"] and
                  row["best"]["ns_per_event"] <= row["ns_per_event"] for row in rows), rows)

    rows = measured("w5", "--variant", "weir", "--threads", "2", "--smoke")
    check("the beginning of a name takes all that begin so; --variant and --threads choose",
          rows is not None and {row["workload"] for row in rows} == {"w5-external", "w5-inside"} and
          all(row["variant"] == "weir" and row["threads"] == 2 for row in rows), rows)
    rows = measured("w6-hop-1m", "--smoke")
    check("a latency has its percentiles, in order",
          rows and all(0 < row["p50_ns"] <= row["p95_ns"] <= row["p99_ns"] <= row["p999_ns"]
                       for row in rows), rows)
    rows = measured("w10", "--threads", "4", "--variant", "weir", "--smoke")
    check("blocking handlers have an efficiency, a share",
          rows and all(0 < row["efficiency"] <= 1 for row in rows), rows)
    status, out, error = bench("run", "w9-quota", "--smoke", "--json")
    rows = json.loads(out)
    check("what cannot be measured here says why, and is no failure",
          status == 0 and error == "" and len(rows) == 1 and
          (well_formed(rows[0]) or (rows[0]["mode"] == "skipped" and rows[0]["skipped"])), out)

    status, out, error = bench("run", "w1", "--smoke", "--threads", "1", "--variant", "weir")
    check("without --json it is a table with a heading and a line a row",
          status == 0 and error == "" and len(out.splitlines()) == 2 and
          re.match(r"workload +variant +threads", out) and
          re.match(r"w1 +weir +1 ", out.splitlines()[1]), out + error)


def check_wrong(check):
    for arguments, sentence in [
            ([], "list or run?"),
            (["rnu"], "did you mean 'run'?"),
            (["measure"], "it is list or run"),
            (["list", "w1"], "list takes no name 'w1'"),
            (["run"], "run what?"),
            (["run", "w5-externl"], "unknown workload 'w5-externl', did you mean 'w5-external'?"),
            (["run", "w1", "nothing-like-it"], "unknown workload 'nothing-like-it'"),
            (["run", "w1", "--threads", "77"], "nothing of 'w1' has that variant"),
            (["run", "w1", "--variant", "weird"], "nothing of 'w1' has that variant"),
            (["run", "w1", "--rnus", "3"], "did you mean --runs?"),
            (["run", "w1", "--runs"], "--runs needs a value"),
            (["run", "w1", "--json=1"], "--json takes no value"),
            (["run", "w1", "--smoke", "--runs", "2"], "--smoke is one small run"),
            (["run", "w1", "--mode", "middle"], "must be near or far, not 'middle'")]:
        status, out, error = bench(*arguments)
        check(f"weir bench {' '.join(arguments)!r} is wrong usage and says why",
              status == 2 and sentence in error and "try: weir bench --help" in error and
              out == "", f"{status} {out} {error}")
    for option, values in [("--runs", ("0", "1001", "-1", "2.5", "many", "")),
                           ("--threads", ("0", "1025", "two")),
                           ("--scale", ("0", "101", "nan", "1x", " 1")),
                           ("--limit", ("0", "inf", "1e9")),
                           ("--seed", ("0", "18446744073709551616", "x"))]:
        for value in values:
            status, out, error = bench("run", "w1", option, value)
            check(f"{option} {value!r} is refused", status == 2 and f"{option}: must be" in error and
                  f"'{value}'" in error and out == "", f"{status} {out} {error}")


def check_failure(check):
    # It ends amid everything, with threads that nobody joins: no leak that TSan should tell of.
    options = ":".join(filter(None, [os.environ.get("TSAN_OPTIONS"), "report_thread_leaks=0"]))
    status, out, error = bench("run", "w6-parked", "--variant", "weir", "--limit", "0.05",
                               env={**os.environ, "TSAN_OPTIONS": options})
    check("a row that does not end in time is named, and ends it all",
          status == 1 and out == "" and
          re.search(r"w6-parked/weir with 1 threads has not ended after 0.05 s", error),
          f"{status} {out} {error}")
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([WEIR, "bench", "list"], stdout=full, stderr=subprocess.PIPE,
                              text=True, check=False, timeout=tap.TIMEOUT_S)
    check("what cannot be written is a failure", done.returncode == 1 and
          "cannot write" in done.stderr, done.stderr)
    status, out, _ = bench("list", env={**os.environ, "PATH": "/nowhere"})
    check("it is found beside the command", status == 0 and out, out)


with tap.plan() as plan:
    check_list(plan)
    check_results(plan)
    check_wrong(plan)
    check_failure(plan)
