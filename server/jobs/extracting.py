"""Asks the model about documents, here or on the workers of a cluster, and stores the answers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from typing import Protocol

from pyoxigraph import Quad

from extractors.models.chat import ChatModel, limit_of
from extractors.pipeline import Pipeline
from extractors.prompting.methods import requested_method
from server.intake.intake import Intake
from server.jobs.cluster import Exchange, KeptModel, WorkerSetup, answers_for, raise_failure
from server.jobs.job import Committed, Work, document_iri, run_iri
from server.jobs.progress import Progress
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import PROV, PROVENANCE, RDF, REVIEW, UKG
from sparql.provenance.records import EvidenceReader


class Extractor(Protocol):
    """Asks the model everything about a document and stores the answers."""

    async def at_once(self) -> int:
        """How many documents can be processed at a time.

        Raises `ModelUnavailable` and `ClusterUnavailable`; called again after either.
        """
        ...

    async def extract(self, work: Work) -> None:
        """Raises `ExtractionError`."""
        ...

    def close(self) -> None:
        """Close what was opened."""
        ...


class Answers:
    """The model as each document sees it: stored answers are not asked for again."""

    def __init__(self, model: ChatModel, progress: Progress, concurrency: int) -> None:
        self._model = model
        self._progress = progress
        self._concurrency = concurrency
        self._slots = asyncio.Semaphore(concurrency)

    async def at_once(self) -> int:
        """How many documents the model may have at a time; also the limit of questions sent to it."""
        limit = max(1, min(self._concurrency, await limit_of(self._model)))
        self._slots = asyncio.Semaphore(limit)
        return limit

    async def model_for(self, work: Work) -> KeptModel:
        """The model for one document."""

        async def keep(exchange: Exchange) -> None:
            await asyncio.to_thread(self._progress.keep_exchanges, work, [exchange])

        kept = await asyncio.to_thread(self._progress.exchanges, work)
        return KeptModel(self._model, kept, keep=keep, slots=self._slots)


class LocalExtractor:
    """With the server's own model."""

    def __init__(self, answers: Answers, pipeline: Callable[[], Pipeline]) -> None:
        self._answers = answers
        self._pipeline = pipeline

    async def at_once(self) -> int:
        """As many as the settings say and the model takes."""
        return await self._answers.at_once()

    async def extract(self, work: Work) -> None:
        """Ask only; names are linked when the document is committed."""
        model = await self._answers.model_for(work)
        await self._pipeline().over(model).ask(work.text, requested_method(work.method))

    def close(self) -> None:
        """Does nothing: the server owns the model."""


Cluster = Callable[[], AbstractContextManager[tuple[Executor, int]]]
"""Opens the workers: an executor, and how many tasks it works on at a time. Raises `ClusterUnavailable`."""


class ClusterExtractor:
    """On the workers of an executor (`concurrent.futures`), which have the model, or reach its server.

    ``shared`` is the model when all workers ask the same server; else each has its own.
    """

    def __init__(
        self,
        cluster: Cluster,
        setup: Callable[[], WorkerSetup],
        progress: Progress,
        shared: ChatModel | None = None,
    ) -> None:
        self._cluster = cluster
        self._shared = shared
        self._opening = threading.Lock()
        self._setup = setup
        self._progress = progress
        self._opened: tuple[AbstractContextManager[tuple[Executor, int]], Executor, int] | None = None

    async def at_once(self) -> int:
        """Two for each worker, so that none is idle, but no more than a shared model takes."""
        # Called at the start and after errors: then with a new connection.
        await asyncio.to_thread(self.close)
        _, workers = await asyncio.to_thread(self._open)
        wanted = 2 * workers
        return wanted if self._shared is None else max(1, min(wanted, await limit_of(self._shared)))

    async def extract(self, work: Work) -> None:
        """Ask on a worker."""
        executor, _ = await asyncio.to_thread(self._open)
        kept = await asyncio.to_thread(self._progress.exchanges, work)
        setup = await asyncio.to_thread(self._setup)
        # Sending may block while a cluster is reached.
        sent = await asyncio.to_thread(executor.submit, answers_for, setup, work.text, kept, work.method)
        answered = await asyncio.wrap_future(sent)
        await asyncio.to_thread(self._progress.keep_exchanges, work, answered.exchanges)
        raise_failure(answered)

    def close(self) -> None:
        """Disconnect from the workers; their unfinished tasks are dropped and submitted again later."""
        with self._opening:
            if self._opened is not None:
                opened, self._opened = self._opened[0], None
                opened.__exit__(None, None, None)

    def _open(self) -> tuple[Executor, int]:
        with self._opening:
            if self._opened is None:
                context = self._cluster()
                self._opened = (context, *context.__enter__())
            return self._opened[1:]


class Committer:
    """Commits through the intake; the run's name, made of job and position, shows what is committed."""

    def __init__(self, graph: TripleStore, intake: Callable[[], Intake], answers: Answers) -> None:
        self._graph = graph
        self._intake = intake
        self._answers = answers
        self._evidence = EvidenceReader(graph)

    def found(self, work: Work) -> Committed | None:
        """The result of a commit that a crash kept from being recorded in the job."""
        run = run_iri(work.run)
        if not self._graph.contains(Quad(run, RDF.type, PROV.Activity, PROVENANCE)):
            return None
        waiting = sum(1 for _ in self._graph.match_quads(None, UKG.occurrence, run, REVIEW))
        accepted = len(self._evidence.of_run(run))
        return Committed(accepted, None if accepted else waiting)

    def is_duplicate(self, work: Work) -> bool:
        """Whether the graph already has this text, and the job does not extract such texts again."""
        document = Quad(document_iri(work.document), RDF.type, UKG.Document, PROVENANCE)
        return not work.again and self._graph.contains(document)

    async def commit(self, work: Work) -> Committed:
        """Commit what the model extracted from a document. Raises `ExtractionError` and `SparqlError`."""
        model = await self._answers.model_for(work)
        outcome = await self._intake().extract(
            work.text, source=work.source, method=work.method, model=model, identifier=work.run
        )
        verdict = outcome.verdict
        return Committed(
            len(verdict.accepted),
            len(verdict.rejected),
            len(verdict.warnings),
            verdict.revision,
            outcome.incomplete,
        )
