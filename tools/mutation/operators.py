# SPDX-License-Identifier: Apache-2.0
"""What a mutant may be: small mistakes, one place at a time, inside functions only.

Not generated, because no test could or should tell them from the original:
  - anything inside WEIR_ASSERT(...), and deleting one: it says what holds, it does not make it so
  - deleting (void)x; and declarations; deleting weir__yield(): politeness towards other threads
  - negating a condition whose whole is == or != or !x, deleting a fence: others do the same
  - the size in a declaration of an array
  - breaking up constants that are written as macros: they are no function's text
"""
import hashlib
import re
from collections import namedtuple

# id: stable while the line and its function's name stay; start, end: what `new` takes the place of.
Mutant = namedtuple("Mutant", "id path function line operator start end old new")

RELATION = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "<<": ">>", ">>": "<<",
              "+=": "-=", "-=": "+="}
LOGIC = {"&&": "||", "||": "&&"}
BITS = {"|": "&", "&": "|", "|=": "&=", "&=": "|="}
STEP = {"++": "--", "--": "++"}
TRUTH = {"true": "false", "false": "true"}
ORDERS = {"acquire", "release", "acq_rel", "seq_cst"}
ORDERED = re.compile(r"weir__(load|store|exchange|cas|add|sub|or|and|fence)$")
ASSERTS = {"WEIR_ASSERT", "WEIR_ASSERT_SLOW"}
NOT_DELETED = ASSERTS | {"weir__yield", "weir__pause", "weir__fence"}
NO_EXPRESSION = {"return", "break", "continue", "goto", "if", "while", "for", "do", "switch",
                 "case", "default", "else", "const", "static", "struct", "enum", "union",
                 "unsigned", "signed", "int", "char", "long", "size_t", "bool", "void", "typedef",
                 "_Static_assert"}
OPERATORS = ["relation", "constant", "arithmetic", "logic", "negate", "not", "delete", "return",
             "order", "bits", "truth", "step"]


def closing(tokens, at):
    """The index of the bracket that closes the one at `at`."""
    depth = 0
    for index in range(at, len(tokens)):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(tokens[index].text, 0)
        if depth == 0:
            return index
    return len(tokens) - 1


def inside_asserts(tokens):
    """Indices of tokens that belong to an assert."""
    inside = set()
    for index, token in enumerate(tokens):
        if token.text in ASSERTS and index not in inside:
            inside.update(range(index, closing(tokens, index + 1) + 1))
    return inside


def order_arguments(tokens):
    """Indices of memory orders: bare words among the arguments of an atomic operation."""
    found = set()
    for index, token in enumerate(tokens):
        if ORDERED.match(token.text) and tokens[index + 1].text == "(":
            for at in range(index + 2, closing(tokens, index + 1)):
                if (tokens[at].text in ORDERS and tokens[at - 1].text in ("(", ",")
                        and tokens[at + 1].text in (")", ",")):
                    found.add(at)
    return found


def is_binary(text, token):
    """By the layout: clang-format puts a space or an end of line on both sides."""
    return text[token.start - 1] in " \n" and text[token.end] in " \n"


def is_array_size(tokens, at):
    """`char text[64]`: the number of a declaration, not an index."""
    return (tokens[at - 1].text == "[" and tokens[at - 2].kind == "word"
            and (tokens[at - 3].kind == "word" or tokens[at - 3].text == "*")
            and tokens[at - 3].text not in ("return", "else"))


def number_neighbours(text):
    """N + 1 and N - 1 as C, for an integer literal."""
    match = re.fullmatch(r"(0[xX][0-9a-fA-F]+|\d+)([uUlL]*)", text)
    if not match:
        return []
    value = int(match[1], 0 if match[1][:2].lower() == "0x" else 10)
    return [f"{near}{match[2]}" for near in (value + 1, value - 1) if near >= 0]


