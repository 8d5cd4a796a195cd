"""Adds review items to clients' own changes: for warnings, and for what a partial change left out.

A change that is refused completely leaves none: its client has the report. Extraction has its own record.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Protocol

from pyoxigraph import NamedNode, Quad

from sparql.model.change import Change, Verdict
from sparql.writing.group import Outcome

if TYPE_CHECKING:
    from curation.review.review_queue import ReviewQueue
    from sparql.provenance.records import Run

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
