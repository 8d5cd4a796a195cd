"""Gives new places of a text the geometry that a geocoder knows, where only one place can be meant."""

from collections.abc import Sequence

from pyoxigraph import BlankNode, Literal, NamedNode, Triple
from shapely.geometry.base import BaseGeometry

from extractors.grounding.geocoder import Geocoder, PlaceContext, PlaceFound, choose
from ontology import Schema
from server.intake.batch import Batch
from sparql.ask.places import StatedPlaces, Where
from sparql.model.change import Statement, Violation
from sparql.model.geometry import SLACK_M
from sparql.model.source import TripleIndex
from sparql.model.vocabulary import GEO, RDF, SH, UKG, Namespace
from sparql.names.label_state import MAIN_LABELS
from sparql.provenance.records import Support
from sparql.spatial.relations import SpatialRelations

_SF = Namespace("http://www.opengis.net/ont/sf#")
_LISTED = 5


class GeocodingAssessor:
    """Asks the geocoders in order for each new place of a batch; the first that knows the name decides.

    A geometry becomes part of the batch and is judged with it; its provenance names the source. A name that
    several places have is accepted and queued, with the places. An unknown name is left as it is.
    """

    def __init__(self, relations: SpatialRelations, geocoders: Sequence[Geocoder]) -> None:
        self._relations = relations
        self._geocoders = tuple(geocoders)
        self._read: tuple[Schema, StatedPlaces] | None = None

    def prepare(self, batch: Batch, schema: Schema) -> None:
        """Does nothing: whether a place is new is known only under the writer's lock."""

    def assess(self, batch: Batch, schema: Schema) -> None:
        """Add geometries to the batch, and doubt names that several places have."""
        stated = self._read_by(schema)
        added = batch.added
        for iri in sorted(batch.minted - batch.linked.keys(), key=lambda node: node.value):
            named = [
                triple
                for triple in added.match(iri, None, None)
                if triple.predicate in MAIN_LABELS
                and isinstance(triple.object, Literal)
                and triple not in batch.refused
            ]
            classes = self._classes(iri, batch, added)
            if not named or not self._is_place(classes, stated, schema) or self._is_located(iri, added):
                continue
            context = PlaceContext(classes, self._regions(iri, batch, added, stated))
            found = self._found(named[0], context, schema)
            if len(found) == 1:
                self._locate(batch, iri, named[0], found[0])
            elif found:
                batch.refuse(named[0], _ambiguous(iri, named[0], found))

    def _found(self, name: Triple, context: PlaceContext, schema: Schema) -> list[PlaceFound]:
        assert isinstance(name.object, Literal)
        for geocoder in self._geocoders:
            found = choose(geocoder.locate(name.object.value), context, schema, slack_m=SLACK_M)
            if found:
                return found
        return []

    def _classes(self, iri: NamedNode, batch: Batch, added: TripleIndex) -> frozenset[NamedNode]:
        """The classes that the batch states, or that follow from it; not one that was only assumed."""
        return frozenset(
            triple.object
            for triple in added.match(iri, RDF.type, None)
            if isinstance(triple.object, NamedNode)
            and triple not in batch.refused
            and all(one.component != UKG.AssumedKind for one in batch.doubts.get(triple, ()))
        )

    def _is_place(self, classes: frozenset[NamedNode], stated: StatedPlaces, schema: Schema) -> bool:
        """Whether it is known to be something that has a geometry."""
        return any(not schema.superclasses(class_).isdisjoint(stated.shaped) for class_ in classes)

    def _is_located(self, iri: NamedNode, added: TripleIndex) -> bool:
        return bool(self._relations.geometry_with(added, iri))

    def _regions(
        self, iri: NamedNode, batch: Batch, added: TripleIndex, stated: StatedPlaces
    ) -> tuple[BaseGeometry, ...]:
        """The regions with a known geometry in which the text locates the place."""
        return tuple(
            shape
            for triple in added.match(iri, None, None)
            if stated.meaning(triple.predicate) is Where.WITHIN
            and triple not in batch.refused
            and isinstance(triple.object, NamedNode | BlankNode)
            for shape in self._relations.geometry_with(added, triple.object)
        )

    def _locate(self, batch: Batch, iri: NamedNode, name: Triple, place: PlaceFound) -> None:
        node = NamedNode(f"{iri.value}/geometry")
        quoted = batch.supports.get(name, Support())
        said = quoted.confidence if quoted.confidence is not None else 1.0
        confidence = min(said, place.confidence)
        support = Support(
            quoted.start, quoted.end, quoted.quote, confidence=confidence, geocoded=place.source
        )
        for triple in (
            Triple(iri, GEO.hasGeometry, node),
            Triple(iri, GEO.hasDefaultGeometry, node),
            Triple(node, RDF.type, GEO.Geometry),
            Triple(node, RDF.type, _SF.term(place.shape.geom_type)),
            Triple(node, GEO.asWKT, place.geometry),
        ):
            batch.statements[triple] = Statement(triple, confidence)
            batch.supports[triple] = support

    def _read_by(self, schema: Schema) -> StatedPlaces:
        if self._read is None or self._read[0] is not schema:
            self._read = (schema, StatedPlaces.of(schema))
        return self._read[1]


def _ambiguous(iri: NamedNode, name: Triple, found: Sequence[PlaceFound]) -> Violation:
    places = "; ".join(f"{one.source} at {_spot(one)}" for one in found[:_LISTED])
    more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
    assert isinstance(name.object, Literal)
    return Violation(
        focus=iri,
        message=f"{len(found)} places are called {name.object.value}: {places}{more}. Its location is "
        "unknown: state its geometry, or the region in which it lies.",
        component=UKG.AmbiguousPlace,
        path=name.predicate.value,
        severity=SH.Warning,
    )


def _spot(place: PlaceFound) -> str:
    point = place.shape.representative_point()
    return f"{point.y:.4f}, {point.x:.4f}"
