# SPDX-License-Identifier: Apache-2.0
"""What users see of `weir doctor --machine`: machines made of files, each with something that
hurts, and what is said of it."""
import json
import os
import pathlib
import subprocess
import tempfile

import tap

WEIR = os.environ.get("WEIR_COMMAND", str(tap.BUILD / "weir"))
CPU = "sys/devices/system/cpu"
GOOD = {
    f"{CPU}/cpu0/cpufreq/scaling_governor": "performance\n",
    f"{CPU}/cpu1/cpufreq/scaling_governor": "performance\n",
    f"{CPU}/isolated": "1\n",
    f"{CPU}/cpu0/topology/thread_siblings_list": "0\n",
    f"{CPU}/cpu1/topology/thread_siblings_list": "1\n",
    "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
    "sys/kernel/mm/transparent_hugepage/defrag": "always defer [madvise] never\n",
    "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
    "sys/fs/cgroup/cpu.max": "max 100000\n",
    "proc/self/cgroup": "0::/app/weir\n",
    "sys/fs/cgroup/app/cpu.max": "max 100000\n",
    "proc/meminfo": "MemTotal: 1000 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n",
    "proc/self/limits": "Limit   Soft   Hard\nMax open files            65536  65536 files\n"
                        "Max realtime priority     99  99\n",
    "proc/17/comm": "cat\n",
}
# What is different on a machine, the finding it leads to, its verdict, and a word of its text.
HURTS = [
    ({f"{CPU}/cpu1/cpufreq/scaling_governor": "powersave\n"}, "governor", "hurts",
     "powersave on 1 of 2"),
    ({f"{CPU}/isolated": "\n"}, "isolated cores", "note", "none"),
    ({"sys/fs/cgroup/app/cpu.max": "150000 100000\n"}, "cgroup quota", "hurts", "1.50 cores"),
    ({"sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n"},
     "transparent huge pages", "hurts", "always"),
    ({f"{CPU}/cpu0/topology/thread_siblings_list": "0,1\n"}, "SMT siblings", "note", "1 of 2"),
    ({"sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet\n"},
     "clock source", "hurts", "hpet"),
    ({"proc/meminfo": "SwapTotal: 2048 kB\nSwapFree: 1024 kB\n"}, "swap", "hurts", "1 MiB of it"),
    ({"proc/meminfo": "SwapTotal: 2048 kB\nSwapFree: 2048 kB\n"}, "swap", "note", "0 MiB of it"),
    ({"proc/self/limits": "Max open files   1024  1024 files\n"}, "limits", "note", "1024"),
    ({"proc/17/comm": "irqbalance\n"}, "irqbalance", "note", "runs"),
    ({"proc/self/cgroup": "", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "50000\n",
      "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}, "cgroup quota", "hurts", "0.50 cores"),
]


def doctor(files, *options):
    """(exit status, standard output) on a machine of these files."""
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = pathlib.Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([WEIR, "doctor", *options], capture_output=True, text=True,
                              check=False, env={"WEIR_MACHINE_ROOT": root, "XDG_RUNTIME_DIR": root}, timeout=tap.TIMEOUT_S)
        return done.returncode, done.stdout + done.stderr


def findings(files):
    return {f["name"]: f for f in json.loads(doctor(files, "--machine", "--json")[1])}


with tap.plan() as check:
    status, out = doctor(GOOD, "--machine")
    check("a machine without faults is good, and ends with 0",
          status == 0 and "hurts" not in out and "unknown" not in out, out)
    check("each finding has what it means",
          all(f["found"] and f["meaning"] for f in findings(GOOD).values()), findings(GOOD))
    for change, name, verdict, word in HURTS:
        found = findings({**GOOD, **change})
        one = found[name]
        check(f"{name}: {word} is said, with what to do",
              one["verdict"] == verdict and word in one["found"] and one["advice"], one)
        others = [f["name"] for f in found.values()
                  if f["name"] != name and f["verdict"] in ("hurts", "note")]
        check(f"{name}: and nothing else is blamed", not others, others)
        status, _ = doctor({**GOOD, **change}, "--machine")
        check(f"{name}: ends with {int(verdict == 'hurts')}", status == (verdict == "hurts"), status)
    empty = findings({"proc/self/none": ""})
    check("what cannot be read is unknown, and never guessed",
          {f["verdict"] for n, f in empty.items() if n != "irqbalance"}
          == {"unknown"}, empty)
    hostile = {**GOOD, f"{CPU}/isolated": "1\"\\\x01" * 500}
    check("a file of nonsense makes no wrong JSON", len(findings(hostile)) == 9, "")
    check("without a server and without --machine it says what is missing",
          doctor(GOOD)[0] == 2 and "--machine" in doctor(GOOD)[1], doctor(GOOD))
    check("a word too many is refused", doctor(GOOD, "--machine", "x")[0] == 2, "")
    this = subprocess.run([WEIR, "doctor", "--machine"], capture_output=True, text=True, check=False,
                          timeout=tap.TIMEOUT_S)
    check("it looks at this machine, too", this.returncode in (0, 1) and "swap" in this.stdout,
          this.stdout + this.stderr)
