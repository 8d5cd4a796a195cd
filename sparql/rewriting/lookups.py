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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count, islice
from math import prod
from typing import TYPE_CHECKING

import pyoxigraph
from pyoxigraph import DefaultGraph, Literal, NamedNode, Variable

from sparql.model.vocabulary import RDF
from sparql.protocol.formats import Format
from sparql.syntax.request_facts import QueryForm, with_columns

if TYPE_CHECKING:
    from sparql.syntax import nodes as n

_LONGEST_TEXT = 4096
_LARGEST_ANSWER = 16 * 1024
_LARGEST_LIMIT = 100
_MOST_PATTERNS = 5
_MOST_MATCHES = 32
_MOST_SOLUTIONS = 1000
_REMEMBERED = 2048

_IRI = re.compile(r"<[^<>\"{}|^`\\\x00-\x20]*>")
# Strings and comments may hold what looks like an IRI, so texts with them are remembered as they are.
_OPAQUE = re.compile(r"[\"'#\\]")
_NUMBERED = "urn:x-urbankg:iri:"
# Such an IRI is not numbered, and could be taken for one that is.
_ESCAPED_IRI = re.compile(r"<[^<>\s]*\\")
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
    columns: tuple[str, ...] = ()
    """The variables, where all are selected."""


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

    def answer(self, text: str, format_: Format) -> bytes | None:
        """The whole answer, or None when this is no lookup (or no valid query: a reader says why)."""
        if len(text) > _LONGEST_TEXT:
            return None
        iris = _IRI.findall(text)
        known = self._look_up(text if _OPAQUE.search(_IRI.sub("", text)) else _IRI.sub("<>", text), text)
        if not known.patterns:
            return None
        graph = self._graph()
        sink = _Sink()
        try:
            if (len(known.patterns) > 1 or known.ordered) and not _few_solutions(graph, known.patterns, iris):
                return None
            query = with_columns(text, lambda: known.columns) if known.columns else text
            found = graph.query(query, base_iri=self._base)
            # The engine accepts any object with a write method.
            found.serialize(sink, format=format_.engine)  # type: ignore[arg-type]
        except (_TooLarge, SyntaxError, ValueError, OSError, RuntimeError):
            # The engine raises the last where a file of the store is damaged.
            return None
        return sink.parts[0] if len(sink.parts) == 1 else b"".join(sink.parts)

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
    """The patterns of a lookup, and whether it sorts; no patterns for another text.

    Each IRI is replaced by its number before the text is parsed, so that the tree says which one a term is.
    """
    # Imported here: the server starts without.
    from sparql.syntax.parser import read_query
    from sparql.syntax.tokens import NotUnderstood

    if _ESCAPED_IRI.search(text):
        return _Known()
    absolute = [_ABSOLUTE.match(iri, 1) is not None for iri in _IRI.findall(text)]
    numbers = count()
    try:
        parsed = read_query(_IRI.sub(lambda _: f"<{_NUMBERED}{next(numbers)}:>", text))
        patterns = _patterns(parsed.query, absolute) if parsed.prologue.base is None else ()
    except (NotUnderstood, _NoLookup):
        return _Known()
    all_selected = parsed.query.form is QueryForm.SELECT and parsed.query.projection is None
    columns = _columns(parsed.query) if patterns and all_selected else ()
    return _Known(patterns, bool(parsed.query.order), columns)


def _columns(query: n.Query) -> tuple[str, ...]:
    """The variables of a lookup; none where the engine has them in the same order."""
    from sparql.syntax import nodes as n

    assert query.where is not None
    statements = [one for one in query.where.elements if isinstance(one, n.Statement)]
    names = [name for one in statements for triple in one.triples for name in triple.variables]
    found = tuple(dict.fromkeys(names))
    return () if list(found) == sorted(found) else found


class _NoLookup(Exception):
    """The query goes beyond what a lookup is."""


def _patterns(query: n.Query, absolute: Sequence[bool]) -> tuple[_Pattern, ...]:
    """The patterns of ``(SELECT variables | ASK) { triples } (ORDER BY variables)? (LIMIT n)?``."""
    from sparql.syntax import nodes as n

    plain = query.form in (QueryForm.SELECT, QueryForm.ASK) and not (
        query.distinct or query.dataset_clause or query.grouped or query.offset or query.values
    )
    computed = any(not isinstance(one, n.VariableUse) for one in query.expressions)
    if not plain or computed or query.where is None:
        raise _NoLookup
    triples: list[n.TriplePattern] = []
    for element in query.where.elements:
        if not isinstance(element, n.Statement):
            raise _NoLookup
        triples += element.triples
    patterns: list[_Pattern] = []
    for one in triples:
        verb = one.verb if isinstance(one.verb, Variable) else one.predicate
        subject, predicate, object_ = (_term(term, absolute) for term in (one.subject, verb, one.object))
        patterns.append((subject, predicate, object_))
    bound = all(pattern[0] is not None or pattern[2] is not None for pattern in patterns)
    if len(patterns) == 1:
        names = list(triples[0].variables)
        small = query.limit is not None and query.limit <= _LARGEST_LIMIT and not query.order
        if len(set(names)) < len(names) or not (bound or small):
            raise _NoLookup
    elif not (bound and 0 < len(patterns) <= _MOST_PATTERNS):
        raise _NoLookup
    return tuple(patterns)


def _term(term: n.Term | None, absolute: Sequence[bool]) -> _Term:
    if isinstance(term, Variable):
        return None
    if isinstance(term, Literal):
        return _Value()
    if term == RDF.type:
        return RDF.type
    if isinstance(term, NamedNode) and term.value.startswith(_NUMBERED):
        place, _, local = term.value.removeprefix(_NUMBERED).partition(":")
        if absolute[int(place)]:
            return _Name(int(place), local)
    raise _NoLookup
