"""How deep a text nests and how many operators it has, counted before a parser sees it.

The engine's parser and optimizer call themselves for each level and for each operator of a chain. Measured
with pyoxigraph 0.5.13 on a stack of 8 MB: 3,000 nested groups, 10,000 nested parentheses, 10,000 operands of
`||`, 3,000 BINDs, and RDF terms of 20,000 nested triple terms end the process with a segmentation fault;
JSON-LD and RDF/XML take time in the square of their depth. So both are counted here, in time that grows only
with the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pyoxigraph import RdfFormat

from sparql.syntax.tokens import Token, TokenKind, read_tokens

_OPENING = frozenset({"(", "{", "[", "<<", "<<(", "{|"})
_CLOSING = frozenset({")", "}", "]", ">>", ")>>", "|}"})
_OPERATORS = frozenset({"!", "||", "&&", "|", "/", "^", "*", "+", "-", "=", "!=", "<", ">", "<=", ">="})
_OPERATOR_WORDS = frozenset({"UNION", "OPTIONAL", "MINUS", "BIND", "FILTER", "AS", "EXISTS", "LATERAL"})
_COUNTED = (*"!|/^*+-=<>&", *sorted(_OPERATOR_WORDS))
_SHORT = 2000
_PATTERN = re.compile("where", re.IGNORECASE)
# Strings, IRIs and comments hide brackets; the order of the alternatives is that of Turtle's terminals.
_TURTLE = re.compile(
    rb"""\#[^\r\n]*|<[^<>"{}|^`\x00-\x20]*>|\"\"\"(?:[^"\\]++|\\.|"(?!""))*+\"\"\""""
    rb"""|'''(?:[^'\\]++|\\.|'(?!''))*+'''"""
    rb"""|"(?:[^"\\\r\n]++|\\.)*+"|'(?:[^'\\\r\n]++|\\.)*+'|\\.|(?P<open><<\(?|[\[({])|(?P<close>\)?>>|[\])}])""",
    re.DOTALL,
)
_JSON = re.compile(rb'"(?:[^"\\]++|\\.)*+"|(?P<open>[\[{])|(?P<close>[\]}])', re.DOTALL)
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
    # Plain words are found ten times faster than by a regular expression; this runs on the event loop.
    folded = text.upper()
    upper = Size(brackets, sum(map(folded.count, _COUNTED)))
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
    that may crash without harm.
    """
    return len(text) <= _SHORT or _PATTERN.search(text) is None


def rdf_depth(data: bytes, format_: RdfFormat) -> int:
    """How deep a body of RDF nests; 0 for formats that cannot."""
    if format_ == RdfFormat.JSON_LD:
        return _depth(_JSON, data)
    if format_ == RdfFormat.RDF_XML:
        return _depth(_XML, data)
    return _depth(_TURTLE, data)


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
