# SPDX-License-Identifier: Apache-2.0
"""libweir-sim has the ABI of libweir: every symbol with its version, under its own soname; besides
that only the simulator's names. What the command runs on has POSIX functions, too."""
import os
import pathlib
import re

import tap

SIM = pathlib.Path(os.environ.get("WEIR_SIM_LIBRARY", tap.BUILD / "libweir-sim.so"))
PLAIN = pathlib.Path(os.environ.get("WEIR_SHARED_LIBRARY", tap.BUILD / "libweir.so"))
POSIX = SIM.parent / "libweir-sim-posix.so.0"


def exported(library):
    """{name: version} of what a library defines; the version's own name is absolute (A)."""
    good, listing = tap.run("nm", "-D", "--defined-only", library)
    rows = [line.split() for line in listing.splitlines()] if good else []
    return {name.split("@")[0]: name.partition("@@")[2] for _, kind, name in rows if kind != "A"}


def soname(library):
    _, dynamic = tap.run("readelf", "-d", "-W", library)
    found = re.search(r"SONAME.*\[(.*)\]", dynamic)
    return found and found[1], set(re.findall(r"NEEDED.*\[(.*)\]", dynamic))


def declared():
    text = (tap.ROOT / "include/weir/sim.h").read_text()
    return set(re.findall(r"^WEIR_API [^;(]*?\b(weir_sim_\w+)\(", text, re.MULTILINE))


with tap.plan() as check:
    plain, sim, posix = exported(PLAIN), exported(SIM), exported(POSIX)
    check("all three libraries are there", plain and sim and posix, f"{PLAIN} {SIM} {POSIX}")
    for name, library in (("libweir-sim", sim), ("libweir-sim-posix", posix)):
        missing = {n: v for n, v in plain.items() if library.get(n) != v}
        check(f"{name} has every symbol of libweir, with its version", not missing, missing)
    more = {name for name in sim if name not in plain}
    ours = {name for name in more if name.startswith("weir_sim_")}
    check("what sim.h declares is exported, and nothing else of that name", ours == declared(),
          ours ^ declared())
    strangers = sorted(n for n in more - ours if not n.startswith("__tsan_"))
    check("libweir-sim exports nothing else but what instrumented code calls", not strangers,
          strangers)
    check("it defines no POSIX function: tests that link it keep their own",
          not {"pthread_create", "clock_gettime", "__libc_start_main"} & set(sim))
    unversioned = sorted(n for n, v in posix.items() if n not in sim and v)
    check("POSIX functions carry no version, so that any caller finds them", not unversioned,
          unversioned)
    hidden = sorted(n for n in {**sim, **posix} if n.startswith("weir__"))
    check("no weir__ name is exported", not hidden, hidden)
    for library in (SIM, POSIX):
        wanted = re.sub(r"\.so.*", ".so.0", library.name)
        name, needed = soname(library)
        check(f"soname is {wanted}", name == wanted, name)
        strange = [n for n in needed if not re.match(r"lib(c|pthread|m)\.so|ld-linux", n)]
        check(f"{wanted} needs libc and pthreads, nothing else", not strange, strange)
