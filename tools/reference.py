#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/reference.md: the contract of the public headers as one page, in the reading order of weir.h.

    tools/reference.py            writes it
    tools/reference.py --check    fails if it is stale, and says where

Nothing is written by hand there: a header's top comment becomes the chapter's text, and every run
of declarations becomes a section, with the comment that stands above it as its contract.
"""
import difflib
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
INCLUDE = ROOT / "include"
PAGE = ROOT / "docs/reference.md"

OPENING = """\
# Reference

<!-- Made by tools/reference.py from include/weir/*.h: edit those, then run it. -->

All of `libweir`, in the reading order of `weir.h`, which includes every header but the last: `sim.h`
is what `libweir-sim` has besides. Each function says who may call it with one of four words: *Any*,
*Turn*, *Control*, *Blocking*; the first chapter explains them. `WEIR_MUST_CHECK` in front of a
declaration means that the compiler warns when the answer is not looked at.

The [guide](guide/README.md) explains the same things by task.
"""

PATTERNS = [re.compile(pattern, re.MULTILINE) for pattern in (
    r"^#define ((?:WEIR|weir)_\w+)",               # macros
    r"^typedef (?:struct|enum) \w+ \{.*?^\} (\w+);",  # types with a body
    r"^typedef (?:struct|enum) \w+ (\w+);",        # opaque types
    r"^typedef [^{(]*?\(\*(\w+)\)\(",              # function types
    r"^typedef [a-z]\w* (\w+);",                   # other names of types
    r"^extern const \w+ (\w+);",                   # constants
    r"^(?:WEIR_MUST_CHECK )?[a-z][\w ]*[ *](weir_\w+)\(",  # functions
)]
PATTERNS[1] = re.compile(PATTERNS[1].pattern, re.MULTILINE | re.DOTALL)


def headers():
    """The headers in the order in which weir.h includes them, and the one of libweir-sim."""
    text = (INCLUDE / "weir/weir.h").read_text()
    names = re.findall(r'^#include "(weir/\w+\.h)"', text, re.MULTILINE)
    return [INCLUDE / name for name in [*names, "weir/sim.h"]]


def comment_text(comment):
    """What a comment says, without its decoration; lines keep their relative indent."""
    inner = comment.strip()[2:-2]
    lines = [re.sub(r"^ \* ?", "", line) for line in inner.split("\n")]
    lines[0] = lines[0].strip()
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def markdown(text):
    """Paragraphs; those with indented lines are laid out on purpose, and stay so."""
    out, shaped = [], []

    def flush():
        if shaped:
            block = "\n".join(shaped)
            margin = min(len(l) - len(l.lstrip()) for l in shaped if l.strip())
            block = "\n".join(line[margin:] for line in block.split("\n"))
            language = "c" if re.search(r"[;(]\s*$|\);", block, re.MULTILINE) else "text"
            out.append(f"```{language}\n{block}\n```")
            shaped.clear()

    for paragraph in re.split(r"\n\n+", text):
        rest = []
        for line in paragraph.split("\n"):
            if line.startswith("  "):
                if rest:
                    flush()
                    out.append("\n".join(rest))
                    rest = []
                shaped.append(line)
            else:
                flush()
                rest.append(line)
        if rest:
            out.append("\n".join(rest))
        elif shaped:
            shaped.append("")
            while shaped and not shaped[-1]:
                shaped.pop()
            flush()
    flush()
    return "\n\n".join(escape(part) for part in out)


def escape(part):
    """Signs that Markdown would take for its own, outside of code."""
    if part.startswith("```"):
        return part
    pieces = re.split(r"(`[^`]*`)", part)
    return "".join(piece if piece.startswith("`") else re.sub(r"([<*])", r"\\\1", piece)
                   for piece in pieces)


def body_of(text):
    """A header without guard, includes, the compiler's part, and C++'s part."""
    text = re.sub(r"\A/\*.*?\*/\n", "", text, flags=re.DOTALL)
    text = re.sub(r"^#ifndef WEIR_\w+_H\n#define WEIR_\w+_H\n|^#endif /\* WEIR_\w+_H \*/\n|"
                  r"^#include .*\n|^#undef .*\n|^typedef char weir_event_is.*\n|"
                  r"^.*\bWEIR_STATUS_CONSTANT\b.*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^#if defined\(__GNUC__\)\n.*?^#endif\n", "", text,
                  flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"\)\n +;$", ");", text, flags=re.MULTILINE)  # what attributes stood before
    # `#ifdef __cplusplus ... #else X #endif` is X for a reader of C, without #else nothing.
    return re.sub(r"^#ifdef __cplusplus\n(?:(?!#endif\n).*\n)*?(?:#else\n((?:(?!#endif\n).*\n)*))?"
                  r"#endif\n", lambda match: match[1] or "", text, flags=re.MULTILINE)


