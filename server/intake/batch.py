"""Statements on their way to the gate, and what looks at them before it does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from curation.proposal import Use
from curation.review import ReviewQueue
from extractors.grounding.linking import LabelEntry
from ontology import Schema
from server.runtime.settings import Settings
from sparql.model.change import Rejection, Statement, Violation
from sparql.model.source import TripleIndex
from sparql.model.vocabulary import RDFS, SH
from sparql.provenance.records import Support

if TYPE_CHECKING:
    from shapely.geometry.base import BaseGeometry

    from curation.place_conflicts import PlaceConflicts
    from sparql.names.labels import LabelIndex
    from sparql.spatial.relations import SpatialRelations

Conflicts = Callable[[], Mapping[str, Mapping[NamedNode, NamedNode]]]
"""What the shapes in force say of contradictions by geometry, by way and property."""


@dataclass
class Batch:
    """Statements with their support, and what was wrong with them before any shape was asked.

    `refused` stay out; `doubts` are warnings, told of those that come in. `minted` are new entities that
    extraction named; `linked` tells which of them turned out to be an entity of the graph. `similar` holds
    known names like the new ones, with their similarity. `uses` are words that the ontology does not know.
    """

    statements: dict[Triple, Statement] = field(default_factory=dict)
    supports: dict[Triple, Support] = field(default_factory=dict)
    refused: dict[Triple, tuple[Violation, ...]] = field(default_factory=dict)
    doubts: dict[Triple, tuple[Violation, ...]] = field(default_factory=dict)
    minted: frozenset[NamedNode] = frozenset()
    linked: dict[NamedNode, LabelEntry] = field(default_factory=dict)
    similar: dict[str, Sequence[tuple[LabelEntry, float]]] = field(default_factory=dict)
    uses: dict[Triple, Use] = field(default_factory=dict)
    _index: TripleIndex | None = field(default=None, repr=False, compare=False)

    @property
    def added(self) -> TripleIndex:
        """The statements by their parts. None ever goes but by `rename`."""
        if self._index is None or len(self._index) != len(self.statements):
            self._index = TripleIndex(self.statements)
        return self._index

    def refuse(self, triple: Triple, violation: Violation) -> None:
        """Keep a statement out, or only doubt it where the violation is but a warning."""
        held = self.refused if violation.blocking else self.doubts
        held[triple] = (*held.get(triple, ()), violation)

    def rename(self, change: Callable[[Triple], Triple]) -> None:
        """Put other triples in the place of those that `change` changes."""
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
    """Looks at a batch before the gate does, and notes in it what it finds."""

    def prepare(self, batch: Batch, schema: Schema) -> None:
        """What takes long and needs no lock: done while others write."""
        ...

    def assess(self, batch: Batch, schema: Schema) -> None:
        """Called under the writer's lock, with the ontology in force."""
        ...


class GeometryAssessor:
    """Compares what a batch says of where things are with their geometries."""

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
        """Nothing: the geometries are read as they are when the batch is judged."""

    def assess(self, batch: Batch, schema: Schema) -> None:
        """Note agreement in the supports, contradiction among the refused or the doubts."""
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
        """What the ontology's properties say of place; read anew when the ontology was edited."""
        # Imported here, with the geometry libraries: the server starts without.
        from curation.place_conflicts import PlaceConflicts

        if self._checks is None or self._checks[0] is not schema:
            check = PlaceConflicts(
                schema,
                policy=self._settings.geometry_conflict,
                slack_m=self._settings.geometry_slack_m,
                by_shapes=self._conflicts(),
            )
            self._checks = (schema, check)
        return self._checks[1]


def name_of(node: object, added: TripleIndex, labels: LabelIndex) -> str:
    """What a batch or the graph calls a node, else the end of its IRI."""
    if not isinstance(node, NamedNode):
        return str(node)
    for triple in added.match(node, RDFS.label, None):
        if isinstance(triple.object, Literal):
            return triple.object.value
    entries = labels.entries_of(node)
    return entries[0].label if entries else node.value.rstrip("/").replace("#", "/").rpartition("/")[2]
