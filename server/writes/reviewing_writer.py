"""What is added to clients' own changes: checks of places before the gate, and review items.

Review items are made for warnings, and for what a partial change left out. A change that is refused
completely leaves none: its client has the report. Extraction has its own record.

Statements about where things are are checked against the geometries where a policy asks for it. By default
none does, and a write costs a look at an empty set. The setting `geometry_conflict_writes` asks for all
properties that say where something is. An annotation (`ukg:onGeometryConflict`) in the ontology or the shapes
asks for one property and one source.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Protocol

from pyoxigraph import BlankNode, Literal, NamedNode, Quad

from server.rules.ruleset import Ruleset
from server.settings import Settings
from sparql.model.change import Change, Rejection, Statement, Verdict
from sparql.model.geometry import SLACK_M
from sparql.model.source import Overlay, TripleSource
from sparql.model.vocabulary import RDFS, SH, UKG
from sparql.writing.group import Outcome

if TYPE_CHECKING:
    from shapely.geometry.base import BaseGeometry

    from curation.place_conflicts import PlaceConflicts
    from curation.review.review_queue import ReviewQueue
    from sparql.provenance.records import Run


@dataclass(frozen=True)
class _Check:
    """The check of one source by one ruleset."""

    rules: Ruleset
    stated: PlaceConflicts | None
    """None where nothing is checked."""
    properties: frozenset[NamedNode]


class PlaceChecks:
    """Checks clients' changes before the gate does. `check` is called under the writer's lock."""

    def __init__(self, settings: Settings, store: TripleSource, rules: Callable[[], Ruleset]) -> None:
        self._settings = settings
        self._store = store
        self._rules = rules
        self._checks: dict[str, _Check] = {}

    def check(self, change: Change, source: str) -> Change:
        """The change, with statements that contradict geometries refused or doubted."""
        check = self._check_of(source)
        if check.stated is None:
            return change
        stated = [one for one in change.additions if one.triple.predicate in check.properties]
        if not stated:
            return change
        from sparql.spatial.relations import geometries_in

        after = Overlay(self._store, [one.triple for one in change.additions], change.removals)
        known: dict[NamedNode | BlankNode, tuple[BaseGeometry, ...]] = {}

        def geometries(node: NamedNode | BlankNode) -> tuple[BaseGeometry, ...]:
            if node not in known:
                known[node] = geometries_in(after, node)
            return known[node]

        tolerances = self._settings.tolerances

        def tolerance_of(node: NamedNode | BlankNode) -> float:
            own = tolerances.own(after, node)
            return tolerances.default_m if own is None else own

        found: list[Rejection] = []
        for statement in stated:
            finding = check.stated.look(statement.triple, geometries, tolerance_of)
            if finding is None or finding.agrees is not False or self._is_known(statement):
                continue
            violation = check.stated.contradiction(
                statement.triple, finding, lambda node: _name(node, after), says="The statement"
            )
            if violation.severity != SH.Info:
                found.append(Rejection(statement, (violation,)))
        refused = tuple(one for one in found if one.violations[0].blocking)
        out = {one.statement.triple for one in refused}
        return replace(
            change,
            additions=tuple(one for one in change.additions if one.triple not in out),
            refused=(*change.refused, *refused),
            doubts=(*change.doubts, *(one for one in found if one not in refused)),
        )

    def _is_known(self, statement: Statement) -> bool:
        return next(self._store.match(*statement.triple), None) is not None

    def _check_of(self, source: str) -> _Check:
        """The check of a source, made again when other rules are in force."""
        rules = self._rules()
        check = self._checks.get(source)
        if check is None or check.rules is not rules:
            if not self._checks_any(rules, source):
                check = self._checks[source] = _Check(rules, None, frozenset())
                return check
            # Imported here, with the geometry libraries: the server starts without them.
            from curation.place_conflicts import PlaceConflicts

            settings = self._settings
            stated = PlaceConflicts(
                rules.schema,
                policy=settings.geometry_conflict_writes,
                slack_m=SLACK_M,
                source=source,
                by_shapes=rules.gate.conflicts,
            )
            check = self._checks[source] = _Check(rules, stated, stated.judged)
        return check

    def _checks_any(self, rules: Ruleset, source: str) -> bool:
        """Whether the setting, the shapes or the ontology ask for any check of this source."""
        annotated = (triple.predicate == UKG.onGeometryConflict for triple in rules.schema.triples)
        wanted = self._settings.geometry_conflict_writes != "ignore"
        return wanted or bool(rules.gate.conflicts.get(source)) or any(annotated)


def _name(node: object, source: TripleSource) -> str:
    """The label of a node, else the end of its IRI."""
    if not isinstance(node, NamedNode):
        return str(node)
    labels = (triple.object for triple in source.match(node, RDFS.label, None))
    named = sorted(label.value for label in labels if isinstance(label, Literal))
    return named[0] if named else node.value.rstrip("/").replace("#", "/").rpartition("/")[2]


Versions = Callable[[], Mapping[NamedNode, str]]
"""The versions of ontology and shapes in force."""


class ChangeWriter(Protocol):
    """The methods of the writer that are needed here."""

    def commit_built(self, build: Callable[[], Change], *, settle: bool = True) -> Verdict:
        """Commit the change that ``build`` makes, called with the writer's lock held."""
        ...

    def commit_group(
        self,
        builds: Sequence[Callable[[], Change]],
        outcomes: list[Outcome],
        recorded: Callable[[Change], Change],
    ) -> None:
        """Commit what each makes, called with the lock held, and append each result to ``outcomes``.

        ``recorded`` adds the record to a change that may be refused or doubted.
        """
        ...

    def settle(self, revision: int) -> None:
        """Return when a revision may be acknowledged that was committed without that."""
        ...


