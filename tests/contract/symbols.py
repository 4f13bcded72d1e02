# SPDX-License-Identifier: Apache-2.0
"""The shared library exports what the headers declare, nothing else, under the right soname."""
import os
import re

import tap


def declared():
    """Names that the public headers declare with WEIR_API."""
    names = set()
    for header in (tap.ROOT / "include/weir").glob("*.h"):
        if header.name == "sim.h":
            continue  # of libweir-sim: tests/sim looks there
        text = re.sub(r"/\*.*?\*/", " ", header.read_text(), flags=re.DOTALL)
        text = re.sub(r"^\s*#.*?(?<!\\)$", " ", text, flags=re.DOTALL | re.MULTILINE)
        for declaration in re.findall(r"\bWEIR_API\b([^;]*);", text):
            name = re.search(r"\b(weir_\w+)\s*\(", declaration)
            name = name or re.search(r"\b(weir_\w+)\s*$", declaration)
            names.add(name[1])
    return names


with tap.plan() as check:
    library = os.environ.get("WEIR_SHARED_LIBRARY", str(tap.BUILD / "libweir.so"))
    good, listing = tap.run("nm", "-D", "--defined-only", library)
    check("nm reads the library", good, listing)
    # The version's own name is an absolute symbol (A).
    exported = {line.split()[2].split("@")[0] for line in listing.splitlines()
                if line.split()[1] != "A"}
    strangers = sorted(n for n in exported if not re.fullmatch(r"weir_[a-z][a-z0-9_]*", n))
    check("only weir_ names are exported", not strangers, strangers)
    check("no weir__ name is exported", not [n for n in exported if n.startswith("weir__")])
    wanted = declared()
    check("the headers declare something", len(wanted) > 0)
    check("what the headers declare is exported", wanted <= exported, sorted(wanted - exported))
    check("what is exported is declared", exported <= wanted, sorted(exported - wanted))
    unversioned = [line for line in listing.splitlines()
                   if line.split()[1] != "A" and not line.endswith("@@WEIR_0")]
    check("every symbol carries its version", not unversioned, unversioned)

    _, dynamic = tap.run("readelf", "-d", "-W", library)
    soname = re.search(r"SONAME.*\[(.*)\]", dynamic)
    check("soname is libweir.so.0", soname and soname[1] == "libweir.so.0", dynamic)
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", dynamic))
    allowed = {"libc.so.6", "libpthread.so.0", "libm.so.6", "ld-linux-x86-64.so.2",
               "ld-linux-aarch64.so.1"}
    check("it needs libc and pthreads, nothing else", needed <= allowed, sorted(needed - allowed))
    _, segments = tap.run("readelf", "-l", "-W", library)
    check("its stack is not executable", not re.search(r"GNU_STACK.*RWE", segments), segments)
