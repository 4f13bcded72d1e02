# SPDX-License-Identifier: Apache-2.0
"""tests/mutation/survivors.txt: every survivor and why it may live.

    ID
        the mutation, in words
        KIND: why, over as many lines as it takes

KIND is one of: equivalent (no program can tell), harmless (can be told, breaks no promise: speed,
politeness, a number that nobody is promised), simulator (a memory order or an interleaving that
real threads do not show: the simulator's to kill), missing (a test that should be written).
"""
import pathlib
import re
from collections import namedtuple

KINDS = ("equivalent", "harmless", "simulator", "missing")
Entry = namedtuple("Entry", "kind text line")


def read(path):
    """({id: Entry}, [errors])"""
    entries, errors, current = {}, [], None
    path = pathlib.Path(path)
    lines = path.read_text().splitlines() if path.exists() else []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            current = None
        elif not line.startswith(" "):
            current = line.strip()
            if current in entries:
                errors.append(f"{path}:{number}: {current} stands here twice")
            entries[current] = Entry("", "", number)
        elif current is None:
            errors.append(f"{path}:{number}: an explanation without a mutant")
        else:
            kind = re.match(r"\s+(\w+): \S", line)
            old = entries[current]
            if kind and kind[1] in KINDS:
                old = old._replace(kind=kind[1])
            entries[current] = old._replace(text=(old.text + " " + line.strip()).strip())
    for name, entry in entries.items():
        if not entry.kind:
            errors.append(f"{path}:{entry.line}: {name}: no '{', '.join(KINDS)}: why'")
    return entries, errors
