"""How deep a text nests and how many operators it has, told before a parser sees it.

The engine's parser and optimiser call themselves for each level and for each operator of a chain. Measured
with pyoxigraph 0.5.13 on a stack of 8 MB: 3,000 nested groups, 10,000 nested parentheses, 10,000 operands of
`||`, 3,000 BINDs, and RDF terms of 20,000 nested triple terms end the process with a segmentation fault;
JSON-LD and RDF/XML take time in the square of their depth. So both are counted here, in time that grows only
with the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from pyoxigraph import RdfFormat

from sparql.errors import PayloadProblem
from sparql.tokens import Token, TokenKind, read_tokens

_OPENING = frozenset({"(", "{", "[", "<<", "<<(", "{|"})
_CLOSING = frozenset({")", "}", "]", ">>", ")>>", "|}"})
_OPERATORS = frozenset({"!", "||", "&&", "|", "/", "^", "*", "+", "-", "=", "!=", "<", ">", "<=", ">="})
_OPERATOR_WORDS = frozenset({"UNION", "OPTIONAL", "MINUS", "BIND", "FILTER", "AS", "EXISTS", "LATERAL"})
_COUNTED = re.compile(r"[!|/^*+\-=<>&]|union|optional|minus|bind|filter|as|exists|lateral", re.IGNORECASE)
_SHORT = 2000
DEEPEST_TERM = 100
"""How many triple terms may stand one in another."""
_LONGEST_LINE = 65_536
_HIDING = re.compile(rb"""<[^<>"{}|^`\x00-\x20]*>|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""")
_TERM = re.compile(rb"<<\(|\)>>")
_PATTERN = re.compile("where", re.IGNORECASE)
# Strings, IRIs and comments hide brackets; the order of the alternatives is that of Turtle's terminals.
_TURTLE = re.compile(
    rb"""\#[^\r\n]*|<[^<>"{}|^`\x00-\x20]*>|\"\"\"(?:[^"\\]|\\.|"(?!""))*\"\"\"|'''(?:[^'\\]|\\.|'(?!''))*'''"""
    rb"""|"(?:[^"\\\r\n]|\\.)*"|'(?:[^'\\\r\n]|\\.)*'|\\.|(?P<open><<\(?|[\[({])|(?P<close>\)?>>|[\])}])""",
    re.DOTALL,
)
_JSON = re.compile(rb'"(?:[^"\\]|\\.)*"|(?P<open>[\[{])|(?P<close>[\]}])', re.DOTALL)
_XML = re.compile(
    rb"""<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|(?P<close></)|<[^>"'/]*(?:"[^"]*"|'[^']*'|/(?!>)|[^>"'/])*/>"""
    rb"""|(?P<open><[^!?/])""",
    re.DOTALL,
)


@dataclass(frozen=True)
class Size:
    """`depth`: the most brackets open at one place; `operators`: how many parts a chain of them may have."""

    depth: int
    operators: int


def size_of(text: str, *, depth_limit: int, operator_limit: int) -> Size:
    """The size of a SPARQL text. When even the raw characters stay within the limits, that is the answer."""
    brackets = text.count("(") + text.count("{") + text.count("[") + text.count("<<")
    if brackets <= depth_limit and len(text) <= operator_limit:
        return Size(brackets, len(text))
    upper = Size(brackets, sum(1 for _ in _COUNTED.finditer(text)))
    if upper.depth <= depth_limit and upper.operators <= operator_limit:
        return upper
    depth = deepest = operators = 0
    for token, following in _pairs(read_tokens(text)):
        if token.kind is TokenKind.PUNCTUATION:
            if token.text in _OPENING:
                depth += 1
                deepest = max(deepest, depth)
            elif token.text in _CLOSING:
                depth -= 1
            elif token.text in _OPERATORS:
                signed = token.text in "+-" and following is not None and following.kind is TokenKind.NUMBER
                operators += not signed
        elif token.kind is TokenKind.WORD and token.text.upper() in _OPERATOR_WORDS:
            operators += 1
    return Size(deepest, operators)


def parses_safely(text: str) -> bool:
    """Whether parsing an update cannot overflow a stack, whatever its tokens were taken for.

    Only patterns nest without end, and there is none without WHERE. Other texts are to be parsed in a process
    whose end hurts nobody.
    """
    return len(text) <= _SHORT or _PATTERN.search(text) is None


def rdf_depth(data: bytes, format_: RdfFormat) -> int:
    """How deep a body of RDF nests; 0 for formats that cannot."""
    if format_ == RdfFormat.JSON_LD:
        return _depth(_JSON, data)
    if format_ == RdfFormat.RDF_XML:
        return _depth(_XML, data)
    return _depth(_TURTLE, data)


class ShallowFile:
    """A file of RDF, for a parser to read, that raises PayloadProblem before terms nest too deep in it.

    Only triple terms are counted (RDF 1.2 Turtle, 2.10), whose nesting can end a process; for a body of any
    length. Between two that open, nothing but names and comments can stand, so no string hides one.
    """

    def __init__(self, file: IO[bytes], limit: int = DEEPEST_TERM) -> None:
        self._file = file
        self._limit = limit
        self._line = b""
        self._open = 0
        self._doubtful = 0

    def read(self, size: int = -1, /) -> bytes:
        """As of a file. Raises PayloadProblem."""
        data = self._file.read(size)
        seen = self._line + data
        if not self._open and not self._doubtful and b"<<(" not in seen:
            self._line = seen[seen.rfind(b"\n") + 1 :][-_LONGEST_LINE:]
            return data
        *lines, self._line = seen.split(b"\n")
        for line in lines:
            self._pass(line)
        if len(self._line) > _LONGEST_LINE:
            self._pass(self._line[:-2])
            self._line = self._line[-2:]
        self._check(self._open + self._doubtful + self._line.count(b"<<("))
        return data

    def _pass(self, line: bytes) -> None:
        """Count what a line opens and closes; what only a comment closes stays open.

        An opening that seems to stand in a string is doubtful until a statement ends: no parser goes on
        behind a full stop with terms still open.
        """
        if not self._doubtful and b"<<(" not in line and b")>>" not in line:
            return
        told = _HIDING.sub(b" ", line).partition(b"#")[0]
        for found in _TERM.finditer(told):
            self._open = self._open + 1 if found[0] == b"<<(" else max(0, self._open - 1)
            self._check(self._open + self._doubtful)
        self._doubtful += line.count(b"<<(") - told.count(b"<<(")
        if not self._open and told.rstrip().endswith(b"."):
            self._doubtful = 0

    def _check(self, depth: int) -> None:
        if depth > self._limit:
            raise PayloadProblem(f"Triple terms nest deeper than {self._limit} levels; write them flatter.")


def _depth(pattern: re.Pattern[bytes], data: bytes) -> int:
    depth = deepest = 0
    for found in pattern.finditer(data):
        if found.lastgroup == "open":
            depth += 1
            deepest = max(deepest, depth)
        elif found.lastgroup == "close":
            depth -= 1
    return deepest


def _pairs(tokens: Iterator[Token]) -> Iterator[tuple[Token, Token | None]]:
    """Each token and the one after it."""
    before: Token | None = None
    for token in tokens:
        if before is not None:
            yield before, token
        before = token
    if before is not None:
        yield before, None
