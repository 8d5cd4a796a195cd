"""Queries that the index of geometries answers whole, without a reader: what is where, of which class.

One spatial filter with a constant that the index decides for sure, the patterns from a feature to its
literal, and classes: all of it is known of the revision, so that nothing is left for the engine to look up. A
row costs a microsecond so, and some thirty as a candidate that the engine joins and writes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import pyoxigraph
from pyoxigraph import BlankNode, Literal, NamedNode, QueryResultsFormat, QuerySolutions

from geo.functions import FUNCTIONS
from sparql.formats import Format
from sparql.rewriting import nodes as n
from sparql.rewriting.anchors import Anchor, anchor_of
from sparql.rewriting.by_feature import class_patterns, times_of
from sparql.rewriting.candidates import find
from sparql.rewriting.constants import UnreadableConstant
from sparql.rewriting.geometries import Key, Node
from sparql.rewriting.geometry_state import GeometryState
from sparql.rewriting.parser import ParsedQuery
from sparql.rewriting.runs import binding_in, runs_of
from sparql.rewriting.spatial_filters import SpatialFilter, conjuncts_of, recognise
from sparql.syntax import QueryForm
from sparql.vocabulary import XSD

Term = NamedNode | BlankNode | Literal

# An answer is made in one piece, and nobody else has the interpreter meanwhile.
_MOST_ROWS: Final = 50_000
_REMEMBERED: Final = 512
_encoded: Final[Callable[[str], str]] = json.encoder.encode_basestring


@dataclass(frozen=True)
class Table:
    """The solutions of a SELECT, each of its variables bound in all of them, by columns of like length."""

    variables: tuple[str, ...]
    columns: tuple[Sequence[Term], ...]

    def written(self, format_: Format) -> bytes:
        """The answer in a format of results."""
        body = self._json()
        if format_.engine == QueryResultsFormat.JSON:
            return body
        results = pyoxigraph.parse_query_results(body, format=QueryResultsFormat.JSON)
        assert isinstance(results, QuerySolutions)
        assert isinstance(format_.engine, QueryResultsFormat)
        written = results.serialize(format=format_.engine)
        assert written is not None
        return written

    def _json(self) -> bytes:
        cells = [
            [f'"{name}":{_cell(term)}' for term in column]
            for name, column in zip(self.variables, self.columns, strict=True)
        ]
        rows = cells[0] if len(cells) == 1 else map(",".join, zip(*cells, strict=True))
        bindings = "},{".join(rows)
        head = json.dumps({"vars": self.variables}, separators=(",", ":"))
        body = f'{{"head":{head},"results":{{"bindings":[{"{" + bindings + "}" if bindings else ""}]}}}}'
        return body.encode()


@dataclass(frozen=True)
class Question:
    """A query that can be answered whole: `shown` are the variables that it asks for."""

    spatial: SpatialFilter
    anchor: Anchor
    classed: tuple[n.TriplePattern, ...]
    shown: tuple[str, ...]
    distinct: bool
    offset: int
    limit: int | None

    def answer(self, state: GeometryState, revision: int) -> Table | None:
        """Its solutions at a revision; None where they are not all known, or too many."""
        found = find(self.spatial, self.spatial.operands[0], state)
        if not found.exact or len(found.keys) > _MOST_ROWS:
            return None
        rows = state.features.solutions(found.keys, revision, times_of(self.anchor, self.classed))
        if rows is None:
            return None
        columns = [self._column(name, *rows) for name in self.shown]
        if self.distinct:
            columns = [
                list(column) for column in zip(*dict.fromkeys(zip(*columns, strict=True)), strict=True)
            ]
            columns = columns or [[] for _ in self.shown]
        end = None if self.limit is None else self.offset + self.limit
        return Table(self.shown, tuple(column[self.offset : end] for column in columns))

    def _column(self, name: str, keys: list[Key], features: list[Node]) -> Sequence[Term]:
        if name == self.anchor.feature:
            return features
        return [key[1] if name == self.anchor.binding.variable else key[0] for key in keys]


def question_in(parsed: ParsedQuery, base: str | None) -> Question | None:
    """The question that a query is, if it is one; None for the long way."""
    query = parsed.query
    if query.form is not QueryForm.SELECT or query.where is None or not query.projection:
        return None
    if query.dataset_clause or query.grouped or query.order or query.values is not None:
        return None
    if any(one.expression is not None for one in query.projection):
        return None
    shown = tuple(one.variable for one in query.projection)
    spatial = _only_filter(query.where)
    if spatial is None or len(set(shown)) < len(shown):
        return None
    anchor = _only_anchor(query.where, spatial.operands[0].name)
    if anchor is None or not set(shown) <= {anchor.feature, anchor.node, anchor.binding.variable}:
        return None
    classed = class_patterns(anchor)
    if any(one not in anchor.triples and one not in classed for one in anchor.binding.run.triples):
        return None
    if not _is_valid(parsed.text, base):
        return None
    return Question(spatial, anchor, classed, shown, query.distinct, query.offset, query.limit)


def _only_filter(where: n.Group) -> SpatialFilter | None:
    """The filter of a group of triple patterns that has no other and is decided for sure."""
    if not all(isinstance(one, n.Statement | n.Filter) for one in where.elements):
        return None
    filters = [one for one in where.elements if isinstance(one, n.Filter)]
    if len(filters) != 1 or len(conjuncts_of(filters[0].expression)) != 1:
        return None
    try:
        spatial = recognise(filters[0].expression, {})
    except UnreadableConstant:
        return None
    if not isinstance(spatial, SpatialFilter) or not spatial.exact or len(spatial.operands) != 1:
        return None
    return spatial


def _only_anchor(where: n.Group, variable: str) -> Anchor | None:
    runs = runs_of(where)
    binding = binding_in(runs[0], variable) if len(runs) == 1 else None
    return None if binding is None else anchor_of(binding)


@lru_cache(maxsize=_REMEMBERED)
def _is_valid(text: str, base: str | None) -> bool:
    """Whether it is a query to the engine too, which tells what is wrong with it if it is none."""
    try:
        pyoxigraph.Store().query(text, base_iri=base, custom_functions=dict(FUNCTIONS))
    except (SyntaxError, ValueError):
        return False
    return True


def _cell(term: Term) -> str:
    if isinstance(term, NamedNode):
        return f'{{"type":"uri","value":{_encoded(term.value)}}}'
    if isinstance(term, BlankNode):
        return f'{{"type":"bnode","value":"{term.value}"}}'
    value = f'"type":"literal","value":{_encoded(term.value)}'
    if term.language is not None:
        return f'{{{value},"xml:lang":"{term.language}"}}'
    if term.datatype == XSD.string:
        return f"{{{value}}}"
    return f'{{{value},"datatype":{_encoded(term.datatype.value)}}}'
