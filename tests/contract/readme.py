# SPDX-License-Identifier: Apache-2.0
"""The first program that README.md shows is the one that the checks build and run, and its server
is one that can be run."""
import os
import pathlib
import re
import subprocess
import tempfile

import tap

EXAMPLE = "examples/01-hello/hello.c"
# In README.md the code block stands behind this line.
MARKER = f"<!-- {EXAMPLE} -->"
WEIR = os.environ.get("WEIR_COMMAND", str(tap.BUILD / "weir"))


def check_server(check, text):
    block = re.search(r"```hocon\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    if not check("README.md has a file of configuration", block):
        return
    with tempfile.TemporaryDirectory() as folder:
        conf = pathlib.Path(folder) / "weir.conf"
        conf.write_text(block[1])
        done = subprocess.run([WEIR, "run", "--check", "--no-environment", conf], text=True,
                              capture_output=True, check=False, timeout=60)
    if "was built without" in done.stderr:
        check.skip("the server of README.md could be run", "the command cannot run one")
    else:
        check("the server of README.md could be run", done.returncode == 0, done.stderr)


with tap.plan() as CHECK:
    README, SOURCE = tap.ROOT / "README.md", tap.ROOT / EXAMPLE
    TEXT = README.read_text()
    BLOCK = re.search(re.escape(MARKER) + r"\s*```c\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
    if CHECK(f"README.md has a C block behind {MARKER}", BLOCK):
        CHECK(f"README.md shows {EXAMPLE} word for word", BLOCK[1] == SOURCE.read_text(),
              "the two differ")
    check_server(CHECK, TEXT)
