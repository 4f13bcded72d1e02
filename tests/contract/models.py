# SPDX-License-Identifier: Apache-2.0
"""The models of models/ speak of this source: every group of steps names a function and words that
stand in its body, and every function of the protocol is in a model or on the list of those that
are in none, with the reason. tools/models searches the models themselves."""
import pathlib
import re
import sys
import tempfile

import tap

sys.path.insert(0, str(tap.ROOT / "tools"))
import tidy  # noqa: E402  (it lives beside the other tools)

# Whoever adds a function to one of these says what it is to the models.
PROTOCOL = ("queue/mailbox.h", "queue/mailbox.c", "queue/fold.c", "engine/dispatcher.h", "engine/dispatcher.c",
            "engine/duty.c", "engine/fair.c", "engine/freeze.h", "engine/freeze.c", "engine/kept.h",
            "engine/kept.c", "engine/monitor.h", "engine/monitor.c", "engine/post.c",
            "engine/ready.h", "engine/registry.c", "engine/room.c", "engine/share.h",
            "engine/share.c", "engine/shutdown.c", "engine/straight.h", "engine/turn.c",
            "engine/turn_end.c", "engine/progress.h",
            "engine/watchdog.h", "engine/watchdog.c", "engine/lease.h", "engine/lease.c", "queue/lease.h",
            "queue/lease.c", "sync/barrier.h", "sync/bias.h", "sync/mutex.h")

REFERENCE = re.compile(r'/\*@ (\S+) (\w+)((?:[\s*]+"[^"]+")+)\s*\*/')
FUNCTION = re.compile(r"^(?!typedef|struct|enum|union)[\w* ]*?\b(\w+)\((?:[^;{}]|\n)*?\)\n"
                      r"\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^(?:active )?(?:proctype|inline|init)\b *(\w*)[^\n]*\n\{\n(.*?)^\}",
                   re.MULTILINE | re.DOTALL)
DECLARATION = re.compile(r"(?:bit|byte|short|int|#\w+)\b[^\n]*")


def functions_of(path):
    """{name: body without comments and white space} of a source file."""
    text = re.sub(r"/\*.*?\*/", " ", path.read_text(), flags=re.DOTALL)
    text = re.sub(r"^#(?:.*\\\n)*.*$", "", text, flags=re.MULTILINE)  # a macro is no function
    return {name: squeeze(body) for name, body in FUNCTION.findall(text)}


def squeeze(text):
    return re.sub(r"\s+", "", text)


def references_of(model):
    """(file, function, words) of every reference in a model."""
    for file, function, quoted in REFERENCE.findall(model.read_text()):
        for words in re.findall(r'"([^"]+)"', quoted):
            yield file, function, words


def stale_references(models, source):
    """What the models say that the source does not."""
    bodies = {}
    for model in models:
        for file, function, words in references_of(model):
            if file not in bodies:
                path = source / file
                bodies[file] = functions_of(path) if path.exists() else None
            where = f"{model.name}: {file} {function}"
            if bodies[file] is None:
                yield f"{where}: there is no such file"
            elif function not in bodies[file]:
                yield f"{where}: there is no such function"
            elif squeeze(words) not in bodies[file][function]:
                yield f'{where}: does not say "{words}"'


def silent_steps(models):
    """Paragraphs of a process or inline that do not say what they stand for."""
    for model in models:
        for name, body in BLOCK.findall(model.read_text()):
            for paragraph in body.split("\n\n"):
                lines = [line.strip() for line in paragraph.splitlines() if line.strip()]
                if all(DECLARATION.fullmatch(line) for line in lines):
                    continue
                if "/*@ " not in paragraph and "/*= " not in paragraph:
                    yield f"{model.name}: {name or 'init'}: {lines[0]}"


def unmodelled(path):
    """{(file, function): reason} of models/unmodelled."""
    found = {}
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            file, function, reason = line.split(None, 2)
            found[file, function] = reason
    return found


