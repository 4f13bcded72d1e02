#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of options in the guide from what the command knows of its component types.

    tools/option_tables.py build/weir            writes docs/guide/*.md anew
    tools/option_tables.py --check build/weir    exits 1 if one of them would change, and says which

A table stands between two lines of its own, and all between them is written:

    <!-- options of tcp -->
    <!-- end of options -->
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(<!-- options of ([\w-]+) -->\n).*?(<!-- end of options -->\n)", re.DOTALL)


def table(weir, name):
    """The options of one type, as Markdown."""
    shown = subprocess.run([weir, "types", name, "--json"], capture_output=True, text=True,
                           check=False)
    if shown.returncode != 0:
        sys.exit(f"{weir} types {name} --json: {shown.stderr.strip()}")
    rows = []
    for option in json.loads(shown.stdout)[0]["options"]:
        default = option.get("default")
        default = "required" if option["required"] else f"`{default}`" if default else "none"
        cells = (f"`{option['key']}`", option["type"], default, option["help"])
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n")
    if not rows:
        return "It has no options of its own.\n"
    return "| key | what | default | |\n|---|---|---|---|\n" + "".join(rows)


def main():
    check = "--check" in sys.argv[1:]
    words = [word for word in sys.argv[1:] if word != "--check"]
    if len(words) != 1:
        sys.exit(__doc__)
    wrong = []
    for path in sorted((ROOT / "docs" / "guide").glob("*.md")):
        text = path.read_text()
        new = BLOCK.sub(lambda match: match[1] + table(words[0], match[2]) + match[3], text)
        if new != text:
            wrong.append(path.relative_to(ROOT))
            if not check:
                path.write_text(new)
    if check and wrong:
        sys.exit("\n".join(f"{path}: its tables of options are old: run tools/option_tables.py "
                           "build/weir" for path in wrong))


if __name__ == "__main__":
    main()
