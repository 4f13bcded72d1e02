# SPDX-License-Identifier: Apache-2.0
"""The catalogue of tests/planted/ is whole: every bug can be planted in the tree as it is, and what
is said to catch it exists. That it does is shown by tools/planted-bugs."""
import importlib.machinery
import importlib.util
import json
import re
import subprocess
import sys

import tap

BUGS_MIN = 30


def load_tool():
    """tools/planted-bugs is a command, so its name is no module's."""
    path = str(tap.ROOT / "tools/planted-bugs")
    loader = importlib.machinery.SourceFileLoader("planted_bugs", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    sys.modules[loader.name] = module  # dataclasses look themselves up
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


tool = load_tool()


def tests_of_build():
    """And those of the simulator, which need not be built."""
    built = json.loads((tap.BUILD / "meson-info/intro-tests.json").read_text())
    simulated = (tap.ROOT / "tests/sim").glob("*_test.c")
    return ({test["name"] for test in built} |
            {"sim/" + source.name.removesuffix("_test.c") for source in simulated})


def scenarios():
    """What the simulator's program lists; where it is not built: what its sources say."""
    program = tap.BUILD / tool.SCENARIOS
    if program.is_file():
        said = subprocess.run([program, "--list"], stdout=subprocess.PIPE, text=True, check=True)
        return {line.split()[0] for line in said.stdout.splitlines()}
    return {name.replace("_", "-") for source in (tap.ROOT / "tests/sim").glob("*.c")
            for name in re.findall(r"^SCENARIO\((\w+)", source.read_text(), re.MULTILINE)}


def what_is_wrong(bug, tests):
    """Sentences about one bug; none: it is fine."""
    try:
        tool.patched(tap.ROOT, bug)
    except tool.Wrong as wrong:
        yield str(wrong)
    for path, _, _ in bug.hunks:
        if not path.startswith("src/") or not path.endswith((".c", ".h")):
            yield f"changes {path}: a bug is planted in src/"
    lines = sum(len(set(new.splitlines()) - set(old.splitlines())) for _, old, new in bug.hunks)
    if lines > 8:
        yield f"is {lines} lines long: a slip of the pen is shorter"
    if bug.kind == "sim":
        if bug.check not in simulated:
            yield f"there is no scenario {bug.check}"
        if bug.header["Caught by"] != f"sim {bug.check}":
            yield f"Caught by: is sim {bug.check}, the scenario of How:"
        return
    if bug.check not in tests:
        yield f"there is no test {bug.check}"
    if bug.case and bug.case not in tool.cases_of(tap.ROOT, bug.check):
        yield f"{bug.check} has no case {bug.case}"
    if bug.header["Caught by"].partition(": ")[0] != bug.check:
        yield f"Caught by: begins with {bug.check}, the check of How:"


with tap.plan() as check:
    try:
        bugs = tool.catalogue(tap.ROOT)
        check("every bug has a number, a name and the lines that say what it is", True)
    except tool.Wrong as reason:
        bugs = []
        check("every bug has a number, a name and the lines that say what it is", False, reason)
    check(f"there are at least {BUGS_MIN} bugs", len(bugs) >= BUGS_MIN, f"{len(bugs)}")
    known = tests_of_build()
    simulated = scenarios()
    for one in bugs:
        wrongs = list(what_is_wrong(one, known))
        check(f"{one.title} applies and names a check that exists", not wrongs, "\n".join(wrongs))
