"""Lookups: queries whose work is bounded before they run, so that they need no reader process.

A query is a lookup when its text is one basic graph pattern over the default graph and nothing else, and

- it is a single triple pattern with a constant subject or object and no variable twice (or any single pattern
  with a small LIMIT): the engine streams its matches from one index, and the answer is cut off at a size; or
- it has a few patterns, each with a constant subject or object that few triples bear: their number is
  looked up first, and bounds every join. Their solutions may be sorted by variables (ORDER BY), and so may
  those of a single pattern that few triples match.

Everything else is for the reader processes, which can be stopped. A lookup reads the store itself, which is
never older than what was acknowledged.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import prod

import pyoxigraph
from pyoxigraph import DefaultGraph, NamedNode

from sparql.model.vocabulary import RDF
from sparql.protocol.formats import Format
from sparql.syntax.tokens import Token, TokenKind, read_tokens

_LONGEST_TEXT = 4096
_LARGEST_ANSWER = 16 * 1024
_LARGEST_LIMIT = 100
_MOST_PATTERNS = 5
_MOST_MATCHES = 32
_MOST_SOLUTIONS = 1000
_REMEMBERED = 2048
_REMEMBERED_LARGE = 256
_PASSED_BY_AFTER_OVERFLOW = 100

_IRI = re.compile(r"<[^<>\"{}|^`\\\x00-\x20]*>")
# Strings and comments may hold what looks like an IRI, so texts with them are remembered as they are.
_OPAQUE = re.compile(r"[\"'#\\]")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")


@dataclass(frozen=True)
class _Name:
    """An IRI of the text by its place among all IRIs there, and what a prefixed name adds to it."""

    place: int
    local: str = ""

    def node(self, iris: Sequence[str]) -> NamedNode:
        return NamedNode(iris[self.place] + self.local)


@dataclass(frozen=True)
class _Value:
    """A literal of the text: some constant."""


_Term = _Name | _Value | NamedNode | None
_Pattern = tuple[_Term, _Term, _Term]


@dataclass(frozen=True)
class _Known:
    """What is known of a form of text."""

    patterns: tuple[_Pattern, ...] = ()
    ordered: bool = False


class _TooLarge(Exception):
    """The answer is larger than a lookup's may be."""


class _Sink:
    """The file that the engine writes an answer to."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self._left = _LARGEST_ANSWER

    def write(self, data: bytes) -> int:
        self._left -= len(data)
        if self._left < 0:
            raise _TooLarge
        self.parts.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing to do."""


class Lookups:
    """Answers lookups from ``graph``, in the calling thread, in well under a millisecond each.

    Relative IRIs are relative to ``base``. Not for several threads at once.
    """

    def __init__(self, graph: Callable[[], pyoxigraph.Store], base: str) -> None:
        self._graph = graph
        self._base = base
        self._known: OrderedDict[str, _Known] = OrderedDict()
        # Texts whose answer was too large, and how often they are still passed by unread.
        self._large: OrderedDict[str, int] = OrderedDict()

    def answer(self, text: str, format_: Format) -> bytes | None:
        """The whole answer, or None when this is no lookup (or no valid query: a reader tells why)."""
        if len(text) > _LONGEST_TEXT:
            return None
        iris = _IRI.findall(text)
        known = self._look_up(text if _OPAQUE.search(_IRI.sub("", text)) else _IRI.sub("<>", text), text)
        if not known.patterns:
            return None
        if self._passes_by(text):
            return None
        graph = self._graph()
        sink = _Sink()
        try:
            if (len(known.patterns) > 1 or known.ordered) and not _few_solutions(graph, known.patterns, iris):
                return None
            found = graph.query(text, base_iri=self._base)
            # The engine accepts any object with a write method.
            found.serialize(sink, format=format_.engine)  # type: ignore[arg-type]
        except _TooLarge:
            self._large[text] = _PASSED_BY_AFTER_OVERFLOW
            if len(self._large) > _REMEMBERED_LARGE:
                self._large.popitem(last=False)
            return None
        except (SyntaxError, ValueError, OSError, RuntimeError):
            # The engine raises the last where a file of the store is damaged.
            return None
        return sink.parts[0] if len(sink.parts) == 1 else b"".join(sink.parts)

    def _passes_by(self, text: str) -> bool:
        """Whether the answer to this very text was too large of late."""
        left = self._large.get(text)
        if not left:
            return False
        self._large[text] = left - 1
        return True

    def _look_up(self, form: str, text: str) -> _Known:
        known = self._known.get(form)
        if known is None:
            known = self._known[form] = _read(text)
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        else:
            self._known.move_to_end(form)
        return known


def _few_solutions(graph: pyoxigraph.Store, patterns: Sequence[_Pattern], iris: Sequence[str]) -> bool:
    """Whether the patterns, each by itself, match so little that any join of them is small."""
    bare = [iri[1:-1] for iri in iris]
    counts = []
    for pattern in patterns:
        try:
            subject, predicate, object_ = (_node(term, bare) for term in pattern)
        except ValueError:
            return False
        matches = graph.quads_for_pattern(subject, predicate, object_, DefaultGraph())
        counts.append(sum(1 for _ in islice(matches, _MOST_MATCHES + 1)))
        if counts[-1] > _MOST_MATCHES:
            return False
    return prod(counts) <= _MOST_SOLUTIONS


def _node(term: _Term, iris: Sequence[str]) -> NamedNode | None:
    """The node to look for; a literal counts as a wildcard, which can only match more."""
    if isinstance(term, _Name):
        return term.node(iris)
    return None if isinstance(term, _Value) else term


