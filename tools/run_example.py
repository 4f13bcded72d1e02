#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs an example and compares what it prints, line for line.

    tools/run_example.py EXPECTED COMMAND...
"""
import difflib
import pathlib
import subprocess
import sys


def main(expected_path, *command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                          check=False)
    expected = pathlib.Path(expected_path).read_text(encoding="utf-8")
    if done.returncode != 0:
        print(f"exit status {done.returncode}, said:\n{done.stdout}")
        return 1
    if done.stdout != expected:
        print("".join(difflib.unified_diff(expected.splitlines(True), done.stdout.splitlines(True),
                                           "expected", "printed")))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
