#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the rules of the house that a program can check: sizes, layers, banned calls, licence
lines, files that nothing builds, the shape of the changelog. Prints file:line: what is wrong;
exits 1 if something is.

    tools/tidy.py            the tree that this file is in
    tools/tidy.py FOLDER     another one
"""
import pathlib
import re
import sys

LINE_MAX, FUNCTION_MAX, FILE_MAX = 100, 70, 600
FOLDERS = ("include", "src", "tests", "examples", "bench", "plugins", "fuzz")
SPDX = "SPDX-License-Identifier: Apache-2.0"
SPDX_WITHIN = 100  # lines: the comment at the top of a file may be long

# Everywhere, in code (not in comments or strings): the pattern and what to use instead.
BANNED = {
    r"strcpy|strcat|sprintf|vsprintf": "snprintf",
    r"strncpy|strncat": "snprintf, or memcpy with a length",
    r"gets": "fgets",
    r"strtok": "a loop over strchr or strcspn",
    r"atoi|atol|atoll|atof": "strtoull and friends, with the end checked",
    r"rand|srand|random|srandom|drand48": "a seeded generator",
    r"usleep": "the sync room's sleep",
    r"alloca": "a bounded array, or the allocator",
    r"setjmp|longjmp": "a status",
}
# In the library only: rooms that may use it all the same are named.
BANNED_IN_LIBRARY = {
    r"malloc|calloc|realloc|free|aligned_alloc|posix_memalign|strdup|strndup":
        ("the engine's allocator", {"base"}),
    r"printf|puts|putchar|perror": ("the log", set()),
    r"exit|_exit|quick_exit|abort": ("a status, or WEIR_ASSERT", {"base"}),
    r"assert": ("WEIR_ASSERT", set()),
}
COMMAND_ROOMS = {"connect", "server", "admin", "cli", "simulate"}  # above libweir: programs, not the library
NOT_SAID = re.compile(r"\b(FIXME|TODO|XXX|HACK)\b")

CHANGELOG_SECTIONS = ["Breaking", "Added", "Changed", "Fixed", "Removed"]

CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|' + r"'(?:\\.|[^'\\\n])*'", re.DOTALL)


def blank(match):
    """Spaces for what was matched, so that lines and columns stay."""
    return re.sub(r"[^\n]", " ", match[0])


def code_only(text):
    """C text without its comments and literals, line for line. #include "x" keeps its name."""
    def replace(match):
        start = text.rfind("\n", 0, match.start()) + 1
        if match[0][0] == '"' and re.match(r"\s*#\s*include\b", text[start:match.start()]):
            return match[0]
        return blank(match)
    return CODE.sub(replace, text)


def read_layers(path):
    """LAYERS as {room: rooms it may include}; yields its errors through the second value."""
    layers, errors = {}, []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        room, _, allowed = line.partition(":")
        for name in allowed.split():
            if name not in layers:
                errors.append((number, f"{room} uses {name}, which does not stand above it"))
        layers[room.strip()] = set(allowed.split()) | {room.strip()}
    return layers, errors


def check_size(lines):
    """Lengths of lines, functions and the file; white space."""
    start = None
    if len(lines) > FILE_MAX:
        yield len(lines), f"file is longer than {FILE_MAX} lines"
    for number, line in enumerate(lines, 1):
        if len(line) > LINE_MAX:
            yield number, f"line is longer than {LINE_MAX} columns"
        if line != line.rstrip() or "\t" in line:
            yield number, "tab or trailing white space"
        if line == "{":
            start = number
        elif line.startswith("}") and start:
            if number - start - 1 > FUNCTION_MAX:
                yield start, f"function is longer than {FUNCTION_MAX} lines"
            start = None


def check_words(text, code, room, simulator=False):
    """Banned calls and words. A reason on the line, or alone above it, forgives a call:
    /* tidy-ok: why */
    The simulator stands under the engine, where its allocator ends."""
    library = room is not None and room not in COMMAND_ROOMS and not simulator
    lines = text.splitlines()
    for number, line in enumerate(code.splitlines(), 1):
        if any(re.search(r"/\* tidy-ok: \S", said) for said in lines[max(0, number - 2):number]):
            continue
        for pattern, instead in BANNED.items():
            if match := re.search(rf"(?<![\w>.])({pattern})\s*\(", line):
                yield number, f"{match[1]} is banned, use {instead}"
        for pattern, (instead, rooms) in BANNED_IN_LIBRARY.items():
            match = re.search(rf"(?<![\w>.])({pattern})\s*\(", line)
            if library and room not in rooms and match:
                yield number, f"{match[1]} is banned in {room}/, use {instead}"
        # A flag that a signal handler sets, and an assembler line of the sync room: nothing else.
        if re.search(r"\bvolatile\b(?!\s+sig_atomic_t)(?<!asm volatile)(?<!asm__ volatile)", line) \
                and not simulator:
            yield number, "volatile is no way to share: use the sync room"
    for number, line in enumerate(lines, 1):
        if match := NOT_SAID.search(line):
            yield number, f"{match[0]} is banned, write an issue"


