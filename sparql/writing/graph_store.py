"""The SPARQL 1.1 Graph Store HTTP Protocol without HTTP: which graph, which triples, which change.

Every write becomes one ``Change`` that is built under the writer's lock, so it replaces the content of that
moment. The default graph's ontology and derived triples belong to the system: they stay, and derived ones
follow their geometry. Clients' named graphs belong to clients alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import IO, Protocol, cast
from urllib.parse import unquote
from xml.parsers import expat

import pyoxigraph
from pyoxigraph import NamedNode, Quad, RdfFormat, Triple

from sparql.model.answer_warnings import nearest_name, unknown_name, unused_parameters
from sparql.model.blank_nodes import with_known_blank_nodes
from sparql.model.change import Change, Statement, Verdict
from sparql.model.errors import (
    GraphUnknown,
    MalformedRequest,
    PayloadProblem,
    ProtectedGraph,
    UnsupportedMediaType,
)
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import DEFAULT, DERIVED, GRAPH, INFERRED, ONTOLOGY
from sparql.protocol.formats import GRAPH_FORMATS, Format
from sparql.protocol.requests import Conditions
from sparql.syntax.nesting import TERM_TOO_LONG, ShallowFile

_PARAMETERS = ("graph", "default", "partial", "format")


@dataclass(frozen=True)
class GraphRequest:
    """The content of a request's address.

    ``names_graph`` is False for the address of the store itself; ``graph`` is then None, as for the default
    graph. ``direct`` means that the address itself is the graph's IRI (4.1).
    """

    graph: NamedNode | None
    names_graph: bool = True
    direct: bool = False
    partial: bool = False
    format: str | None = None
    warnings: tuple[str, ...] = ()
    """Warnings to send with the answer."""

    @property
    def system(self) -> bool:
        """Whether it is a system graph: readable, and never written by clients."""
        return self.graph is not None and self.graph.value.startswith(GRAPH.iri)


def read_address(query_string: str, direct: str | None) -> GraphRequest:
    """The graph of an address: ``direct`` is its own IRI, or None for that of the store (4.1, 4.2).

    Raises MalformedRequest.
    """
    parameters = _read_parameters(query_string)
    unused = unused_parameters(parameters, _PARAMETERS)
    options = {"partial": _flag(parameters), "format": parameters.get("format"), "warnings": unused}
    graph, default = parameters.get("graph"), "default" in parameters
    if direct is not None:
        if graph is not None or default:
            raise MalformedRequest("This address already names a graph; leave graph and default out.")
        return GraphRequest(_graph_iri(direct), direct=True, **options)  # type: ignore[arg-type]
    if graph is not None and default:
        raise MalformedRequest("Both graph and default were sent; send one of them.")
    found = None if graph is None else _graph_iri(graph)
    return GraphRequest(found, names_graph=found is not None or default, **options)  # type: ignore[arg-type]


def payload_format(content_type: str | None) -> Format:
    """The format of a body by its content type. Raises UnsupportedMediaType."""
    name, *parameters = (part.strip().lower() for part in (content_type or "").split(";"))
    charsets = [
        value.strip(' "') for key, _, value in (p.partition("=") for p in parameters) if key == "charset"
    ]
    format_ = next((one for one in GRAPH_FORMATS if "/" in name and one.answers_to(name)), None)
    if format_ is None or any(one not in ("utf-8", "utf8", "us-ascii") for one in charsets):
        raise UnsupportedMediaType(content_type, [one.media_type for one in GRAPH_FORMATS])
    return format_


def read_payload(body: IO[bytes], format_: Format, base: str) -> frozenset[Triple]:
    """The triples of a body, with its own blank nodes; relative IRIs are resolved against ``base``.

    The body is parsed as a stream. Raises PayloadProblem with line and column.
    """
    assert isinstance(format_.engine, RdfFormat)
    try:
        quads = pyoxigraph.parse(
            cast("IO[bytes]", ShallowFile(body, format_.engine)),
            format=format_.engine,
            base_iri=base,
            without_named_graphs=True,
            rename_blank_nodes=True,
        )
        return frozenset(quad.triple for quad in quads)
    except SyntaxError as error:
        raise _payload_problem(error, format_, body) from error
    except MemoryError as error:
        raise PayloadProblem(TERM_TOO_LONG) from error


@dataclass(frozen=True)
class Outcome:
    """The outcome of a write; ``created`` means that the graph did not exist before."""

    verdict: Verdict
    created: bool = False


class ChangeWriter(Protocol):
    """The part of the writer that is used here."""

    def commit_built(self, build: Callable[[], Change]) -> Verdict:
        """Commit the change that ``build`` makes; it is called with the writer's lock held."""
        ...


