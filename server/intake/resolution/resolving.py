"""Decides whether a new entity of a text is a known one: links it, queues it, or leaves it new."""

from collections.abc import Sequence

from pyoxigraph import BlankNode, Literal, NamedNode, Triple
from shapely.geometry.base import BaseGeometry

from extractors.grounding.linking import LabelEntry, are_distinct
from ontology import Schema
from server.intake.batch import Batch
from server.intake.resolution.namesakes import INSIDE
from server.settings import Settings
from sparql.ask.places import StatedPlaces, Where
from sparql.model.change import Violation
from sparql.model.source import Overlay, Term, TripleIndex
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import RDF, SH, UKG
from sparql.names.label_state import ALIASES, MAIN_LABELS
from sparql.names.labels import LabelIndex, alias_properties
from sparql.names.resolution import NEAR_M, Resolver, SimilarName, representative
from sparql.spatial.relations import SpatialRelations

_SIMILAR = 0.75
"""Least similarity at which something new is queued as a possible duplicate."""
_SEARCHED = 20
_MOST_NAMES = 500
_MOST_ASKED = 5


class ResolutionAssessor:
    """Resolves the new entities of a batch by the thresholds of the settings.

    An entity that extraction named is a known one where the graph has exactly this name for one thing that
    fits in kind and place. Where the names only have the same words, or differ in a slip and something known
    confirms it (both have a place of their own there, or the text says of a known thing what the graph says
    of it and the known one), all that the text says of it waits until a person says which it is. Names
    that are only similar are accepted as new and queued, as are those of entities that clients named. A batch
    has at most some hundred names resolved; the others stay new: whole data sets are loaded, not extracted.
    """

    def __init__(
        self, settings: Settings, relations: SpatialRelations, labels: LabelIndex, store: TripleStore
    ) -> None:
        self._settings = settings
        self._relations = relations
        self._labels = labels
        self._store = store
        self._read: tuple[Schema, frozenset[NamedNode], StatedPlaces] | None = None

    def prepare(self, batch: Batch, schema: Schema) -> None:
        """Search for similar names, which takes long in a large graph."""
        naming, _ = self._read_by(schema)
        for triple in batch.statements:
            if len(batch.similar) >= _MOST_NAMES:
                return
            if triple.predicate not in naming or not isinstance(triple.object, Literal):
                continue
            name = triple.object.value
            if name not in batch.similar and not self._is_known(triple.subject):
                batch.similar[name] = self._labels.alike(name, _SEARCHED)

    def assess(self, batch: Batch, schema: Schema) -> None:
        """Replace linked entities in the batch, and doubt the names of possible duplicates."""
        naming, stated = self._read_by(schema)
        added = batch.added
        for iri in dict.fromkeys(t.subject for t in batch.statements if t.predicate in naming):
            if not isinstance(iri, NamedNode) or self._is_known(iri):
                continue
            found = self._alike(iri, batch, added, naming, stated, schema)
            likely = [
                one
                for one in found
                if one.score >= self._settings.link_threshold
                and (one.sure or (one.slip and self._is_confirmed(iri, one, added, stated)))
            ]
            exact = [one for one in likely if one.sure and self._has_name(one.entry, iri, added, naming)]
            if (
                iri in batch.minted
                and len({representative(self._store, one.entry.iri) for one in exact}) == 1
            ):
                self._link(batch, iri, exact[0].entry)
                added = batch.added
            elif iri in batch.minted and likely:
                self._ask(batch, iri, likely)
            elif found and found[0].score >= _SIMILAR:
                self._queue(batch, iri, found[0], naming)

    def _has_name(
        self, entry: LabelEntry, iri: NamedNode, added: TripleIndex, naming: frozenset[NamedNode]
    ) -> bool:
        """Whether a known entity has one of the names of a new one."""
        return any(
            any(known.iri == entry.iri for known in self._labels.exact(triple.object.value))
            for triple in added.match(iri, None, None)
            if triple.predicate in naming and isinstance(triple.object, Literal)
        )

    def _alike(
        self,
        iri: NamedNode,
        batch: Batch,
        added: TripleIndex,
        naming: frozenset[NamedNode],
        stated: StatedPlaces,
        schema: Schema,
    ) -> list[SimilarName]:
        about = list(added.match(iri, None, None))
        names = [t.object.value for t in about if t.predicate in naming and isinstance(t.object, Literal)]
        similar = {
            name: found
            for name in names
            if (
                found := [
                    one
                    for one in batch.similar.get(name, ())
                    if not are_distinct(name, one[0].label) and self._is_known(one[0].iri)
                ]
            )
        }
        if not similar:
            return []
        classes = {t.object for t in about if t.predicate == RDF.type and isinstance(t.object, NamedNode)}
        classes = classes or _expected(iri, added, schema)

        def places(node: NamedNode | BlankNode) -> Sequence[BaseGeometry]:
            return self._relations.geometry_with(added, node)

        own = places(iri)
        around = [
            shape
            for triple in about
            if stated.meaning(triple.predicate) is Where.WITHIN
            and isinstance(triple.object, NamedNode | BlankNode)
            for shape in places(triple.object)
        ]
        # The batch's own statements count too, such as owl:differentFrom.
        known = Overlay(self._store, added)
        resolver = Resolver(known, places, near_m=NEAR_M)
        return resolver.alike(iri, similar, classes, own or around, schema, exact=bool(own))

    def _is_confirmed(
        self, iri: NamedNode, found: SimilarName, added: TripleIndex, stated: StatedPlaces
    ) -> bool:
        """Whether both have a place of their own there, or a known thing stands to both alike."""
        known = found.entry.iri
        if found.distance_m is not None and self._relations.geometry_with(added, iri):
            return True
        return any(
            Triple(triple.subject, predicate, known) in self._store.match(triple.subject, predicate, known)
            for triple in added.match(None, None, iri)
            for predicate in (
                (triple.predicate, *INSIDE)
                if stated.meaning(triple.predicate) is Where.WITHIN
                else (triple.predicate,)
            )
        )

    def _link(self, batch: Batch, iri: NamedNode, entry: LabelEntry) -> None:
        """Replace the entity by the known one, whose label stays as it is."""
        batch.drop([t for t in batch.statements if t.subject == iri and t.predicate in MAIN_LABELS])

        def change(triple: Triple) -> Triple:
            subject = entry.iri if triple.subject == iri else triple.subject
            value = entry.iri if triple.object == iri else triple.object
            return Triple(subject, triple.predicate, value)

        batch.rename(change)
        batch.linked[iri] = entry

    def _ask(self, batch: Batch, iri: NamedNode, found: Sequence[SimilarName]) -> None:
        """Let all that the text says of an entity wait until a person says which one it is."""
        for triple in list(batch.statements):
            if iri not in (triple.subject, triple.object):
                continue
            for one in found[:_MOST_ASKED]:
                batch.refuse(
                    triple,
                    Violation(
                        focus=iri,
                        message=f"It may be {one.entry.label} <{one.entry.iri.value}>: the names are "
                        f"{one.similarity:.2f} alike. Choose which one the text means, or that it is a new "
                        "one.",
                        component=UKG.AmbiguousName,
                        path=triple.predicate.value,
                        value=one.entry.iri,
                    ),
                )

    def _queue(self, batch: Batch, iri: NamedNode, found: SimilarName, naming: frozenset[NamedNode]) -> None:
        name = next(t for t in batch.statements if t.subject == iri and t.predicate in naming)
        entry = found.entry
        far = "" if found.distance_m is None else f", {found.distance_m:.0f} m apart"
        violation = Violation(
            focus=iri,
            message=f"It may be {entry.label}: the names are {found.similarity:.2f} "
            f"alike{far}. Merge the two if they are one (POST /entities/merge).",
            component=UKG.PossibleDuplicate,
            path=name.predicate.value,
            value=entry.iri,
            severity=SH.Warning,
        )
        batch.refuse(name, violation)

    def _is_known(self, iri: Term) -> bool:
        return any(True for _ in self._store.match(iri, None, None))

    def _read_by(self, schema: Schema) -> tuple[frozenset[NamedNode], StatedPlaces]:
        """The properties for names and those for places, read again for another ontology."""
        if self._read is None or self._read[0] is not schema:
            naming = MAIN_LABELS | ALIASES | alias_properties(schema)
            self._read = (schema, naming, StatedPlaces.of(schema))
        return self._read[1:]


def _expected(iri: NamedNode, added: TripleIndex, schema: Schema) -> set[NamedNode]:
    """The classes that the domains and ranges of a batch's statements expect of a node."""
    found: set[NamedNode] = set()
    for end in ((iri, None), (None, iri)):
        for triple in added.match(end[0], None, end[1]):
            term = schema.properties.get(triple.predicate)
            if term is not None:
                found |= term.domains if triple.subject == iri else term.ranges
    return found
