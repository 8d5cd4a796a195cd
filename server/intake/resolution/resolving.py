"""Decides whether a new entity of a text is a known one: links it, queues it, or leaves it new."""

from collections.abc import Sequence

from pyoxigraph import BlankNode, Literal, NamedNode, Triple
from shapely.geometry.base import BaseGeometry

from extractors.grounding.linking import LabelEntry
from extractors.grounding.name_similarity import are_distinct
from ontology import Schema
from server.intake.batch import Batch
from server.intake.resolution.regions import INSIDE
from server.runtime.settings import Settings
from sparql.ask.places import StatedPlaces, Where
from sparql.model.change import Violation
from sparql.model.source import Overlay, Term, TripleIndex
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import RDF, RDFS, SH, SKOS, UKG
from sparql.names.label_state import ALIASES, MAIN_LABELS
from sparql.names.labels import LabelIndex, alias_properties
from sparql.names.resolution import Resolver, SimilarName, representative
from sparql.spatial.relations import SpatialRelations

_SEARCHED = 20
_MOST_NAMES = 500


class ResolutionAssessor:
    """Resolves the new entities of a batch by the thresholds of the settings.

    An entity that extraction named is linked when it is certainly a known one; its name becomes an alias. A
    name that may be a misspelled one is so only where something known confirms it: both have a place of their
    own there, or the text says of a known thing what the graph says of it and the known one. Names that are
    only similar are queued, as are those of entities that clients named. A batch has at most some hundred
    names resolved; the others stay new: whole data sets are loaded, not extracted.
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
            sure = [
                one
                for one in found
                if one.score >= self._settings.link_threshold
                and (one.sure or (one.slip and self._is_confirmed(iri, one, added, stated)))
            ]
            if iri in batch.minted and len({representative(self._store, one.entry.iri) for one in sure}) == 1:
                self._link(batch, iri, sure[0].entry)
                added = batch.added
            elif found and found[0].score >= self._settings.duplicate_threshold:
                self._queue(batch, iri, found[0], naming)

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
        resolver = Resolver(known, places, near_m=self._settings.resolution_distance_m)
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
        """Replace the entity by the known one; a name that it does not have yet becomes an alias."""

        def change(triple: Triple) -> Triple:
            subject = entry.iri if triple.subject == iri else triple.subject
            value = entry.iri if triple.object == iri else triple.object
            is_label = triple.subject == iri and triple.predicate == RDFS.label
            has_label = Triple(subject, RDFS.label, value) in self._store.match(subject, RDFS.label, value)
            return Triple(subject, SKOS.altLabel if is_label and not has_label else triple.predicate, value)

        batch.rename(change)
        batch.linked[iri] = entry

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
