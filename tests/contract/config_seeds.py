# SPDX-License-Identifier: Apache-2.0
"""Files that users of the Scala engine and of the server bring along (tests/settings/seeds/): what
`weir config check` says of each, and which settings it makes of it, is what stands beside it in
NAME.expected. On one core, so that warnings about cores are the same everywhere.

    tests/contract/config_seeds.py --write    writes the expectations; look at what has changed
"""
import os
import pathlib
import subprocess
import sys

import tap

SEEDS = tap.ROOT / "tests/settings/seeds"
WEIR = tap.BUILD / "weir"


def run(*command):
    one_core = {min(os.sched_getaffinity(0))}
    return subprocess.run([WEIR, "config", *command], cwd=SEEDS, env={}, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=tap.TIMEOUT_S,
                          preexec_fn=lambda: os.sched_setaffinity(0, one_core))


def outcome(seed):
    """All that is said of it, and what it makes different from the built-in reference."""
    checked = run("check", seed.name)
    said = f"exit {checked.returncode}\n{checked.stdout}"
    if checked.returncode == 0:
        shown = run("show", seed.name).stdout.split("\n")
        lines = [line for line in shown if line.startswith("weir.") and not line.endswith("# built-in")]
        said += "\n" + "".join(f"{' '.join(line.split())}\n" for line in lines)
    return said


seeds = sorted(path for path in SEEDS.iterdir() if path.suffix in (".conf", ".yaml"))
if "--write" in sys.argv:
    for seed in seeds:
        pathlib.Path(f"{seed}.expected").write_text(outcome(seed))
    sys.exit(0)

with tap.plan() as check:
    check("there are seeds", len(seeds) > 30, len(seeds))
    without_yaml = "YAML is not built into" in run("check", "agent-threads.yaml").stdout
    for seed in seeds:
        if seed.suffix == ".yaml" and without_yaml:
            check.skip(f"{seed.name}", "this command was built without libfyaml")
            continue
        wanted = pathlib.Path(f"{seed}.expected").read_text()
        got = outcome(seed)
        check(f"{seed.name} is read as expected", got == wanted, f"wanted:\n{wanted}got:\n{got}")
    stray = [path.name for path in SEEDS.glob("*.expected") if path.with_suffix("") not in seeds]
    check("no expectation is without its seed", not stray, stray)
