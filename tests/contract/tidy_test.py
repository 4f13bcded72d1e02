# SPDX-License-Identifier: Apache-2.0
"""The tree keeps the rules of tools/tidy.py, and tools/tidy.py finds what breaks them."""
import pathlib
import sys
import tempfile

import tap

sys.path.insert(0, str(tap.ROOT / "tools"))
import tidy  # noqa: E402  (it lives beside the other tools)

LICENCE = "/* SPDX-License-Identifier: Apache-2.0 */\n"
GOOD = {
    "src/LAYERS": "base:\nsync: base\nengine: base sync\ncli: base sync\n",
    "src/meson.build": "libweir_sources = files('base/a.c')\n",
    "src/base/a.c": LICENCE + '#include "base/a.h"\n\nint f(void)\n{\n    return 0;\n}\n',
    "src/base/a.h": LICENCE,
    "tests/meson.build": "unit_tests = []\n",
    "CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n### Breaking\n\n- x\n\n### Added\n\n- y\n",
}
LONG_FUNCTION = "int f(void)\n{\n" + "    g();\n" * 71 + "}\n"

# What is planted: the sentence, the file, its text, a piece of the message.
PLANTED = [
    ("a line over 100 columns", "src/base/a.h", LICENCE + "int " + "x" * 100 + ";\n", "columns"),
    ("a function over 70 lines", "src/base/a.c", LICENCE + LONG_FUNCTION, "function is longer"),
    ("a file over 600 lines", "src/base/a.h", LICENCE + "\n" * 600, "file is longer"),
    ("trailing white space", "src/base/a.h", LICENCE + "int x; \n", "white space"),
    ("a tab", "src/base/a.h", LICENCE + "\tint x;\n", "white space"),
    ("a missing final newline", "src/base/a.h", LICENCE + "int x;", "newline at the end"),
    ("a missing licence line", "src/base/a.h", "int x;\n", "SPDX"),
    ("a banned call", "src/base/a.c", LICENCE + "strcpy(a, b);\n", "strcpy is banned"),
    ("malloc in a room", "src/engine/a.h", LICENCE + "x = malloc(1);\n", "malloc is banned in"),
    ("printf in a room", "src/engine/a.h", LICENCE + 'printf("x");\n', "printf is banned in"),
    ("volatile", "src/base/a.h", LICENCE + "static volatile int x;\n", "volatile"),
    ("a note to self", "src/base/a.h", LICENCE + "/* FIX" + "ME */\n", "write an issue"),
    ("a room that looks up", "src/base/a.c", LICENCE + '#include "sync/x.h"\n', "may not include"),
    ("an include without a room", "src/base/a.c", LICENCE + '#include "x.h"\n', "room/file.h"),
    ("an included .c file", "src/base/a.c", LICENCE + '#include "base/x.c"\n', "not included"),
    ("a room that LAYERS lacks", "src/attic/a.h", LICENCE, "does not know"),
    ("LAYERS out of order", "src/LAYERS", "base: sync\nsync:\n", "does not stand above"),
    ("a source that nothing builds", "src/base/dead.c", LICENCE, "nothing builds it"),
    ("a test that nothing builds", "tests/base/a_test.c", LICENCE, "nothing builds it"),
    ("a listed source that is gone", "src/meson.build", "files('base/a.c', 'base/b.c')\n",
     "does not exist"),
    ("a check turned off without a word", ".clang-tidy",
     '# -misc-a: noise\nChecks: "-*,misc-*,-misc-a,-misc-b"\n', "-misc-b has no line"),
    ("a changelog without Unreleased", "CHANGELOG.md", "# Changelog\n", "Unreleased"),
    ("Breaking behind Added", "CHANGELOG.md",
     "# Changelog\n\n## Unreleased\n\n### Added\n\n- y\n\n### Breaking\n\n- x\n", "in the order"),
]
FORGIVEN = [
    ("a banned word in a comment", "/* strcpy(a, b) would be wrong */\n"),
    ("a banned word in a string", 'const char *s = "malloc(1)";\n'),
    ("a flag for a signal handler", "static volatile sig_atomic_t stop;\n"),
    ("an assembler line", '__asm__ volatile("pause");\n'),
    ("a hook of that name", "allocator->free(x);\n"),
    ("a call with its reason", "/* tidy-ok: outlives every engine */\nx = malloc(1);\n"),
]


def said(changes):
    """What tidy says of the good tree with these files written over it."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {**GOOD, **changes}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return [f"{path.relative_to(root)}:{line}: {text}" for path, line, text
                in tidy.offences(root)]


with tap.plan() as check:
    good, report = tap.run(sys.executable, tap.ROOT / "tools/tidy.py", tap.ROOT)
    check("the tree keeps the rules", good, report)
    check("a good tree is not blamed", not said({}), said({}))
    for sentence, name, text, piece in PLANTED:
        found = said({name: text})
        check(f"finds {sentence}", any(piece in line and name.split("/")[0] in line
                                       for line in found), "\n".join(found))
    for sentence, text in FORGIVEN:
        found = said({"src/engine/a.h": LICENCE + text})
        check(f"forgives {sentence}", not found, "\n".join(found))
