#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads meson's testlog.json: counts single tests (a TAP line is one test, as is a program that
speaks no TAP) and shows what failed.

    tools/testlog.py BUILD/meson-logs/testlog.json     prints "PASSED FAILED SKIPPED" on stdout,
                                                       what failed on stderr
"""
import json
import re
import sys

TAP = re.compile(r"^(not )?ok\b([^#\n]*)(# *(skip|todo)\b)?", re.IGNORECASE | re.MULTILINE)
SKIPPED_IN_C = re.compile(r"^# SKIP", re.MULTILINE | re.IGNORECASE)  # test_skip() of tests/test_support.h
GOOD = re.compile(r"^ok\b.*\n", re.MULTILINE)  # not shown: what failed is looked for
OUTPUT_MAX = 20000  # characters of one test's output that are shown, from its end


def count(test):
    """(passed, failed, skipped) of one entry."""
    out, err = test.get("stdout", ""), test.get("stderr", "")
    result = test["result"]
    lines = TAP.findall(out) if re.search(r"^1\.\.\d+", out, re.MULTILINE) else []
    if not lines:
        return (result in ("OK", "EXPECTEDFAIL"), result not in ("OK", "EXPECTEDFAIL", "SKIP"),
                result == "SKIP")
    skipped = sum(1 for _, _, directive, _ in lines if directive)
    failed = sum(1 for no, _, directive, _ in lines if no and not directive)
    passed = len(lines) - skipped - failed
    skipped_in_c = min(passed, len(SKIPPED_IN_C.findall(err)))
    # A program that timed out or crashed behind its last line has failed once, too.
    if result not in ("OK", "SKIP", "EXPECTEDFAIL") and failed == 0:
        failed = 1
    return passed - skipped_in_c, failed, skipped + skipped_in_c


def main(path):
    passed = failed = skipped = 0
    with open(path, encoding="utf-8") as log:
        for line in log:
            test = json.loads(line)
            p, f, s = count(test)
            passed, failed, skipped = passed + p, failed + f, skipped + s
            if f:
                print(f"--- {test['name']}: {test['result']}, status {test.get('returncode')}, "
                      f"{test['duration']:.1f} s", file=sys.stderr)
                print(" ".join(test.get("command", [])), file=sys.stderr)
                for stream in ("stdout", "stderr"):
                    if text := GOOD.sub("", test.get(stream, "")):
                        print(text[-OUTPUT_MAX:].rstrip(), file=sys.stderr)
    print(passed, failed, skipped)


if __name__ == "__main__":
    main(sys.argv[1])
