# SPDX-License-Identifier: Apache-2.0
"""The command-line contract of `weir`: exit statuses, help, suggestions, and what `weir demo` says
on a pipe, as JSON, on a terminal, and when it is told to end early."""
import json
import os
import pty
import re
import select
import signal
import subprocess
import time

import tap

WEIR = os.environ.get("WEIR_COMMAND", str(tap.BUILD / "weir"))
SECONDS = "0.4"
ESCAPE = "\x1b["


def weir(*arguments, **options):
    """(exit status, standard output, standard error)"""
    done = subprocess.run([WEIR, *arguments], capture_output=True, text=True, check=False,
                          timeout=tap.TIMEOUT_S, **options)
    return done.returncode, done.stdout, done.stderr


def balanced(sums):
    return (sums["accepted"] ==
            sums["handled"] + sums["dropped"] + sums["dead"] + sums["left"] and
            sums["accepted"] > 0)


def on_terminal(*arguments, environment=None):
    """What a terminal gets to see, and the exit status."""
    pid, descriptor = pty.fork()
    if pid == 0:
        os.environ.update({"TERM": "xterm", "LC_ALL": "C.UTF-8", **(environment or {})})
        os.execv(WEIR, [WEIR, *arguments])
    seen, end = b"", time.monotonic() + tap.TIMEOUT_S
    while time.monotonic() < end:
        if not select.select([descriptor], [], [], 1)[0]:
            continue
        try:
            piece = os.read(descriptor, 65536)
        except OSError:  # the other side is closed
            break
        if not piece:
            break
        seen += piece
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(descriptor)
    return seen.decode(), status


def check_usage(check):
    for arguments in (["--help"], ["-h"], ["help"]):
        status, out, _ = weir(*arguments)
        check(f"weir {arguments[0]} shows the commands", status == 0 and "demo" in out, out)
    status, out, _ = weir("--version")
    check("weir --version says weir and a number", status == 0 and
          re.fullmatch(r"weir \d+\.\d+\n", out), out)
    for arguments in (["demo", "--help"], ["help", "demo"], ["demo", "--json", "-h"]):
        status, out, _ = weir(*arguments)
        check(f"weir {' '.join(arguments)} explains every option, in 80 columns",
              status == 0 and all(word in out
                                 for word in ("--seconds", "--json", "--stuck", "--help")) and
              max(map(len, out.splitlines())) <= 80, out)

    wrong = [
        ([], "usage: weir"),
        (["dmeo"], "did you mean 'demo'?"),
        (["no-such-thing"], "the commands are: run"),
        (["--verson"], "unknown option --verson"),
        (["help", "dem"], "did you mean 'demo'?"),
        (["demo", "--secnds", "3"], "did you mean --seconds?"),
        (["demo", "--seconds"], "--seconds needs a value"),
        (["demo", "--json=1"], "--json takes no value"),
        (["demo", "--stukc"], "did you mean --stuck?"),
        (["demo", "-x"], "unknown option -x"),
        (["demo", "--json", "-xh"], "unknown option -x"),
        (["demo", "-s", "3"], "unknown option -s"),
        (["demo", "--help=1"], "--help takes no value"),
        (["demo", "now"], "takes no argument 'now'"),
    ]
    for value in ("0", "0.09", "86401", "-1", "five", "5s", "nan", "inf", "", " 5", "1e999"):
        wrong.append((["demo", "--seconds", value], "must be a number from 0.1 to 86400"))
    for arguments, sentence in wrong:
        status, out, error = weir(*arguments)
        check(f"weir {' '.join(arguments)!r} is wrong usage and says why",
              status == 2 and sentence in error and out == "", f"{status} {out} {error}")