def check_includes(code, room, layers):
    """Rooms include rooms above them, and by their whole name."""
    for number, line in enumerate(code.splitlines(), 1):
        match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if not match:
            continue
        name = match[1]
        if name.endswith(".c"):
            yield number, f"{name}: a .c file is compiled, not included"
        if room is None or name.startswith("weir/"):
            continue
        if "/" not in name or ".." in name:
            yield number, f'"{name}": include it as "room/file.h"'
        elif name.split("/")[0] not in layers[room]:
            yield number, f"{room}/ may not include {name.split('/')[0]}/ (src/LAYERS)"


def check_file(path, room, layers):
    text = path.read_text()
    lines = text.splitlines()
    code = code_only(text)
    if SPDX not in "\n".join(lines[:SPDX_WITHIN]):
        yield 1, f"no line '{SPDX}' in the comment at the top"
    if text and not text.endswith("\n"):
        yield len(lines), "no newline at the end of the file"
    yield from check_size(lines)
    yield from check_words(text, code, room, path.parts[-3:-1] == ("sync", "sim"))
    yield from check_includes(code, room, layers)


def check_built(root, folder, sources):
    """Every .c file of the folder is named by the folder's meson.build, and the other way round."""
    build = root / folder / "meson.build"
    if not build.exists():
        return
    text = re.sub(r"#[^\n]*", "", build.read_text())
    listed = set(re.findall(r"'([\w./-]+\.c)'", text))
    for path in sources:
        name = path.relative_to(root / folder).as_posix()
        if name not in listed:
            yield path, 1, f"nothing builds it: {folder}/meson.build does not list {name}"
    for name in sorted(listed):
        if not (root / folder / name).exists():
            yield build, 1, f"lists {name}, which does not exist"


def check_changelog(path):
    """# Changelog, ## Unreleased first, then ## versions; known sections, Breaking first."""
    lines = path.read_text().splitlines()
    if not lines or lines[0] != "# Changelog":
        yield 1, "begins with '# Changelog'"
    versions, order = [], -1
    for number, line in enumerate(lines, 1):
        if line.startswith("## "):
            versions.append(line[3:])
            order = -1
            if len(versions) == 1 and line != "## Unreleased":
                yield number, "the first version is '## Unreleased'"
            if len(versions) > 1 and not re.fullmatch(r"## \d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\)", line):
                yield number, "a version is '## 1.2.3 (2030-12-31)'"
        elif line.startswith("### "):
            if line[4:] not in CHANGELOG_SECTIONS:
                yield number, f"a section is one of {', '.join(CHANGELOG_SECTIONS)}"
                continue
            if CHANGELOG_SECTIONS.index(line[4:]) <= order:
                yield number, f"sections are in the order {', '.join(CHANGELOG_SECTIONS)}"
            order = CHANGELOG_SECTIONS.index(line[4:])
        elif versions and line and not line.startswith(("- ", "  ")):
            yield number, "an entry is '- one sentence for users'"
        elif versions and line.startswith("- ") and order < 0:
            yield number, "an entry stands in a section"
        if len(line) > LINE_MAX:
            yield number, f"line is longer than {LINE_MAX} columns"
    if not versions:
        yield len(lines), "has no '## Unreleased'"


def check_clang_tidy(path):
    """Every check that is off has a line '# -check: reason' above."""
    text = path.read_text()
    checks = re.search(r'^Checks:\s*"(.*?)"', text, re.DOTALL | re.MULTILINE)
    for name in re.findall(r"(?<![\w])-([\w.-]+)", checks[1] if checks else ""):
        if not re.search(rf"^# -{re.escape(name)}: \S", text, re.MULTILINE):
            yield 1, f"-{name} has no line '# -{name}: reason'"


def offences(root):
    """All of them, as (path, line, message)."""
    layers_path = root / "src/LAYERS"
    layers, errors = read_layers(layers_path)
    for number, message in errors:
        yield layers_path, number, message
    for room in sorted(p.name for p in (root / "src").iterdir() if p.is_dir()):
        if room not in layers and any((root / "src" / room).rglob("*.[ch]")):
            yield layers_path, 1, f"does not know src/{room}/"
            layers[room] = {room}

    paths = sorted(p for d in FOLDERS for p in (root / d).rglob("*.[ch]"))
    for path in paths:
        parts = path.relative_to(root).parts
        room = parts[1] if parts[0] == "src" and len(parts) > 2 else None
        if parts[0] == "src" and room is None:
            yield path, 1, "a source file stands in a room"
        for number, message in check_file(path, room, layers):
            yield path, number, message

    yield from check_built(root, "src", sorted((root / "src").rglob("*.c")))
    # The cases of misuse are compiled by a test, and must not compile; scenarios have a list of
    # their own.
    yield from check_built(root, "tests", sorted(p for p in (root / "tests").rglob("*.c")
                                                 if p.parent.name not in ("misuse", "sim")))
    yield from check_built(root, "tests/sim", sorted((root / "tests/sim").rglob("*.c")))
    for pattern in (".clang-tidy", "*/.clang-tidy", "src/*/.clang-tidy"):
        for path in sorted(root.glob(pattern)):
            for number, message in check_clang_tidy(path):
                yield path, number, message
    changelog = root / "CHANGELOG.md"
    if changelog.exists():
        for number, message in check_changelog(changelog):
            yield changelog, number, message
    else:
        yield changelog, 1, "is missing"


def main(arguments):
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parent.parent)
    root = root.resolve()
    count = 0
    for path, number, message in offences(root):
        print(f"{path.relative_to(root)}:{number}: {message}")
        count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
