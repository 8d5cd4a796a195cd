"""Adds source records to the graph: the geometry of each as a feature, its text through extraction."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import shapely
from pyoxigraph import Literal, NamedNode, Triple

from extractors.errors import ModelReplyError, ModelRequestRefused
from extractors.grounding.entities import slug
from extractors.grounding.linking import Linker
from extractors.sources.records import SourceRecord
from extractors.text.cleaning import TextError
from geo.measure.measures import distance_m
from server.data.feature_mapping import geometry_triples
from server.errors import InvalidBody
from server.http.reporting.statements import rejection_json
from server.intake.outcome import Outcome
from server.services import Services
from sparql.model.change import Change, Statement, Verdict
from sparql.model.vocabulary import RDF, RDFS, UKG
from sparql.names.resolution import NEAR_M

_ANY_PLACE = "place"
_LINES = ("LineString", "MultiLineString", "LinearRing")


@dataclass(frozen=True)
class SourceResult:
    """The result of one record; `failure` says why its text could not be used."""

    record: SourceRecord
    feature: NamedNode | None = None
    known: bool = False
    place: Verdict | None = None
    text: Outcome | None = None
    failure: str | None = None

    @property
    def refused(self) -> int:
        """How many statements were refused."""
        return len(self.place.rejected if self.place else ()) + len(
            self.text.verdict.rejected if self.text else ()
        )

    def json(self) -> dict[str, Any]:
        """One record of the answer of `POST /sources`."""
        place = None
        if self.feature is not None:
            place = {
                "iri": self.feature.value,
                "known": self.known,
                "accepted": len(self.place.accepted) if self.place else 0,
                "rejected": [rejection_json(one, None) for one in self.place.rejected] if self.place else [],
                "derived": len(self.place.derived.additions) if self.place else 0,
            }
        return {
            "record": self.record.place,
            "name": self.record.name,
            "kind": self.record.kind.value,
            "feature": place,
            "extraction": None if self.text is None else self.text.json(),
            "failure": self.failure,
        }


@dataclass
class Counts:
    """Sums over many records."""

    records: int = 0
    features: int = 0
    texts: int = 0
    accepted: int = 0
    refused: int = 0
    derived: int = 0
    failures: list[str] = field(default_factory=list)

    def add(self, answer: dict[str, Any]) -> None:
        """Count one record of the answer of `POST /sources`."""
        self.records += 1
        for part in (answer["feature"], answer["extraction"]):
            if part is not None:
                accepted = part["accepted"]
                self.accepted += accepted if isinstance(accepted, int) else len(accepted)
                self.refused += len(part["rejected"])
                self.derived += part["derived"]
        self.features += answer["feature"] is not None
        self.texts += answer["extraction"] is not None
        if answer["failure"]:
            self.failures.append(f"{answer['record']}: {answer['failure']}")


class SourceIntake:
    """Takes single records; several calls may run at once."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def take(self, record: SourceRecord, *, commit: bool = True) -> SourceResult:
        """The record's place first, so that its text is linked to it; then its text.

        Raises `ModelUnavailable` and `ModelTimeout`; an unusable text or reply is reported in the result.
        What was committed before an error stays.
        """
        feature, known, verdict = None, False, None
        if record.name and record.geometry is not None:
            feature, known, verdict = await asyncio.to_thread(self._place, record, commit)
        outcome, failure = None, None
        if record.text:
            about = {UKG.rating: f"{record.rating:g}"} if record.rating is not None else {}
            if feature is not None:
                about[UKG.about] = feature.value
            try:
                outcome = await self._services.intake.extract(
                    record.text, source=record.url or record.place, commit=commit, about=about
                )
            except (TextError, ModelReplyError, ModelRequestRefused) as error:
                failure = str(error)
        return SourceResult(record, feature, known, verdict, outcome, failure)

    def _place(self, record: SourceRecord, commit: bool) -> tuple[NamedNode, bool, Verdict | None]:
        services, kind = self._services, self._class_of(record)
        same = self._known(record, kind)
        feature = same or self._named(record)
        if same is not None and services.relations.geometry_of(same):
            return feature, True, None
        triples = tuple(self._triples(record, feature, kind, new=same is None))
        change = Change(
            additions=tuple(Statement(triple) for triple in triples), partial=True, dry_run=not commit
        )
        return feature, same is not None, services.writer_for("source").commit(change)

    def _class_of(self, record: SourceRecord) -> NamedNode | None:
        """The class that the mapping names, else the one whose label is the record's type or kind."""
        if record.iri_class is not None:
            try:
                return NamedNode(record.iri_class)
            except ValueError as error:
                raise InvalidBody([("class", f"<{record.iri_class}> is not an IRI: {error}")]) from error
        schema = self._services.schema
        words = (record.type, record.kind.place_word, _ANY_PLACE)
        found = next((one for word in words if word and (one := schema.find_class(word))), None)
        return None if found is None else found.iri

    def _known(self, record: SourceRecord, kind: NamedNode | None) -> NamedNode | None:
        """The entity of the graph with the record's name and class, at its location or without one.

        A line of the same name is another section unless it is equal, so it is never taken for a known one.
        """
        services, shape = self._services, record.geometry
        assert shape is not None
        link = Linker(services.labels, services.schema).fit
        expected = frozenset({kind} if kind else ())
        entries = [one for one in services.labels.exact(record.name) if one.main]
        fitting = {one.iri: None for one in entries if link(one.classes, expected) != "disjoint"}
        unplaced = []
        for iri in fitting:
            places = services.relations.geometry_of(iri)
            if not places:
                unplaced.append(iri)
            for other in places:
                if shapely.equals(other, shape):
                    return iri
                is_line = shape.geom_type in _LINES or other.geom_type in _LINES
                if not is_line and distance_m(other, shape) <= NEAR_M and self._is_instance(iri, kind):
                    return iri
        return unplaced[0] if len(unplaced) == 1 else None

    def _is_instance(self, iri: NamedNode, kind: NamedNode | None) -> bool:
        """Whether an entity has the class, a subclass or a superclass."""
        schema = self._services.schema
        classes = [t.object for t in self._services.store.match(iri, RDF.type, None)]
        related = schema.superclasses(kind) | schema.subclasses(kind) if kind else frozenset()
        return any(one in related for one in classes)

    def _named(self, record: SourceRecord) -> NamedNode:
        """A new IRI, which is the same each time the record is read."""
        assert record.geometry is not None
        identity = record.identifier or record.geometry.wkb_hex
        digest = hashlib.sha256("\0".join((record.kind, record.name, identity)).encode()).hexdigest()[:10]
        return NamedNode(f"{self._services.settings.base_iri}{slug(record.name) or 'place'}-{digest}")

    def _triples(
        self, record: SourceRecord, feature: NamedNode, kind: NamedNode | None, *, new: bool
    ) -> Iterator[Triple]:
        assert record.geometry is not None
        if new:
            if kind is not None:
                yield Triple(feature, RDF.type, kind)
            language = self._services.settings.language.partition(",")[0].strip()
            label = Literal(record.name, language=language) if language else Literal(record.name)
            yield Triple(feature, RDFS.label, label)
        yield from geometry_triples(feature, record.geometry)
