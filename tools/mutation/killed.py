# SPDX-License-Identifier: Apache-2.0
"""tests/mutation/killed.txt: who was killed in the last published run, one a line: `ID by how`.

A slice of them, another one with every commit and day, is killed again by ./check. Only those are
taken that the simulator killed without waiting for a hang: quick, and the same verdict every time.
"""
import datetime
import random
import subprocess

HEAD = """\
# SPDX-License-Identifier: Apache-2.0
#
# The mutants that were killed in the last published run: name, killer, how. Written by
# tools/mutate --publish; tools/mutate --slice kills some of them again. One that lives now means
# that a test got weaker. A name goes with its line: what was edited since is not asked for.

"""


def read(path):
    """{id: (killer, how)}"""
    lines = path.read_text().splitlines() if path.exists() else []
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    return {name: (by, how) for name, by, how in rows}


def write(path, results):
    rows = sorted(f"{name} {result['by']} {result['how']}" for name, result in results.items()
                  if result["verdict"] == "killed")
    path.write_text(HEAD + "\n".join(rows) + "\n")


def in_rotation(dead, mutants, count, root):
    """(`count` mutants, how many of the list there are no more), by commit and date."""
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True, check=False).stdout.strip()
    quick = {name for name, (by, how) in dead.items() if by.startswith("sim/") and how != "hung"}
    there = [mutant for mutant in mutants if mutant.id in quick]
    chance = random.Random(f"{commit} {datetime.date.today()}")
    return (chance.sample(there, min(count, len(there))),
            len(dead.keys() - {mutant.id for mutant in mutants}))
