"""Replaces the geometry of a feature that is loaded again.

The geometry node is named after the feature, so loading the same file again adds nothing, but a changed file
would leave two literals on one node, as if the feature were in both places.
"""

from collections.abc import Collection, Iterable

from pyoxigraph import NamedNode, Triple

from server.data.features.mapping import SF
from sparql.model.source import TripleSource
from sparql.model.vocabulary import GEO, RDF


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


def replacements(
    source: TripleSource, triples: Iterable[Triple], outdated: Collection[Triple]
) -> frozenset[tuple[Triple, Triple]]:
    """Pairs of a new literal, which may be refused, and what of `outdated` it replaces."""
    new = {one.subject: one for one in triples if one.predicate == GEO.asWKT and not any(source.match(*one))}
    return frozenset((new[old.subject], old) for old in outdated if old.subject in new)


def _is_kind(term: object) -> bool:
    return isinstance(term, NamedNode) and term.value.startswith(SF.iri)