def _read(text: str) -> _Known:
    """The patterns of a lookup, and whether it sorts; no patterns when the text is none."""
    try:
        reader = _Reader(text)
        return _Known(reader.patterns(), reader.ordered)
    except _NoLookup:
        return _Known()


class _NoLookup(Exception):
    """The text goes beyond what a lookup is."""


class _Reader:
    """Reads one form of query and gives up on all else.

    ``PREFIX* (SELECT variables | ASK) WHERE? { triples } (ORDER BY (variable | ASC(variable) |
    DESC(variable))+)? (LIMIT n)?``.
    """

    def __init__(self, text: str) -> None:
        self._tokens = list(read_tokens(text))
        self._position = 0
        self._places: Mapping[int, int] = {
            found.start(): place for place, found in enumerate(_IRI.finditer(text))
        }
        self._iris = [found[0][1:-1] for found in _IRI.finditer(text)]
        self._prefixes: dict[str, int] = {}
        self.ordered = False

    def patterns(self) -> tuple[_Pattern, ...]:
        while self._peek().is_word("PREFIX"):
            self._take()
            prefix = self._take(TokenKind.PREFIXED_NAME).text
            self._prefixes[prefix] = self._place(self._take(TokenKind.IRI))
        self._head()
        if self._peek().is_word("WHERE"):
            self._take()
        self._punctuation("{")
        patterns, variables = self._triples()
        self._punctuation("}")
        self._order()
        limit = self._limit()
        if self._position < len(self._tokens):
            raise _NoLookup
        anchored = all(pattern[0] is not None or pattern[2] is not None for pattern in patterns)
        if len(patterns) == 1:
            repeated = len(set(variables)) < len(variables)
            small = limit is not None and limit <= _LARGEST_LIMIT and not self.ordered
            if repeated or not (anchored or small):
                raise _NoLookup
        elif not (anchored and 0 < len(patterns) <= _MOST_PATTERNS):
            raise _NoLookup
        return tuple(patterns)

    def _head(self) -> None:
        if self._peek().is_word("ASK"):
            self._take()
            return
        if not self._take(TokenKind.WORD).is_word("SELECT"):
            raise _NoLookup
        if self._peek().text == "*":
            self._take()
            return
        self._take(TokenKind.VARIABLE)
        while self._peek().kind is TokenKind.VARIABLE:
            self._take()

    def _triples(self) -> tuple[list[_Pattern], list[str]]:
        patterns: list[_Pattern] = []
        variables: list[str] = []
        while self._peek().text != "}":
            subject = self._term(variables)
            while True:
                predicate = self._verb(variables)
                patterns.append((subject, predicate, self._term(variables)))
                while self._peek().text == ",":
                    self._take()
                    patterns.append((subject, predicate, self._term(variables)))
                if self._peek().text != ";":
                    break
                self._take()
            if self._peek().text == ".":
                self._take()
            elif self._peek().text != "}":
                raise _NoLookup
        return patterns, variables

    def _verb(self, variables: list[str]) -> _Term:
        if self._peek().text == "a":
            self._take()
            return RDF.type
        return self._term(variables)

    def _term(self, variables: list[str]) -> _Term:
        token = self._take()
        if token.kind is TokenKind.VARIABLE:
            variables.append(token.text[1:])
            return None
        if token.kind is TokenKind.IRI:
            return _Name(self._place(token))
        if token.kind is TokenKind.PREFIXED_NAME and "\\" not in token.text:
            prefix, colon, local = token.text.partition(":")
            if prefix + colon in self._prefixes:
                return _Name(self._prefixes[prefix + colon], local)
        if token.kind is TokenKind.NUMBER:
            return _Value()
        if token.kind is TokenKind.STRING:
            if self._peek().kind is TokenKind.LANGUAGE:
                self._take()
            elif self._peek().text == "^^":
                self._take()
                self._term([])
            return _Value()
        raise _NoLookup

    def _order(self) -> None:
        if self._position == len(self._tokens) or not self._peek().is_word("ORDER"):
            return
        self._take()
        if not self._take().is_word("BY"):
            raise _NoLookup
        self._condition()
        while self._position < len(self._tokens) and not self._peek().is_word("LIMIT"):
            self._condition()
        self.ordered = True

    def _condition(self) -> None:
        if self._peek().is_word("ASC") or self._peek().is_word("DESC"):
            self._take()
            self._punctuation("(")
            self._take(TokenKind.VARIABLE)
            self._punctuation(")")
        else:
            self._take(TokenKind.VARIABLE)

    def _limit(self) -> int | None:
        if self._position == len(self._tokens):
            return None
        if not self._take().is_word("LIMIT"):
            raise _NoLookup
        number = self._take(TokenKind.NUMBER).text
        if not number.isdecimal():
            raise _NoLookup
        return int(number)

    def _place(self, token: Token) -> int:
        place = self._places.get(token.start)
        if place is None or not _ABSOLUTE.match(self._iris[place]):
            raise _NoLookup
        return place

    def _punctuation(self, text: str) -> None:
        if self._take(TokenKind.PUNCTUATION).text != text:
            raise _NoLookup

    def _peek(self) -> Token:
        if self._position == len(self._tokens):
            raise _NoLookup
        return self._tokens[self._position]

    def _take(self, kind: TokenKind | None = None) -> Token:
        token = self._peek()
        if kind is not None and token.kind is not kind:
            raise _NoLookup
        self._position += 1
        return token
