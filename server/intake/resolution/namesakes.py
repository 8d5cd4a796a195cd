"""Holds for review what a text states of a known thing that may be another one of the same name.

An exact name is enough to write to a known entity only where kind and region agree. The graph has Taft Avenue
in Chicago, and a text says that Taft Avenue lies in Manila, or speaks of Manila only; the graph has a tunnel,
and a text says that it is a computer game. What such a text says waits for a person, who says which one is
meant. So does every new label of a known entity, since labels decide what later texts are linked to. Whether
two regions are apart is decided by `RegionComparison`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import product
from typing import Final

from pyoxigraph import Literal, NamedNode
from shapely.geometry.base import BaseGeometry

from extractors.candidates import UNKNOWN_TERM, WRONG_CLASS
from geo.measure.measures import distance_m
from ontology import Schema
from ontology.labels import with_article
from server.intake.batch import Batch, name_of
from sparql.ask.places import StatedPlaces, Where
from sparql.model.change import Violation
from sparql.model.geometry import SLACK_M
from sparql.model.source import Overlay, TripleSource
from sparql.model.vocabulary import GEO, RDF, UKG
from sparql.names.labels import LabelIndex
from sparql.spatial.relations import SpatialRelations

INSIDE: Final = frozenset({GEO.rcc8tpp, GEO.rcc8ntpp, GEO.sfWithin})
"""Relations by which geometries put a place into a region."""


class KnownRegions:
    """Reads in which regions something lies, by its geometry or by what is stated."""

    def __init__(self, source: TripleSource, stated: StatedPlaces) -> None:
        self._source = source
        self._stated = stated

    def around(self, node: NamedNode) -> list[NamedNode]:
        """The regions directly around it: those that the graph names for it."""
        return [
            triple.object
            for triple in self._source.match(node, None, None)
            if isinstance(triple.object, NamedNode)
            and (triple.predicate in INSIDE or self._stated.meaning(triple.predicate) is Where.WITHIN)
        ]

    def with_wider(self, node: NamedNode) -> set[NamedNode]:
        """A node, and all regions in which it lies, however wide."""
        found, waiting = {node}, [node]
        while waiting:
            more = set(self.around(waiting.pop())) - found
            found |= more
            waiting += more
        return found


class RegionComparison:
    """Compares regions by their geometries, or by what is stated of them where one has no geometry.

    `source` holds what is known and what the text adds, `new` are the regions that only the text knows.
    Regions are apart from `slack_m` meters on; one that has only a point or a line may reach farther. Without
    geometries, two regions of one kind that no common region directly holds are apart, such as two cities,
    and so are regions that lie in such ones. A new region is apart from all others. Nested ones are not.
    """

    def __init__(
        self,
        source: TripleSource,
        stated: StatedPlaces,
        schema: Schema,
        new: Collection[NamedNode],
        *,
        shapes: Callable[[NamedNode], Sequence[BaseGeometry]],
        slack_m: float,
    ) -> None:
        self._source = source
        self._schema = schema
        self._new = new
        self._known = KnownRegions(source, stated)
        self._shapes = shapes
        self._slack_m = slack_m

    def apart(self, one: NamedNode, other: NamedNode) -> bool:
        """Whether nothing can lie in both."""
        around, around_other = self._known.with_wider(one), self._known.with_wider(other)
        if one in around_other or other in around:
            return False
        measured = self._measured_apart(one, other)
        if measured is not None:
            return measured
        both = around & around_other
        return any(self._are_apart(a, b) for a, b in product(around - both, around_other - both))

    def _are_apart(self, one: NamedNode, other: NamedNode) -> bool:
        """Whether two regions are apart by themselves, whatever they lie in."""
        if one in self._known.with_wider(other) or other in self._known.with_wider(one):
            return False
        measured = self._measured_apart(one, other)
        if measured is not None:
            return measured
        if one in self._new or other in self._new:
            return True
        shared = set(self._known.around(one)) & set(self._known.around(other))
        return not shared and self._are_of_one_kind(one, other)

    def _measured_apart(self, one: NamedNode, other: NamedNode) -> bool | None:
        """Whether their geometries are apart; None where that is unknown."""
        pairs = list(product(self._shapes(one), self._shapes(other)))
        if any(distance_m(a, b) <= self._slack_m for a, b in pairs):
            return False
        return True if pairs and all(a.area and b.area for a, b in pairs) else None

    def _are_of_one_kind(self, one: NamedNode, other: NamedNode) -> bool:
        kinds, others = self._classes(one), self._classes(other)
        wider: set[NamedNode] = set().union(*map(self._schema.superclasses, kinds))
        wider_others: set[NamedNode] = set().union(*map(self._schema.superclasses, others))
        return not (kinds.isdisjoint(wider_others) and others.isdisjoint(wider))

    def _classes(self, region: NamedNode) -> set[NamedNode]:
        found = self._source.match(region, RDF.type, None)
        return {triple.object for triple in found if isinstance(triple.object, NamedNode)}


_OF_KIND = frozenset({UNKNOWN_TERM, WRONG_CLASS})
"""Why a stated kind is refused that nevertheless tells what the text is about."""


class NamesakeAssessor:
    """Refuses statements about known entities with which a text does not agree in kind or region, and
    their new labels.
    """

    def __init__(self, relations: SpatialRelations, labels: LabelIndex, store: TripleSource) -> None:
        self._relations = relations
        self._labels = labels
        self._store = store

    def prepare(self, batch: Batch, schema: Schema) -> None:
        """Does nothing: what is known is read under the writer's lock."""

    def assess(self, batch: Batch, schema: Schema) -> None:
        """Refuse what a text says of known entities that may be others of their name."""
        new = batch.minted - batch.linked.keys()
        self._refuse_labels(batch, new)
        named = self._named(batch, new)
        stated = StatedPlaces.of(schema)
        known = KnownRegions(self._store, stated)
        places = {node: known.around(node) for node in named if self._has_one_place(node, stated, schema)}
        self._compare_regions(batch, schema, stated, new, places)
        for node, kinds in _kinds(batch, named).items():
            own = self._classes(node)
            if not own or any(_in_line(kind, own, schema) for kind in kinds):
                continue
            unknown = not any(isinstance(kind, NamedNode) and kind in schema.classes for kind in kinds)
            if unknown and (node not in places or self._shares_region(node, named, known)):
                continue
            self._refuse(
                batch,
                node,
                f"The text says that {{name}} is {_written(kinds, schema)}, and the graph has "
                f"{_written(own, schema)}",
            )

    def _refuse_labels(self, batch: Batch, new: Collection[NamedNode]) -> None:
        """Refuse names that a known entity does not have yet."""
        for triple in list(batch.statements):
            subject = triple.subject
            if triple.predicate not in self._labels.label_properties or not isinstance(subject, NamedNode):
                continue
            if subject in new or triple in batch.refused or not isinstance(triple.object, Literal):
                continue
            entries = self._labels.entries_of(subject)
            if entries and not any(True for _ in self._store.match(subject, triple.predicate, triple.object)):
                violation = Violation(
                    focus=subject,
                    message=f"{entries[0].label} has no such name yet. Accept it only if "
                    f"{triple.object.value} is a name of this very thing: later texts are linked by it.",
                    component=UKG.NameOfKnown,
                    path=triple.predicate.value,
                    value=triple.object,
                )
                batch.refuse(triple, violation)

    def _named(self, batch: Batch, new: Collection[NamedNode]) -> set[NamedNode]:
        """The known entities that a text names. A client that gives an IRI and no words means that one."""
        return {
            node
            for triple in batch.statements
            if (support := batch.supports.get(triple)) is not None and support.quote is not None
            for node in (triple.subject, triple.object)
            if isinstance(node, NamedNode) and node not in new and self._labels.entries_of(node)
        }

    def _compare_regions(
        self,
        batch: Batch,
        schema: Schema,
        stated: StatedPlaces,
        new: Collection[NamedNode],
        places: Mapping[NamedNode, Collection[NamedNode]],
    ) -> None:
        said = _said(batch, new, stated)
        everywhere = set().union(*said.values())
        said = {place: regions for place, regions in said.items() if place not in new}
        if not everywhere:
            return
        added, known = batch.added, KnownRegions(self._store, stated)
        overlay = Overlay(self._store, [triple for triple in batch.statements if triple not in batch.refused])

        def comparison(unknown: Collection[NamedNode]) -> Callable[[NamedNode, NamedNode], bool]:
            return RegionComparison(
                overlay,
                stated,
                schema,
                unknown,
                shapes=lambda node: self._relations.geometry_with(added, node),
                slack_m=SLACK_M,
            ).apart

        for place, regions in said.items():
            own = known.around(place) if self._has_one_place(place, stated, schema) else ()
            apart = comparison(new)
            if own and all(apart(region, other) for region in regions for other in own):
                self._refuse_region(batch, place, regions, own)
        # Of a region that only the text knows, nothing but its kind tells that it is apart from others.
        apart = comparison(())
        for place, around in places.items():
            if place in said or place in everywhere or not around:
                continue
            if all(apart(region, other) for region in everywhere for other in (place, *around)):
                self._refuse_region(batch, place, everywhere, around)

    def _shares_region(self, node: NamedNode, named: Iterable[NamedNode], known: KnownRegions) -> bool:
        """Whether the text names something else in a region around the entity, or such a region."""
        own = known.with_wider(node)
        return any(not own.isdisjoint(known.with_wider(other)) for other in named if other != node)

    def _classes(self, node: NamedNode) -> set[NamedNode]:
        kinds = (triple.object for triple in self._store.match(node, RDF.type, None))
        return {kind for kind in kinds if isinstance(kind, NamedNode)}

    def _has_one_place(self, node: NamedNode, stated: StatedPlaces, schema: Schema) -> bool:
        """Whether it is a feature, as far as is known; an organization may be in many places."""
        classes = self._classes(node)
        return not classes or any(not schema.superclasses(one).isdisjoint(stated.shaped) for one in classes)

    def _refuse_region(
        self, batch: Batch, place: NamedNode, said: Iterable[NamedNode], known: Iterable[NamedNode]
    ) -> None:
        here, there = (
            ", ".join(sorted(name_of(node, batch.added, self._labels) for node in nodes)[:3])
            for nodes in (said, known)
        )
        self._refuse(batch, place, f"The text is about {{name}} in {here}, and the graph has one in {there}")

    def _refuse(self, batch: Batch, node: NamedNode, difference: str) -> None:
        """Refuse all that is said of an entity; `difference` says why, with `{name}` for its name."""
        reason = difference.replace("{name}", name_of(node, batch.added, self._labels))
        for triple in list(batch.statements):
            if node not in (triple.subject, triple.object) or triple in batch.refused:
                continue
            violation = Violation(
                focus=node,
                message=f"{reason}: they may be namesakes. Choose whether the text means the known one or a "
                "new one.",
                component=UKG.Namesake,
                path=triple.predicate.value,
                value=node,
            )
            batch.refuse(triple, violation)


