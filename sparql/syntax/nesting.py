"""How deep a text nests and how many operators it has, counted before a parser sees it.

The engine's parser and optimizer call themselves for each level and for each operator of a chain. Measured
with pyoxigraph 0.5.13 on a stack of 8 MB: 3,000 nested groups, 10,000 nested parentheses, 10,000 operands of
`||`, 3,000 BINDs, and RDF terms of 20,000 nested triple terms end the process with a segmentation fault;
JSON-LD and RDF/XML take time in the square of their depth, so that 5,000 levels of JSON-LD, 40 kB, take
minutes. So all are counted here, in time that grows only with the length of the text. Files of RDF of any
length are guarded while a parser reads them.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Protocol
from xml.parsers import expat

from pyoxigraph import RdfFormat

from sparql.model.errors import PayloadProblem
from sparql.syntax.tokens import Token, TokenKind, read_tokens

_OPENING = frozenset({"(", "{", "[", "<<", "<<(", "{|"})
_CLOSING = frozenset({")", "}", "]", ">>", ")>>", "|}"})
_OPERATORS = frozenset({"!", "||", "&&", "|", "/", "^", "*", "+", "-", "=", "!=", "<", ">", "<=", ">="})
_OPERATOR_WORDS = frozenset({"UNION", "OPTIONAL", "MINUS", "BIND", "FILTER", "AS", "EXISTS", "LATERAL"})
_COUNTED = (*"!|/^*+-=<>&", *sorted(_OPERATOR_WORDS))
_SHORT = 2000
_PATTERN = re.compile("where", re.IGNORECASE)


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


def _pairs(tokens: Iterator[Token]) -> Iterator[tuple[Token, Token | None]]:
    """Each token and the one after it."""
    before: Token | None = None
    for token in tokens:
        if before is not None:
            yield before, token
        before = token
    if before is not None:
        yield before, None


DEEPEST = 100
"""How many triple terms, objects, arrays or elements may be nested."""
MOST_ATTRIBUTES = 1000
"""How many attributes an element may have: reading them takes time in the square of their number."""
LONGEST_ENTITY = 2000
"""How many characters an entity of RDF/XML may expand to, with those that it names.

The engine puts together what each stands for where it is declared, used or not: a kilobyte of entities that
name one another takes all memory.
"""
TERM_TOO_LONG = "A literal or IRI is longer than 16 MB, which the parser does not take; shorten it."
"""What a MemoryError of the parser means."""
_REFERENCE = re.compile(r"&([^#;&\s][^;&\s]*);")
_LONGEST_LINE = 65_536
_HIDING = re.compile(rb"""<[^<>"{}|^`\x00-\x20]*>|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""")
_TERM = re.compile(rb"<<\(|\)>>")
_BRACKET = re.compile(rb'["\[\]{}]')
_IN_STRING = re.compile(rb'(?:[^"\\]|\\.)*+', re.DOTALL)


class ShallowFile:
    """A file for a parser to read that raises PayloadProblem before anything nests too deep in it."""

    def __init__(self, file: IO[bytes], format_: RdfFormat, limit: int = DEEPEST) -> None:
        self._file = file
        self._depth: _Depth = _depth_of(format_, limit)
        self._begun = False

    def read(self, size: int = -1, /) -> bytes:
        """As of a file. Raises PayloadProblem."""
        data = self._file.read(size)
        if not self._begun:
            self._begun = True
            if data.startswith(BOM_UTF8):
                # Allowed in front of XML and of no other syntax, and written by common editors.
                data = data.removeprefix(BOM_UTF8) or self._file.read(size)
        self._depth.pass_over(data)
        return data


class _Depth(Protocol):
    """Counts in one format; is handed a file piece by piece, and an empty piece at its end."""

    def pass_over(self, data: bytes) -> None: ...


def _depth_of(format_: RdfFormat, limit: int) -> _Depth:
    if format_ == RdfFormat.JSON_LD:
        return _JsonDepth(limit)
    return _XmlDepth(limit) if format_ == RdfFormat.RDF_XML else _TermDepth(limit)


