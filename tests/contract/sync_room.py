# SPDX-License-Identifier: Apache-2.0
"""Atomics, locks, futexes, threads and clocks live in src/sync/ and nowhere else, so that the room
can be swapped for a simulated one. The commands may read clocks and start threads, but share
memory through the sync room only."""
import pathlib
import re
import sys
import tempfile

import tap

sys.path.insert(0, str(tap.ROOT / "tools"))
import tidy  # noqa: E402  (it lives beside the other tools)

ATOMICS = (r"_Atomic|atomic_\w*|__atomic\w*|__sync\w*|\w*futex\w*|FUTEX_\w*|\w*membarrier\w*|"
           r"_mm_\wfence|__builtin_ia32_\wfence")
THREADS = (r"pthread_\w*|thrd_\w*|mtx_\w*|cnd_\w*|tss_\w*|sched_\w*|eventfd\w*|sem_\w*|"
           r"__thread|_Thread_local|thread_local")
CLOCKS = r"clock_gettime|clock_nanosleep|nanosleep|gettimeofday|timespec_get|timerfd\w*|getrandom"
HEADERS = r"stdatomic|pthread|threads|sched|semaphore|linux/futex|linux/membarrier|sys/eventfd"

# A weir__ name is one that the sync room offers, whatever it is called.
STRICT = re.compile(rf"(?<![\w])(?!weir_)({ATOMICS}|{THREADS}|{CLOCKS})(?!\w)|<({HEADERS})\.h>")
COMMAND = re.compile(rf"(?<![\w])(?!weir_)({ATOMICS})(?!\w)|<(stdatomic|linux/futex)\.h>")


def offences(root):
    for path in sorted(p for d in ("include", "src") for p in (root / d).rglob("*.[ch]")):
        parts = path.relative_to(root).parts
        if parts[:2] == ("src", "sync"):
            continue
        refused = COMMAND if parts[1] in ("cli", "simulate") else STRICT
        for number, line in enumerate(tidy.code_only(path.read_text()).splitlines(), 1):
            if re.match(r'\s*#\s*include\s+"sync/', line):
                continue
            if match := refused.search(line):
                yield f"{path.relative_to(root)}:{number}: {match[0]} belongs in src/sync/"


def planted(where, line):
    """What the test says of a tree with that line in that file."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / where
        path.parent.mkdir(parents=True)
        path.write_text(line + "\n")
        return list(offences(pathlib.Path(folder)))


REFUSED = ["#include <stdatomic.h>", "#include <pthread.h>", "static _Atomic int x;",
           "atomic_store(&x, 1);", "__atomic_load_n(&x, 0);", "__sync_synchronize();",
           "pthread_mutex_lock(&m);", "clock_gettime(CLOCK_MONOTONIC, &t);", "nanosleep(&t, 0);",
           "syscall(SYS_futex, &x);", "sched_yield();", "int fd = eventfd(0, 0);",
           "syscall(SYS_membarrier, 1);", "static __thread int x;",
           "static _Thread_local int x;"]
ALLOWED = ['#include "sync/futex.h"', "/* pthread_create is not used here */",
           'const char *s = "sched_yield()";', "weir__atomic_store(&x, 1);", "weir__futex_wait(&x);", "int rescheduled_count;"]

with tap.plan() as check:
    found = list(offences(tap.ROOT))
    check("what is concurrent lives in src/sync/ only", not found, "\n".join(found))
    for line in REFUSED:
        check(f"src/engine/ may not say: {line.lstrip('#')}", planted("src/engine/x.c", line))
    check("nor may a public header", planted("include/weir/x.h", "static _Atomic int x;"))
    for line in ALLOWED:
        check(f"it may say: {line.lstrip('#')}", not planted("src/engine/x.c", line))
    check("the sync room may", not planted("src/sync/x.h", "#include <stdatomic.h>"))
    check("the command may read a clock", not planted("src/cli/x.c", "clock_gettime(0, &t);"))
    check("the command uses no atomics", planted("src/cli/x.c", "atomic_store(&x, 1);"))
