"""A batch of statements for the gate, and the assessors that examine it first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from curation.proposals import TermKind, Use
from curation.review.review_queue import ReviewQueue
from extractors.grounding.linking import LabelEntry
from ontology import Schema
from ontology.labels import local_name, split_camel_case
from server.settings import Settings
from sparql.model.change import Rejection, Statement, Violation
from sparql.model.geometry import SLACK_M
from sparql.model.source import TripleIndex
from sparql.model.vocabulary import RDF, RDFS, SH
from sparql.provenance.records import Document, Support

if TYPE_CHECKING:
    from shapely.geometry.base import BaseGeometry

    from curation.place_conflicts import PlaceConflicts
    from sparql.names.labels import LabelIndex
    from sparql.spatial.relations import SpatialRelations


Conflicts = Callable[[], Mapping[str, Mapping[NamedNode, NamedNode]]]
"""The policies of the shapes in force for contradictions by geometry, by source and property."""


@dataclass
class Batch:
    """Statements with their support, and the problems found before any shape was evaluated.

    `refused` are left out; `doubts` are warnings on accepted statements. `minted` are new entities that
    extraction named; `linked` are those of them that turned out to be an entity of the graph. `similar` holds
    known names like the new ones, with their similarity. `uses` are terms that the ontology does not have.
    `replaces` are pairs of a statement and a less exact one of the graph, whose place it takes.
    """

    statements: dict[Triple, Statement] = field(default_factory=dict)
    supports: dict[Triple, Support] = field(default_factory=dict)
    refused: dict[Triple, tuple[Violation, ...]] = field(default_factory=dict)
    doubts: dict[Triple, tuple[Violation, ...]] = field(default_factory=dict)
    minted: frozenset[NamedNode] = frozenset()
    linked: dict[NamedNode, LabelEntry] = field(default_factory=dict)
    similar: dict[str, Sequence[tuple[LabelEntry, float]]] = field(default_factory=dict)
    uses: dict[Triple, Use] = field(default_factory=dict)
    replaces: set[tuple[Triple, Triple]] = field(default_factory=set)
    _index: TripleIndex | None = field(default=None, repr=False, compare=False)

    @property
    def added(self) -> TripleIndex:
        """The statements by their parts. Only `rename` and `drop` remove any."""
        if self._index is None or len(self._index) != len(self.statements):
            self._index = TripleIndex(self.statements)
        return self._index

    def refuse(self, triple: Triple, violation: Violation) -> None:
        """Refuse a statement, or only doubt it where the violation is a warning."""
        held = self.refused if violation.blocking else self.doubts
        held[triple] = (*held.get(triple, ()), violation)

    def drop(self, triples: Collection[Triple]) -> None:
        """Leave statements out, which the graph says in other words already."""
        self._index = None
        for held in (self.statements, self.supports, self.refused, self.doubts, self.uses):
            for triple in triples:
                held.pop(triple, None)

    def rename(self, change: Callable[[Triple], Triple]) -> None:
        """Replace the triples that `change` changes."""
        self._index = None
        self.statements = {
            (new := change(triple)): replace(one, triple=new) for triple, one in self.statements.items()
        }
        for held in (self.supports, self.refused, self.doubts):
            renamed = {change(triple): value for triple, value in held.items()}
            held.clear()
            held.update(renamed)  # type: ignore[arg-type]
        self.uses = {(new := change(triple)): replace(use, triple=new) for triple, use in self.uses.items()}

    def rejections(self, found: dict[Triple, tuple[Violation, ...]]) -> tuple[Rejection, ...]:
        """Statements with their reasons, as a change takes them."""
        return tuple(Rejection(self.statements[triple], reasons) for triple, reasons in found.items())


class Assessor(Protocol):
    """Examines a batch before the gate does, and records in it what it finds."""

    def prepare(self, batch: Batch, schema: Schema) -> None:
        """Do what takes long and needs no lock, while others write."""
        ...

    def assess(self, batch: Batch, schema: Schema) -> None:
        """Called under the writer's lock, with the ontology in force."""
        ...