def _said(batch: Batch, new: Collection[NamedNode], stated: StatedPlaces) -> dict[NamedNode, set[NamedNode]]:
    """The regions into which a text puts places.

    A client that names a place by its IRI means that one.
    """
    found: dict[NamedNode, set[NamedNode]] = {}
    for triple in batch.statements:
        place, region = triple.subject, triple.object
        if stated.meaning(triple.predicate) is not Where.WITHIN or triple in batch.refused:
            continue
        if not isinstance(place, NamedNode) or not isinstance(region, NamedNode):
            continue
        support = batch.supports.get(triple)
        if region in new or (support is not None and support.quote is not None):
            found.setdefault(place, set()).add(region)
    return found


def _kinds(batch: Batch, named: Collection[NamedNode]) -> dict[NamedNode, set[NamedNode | Literal]]:
    """What a text says that known entities are: classes, or words for which the ontology has none."""
    found: dict[NamedNode, set[NamedNode | Literal]] = {}
    for triple in batch.statements:
        node, kind = triple.subject, triple.object
        reasons = {violation.component for violation in batch.refused.get(triple, ())}
        if triple.predicate != RDF.type or node not in named or not reasons <= _OF_KIND:
            continue
        if isinstance(node, NamedNode) and isinstance(kind, NamedNode | Literal):
            found.setdefault(node, set()).add(kind)
    return found


def _in_line(kind: NamedNode | Literal, classes: Iterable[NamedNode], schema: Schema) -> bool:
    return isinstance(kind, NamedNode) and any(
        kind in schema.superclasses(own) or own in schema.superclasses(kind) for own in classes
    )


def _written(kinds: Iterable[NamedNode | Literal], schema: Schema) -> str:
    labels = {
        schema.classes[kind].label if isinstance(kind, NamedNode) and kind in schema.classes else kind.value
        for kind in kinds
    }
    return " or ".join(with_article(label) for label in sorted(labels))
