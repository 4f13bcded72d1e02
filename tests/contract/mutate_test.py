# SPDX-License-Identifier: Apache-2.0
"""tools/mutate changes what it should and nothing else, names its mutants for good, and reads the
explanations of survivors. (Whether the explained ones exist is tools/mutate's own matter.)"""
import pathlib
import sys
import tempfile

import tap

sys.path.insert(0, str(tap.ROOT / "tools"))
from mutation import killed, killers, operators, source, survivors, workshop  # noqa: E402

FRAME = "int f(int a, int b)\n{{\n    {}\n}}\n"

# What stands in a function: the sentence, the text, (operator, old, new) of all its mutants.
CHANGED = [
    ("a comparison moves its border", "return a < b;", [("relation", "<", "<=")]),
    ("an equality turns round, once", "if (a == b) {\n    }", [("relation", "==", "!=")]),
    ("a condition turns round as a whole", "while (a > b) {\n    }",
     [("negate", "a > b", "!(a > b)"), ("relation", ">", ">=")]),
    ("a number becomes its neighbours", "return a[7];",
     [("constant", "7", "6"), ("constant", "7", "8")]),
    ("zero has one neighbour", "return a[0];", [("constant", "0", "1")]),
    ("a suffix stays", "return 64u;", [("constant", "64u", "63u"), ("constant", "64u", "65u")]),
    ("a sum becomes a difference", "return a + b;", [("arithmetic", "+", "-")]),
    ("a product becomes a quotient", "return a * b;", [("arithmetic", "*", "/")]),
    ("and becomes or", "return a && b;", [("logic", "&&", "||")]),
    ("or becomes and, bit by bit", "return a | b;", [("bits", "|", "&")]),
    ("a denial goes", "return !a;", [("not", "!", "")]),
    ("a call is left out", "g(a);", [("delete", "g(a);", ";")]),
    ("a call over two lines is left out", "g(a,\n      b);", [("delete", "g(a,\n      b);", ";")]),
    ("a store through a pointer is left out", "*a = b;", [("delete", "*a = b;", ";")]),
    ("a step goes the other way, or not at all", "a++;",
     [("delete", "a++;", ";"), ("step", "++", "--")]),
    ("a truth becomes a lie", "return true;", [("truth", "true", "false")]),
    ("a status becomes another", "return WEIR_FULL;",
     [("return", "WEIR_FULL", "WEIR_FULL == 0 ? 1 : 0")]),
    ("an order is weakened, both of them in an exchange",
     "return weir__cas(&a, &b, c, acq_rel, acquire);",
     [("order", "acq_rel", "relaxed"), ("order", "acquire", "relaxed")]),
    ("a fence is weakened, not left out", "weir__fence(seq_cst);",
     [("order", "seq_cst", "relaxed")]),
]
UNCHANGED = [
    ("comments", "/* a < b && !c */ // a + 1"),
    ("strings and characters", "return \"a < b\" 'x';"),
    ("preprocessor lines", "\n#define SUM(a) a + \\\n    1\n#undef SUM\n"),
    ("asserts", "WEIR_ASSERT(a < b && g(a) == 1);"),
    ("pointers in declarations", "weir__thread *thread;"),
    ("the address of something", "return &a;"),
    ("the size of an array", "char text[64];"),
    ("arrows", "return a->b;"),
    ("an order that is relaxed already", "return weir__load(&a, relaxed);"),
    ("a word that is only called like an order", "return release;"),
    ("a variable that is marked as unused", "(void)a;"),
    ("giving way", "weir__yield();"),
    ("what stands outside of functions", "return a;\n}\n\nstatic int x = 1 + 2;\n\nint g(void)\n{"),
]


def mutants(text):
    return operators.mutants_of(source.Source("src/engine/x.c", text))


def whole_text(text, mutant):
    return text[:mutant.start] + mutant.new + text[mutant.end:]