def token_changes(text, tokens, asserts):
    """(operator, first token, last token, new text) of all that change a single token."""
    orders = order_arguments(tokens)
    for at, token in enumerate(tokens):
        if at in asserts:
            continue
        word = token.text
        if token.kind == "mark" and word in STEP:
            yield "step", token, token, STEP[word]
        elif token.kind == "mark" and word == "!":
            yield "not", token, token, ""
        elif token.kind == "mark" and is_binary(text, token):
            for operator, table in (("relation", RELATION), ("arithmetic", ARITHMETIC),
                                    ("logic", LOGIC), ("bits", BITS)):
                if word in table:
                    yield operator, token, token, table[word]
        elif token.kind == "number" and not is_array_size(tokens, at):
            for near in number_neighbours(word):
                yield "constant", token, token, near
        elif word in TRUTH:
            yield "truth", token, token, TRUTH[word]
        elif at in orders:
            yield "order", token, token, "relaxed"


def negations(text, tokens, asserts):
    """Conditions of if and while, turned round as a whole."""
    for at, token in enumerate(tokens):
        if token.text not in ("if", "while") or at in asserts:
            continue
        end = closing(tokens, at + 1)
        inner = tokens[at + 2:end]
        words = [t.text for t in inner]
        joined = "&&" in words or "||" in words
        if not joined and ("==" in words or "!=" in words or words[0] == "!"):
            continue
        yield "negate", inner[0], inner[-1], f"!({text[inner[0].start:inner[-1].end]})"


def statements(tokens):
    """(first, last) indices of simple statements: from one border to the next semicolon."""
    at = first = 0
    while at < len(tokens):
        word = tokens[at].text
        if word in ("if", "while", "for", "switch") and tokens[at + 1].text == "(":
            at = closing(tokens, at + 1) + 1
            first = at
        elif word in ("(", "["):
            at = closing(tokens, at) + 1
        elif word == "{" and at > first:  # an initialiser, not a block
            at = closing(tokens, at) + 1
        elif word in ("{", "}", "else", "do"):
            at += 1
            first = at
        elif word == ":" and tokens[first].text in ("case", "default"):
            at += 1
            first = at
        elif word == ";":
            if at > first:
                yield first, at
            at += 1
            first = at
        else:
            at += 1


def is_deletable(tokens):
    """A call, an assignment, a step; not a declaration."""
    words = [token.text for token in tokens]
    if words[:3] == ["(", "void", ")"]:
        return "(" in words[3:] and words[3] not in NOT_DELETED
    if words[0] in NO_EXPRESSION or words[0] in NOT_DELETED:
        return False
    if tokens[0].kind == "word" and len(tokens) > 1 and (
            tokens[1].kind == "word" or (words[1] == "*" and tokens[1].start > tokens[0].end)):
        return False
    return True


def deletions(tokens, asserts):
    for first, last in statements(tokens):
        if first not in asserts and is_deletable(tokens[first:last]):
            yield "delete", tokens[first], tokens[last], ";"


def returns(tokens, asserts):
    """`return CONSTANT;` answers something else. Truth and numbers have operators of their own."""
    for at, token in enumerate(tokens):
        if token.text != "return" or at in asserts or tokens[at + 2].text != ";":
            continue
        constant = tokens[at + 1]
        if re.fullmatch(r"WEIR_[A-Z0-9_]+", constant.text):
            yield "return", constant, constant, f"{constant.text} == 0 ? 1 : 0"


def mutants_of(source, operators=OPERATORS):
    """All mutants of a file, in the order of its text."""
    found = []
    for function in source.functions:
        tokens = function.tokens
        asserts = inside_asserts(tokens)
        changes = [*token_changes(source.text, tokens, asserts),
                   *negations(source.text, tokens, asserts),
                   *deletions(tokens, asserts), *returns(tokens, asserts)]
        seen = {}
        for operator, first, last, new in sorted(changes, key=lambda c: (c[1].start, c[0], c[3])):
            line = source.line_of(first.start)
            old = source.text[first.start:last.end]
            # The same change on the same words of the same function differs by its number.
            said = (source.lines[line - 1].strip(), operator, old, new)
            seen[said] = seen.get(said, 0) + 1
            digest = hashlib.sha256(repr((said, seen[said])).encode()).hexdigest()[:8]
            if operator in operators:
                found.append(Mutant(f"{source.path}:{function.name}:{operator}:{digest}",
                                    source.path, function.name, line, operator, first.start,
                                    last.end, old, new))
    return found


def describe(mutant):
    """One line for a human being."""
    old = re.sub(r"\s+", " ", mutant.old)
    if mutant.operator == "delete":
        return f"delete `{old}`"
    return f"`{old}` -> `{mutant.new}`" if mutant.new else f"`{old}` removed"
