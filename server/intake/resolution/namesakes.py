"""Separates a known place from its namesake in a text about another region.

The graph has Taft Avenue in Chicago; a text says that Taft Avenue lies in Manila. What it says is then not
stated of Chicago's, and waits for a person. Whether two regions are apart is decided by `RegionComparison`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from pyoxigraph import NamedNode, Triple

from ontology import Schema
from server.intake.batch import Batch, name_of
from server.intake.resolution.regions import KnownRegions, RegionComparison
from server.runtime.settings import Settings
from sparql.ask.places import StatedPlaces, Where
from sparql.model.change import Violation
from sparql.model.source import Overlay, TripleSource
from sparql.model.vocabulary import RDF, UKG
from sparql.names.labels import LabelIndex
from sparql.spatial.relations import SpatialRelations

__all__ = ["NamesakeAssessor"]


class NamesakeAssessor:
    """Refuses what a text says of a known place that it puts only into regions apart from the known ones."""

    def __init__(
        self, settings: Settings, relations: SpatialRelations, labels: LabelIndex, store: TripleSource
    ) -> None:
        self._settings = settings
        self._relations = relations
        self._labels = labels
        self._store = store

    def prepare(self, batch: Batch, schema: Schema) -> None:
        """Does nothing: what is known is read under the writer's lock."""

    def assess(self, batch: Batch, schema: Schema) -> None:
        """Refuse what a text says of a place that lies elsewhere."""
        new = batch.minted - batch.linked.keys()
        stated = StatedPlaces.of(schema)
        said = _said(batch, new, stated)
        if not said:
            return
        added, known_regions = batch.added, KnownRegions(self._store, stated)
        comparison = RegionComparison(
            Overlay(self._store, [triple for triple in batch.statements if triple not in batch.refused]),
            stated,
            schema,
            new,
            shapes=lambda node: self._relations.geometry_with(added, node),
            slack_m=self._settings.geometry_slack_m,
        )
        for place, regions in said.items():
            known = known_regions.around(place) if self._has_one_place(place, stated, schema) else ()
            if known and all(comparison.apart(region, other) for region in regions for other in known):
                self._refuse(batch, place, regions, known)

    def _has_one_place(self, node: NamedNode, stated: StatedPlaces, schema: Schema) -> bool:
        """Whether it is a feature, as far as is known; an organization may be in many places."""
        kinds = [triple.object for triple in self._store.match(node, RDF.type, None)]
        classes = [kind for kind in kinds if isinstance(kind, NamedNode)]
        return not classes or any(not schema.superclasses(one).isdisjoint(stated.shaped) for one in classes)

    def _refuse(
        self, batch: Batch, place: NamedNode, said: Iterable[NamedNode], known: Iterable[NamedNode]
    ) -> None:
        here, there, name = (
            ", ".join(sorted(name_of(node, batch.added, self._labels) for node in nodes)[:3])
            for nodes in (said, known, [place])
        )
        for triple in list(batch.statements):
            if place in (triple.subject, triple.object) and triple not in batch.refused:
                batch.refuse(triple, _namesake(triple, f"{name} in {here}", f"{name} in {there}"))


def _said(batch: Batch, new: Collection[NamedNode], stated: StatedPlaces) -> dict[NamedNode, set[NamedNode]]:
    """The regions into which a text puts places that it names and the graph has.

    A client that names a place by its IRI means that one.
    """
    found: dict[NamedNode, set[NamedNode]] = {}
    for triple in batch.statements:
        place, region = triple.subject, triple.object
        if stated.meaning(triple.predicate) is not Where.WITHIN or triple in batch.refused:
            continue
        if not isinstance(place, NamedNode) or not isinstance(region, NamedNode) or place in new:
            continue
        support = batch.supports.get(triple)
        if region in new or (support is not None and support.quote is not None):
            found.setdefault(place, set()).add(region)
    return found


def _namesake(triple: Triple, said: str, known: str) -> Violation:
    return Violation(
        focus=triple.subject,
        message=f"The text is about {said}, and the graph has {known}: they may be namesakes. Accept it only "
        "if they are one place.",
        component=UKG.Namesake,
        path=triple.predicate.value,
        value=triple.object,
    )
