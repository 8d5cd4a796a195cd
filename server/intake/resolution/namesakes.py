"""Separates a known place from its namesake in a text about another region.

The graph has Taft Avenue in Chicago; a text says that Taft Avenue lies in Manila, which the graph does not
know. What it says is then not stated of Chicago's, and waits for a person.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pyoxigraph import NamedNode, Triple

from ontology import Schema
from server.intake.batch import Batch, name_of
from sparql.ask.places import StatedPlaces, Where
from sparql.model.change import Violation
from sparql.model.source import TripleSource
from sparql.model.vocabulary import GEO, UKG
from sparql.names.labels import LabelIndex

__all__ = ["INSIDE", "NamesakeAssessor"]

INSIDE: Final = frozenset({GEO.rcc8tpp, GEO.rcc8ntpp, GEO.sfWithin})
"""Relations by which geometries put a place into a region."""


class NamesakeAssessor:
    """Refuses what a text says of a known place that it puts into unknown regions only."""

    def __init__(self, store: TripleSource, labels: LabelIndex) -> None:
        self._store = store
        self._labels = labels

    def prepare(self, batch: Batch, schema: Schema) -> None:
        """Does nothing: what is known is read under the writer's lock."""

    def assess(self, batch: Batch, schema: Schema) -> None:
        """Refuse what a text says of a place that lies elsewhere."""
        new = batch.minted - batch.linked.keys()
        if not new:
            return
        stated = StatedPlaces.of(schema)
        regions: dict[NamedNode, set[NamedNode]] = {}
        for triple in batch.statements:
            place, region = triple.subject, triple.object
            within = stated.meaning(triple.predicate) is Where.WITHIN and triple not in batch.refused
            if within and place not in new and isinstance(place, NamedNode) and isinstance(region, NamedNode):
                regions.setdefault(place, set()).add(region)
        for place, said in regions.items():
            if said <= new and (known := self._regions(place, stated)):
                self._refuse(batch, place, said, known)

    def _regions(self, place: NamedNode, stated: StatedPlaces) -> list[NamedNode]:
        """The regions in which the graph has a place."""
        return [
            triple.object
            for triple in self._about(place)
            if isinstance(triple.object, NamedNode)
            and (triple.predicate in INSIDE or stated.meaning(triple.predicate) is Where.WITHIN)
        ]

    def _about(self, place: NamedNode) -> Iterable[Triple]:
        return self._store.match(place, None, None)

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


def _namesake(triple: Triple, said: str, known: str) -> Violation:
    return Violation(
        focus=triple.subject,
        message=f"The text is about {said}, and the graph has {known}: they may be namesakes. Accept it only "
        "if they are one place.",
        component=UKG.Namesake,
        path=triple.predicate.value,
        value=triple.object,
    )
