"""Solutions that are known without the engine, written as it writes them (SPARQL 1.1 Query Results JSON)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import pyoxigraph
from pyoxigraph import BlankNode, Literal, NamedNode, QueryResultsFormat, QuerySolutions

from sparql.formats import Format
from sparql.vocabulary import XSD

Term = NamedNode | BlankNode | Literal

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
            _cells(f'"{name}":', column) for name, column in zip(self.variables, self.columns, strict=True)
        ]
        rows = cells[0] if len(cells) == 1 else map(",".join, zip(*cells, strict=True))
        bindings = "},{".join(rows)
        head = json.dumps({"vars": self.variables}, separators=(",", ":"))
        body = f'{{"head":{head},"results":{{"bindings":[{"{" + bindings + "}" if bindings else ""}]}}}}'
        return body.encode()


def _cells(name: str, column: Sequence[Term]) -> list[str]:
    """The cells of a column; what stands in many rows one after the other is written once."""
    cells: list[str] = []
    last, cell = None, ""
    for term in column:
        if term is not last:
            last, cell = term, name + _cell(term)
        cells.append(cell)
    return cells


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
