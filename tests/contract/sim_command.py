# SPDX-License-Identifier: Apache-2.0
"""`weir sim`: scenarios of shared objects and unchanged programs, both linked with plain -lweir;
what it says of failures, that they can be repeated, and what it says when it is used wrongly."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile

import tap

SIM = os.environ.get("WEIR_SIM_COMMAND", str(tap.BUILD / "weir-sim"))
WEIR = os.environ.get("WEIR_COMMAND", str(tap.BUILD / "weir"))
SOURCES = tap.ROOT / "tests/contract/sim"
FLAGS = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread",
         f"-I{tap.ROOT / 'include'}"]
LINK = [f"-L{tap.BUILD}", f"-Wl,-rpath,{tap.BUILD}"]
STATIC = tap.BUILD / "libweir.a"


def simulate(folder, *arguments, command=SIM, **options):
    """(exit status, standard output, standard error)"""
    done = subprocess.run([command, *arguments], capture_output=True, text=True, check=False,
                          timeout=tap.TIMEOUT_S, cwd=folder, stdin=subprocess.DEVNULL, **options)
    return done.returncode, done.stdout, done.stderr


def build(check, folder):
    plugin, program = SOURCES / "plugin.c", SOURCES / "program.c"
    made = [
        ("plugin.so", ["-shared", "-fPIC", plugin, *LINK, "-lweir"]),
        ("program", [program, *LINK, "-lweir"]),
        ("a program", [program, *LINK, "-lweir"]),
        ("with-archive", [program, STATIC]),
        ("static", ["-static", program, STATIC]),
        ("with-sim", [program, *LINK, "-lweir-sim"]),
        ("empty.so", ["-shared", "-fPIC", "-x", "c", "/dev/null"]),
        ("object.o", ["-c", program]),
    ]
    for name, arguments in made:
        good, said = tap.run("cc", *FLAGS, *arguments, "-o", folder / name)
        check(f"{name} is built", good, said)
    _, dynamic = tap.run("readelf", "-d", folder / "plugin.so")
    check("the plugin asks for the plain library", "[libweir.so.0]" in dynamic and
          "libweir-sim" not in dynamic, dynamic)


def check_plugin(check, folder):
    status, out, error = simulate(folder, "./plugin.so", "--list")
    check("--list names the scenarios of a plugin", status == 0 and
          re.findall(r"^(\S+)", out, re.MULTILINE) ==
          ["locks", "sleeps", "fails", "crashes", "leaves-locked"], out + error)
    status, out, error = simulate(folder, "./plugin.so", "locks", "sleeps", "--runs", "300")
    check("its weir_ and POSIX calls are the simulator's: locks hold, sleeps take no time",
          status == 0 and out.count(" ok\n") == 2 and error == "", out + error)
    status, out, _ = simulate(folder, "./plugin.so", "fails", "--runs", "500")
    check("a run that fails is told, with why and how to repeat it",
          status == 1 and "FAILED" in out and "why: five was chosen" in out and
          "replay: " in out, out)
    status, out, _ = simulate(folder, "./plugin.so", "crashes")
    check("a crash is a run that failed", status == 1 and "why: Aborted" in out, out)
    status, out, _ = simulate(folder, "./plugin.so", "leaves-locked", "--shrink")
    check("locks that a failed run held are free in the next",
          status == 1 and "why: three was chosen" in out, out)
    status, out, _ = simulate(folder, "./plugin.so", "fails", "--shrink")
    check("notes are told with a failure", "a note before the failure" in out, out)
    plain = "plugin.so"  # a file here, not a library of the system
    status, out, error = simulate(folder, plain, "sleeps", "--runs", "3")
    check("a plugin needs no slash in its name", status == 0, out + error)


def check_instrumented(check, folder):
    for compiler in tap.compilers("gcc", "clang"):
        name = f"racy-{compiler}"
        good, said = tap.run(compiler, *FLAGS, "-fsanitize=thread", "-fPIC", "-c",
                             SOURCES / "racy.c", "-o", folder / f"{name}.o")
        also, more = tap.run(compiler, "-shared", folder / f"{name}.o", *LINK, "-lweir", "-o",
                             folder / f"{name}.so")
        if not check(f"an instrumented plugin is built with {compiler}", good and also,
                     said + more):
            continue
        status, out, error = simulate(folder, f"./{name}.so", "racy")
        check(f"a race between two handlers is found ({compiler})",
              status == 1 and "why: data race" in out, out + error)
        status, out, error = simulate(folder, f"./{name}.so", "locked", "--runs", "500")
        check(f"its atomics are the simulator's, and make edges ({compiler})",
              status == 0, out + error)


def replay_of(out):
    found = re.search(r"^ *replay: (.*)$", out, re.MULTILINE)
    return shlex.split(found[1]) if found else ["false"]


def check_replay(check, folder, what, *arguments, command=SIM):
    _, out, _ = simulate(folder, *arguments, command=command)
    why = re.search(r"why: (.*)", out)
    again = replay_of(out)
    status, out, error = simulate(folder, *again[1:], command=again[0])
    check(f"the line that repeats it does so: {what}",
          status == 1 and why and f"why: {why[1]}" in out, f"{again}\n{out}{error}")


def check_program(check, folder):
    for way, runs in (("waits", 200), ("polls", 200), ("forks", 5), ("leaves", 5)):
        status, out, error = simulate(folder, "./program", "--runs", str(runs), "--", way)
        check(f"a program that is right is right in every order: {way}",
              status == 0 and " ok\n" in out and error == "", out + error)
    wrong = [
        ("deadlock", "everybody waits"),
        ("unlocks", "thread 1 unlocks a mutex that thread 0 holds"),
        ("status", "exit status 3"),
        ("crashes", "Segmentation fault"),
        ("killed", "killed by signal 9"),
    ]
    for way, why in wrong:
        status, out, error = simulate(folder, "./program", "--", way)
        check(f"a program that is wrong is found out: {way}",
              status == 1 and f"why: {why}" in out, out + error)
    status, out, _ = simulate(folder, "./program", "--", "deadlock")
    check("what the failed run printed is shown", "both begin" in out, out)
    status, out, _ = simulate(folder, "./program", "--runs", "1", "--", "one", "two words")
    check("a program gets what stands behind --, and a single run is heard",
          status == 0 and "2 arguments, the last is 'two words'" in out, out)
    for strategy in (["--strategy", "pct"], ["--strategy", "exhaustive", "--depth", "1"],
                     ["--jobs", "2"], ["--shrink"]):
        status, out, error = simulate(folder, "./program", *strategy, "--", "deadlock")
        check(f"a program can be explored with {' '.join(strategy)}",
              status == 1 and "everybody waits" in out, out + error)
    check_replay(check, folder, "a program with arguments", "./a program", "--", "deadlock", "it's")
    check_replay(check, folder, "a program, shrunk", "./program", "--shrink", "--", "deadlock")
    check_replay(check, folder, "a scenario", "./plugin.so", "fails")
    check_replay(check, folder, "a scenario, shrunk", "./plugin.so", "fails", "--shrink")


def check_traces(check, folder):
    once = ["--runs", "1", "--seed", "42", "--trace"]
    for what, before, after in (("scenario", ["./plugin.so", "locks"], []),
                                ("program", ["./program"], ["--", "polls"])):
        traces = []
        for name in ("first", "second"):
            simulate(folder, *before, *once, name, *after)
            traces.append((folder / name).read_bytes() if (folder / name).exists() else b"")
        check(f"the same seed writes the same trace: a {what}",
              traces[0] and traces[0] == traces[1],
              f"{len(traces[0])} and {len(traces[1])} bytes")
    check("a trace says which handler runs", b"handles program.bell" in traces[0])


def check_examples(check, folder):
    for path in sorted((tap.ROOT / "examples").glob("0[1-5]-*")):
        source = next(path.glob("*.c"))
        program = folder / path.name
        good, said = tap.run("cc", *FLAGS, source, *LINK, "-lweir", "-o", program)
        runs = "3" if "hello" in path.name else "30"
        if check(f"{path.name} is built as users build it", good, said):
            status, out, error = simulate(folder, f"./{path.name}", "--runs", runs)
            check(f"{path.name} is right in {runs} orders", status == 0, out + error)


def check_usage(check, folder):
    wrong = [
        ([], "usage: weir-sim PLUGIN.so"),
        (["--runs", "3"], "a shared object or a program comes first"),
        (["./none"], "No such file"),
        (["."], "neither a program nor a shared object"),
        (["./script"], "but a script"),
        (["./object.o"], "link it first"),
        (["./empty.so"], "exports no scenarios"),
        (["./plugin.so", "none"], "no scenario 'none'"),
        (["./plugin.so", "--", "x"], "they take no arguments"),
        (["./plugin.so", "--rnus", "3"], "unknown option --rnus"),
        (["./program", "x"], "'x' is no option; arguments for ./program stand behind --"),
        (["./program", "--runs"], "--runs needs a value"),
        (["./program", "--runs", "many"], "'many' is not a number"),
        (["./with-archive"], "does not use libweir.so"),
        (["/bin/sh"], "does not use libweir.so"),
        (["./static"], "is linked statically"),
        (["./with-sim"], "is linked with libweir-sim: it explores by itself"),
        (["./set-uid"], "runs as somebody else"),
    ]
    (folder / "script").write_text("#!/bin/sh\nexit 0\n")
    shutil.copy(folder / "program", folder / "set-uid")
    (folder / "set-uid").chmod(0o4755)
    for arguments, sentence in wrong:
        status, out, error = simulate(folder, *arguments)
        check(f"weir-sim {' '.join(arguments)!r} is wrong usage and says why",
              status == 2 and sentence in error and out == "", f"{status} {out} {error}")
    for arguments in (["--help"], ["./program", "--help"], ["-h"]):
        status, out, _ = simulate(folder, *arguments)
        check(f"weir-sim {' '.join(arguments)} explains every option, in 80 columns",
              status == 0 and "--shrink" in out and max(map(len, out.splitlines())) <= 80, out)


def check_command(check, folder):
    status, out, error = simulate(folder, "sim", "./plugin.so", "fails", command=WEIR)
    check("weir sim is weir-sim, and its replay lines say weir sim",
          status == 1 and f"replay: {WEIR} sim ./plugin.so fails" in out, out + error)
    check_replay(check, folder, "of weir sim", "sim", "./plugin.so", "fails", command=WEIR)
    status, out, _ = simulate(folder, "help", "sim", command=WEIR)
    check("weir help sim explains it", status == 0 and "usage: weir sim PLUGIN.so" in out, out)
    alone = folder / "alone"
    alone.mkdir()
    shutil.copy(WEIR, alone / "weir")
    status, out, error = simulate(folder, "sim", "./plugin.so", command=str(alone / "weir"),
                                  env={**os.environ, "PATH": str(alone)})
    check("without weir-sim it says how to get it",
          status == 1 and "not installed" in error and "-Dsim=true" in error, out + error)


with tap.plan() as plan, tempfile.TemporaryDirectory() as temporary:
    here = pathlib.Path(temporary)
    build(plan, here)
    check_plugin(plan, here)
    check_instrumented(plan, here)
    check_program(plan, here)
    check_traces(plan, here)
    check_examples(plan, here)
    check_usage(plan, here)
    check_command(plan, here)
