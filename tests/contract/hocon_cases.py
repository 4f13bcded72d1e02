# SPDX-License-Identifier: Apache-2.0
"""Folders of cases for the readers of HOCON, run through `weir config` as users would: NAME.conf with
the tree that NAME.json has, or with NAME.error to be refused; layered/*/ with two files; getters.tsv
with values asked for. The folders of this tree, and those that $WEIR_HOCON_EXTRA names (with ':'
between them)."""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import tempfile

import tap

WEIR = os.environ.get("WEIR_COMMAND", str(tap.BUILD / "weir"))
LOCALE = {"LC_ALL": "C.UTF-8"}
NOT_READ = {"classpath", "url"}  # of Java, and of the network: refused with a message
# A sanitizer's options have to reach the command, whose environment is the case's otherwise.
SANITIZERS = {name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}


def weir(arguments, folder, environment):
    """The finished process, or None if it did not end."""
    try:
        return subprocess.run([WEIR, "config", *arguments], cwd=folder, capture_output=True,
                              env={**LOCALE, **SANITIZERS, **environment}, check=False, timeout=30)
    except subprocess.TimeoutExpired:
        return None


def alike(a, b):
    """Numbers as numbers, all else exactly."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(alike(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b or abs(a - b) <= 1e-12 * max(abs(a), abs(b))
    return type(a) is type(b) and a == b


def parsed(text):
    try:
        return json.loads(text)
    except ValueError:
        return None


def judge(done, expected):
    """None if a run gave the tree of the file `expected`, or refused where that is None."""
    if done is None:
        return "it did not end"
    said = done.stderr.decode("utf-8", "replace").strip()
    if done.returncode not in (0, 1, 2):
        return f"it ended with {done.returncode}: {said[-300:]}"
    if expected is None:
        if done.returncode == 0:
            return f"it was taken: {done.stdout.decode('utf-8', 'replace')[:200]}"
        return None if said else "it was refused without a word"
    if done.returncode != 0:
        return f"it was refused: {said[:300]}"
    if not alike(parsed(expected.read_text(encoding="utf-8")), parsed(done.stdout)):
        return f"wrong: {done.stdout.decode('utf-8', 'replace')[:300]}"
    return None


def environment_of(case):
    path = case.with_suffix(".env")
    lines = path.read_text(encoding="utf-8").split("\n") if path.exists() else []
    return dict(line.split("=", 1) for line in lines if line)


def run_case(case):
    expected = None if case.with_suffix(".error").exists() else case.with_suffix(".json")
    done = weir(["render", f"./{case.name}"], case.parent, environment_of(case))
    return case.stem, judge(done, expected)


def run_layers(folder):
    done = weir(["render", "./reference.conf", "./application.conf"], folder, {})
    names = ("expected-config14.json", "expected.json")
    found = [folder / name for name in names if (folder / name).exists()]
    return folder.name, judge(done, found[0] if found else None)


def run_getter(row):
    """A line of getters.tsv: getter, text of a value, what is printed or ERROR."""
    getter, text, expected = row.split("\t")
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "v.conf").write_text(f"v = {text}\n", encoding="utf-8")
        done = weir(["get", "v.conf", "v", "--as", getter], folder, {})
    name = f"{getter} of {text}"
    if expected.startswith("ERROR") or done is None:
        return name, judge(done, None)
    out = done.stdout.decode("utf-8", "replace").rstrip("\n")
    if done.returncode == 0 and (out == expected or (parsed(out) is not None and
                                                     alike(parsed(out), parsed(expected)))):
        return name, None
    return name, f"{out or done.stderr.decode('utf-8', 'replace')} instead of {expected}"


def left_out(folder):
    """The cases whose features nobody promises."""
    manifest = folder / "MANIFEST.tsv"
    rows = manifest.read_text(encoding="utf-8").splitlines()[1:] if manifest.exists() else []
    fields = [row.split("\t") for row in rows]
    return {row[0] for row in fields if len(row) > 3 and set(row[3].split(",")) & NOT_READ}


def check_folder(check, folder):
    without = left_out(folder)
    cases = sorted(path for path in folder.glob("[0-9][0-9][0-9]*.conf")
                   if path.stem not in without)
    layers = sorted(path for path in folder.glob("layered/*") if path.is_dir())
    getters = folder / "getters.tsv"
    rows = getters.read_text(encoding="utf-8").splitlines() if getters.exists() else []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for what, run, items in (("a file is read as expected", run_case, cases),
                                 ("layers become one tree", run_layers, layers),
                                 ("a getter answers", run_getter, rows)):
            bad = [f"{name}: {why}" for name, why in pool.map(run, items) if why is not None]
            if items:
                check(f"{folder.name}: {what}, {len(items)} times", not bad, "\n".join(bad))
    return len(cases)


with tap.plan() as plan:
    for OWN in (tap.ROOT / "tests/hocon/cases", tap.ROOT / "tests/hocon/own"):
        plan(f"there are cases in {OWN.name}/", OWN.is_dir() and check_folder(plan, OWN) > 100, OWN)
    EXTRA = os.environ.get("WEIR_HOCON_EXTRA", "")
    if not EXTRA:
        plan.skip("the cases of $WEIR_HOCON_EXTRA are read as expected", "it is not set")
    for extra in map(pathlib.Path, filter(None, EXTRA.split(":"))):
        # A folder of cases, or one of such folders.
        folders = [extra] if any(extra.glob("[0-9]*.conf")) else sorted(extra.glob("*/"))
        count = sum(check_folder(plan, folder) for folder in folders)
        plan(f"there are cases in {extra}", count > 0)
