"""What a remote store supports, and how terms, queries and answers are adapted to it.

It is tested at each start. Blank nodes become skolem IRIs (RDF 1.1 Concepts, 3.5), since SPARQL cannot name
a stored blank node. Literals of datatypes that the store would change are sent under a datatype of our own,
which contains the real one. System graphs are hidden in queries. The JSON results of Virtuoso use invalid
labels for blank nodes and write true as 1: answers are repaired.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, Triple, Variable

from sparql.model.errors import MalformedRequest, RemoteError, RemoteUnsupported
from sparql.model.source import Term
from sparql.model.vocabulary import GEO, GRAPH, RDF, UKG, XSD
from sparql.remote.endpoint import Endpoint
from sparql.syntax.nodes import Nested, Node, Statement, calls_in, walk
from sparql.syntax.parser import ParsedQuery, parse_query
from sparql.syntax.tokens import NotUnderstood, Prologue, read_prologue, read_tokens

STAGING = "staging/"
_GML = (
    '<gml:Point xmlns:gml="http://www.opengis.net/gml" srsName="EPSG:4326"><gml:pos>1 2</gml:pos></gml:Point>'
)
_CANDIDATES = (
    Literal(
        "<http://www.opengis.net/def/crs/EPSG/0/4326> POLYGON((0 0,0 1.10,1 1,0 0))", datatype=GEO.wktLiteral
    ),
    Literal('{"type":"Point","coordinates":[1,2.0]}', datatype=GEO.geoJSONLiteral),
    Literal(_GML, datatype=GEO.gmlLiteral),
    Literal("<Point><coordinates>1,2.0</coordinates></Point>", datatype=GEO.kmlLiteral),
    Literal("P1DT1H", datatype=XSD.duration),
    Literal("P1DT1H", datatype=XSD.dayTimeDuration),
    Literal("P1Y2M", datatype=XSD.yearMonthDuration),
    Literal("10:00:00", datatype=XSD.time),
    Literal("--03-04", datatype=XSD.gMonthDay),
    Literal("2020-02", datatype=XSD.gYearMonth),
    Literal("<p/>", datatype=RDF.XMLLiteral),
    Literal("<p>", datatype=RDF.HTML),
    Literal('{"a":1.0}', datatype=RDF.JSON),
)
_VIRTUOSO = re.compile(r"virtuoso", re.IGNORECASE)


@dataclass(frozen=True)
class StoreCapabilities:
    """The result of the tests.

    `kept_apart` are datatypes whose literals it would change or refuse. `booleans_as_digits`: it returns 1
    for true. `virtuoso`: it is a Virtuoso, and takes a `timeout` parameter in milliseconds. `inline`:
    removals of typed literals may be written into an update; else they are staged. `row_limit`: where it
    truncates answers.
    """

    server: str = ""
    kept_apart: frozenset[NamedNode] = frozenset()
    booleans_as_digits: bool = False
    virtuoso: bool = False
    inline: bool = True
    row_limit: int | None = None


def find_capabilities(endpoint: Endpoint) -> StoreCapabilities:
    """Write samples into a separate graph, read them back, and remove them.

    Raises RemoteUnreachable, and RemoteRefused when updates are not allowed at all.
    """
    graph = NamedNode(f"{GRAPH.iri}{STAGING}{uuid.uuid4().hex}")
    try:
        endpoint.update(f"INSERT DATA {{ GRAPH {graph} {{ {UKG.store} {UKG.probe} true }} }}")
        server = endpoint.server
        virtuoso = bool(_VIRTUOSO.search(server))
        kept_apart = frozenset(
            one.datatype
            for number, one in enumerate(_CANDIDATES)
            if not _is_kept(endpoint, graph, number, one)
        )
        digits = _reads_back(endpoint, graph, UKG.store, UKG.probe) != [Literal(True)]
        return StoreCapabilities(
            server=server,
            kept_apart=kept_apart,
            booleans_as_digits=digits,
            virtuoso=virtuoso,
            # Virtuoso 7 does not delete some literals of such a template (typed ones, "ß"@de).
            inline=not virtuoso and _removes_inline(endpoint, graph),
            row_limit=_row_limit(endpoint) if virtuoso else None,
        )
    finally:
        endpoint.update(f"DROP SILENT GRAPH {graph}")


def _is_kept(endpoint: Endpoint, graph: NamedNode, number: int, sample: Literal) -> bool:
    """Whether a literal is returned unchanged, and found by its value."""
    subject = NamedNode(f"{UKG.iri}sample{number}")
    try:
        endpoint.update(f"INSERT DATA {{ GRAPH {graph} {{ {subject} {UKG.probe} {sample} }} }}")
        if _reads_back(endpoint, graph, subject, UKG.probe) != [sample]:
            return False
        pattern = f"SELECT ?p WHERE {{ GRAPH {graph} {{ {subject} ?p {sample} }} }}"
        return len(list(endpoint.solutions(pattern))) == 1
    except RemoteError:
        return False


def _removes_inline(endpoint: Endpoint, graph: NamedNode) -> bool:
    """Whether literals written into the template of a DELETE are deleted."""
    subject = UKG.inlineSample
    triple = f'{subject} {UKG.probe} {Literal("x", datatype=UKG.sample)}, "ß"@de, true'
    endpoint.update(f"INSERT DATA {{ GRAPH {graph} {{ {triple} }} }}")
    try:
        endpoint.update(
            f"DELETE {{ GRAPH {graph} {{ {triple} }} }} "
            f"INSERT {{ GRAPH {graph} {{ {subject} {UKG.done} 1 }} }} "
            f"WHERE {{ GRAPH {graph} {{ {UKG.store} {UKG.probe} ?probe }} }}"
        )
    except RemoteError:
        return False
    done = _reads_back(endpoint, graph, subject, UKG.done)
    return bool(done) and not _reads_back(endpoint, graph, subject, UKG.probe)


def _row_limit(endpoint: Endpoint) -> int | None:
    """Where answers are truncated, if below some ten thousand rows; only Virtuoso reports it."""
    numbers = " ".join(map(str, range(101)))
    text = f"SELECT ?a ?b WHERE {{ VALUES ?a {{ {numbers} }} VALUES ?b {{ {numbers} }} }}"
    return endpoint.limit_of(text)


def _reads_back(
    endpoint: Endpoint, graph: NamedNode, subject: NamedNode, predicate: NamedNode
) -> list[object]:
    # As stored, without conversion: that is what is tested.
    text = f"SELECT ?o WHERE {{ GRAPH {graph} {{ {subject} {predicate} ?o }} }}"
    return [row["o"] for row in endpoint.solutions(text)]


SKOLEM = "https://w3id.org/urbankg/.well-known/genid/"
KEPT_APART = "urn:x-urbankg:datatype:"
NODE_ID = "nodeID://"
NODE_LABEL = "nodeID-"
"""Virtuoso's blank nodes are IRIs in a query and labels elsewhere."""


