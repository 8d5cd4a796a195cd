"""Decides whether a new entity is already in the graph: by name, class, place and stated identity.

Names are compared by the same label index that the linker uses. Two entities never match if the ontology's
classes, their distance or owl:differentFrom separates them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pyoxigraph import BlankNode, Literal, NamedNode
from shapely.geometry.base import BaseGeometry

from extractors.grounding.geocoder import PlaceFound
from extractors.grounding.linking import LabelEntry, Labels, are_distinct, same_words
from geo.formats.literals import write_geometry
from geo.measure.measures import distance_m
from ontology.schema import Schema
from sparql.model.source import TripleSource
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import OWL, RDF, SYSTEM_GRAPHS
from sparql.names.label_state import ALIASES, MAIN_LABELS
from sparql.spatial.relations import geometries_in

_SAME_WORDS = 0.9
NEAR_M = 1000.0
"""How far apart two places may be, in meters, and still be taken for one."""
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
                match = self._compare(iri, name, entry, similarity, classes, where, schema)
                if match is None:
                    continue
                if not exact:
                    match = replace(match, score=match.similarity)
                if entry.iri not in found or match.score > found[entry.iri].score:
                    found[entry.iri] = match
        return sorted(found.values(), key=lambda match: (-match.score, match.entry.iri.value))

    def obstacle(self, entity: NamedNode, other: NamedNode, classes: ClassesOf, schema: Schema) -> str | None:
        """Why two entities cannot be the same, in words; None when nothing rules it out."""
        if self.are_different(entity, other):
            return "owl:differentFrom says that they are different"
        for a in classes(entity):
            for b in classes(other):
                if schema.are_disjoint(a, b):
                    return f"nothing can be both {schema.written(a)} and {schema.written(b)}"
        apart = _distance(self._places(entity), self._places(other))
        if apart is not None and apart > self._near_m:
            return f"they are {apart:.0f} m apart, more than {self._near_m:.0f} m"
        return None

    def are_different(self, entity: NamedNode, other: NamedNode) -> bool:
        """Whether owl:differentFrom holds between them, or between entities identical to them."""
        theirs = self.same_as(other)
        return any(
            neighbor in theirs
            for node in self.same_as(entity)
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
    return [node for node in (*forth, *back) if isinstance(node, NamedNode)]


def _distance(places: Sequence[BaseGeometry], other: Sequence[BaseGeometry]) -> float | None:
    """The smallest distance in meters between two places, None where either is unknown."""
    return min((distance_m(a, b) for a in places for b in other), default=None)


# The default geocoder: features loaded beside the graph, found by their names. Offline.
#
# Named entities of the default graph are linked and need no geocoder. This covers the features of clients'
# named graphs, such as another layer or a national register, and features of the default graph whose name the
# linker could not use.
_FROM_LAYER = 0.9
"""The confidence of an equal name in another layer, for a place that the graph does not know."""


class LoadedFeatures:
    """Features with geometry in the default graph and in named graphs.

    `languages` are the tags of labels to look up in named graphs, besides none: such graphs are searched by
    whole literals, which the store answers from its index however large they are.
    """

    def __init__(self, store: TripleStore, labels: Labels, *, languages: Sequence[str] = ("en",)) -> None:
        self._store = store
        self._labels = labels
        self._languages = tuple(languages)

    def locate(self, name: str) -> Sequence[PlaceFound]:
        """Every feature with this name and a geometry."""
        found: dict[tuple[str, NamedNode], PlaceFound] = {}
        for entry in self._labels.exact(name):
            for place in self._places(self._store, entry.iri, entry.label, entry.classes):
                found.setdefault(("", entry.iri), place)
        for graph, feature, label in self._in_layers(name):
            source = self._store.named(graph)
            classes = frozenset(
                t.object for t in source.match(feature, RDF.type, None) if isinstance(t.object, NamedNode)
            )
            for place in self._places(source, feature, label, classes):
                found.setdefault((graph.value, feature), place)
        return tuple(found.values())

    def _in_layers(self, name: str) -> Iterator[tuple[NamedNode, NamedNode, str]]:
        spelled = " ".join(name.split())
        bare = spelled.removeprefix("the ").removeprefix("The ")
        for words in dict.fromkeys((spelled, bare, f"The {bare}")):
            literals = [Literal(words), *(Literal(words, language=tag) for tag in self._languages)]
            for literal in literals:
                for predicate in MAIN_LABELS | ALIASES:
                    for quad in self._store.match_quads(None, predicate, literal):
                        graph = quad.graph_name
                        if (
                            isinstance(graph, NamedNode)
                            and graph not in SYSTEM_GRAPHS
                            and isinstance(quad.subject, NamedNode)
                        ):
                            yield graph, quad.subject, words

    def _places(
        self, source: TripleSource, feature: NamedNode, label: str, classes: frozenset[NamedNode]
    ) -> Iterator[PlaceFound]:
        """The feature's geometry, if exactly one counts."""
        shapes = geometries_in(source, feature)
        if len(shapes) == 1:
            (shape,) = shapes
            yield PlaceFound(label, write_geometry(shape), shape, feature.value, _FROM_LAYER, classes)
