"""Replaces the geometry of a feature that is loaded again.

The geometry node is named after the feature, so loading the same file again adds nothing, but a changed file
would leave two literals on one node, as if the feature were in both places.
"""

from collections.abc import Iterable, Iterator
from itertools import islice

from pyoxigraph import NamedNode, Triple

from server.data.features.mapping import SF
from sparql.model.change import Change, Rejection
from sparql.model.source import TripleSource
from sparql.model.vocabulary import GEO, RDF
from sparql.writing.writer import Writer

_TOGETHER = 1000


def outdated_geometry(source: TripleSource, triples: Iterable[Triple]) -> frozenset[Triple]:
    """Literals and types of these triples' geometries that are in the graph but not in the triples."""
    said = set(triples)
    nodes = {one.subject for one in said if one.predicate == GEO.asWKT}
    return frozenset(
        known
        for node in nodes
        for predicate in (GEO.asWKT, RDF.type)
        for known in source.match(node, predicate, None)
        if known not in said and (predicate == GEO.asWKT or _is_kind(known.object))
    )


class OutdatedGeometry:
    """Geometries of earlier loads that a bulk load replaces: noted while reading, removed at the end."""

    def __init__(self, source: TripleSource) -> None:
        self._source = source
        self._found: set[Triple] = set()

    def note(self, triples: Iterable[Triple]) -> None:
        """Note the new triples of a feature."""
        self._found |= outdated_geometry(self._source, triples)

    def remove(self, writer: Writer) -> list[Rejection]:
        """Remove the outdated geometries; those that could not be removed."""
        refused: list[Rejection] = []
        found: Iterator[Triple] = iter(self._found)
        while some := frozenset(islice(found, _TOGETHER)):
            refused += writer.commit(Change(removals=some, source="load")).rejected
        return refused


def _is_kind(term: object) -> bool:
    return isinstance(term, NamedNode) and term.value.startswith(SF.iri)