class GeometryAssessor:
    """Compares a batch's statements about where things are with their geometries."""

    def __init__(
        self,
        settings: Settings,
        relations: SpatialRelations,
        labels: LabelIndex,
        review: ReviewQueue,
        conflicts: Conflicts = dict,
    ) -> None:
        self._conflicts = conflicts
        self._settings = settings
        self._relations = relations
        self._labels = labels
        self._review = review
        self._checks: tuple[Schema, PlaceConflicts] | None = None

    def prepare(self, batch: Batch, schema: Schema) -> None:
        """Does nothing: the geometries are read when the batch is judged."""

    def assess(self, batch: Batch, schema: Schema) -> None:
        """Record agreement in the supports, and contradiction as refused or doubted."""
        check = self._check_by(schema)
        added = batch.added
        known: dict[NamedNode | BlankNode, tuple[BaseGeometry, ...]] = {}

        def geometries(node: NamedNode | BlankNode) -> tuple[BaseGeometry, ...]:
            if node not in known:
                known[node] = self._relations.geometry_with(added, node)
            return known[node]

        for triple, statement in list(batch.statements.items()):
            if triple in batch.refused:
                continue
            finding = check.look(triple, geometries, lambda node: self._relations.tolerance_with(added, node))
            if finding is None:
                continue
            support = finding.supports(batch.supports.get(triple, Support()))
            batch.supports[triple] = support
            batch.statements[triple] = replace(statement, confidence=support.confidence)
            if finding.agrees is False and not self._review.is_stated(triple):
                violation = check.contradiction(
                    triple, finding, lambda node: name_of(node, added, self._labels)
                )
                if violation.severity != SH.Info:
                    batch.refuse(triple, violation)

    def _check_by(self, schema: Schema) -> PlaceConflicts:
        """The check by the ontology's spatial properties, made again when the ontology was edited."""
        # Imported here, with the geometry libraries: the server starts without them.
        from curation.place_conflicts import PlaceConflicts

        if self._checks is None or self._checks[0] is not schema:
            check = PlaceConflicts(
                schema,
                policy=self._settings.geometry_conflict,
                slack_m=SLACK_M,
                by_shapes=self._conflicts(),
            )
            self._checks = (schema, check)
        return self._checks[1]


def name_of(node: object, added: TripleIndex, labels: LabelIndex) -> str:
    """The label of a node in a batch or the graph, else the end of its IRI."""
    if not isinstance(node, NamedNode):
        return str(node)
    for triple in added.match(node, RDFS.label, None):
        if isinstance(triple.object, Literal):
            return triple.object.value
    entries = labels.entries_of(node)
    return entries[0].label if entries else node.value.rstrip("/").replace("#", "/").rpartition("/")[2]


@dataclass(frozen=True)
class Submission:
    """Statements of one text or one client; `names` are a text's words for entities of the graph."""

    identifier: str
    batch: Batch
    started: datetime
    facts: Mapping[NamedNode, str] = field(default_factory=dict)
    document: Document | None = None
    source: str | None = None
    names: Mapping[NamedNode, Mapping[str, Support]] = field(default_factory=dict)

    def fresh(self) -> Submission:
        """A copy with its own batch, since assessors change a batch."""
        batch = self.batch
        return replace(
            self,
            batch=Batch(
                statements=dict(batch.statements),
                supports=dict(batch.supports),
                refused=dict(batch.refused),
                doubts=dict(batch.doubts),
                minted=batch.minted,
                uses=dict(batch.uses),
            ),
        )


def use_of(triple: Triple, statements: Iterable[Triple], schema: Schema) -> Use:
    """How a statement uses its term that the ontology does not have, by the other statements of its batch."""
    about: dict[object, set[NamedNode]] = {}
    names: dict[object, str] = {}
    for one in statements:
        if one.predicate == RDF.type and isinstance(one.object, NamedNode) and one.object in schema.classes:
            about.setdefault(one.subject, set()).add(one.object)
        elif one.predicate == RDFS.label and isinstance(one.object, Literal):
            names[one.subject] = one.object.value
    is_type = triple.predicate == RDF.type
    term = triple.object if is_type else triple.predicate
    assert isinstance(term, NamedNode)
    value = triple.object
    return Use(
        TermKind.CLASS if is_type else TermKind.PROPERTY,
        split_camel_case(local_name(term.value)) or term.value,
        triple,
        _sorted(about.get(triple.subject, ())),
        () if is_type else _sorted(about.get(value, ())),
        value.datatype if isinstance(value, Literal) else None,
        names.get(triple.subject, ""),
        "" if is_type else names.get(value, value.value if isinstance(value, Literal) else ""),
    )


def _sorted(nodes: Iterable[NamedNode]) -> tuple[NamedNode, ...]:
    return tuple(sorted(nodes, key=lambda node: node.value))