def check_output(check):
    status, out, error = weir("demo", "--seconds", SECONDS, "--json")
    try:
        sums = json.loads(out)
    except ValueError:
        sums = None
    if check("weir demo --json prints one JSON object and nothing else",
             status == 0 and sums is not None and error == "", out + error):
        check("its sums prove P-3", balanced(sums), out)
        check("every term but `left` has something to count",
              sums["dropped"] > 0 and sums["dead"] > 0 and sums["left"] == 0, out)
        check("its dispatchers are the four, with all their figures",
              [row["name"] for row in sums["dispatchers"]] == ["", "api", "realtime", "batch"] and
              all(set(row) == {"name", "threads", "handled", "events_per_s", "depth", "contention",
                               "backoff", "p50_ns", "p99_ns"} and row["handled"] > 0 and
                  row["threads"] > 0 and 0 < row["p50_ns"] <= row["p99_ns"]
                  for row in sums["dispatchers"]), out)
        check("it ran as long as it was told", 0.4 <= sums["seconds"] < 30, out)

    status, out, error = weir("demo", "--seconds", SECONDS, env={**os.environ, "LC_ALL": "C.UTF-8"})
    check("on a pipe there is a summary and no escape sequence",
          status == 0 and "\u2713" in out and ESCAPE not in out and error == "", out + error)
    check("it is readable at 80 columns", max(map(len, out.splitlines())) <= 80, out)
    status, out, _ = weir("demo", "--seconds", SECONDS, env={**os.environ, "LC_ALL": "C"})
    check("without UTF-8 it is plain ASCII", status == 0 and out.isascii(), out)

    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([WEIR, "--help"], stdout=full, stderr=subprocess.PIPE, text=True,
                              check=False, timeout=tap.TIMEOUT_S)
    check("what cannot be written is a failure", done.returncode == 1 and
          "cannot write" in done.stderr, done.stderr)


def check_terminal(check):
    colour = re.compile(r"\x1b\[[0-9;]*m")
    seen, status = on_terminal("demo", "--seconds", "0.9")
    check("on a terminal a table is redrawn in place, and the summary comes last",
          status == 0 and seen.count("\x1b[K") > 20 and re.search(r"\x1b\[\d+F", seen) and
          "\u2713" in seen[seen.rfind("\x1b[J"):], seen)
    check("with colours", colour.search(seen), seen)
    seen, status = on_terminal("demo", "--seconds", "0.4", environment={"NO_COLOR": "1"})
    check("NO_COLOR turns them off", status == 0 and not colour.search(seen), seen)
    seen, status = on_terminal("demo", "--seconds", "0.4", environment={"TERM": "dumb"})
    check("a dumb terminal gets no table", status == 0 and ESCAPE not in seen, seen)
    seen, status = on_terminal("demo", "--seconds", "0.4", "--json")
    check("nor does --json", status == 0 and seen.startswith("{") and ESCAPE not in seen, seen)


def check_stuck(check):
    status, out, error = weir("demo", "--seconds", "1.5", "--stuck", "--json")
    if check("weir demo --stuck reports the handler that hangs, on stderr",
             status == 0 and error.startswith("processor importer-0: its handler has not "
                                              "returned\n    type     demo.record\n    thread"),
             error):
        check("and all is handled all the same", balanced(json.loads(out)), out)
        linked = subprocess.run(["ldd", WEIR], capture_output=True, text=True, check=False).stdout
        check("with the stack, a frame a line",
              "tsan" in linked or re.search(r"\n    stack    \S+(\n {13}\S+)*"
                                            r"\n {13}weir\(weir__demo_hang\+0x", error), error)


def check_early_end(check):
    for name in ("SIGINT", "SIGTERM"):
        begin = time.monotonic()
        process = subprocess.Popen([WEIR, "demo", "--seconds", "60", "--json"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(0.5)  # the load is to be under way; earlier would be an early end all the same
        process.send_signal(getattr(signal, name))
        out, error = process.communicate(timeout=tap.TIMEOUT_S)
        check(f"{name} ends it early, drained, with its sums",
              process.returncode == 0 and time.monotonic() - begin < 30 and
              balanced(json.loads(out)), out + error)


with tap.plan() as plan:
    check_usage(plan)
    check_output(plan)
    check_terminal(plan)
    check_stuck(plan)
    check_early_end(plan)
