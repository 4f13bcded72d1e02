# SPDX-License-Identifier: Apache-2.0
"""The command line over scenarios: what it says of a failure can be pasted and fails again in the
same way, the same seed is the same trace, and what it does not understand it refuses."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "contract"))
import tap  # noqa: E402

GOOD = os.environ["WEIR_SCENARIOS"]
BROKEN = os.environ["WEIR_BROKEN_SCENARIOS"]


def run(program, *arguments, shell=None):
    """Exit status and both outputs."""
    done = subprocess.run(shell or [program, *arguments], shell=bool(shell), text=True,
                          capture_output=True, timeout=tap.TIMEOUT_S, check=False)
    return done.returncode, done.stdout, done.stderr


def line(output, name):
    """What stands behind `name:` in the account of a failure."""
    found = re.search(rf"^    {name}: (.*)$", output, re.MULTILINE)
    return found[1] if found else None


def check_replays(check):
    for name in ("lost-update", "deadlock", "crash"):
        for strategy in ("random", "pct", "exhaustive"):
            status, out, _ = run(BROKEN, name, "--strategy", strategy, "--runs", "20000")
            check(f"{name} is found by {strategy}", status == 1 and line(out, "why"), out)
            again, said, errors = run(None, shell=line(out, "replay"))
            check(f"the line that {strategy} prints fails again in the same way",
                  again == 1 and line(said, "why") == line(out, "why"), out + said + errors)
            check("and prints itself", line(said, "replay") == line(out, "replay"), out + said)


def check_shrink(check):
    _, plain, _ = run(BROKEN, "crash", "--runs", "1000", "--seed", "5")
    check("a crash names the processor and the event",
          'SIGSEGV (address 0x0) in the handler of processor "#0.1", event stage.message (8 bytes), '
          'from outside; thread' in plain, plain)
    status, out, _ = run(BROKEN, "crash", "--runs", "1000", "--seed", "5", "--shrink")
    check("--shrink says how many preemptions are needed", "shorter: 0 preemptions" in out, out)
    status, out, _ = run(BROKEN, "lost-update", "--runs", "20000", "--shrink")
    check("--shrink shows the end of the trace", status == 1 and
          re.search(r"(its steps|the last \d+ of its \d+ steps):", out), out)
    shown = out.split("steps:\n")[-1].splitlines()
    check("which ends with the last step", len(shown) > 2 and "broken.c" in shown[-1], out)
    again, said, _ = run(None, shell=line(out, "replay"))
    check("the shorter line fails, too", again == 1 and line(said, "why") == line(out, "why"),
          out + said)
    check("and shrinking it again does not make it longer",
          len(line(said, "replay")) <= len(line(out, "replay")), out + said)
    check("without --shrink nothing is shrunk", "shorter" not in plain, plain)


def check_traces(check):
    with tempfile.TemporaryDirectory() as folder:
        for strategy in ("random", "pct"):
            texts = []
            for n in range(2):
                path = pathlib.Path(folder) / f"{strategy}-{n}"
                status, out, errors = run(GOOD, "stop-against-post", "--runs", "20", "--seed", "7",
                                          "--strategy", strategy, "--trace", str(path))
                texts.append(path.read_bytes() if status == 0 else out + errors)
            check(f"the same seed is the same trace, byte for byte ({strategy})",
                  texts[0] == texts[1] and len(texts[0]) > 10000, f"{len(texts[0])} bytes")
        path = pathlib.Path(folder) / "other"
        run(GOOD, "stop-against-post", "--runs", "20", "--seed", "8", "--trace", str(path))
        check("another seed is another trace", path.read_bytes() != texts[0])
    status, out, _ = run(BROKEN, "well", "--runs", "1", "--trace", "-")
    check("--trace - is standard output", status == 0 and "T0" in out or "well" in out, out)


def check_jobs(check):
    wanted = ("lost-update", "--runs", "5000", "--seed", "11")
    _, alone, _ = run(BROKEN, *wanted)
    for jobs in ("2", "3", "7"):
        status, out, _ = run(BROKEN, *wanted, "--jobs", jobs)
        check(f"{jobs} jobs report the failure with the lowest seed",
              status == 1 and line(out, "replay") == line(alone, "replay"), alone + out)
    status, out, _ = run(GOOD, "mutex", "--runs", "1001", "--jobs", "4")
    check("jobs make as many schedules as were asked for", status == 0 and " 1001 schedules" in out,
          out)
    status, out, _ = run(GOOD, "mutex", "--runs", "2", "--jobs", "5")
    check("more jobs than runs is fine", status == 0 and " 2 schedules" in out, out)


REFUSED = [
    (["--wrong"], "unknown option --wrong"),
    (["-x"], "unknown option -x"),
    (["nobody"], "no scenario 'nobody'"),
    (["lost-update", "nobody"], "no scenario 'nobody'"),
    (["--runs"], "--runs needs a value"),
    (["--runs", "0"], "not a number from 1 up"),
    (["--runs", "-1"], "not a number"),
    (["--runs", "1x"], "not a number"),
    (["--runs", ""], "not a number"),
    (["--runs=99999999999999999999"], "not a number"),
    (["--seed", "0"], "not a number from 1 up"),
    (["--seed", "18446744073709551615"], "more than there are seeds"),
    (["--strategy", "best"], "not random, pct or exhaustive"),
    (["--depth", "3"], "--depth is for"),
    (["--strategy", "pct", "--depth", "17"], "from 1 to 16"),
    (["--faults", "fire"], "'fire' is not"),
    (["--faults", ""], "is not"),
    (["--faults", "races,"], "is not"),
    (["--faults", "none,races"], "is not"),
    (["--faults", "0"], "is not"),
    (["--faults", "256"], "is not"),
    (["--schedule", "0.1s1"], "name it"),
    (["well", "--schedule", "nonsense"], "not a schedule"),
    (["well", "--schedule", "", "--runs", "2"], "is one run"),
    (["well", "--schedule", "", "--strategy", "random"], "is one run"),
    (["well", "--schedule", "", "--jobs", "2"], "is one run"),
    (["--trace", "/dev/null"], "name it"),
    (["well", "--trace", "/no/such/folder/x"], "cannot be written"),
    (["well", "--trace", "/dev/null", "--jobs", "2"], "one job"),
    (["--seconds", "nan"], "not a number"),
    (["--seconds", "-1"], "not a number"),
    (["--seconds", "1.2.3"], "not a number"),
    (["--seconds", "0"], "not a number"),
    (["--steps-max", "0"], "not a number"),
    (["--cores", "0"], "not a number"),
    (["--jobs", "0"], "not a number"),
    (["--jobs", "257"], "not a number"),
    (["--strategy", "exhaustive", "--jobs", "2"], "has none"),
    (["--shrink=yes"], "takes no value"),
]


def check_misuse(check):
    for arguments, said in REFUSED:
        status, out, errors = run(BROKEN, *arguments)
        check(f"refused: {' '.join(arguments)}", status == 2 and said in errors and not out,
              f"{status}\n{out}\n{errors}")


def check_rest(check):
    status, out, _ = run(BROKEN, "--help")
    check("--help says it all", status == 0 and "--shrink" in out and "exit status" in out, out)
    status, out, _ = run(BROKEN, "--list")
    check("--list names them all, sorted",
          status == 0 and [text.split()[0] for text in out.splitlines()]
          == ["crash", "deadlock", "endless", "lost-update", "well"], out)
    status, out, _ = run(BROKEN, "--list", "well")
    check("--list of some", status == 0 and len(out.splitlines()) == 1, out)
    status, out, _ = run(BROKEN, "well", "--runs", "10")
    check("all well is 0", status == 0 and re.search(r"^well +10 schedules .* ok$", out), out)
    status, out, _ = run(BROKEN, "well", "lost-update", "--runs", "20000")
    check("one failure of several is 1, and the rest is run",
          status == 1 and re.search(r"^well .* ok$", out, re.MULTILINE), out)
    status, out, _ = run(BROKEN, "endless", "--runs", "1")
    check("a scenario has limits of its own", status == 1 and "more than 10000 steps" in out, out)
    status, out, _ = run(BROKEN, "endless", "--runs", "1", "--steps-max", "500")
    check("and the command line has the last word", "more than 500 steps" in out, out)
    check("which its replay says", line(out, "replay").endswith("--steps-max 500"), out)
    status, out, _ = run(BROKEN, "well", "--runs", "1000000000", "--seconds", "0.2")
    check("--seconds ends it", status == 0 and " ok" in out, out)
    status, out, _ = run(BROKEN, "well", "--strategy", "exhaustive")
    check("a complete search says so", status == 0 and "all orders" in out, out)
    status, out, _ = run(BROKEN, "lost-update", "--faults", "none", "--runs", "20000")
    check("faults stand in the replay", "--faults 64" in line(out, "replay"), out)


with tap.plan() as check:
    check_replays(check)
    check_shrink(check)
    check_traces(check)
    check_jobs(check)
    check_misuse(check)
    check_rest(check)
