# SPDX-License-Identifier: Apache-2.0
"""What docs/guide/ shows is true: its programs run and print what stands below them, its snippets
compile, its links lead somewhere, and its table of statuses and docs/reference.md are those of the
headers. The program of libweir(3) runs, too.

Every ```hocon and ```yaml block there begins with one of two lines, and is a file of that name for
the programs, too:

    # good: NAME          `weir config check --strict NAME` finds nothing to say
    # says: NAME          the next block of the page, ```text, is what `weir config check NAME` says,
                          on one core

Every ```c block there begins with one of five lines:

    /* program: NAME */    compiled, linked with the static library, run; exit status 0. If the next
                           block of the page is ```text, that is what it prints.
    /* simulated: NAME */  the same, linked with libweir-sim; skipped where that was not built
    /* plugin: NAME */     compiled to NAME.so, which `weir types --plugin` accepts; the page's files of
                           configuration may name it
    /* snippet */          compiled as the body of a function; PRELUDE has what is in scope
    /* snippet: file */    compiled at file scope, behind the prelude's declarations
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import tap

GUIDE = tap.ROOT / "docs/guide"
STRICT = ["-std=gnu11", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror",
          "-O1", f"-I{tap.ROOT / 'include'}"]
# A snippet uses some of what is in scope, and may use a name of its own for it.
LOOSE = ["-Wno-unused", "-Wno-shadow", "-Werror=unused-result"]
PROGRAM_S = 30
WEIR = os.environ.get("WEIR_COMMAND", str(tap.BUILD / "weir"))
SIM = os.environ.get("WEIR_SIM_LIBRARY", "")  # where the simulator was built

PRELUDE = """\
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/weir.h>

typedef struct order { int number; } order;
WEIR_EVENT_TYPE(order, "guide.order");
WEIR_EMPTY_TYPE(flush, "guide.flush");
struct book { int orders; weir_processor journal; weir_ticket asked; weir_event kept; };

weir_status on_order(void *state, weir_turn *turn, const weir_event *event);
weir_status on_flush(void *state, weir_turn *turn, const weir_event *event);
weir_status on_event(void *state, weir_turn *turn, const weir_event *event);
"""
BODY = """\
weir_status snippet(weir_engine *engine, weir_turn *turn, const weir_event *event,
                    weir_processor to, void *state, weir_error error);