class GraphStore:
    """PUT, POST and DELETE on graphs (5.3 to 5.5); ``None`` is the default graph.

    All raise ProtectedGraph for system graphs and PreconditionFailed; if the verdict does not conform,
    nothing was changed, unless ``partial``.
    """

    def __init__(self, store: TripleStore, writer: ChangeWriter) -> None:
        self._store = store
        self._writer = writer

    def replace(
        self,
        graph: NamedNode | None,
        triples: frozenset[Triple],
        conditions: Conditions | None = None,
        *,
        partial: bool = False,
    ) -> Outcome:
        """Replace a graph with exactly these triples; of the default graph, the clients' part.

        Blank nodes are matched with the stored ones where they connect the same triples (`blank_nodes`), so
        writing back what was read changes nothing.
        """

        def build(held: frozenset[Triple]) -> Change:
            everything = self._store.match_quads(None, None, None, graph or DEFAULT)
            wanted = with_known_blank_nodes(triples, (quad.triple for quad in everything))
            if graph is not None:
                made = not self.exists(graph)
                return _named_change(graph, wanted - held, held - wanted, made=made)
            new = (triple for triple in wanted - held if not self._is_kept(triple))
            return _default_change(new, held - wanted, partial=partial)

        return self._write(graph, conditions, build)

    def merge(
        self,
        graph: NamedNode | None,
        triples: frozenset[Triple],
        conditions: Conditions | None = None,
        *,
        partial: bool = False,
    ) -> Outcome:
        """Add triples to a graph, which is created if it does not exist."""

        def build(held: frozenset[Triple]) -> Change:
            if graph is not None:
                return _named_change(graph, triples, frozenset(), made=not self.exists(graph))
            return _default_change(triples, frozenset(), partial=partial)

        return self._write(graph, conditions, build, read=False)

    def delete(self, graph: NamedNode | None, conditions: Conditions | None = None) -> Outcome:
        """Remove a graph; the default graph loses the clients' triples. Raises GraphUnknown."""

        def build(held: frozenset[Triple]) -> Change:
            if graph is None:
                return _default_change((), held, partial=False)
            if not self.exists(graph):
                raise GraphUnknown(graph.value)
            removals = frozenset(_quad(triple, graph) for triple in held)
            return Change(graph_removals=removals, graphs_dropped=frozenset((graph,)))

        return self._write(graph, conditions, build)

    def exists(self, graph: NamedNode | None) -> bool:
        """Whether the graph exists, even if empty; the default graph and system graphs always do."""
        if graph is None or graph.value.startswith(GRAPH.iri):
            return True
        return self._store.has_graph(graph)

    def _write(
        self,
        graph: NamedNode | None,
        conditions: Conditions | None,
        build: Callable[[frozenset[Triple]], Change],
        *,
        read: bool = True,
    ) -> Outcome:
        if graph is not None and graph.value.startswith(GRAPH.iri):
            raise ProtectedGraph(graph)
        existed = True

        def under_lock() -> Change:
            nonlocal existed
            existed = self.exists(graph)
            (conditions or Conditions()).check_write(self._store.revision(), graph, exists=existed)
            return build(self._held(graph) if read else frozenset())

        verdict = self._writer.commit_built(under_lock)
        return Outcome(verdict, created=not existed)

    def _held(self, graph: NamedNode | None) -> frozenset[Triple]:
        """The triples of a graph that a client may replace or remove."""
        if graph is not None:
            return frozenset(quad.triple for quad in self._store.match_quads(None, None, None, graph))
        return frozenset(
            quad.triple
            for quad in self._store.match_quads(None, None, None, DEFAULT)
            if not self._is_kept(quad.triple)
        )

    def _is_kept(self, triple: Triple) -> bool:
        """Whether the system keeps a triple in the default graph, so that no client replaces it."""
        return any(self._store.contains(_quad(triple, graph)) for graph in (DERIVED, INFERRED, ONTOLOGY))


