# SPDX-License-Identifier: Apache-2.0
"""Who may kill a mutant, what each costs, and which lines each of them runs.

A killer is a test program of tests/meson.build: unit, contract (with the regressions) and stress
tests. A mutant on a line is shown only to the tests that run this line: first the one that killed
last in the same file, then those that are named like the file, then the cheapest. KILLER_SUITES is
the place where more of them join: a suite whose list of programs stands in tests/meson.build as
`<suite>_tests` joins by its name. Before all of them comes the simulator (simulator.py), which is
quick and sees races; memory orders are its alone to judge, since x86 and TSan miss most of them.
"""
import gzip
import hashlib
import json
import pathlib
import subprocess
from collections import namedtuple

from mutation import simulator, workshop

KILLER_SUITES = ["unit", "contract", "stress"]
# gcov sees nothing of a child that was forked and left by _exit or a signal: these may know more
# lines than they are known for.
FORKING = ["engine/fork"]
# Tests that watch the clock for seconds: asked about the files that they are about only. What they
# would have killed elsewhere counts as a survivor.
SLOW = {
    "engine/idle_cost": ("idle", "duty", "thread", "backoff"),
    "engine/idle": ("idle", "duty"),
    "engine/backoff_contract": ("backoff", "duty", "dispatcher"),
    "engine/fairness": ("fair", "dispatcher", "duty"),
    "engine/delay": ("duty", "dispatcher", "backoff"),
}
HANG_FACTOR, HANG_EXTRA = 6, 4.0  # the limit of a test: times its price, and seconds on top
BASELINE_LIMIT = 120

Killer = namedtuple("Killer", "name suite seconds")
Bench = namedtuple("Bench", "name shop killers")  # name: one of BENCHES
BENCHES = ["simulator", "real"]  # in the order in which they are asked
NOT_SIMULATED = "src/sync/real/"


def takes(bench, mutant):
    """Whether it can judge such a mutant at all."""
    if bench == "simulator":
        return not mutant.path.startswith(NOT_SIMULATED)
    return mutant.operator != "order" or mutant.path.startswith(NOT_SIMULATED)


def fingerprint(root, suites):
    """Of all that decides about baseline, coverage and verdicts."""
    digest = hashlib.sha256(" ".join(suites).encode() + repr(simulator.STAGES).encode())
    for folder in workshop.COPIED:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and path.suffix in (".c", ".h", ".build"):
                digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def baseline(shop, stems, say, only=None):
    """The unmutated tree. Answers ({name: Killer}, [names that failed three times], [unsteady]).
    A test that fails now and then on this machine cannot convict anybody. `stems`: of the files
    that are mutated; a slow test that is about none of them is not run. `only`: nobody else."""
    killers, broken, unsteady = {}, [], []
    for name, (suite, _) in shop.tests.items():
        if not stems.intersection(SLOW.get(name, stems)) or only and name not in only:
            continue
        outcomes = [shop.run(name, BASELINE_LIMIT)]
        while outcomes[-1].verdict != "passed" and len(outcomes) < 3:
            outcomes.append(shop.run(name, BASELINE_LIMIT))
        if outcomes[-1].verdict != "passed":
            broken.append(name)
            say(f"{name}: {outcomes[-1].verdict} without any mutation\n{outcomes[-1].text}")
        elif len(outcomes) > 1:
            unsteady.append(name)
        else:
            killers[name] = Killer(name, suite, outcomes[0].seconds)
    return killers, broken, unsteady


