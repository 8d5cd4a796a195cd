"""What people, texts and jobs do with the graph: each is made, and imported, when it is first asked for.

Neither a query nor a plain update needs any of it, and a start does not wait for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pyoxigraph import NamedNode

from server.rules.rule_registry import RuleRegistry
from server.runtime.settings import Settings
from sparql.model.triple_store import TripleStore
from sparql.writing.writer import Writer

if TYPE_CHECKING:
    from curation.decisions import Decisions
    from curation.documents import Documents
    from curation.merging import Merging
    from curation.proposals import Proposals
    from curation.review import ReviewQueue
    from extractors.models.chat import ChatModel
    from extractors.models.metering import MeteredModel
    from server.intake.held_judge import Holding
    from server.intake.intake import Intake
    from server.jobs.store import JobStore
    from server.jobs.worker import JobWorker
    from server.runtime.metrics import Metrics


@dataclass
class Desks:
    """The desks of one server; `intake` and `obstacle` are those of its engines, which they wait for."""

    settings: Settings
    rule_registry: RuleRegistry
    store: TripleStore
    writer: Writer
    metrics: Metrics
    given_model: ChatModel | None
    intake: Callable[[], Intake]
    obstacle: Callable[[NamedNode, NamedNode], str | None]

    @cached_property
    def review(self) -> ReviewQueue:
        """The review queue."""
        from curation.review import ReviewQueue

        return ReviewQueue(self.store)

    @cached_property
    def proposals(self) -> Proposals:
        """The words that the ontology does not have."""
        from curation.proposals import Proposals

        return Proposals(self.store, self.writer)

    @cached_property
    def decisions(self) -> Decisions:
        """What people decide on review items."""
        from curation.decisions import Decisions

        return Decisions(
            self.store,
            self.writer,
            self.review,
            schema=lambda: self.rule_registry.current.schema,
            shapes_version=lambda: self.rule_registry.current.gate.version,
        )

    @cached_property
    def documents(self) -> Documents:
        """The texts that statements come from."""
        from curation.documents import Documents

        return Documents(self.store, self.writer, self.review)

    @cached_property
    def merging(self) -> Merging:
        """Two entities made one, and two again."""
        from curation.merging import Merging

        return Merging(self.store, self.writer, self.review, obstacle=self.obstacle)

    @cached_property
    def holding(self) -> Holding:
        """Batches that wait to be judged."""
        from server.intake.held_judge import Holding

        return Holding(self.store, self.writer, self.intake, lambda: self.rule_registry.current)

    @cached_property
    def model(self) -> MeteredModel:
        """The language model."""
        from server.intake.language_model import language_model

        return language_model(self.settings, self.metrics, self.given_model)

    @cached_property
    def jobs(self) -> JobStore:
        """The jobs of the folder. Raises `StateUnreadable`."""
        from server.jobs.store import JobStore

        return JobStore(self.settings.data)

    @cached_property
    def job_worker(self) -> JobWorker:
        """What works on them. Raises `StateUnreadable`."""
        from server.jobs.opening import worker_of

        return worker_of(
            self.settings,
            self.jobs,
            self.store,
            self.model,
            self.intake,
            schema=lambda: self.rule_registry.current.schema,
            settled=lambda state: self.metrics.job_documents.labels(state).inc(),
        )

    async def close(self) -> None:
        """Let go of what was asked for."""
        made = vars(self)
        if "model" in made:
            await self.model.close()
        if "jobs" in made:
            self.jobs.close()