weir_status snippet(weir_engine *engine, weir_turn *turn, const weir_event *event,
                    weir_processor to, void *state, weir_error error)
{
    weir_status status = WEIR_OK;
    (void)engine, (void)turn, (void)event, (void)to, (void)state, (void)error;
    {
#line 1 "%s"
%s
    }
    return status;
}
"""


class Block:
    """One fenced block of a page."""

    def __init__(self, page, line, language, text):
        self.page, self.line, self.language, self.text = page, line, language, text
        first = text.split("\n", 1)[0].strip()
        found = re.fullmatch(r"/\* (program|simulated|plugin|snippet)(?:: ([\w-]+))? \*/", first)
        self.kind, self.name = found.groups() if found and language == "c" else (None, None)
        self.output = None

    def runs(self):
        return self.kind in ("program", "simulated")

    def __str__(self):
        name = f"{self.kind} {self.name}" if self.runs() else self.kind or self.language
        return f"{self.page.name}:{self.line} ({name})"


def blocks_of(page):
    found, lines, at = [], page.read_text().split("\n"), 0
    while at < len(lines):
        fence = re.match(r"```(\w*)$", lines[at])
        if fence:
            end = lines.index("```", at + 1)
            found.append(Block(page, at + 1, fence[1], "\n".join(lines[at + 1:end]) + "\n"))
            at = end
        at += 1
    for block, after in zip(found, found[1:]):
        if block.runs() and after.language == "text":
            block.output = after.text
    return found


def manual_example():
    page = tap.ROOT / "docs/man/libweir.3"
    before, _, rest = page.read_text().partition(".Bd -literal\n")
    text = "/* program: manual */\n" + rest.partition(".Ed\n")[0]
    return Block(page, before.count("\n"), "c", text)


def compile_snippet(block, folder):
    if block.name == "file":
        text = f'{PRELUDE}#line {block.line + 1} "{block.page.name}"\n{block.text}'
    else:
        text = PRELUDE + BODY % (block.page.name, block.text)
        text = text.replace("#line 1 ", f"#line {block.line + 1} ")
    source = folder / f"{block.page.stem}-{block.line}.c"
    source.write_text(text)
    return tap.run("cc", *STRICT, *LOOSE, "-c", source, "-o", source.with_suffix(".o"))


def compile_program(block, folder):
    source = folder / f"{block.name}.c"
    source.write_text(f'#line {block.line + 1} "{block.page.name}"\n{block.text}')
    library = [tap.BUILD / "libweir.a"]
    if block.kind == "simulated":
        library = [SIM, f"-Wl,-rpath,{os.path.dirname(SIM)}"]
    return tap.run("cc", *STRICT, source, *library, "-pthread", "-o", source.with_suffix(""))


def run_program(block, folder):
    """(as promised, what it said)"""
    try:
        done = subprocess.run([str(folder / block.name)], capture_output=True, text=True,
                              check=False, timeout=PROGRAM_S, cwd=folder)
    except subprocess.TimeoutExpired:
        return False, f"still runs after {PROGRAM_S} s"
    said = f"exit status {done.returncode}\n{done.stdout}{done.stderr}"
    if block.output is not None and done.stdout != block.output:
        return False, f"{said}expected:\n{block.output}"
    return done.returncode == 0, said


def check_code(check, blocks, folder):
    code = [block for block in blocks if block.language == "c"]
    unmarked = [str(block) for block in code if not block.kind]
    check("every C block of the guide is a program or a snippet", not unmarked, unmarked)
    programs = [block for block in code if block.runs()]
    names = [block.name for block in programs]
    check("every program has a name of its own", len(set(names)) == len(names) and None not in names,
          names)
    if not SIM:
        for block in [block for block in programs if block.kind == "simulated"]:
            check.skip(f"{block} runs as the page says", "built without -Dsim=true")
            programs.remove(block)
    snippets = [block for block in code if block.kind == "snippet"]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        compiled = pool.map(lambda block: compile_snippet(block, folder), snippets)
        built = pool.map(lambda block: compile_program(block, folder), programs)
        for block, (good, said) in zip(snippets, compiled):
            check(f"{block} compiles", good, said)
        built = list(built)
    for block, (good, said) in zip(programs, built):
        if check(f"{block} compiles", good, said):
            check(f"{block} runs as the page says", *run_program(block, folder))


def check_plugins(check, blocks, folder):
    """Before the configurations, which may name them."""
    for block in [block for block in blocks if block.kind == "plugin"]:
        source, plugin = folder / f"{block.name}.c", folder / f"{block.name}.so"
        source.write_text(f'#line {block.line + 1} "{block.page.name}"\n{block.text}')
        if check(f"{block} compiles", *tap.run("cc", *STRICT, "-shared", "-fPIC", source, "-o",
                                               plugin)):
            check(f"{block} is a plugin", *tap.run(WEIR, "types", "--plugin", plugin))


def check_configurations(check, blocks, folder):
    """Before the programs, which may read these files."""
    one_core = {min(os.sched_getaffinity(0))}
    for block, after in zip(blocks, [*blocks[1:], None]):
        if block.language not in ("hocon", "yaml"):
            continue
        found = re.match(r"# (good|says): ([\w.-]+)\n", block.text)
        if not check(f"{block} says what it is", bool(found), block.text):
            continue
        kind, name = found.groups()
        (folder / name).write_text(block.text)
        done = subprocess.run([WEIR, "config", "check", *(["--strict"] if kind == "good" else []),
                               name], cwd=folder, env={}, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PROGRAM_S,
                              preexec_fn=lambda: os.sched_setaffinity(0, one_core))
        if "YAML is not built into" in done.stdout:
            check.skip(f"{block} {name}", "this command was built without libfyaml")
            continue
        wanted = f"{name}: ok\n" if kind == "good" else after.text
        check(f"{block} {name} is read as the page says", done.stdout == wanted,
              f"wanted:\n{wanted}got:\n{done.stdout}")


def anchors_of(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def check_prose(check, pages):
    for page in pages:
        text = page.read_text()
        # What a program prints, and a table's row, cannot be broken.
        shown = re.sub(r"^```(?:text|hocon|yaml)$.*?^```$", lambda m: "\n" * m[0].count("\n"), text,
                       flags=re.MULTILINE | re.DOTALL)
        long = [f"line {number} has {len(line)} columns"
                for number, line in enumerate(shown.split("\n"), 1)
                if len(line) > 100 and not line.startswith("|")]
        if page.parent == GUIDE:  # the reference is as wide as the headers
            check(f"{page.name} keeps to 100 columns", not long, "\n".join(long))
        broken = []
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            path, _, anchor = target.partition("#")
            file = (page.parent / path) if path else page
            if "://" not in target and (not file.exists() or (
                    anchor and anchor not in anchors_of(file))):
                broken.append(target)
        check(f"every link of {page.name} leads somewhere", not broken, broken)


def check_tables(check):
    header = (tap.ROOT / "include/weir/base.h").read_text()
    wanted = re.findall(r'^    X\((\w+), (-?\d+), "(.*)"\)', header, re.MULTILINE)
    shown = re.findall(r"^\| `WEIR_(\w+)` \| (-?\d+) \| ([^|]*?) \|",
                       (GUIDE / "errors.md").read_text(), re.MULTILINE)
    check("the statuses of errors.md are those of base.h", wanted and wanted == shown,
          f"{set(wanted) ^ set(shown)}")
    good, said = tap.run(sys.executable, tap.ROOT / "tools/reference.py", "--check")
    check("docs/reference.md is what the headers say", good, said)
    files = {page.name for page in GUIDE.glob("*.md")} - {"README.md"}
    listed = set(re.findall(r"\]\(([\w-]+\.md)\)", (GUIDE / "README.md").read_text()))
    check("the guide's first page lists every page", files == listed, files ^ listed)


with tap.plan() as plan, tempfile.TemporaryDirectory() as temporary:
    every = sorted(GUIDE.glob("*.md"))
    plan("the guide has pages", bool(every))
    shown = [block for one in every for block in blocks_of(one)]
    check_plugins(plan, shown, pathlib.Path(temporary))
    check_configurations(plan, shown, pathlib.Path(temporary))
    check_code(plan, [*shown, manual_example()], pathlib.Path(temporary))
    check_prose(plan, [*every, tap.ROOT / "docs/reference.md"])
    check_tables(plan)
