# SPDX-License-Identifier: Apache-2.0
"""What the scripts of this folder share: where the programs are, and how to run one that may hang,
crash or be denied what it asks for.

An *outcome* says all that can be said of a run: exit status (None: it did not end in time),
standard output, standard error, how long it took.
"""
import dataclasses
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "contract"))
import tap  # noqa: E402

WEIR = os.environ.get("WEIR_COMMAND", str(tap.BUILD / "weir"))
LIMIT_S = 40  # longer than any run that ends, on a busy machine


@dataclasses.dataclass
class Outcome:
    status: int = None
    out: str = ""
    err: str = ""
    seconds: float = 0.0

    def __str__(self):
        end = "did not end in time" if self.status is None else f"exit status {self.status}"
        return f"{end} after {self.seconds:.1f} s\n{self.out}{self.err}"


def program(name):
    """A program of tests/meson.build."""
    return str(tap.BUILD / "tests" / name)


def example(name):
    return str(tap.BUILD / f"example-{name}")


def finish(process, text=None, since=None):
    """Waits for the end of a process; one that does not end is killed, and is no success."""
    since = time.monotonic() if since is None else since
    try:
        out, err = process.communicate(text, timeout=LIMIT_S)
        status = process.returncode
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGCONT)
        process.kill()
        out, err = process.communicate()
        status = None
    return Outcome(status, out or "", err or "", time.monotonic() - since)


def run(*command, **options):
    options.setdefault("stdout", subprocess.PIPE)
    since = time.monotonic()
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, **options)
    return finish(process, since=since)


def start(*command, **options):
    """A process to talk to by lines."""
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, **options)


def why_no_strace():
    """None if strace can attach to a process here."""
    if shutil.which("strace") is None:
        return "strace is not installed"
    process = subprocess.Popen(["sleep", "10"])
    tracer = subprocess.Popen(["strace", "-o", "/dev/null", "-p", str(process.pid)],
                              stderr=subprocess.PIPE, text=True)
    said = tracer.stderr.readline()
    process.kill()
    process.wait()
    tracer.communicate()
    return None if "attached" in said else f"strace cannot attach: {said.strip()}"


def run_injected(call, fault, *command):
    """Runs a program that waits for a line (--wait), and from that line on injects a fault into a
    system call. `fault` is as strace has it: "error=EIO:when=2" (each thread's second one),
    "delay_exit=1000". Answers the outcome and how many calls were hit."""
    process = start(*command, "--wait")
    process.stdout.readline()
    since = time.monotonic()
    # A file: of a pipe that is full strace would wait, and all that it traces with it.
    with tempfile.NamedTemporaryFile("r") as written:
        tracer = subprocess.Popen(
            ["strace", "-f", "-e", f"trace={call}", "-e", f"inject={call}:{fault}",
             "-e", "signal=none", "-o", written.name, "-p", str(process.pid)],
            stderr=subprocess.PIPE, text=True)
        tracer.stderr.readline()  # "strace: Process N attached"
        outcome = finish(process, "go\n", since)
        try:
            tracer.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            tracer.kill()
            tracer.communicate()
        trace = written.read()
    return outcome, trace.count("(INJECTED)") + trace.count("(DELAYED)")
