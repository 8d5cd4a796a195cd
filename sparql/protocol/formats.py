"""The formats of answers, as one table, and the choice by the Accept header (RFC 9110, 12.5.1).

Results of SELECT and ASK: JSON, XML, CSV, TSV; of SELECT also GeoJSON. Graphs of CONSTRUCT and DESCRIBE:
Turtle, N-Triples, N-Quads, TriG, RDF/XML, JSON-LD. The first of each table is the default.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from pyoxigraph import QueryResultsFormat, RdfFormat

from sparql.model.errors import MalformedRequest, NotAcceptable


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


class Offer(Protocol):
    """Something that can be sent under a media type, or under its aliases."""

    @property
    def media_type(self) -> str: ...

    @property
    def aliases(self) -> tuple[str, ...]: ...


AnyOffer = TypeVar("AnyOffer", bound=Offer)


@dataclass(frozen=True)
class MediaType:
    """An offer that consists of a media type."""

    media_type: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class MediaRange:
    """One entry of an Accept header; ``quality`` lies in 0..1 and 0 means "not this"."""

    type: str
    subtype: str
    quality: float

    def specificity(self, media_type: str) -> int:
        """How closely this range matches the media type: 0 not at all, 3 exactly."""
        main, _, sub = media_type.partition("/")
        if self.type == "*":
            return 1
        if self.type != main:
            return 0
        return 3 if self.subtype == sub else 2 if self.subtype == "*" else 0


def parse_accept(header: str) -> tuple[MediaRange, ...]:
    """Parse an Accept header, in its order. Entries that are not media ranges are skipped."""
    ranges = []
    for entry in header.split(","):
        name, *parameters = (part.strip() for part in entry.split(";"))
        main, slash, sub = name.lower().partition("/")
        if not main or (not slash and main != "*"):
            continue
        ranges.append(MediaRange(main, sub or "*", _quality(parameters)))
    return tuple(ranges)


def choose(accept: str | None, offers: Sequence[AnyOffer]) -> AnyOffer:
    """The offer that the client prefers; the first one where it has no preference.

    Each offer takes the quality of the range that matches it most closely, by its own media type or an alias.
    At equal quality the closer match wins, then the order of the offers. Raises NotAcceptable when none is
    accepted.
    """
    if accept is None or not accept.strip():
        return offers[0]
    ranges = parse_accept(accept)
    best, best_rank = None, (0.0, 0)
    for offer in offers:
        rank = _rank(offer, ranges)
        if rank[0] > 0 and rank > best_rank:
            best, best_rank = offer, rank
    if best is None:
        raise NotAcceptable(accept, [offer.media_type for offer in offers])
    return best


def choose_by_name(name: str, offers: Sequence[Format]) -> Format:
    """The offer selected by a ``format`` parameter, a short name or media type."""
    for offer in offers:
        if offer.answers_to(name.lower()):
            return offer
    known = ", ".join(offer.name for offer in offers)
    raise MalformedRequest(f"There is no format '{name}' for this kind of answer; use one of {known}.")


def first_known(names: Sequence[str], offers: Sequence[Format]) -> Format | None:
    """The offer that the first name stands for that stands for any; None where none does."""
    for name in names:
        for offer in offers:
            if offer.answers_to(name.lower()):
                return offer
    return None


def _rank(offer: Offer, ranges: Sequence[MediaRange]) -> tuple[float, int]:
    own = _rank_of_type(offer.media_type, ranges)
    if own[1] == 3:
        return own
    aliases = [_rank_of_type(alias, ranges) for alias in offer.aliases if "/" in alias]
    exact = [rank for rank in aliases if rank[1] == 3]
    return max([own, *exact]) if exact else own


def _rank_of_type(media_type: str, ranges: Sequence[MediaRange]) -> tuple[float, int]:
    closest = max(ranges, key=lambda one: one.specificity(media_type), default=None)
    if closest is None or closest.specificity(media_type) == 0:
        return (0.0, 0)
    return (closest.quality, closest.specificity(media_type))


def _quality(parameters: Sequence[str]) -> float:
    for parameter in parameters:
        key, _, value = parameter.partition("=")
        if key.strip().lower() == "q":
            try:
                return min(1.0, max(0.0, float(value)))
            except ValueError:
                return 1.0
    return 1.0