class Terms:
    """Converts terms for the store at `url`; literals of `kept_apart` datatypes are wrapped."""

    def __init__(self, url: str, kept_apart: Iterable[NamedNode] = ()) -> None:
        self._url = url
        self.kept_apart = frozenset(kept_apart)

    def outgoing(self, term: Term) -> NamedNode | Literal:
        """The term as the store holds it. Raises RemoteUnsupported for triple terms."""
        if isinstance(term, Triple):
            raise RemoteUnsupported(
                self._url, "triple terms of RDF 1.2 outside the system graphs in the local store"
            )
        if isinstance(term, BlankNode):
            label = term.value
            if label.startswith(NODE_LABEL):
                return NamedNode(NODE_ID + label.removeprefix(NODE_LABEL))
            return NamedNode(SKOLEM + label)
        if isinstance(term, Literal) and term.language is None and term.datatype in self.kept_apart:
            return Literal(term.value, datatype=NamedNode(KEPT_APART + term.datatype.value))
        return term

    def incoming(self, term: Term) -> Term:
        """The term as it was before `outgoing`."""
        if isinstance(term, NamedNode) and term.value.startswith(SKOLEM):
            return BlankNode(term.value.removeprefix(SKOLEM))
        if isinstance(term, Literal) and term.datatype.value.startswith(KEPT_APART):
            return Literal(term.value, datatype=NamedNode(term.datatype.value.removeprefix(KEPT_APART)))
        return term

    def written(self, quad: Quad) -> tuple[str, GraphKey]:
        """A quad's triple as N-Triples without the dot, and its graph."""
        graph = quad.graph_name
        if isinstance(graph, BlankNode):
            raise RemoteUnsupported(self._url, "blank nodes as graph names; use an IRI")
        parts = (self.outgoing(quad.subject), quad.predicate, self.outgoing(quad.object))
        return " ".join(map(str, parts)), graph


GraphKey = NamedNode | DefaultGraph


def without_system_graphs(text: str) -> str:
    """The query with system graphs excluded from `GRAPH ?g { ... }`.

    A FILTER is added after the group; it applies to the surrounding group, in which every solution binds ?g
    or (in OPTIONAL and MINUS) which is evaluated by itself. Raises MalformedRequest.
    """
    added: list[tuple[int, str]] = []
    for node in walk(_parsed(text).query):
        if isinstance(node, Nested) and node.keyword == "GRAPH" and isinstance(node.name, Variable):
            added.append((node.end, f' FILTER(!STRSTARTS(STR({node.name}), "{GRAPH.iri}")) '))
    for position, filter_ in sorted(added, reverse=True):
        text = text[:position] + filter_ + text[position:]
    return text


