# SPDX-License-Identifier: Apache-2.0
"""Limits of the process that are too small: descriptors, address space, threads. The engine runs
with what it gets, or is refused with a reason; it does not crash, hang or lose an event."""
import os
import pathlib
import resource
import shutil
import tempfile

import faults
from faults import tap

KIB, MIB = 1024, 1024 * 1024
NOBODY = 64321  # a user that runs nothing else: the limit on threads counts all of a user's
THREADS_NEEDED = 12  # main, and what system_program starts


def is_fair(outcome):
    """It ran and all is well, or it was refused and the reason was said."""
    return outcome.status == 0 or (outcome.status == 3 and "refused: " in outcome.err)


def check_files(check):
    program = faults.program("system_program")
    for files in (0, 5):
        outcome = faults.run(program, "--files", str(files))
        check(f"{files} descriptors: no external thread, and the rest runs",
              outcome.status == 0 and "Too many open files" in outcome.err, outcome)
    outcome = faults.run(program, "--files", "6")  # a doorbell, and what the application polls
    check("6 descriptors are enough", outcome.status == 0 and not outcome.err, outcome)


def check_memory(check):
    program = faults.program("system_program")
    sizes = [0, 4 * KIB, 64 * KIB, 256 * KIB, 512 * KIB, *(MIB * n for n in range(1, 110, 4))]
    wrong, ran, refused = [], 0, 0
    for size in sizes:
        outcome = faults.run(program, "--memory", str(size))
        ran += outcome.status == 0
        refused += outcome.status == 3
        if not is_fair(outcome):
            wrong.append(f"{size} bytes more: {outcome}")
    print(f"# with {len(sizes)} sizes it ran {ran} times and was refused {refused} times")
    check("address space from nothing to enough: it runs or says why not", not wrong,
          "\n".join(wrong))
    check("address space: both were seen", ran > 0 and refused > 0, f"{ran} and {refused}")


def as_nobody(threads):
    """What the child does before it becomes the program."""
    def prepare():
        resource.setrlimit(resource.RLIMIT_NPROC, (threads, threads))
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    return prepare


def check_threads(check):
    if os.geteuid() != 0:
        check.skip("too few threads", "only root can become a user that runs nothing else")
        return
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        program = shutil.copy(faults.program("system_program"), folder)
        os.chmod(program, 0o755)
        wrong, ran, refused = [], 0, 0
        for threads in range(1, THREADS_NEEDED + 1):
            outcome = faults.run(program, preexec_fn=as_nobody(threads))
            ran += outcome.status == 0
            refused += "could not be started" in outcome.err
            if not is_fair(outcome):
                wrong.append(f"{threads} threads: {outcome}")
        print(f"# it ran {ran} times; {refused} times a thread was refused")
        check(f"1 to {THREADS_NEEDED} threads: it runs with what it gets, or says why not",
              not wrong, "\n".join(wrong))
        check("threads: both were seen", ran > 0 and refused > 0, f"{ran} and {refused}")


def main():
    assert pathlib.Path(faults.program("system_program")).exists()
    with tap.plan() as check:
        check_files(check)
        check_memory(check)
        check_threads(check)


if __name__ == "__main__":
    main()
