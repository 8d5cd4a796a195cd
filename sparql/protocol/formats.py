"""The formats of answers, as one table.

Results of SELECT and ASK: JSON, XML, CSV, TSV; of SELECT also GeoJSON. Graphs of CONSTRUCT and DESCRIBE:
Turtle, N-Triples, N-Quads, TriG, RDF/XML, JSON-LD. The first of each table is the default.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyoxigraph import QueryResultsFormat, RdfFormat


@dataclass(frozen=True)
class Format:
    """One format of an answer.

    ``name`` is the short name (the ``format`` parameter); ``aliases`` are media types and short names that
    clients also use for it; ``engine`` is the engine's constant.
    """

    name: str
    media_type: str
    engine: QueryResultsFormat | RdfFormat
    aliases: tuple[str, ...] = ()

    @property
    def content_type(self) -> str:
        """The Content-Type header: text types name their charset, whose default is another."""
        return f"{self.media_type}; charset=utf-8" if self.media_type.startswith("text/") else self.media_type

    @property
    def holds_triple_terms(self) -> bool:
        """Whether it can write triple terms (RDF 1.2); the engine's JSON-LD is that of 1.1."""
        return self.engine != RdfFormat.JSON_LD

    def answers_to(self, name: str) -> bool:
        """Whether a name used by a client means this format."""
        return name in (self.name, self.media_type) or name in self.aliases


RESULT_FORMATS: tuple[Format, ...] = (
    Format(
        "json",
        "application/sparql-results+json",
        QueryResultsFormat.JSON,
        ("application/json", "text/json", "srj"),
    ),
    Format(
        "xml",
        "application/sparql-results+xml",
        QueryResultsFormat.XML,
        ("application/xml", "text/xml", "srx"),
    ),
    Format("csv", "text/csv", QueryResultsFormat.CSV),
    Format("tsv", "text/tab-separated-values", QueryResultsFormat.TSV),
)

# A SELECT's rows as features; the engine writes TSV, which is converted.
FEATURE_FORMAT = Format("geojson", "application/geo+json", QueryResultsFormat.TSV)

GRAPH_FORMATS: tuple[Format, ...] = (
    Format(
        "turtle",
        "text/turtle",
        RdfFormat.TURTLE,
        ("ttl", "n3", "text/n3", "text/rdf+n3", "application/turtle", "application/x-turtle"),
    ),
    Format(
        "ntriples", "application/n-triples", RdfFormat.N_TRIPLES, ("nt", "n-triples", "text/plain", "text/nt")
    ),
    Format("nquads", "application/n-quads", RdfFormat.N_QUADS, ("nq", "n-quads", "text/x-nquads")),
    Format("trig", "application/trig", RdfFormat.TRIG, ("application/x-trig",)),
    Format(
        "rdfxml",
        "application/rdf+xml",
        RdfFormat.RDF_XML,
        ("rdf", "rdf+xml", "rdf/xml", "xml", "application/xml", "text/xml"),
    ),
    Format("jsonld", "application/ld+json", RdfFormat.JSON_LD, ("json-ld", "json", "application/json")),
)

FOR_TRIPLE_TERMS: tuple[Format, ...] = tuple(one for one in GRAPH_FORMATS if one.holds_triple_terms)
WITH_PREFIXES: frozenset[str] = frozenset({"turtle", "trig"})
"""The formats whose IRIs prefixes shorten."""
BY_NAME: dict[str, Format] = {one.name: one for one in (*RESULT_FORMATS, *GRAPH_FORMATS)}
