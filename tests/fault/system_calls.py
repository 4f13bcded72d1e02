# SPDX-License-Identifier: Apache-2.0
"""Every system call that weir makes, refused once, first or later (and some for good): the answer
is a clear error or what the headers promise, never a hang, a crash or a lost event; then some that
are late. By strace's fault injection. It cannot tell a futex wait, which may fail, from a wake-up,
which never does: futex is delayed, not refused.

system_program asks for everything that there is to ask for, says what was refused, tries again,
and compares its own count of events with the engine's."""
import re

import faults
from faults import tap

THREAD = (r"refused: (thread \S+: the|(monitor|watchdog): its) thread could not be started "
          r".*Resource temporarily")
THREADS = THREAD + r"|refused: weir_(processor|engine)_stop_async"
NOTHING = r"^$"  # done without, and nothing to be said
ANYTHING = r"^(refused: [^\n]+\n)*$"

# call, error, which ones (of each thread), what is said on stderr, what it means for the user
ROWS = [
    ("eventfd2", "EMFILE", [1], r"refused: weir_thread_add: no event descriptor .*Too many open",
     "an external thread is an error"),
    ("eventfd2", "ENOMEM", [1], r"refused: weir_thread_add: no event descriptor .*Cannot allocate",
     "an external thread is an error"),
    ("clone3", "EAGAIN", range(1, 11), "^$|" + THREADS, "a thread is an error, those begun leave"),
    ("mmap", "ENOMEM", range(1, 11), ANYTHING, "memory or a stack is an error"),
    ("mprotect", "ENOMEM", range(1, 11), ANYTHING, "memory or a stack is an error"),
    ("membarrier", "ENOSYS", [1], NOTHING, "fences take its place"),
    ("membarrier", "EPERM", [1], NOTHING, "fences take its place"),
    ("membarrier", "ENOSYS", ["1+"], NOTHING, "fences take its place"),
    ("membarrier", "ENOMEM", [2, 3, 4, "2..20"], NOTHING, "it is asked for again"),
    ("membarrier", "ENOMEM", ["2..101"], NOTHING, "the slow form takes its place"),
    ("getrandom", "ENOSYS", ["1+"], NOTHING, "the clock takes its place"),
    ("getrandom", "EAGAIN", ["1+"], NOTHING, "the clock takes its place"),
    ("sched_setaffinity", "EPERM", [1], r'msg="the core cannot be had; the thread runs unpinned"',
     "a core is a warning"),
    ("sched_setaffinity", "EINVAL", [1], r'msg="the core cannot be had; the thread runs unpinned"',
     "a core is a warning"),
    ("sched_getaffinity", "EPERM", [1], r'msg="the core cannot be had; the thread runs unpinned"',
     "a core is a warning"),
    ("setpriority", "EPERM", [1], r'msg="the system refused its priority"',
     "a priority is a warning"),
    ("setpriority", "EACCES", [1], r'msg="the system refused its priority"',
     "a priority is a warning"),
    ("sched_setscheduler", "EPERM", [1], r'msg="the system refused its priority"',
     "a priority is a warning"),
    ("prctl", "EPERM", ["1+"], NOTHING, "a thread has no name"),
    ("openat", "ENOENT", ["1+"], NOTHING, "there is no quota of cores"),
    ("openat", "EACCES", ["1+"], NOTHING, "there is no quota of cores"),
    ("openat", "EMFILE", ["1+"], NOTHING, "there is no quota of cores"),
    ("read", "EINTR", [2, 3, 4], NOTHING, "a doorbell is cleared later"),
    ("read", "EAGAIN", [2, 3, 4], NOTHING, "a doorbell is cleared later"),
    ("write", "EINTR", [1, 2, 3], NOTHING, "a doorbell rings all the same"),
    ("rt_sigprocmask", "EINVAL", [1, 2], NOTHING, "signals may reach weir's threads"),
    ("madvise", "EINVAL", ["1+"], NOTHING, "memory is given back later"),
    ("sched_yield", "ENOSYS", ["1+"], NOTHING, "a core is not given away"),
    ("poll", "EINTR", [1, 2], NOTHING, "the application turns once too often"),
]

# For good, from the first on: the engine cannot be had, and says so.
FOR_GOOD = [
    ("clone3", "EAGAIN", THREAD, 3),
    ("clone3", "EPERM", r"refused: watchdog: its thread could not be started .*not permitted", 3),
    ("mprotect", "ENOMEM", THREAD, 3),
    ("eventfd2", "EMFILE", r"refused: weir_thread_add: no event descriptor", 0),
]