class _JsonDepth:
    """Counts the brackets outside strings."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._open = 0
        self._in_string = False
        self._kept = b""

    def pass_over(self, data: bytes) -> None:
        data, position, self._kept = self._kept + data, 0, b""
        while position < len(data):
            if self._in_string:
                found = _IN_STRING.match(data, position)
                position = found.end() if found else position
                if data[position : position + 1] == b"\\":
                    # What it escapes comes with the next piece.
                    self._kept = data[position:]
                    return
                self._in_string = position == len(data)
                position += 1
                continue
            bracket = _BRACKET.search(data, position)
            if bracket is None:
                return
            position = bracket.end()
            if bracket[0] == b'"':
                self._in_string = True
            elif bracket[0] in b"[{":
                self._open += 1
                _check(self._open, self._limit, "Objects and arrays")
            else:
                self._open -= 1


class _XmlDepth:
    """Counts elements, as a parser for XML finds them; what is not well-formed is reported with its place."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._open = 0
        self._begun = False
        # Whatever it declares: RDF is read as UTF-8.
        self._parser = expat.ParserCreate("UTF-8")
        self._parser.StartElementHandler = self._begin
        self._parser.EndElementHandler = self._end
        self._parser.EntityDeclHandler = self._declare
        self._entities: dict[str, int] = {}

    def pass_over(self, data: bytes) -> None:
        if not (data or self._begun):
            return
        self._begun = True
        try:
            # The engine takes a document that breaks off for a whole one.
            self._parser.Parse(data, not data)
        except expat.ExpatError as error:
            line, column = error.lineno, error.offset + 1
            reason = expat.ErrorString(error.code)
            message = f"The body is not application/rdf+xml at line {line}, column {column}: {reason}."
            raise PayloadProblem(message, line, column) from error

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        self._open += 1
        _check(self._open, self._limit, "Elements")
        if len(attributes) > MOST_ATTRIBUTES:
            raise PayloadProblem(
                f"An element has more than {MOST_ATTRIBUTES} attributes; write them as elements."
            )

    def _end(self, name: str) -> None:
        self._open -= 1

    def _declare(self, name: str, is_parameter: bool, value: str | None, *elsewhere: str | None) -> None:
        if value is None or is_parameter:
            raise PayloadProblem(f"The entity {name} is not written out in the document; write it there.")
        length = len(value) + sum(self._entities.get(one, 0) for one in _REFERENCE.findall(value))
        if length > LONGEST_ENTITY:
            raise PayloadProblem(
                f"The entity {name} stands for more than {LONGEST_ENTITY} characters; write them out instead."
            )
        self._entities.setdefault(name, length)


class _TermDepth:
    """Counts triple terms (RDF 1.2 Turtle, 2.10).

    Between two that open, there can only be names and comments, so no string hides one.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._line = b""
        self._open = 0
        self._doubtful = 0

    def pass_over(self, data: bytes) -> None:
        seen = self._line + data
        if not self._open and not self._doubtful and b"<<(" not in seen:
            self._line = seen[seen.rfind(b"\n") + 1 :][-_LONGEST_LINE:]
            return
        *lines, self._line = seen.split(b"\n")
        for line in lines:
            self._pass(line)
        if len(self._line) > _LONGEST_LINE:
            self._pass(self._line[:-2])
            self._line = self._line[-2:]
        _check(self._open + self._doubtful + self._line.count(b"<<("), self._limit, "Triple terms")

    def _pass(self, line: bytes) -> None:
        """Count what a line opens and closes; what only a comment closes stays open.

        An opening that seems to stand in a string is doubtful until a statement ends: no parser goes on
        behind a full stop with terms still open.
        """
        if not self._doubtful and b"<<(" not in line and b")>>" not in line:
            return
        visible = _HIDING.sub(b" ", line).partition(b"#")[0]
        for found in _TERM.finditer(visible):
            self._open = self._open + 1 if found[0] == b"<<(" else max(0, self._open - 1)
            _check(self._open + self._doubtful, self._limit, "Triple terms")
        self._doubtful += line.count(b"<<(") - visible.count(b"<<(")
        if not self._open and visible.rstrip().endswith(b"."):
            self._doubtful = 0


def _check(depth: int, limit: int, what: str) -> None:
    if depth > limit:
        raise PayloadProblem(f"{what} nest deeper than {limit} levels; write them flatter.")
