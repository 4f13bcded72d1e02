#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""config/reference.conf and docs/man/weir.conf.5: every key, from the table of settings
(src/settings/table.c), as the weir command prints them.

    tools/config_reference.py WEIR            writes both; WEIR is the command, as in build/weir
    tools/config_reference.py WEIR --check    fails if one is stale, and says where
"""
import difflib
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGES = [(ROOT / "config/reference.conf", []), (ROOT / "docs/man/weir.conf.5", ["--manual"])]


def printed(weir, options):
    return subprocess.run([weir, "config", "reference", *options], check=True, text=True,
                          stdout=subprocess.PIPE, timeout=60).stdout


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    stale = False
    for page, options in PAGES:
        text = printed(sys.argv[1], options)
        if len(sys.argv) == 2:
            page.parent.mkdir(exist_ok=True)
            page.write_text(text)
            continue
        old = page.read_text() if page.exists() else ""
        if old != text:
            stale = True
            name = page.relative_to(ROOT)
            print(f"{name} is stale: run tools/config_reference.py build/weir")
            print("".join(list(difflib.unified_diff(old.splitlines(True), text.splitlines(True),
                                                    str(name), "the table"))[:40]), end="")
    return 1 if stale else 0


sys.exit(main())
