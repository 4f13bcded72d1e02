# SPDX-License-Identifier: Apache-2.0
"""Standard output that cannot be written: a full disk (a small tmpfs in a mount namespace, so that
the machine's own are left alone), a pipe that nobody reads, a closed descriptor, /dev/full. The
command says so and fails, in time; the library prints to nobody's harm."""
import os
import pty
import re
import subprocess

import faults
from faults import tap

CANNOT = r"^weir: cannot write to standard output: {}$"
EXAMPLES = ["01-hello", "02-backpressure", "04-blocks", "05-signal"]  # as far as they are built

# In a namespace of its own: a tmpfs of one page (the folder has one too), filled to the brim.
FULL_DISK = """
set -e
mount -t tmpfs -o size=8k tmpfs "$1"
head -c 65536 /dev/zero >"$1/filler" 2>/dev/null || true
shift
exec "$@"
"""


def examples():
    return [name for name in EXAMPLES if os.path.exists(faults.example(name))]


def on_full_disk(folder, *command):
    """Runs it with standard output in a file on a disk that is full."""
    script = f'exec "$@" >"{folder}/output"'
    return faults.run("unshare", "--mount", "sh", "-c", FULL_DISK, "sh", str(folder), "sh", "-c",
                      script, "sh", *command)


def to_closed_pipe(*command):
    read, write = os.pipe()
    os.close(read)
    try:
        # As a shell starts it: a broken pipe is a signal, unless the program says otherwise.
        return faults.run(*command, stdout=write, restore_signals=True)
    finally:
        os.close(write)


def to_file(path, *command):
    with open(path, "w", encoding="utf-8") as file:
        return faults.run(*command, stdout=file)


def closed(*command):
    return faults.run("sh", "-c", 'exec "$@" >&-', "sh", *command)


def check_command(check, where, outcome, said):
    check(f"{where}: weir says so and fails",
          outcome.status == 1 and re.search(said, outcome.err, re.MULTILINE), outcome)


def check_commands(check, folder):
    demo = [faults.WEIR, "demo", "--seconds", "0.2"]
    full = "No space left on device"
    probe = on_full_disk(folder, "echo", "something")
    if "unshare" in probe.err or "mount" in probe.err:
        check.skip("a full disk", f"no mount namespace can be made here: {probe.err.strip()}")
    else:
        check("a full disk is full", probe.status != 0 and full in probe.err, probe)
        for command in (demo, [*demo, "--json"], [faults.WEIR, "help"],
                        [faults.WEIR, "--version"]):
            check_command(check, f"{' '.join(command[1:])} on a full disk",
                          on_full_disk(folder, *command), CANNOT.format(full))
        for name in examples():
            outcome = on_full_disk(folder, faults.example(name))
            check(f"example {name} ends on a full disk", outcome.status is not None and
                  outcome.status >= 0, outcome)
    for command in (demo, [*demo, "--json"], [faults.WEIR, "help"]):
        words = " ".join(command[1:])
        check_command(check, f"{words} to /dev/full", to_file("/dev/full", *command),
                      CANNOT.format(full))
        check_command(check, f"{words} to a closed descriptor", closed(*command),
                      CANNOT.format("Bad file descriptor"))


def check_pipes(check):
    for arguments in (["demo", "--seconds", "0.2"], ["demo", "--seconds", "0.2", "--json"],
                      ["help"]):
        outcome = to_closed_pipe(faults.WEIR, *arguments)
        # Killed by SIGPIPE like any other filter, or told about EPIPE: both end it.
        check(f"weir {' '.join(arguments)} ends when nobody reads its pipe",
              outcome.status in (-13, 1), outcome)
    for name in examples():
        outcome = to_closed_pipe(faults.example(name))
        check(f"example {name} ends when nobody reads its pipe", outcome.status is not None,
              outcome)
    shell = faults.run("bash", "-c",
                       f'set -o pipefail; trap "" PIPE; "{faults.WEIR}" demo --seconds 0.2 | true')
    check("with SIGPIPE ignored weir says that the pipe is broken",
          shell.status == 1 and re.search(CANNOT.format("Broken pipe"), shell.err, re.MULTILINE),
          shell)


def check_terminal(check):
    """The live table, on a terminal whose window is closed midway."""
    master, slave = pty.openpty()
    process = subprocess.Popen([faults.WEIR, "demo", "--seconds", "1.5"], stdout=slave,
                               stderr=subprocess.PIPE, text=True,
                               env={**os.environ, "TERM": "xterm"})
    os.close(slave)
    seen = os.read(master, 100)
    os.close(master)
    outcome = faults.finish(process)
    check_command(check, "a terminal that goes away", outcome, CANNOT.format("Input/output error"))
    check("a terminal that goes away: the table had been drawn, and the time is kept",
          len(seen) > 0 and outcome.seconds < 8, outcome)


def main():
    folder = tap.BUILD / "tests" / "full_disk"
    folder.mkdir(parents=True, exist_ok=True)
    with tap.plan() as check:
        check_commands(check, folder)
        check_pipes(check)
        check_terminal(check)


if __name__ == "__main__":
    main()