def chunks(text):
    """Runs of lines between blank lines; a comment or a brace keeps its blank lines."""
    chunk, depth, inside = [], 0, False
    for line in text.split("\n"):
        if not line.strip() and depth == 0 and not inside:
            if chunk:
                yield "\n".join(chunk)
            chunk = []
            continue
        chunk.append(line)
        bare = re.sub(r"/\*.*?\*/", "", line)
        if inside and "*/" in bare:
            inside, bare = False, bare.split("*/", 1)[1]
        elif "/*" in bare:
            inside, bare = True, bare.split("/*", 1)[0]
        elif inside:
            bare = ""
        depth += bare.count("{") - bare.count("}")
    if chunk:
        yield "\n".join(chunk)


def without_api(code):
    """Declarations without WEIR_API; what was aligned stays aligned."""
    lines, shift = [], 0
    for line in code.split("\n"):
        if line.startswith("WEIR_API "):
            line, shift = line[len("WEIR_API "):], len("WEIR_API ")
        elif shift and line.startswith(" " * 16):
            line = line[shift:]
        else:
            shift = 0
        lines.append(line)
    return "\n".join(lines)


def names_of(code):
    found = sorted((match.start(1), match[1]) for pattern in PATTERNS
                   for match in pattern.finditer(code))
    return list(dict.fromkeys(name for _, name in found))


def parts(chunk):
    """(comment, code) pairs: a comment at the start of a line belongs to the code below it."""
    comment, code = None, []
    for piece in re.split(r"(^/\*.*?\*/\n?)", chunk + "\n", flags=re.DOTALL | re.MULTILINE):
        if piece.startswith("/*"):
            if comment or code:
                yield comment, "".join(code).strip("\n")
            comment, code = piece, []
        elif piece.strip():
            code.append(piece)
    if comment or code:
        yield comment, "".join(code).strip("\n")


def chapter(header):
    """(markdown, names in order) of one header."""
    text = header.read_text()
    top = comment_text(re.match(r"/\*.*?\*/", text, re.DOTALL)[0])
    top = re.sub(r"\n*SPDX-License-Identifier: .*", "", top)
    title, _, rest = top.partition(" - ")
    out, sections = [f"## {title}", markdown(rest[:1].upper() + rest[1:])], []
    for chunk in chunks(body_of(text)):
        for comment, code in parts(chunk):
            code = without_api(code)
            if code.strip():
                names = names_of(code)
                if not names:
                    sys.exit(f"{header}: nothing is named here:\n{code}")
                sections.append(names)
                out.append("### " + ", ".join(names))
            if comment:
                out.append(markdown(comment_text(comment)))
            if code.strip():
                # A macro's backslashes stand in column 100; nobody needs them there.
                code = re.sub(r" {2,}\\$", r" \\", code, flags=re.MULTILINE)
                out.append(f"```c\n{code}\n```")
    return title, "\n\n".join(out), sections


def anchor(heading):
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def index(chapters):
    """One paragraph a header, with a link a name."""
    out = ["## Names"]
    for title, _, sections in chapters:
        words = [f"[{title}](#{anchor(title)}):"]
        for names in sections:
            target = anchor(", ".join(names))
            words += [f"[{name}](#{target})" for name in names]
        out.append("\n".join(words))
    return "\n\n".join(out)


def page():
    chapters = [chapter(header) for header in headers()]
    parts_of_page = [OPENING.strip("\n"), index(chapters), *(text for _, text, _ in chapters)]
    return "\n\n".join(parts_of_page) + "\n"


def main(arguments):
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__)
    text = page()
    if not arguments:
        PAGE.write_text(text)
        return 0
    old = PAGE.read_text() if PAGE.exists() else ""
    if old == text:
        return 0
    print("docs/reference.md is stale: run tools/reference.py")
    sys.stdout.writelines(list(difflib.unified_diff(
        old.splitlines(True), text.splitlines(True), "docs/reference.md", "the headers"))[:60])
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
