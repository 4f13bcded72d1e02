# SPDX-License-Identifier: Apache-2.0
"""C text as tokens and functions: just enough of the language to change one place and no other.

It leans on the layout that clang-format keeps: a function's braces stand alone in the first column,
a binary operator has a space on both sides, a pointer's star has none behind it.
"""
import bisect
import re
from collections import namedtuple

Token = namedtuple("Token", "kind text start end")  # kind: word, number, mark
Function = namedtuple("Function", "name first last tokens")  # lines from 1, the braces' own

TOKEN = re.compile(r"""
    (?P<skip>   /\*.*?\*/ | //[^\n]* | \s+ | ^[ \t]*\#(?:[^\\\n]|\\.|\\\n)* )
  | (?P<literal> "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' )
  | (?P<number> (?:0[xX][0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)[uUlLfF]* )
  | (?P<word>   [A-Za-z_]\w* )
  | (?P<mark>   <<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|. )
""", re.VERBOSE | re.MULTILINE | re.DOTALL)


def tokens_of(text):
    """Without comments, preprocessor lines and space; literals are kept as marks of their own."""
    return [Token(match.lastgroup, match[0], match.start(), match.end())
            for match in TOKEN.finditer(text) if match.lastgroup != "skip"]


class Source:
    """One file: its text, its lines, its functions."""

    def __init__(self, path, text):
        self.path, self.text = path, text
        self.lines = text.split("\n")
        self.line_starts = [0]
        for line in self.lines:
            self.line_starts.append(self.line_starts[-1] + len(line) + 1)
        self.functions = list(self._find_functions())

    def line_of(self, offset):
        return bisect.bisect_right(self.line_starts, offset)

    def _find_functions(self):
        tokens = tokens_of(self.text)
        starts = [token.start for token in tokens]
        for number, line in enumerate(self.lines, 1):
            if line != "{":
                continue
            last = next(n for n in range(number, len(self.lines) + 1) if self.lines[n - 1] == "}")
            low = bisect.bisect_left(starts, self.line_starts[number - 1])
            high = bisect.bisect_left(starts, self.line_starts[last - 1])
            yield Function(self._name_above(tokens, low), number, last, tokens[low + 1:high])

    @staticmethod
    def _name_above(tokens, index):
        """The word in front of the parentheses that end at the opening brace."""
        depth = 0
        for at in range(index - 1, -1, -1):
            depth += {")": 1, "(": -1}.get(tokens[at].text, 0)
            if depth == 0 and tokens[at].text == "(":
                return tokens[at - 1].text
        return "?"
