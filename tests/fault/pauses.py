# SPDX-License-Identifier: Apache-2.0
"""The whole process stands still for a while (SIGSTOP, SIGCONT): amid traffic, amid a stop that has
a timeout, amid a post that waits. Afterwards the sums hold, and a time that is over is over: time
goes on while a process stands still."""
import os
import random
import re
import signal
import time

import faults
from faults import tap

PAUSE_S = 2.0
SLACK_MS = 10000  # what a busy machine may add


def begin(*arguments):
    process = faults.start(faults.program("pause_program"), *arguments)
    process.stdout.readline()  # "begun"
    return process


def begin_and_stop(*arguments):
    process = begin(*arguments)
    time.sleep(0.1)  # in the middle of it
    process.send_signal(signal.SIGSTOP)
    return process


def values(outcome):
    """The last line as a dictionary."""
    lines = outcome.out.splitlines() or [""]
    return dict(pair.split("=", 1) for pair in lines[-1].split() if "=" in pair)


def pause(process, seconds):
    process.send_signal(signal.SIGSTOP)
    time.sleep(seconds)
    process.send_signal(signal.SIGCONT)


def check_traffic(check, outcome, sentence):
    got = values(outcome)
    check(sentence, outcome.status == 0 and got.get("status") == "WEIR_OK" and
          got["left"] == "0" and int(got["handled"]) > 1000, outcome)


def check_wait(check, outcome, sentence, status, least_ms, left):
    """`least_ms`: the pause, if that was longer than the timeout."""
    got = values(outcome)
    good = (outcome.status == 0 and got.get("status") == status and
            least_ms <= int(got["ms"]) <= least_ms + SLACK_MS and
            (int(got["left"]) > 0) == left)
    check(sentence, good, outcome)


def run_in_pieces(process, seed):
    """A hundred short pauses."""
    chance = random.Random(seed)
    for _ in range(100):
        pause(process, chance.uniform(0, 0.005))
        time.sleep(chance.uniform(0, 0.01))


def main():
    seed = int(os.environ.get("WEIR_SEED", time.time_ns() % 1000000))
    print(f"# replay with WEIR_SEED={seed}", flush=True)
    with tap.plan() as check:
        pieces = begin("traffic")
        paused = [begin_and_stop("traffic"), begin_and_stop("drain", "2000", "1500"),
                  begin_and_stop("block", "1500"), begin_and_stop("drain", "1500", "60000"),
                  begin_and_stop("timers", "1000")]
        since = time.monotonic()
        run_in_pieces(pieces, seed)
        time.sleep(max(0.0, since + PAUSE_S - time.monotonic()))
        for process in paused:
            process.send_signal(signal.SIGCONT)
        stood_ms = int(PAUSE_S * 1000)
        traffic, drain, block, patient, timers = (
            faults.finish(process, "enough\n") for process in paused)
        check("timers that were due meanwhile come afterwards, none early, and what a rate missed is "
              "counted", timers.status == 0 and "early=0" in timers.out and
              int(re.search(r"missed=(\d+)", timers.out)[1]) > 100, timers)
        check_traffic(check, traffic,
                      "traffic goes on after a pause of seconds; no event is lost or overtaken")
        check_traffic(check, faults.finish(pieces, "enough\n"),
                      "traffic goes on after a hundred short pauses")
        check_wait(check, drain,
                   "a stop whose time ran out during a pause says TIMEOUT, and what is left",
                   "WEIR_TIMEOUT", stood_ms, True)
        check_wait(check, block, "a post whose time ran out during a pause says FULL",
                   "WEIR_FULL", stood_ms, False)
        check_wait(check, patient, "a stop that has time left after a pause drains", "WEIR_OK",
                   stood_ms, False)


if __name__ == "__main__":
    main()
