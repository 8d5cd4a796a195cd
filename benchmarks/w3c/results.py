"""Answers to queries, expected and given, in one shape."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyoxigraph
from pyoxigraph import BlankNode, Literal, NamedNode, QueryBoolean, QueryResultsFormat, RdfFormat

from benchmarks.w3c.manifest import RDF, Node
from benchmarks.w3c.matching import Row, Term, canonical, same_rows, subset_of_rows

_RS = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#"
_XSD = "http://www.w3.org/2001/XMLSchema#"
_TABLES = {
    ".srx": QueryResultsFormat.XML,
    ".srj": QueryResultsFormat.JSON,
    ".tsv": QueryResultsFormat.TSV,
}
_GRAPHS = {
    ".ttl": RdfFormat.TURTLE,
    ".nt": RdfFormat.N_TRIPLES,
    ".rdf": RdfFormat.RDF_XML,
    ".nq": RdfFormat.N_QUADS,
    ".trig": RdfFormat.TRIG,
}


@dataclass(frozen=True)
class Table:
    """Solutions: a row has a term, or None, for each variable. ``ordered``: their order counts."""

    variables: tuple[str, ...]
    rows: tuple[Row, ...]
    ordered: bool = False


@dataclass(frozen=True)
class Graph:
    """The triples of a graph as rows."""

    rows: tuple[Row, ...]


Answer = Table | Graph | bool


def answer_format(expected: Path) -> str:
    """The name of the format to ask for, so that the formats are tried that the suite has."""
    return {".srx": "xml", ".srj": "json", ".tsv": "tsv", ".csv": "csv"}.get(expected.suffix, "json")


def read_answer(data: bytes, suffix: str, base: str = "", *, graph: bool = False) -> Answer:
    """An answer in the format of a file's suffix; ``graph``: it is no table written as one."""
    if suffix == ".csv":
        return _from_csv(data.decode())
    if suffix in _TABLES:
        found = pyoxigraph.parse_query_results(data, _TABLES[suffix])
        if isinstance(found, QueryBoolean):
            return bool(found)
        names = tuple(variable.value for variable in found.variables)
        return Table(names, tuple(tuple(row[name] for name in names) for row in found))
    store = pyoxigraph.Store()
    store.load(data, format=_GRAPHS[suffix], base_iri=base or None)
    if not graph:
        for quad in store.quads_for_pattern(None, NamedNode(RDF + "type"), NamedNode(_RS + "ResultSet")):
            assert isinstance(quad.subject, NamedNode | BlankNode)
            return _from_result_set(Node(store, quad.subject))
    return Graph(tuple((quad.subject, quad.predicate, quad.object) for quad in store))


def difference(expected: Answer, actual: Answer, *, ordered: bool = False, lax: bool = False) -> str | None:
    """What is wrong with an answer, in a line; None when it is the expected one."""
    if isinstance(expected, bool) or isinstance(actual, bool):
        return None if expected is actual else f"expected {_brief(expected)}, got {_brief(actual)}"
    if isinstance(expected, Graph) and isinstance(actual, Graph):
        rows = actual.rows
        same = same_rows(expected.rows, rows)
    elif isinstance(expected, Table) and isinstance(actual, Table):
        if set(expected.variables) != set(actual.variables):
            return f"expected the variables {expected.variables}, got {actual.variables}"
        rows = _arranged(actual, expected.variables)
        if lax:
            same = subset_of_rows(rows, expected.rows)
        else:
            same = same_rows(expected.rows, rows, ordered=ordered or expected.ordered)
    else:
        return f"expected a {type(expected).__name__.lower()}, got a {type(actual).__name__.lower()}"
    return None if same else difference_of_rows(expected.rows, rows)


def _arranged(table: Table, variables: Sequence[str]) -> tuple[Row, ...]:
    places = [table.variables.index(name) for name in variables]
    return tuple(tuple(row[place] for place in places) for row in table.rows)


def difference_of_rows(expected: Sequence[Row], actual: Sequence[Row]) -> str:
    """The rows that only one side has, a few of them; blank nodes count as one."""
    wanted, found = [_words(row) for row in expected], [_words(row) for row in actual]
    missing = sorted((Counter(wanted) - Counter(found)).elements())
    extra = sorted((Counter(found) - Counter(wanted)).elements())
    counts = f"{len(wanted)} rows expected, {len(found)} given"
    if not missing and not extra:
        return f"{counts}, in another order or with other blank nodes"
    return f"{counts}; missing {missing[:3]}; not expected {extra[:3]}"


def _words(row: Row) -> str:
    return " ".join("-" if term is None else _word(canonical(term)) for term in row)


def _word(term: Term) -> str:
    return "_:" if isinstance(term, BlankNode) else str(term).replace(_XSD, "xsd:")


def _brief(answer: Answer) -> str:
    return str(answer).lower() if isinstance(answer, bool) else f"a {type(answer).__name__.lower()}"


def _from_csv(text: str) -> Table:
    """CSV keeps only the words of a term; blank nodes are recognized by their underscore."""
    header, *lines = list(csv.reader(io.StringIO(text)))
    return Table(tuple(header), tuple(tuple(map(_from_cell, line)) for line in lines))


def _from_cell(cell: str) -> Term:
    return BlankNode(cell[2:]) if cell.startswith("_:") else Literal(cell)


def _from_result_set(node: Node) -> Answer:
    """A table or a truth value in the result-set vocabulary of the SPARQL 1.0 suites."""
    boolean = node.one(_RS + "boolean")
    if boolean is not None:
        return boolean.text == "true"
    variables = tuple(one.text for one in node.all(_RS + "resultVariable"))
    rows: list[tuple[int, Row]] = []
    for solution in node.all(_RS + "solution"):
        bound = {_text(one, "variable"): _value(one) for one in solution.all(_RS + "binding")}
        index = solution.one(_RS + "index")
        rows.append((-1 if index is None else int(index.text), tuple(bound.get(name) for name in variables)))
    ordered = bool(rows) and all(index >= 0 for index, _ in rows)
    if ordered:
        rows.sort(key=lambda one: one[0])
    return Table(variables, tuple(row for _, row in rows), ordered)


def _text(node: Node, name: str) -> str:
    found = node.one(_RS + name)
    assert found is not None, f"a binding without rs:{name}"
    return found.text


def _value(node: Node) -> Term:
    found = node.one(_RS + "value")
    return None if found is None else found.term