class LineMap:
    """Which tests run which line; made by running each of them once with gcov."""

    def __init__(self, runs):
        self.runs = runs  # {path: {line: [names]}}; a line without names is code that nothing runs

    @classmethod
    def measured(cls, shop, names):
        runs = {}
        for name in names:
            for old in shop.folder.rglob("*.gcda"):
                old.unlink()
            shop.run(name, BASELINE_LIMIT)
            for path, line, count in _read_gcov(shop.folder):
                tests = runs.setdefault(path, {}).setdefault(line, [])
                if count > 0 and name not in tests:
                    tests.append(name)
        return cls(runs)

    @classmethod
    def load(cls, path):
        return cls({file: {int(line): names for line, names in lines.items()}
                    for file, lines in json.loads(gzip.decompress(path.read_bytes())).items()})

    def save(self, path):
        path.write_bytes(gzip.compress(json.dumps(self.runs).encode()))

    def tests_of(self, mutant, last_line):
        """Tests that run one of the mutant's lines, or the code line in front of it: gcov books a
        statement over several lines on one of them."""
        lines = self.runs.get(mutant.path, {})
        own = [line for line in range(mutant.line, last_line + 1) if line in lines]
        if not own or not any(lines[line] for line in own):
            before = [line for line in lines if mutant.line - 4 <= line < mutant.line]
            own += [max(before)] if before and not own else []
        return sorted({name for line in own for name in lines[line]})


def _read_gcov(folder):
    """(path, line, count) of all that ran since the last look."""
    files = [str(path.relative_to(folder)) for path in folder.rglob("*.gcda")]
    done = subprocess.run(["gcov", "--json-format", "--stdout", *files], cwd=folder,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    for document in done.stdout.splitlines():
        for file in json.loads(document)["files"]:
            if file["file"].startswith("src/"):
                for line in file["lines"]:
                    yield file["file"], line["line_number"], line["count"]


class Court:
    """Shows a mutant to the killers, bench by bench, one after the other."""

    def __init__(self, benches, line_map, patience=None):
        self.benches, self.line_map = benches, line_map
        self.patience = patience  # seconds of real tests for a mutant; None: all that run its line
        self.last_killer = {}  # {path: name}

    def candidates(self, mutant, bench):
        if bench.name == "simulator":
            return simulator.stages_for(mutant, bench.killers)
        killers, last_line = bench.killers, mutant.line + mutant.old.count("\n")
        stem = pathlib.PurePath(mutant.path).stem
        names = [name for name in self.line_map.tests_of(mutant, last_line)
                 if name in killers and stem in SLOW.get(name, (stem,))]
        if not names:
            names = [name for name in FORKING if name in killers]
        first = self.last_killer.get(mutant.path)
        names.sort(key=lambda name: (name != first, stem not in name, killers[name].seconds))
        price, chosen = 0.0, []
        for name in names:
            price += killers[name].seconds
            if self.patience is None or price <= self.patience or not chosen:
                chosen.append(name)
        return chosen

    def judge(self, mutant, passed=()):
        """(verdict, by, how, benches that it has passed): uncompilable, killed, same or survived.
        `passed`: of an earlier run, not asked again."""
        asked, passed = 0, list(passed)
        for bench in self.benches:
            if bench.name in passed or not takes(bench.name, mutant):
                continue
            bench.shop.apply(mutant)
            if not bench.shop.build([bench.shop.library])[0]:
                return "uncompilable", "", "", passed
            for name in self.candidates(mutant, bench):
                asked += 1
                outcome = self.ask(bench.shop, bench.killers[name])
                if outcome is None:
                    return "uncompilable", "", "", passed
                if outcome.verdict != "passed":
                    if bench.name == "real":
                        self.last_killer[mutant.path] = name
                    return "killed", name, outcome.verdict, passed
            passed.append(bench.name)
            if bench.name == "real" and bench.shop.makes_no_difference(mutant):
                return "same", "", "code", passed
        return "survived", "", f"{asked} tests passed", passed

    @staticmethod
    def ask(shop, killer):
        """One test's outcome; None if it does not compile any more (a changed header)."""
        if not shop.build([shop.tests[killer.name][1]])[0]:
            return None
        limit = killer.seconds * HANG_FACTOR + HANG_EXTRA
        outcome = shop.run(killer.name, limit)
        # What measures time may fail by itself on a busy machine: it has to say so twice.
        if outcome.verdict == "failed" and killer.suite not in ("unit", "simulator"):
            outcome = shop.run(killer.name, limit)
        return outcome
