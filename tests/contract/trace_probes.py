# SPDX-License-Identifier: Apache-2.0
"""The probes are where the guide says, and the scripts of dist/bpftrace name those that exist."""
import os
import re
import shutil
import subprocess

import tap

LIBRARY = os.environ.get("WEIR_LIBRARY", str(tap.BUILD / "libweir.so.0.1.0"))
SCRIPTS = sorted((tap.ROOT / "dist/bpftrace").glob("*.bt"))
WANTED = {"post": 4, "posts": 2, "ready": 2, "run_begin": 3, "run_end": 2, "park": 1, "unpark": 1, "wake": 1,
          "drop": 2}


def probes():
    """Name to the number of arguments of each place, of the provider weir."""
    said = subprocess.run(["readelf", "-n", LIBRARY], capture_output=True, text=True, check=True,
                          timeout=tap.TIMEOUT_S).stdout
    found = {}
    for name, arguments in re.findall(r"Provider: weir\n\s+Name: (\w+)\n.*\n\s+Arguments: ?(.*)",
                                      said):
        found.setdefault(name, set()).add(len(arguments.split()))
    return found


def check_scripts(check, found):
    check("there are three scripts", len(SCRIPTS) == 3, str(SCRIPTS))
    used = set()
    for script in SCRIPTS:
        text = script.read_text()
        names = re.findall(r"^usdt:\*:weir:(\w+)$", text, re.MULTILINE)
        used |= set(names)
        check(f"{script.name} names probes that exist", names and set(names) <= set(found),
              f"{names} of {sorted(found)}")
        for part in re.split(r"^usdt:\*:weir:", text, flags=re.MULTILINE)[1:]:
            name = part.split()[0]
            highest = max((int(n) for n in re.findall(r"\barg(\d)", part.split("\n}")[0])),
                          default=-1)
            check(f"{script.name}: {name} has what it reads", highest < WANTED.get(name, 0), part)
    check("they use the probes of turns, drops and sleeps",
          {"run_begin", "run_end", "drop", "wake", "park"} <= used, str(used))


def check_parse(check):
    if shutil.which("bpftrace") is None:
        check.skip("bpftrace reads the scripts", "bpftrace is not installed")
        return
    for script in SCRIPTS:
        done = subprocess.run(["bpftrace", "-d", str(script)], capture_output=True, text=True,
                              check=False, timeout=tap.TIMEOUT_S)
        if "AST after" not in done.stdout + done.stderr:
            check.skip(f"bpftrace reads {script.name}",
                       "bpftrace does not run here: " + done.stderr.strip()[:120])
            continue
        said = done.stdout + done.stderr
        check(f"bpftrace reads {script.name}", "AST after: Semantic" in said and
              not re.search(r"\.bt:\d+:\d+.*ERROR", said), said[-600:])


def check_guide(check, found):
    guide = (tap.ROOT / "docs/guide/tracing.md").read_text()
    for name in sorted(found):
        check(f"the guide says what {name} tells", f"| `{name}` |" in guide)


with tap.plan() as check:
    if shutil.which("readelf") is None:
        check.skip("the probes are there", "readelf is not installed")
    else:
        places = probes()
        if not places:
            check.skip("the probes are there", "this weir was built without sys/sdt.h")
        else:
            for name, count in WANTED.items():
                check(f"{name} is there, with {count} arguments", places.get(name) == {count},
                      str(places.get(name)))
            check("there are no others", set(places) == set(WANTED), str(sorted(places)))
            check_guide(check, places)
        check_scripts(check, places or WANTED)
        check_parse(check)
