# SPDX-License-Identifier: Apache-2.0
"""`weir sim scale`: what it says, that the same costs give the same table, how it is refused."""
import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "contract"))
import tap  # noqa: E402  (it lives beside the contract's scripts)

SCALE = os.environ.get("WEIR_SCALE", str(tap.BUILD / "weir-sim-scale"))
SMALL = ("--cores", "1,4", "--window-ms", "2", "--warm-up-ms", "5")
FIXED = (*SMALL, "--default-costs")


def scale(*arguments):
    """(exit status, standard output, standard error)"""
    done = subprocess.run([SCALE, *arguments], capture_output=True, text=True, check=False,
                          timeout=tap.TIMEOUT_S)
    return done.returncode, done.stdout, done.stderr


def rows(*arguments):
    status, out, error = scale(*FIXED, "--json", *arguments)
    if status not in (0, 1):
        raise RuntimeError(error)
    return {(row["threads"], row["dispatchers"]): row for row in map(json.loads, out.splitlines())}


REFUSED = [("--cores",), ("--cores", "0"), ("--cores", "1,,2"), ("--cores", "1,2,"),
           ("--cores", "four"), ("--cores", "-1"), ("--cores", "1000"), ("--cores", ""),
           ("--dispatchers", "65"), ("--work-ns", "-1"), ("--work-ns", "1e3"), ("--events", "0"),
           ("--transfer-ns", "x"), ("--transfer-ns", "-1"), ("--transfer-ns", "1 "),
           ("--transfer-ns",), ("--read-takes", "2"), ("--nonsense",), ("extra",)]

with tap.plan() as check:
    status, out, error = scale(*SMALL, "--dispatchers", "1,4")
    check("it runs with what it measures here", status == 0, out + error)
    check("the first line says that it is a prediction", out.startswith("A prediction"), out)
    check("it says what it was checked against", "real runs at\n1 and 2 cores" in out, out)
    check("a table a number of dispatchers",
          "\n1 dispatcher\n" in out and "\n4 dispatchers\n" in out, out)
    check("it counts targets", re.search(r"\n\d+ targets met, \d+ missed \(predicted\)\n$", out), out)

    costs = re.search(r"^costs.*?: (.*)$", out, re.MULTILINE)[1].split()
    again = scale(*SMALL, "--dispatchers", "1,4", *costs)[1]
    check("the costs that it prints give the same tables",
          again.partition("load:")[2] == out.partition("load:")[2], f"{out}\n{again}")
    check("with given costs two runs say the same",
          scale(*FIXED, "--lines", "5") == scale(*FIXED, "--lines", "5"))

    one = rows("--dispatchers", "1,4")
    check("alone is the measure of efficiency", one[1, 1]["efficiency"] == 1, one)
    check("every row says that it is a prediction", all(r["prediction"] for r in one.values()), one)
    check("a handler of 1 us on one core: less than a million events a second, more than half of it",
          500000 < one[1, 1]["events_per_second"] < 1000000, one)
    check("four threads on four dispatchers have nothing to do with each other",
          one[4, 4]["efficiency"] > 0.98, one)
    slow = rows("--dispatchers", "1", "--transfer-ns", "300")
    check("dearer transfers cost where threads share a dispatcher",
          slow[4, 1]["events_per_second"] < 0.95 * one[4, 1]["events_per_second"], slow)
    check("and cost nothing where one thread is alone",
          slow[1, 1]["events_per_second"] > 0.99 * one[1, 1]["events_per_second"], slow)
    alone = rows("--cores", "4", "--dispatchers", "4")
    check("efficiency does not need the row of one thread",
          alone[4, 4]["efficiency"] == one[4, 4]["efficiency"], alone)

    status, out, _ = scale(*FIXED, "--dispatchers", "1", "--lines", "3")
    check("--lines names lines and places in the source",
          re.search(r"the line of \S+, (after )?engine/\S+:\d+ ", out), out)
    bad = ("--dispatchers", "4", "--cores", "8", "--events", "1", "--transfer-ns", "3000")
    check("--strict makes a missed target a failure", scale(*FIXED, *bad, "--strict")[0] == 1)
    check("without it a missed target is told", "MISSED" in scale(*FIXED, *bad)[1])

    status, out, _ = scale("--help")
    check("--help lists the costs", status == 0 and "--transfer-ns" in out, out)
    for arguments in REFUSED:
        status, out, error = scale(*arguments)
        check(f"refused: {' '.join(arguments)}", status == 2 and out == "" and arguments[0] in error,
              f"{status} {out} {error}")