Check = Callable[[Change, str], Change]


@dataclass(frozen=True)
class ReviewingWriter:
    """A writer whose changes include their review items; ``source`` names the interface they come from."""

    writer: ChangeWriter
    review: Callable[[], ReviewQueue]
    versions: Versions
    source: str
    check: Check = lambda change, source: change
    """Called with a change and its source before the gate, under the writer's lock."""

    def commit(self, change: Change) -> Verdict:
        """Judge a change and write what conforms."""
        return self.commit_built(lambda: change)

    def commit_built(self, build: Callable[[], Change], *, settle: bool = True) -> Verdict:
        """The same for a change that is built from the current graph."""
        return self.writer.commit_built(lambda: self._recorded(self._checked(build())), settle=settle)

    def commit_group(self, changes: Sequence[Change], outcomes: list[Outcome]) -> None:
        """The same for several changes, one after another, written together."""
        builds = [partial(self._checked, change) for change in changes]
        self.writer.commit_group(builds, outcomes, self._recorded)

    def settle(self, revision: int) -> None:
        """Return when a revision may be acknowledged that was committed without that."""
        self.writer.settle(revision)

    def _checked(self, change: Change) -> Change:
        return change if change.record is not None else self.check(change, self.source)

    def _recorded(self, change: Change) -> Change:
        if change.record is not None:
            return change
        record = _Record(change.partial, self.review, self.versions, self.source)
        return change.recorded(record, record.retract, self.source)


class _Record:
    """The run and the items of one change, if it leaves any."""

    def __init__(
        self, partial: bool, review: Callable[[], ReviewQueue], versions: Versions, source: str
    ) -> None:
        self._partial = partial
        self._review = review
        self._versions = versions
        self._source = source
        self._run: Run | None = None

    def __call__(self, verdict: Verdict) -> Collection[Quad]:
        if not self._leaves_items(verdict):
            return ()
        # Imported with the first item: few changes leave one.
        from sparql.provenance.records import run_quads

        return [*run_quads(self._of_run()), *self._review().record(verdict, self._of_run(), {})]

    def retract(self, verdict: Verdict) -> Collection[Quad]:
        """What the items replace."""
        return [*self._review().outdated(verdict, self._of_run())] if self._leaves_items(verdict) else ()

    def _leaves_items(self, verdict: Verdict) -> bool:
        return bool(verdict.rejected and self._partial) or bool(verdict.warnings and verdict.conforms)

    def _of_run(self) -> Run:
        if self._run is None:
            from sparql.provenance.records import Run

            now = datetime.now(UTC)
            self._run = Run(uuid.uuid4().hex, now, now, source=self._source, facts=self._versions())
        return self._run