def _parsed(text: str) -> ParsedQuery:
    try:
        return parse_query(text)
    except NotUnderstood as error:
        raise MalformedRequest(
            f"The query cannot be sent to the remote store: {error.reason}. Put spaces between its words."
        ) from error


def with_kept_apart(text: str, terms: Terms, base: str | None = None) -> str:
    """The query with wrapped datatypes of literals, as the store holds them."""
    if not terms.kept_apart or "^^" not in text:
        return text
    prologue = read_prologue(text, 0, Prologue({}, base, 0))
    tokens = list(read_tokens(text, prologue.end))
    names = {one.value for one in terms.kept_apart}
    changed = [
        (token, iri)
        for before, token in pairwise(tokens)
        if before.text.endswith("^") and (iri := prologue.expand(token)) in names
    ]
    for token, iri in reversed(changed):
        text = f"{text[: token.start]}<{KEPT_APART}{iri}>{text[token.end :]}"
    return text


def called_functions(text: str) -> list[str]:
    """The IRIs of the functions that a query calls, in stable order; none where it is not understood."""
    try:
        return sorted({call.iri.value for call in calls_in(parse_query(text).query)})
    except NotUnderstood:
        return []


def reads_beside(text: str, graphs: Collection[str]) -> bool:
    """Whether a query that names some of these graphs has triple patterns outside `GRAPH <name> { ... }`.

    A variable after GRAPH may be any of them. Raises MalformedRequest.
    """
    inside: set[Node] = set()
    for node in walk(_parsed(text).query):
        if isinstance(node, Nested) and node.keyword == "GRAPH":
            named = node.name
            if isinstance(named, Variable) or (isinstance(named, NamedNode) and named.value in graphs):
                inside.update(walk(node))
        elif isinstance(node, Statement) and node not in inside:
            return True
    return False


RepairLine = Callable[[bytes], bytes]
_BOOLEAN = rb"http://www.w3.org/2001/XMLSchema#boolean"
_NODE_IN_JSON = re.compile(rb'("type"\s*:\s*"bnode"\s*,\s*"value"\s*:\s*")nodeID://')
_DATATYPE_IN_JSON = re.compile(rb'("datatype"\s*:\s*")' + re.escape(KEPT_APART.encode()))
_BOOLEAN_IN_JSON = re.compile(rb'("datatype"\s*:\s*"' + _BOOLEAN + rb'"\s*,\s*"value"\s*:\s*)"([01])"')
_BOOLEAN_IN_TRIPLES = re.compile(rb'([ \t])"([01])"(\^\^<' + _BOOLEAN + rb">)")
_WORDS = {b"1": b'"true"', b"0": b'"false"'}


def result_repair(capabilities: StoreCapabilities) -> Callable[[Iterable[bytes]], Iterator[bytes]]:
    """The function that repairs SPARQL JSON results in pieces."""

    def repair(line: bytes) -> bytes:
        if capabilities.virtuoso:
            line = _NODE_IN_JSON.sub(rb"\1" + NODE_LABEL.encode(), line)
        if capabilities.kept_apart:
            line = _DATATYPE_IN_JSON.sub(rb"\1", line)
        if capabilities.booleans_as_digits:
            line = _BOOLEAN_IN_JSON.sub(lambda found: found[1] + _WORDS[found[2]], line)
        return line

    return _by_line(repair) if _differs(capabilities) else iter


def triple_repair(capabilities: StoreCapabilities) -> Callable[[Iterable[bytes]], Iterator[bytes]]:
    """The function that repairs N-Triples in pieces."""

    def repair(line: bytes) -> bytes:
        # Inside a literal the quote would be escaped.
        line = line.replace(b'"^^<' + KEPT_APART.encode(), b'"^^<')
        return _BOOLEAN_IN_TRIPLES.sub(lambda found: found[1] + _WORDS[found[2]] + found[3], line)

    return _by_line(repair) if _differs(capabilities) else iter


def _differs(capabilities: StoreCapabilities) -> bool:
    return bool(capabilities.virtuoso or capabilities.kept_apart or capabilities.booleans_as_digits)


def _by_line(repair: RepairLine) -> Callable[[Iterable[bytes]], Iterator[bytes]]:
    """Repair whole lines only: no match spans two of them in the stores that need repair."""

    def repaired(pieces: Iterable[bytes]) -> Iterator[bytes]:
        left: list[bytes] = []
        for piece in pieces:
            head, newline, tail = piece.rpartition(b"\n")
            if newline:
                yield repair(b"".join((*left, head, newline)))
                left = [tail]
            else:
                left.append(piece)
        if rest := b"".join(left):
            yield repair(rest)

    return repaired
