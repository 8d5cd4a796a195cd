"""Solutions that are known without the engine, written as it writes them (SPARQL 1.1 Query Results JSON)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import pyoxigraph
from pyoxigraph import BlankNode, Literal, NamedNode, QueryResultsFormat, QuerySolutions

from geo.vocabulary import WKT_LITERAL
from sparql.formats import Format
from sparql.geometry_names import Text, node_of
from sparql.vocabulary import XSD

Term = NamedNode | BlankNode | Literal

# What is no IRI as it is begins so.
_MARKED: Final = frozenset("_<")
_encoded: Final[Callable[[str], str]] = json.encoder.encode_basestring


@dataclass(frozen=True)
class Table:
    """The solutions of a SELECT, each of its variables bound in all of them.

    `columns` are of like length and hold each term as it is written (`cell_of`).
    """

    variables: tuple[str, ...]
    columns: tuple[Sequence[str], ...]

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
        first, *others = self.variables
        column = self.columns[0]
        if others:
            # A row without the name of its first variable, which stands between the rows.
            row = "%s," + ",".join(f'"{name}":%s' for name in others)
            column = [row % cells for cells in zip(*self.columns, strict=True)]
        between = f'}},{{"{first}":'
        bindings = f'{{"{first}":{between.join(column)}}}' if column else ""
        head = json.dumps({"vars": self.variables}, separators=(",", ":"))
        return f'{{"head":{head},"results":{{"bindings":[{bindings}]}}}}'.encode()


def node_cells(nodes: Sequence[str]) -> list[str]:
    """The cells of nodes, given as in `sparql.geometry_names`."""
    encoded = _encoded
    return [
        cell_of(node_of(node)) if node[:1] in _MARKED else f'{{"type":"uri","value":{encoded(node)}}}'
        for node in nodes
    ]


def literal_cells(literals: Sequence[Text]) -> list[str]:
    """The cells of literals, given as in `sparql.geometry_names`."""
    encoded, end = _encoded, f',"datatype":{_encoded(WKT_LITERAL.value)}}}'
    return [
        f'{{"type":"literal","value":{encoded(one)}{end}' if isinstance(one, str) else cell_of(one)
        for one in literals
    ]


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