def forgotten_functions(models, source, listed):
    """Functions of the protocol that nobody mentions, and mentions of functions that are gone."""
    named = {(file, function) for model in models for file, function, _ in references_of(model)}
    for file in PROTOCOL:
        there = functions_of(source / file)
        for function in there:
            if (file, function) not in named and (file, function) not in listed:
                yield f"{file}: {function} is in no model and not in models/unmodelled"
        for other, function in listed:
            if other == file and function not in there:
                yield f"models/unmodelled: {file} has no {function}"
    for file, function in listed:
        if file not in PROTOCOL:
            yield f"models/unmodelled: {file} need not be there"
        if (file, function) in named:
            yield f"models/unmodelled: {file} {function} is in a model"


def misconfigured(folder):
    """Seeded bugs without a configuration, and configurations of what is not there."""
    seeded = {(model.stem.partition("_")[0], name) for model in folder.glob("*.pml")  # or a part
              for name in re.findall(r"\bBUG_(\w+)", model.read_text())}
    searched = set()
    for line in (folder / "configurations").read_text().splitlines():
        words = line.partition("#")[0].split()
        if not words:
            continue
        if not (folder / f"{words[2]}.pml").exists():
            yield f"{words[2]}.pml does not exist: {line}"
        if words[0] == "bug":
            searched.add((words[2], words[1]))
    for model, name in sorted(seeded ^ searched):
        yield f"{model}: BUG_{name} is seeded or searched for, but not both"


def planted(source, change):
    """What the test says of a source with one file changed."""
    file, old, new = change
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        for name in {f for model in MODELS for f, _, _ in references_of(model)} | set(PROTOCOL):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            text = (source / name).read_text()
            (copy / name).write_text(text.replace(old, new) if name == file else text)
        return [*stale_references(MODELS, copy), *forgotten_functions(MODELS, copy, LISTED)]


MODELS = sorted((tap.ROOT / "models").glob("*.pml"))
LISTED = unmodelled(tap.ROOT / "models/unmodelled")
SOURCE = tap.ROOT / "src"

with tap.plan() as check:
    count = sum(1 for model in MODELS for _ in references_of(model))
    check("the models name the source", count > 100, f"{count} references")
    found = list(stale_references(MODELS, SOURCE))
    check("what a model names stands in the source", not found, "\n".join(found))
    found = list(silent_steps(MODELS))
    check("every group of steps says what it stands for", not found, "\n".join(found))
    found = list(forgotten_functions(MODELS, SOURCE, LISTED))
    check("every function of the protocol is in a model or on the list", not found,
          "\n".join(found))
    found = list(misconfigured(tap.ROOT / "models"))
    check("every seeded bug is searched for", not found, "\n".join(found))
    found = [f"{path.name}:{number}: {message}" for path in MODELS
             for number, message in tidy.check_size(path.read_text().splitlines())
             if not message.startswith("function")]  # a process has labels, and cannot be cut
    check("models are laid out like sources", not found, "\n".join(found))

    check("a function that is renamed is missed",
          planted(SOURCE, ("engine/duty.c", "hand_over(", "pass_over(")))
    check("a step that is gone is missed",
          planted(SOURCE, ("engine/duty.c", "weir__store(&thread->wake, 0, seq_cst);", "")))
    check("an order that is weakened is missed",
          planted(SOURCE, ("engine/shutdown.c", "weir__store(&engine->phase, phase, seq_cst)",
                           "weir__store(&engine->phase, phase, relaxed)")))
    check("a new function is asked about",
          planted(SOURCE, ("engine/duty.c", "static bool any_work(",
                           "static void fresh(void)\n{\n}\n\nstatic bool any_work(")))
    check("a change of layout is not",
          not planted(SOURCE, ("engine/dispatcher.c", "weir__exchange(&dispatcher->intake, 0,",
                               "weir__exchange(\n        &dispatcher->intake, 0,")))
