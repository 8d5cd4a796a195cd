"""Decides whether a new entity is already in the graph: by name, class, place and stated identity.

Names are compared by the same label index that the linker uses. Two entities never match if the ontology's
classes, their distance or owl:differentFrom separates them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pyoxigraph import BlankNode, NamedNode
from shapely.geometry.base import BaseGeometry

from extractors.grounding.linking import LabelEntry
from extractors.grounding.name_similarity import are_distinct, same_words
from geo.measure.measures import distance_m
from ontology.schema import Schema
from sparql.model.source import TripleSource
from sparql.model.vocabulary import OWL

_SAME_WORDS = 0.9
Places = Callable[[NamedNode | BlankNode], Sequence[BaseGeometry]]


@dataclass(frozen=True)
class SimilarName:
    """How well a new entity matches an entity of the graph.

    `score` (0 to 1) is the similarity of the names, raised halfway to 1 where both are close to each other.
    `sure` means that the names have the same words and the classes fit; `slip` that this is so but for a slip
    in a word, which may as well be another name. `distance_m` is None where one of them has no known place.
    """

    entry: LabelEntry
    score: float
    similarity: float
    sure: bool
    slip: bool
    distance_m: float | None


class Resolver:
    """Finds entities that a new one may be identical to.

    `near_m` is the largest distance in meters between two places of one entity; `source` is the graph, for
    owl:sameAs and owl:differentFrom.
    """

    def __init__(self, source: TripleSource, places: Places, *, near_m: float) -> None:
        self._source = source
        self._places = places
        self._near_m = near_m

    def alike(
        self,
        iri: NamedNode,
        names: Mapping[str, Sequence[tuple[LabelEntry, float]]],
        classes: Collection[NamedNode],
        where: Sequence[BaseGeometry],
        schema: Schema,
        *,
        exact: bool = True,
    ) -> list[SimilarName]:
        """The candidates for an entity with these names, classes and places, the most likely first.

        `names` are its names, each with similar known ones (`Labels.similar`). Without `exact`, `where` are
        regions that contain it: they can only rule out candidates.
        """
        found: dict[NamedNode, SimilarName] = {}
        for name, similar in names.items():
            for entry, similarity in similar:
                if entry.iri == iri or are_distinct(name, entry.label):
                    continue
                one = self._compare(iri, name, entry, similarity, classes, where, schema)
                if one is None:
                    continue
                if not exact:
                    one = replace(one, score=one.similarity)
                if entry.iri not in found or one.score > found[entry.iri].score:
                    found[entry.iri] = one
        return sorted(found.values(), key=lambda one: (-one.score, one.entry.iri.value))

    def obstacle(self, one: NamedNode, other: NamedNode, classes: ClassesOf, schema: Schema) -> str | None:
        """Why two entities cannot be the same, in words; None when nothing rules it out."""
        if self.are_different(one, other):
            return "owl:differentFrom says that they are different"
        for a in classes(one):
            for b in classes(other):
                if schema.are_disjoint(a, b):
                    return f"nothing can be both {schema.written(a)} and {schema.written(b)}"
        apart = _distance(self._places(one), self._places(other))
        if apart is not None and apart > self._near_m:
            return f"they are {apart:.0f} m apart, more than {self._near_m:.0f} m"
        return None

    def are_different(self, one: NamedNode, other: NamedNode) -> bool:
        """Whether owl:differentFrom holds between them, or between entities identical to them."""
        theirs = self.same_as(other)
        return any(
            neighbor in theirs
            for node in self.same_as(one)
            for neighbor in _linked(self._source, node, OWL.differentFrom)
        )

    def same_as(self, iri: NamedNode) -> set[NamedNode]:
        """The entity and all that owl:sameAs connects with it, through any number of steps."""
        return same_as(self._source, iri)

    def _compare(
        self,
        iri: NamedNode,
        name: str,
        entry: LabelEntry,
        similarity: float,
        classes: Collection[NamedNode],
        where: Sequence[BaseGeometry],
        schema: Schema,
    ) -> SimilarName | None:
        if classes and all(any(schema.are_disjoint(a, b) for b in entry.classes) for a in classes):
            return None
        if self.are_different(iri, entry.iri):
            return None
        apart = _distance(where, self._places(entry.iri))
        if apart is not None and apart > self._near_m:
            return None
        same = same_words(name, entry.label)
        slip = not same and same_words(name, entry.label, misspelled=True)
        similarity = max(similarity, _SAME_WORDS) if same or slip else similarity
        score = similarity if apart is None else (1 + similarity) / 2
        in_line = any(
            a in schema.superclasses(b) or b in schema.superclasses(a) for a in classes for b in entry.classes
        )
        return SimilarName(entry, score, similarity, same and in_line, slip and in_line, apart)


ClassesOf = Callable[[NamedNode], Iterable[NamedNode]]


def same_as(source: TripleSource, iri: NamedNode) -> set[NamedNode]:
    """An entity and all that owl:sameAs connects with it, in either direction and through any number of
    steps.
    """
    known, edge = {iri}, [iri]
    while edge:
        for neighbor in _linked(source, edge.pop(), OWL.sameAs):
            if neighbor not in known:
                known.add(neighbor)
                edge.append(neighbor)
    return known


def representative(source: TripleSource, iri: NamedNode) -> NamedNode:
    """One representative for all entities that owl:sameAs connects: the first by name."""
    return min(same_as(source, iri), key=lambda node: node.value)


def _linked(source: TripleSource, node: NamedNode, predicate: NamedNode) -> list[NamedNode]:
    forth = [triple.object for triple in source.match(node, predicate, None)]
    back = [triple.subject for triple in source.match(None, predicate, node)]
    return [one for one in (*forth, *back) if isinstance(one, NamedNode)]


def _distance(one: Sequence[BaseGeometry], other: Sequence[BaseGeometry]) -> float | None:
    """The smallest distance in meters between two places, None where one is unknown."""
    return min((distance_m(a, b) for a in one for b in other), default=None)
