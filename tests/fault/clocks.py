# SPDX-License-Identifier: Apache-2.0
"""Clocks that are far off, or jump. The monotonic clock by a time namespace: a machine that has been
up for 145 years (as far as the kernel goes) or for two seconds. The wall clock by a library that
makes it jump by two years at every look: timeouts and idle threads do not look at it."""
import concurrent.futures
import json
import os
import re
import time

import faults
from faults import tap

YEARS_145_S = 4_575_000_000
SLACK_MS = 10000  # what a busy machine may add


def enter(offset_s):
    """The command that runs another with that much added to the monotonic clock."""
    return ["unshare", "--time", "--monotonic", str(offset_s), "--boottime", str(offset_s),
            "--fork", "--kill-child"]


def monotonic_there(prefix):
    """What the clock says there; None: not to be had."""
    said = faults.run(*prefix, "python3", "-c",
                      "import time; print(time.clock_gettime(time.CLOCK_MONOTONIC))")
    return float(said.out) if said.status == 0 else None


def last_line(outcome):
    lines = outcome.out.splitlines() or [""]
    return dict(pair.split("=", 1) for pair in lines[-1].split() if "=" in pair)


def took(outcome, status, least_ms):
    got = last_line(outcome)
    return (outcome.status == 0 and got.get("status") == status and
            least_ms <= int(got["ms"]) <= least_ms + SLACK_MS)


def run_all(prefix, environment=None):
    """Every way of waiting, at once: {name: outcome}."""
    program = faults.program("pause_program")
    commands = {
        "drain": [program, "drain", "200", "10000"],
        "timeout": [program, "drain", "5000", "300"],
        "block": [program, "block", "300"],
        "sleep": [program, "sleep", "20"],
        "timers": [program, "timers", "500"],
        "demo": [faults.WEIR, "demo", "--seconds", "0.5", "--json"],
    }
    with concurrent.futures.ThreadPoolExecutor() as pool:
        futures = {name: pool.submit(faults.run, *prefix, *command, env=environment)
                   for name, command in commands.items()}
        return {name: future.result() for name, future in futures.items()}


def check_all(check, where, outcomes):
    check(f"{where}: a stop drains", took(outcomes["drain"], "WEIR_OK", 190), outcomes["drain"])
    check(f"{where}: a stop keeps to its timeout", took(outcomes["timeout"], "WEIR_TIMEOUT", 290),
          outcomes["timeout"])
    check(f"{where}: a post waits as long as it may", took(outcomes["block"], "WEIR_FULL", 290),
          outcomes["block"])
    check(f"{where}: no timer is early, and a rate does not drift",
          took(outcomes["timers"], "WEIR_OK", 490) and "early=0" in outcomes["timers"].out and
          int(re.search(r"drift=(-?\d+)", outcomes["timers"].out)[1]) in range(0, 400),
          outcomes["timers"])
    rounds = re.search(r"rounds=(\d+)", outcomes["sleep"].out)
    check(f"{where}: an idle thread that sleeps 20 ms looks 50 times a second, not more",
          rounds is not None and 1 <= int(rounds[1]) <= 60, outcomes["sleep"])
    demo = outcomes["demo"]
    figures = json.loads(demo.out) if demo.status == 0 else {}
    check(f"{where}: weir demo runs for as long as it was told", demo.status == 0 and
          0.45 <= figures["seconds"] <= 0.5 + SLACK_MS / 1000, demo)


def check_monotonic(check, where, offset_s):
    prefix = enter(offset_s)
    there = monotonic_there(prefix)
    if there is None:
        check.skip(where, "no time namespace can be made here (it needs root and Linux 5.6)")
        return
    print(f"# the monotonic clock says {there:.0f} s")
    check_all(check, where, run_all(prefix))


def check_wall(check):
    library = str(tap.BUILD / "tests" / "libwall_jumps.so")
    environment = {**os.environ, "LD_PRELOAD": library}
    jump = faults.run("python3", "-c", "import time; print(time.time() - time.time())",
                      env=environment)
    check("the wall clock jumps by two years at every look",
          jump.status == 0 and abs(abs(float(jump.out)) - 2 * 31557600) < 10, jump)
    check_all(check, "a wall clock that jumps", run_all([], environment))


def main():
    with tap.plan() as check:
        check_monotonic(check, "up for 145 years", YEARS_145_S)
        check_monotonic(check, "up for two seconds", -int(time.clock_gettime(time.CLOCK_MONOTONIC))
                        + 2)
        check_wall(check)


if __name__ == "__main__":
    main()