def _quad(triple: Triple, graph: NamedNode) -> Quad:
    return Quad(triple.subject, triple.predicate, triple.object, graph)


def _named_change(
    graph: NamedNode, added: Collection[Triple], removed: Collection[Triple], *, made: bool
) -> Change:
    return Change(
        graph_additions=frozenset(_quad(triple, graph) for triple in added),
        graph_removals=frozenset(_quad(triple, graph) for triple in removed),
        graphs_created=frozenset((graph,) if made else ()),
    )


def _default_change(added: Iterable[Triple], removed: frozenset[Triple], *, partial: bool) -> Change:
    statements = tuple(Statement(triple) for triple in added)
    return Change(additions=statements, removals=removed, partial=partial)


def _read_parameters(query_string: str) -> dict[str, str]:
    """Percent-decoded once (4.2); a plus stays a plus, as in any IRI."""
    found: dict[str, str] = {}
    for part in filter(None, query_string.split("&")):
        name, _, value = part.partition("=")
        try:
            name, value = unquote(name, errors="strict"), unquote(value, errors="strict")
        except UnicodeDecodeError as error:
            raise MalformedRequest(
                "The query string is not percent-encoded UTF-8; encode it as UTF-8."
            ) from error
        # A misspelled one names another graph; one of another server means nothing here.
        if name not in _PARAMETERS and nearest_name(name, _PARAMETERS) is not None:
            raise MalformedRequest("In this address " + unknown_name("parameter", name, _PARAMETERS))
        if name in found:
            raise MalformedRequest(f"The parameter {name} was sent twice; send it once.")
        found[name] = value
    return found


def _flag(parameters: dict[str, str]) -> bool:
    value = parameters.get("partial", "false").lower()
    if value not in ("true", "false"):
        raise MalformedRequest(f"partial is true or false, not '{value}'.")
    return value == "true"


def _graph_iri(text: str) -> NamedNode:
    try:
        return NamedNode(text)
    except ValueError as error:
        raise MalformedRequest(
            f"'{text}' is not an absolute IRI: {error}. Name the graph in full."
        ) from error


def _payload_problem(error: SyntaxError, format_: Format, body: IO[bytes]) -> PayloadProblem:
    reason = re.sub(r"^Parser error at line .*?: ", "", str(error.msg or error)).rstrip(".")
    if "LoadDocumentCallback" in reason:
        reason = "it names a remote context, which is not fetched; include the context in the body"
    if reason == "Named graphs are not allowed":
        reason = "it contains named graphs, but a single graph is written; send each graph to its address"
    line, column = error.lineno, error.offset
    if line is None and format_.engine == RdfFormat.RDF_XML:
        line, column = _place_in_xml(body)
    if line is None:
        return PayloadProblem(f"The body cannot be read as {format_.media_type}: {reason}.")
    place = f"line {line}, column {column}"
    return PayloadProblem(f"The body is not valid {format_.media_type} at {place}: {reason}.", line, column)


def _place_in_xml(body: IO[bytes]) -> tuple[int | None, int | None]:
    """Where XML is not well-formed, which the engine does not report; None if it is."""
    body.seek(0)
    try:
        expat.ParserCreate().ParseFile(body)
    except expat.ExpatError as error:
        return error.lineno, error.offset + 1
    return None, None
