# SPDX-License-Identifier: Apache-2.0
"""tools/perf-guard: 5 % more is a failure that names the path and says what to do, less is told,
what cannot be judged is never passed in silence, and --update keeps what was not counted. With
counts that are made up: valgrind is not needed."""
import copy
import json
import pathlib
import tempfile

import tap

TOOL = tap.ROOT / "tools/perf-guard"
COMPILER = "gcc-12 x86_64 release"
COUNTS = {"locked": 4.0, "fences": 0.0, "barriers": 0.0, "loads": 40.0, "stores": 0.05,
          "calls": 0.0, "clocks": 0.0}
MEASURED = {"compiler": COMPILER, "instructions": {"hop": 800.0, "post": 100.0},
            "operations": {"hop": COUNTS, "post": COUNTS}}
EXPECTED = {"instructions": {COMPILER: MEASURED["instructions"]},
            "operations": MEASURED["operations"]}

# What is counted in place of MEASURED, the exit status, and what is said.
VERDICTS = [
    ("the same as expected passes", {}, 0, ""),
    ("5 % more instructions pass", {("instructions", "hop"): 840.0}, 0, ""),
    ("more than that fails, and names path and numbers", {("instructions", "hop"): 848.0}, 1,
     "hop: instructions 800 -> 848 (+6.0 %, worse)"),
    ("a failure says what to do", {("instructions", "hop"): 848.0}, 1, "--update"),
    ("a locked operation more fails", {("operations", "post", "locked"): 5.0}, 1,
     "post: locked 4 -> 5 (+25.0 %, worse)"),
    ("the first of its kind fails", {("operations", "hop", "fences"): 1.0}, 1,
     "hop: fences 0 -> 1 (from none, worse)"),
    ("an operation in a hundred events is no matter", {("operations", "hop", "stores"): 0.06}, 0,
     ""),
    ("less passes, and is to be noted", {("instructions", "post"): 90.0}, 0,
     "post: instructions 100 -> 90 (-10.0 %, better)"),
    ("worse counts, whatever is better beside it",
     {("instructions", "post"): 90.0, ("operations", "post", "locked"): 5.0}, 1, "locked 4 -> 5"),
    ("a new path needs an expectation", {("instructions", "leap"): 5.0}, 1,
     "leap: instructions without an expectation"),
    ("another compiler is not judged, and that is no pass", {("compiler",): "clang-99"}, 77,
     "instructions: not judged: no expectation for clang-99"),
    ("another compiler is judged by its operations",
     {("compiler",): "clang-99", ("operations", "hop", "locked"): 6.0}, 1, "hop: locked 4 -> 6"),
]


def changed(changes):
    measured = copy.deepcopy(MEASURED)
    for (*above, last), value in changes.items():
        place = measured
        for name in above:
            place = place[name]
        place[last] = value
    return measured


class Desk:
    """A folder with an expectation and a measurement."""

    def __init__(self, folder):
        self.expected = folder / "expected.json"
        self.measured = folder / "measured.json"
        self.expected.write_text(json.dumps(EXPECTED))

    def guard(self, measured, *options):
        self.measured.write_text(json.dumps(measured))
        # The exit status itself is what is looked at.
        command = ("sh", "-c", '"$@"; echo "status $?"', "sh", TOOL, "--expected", self.expected,
                   "--measured", self.measured, *options)
        _, said = tap.run(*command)
        return int(said.rsplit("status ", 1)[1]), said


def check_verdicts(check, desk):
    for sentence, changes, status, words in VERDICTS:
        found, said = desk.guard(changed(changes))
        check(sentence, found == status and words in said, f"status {found}\n{said}")
    without = changed({})
    del without["instructions"]["post"]
    found, said = desk.guard(without)
    check("a path that is gone fails",
          found == 1 and "post: instructions expected, not counted" in said, said)


def check_update(check, desk):
    worse = changed({("instructions", "hop"): 848.0, ("operations", "hop", "locked"): 5.0})
    status, said = desk.guard(worse, "--update")
    check("--update writes what was counted", status == 0 and desk.guard(worse)[0] == 0, said)
    other = changed({("compiler",): "clang-99", ("instructions", "hop"): 700.0})
    desk.guard(other, "--update")
    instructions = json.loads(desk.expected.read_text())["instructions"]
    check("--update keeps what belongs to other compilers",
          instructions == {COMPILER: worse["instructions"], "clang-99": other["instructions"]},
          instructions)
    desk.expected.write_text("{ nonsense")
    status, said = desk.guard(MEASURED)
    check("a file that is no JSON is trouble, with its name",
          status == 2 and str(desk.expected) in said, said)


def main():
    with tempfile.TemporaryDirectory() as folder, tap.plan() as check:
        desk = Desk(pathlib.Path(folder))
        check_verdicts(check, desk)
        check_update(check, desk)
        empty = pathlib.Path(folder, "empty")
        _, said = tap.run(TOOL, "--build", empty)
        check("a build without the program is told so", "meson compile" in said, said)


if __name__ == "__main__":
    main()
