"""Solutions that are known without the engine, written as it writes them (SPARQL 1.1 Query Results JSON)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

import pyoxigraph
from pyoxigraph import BlankNode, Literal, NamedNode, QueryResultsFormat, QuerySolutions

from geo.vocabulary import WKT_LITERAL
from sparql.model.geometry import Text, literal_of, node_of
from sparql.model.vocabulary import XSD
from sparql.protocol.formats import Format

Term = NamedNode | BlankNode | Literal

# What is no IRI as it is begins so.
_MARKED: Final = ("_", "<")
_encoded: Final[Callable[[str], str]] = json.encoder.encode_basestring


@dataclass(frozen=True)
class Column:
    """The terms of a variable as they are written: `before`, what is each one's own, `after`."""

    texts: Sequence[str]
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class Table:
    """The solutions of a SELECT, each of its variables bound in all of them, by columns of like length."""

    variables: tuple[str, ...]
    columns: tuple[Column, ...]

    def distinct(self, offset: int, limit: int | None) -> Table:
        """The same without repetitions, and of that a part."""
        rows = list(dict.fromkeys(zip(*(column.texts for column in self.columns), strict=True)))
        part = rows[offset : None if limit is None else offset + limit]
        texts = zip(*part, strict=True) if part else [()] * len(self.columns)
        columns = [replace(column, texts=own) for column, own in zip(self.columns, texts, strict=True)]
        return Table(self.variables, tuple(columns))

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
        """What is between the texts of a row, and between rows, is always the same."""
        named = list(zip(self.variables, self.columns, strict=True))
        first, last = f'{{"{self.variables[0]}":{self.columns[0].before}', f"{self.columns[-1].after}}}"
        rows: Sequence[str] = self.columns[0].texts
        for (_, left), (name, right) in pairwise(named):
            between = f'{left.after},"{name}":{right.before}'
            rows = [f"{row}{between}{text}" for row, text in zip(rows, right.texts, strict=True)]
        bindings = f"{first}{f'{last},{first}'.join(rows)}{last}" if rows else ""
        head = json.dumps({"vars": self.variables}, separators=(",", ":"))
        return f'{{"head":{head},"results":{{"bindings":[{bindings}]}}}}'.encode()


def node_column(nodes: Sequence[str]) -> Column:
    """A column of nodes, given as in `sparql.model.geometry`."""
    # Where no IRI needs escapes, as none does that is one, and none is marked.
    if _is_plain(nodes):
        return Column(nodes, '{"type":"uri","value":"', '"}')
    return Column([cell_of(node_of(node)) for node in nodes])


def literal_column(literals: Sequence[Text]) -> Column:
    """A column of literals, given as in `sparql.model.geometry`."""
    texts = [literal for literal in literals if isinstance(literal, str)]
    if len(texts) < len(literals):
        return Column([cell_of(literal_of(literal)) for literal in literals])
    datatype = _encoded(WKT_LITERAL.value)
    return Column(
        [_encoded(text) for text in texts], '{"type":"literal","value":', f',"datatype":{datatype}}}'
    )


def _is_plain(nodes: Sequence[str]) -> bool:
    """Whether all are IRIs that are written as they are."""
    together = " ".join(nodes)
    marked = together.startswith(_MARKED) or any(f" {one}" in together for one in _MARKED)
    return not marked and _encoded(together) == f'"{together}"'


def cell_of(term: Term) -> str:
    """A term as it is written."""
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
