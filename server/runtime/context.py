"""One object that holds everything a running server needs, and starts and ends it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Self

from ontology import Schema
from server.http.access.admission import Admission
from server.http.access.clients import Clients
from server.http.access.guard import Guard
from server.http.access.keys import KeyStore
from server.rules.checking import Reasoner
from server.rules.rule_registry import RuleRegistry
from server.rules.ruleset import Ruleset
from server.runtime.background import Background
from server.runtime.lazy_services import Desks
from server.runtime.logs import AnswerLog
from server.runtime.request_logging import Draining
from server.runtime.settings import Settings
from server.runtime.startup import Engines, Opening
from server.writes.place_checks import WrittenPlaces
from server.writes.reviewing_writer import QueueingWriter
from server.writes.updating import Updates
from shapes.time_limit import TimeLimit
from sparql.model.triple_store import TripleStore
from sparql.storage.change_log import ChangeLog
from sparql.storage.embedded_store import EmbeddedStore
from sparql.workers.protocol import QueryReaders
from sparql.writing.writer import Writer

if TYPE_CHECKING:
    from curation.decisions import Decisions
    from curation.documents import Documents
    from curation.merging import Merging
    from curation.proposals import Proposals
    from curation.review import ReviewQueue
    from extractors.models.metering import MeteredModel
    from server.intake.held_judge import Holding
    from server.intake.intake import Intake
    from server.jobs.store import JobStore
    from server.jobs.worker import JobWorker
    from server.runtime.metrics import Metrics
    from shapes.gate.gate import ShapesGate
    from sparql.ask.service import Asker
    from sparql.names.labels import LabelIndex
    from sparql.rewriting.rewriter import Rewriter
    from sparql.spatial.relations import SpatialRelations


_LAST_JUDGEMENTS_S = 2.0


@dataclass
class Services:
    """Everything a running server holds. Use `async with`: it starts and stops the readers.

    Queries can be answered as soon as the readers run. What judges, derives, extracts and answers questions
    (the `engines`) is opened beside that; who needs it waits.
    """

    settings: Settings
    rule_registry: RuleRegistry
    store: TripleStore
    writer: Writer
    desks: Desks
    readers: QueryReaders
    rewriter: Rewriter
    updates: Updates
    metrics: Metrics
    draining: Draining
    answers: AnswerLog
    changes: ChangeLog
    keys: KeyStore
    guard: Guard
    clients: Clients
    admission: Admission
    opening: Opening
    background: Background
    written_places: WrittenPlaces
    judging_limit: TimeLimit
    """How long one judgement by the shapes may take."""
    judges_held: bool = True
    """Whether what was held before is judged as soon as it can be, beside requests."""

    @property
    def engines(self) -> Engines:
        """The engines, once they are open: blocks until then. On the event loop await `opened` before."""
        self.opening.start()
        return self.opening.engines.result()

    @property
    def review(self) -> ReviewQueue:
        """The review queue."""
        return self.desks.review

    @property
    def proposals(self) -> Proposals:
        """The words that the ontology does not have."""
        return self.desks.proposals

    @property
    def decisions(self) -> Decisions:
        """What people decide on review items."""
        return self.desks.decisions

    @property
    def documents(self) -> Documents:
        """The texts that statements come from."""
        return self.desks.documents

    @property
    def merging(self) -> Merging:
        """Two entities made one, and two again."""
        return self.desks.merging

    @property
    def holding(self) -> Holding:
        """Batches that wait to be judged."""
        return self.desks.holding

    @property
    def model(self) -> MeteredModel:
        """The language model."""
        return self.desks.model

    @property
    def jobs(self) -> JobStore:
        """The jobs of the folder."""
        return self.desks.jobs

    @property
    def job_worker(self) -> JobWorker:
        """What works on them."""
        return self.desks.job_worker

    @property
    def is_open(self) -> bool:
        """Whether the engines are open."""
        return self.opening.engines.done()

    @property
    def schema(self) -> Schema:
        """The ontology in force."""
        return self.rule_registry.schema

    @property
    def gate(self) -> ShapesGate:
        """The gate in force, once it is open: blocks until then."""
        self.opening.start()
        self.opening.judging.result()
        return self.rule_registry.current.gate

    @property
    def relations(self) -> SpatialRelations:
        """The deriver of RCC8, with the index of all geometries."""
        return self.engines.relations

    @property
    def labels(self) -> LabelIndex:
        """The index of names."""
        return self.engines.labels

    @property
    def intake(self) -> Intake:
        """Where candidates come in."""
        return self.engines.intake

    @property
    def asker(self) -> Asker:
        """What answers questions."""
        return self.engines.asker

    def writer_for(self, source: str) -> QueueingWriter:
        """The writer for changes that come by this way; their refused parts and warnings go to review."""
        versions = lambda: self.rule_registry.current.versions  # noqa: E731
        return QueueingWriter(self.writer, lambda: self.review, versions, source, self.written_places.look)

    def use(self, rules: Ruleset) -> None:
        """Put rules in force between two writes; requests under way go on with those they began with."""
        moment = datetime.now(UTC).isoformat()
        set_up(rules.gate, self.settings, self.judging_limit)

        def switch() -> None:
            self.writer.gate = rules.gate
            self.rule_registry.current = rules
            self.engines.use(rules.schema, self.opening.parts)

        self.writer.replace_ontology(
            rules.schema.triples, record=lambda revision: rules.record(revision, moment), then=switch
        )
        if self.writer.inferring == "stale":
            # Too much follows from the edit for it to wait.
            self.background.start("infer anew", self.writer.infer_anew)

    def reason_after(self, before: Ruleset, after: Ruleset) -> None:
        """After an edit of the ontology, let the reasoner look at it beside requests."""
        reasoner, background = Reasoner(self.settings.reasoner), self.background
        if reasoner is not Reasoner.NONE and before.schema.version != after.schema.version:
            background.start(
                f"reason over ontology {after.schema.version}",
                lambda: self.rule_registry.reason(after, reasoner, lambda: background.closing),
            )

    def judge_held(self) -> None:
        """Judge beside requests what is held, since too much depends on it."""
        holding, background = self.holding, self.background
        background.start("judge held batches", lambda: holding.judge_waiting(lambda: background.closing))

    async def opened(self) -> None:
        """Return when the engines are open. Raises what kept them from it."""
        if not self.is_open or self.opening.engines.exception() is not None:
            await asyncio.wrap_future(self.opening.engines)

    async def start(self, *, gives_way: bool = True) -> None:
        """Begin to open the engines, and start the readers. Without `gives_way` the engines go first."""
        if isinstance(self.store, EmbeddedStore):
            # Queries to another store are not rewritten: it has functions and indexes of its own.
            self.opening.engines.add_done_callback(lambda opened: self.rewriter.warm())
        self.opening.engines.add_done_callback(
            lambda opened: self.judge_held() if self.judges_held and opened.exception() is None else None
        )
        self.opening.start(gives_way=gives_way)
        try:
            await self.readers.start()
        except BaseException:
            self.writer.abandon()
            raise

    async def __aenter__(self) -> Self:
        await self.start(gives_way=False)
        try:
            await self.opened()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    def leave(self) -> None:
        """Give up what may take long: the server ends. Changes that are being judged get a moment more."""
        self.judging_limit.close(_LAST_JUDGEMENTS_S)
        self.rule_registry.close()
        self.background.close()

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[Self]:
        """Open what judges changes, without readers and indexes, for a command that only writes."""
        try:
            await asyncio.to_thread(self.opening.judge)
            yield self
        finally:
            await self.close()

    async def close(self) -> None:
        """Finish what is under way and let go of everything."""
        self.leave()
        # An update under way may still need a reader, so the writer ends first.
        await asyncio.to_thread(self.writer.close)
        self.updates.close()
        await self.readers.close()
        self.rewriter.close()
        await self.desks.close()
        self.store.close()
        self.keys.close()
        self.answers.write()


def set_up(gate: ShapesGate, settings: Settings, limit: TimeLimit) -> None:
    """Let a gate judge as the settings say, each change within the limit."""
    gate.use(
        settings.shacl_engine,
        inferring=settings.infers,
        fan_in=settings.fan_in,
        fan_in_full=settings.fan_in_full,
        limit=limit,
    )
