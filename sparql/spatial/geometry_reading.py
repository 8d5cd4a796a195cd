"""All that a graph says of where its features are, read in one go and in columns.

From the embedded store the columns come as text that the engine writes without the interpreter's lock, in
two thirds of the time that terms take one by one; any other source is asked pattern by pattern.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

import numpy
from pyoxigraph import BlankNode, Literal, NamedNode, QueryResultsFormat, QuerySolutions

from geo.formats.literals import Shapes, parse_many
from geo.vocabulary import WKT_LITERAL
from sparql.model.geometry import HAS_GEOMETRY, SERIALIZATIONS, Node, Text, literal_text, term_in, text_of
from sparql.model.source import QuadSource, Term, TripleSource
from sparql.model.vocabulary import DEFAULT
from sparql.storage.embedded_store import EmbeddedStore
from sparql.storage.gil_yield import rest

Source = TripleSource | QuadSource

# Some thousand statements: what is done to them at once keeps other threads waiting for milliseconds.
_PORTION: Final = 2**17
_FEW: Final = 500
_WKT_END: Final = f'"^^{WKT_LITERAL}'


@dataclass(frozen=True)
class GeometryReading:
    """The links from features to geometry nodes, and the literals of these with their shapes.

    `links` has two columns for each property: features, and the nodes they lead to (None: to no node). The
    others are columns of one table; `literals` has None for what is no literal, `shapes` for what is none or
    cannot be read, and `faults` says why by row.
    """

    links: dict[NamedNode, tuple[list[str], list[str | None]]]
    nodes: list[str]
    serializations: list[NamedNode]
    literals: list[Text | None]
    shapes: Shapes
    faults: dict[int, str]


def read_geometries(source: Source) -> GeometryReading:
    """Read a source's one graph; of a store the default graph."""
    links: dict[NamedNode, tuple[list[str], list[str | None]]] = {}
    for link in HAS_GEOMETRY:
        features, led = links[link] = [], []
        for subjects, objects in node_columns(source, link):
            features += subjects
            led += objects
    nodes: list[str] = []
    serializations: list[NamedNode] = []
    literals: list[Text | None] = []
    shapes: list[Shapes] = [numpy.empty(0, dtype=object)]
    faults: dict[int, str] = {}
    for serialization in SERIALIZATIONS:
        for subjects, values in literal_columns(source, serialization):
            read = parse_many(values)
            faults.update((len(nodes) + position, why) for position, why in read.faults.items())
            shapes.append(read.shapes)
            nodes += subjects
            serializations += [serialization] * len(subjects)
            literals += values
    return GeometryReading(links, nodes, serializations, literals, numpy.concatenate(shapes), faults)


def node_columns(source: Source, predicate: NamedNode) -> Iterator[tuple[list[str], list[str | None]]]:
    """Subjects and objects of all statements with a predicate, in portions; None for what is no node."""
    if isinstance(source, EmbeddedStore):
        for subjects, objects in _columns(source, f"?s {predicate} ?o"):
            yield (
                [_bare(cell) for cell in subjects],
                [_bare(cell) if cell.startswith(("<h", "<u", "_:")) else _node_in(cell) for cell in objects],
            )
        return
    rows = [
        (text_of(subject), text_of(value) if isinstance(value, NamedNode | BlankNode) else None)
        for subject, value in _pairs(source, predicate)
    ]
    yield [subject for subject, _ in rows], [value for _, value in rows]


def literal_columns(
    source: Source, predicate: NamedNode, *, elsewhere: bool = False
) -> Iterator[tuple[list[str], list[Text | None]]]:
    """The same where objects should be literals; None for what is none.

    `elsewhere` reads the named graphs of a store instead of the default graph.
    """
    if isinstance(source, EmbeddedStore):
        pattern = f"?s {predicate} ?o"
        for subjects, objects in _columns(source, f"GRAPH ?g {{ {pattern} }}" if elsewhere else pattern):
            yield (
                [_bare(cell) for cell in subjects],
                [
                    cell[1 : -len(_WKT_END)]
                    if cell.endswith(_WKT_END) and "\\" not in cell
                    else _literal_in(cell)
                    for cell in objects
                ],
            )
        return
    found = _pairs(source, predicate, elsewhere=elsewhere)
    rows = [
        (text_of(subject), literal_text(value) if isinstance(value, Literal) else None)
        for subject, value in found
    ]
    yield [subject for subject, _ in rows], [value for _, value in rows]


def subject_column(source: Source, predicate: NamedNode) -> Iterator[list[str]]:
    """The subjects of all statements with a predicate, as often as there are such, in portions."""
    if isinstance(source, EmbeddedStore):
        for subjects, _ in _columns(source, f"?s {predicate} ?any BIND(1 AS ?o)"):
            yield [_bare(cell) for cell in subjects]
        return
    yield [text_of(subject) for subject, _ in _pairs(source, predicate)]


def literals_in_portions(source: Source, predicate: NamedNode) -> Iterator[list[tuple[str, Text]]]:
    """The subjects and literals of a predicate, one by one: slower than in columns, and in little memory."""
    pairs = _pairs(source, predicate)
    while portion := list(islice(pairs, _FEW)):
        yield [(text_of(node), literal_text(value)) for node, value in portion if isinstance(value, Literal)]


def _pairs(source: Source, predicate: NamedNode, *, elsewhere: bool = False) -> Iterator[tuple[Node, Term]]:
    """Subjects and objects, term by term."""
    if hasattr(source, "match_quads"):
        for quad in source.match_quads(None, predicate, None, None if elsewhere else DEFAULT):
            if isinstance(quad.subject, NamedNode | BlankNode) and elsewhere == (quad.graph_name != DEFAULT):
                yield quad.subject, quad.object
    else:
        for triple in source.match(None, predicate, None):
            if isinstance(triple.subject, NamedNode | BlankNode):
                yield triple.subject, triple.object


def _columns(store: EmbeddedStore, pattern: str) -> Iterator[tuple[list[str], list[str]]]:
    """The solutions of a pattern of ?s and ?o as cells of SPARQL 1.1 TSV."""
    solutions = store.graph.query(f"SELECT ?s ?o {{ {pattern} }}")
    assert isinstance(solutions, QuerySolutions)
    # The engine lets go of the interpreter's lock here, and looks up all terms.
    written = solutions.serialize(format=QueryResultsFormat.TSV)
    assert written is not None
    start = written.index(b"\n") + 1
    while start < len(written):
        end = written.find(b"\n", min(start + _PORTION, len(written) - 1))
        # Neither stands in a cell as it is.
        cells = written[start:end].decode().replace("\n", "\t").split("\t")
        yield cells[::2], cells[1::2]
        rest()
        start = end + 1


def _bare(cell: str) -> str:
    """The text of a node's cell."""
    return cell[1:-1] if cell[0] == "<" and cell[1] not in "_<" else cell


def _node_in(cell: str) -> str | None:
    return _bare(cell) if cell.startswith("<") and not cell.startswith("<<") else None


def _literal_in(cell: str) -> Text | None:
    term = None if cell.startswith(("<", "_:")) else term_in(cell)
    return literal_text(term) if isinstance(term, Literal) else None
