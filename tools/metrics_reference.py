#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/METRICS.md: every metric, from the table of metrics (src/metric/table.c), as the weir command
prints it.

    tools/metrics_reference.py WEIR            writes it; WEIR is the command, as in build/weir
    tools/metrics_reference.py WEIR --check    fails if it is stale, and says where
"""
import difflib
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/METRICS.md"


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    text = subprocess.run([sys.argv[1], "metrics", "reference"], check=True, text=True,
                          stdout=subprocess.PIPE, timeout=60).stdout
    if len(sys.argv) == 2:
        PAGE.write_text(text)
        return 0
    old = PAGE.read_text() if PAGE.exists() else ""
    if old == text:
        return 0
    print("docs/METRICS.md is stale: run tools/metrics_reference.py build/weir")
    print("".join(list(difflib.unified_diff(old.splitlines(True), text.splitlines(True),
                                            "docs/METRICS.md", "the table"))[:40]), end="")
    return 1


sys.exit(main())
