"""What a running server holds, and its start and end. `wiring.build` fills it.

Nothing of the server is imported here at run time, and for types only what does not use this object.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    from curation.deciding.decisions import Decisions
    from curation.documents import Documents
    from curation.merging.merging import Merging
    from curation.proposals import Proposals
    from curation.review.review_queue import ReviewQueue
    from extractors.models.accounting import MeteredModel
    from ontology import Schema
    from server.background import Background
    from server.gaps.storage import GapQueue, Passages
    from server.http.access.admission import Admission
    from server.http.access.clients import Clients
    from server.http.access.guard import Guard
    from server.http.access.keys import KeyStore
    from server.http.request_logging import Draining
    from server.intake.intake import Intake
    from server.jobs.store import JobStore
    from server.jobs.worker import JobWorker
    from server.monitoring.logs import AnswerLog
    from server.monitoring.metrics import Metrics
    from server.monitoring.slow_queries import SlowQueries
    from server.monitoring.verdict_history import VerdictHistory
    from server.rules.rule_registry import RuleRegistry
    from server.runtime.asking import AskingThread, ThreadedAsker
    from server.settings import Settings
    from server.writes.reviewing_writer import PlaceChecks, ReviewingWriter
    from server.writes.updating import Updates
    from shapes.gate.gate import ShapesGate
    from shapes.time_limit import TimeLimit
    from sparql.model.triple_store import TripleStore
    from sparql.names.labels import LabelIndex
    from sparql.rewriting.rewriter import Rewriter
    from sparql.spatial.relations import SpatialRelations
    from sparql.storage.change_log import ChangeLog
    from sparql.workers.query import QueryService
    from sparql.writing.writer import Writer


_LAST_JUDGMENTS_S = 2.0
_LAST_READS_S = 2.0


@dataclass
class StartedServices:
    """The indexes beside the graph, and what extracts and answers with them."""

    relations: SpatialRelations
    labels: LabelIndex
    intake: Intake
    asker: ThreadedAsker


class Startup(Protocol):
    """Opens, on a thread, what takes long: first what judges changes, then the started services."""

    judging: Future[None]
    """Done when changes are judged."""
    started: Future[StartedServices]
    begun: bool
    """Whether anything is opened or was."""

    def start(self, *, yields: bool = False) -> None:
        """Begin, unless that has happened."""
        ...

    def judge(self) -> None:
        """Open what judges changes and nothing else; blocks."""
        ...

    def wait_until_idle(self, timeout_s: float) -> None:
        """Return when nothing is being opened any more, or after the timeout."""
        ...


@dataclass(kw_only=True, repr=False, eq=False)
class Services:
    """Everything a running server holds. Use `async with`: it starts and stops the readers.

    Queries can be answered as soon as the readers run. What judges, derives, extracts and answers questions
    is opened in the background by `startup`; the attributes that need it block until it is open.
    """

    settings: Settings
    rule_registry: RuleRegistry
    store: TripleStore
    writer: Writer
    writer_for: Callable[[str], ReviewingWriter]
    """The writer for changes from this source; their refused parts and warnings go to review."""
    readers: QueryService
    rewriter: Rewriter
    updates: Updates
    metrics: Metrics
    verdict_history: VerdictHistory
    slow_queries: SlowQueries
    draining: Draining
    answers: AnswerLog
    changes: ChangeLog
    keys: KeyStore
    guard: Guard
    clients: Clients
    admission: Admission
    background: Background
    place_checks: PlaceChecks
    judging_limit: TimeLimit
    """How long one judgment by the shapes may take."""
    asking: AskingThread
    """Where questions are answered."""
    review: ReviewQueue
    proposals: Proposals
    decisions: Decisions
    documents: Documents
    merging: Merging
    model: MeteredModel
    gaps: GapQueue
    passages: Passages
    jobs: JobStore
    job_worker: JobWorker
    serves: bool
    """Whether clients are served, and not one command: what they would wait for is done in the background."""
    closing: AsyncExitStack
    """Closes the files and connections of the services."""
    startup: Startup = field(init=False)

    @property
    def started(self) -> StartedServices:
        """The started services: blocks until they are open. On the event loop await `opened` before."""
        self.startup.start()
        return self.startup.started.result()

    @property
    def is_open(self) -> bool:
        """Whether the started services are open."""
        return self.startup.started.done()

    @property
    def schema(self) -> Schema:
        """The ontology in force."""
        return self.rule_registry.schema

    @property
    def gate(self) -> ShapesGate:
        """The gate in force, once it is open: blocks until then."""
        self.startup.start()
        self.startup.judging.result()
        return self.rule_registry.current.gate

    @property
    def relations(self) -> SpatialRelations:
        """The deriver of RCC8, with the index of all geometries."""
        return self.started.relations

    @property
    def labels(self) -> LabelIndex:
        """The index of names."""
        return self.started.labels

    @property
    def intake(self) -> Intake:
        """Judges and commits candidates."""
        return self.started.intake

    @property
    def asker(self) -> ThreadedAsker:
        """Answers questions."""
        return self.started.asker

    def read_review_queue(self) -> None:
        """Read the review queue in the background, before somebody searches in it."""
        background = self.background
        background.start(
            "read the review queue", lambda: self.review.search.prepare(lambda: background.closing)
        )

    async def opened(self) -> None:
        """Return when the started services are open. Raises what kept them from opening.

        For a command, which may need none of them, what was not begun is opened at its first use.
        """
        if not (self.serves or self.startup.begun):
            return
        started = self.startup.started
        if not started.done() or started.exception() is not None:
            await asyncio.wrap_future(started)

    async def start(self, *, yields: bool = True) -> None:
        """Begin the startup and start the readers. With `yields`, waiting writes go before the indexes."""
        self.startup.start(yields=yields)
        try:
            await self.readers.start()
        except BaseException:
            self.writer.abandon()
            raise

    async def __aenter__(self) -> Self:
        await self.start(yields=False)
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
        """Cancel what may take long, since the server ends. Changes being judged get a moment more."""
        self.judging_limit.close(_LAST_JUDGMENTS_S)
        self.rule_registry.close()
        self.background.close()
        self.asking.close()

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[Self]:
        """Open what judges changes, without readers and indexes, for a command that only writes."""
        try:
            await asyncio.to_thread(self.startup.judge)
            yield self
        finally:
            await self.close()

    def _leave_threads(self) -> None:
        """Let what still reads the store end, but not for long: nobody else can open it meanwhile."""
        for opening in (self.startup, self.background, self.rewriter):
            opening.wait_until_idle(_LAST_READS_S)

    async def close(self) -> None:
        """Finish what is under way and close everything."""
        self.leave()
        if not self.startup.begun:
            # Nothing else would release the writer, which waits for the gate.
            self.writer.abandon()
        # An update under way may still need a reader, so the writer ends first.
        await asyncio.to_thread(self.writer.close)
        await asyncio.to_thread(self.verdict_history.close)
        self.updates.close()
        await self.readers.close()
        self.rewriter.close()
        await asyncio.to_thread(self._leave_threads)
        await self.closing.aclose()
        self.store.close()
        self.keys.close()
        self.answers.write()
