# SPDX-License-Identifier: Apache-2.0
"""One measurement: runs a program between two looks at the hand-over of a cache line, and finds out
how much of the machine others used meanwhile."""
import json
import os
import pathlib
import resource
import statistics
import subprocess
import time

LIMIT_S = 180
TICKS = os.sysconf("SC_CLK_TCK")
CORES = os.cpu_count() or 1
SLACK_S = 0.03  # a tick or two of each core: what /proc/stat cannot tell


class Failed(Exception):
    """A program that gave wrong results, none, or did not end."""


class Disturbed(Exception):
    """A measurement that says itself that it does not count."""


def busy_s():
    """CPU seconds of all cores since the start, with what the host took away (steal)."""
    first = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0]
    user, nice, system, _, _, irq, softirq, steal = map(int, first.split()[1:9])
    return (user + nice + system + irq + softirq + steal) / TICKS


def children_s():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def foreign_share(busy, own, wall):
    """What others used, as a share of all cores."""
    return max(0.0, busy - own - SLACK_S) / (CORES * wall)


def call(command, limit_s=LIMIT_S):
    """(what it printed, foreign share). As important as we may be: others' noise is no figure."""
    nice = ["nice", "-n", "-10"] if os.geteuid() == 0 else []
    busy, own, start = busy_s(), children_s(), time.monotonic()
    try:
        done = subprocess.run([*nice, *command], capture_output=True, text=True, timeout=limit_s,
                              check=False)
    except subprocess.TimeoutExpired:
        raise Failed(f"took longer than {limit_s} s: {' '.join(command)}") from None
    except OSError as error:
        raise Failed(f"{command[0]}: {error.strerror}") from None
    wall = time.monotonic() - start
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise Failed(f"status {done.returncode}: {' '.join(command)}: {said[-1] if said else ''}")
    return done.stdout, foreign_share(busy_s() - busy, children_s() - own, wall)


def read_results(text):
    """{metric: value} of RESULT lines; a metric that is said several times is their median."""
    values = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) == 5 and words[0] == "RESULT":
            values.setdefault(words[3], []).append(float(words[4]))
    if not values:
        raise Failed("printed no RESULT")
    return {metric: statistics.median(found) for metric, found in values.items()}


def read_weir(text):
    """{metric: value} of what weir-bench prints with --json and one run."""
    try:
        objects = json.loads(text)
    except ValueError:
        raise Failed("weir-bench printed no JSON") from None
    if len(objects) != 1 or objects[0].get("skipped"):
        raise Failed(f"weir-bench: {objects[0].get('skipped') if objects else 'no such row'}")
    if objects[0].get("mode") == "mixed":
        raise Disturbed("the hand-over changed meanwhile")
    return {metric: value for metric, value in objects[0].items()
            if isinstance(value, (int, float)) and metric not in ("threads", "runs", "thrown_away",
                                                                  "handover_ns")}


def read_handover(program):
    """ns; 0 with one core."""
    return float(call([str(program)], limit_s=20)[0])
