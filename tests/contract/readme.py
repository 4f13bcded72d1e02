# SPDX-License-Identifier: Apache-2.0
"""The first program that README.md shows is the one that the checks build and run."""
import re

import tap

EXAMPLE = "examples/01-hello/hello.c"
# In README.md the code block stands behind this line.
MARKER = f"<!-- {EXAMPLE} -->"

with tap.plan() as check:
    sentence = f"README.md shows {EXAMPLE} word for word"
    readme, example = tap.ROOT / "README.md", tap.ROOT / EXAMPLE
    if not readme.exists() or not example.exists():
        check.skip(sentence, "one of the two is not written yet")
    else:
        text = readme.read_text()
        block = re.search(re.escape(MARKER) + r"\s*```c\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        if check(f"README.md has a C block behind {MARKER}", block):
            check(sentence, block[1] == example.read_text(), "the two differ")
