# SPDX-License-Identifier: Apache-2.0
"""Every public header compiles alone, as C11 and as C++17, and inlines no atomics and no code."""
import re
import tempfile
import pathlib

import tap

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wundef", "-Werror",
          "-fsyntax-only", f"-I{tap.ROOT / 'include'}"]
LANGUAGES = [("C11", ("gcc", "clang"), ["-x", "c", "-std=c11", "-Wstrict-prototypes"]),
             ("C++17", ("g++", "clang++"), ["-x", "c++", "-std=c++17"])]
REFUSED = re.compile(r"\b(_Atomic|atomic_\w*|__atomic\w*|__sync\w*|volatile|asm|__asm__|"
                     r"pthread_\w*|static\s+inline)\b|<(std)?atomic(\.h)?>|<pthread\.h>|<threads\.h>")


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL)


with tap.plan() as check, tempfile.TemporaryDirectory() as folder:
    headers = sorted((tap.ROOT / "include/weir").glob("*.h"))
    check("there are public headers", bool(headers))
    once = pathlib.Path(folder) / "alone.inc"
    for header in headers:
        # Twice: a header that forgot its guard is found as well.
        once.write_text(f'#include "weir/{header.name}"\n' * 2)
        for language, wanted, flags in LANGUAGES:
            for compiler in tap.compilers(*wanted):
                good, said = tap.run(compiler, *flags, *STRICT, once)
                check(f"{header.name} compiles alone as {language} with {compiler}", good, said)
        found = REFUSED.search(without_comments(header.read_text()))
        check(f"{header.name} inlines no atomics", not found, found and found[0])
    for header in sorted((tap.ROOT / "include/weir").glob("*.hpp")):
        once.write_text(f'#include "weir/{header.name}"\n' * 2)
        language, wanted, flags = LANGUAGES[1]
        for compiler in tap.compilers(*wanted):
            good, said = tap.run(compiler, *flags, *STRICT, once)
            check(f"{header.name} compiles alone as {language} with {compiler}", good, said)
    umbrella = (tap.ROOT / "include/weir/weir.h").read_text()
    # sim.h is the contract of another library, libweir-sim.
    apart = ("weir.h", "sim.h")
    missing = [h.name for h in headers if h.name not in apart and f'"weir/{h.name}"' not in umbrella]
    check("weir.h includes all of them", not missing, missing)