def explained(text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "survivors.txt"
        path.write_text(text)
        return survivors.read(path)


def check_operators(check):
    for sentence, body, expected in CHANGED:
        text = FRAME.format(body)
        found = mutants(text)
        check(sentence, sorted((m.operator, m.old, m.new) for m in found) == sorted(expected),
              [(m.operator, m.old, m.new) for m in found])
        check(f"{sentence}: the rest of the file stays",
              all(len(whole_text(text, m)) == len(text) - len(m.old) + len(m.new)
                  and text[m.start:m.end] == m.old for m in found))
    for sentence, body in UNCHANGED:
        found = mutants(FRAME.format(body))
        check(f"leaves alone: {sentence}", not found, [operators.describe(m) for m in found])


def check_names(check):
    text = FRAME.format("if (a < b) {\n        g(a);\n        g(a);\n    }\n    return a + 1;")
    names = [m.id for m in mutants(text)]
    check("every mutant has a name of its own", len(names) == len(set(names)), names)
    moved = "/* new */\n\nint other(int c)\n{\n    return c < 3;\n}\n\n" + text
    kept = [m.id for m in mutants(moved) if m.function == "f"]
    check("a name stays when the lines move", kept == names, [names, kept])
    edited = [m.id for m in mutants(text.replace("return a + 1", "return a + 2"))]
    check("a name changes with its line, and only then",
          len(set(edited) & set(names)) == len([m for m in mutants(text) if m.line != 7]),
          [names, edited])


def check_explanations(check):
    entries, errors = explained("# head\nsrc/a.c:f:order:1\n    `acquire` -> `relaxed`\n"
                                "    simulator: x86 is strong\n")
    check("an explanation has a kind", not errors and entries["src/a.c:f:order:1"].kind == "simulator",
          errors)
    check("one without a kind is refused", explained("src/a.c:f:order:1\n    because\n")[1])
    check("one that stands there twice is refused",
          explained("src/a.c:f:order:1\n    missing: x\n\nsrc/a.c:f:order:1\n    missing: y\n")[1])
    entries, errors = survivors.read(tap.ROOT / "tests/mutation/survivors.txt")
    check("survivors.txt is well-formed", entries and not errors, "\n".join(errors))


def check_slice(check):
    found = mutants(FRAME.format("return a + b + 1;"))
    results = {m.id: {"verdict": "killed", "by": "sim/first", "how": "failed"} for m in found}
    slow, real, alive = (m.id for m in found[:3])
    results[slow]["how"] = "hung"
    results[real]["by"] = "engine/post"
    results[alive]["verdict"] = "survived"
    results["src/a.c:gone:step:1"] = {"verdict": "killed", "by": "sim/pct", "how": "crashed"}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "killed.txt"
        killed.write(path, results)
        dead = killed.read(path)
    check("who was killed is kept, who survived is not",
          dead.keys() == results.keys() - {alive}, dead)
    chosen, gone = killed.in_rotation(dead, found, 100, tap.ROOT)
    check("a slice is of those that the simulator kills quickly",
          {m.id for m in chosen} == {m.id for m in found[3:]}, chosen)
    check("those whose line was edited are told", gone == 1, gone)
    explained_ones = survivors.read(tap.ROOT / "tests/mutation/survivors.txt")[0].keys()
    both = explained_ones & killed.read(tap.ROOT / "tests/mutation/killed.txt").keys()
    check("nobody is killed and explained as a survivor", not both, sorted(both))


def check_benches(check):
    order, = mutants(FRAME.format("weir__fence(seq_cst);"))
    other, = mutants(FRAME.format("return a < b;"))
    system = other._replace(path="src/sync/real/word.c")
    check("a memory order is the simulator's alone",
          [b for b in killers.BENCHES if killers.takes(b, order)] == ["simulator"])
    check("anything else is shown to both, the simulator first",
          [b for b in killers.BENCHES if killers.takes(b, other)] == ["simulator", "real"])
    check("what asks the system is the real tests' alone",
          [b for b in killers.BENCHES if killers.takes(b, system)] == ["real"])
    lists = "a_sources = files(\n  'x/b.c', # ]\n)\n\nc_sources = a_sources + files(\n  'd.c',\n)\n"
    check("the sources are those of meson.build",
          [workshop.listed(lists, name) for name in ("a_sources", "c_sources", "e_sources")]
          == [["x/b.c"], ["d.c"], []])


with tap.plan() as plan:
    check_operators(plan)
    check_names(plan)
    check_explanations(plan)
    check_slice(plan)
    check_benches(plan)