# Microseconds before the call or behind it, by which the thread is late: the wake-ups too.
DELAYS = [
    ("futex", "delay_enter=1000"), ("futex", "delay_exit=1000"),
    ("futex", "delay_enter=5000:when=1+3"), ("write", "delay_enter=5000"),
    ("read", "delay_exit=5000"), ("membarrier", "delay_enter=20000"),
    ("membarrier", "delay_exit=20000"), ("clone3", "delay_exit=5000"),
    ("sched_yield", "delay_enter=5000"), ("mmap", "delay_exit=2000"),
]


def inject(call, fault, *arguments):
    return faults.run_injected(call, fault, faults.program("system_program"), *arguments)


def judge(outcome, said, status=0):
    """What is wrong with an outcome; empty: nothing."""
    if outcome.status != status:
        return f"expected exit status {status}"
    if not re.search(said, outcome.err):
        return f"stderr does not match {said}"
    if status == 0 and outcome.out and "the sums hold" not in outcome.out:
        return "it does not say that the sums hold"  # silent: that write was refused
    return ""


def check_row(check, call, error, whens, said, meaning):
    wrong, hits = [], 0
    for when in whens:
        outcome, count = inject(call, f"error={error}:when={when}")
        hits += count
        why = judge(outcome, said)
        if why:
            wrong.append(f"{call} #{when}, {count} refused: {why}: {outcome}")
    if hits == 0:
        wrong.append("nothing was refused: does anybody still call it?")
    which = ", ".join(str(when) for when in whens)
    check(f"{call} with {error} ({which}): {meaning}", not wrong, "\n".join(wrong))


def check_for_good(check, call, error, said, status):
    outcome, count = inject(call, f"error={error}:when=1+")
    why = judge(outcome, said, status) or ("" if count else "nothing was refused")
    check(f"{call} with {error} for good: exit status {status}, and the reason", not why,
          f"{why}: {outcome}")


def check_required(check):
    outcome, count = inject("sched_setaffinity", "error=EPERM:when=1", "--required")
    said = r"refused: thread pinned: core \d+ is required and cannot be had.*not permitted"
    # Each try is a new thread, whose first call it is.
    why = judge(outcome, said, 3) or ("" if count else "nothing was refused")
    check("sched_setaffinity with EPERM: a core that is required is an error", not why,
          f"{why}: {outcome}")


def check_delays(check):
    wrong = []
    for call, delay in DELAYS:
        outcome, count = inject(call, delay)
        why = judge(outcome, NOTHING) or ("" if count else "nothing was delayed")
        if why:
            wrong.append(f"{call} {delay}: {why}: {outcome}")
    check("system calls that take their time: nothing is lost", not wrong, "\n".join(wrong))


def run_command(call, error, when):
    """`weir demo` under strace from its start."""
    return faults.run("strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e",
                      f"inject={call}:error={error}:when={when}", faults.WEIR, "demo", "--seconds",
                      "0.2", "--json")


def check_command(check):
    rows = [  # call, error, which, exit status, stderr
        ("signalfd4", "EMFILE", 1, 1, r"^weir demo: cannot watch for signals: Too many open files$"),
        ("signalfd4", "ENOSYS", 1, 1, r"^weir demo: cannot watch for signals: "),
        ("clone3", "EAGAIN", 1, 1, r"^watchdog: its thread could not be started"),
        ("clone3", "EAGAIN", 4, 1, r"^thread weir-2: the thread could not be started"),
        ("clone3", "EAGAIN", "4+", 1, r"^\S.*"),
        ("poll", "EINTR", 1, 0, NOTHING),
        ("clock_nanosleep", "EINTR", 1, 0, NOTHING),
        ("clock_nanosleep", "EINTR", 3, 0, NOTHING),
        ("membarrier", "ENOSYS", "1+", 0, NOTHING),
        ("write", "ENOSPC", 1, 1, r"^weir: cannot write to standard output: No space left"),
        ("write", "EIO", 1, 1, r"^weir: cannot write to standard output: Input/output error"),
        ("write", "EPIPE", 1, 1, r"^weir: cannot write to standard output: Broken pipe"),
    ]
    wrong = []
    for call, error, when, status, said in rows:
        outcome = run_command(call, error, when)
        if outcome.status != status or not re.search(said, outcome.err):
            wrong.append(f"{call} {error} #{when}: {outcome}")
    check("weir demo ends with a clear message and status, or goes on", not wrong,
          "\n".join(wrong))


def main():
    with tap.plan() as check:
        why = faults.why_no_strace()
        if why:
            check.skip("system calls are refused", why)
            return
        for row in ROWS:
            check_row(check, *row)
        for row in FOR_GOOD:
            check_for_good(check, *row)
        check_required(check)
        check_delays(check)
        check_command(check)


if __name__ == "__main__":
    main()
