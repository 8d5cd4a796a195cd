"""What a remote store supports: tested at each start."""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode

from sparql.model.errors import RemoteError
from sparql.model.vocabulary import GEO, GRAPH, RDF, UKG, XSD
from sparql.remote.endpoint import Endpoint
from sparql.remote.terms import Terms

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


def terms_of(url: str, capabilities: StoreCapabilities) -> Terms:
    """The conversion of terms for a store with these capabilities."""
    return Terms(url, capabilities.kept_apart)
