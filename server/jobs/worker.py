"""Processes jobs: sends texts to the model, several at a time, and commits its answers one by one."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import Executor
from contextlib import asynccontextmanager, contextmanager, suppress
from enum import Enum
from typing import TYPE_CHECKING

from extractors.errors import (
    ExtractionError,
    ModelReplyError,
    ModelRequestRefused,
    ModelTimeout,
    ModelUnavailable,
)
from extractors.models.accounting import account
from extractors.models.chat import ChatModel
from extractors.text.cleaning import TextError
from ontology import Schema
from server.errors import ServerError, StateUnreadable
from server.jobs.cluster import dask_client
from server.jobs.job import ClusterUnavailable, DocumentState, Job, Work
from server.jobs.progress import Progress
from server.jobs.store import JobStore
from server.settings import Settings
from sparql.model.errors import JudgingTimeout, SparqlError
from sparql.model.triple_store import TripleStore

if TYPE_CHECKING:
    from server.intake.intake import Intake
    from server.jobs.cluster import WorkerSetup
    from server.jobs.extracting import Cluster, Committer, Extractor


class Fate(Enum):
    """What happens to a document after an error.

    `WAIT`: all documents wait until the missing service is back. `RETRY`: it is tried again, as often as the
    settings say. `REJECT`, `FAIL`: it is not tried again until a client asks for a retry.
    """

    WAIT = "wait"
    RETRY = "retry"
    REJECT = "reject"
    FAIL = "fail"


_FATES: tuple[tuple[type[BaseException], Fate], ...] = (
    (ModelUnavailable, Fate.WAIT),
    (ClusterUnavailable, Fate.WAIT),
    (StateUnreadable, Fate.WAIT),
    (JudgingTimeout, Fate.FAIL),
    (SparqlError, Fate.WAIT),
    (ModelTimeout, Fate.RETRY),
    (ModelReplyError, Fate.RETRY),
    (ModelRequestRefused, Fate.FAIL),
    (TextError, Fate.REJECT),
    (ExtractionError, Fate.FAIL),
)


def fate_after(error: BaseException) -> Fate:
    """What happens to the document. After an unexpected error it is tried again."""
    return next((fate for kind, fate in _FATES if isinstance(error, kind)), Fate.RETRY)


def is_expected(error: BaseException) -> bool:
    """Whether the error's message is for the user; else it is for the log."""
    return isinstance(error, ExtractionError | ServerError | SparqlError)


def message_of(error: BaseException) -> str:
    """The message that is stored with the document."""
    if is_expected(error):
        return str(error)
    return f"The server failed at this document ({type(error).__name__}); its log says where."


_log = logging.getLogger("urbankg.jobs")
_ATTEMPTS = 3
"""How often a document is tried before it counts as failed."""
_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 60.0
_MOST_STRUCK = 1000


class JobWorker:
    """Works on the jobs of a folder, on the event loop; what blocks runs in threads.

    `open_` gives what extracts and what commits; it is called when the graph is open.
    A document that fails is tried `attempts` times. While a model or a store cannot be reached, everything
    waits, longer and longer, and the jobs say what for. `settled` is called with the final state of each
    document.
    """

    def __init__(
        self,
        store: JobStore,
        open_: Callable[[], tuple[Extractor, Committer]],
        *,
        attempts: int,
        settled: Callable[[str], None] = lambda state: None,
    ) -> None:
        self._store = store
        self._progress = Progress(store)
        self._open = open_
        self._attempts = attempts
        self._settled = settled
        self._tasks: dict[tuple[int, int], asyncio.Task[None]] = {}
        self._extract_more = asyncio.Event()
        self._commit_more = asyncio.Event()
        self._committing = asyncio.Lock()
        self._limit: int | None = None
        self._pause_s = 0.0
        self._answered = 0
        # Documents that the model failed on, and how many answers it had given by then.
        self._struck: dict[tuple[int, int], int] = {}
        self._turn = 0
        self._opened: tuple[Extractor, Committer] | None = None

    @property
    def _extracting(self) -> Extractor:
        assert self._opened is not None
        return self._opened[0]

    @property
    def _committer(self) -> Committer:
        assert self._opened is not None
        return self._opened[1]

    @asynccontextmanager
    async def working(self, opened: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
        """Work while the block runs, starting when ``opened`` returns. Unfinished work is kept."""
        # Before the first request: jobs received from now on are not leftovers of an earlier server.
        await asyncio.to_thread(self._store.drop_unaccepted)
        loop = asyncio.get_running_loop()

        def wake() -> None:
            loop.call_soon_threadsafe(self._wake)

        stop_listening = self._store.listen(wake)
        task = asyncio.create_task(self._run(opened))
        task.add_done_callback(_log_failure)
        try:
            yield
        finally:
            stop_listening()
            task.cancel()
            for one in self._tasks.values():
                one.cancel()
            await asyncio.gather(task, *self._tasks.values(), return_exceptions=True)
            if self._opened is not None:
                await asyncio.to_thread(self._extracting.close)

    async def cancel(self, identifier: str) -> Job:
        """Cancel a job between two commits; no more questions about it are sent to the model."""
        async with self._committing:
            job = await asyncio.to_thread(self._store.cancel, identifier)
        for (number, _), task in self._tasks.items():
            if number == job.number:
                task.cancel()
        return job

    def _wake(self) -> None:
        self._extract_more.set()
        self._commit_more.set()

    async def _run(self, opened: Callable[[], Awaitable[None]]) -> None:
        await opened()
        # Slow to import, so nothing before waits for it.
        self._opened = await asyncio.to_thread(self._open)
        await _with_retries(self._reconcile)
        # All documents share one account at the model, so that single texts of clients get their turn.
        with account():
            async with asyncio.TaskGroup() as group:
                group.create_task(_forever(self._extract_some))
                group.create_task(_forever(self._commit_one))

    async def _reconcile(self) -> None:
        """Look up in the graph which of the interrupted documents were committed."""
        for work in await asyncio.to_thread(self._progress.interrupted):
            if not await self._is_there_already(work) and work.state is DocumentState.EXTRACTING:
                await asyncio.to_thread(self._progress.put_back, work)

    async def _is_there_already(self, work: Work) -> bool:
        """Whether the graph has this document; if so, record that."""
        found = await asyncio.to_thread(self._committer.found, work)
        if found is not None:
            self._settled(found.state)
            await asyncio.to_thread(self._progress.committed, work, found)
            return True
        if await asyncio.to_thread(self._committer.is_duplicate, work):
            self._settled("duplicate")
            await asyncio.to_thread(self._progress.duplicate, work)
            return True
        return False

    # --- asking the model

    async def _extract_some(self) -> None:
        """Start as many documents as may be processed at a time, then wait until something changes."""
        self._extract_more.clear()
        if await asyncio.to_thread(self._progress.waits):
            free = await self._at_once() - len(self._tasks)
            for work in await asyncio.to_thread(self._progress.claim, free) if free > 0 else ():
                task = asyncio.create_task(self._extract(work))
                self._tasks[work.key] = task
                task.add_done_callback(lambda _, key=work.key: self._end(key))  # type: ignore[misc]
        pause_s = await asyncio.to_thread(self._progress.next_due)
        with suppress(TimeoutError):
            async with asyncio.timeout(pause_s):
                await self._extract_more.wait()

    def _end(self, key: tuple[int, int]) -> None:
        self._tasks.pop(key, None)
        self._extract_more.set()

    async def _at_once(self) -> int:
        """How many documents may be processed at a time; waits while the extractor cannot be reached."""
        while self._limit is None:
            error = await _error_of(self._ask_limit())
            if error is None:
                break
            await self._hold(error)
        assert self._limit is not None
        return self._limit

    async def _ask_limit(self) -> None:
        self._limit = await self._extracting.at_once()

    async def _extract(self, work: Work) -> None:
        if await self._is_there_already(work):
            return
        error = await _error_of(self._extracting.extract(work))
        if error is None:
            self._answered += 1
            self._struck.pop(work.key, None)
            await asyncio.to_thread(self._progress.extracted, work)
            await self._go_on()
        else:
            await self._give_back(work, error)

    async def _give_back(self, work: Work, error: BaseException) -> None:
        """Decide what happens to a document after an error."""
        fate = fate_after(error)
        if not is_expected(error):
            _log.error("Document %s of a job caused an unexpected error", work.position, exc_info=error)
        if fate is Fate.WAIT and self._is_poison(work):
            fate = Fate.RETRY
        last = work.attempts + 1 >= self._attempts
        if fate is Fate.REJECT:
            self._struck.pop(work.key, None)
            self._settled("rejected")
            await asyncio.to_thread(self._progress.rejected, work, message_of(error))
        elif fate is Fate.FAIL or (fate is Fate.RETRY and last):
            self._struck.pop(work.key, None)
            self._settled("failed")
            await asyncio.to_thread(self._progress.failed, work, message_of(error))
        elif fate is Fate.RETRY:
            pause_s = _FIRST_PAUSE_S * 2.0**work.attempts
            await asyncio.to_thread(
                self._progress.put_back, work, message_of(error), wait_s=pause_s, counts=True
            )
        else:
            # Behind those that were not tried: one that makes the model crash does not delay the others.
            await asyncio.to_thread(self._progress.put_back, work, message_of(error), wait_s=_FIRST_PAUSE_S)
            self._limit = None
            await self._hold(error)

    def _is_poison(self, work: Work) -> bool:
        """Whether the model failed on this document before, and has answered for others since."""
        before = self._struck.pop(work.key, None)
        self._struck[work.key] = self._answered
        if len(self._struck) > _MOST_STRUCK:
            # Of cancelled jobs, most likely.
            del self._struck[next(iter(self._struck))]
        return before is not None and before != self._answered

    async def _hold(self, error: BaseException) -> None:
        """Record what all wait for, and wait; longer each time until something succeeds."""
        await asyncio.to_thread(self._progress.wait_for, message_of(error))
        self._pause_s = min(max(_FIRST_PAUSE_S, 2 * self._pause_s), _LONGEST_PAUSE_S)
        await asyncio.sleep(self._pause_s)

    async def _go_on(self) -> None:
        if self._pause_s:
            self._pause_s = 0.0
            await asyncio.to_thread(self._progress.wait_for, None)

    # --- committing

    async def _commit_one(self) -> None:
        """Commit the next document of one of the jobs, in turn, or wait until there is one."""
        self._commit_more.clear()
        missing = None
        async with self._committing:
            found = await asyncio.to_thread(self._progress.commits)
            if found:
                self._turn += 1
                missing = await self._commit(found[self._turn % len(found)])
                self._commit_more.set()
        if missing is not None:
            await self._hold(missing)
        await self._commit_more.wait()

    async def _commit(self, work: Work) -> BaseException | None:
        """Commit a document. Returns the error if the document has to wait for a service."""
        if await self._is_there_already(work):
            return None
        committed = None

        async def commit() -> None:
            nonlocal committed
            committed = await self._committer.commit(work)

        error = await _error_of(commit())
        if committed is not None:
            self._settled(committed.state)
            await asyncio.to_thread(self._progress.committed, work, committed)
            await self._go_on()
        elif error is not None and fate_after(error) is Fate.WAIT:
            # It stays extracted: it waits for the store, and the next attempt looks into the graph first.
            return error
        elif error is not None:
            await self._give_back(work, error)
        return None


async def _error_of(work: Awaitable[None]) -> BaseException | None:
    """Run work and return its error. Canceling the wait cancels the work."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait([task])
    finally:
        if not task.done():
            task.cancel()
    if task.cancelled():
        return ClusterUnavailable("The cluster dropped the document; it is tried again.")
    return task.exception()


async def _forever(step: Callable[[], Awaitable[None]]) -> None:
    while True:
        await _with_retries(step)


async def _with_retries(step: Callable[[], Awaitable[None]]) -> None:
    """Run a step; while the disk or the store fails, wait and run it again."""
    pause_s = _FIRST_PAUSE_S
    while True:
        try:
            await step()
        except (StateUnreadable, SparqlError) as error:
            _log.error("Jobs are waiting: %s", error)
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        else:
            return


def _log_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        _log.critical("Jobs have stopped until the next start", exc_info=task.exception())


def worker_of(
    settings: Settings,
    store: JobStore,
    graph: TripleStore,
    model: ChatModel,
    intake: Callable[[], Intake],
    *,
    schema: Callable[[], Schema],
    settled: Callable[[str], None] = lambda state: None,
    cluster: Cluster | None = None,
) -> JobWorker:
    """The worker for the jobs of a folder; ``cluster`` is used instead of the one that the settings name."""
    if cluster is None and settings.job_cluster is not None:
        cluster = dask_cluster(settings.job_cluster)

    def opened() -> tuple[Extractor, Committer]:
        from server.jobs.extracting import Answers, ClusterExtractor, Committer, LocalExtractor

        progress = Progress(store)
        answers = Answers(model, progress, settings.model_concurrency)
        committer = Committer(graph, intake, answers)
        if cluster is not None:
            shared = model if settings.model_url is not None else None
            setups = _setups(settings, schema, intake)
            return ClusterExtractor(cluster, setups, progress, shared), committer
        return LocalExtractor(answers, lambda: intake().pipeline), committer

    return JobWorker(store, opened, attempts=_ATTEMPTS, settled=settled)


def dask_cluster(address: str) -> Cluster:
    """The workers of a Dask cluster, by its scheduler's address."""

    @contextmanager
    def opened() -> Iterator[tuple[Executor, int]]:
        with dask_client(address) as (client, threads):
            yield client.get_executor(pure=False), threads

    return opened


def _setups(
    settings: Settings, schema: Callable[[], Schema], intake: Callable[[], Intake]
) -> Callable[[], WorkerSetup]:
    """Gives the setup for the ontology in force, made again after each edit."""
    from server.jobs.cluster import WorkerSetup

    made: dict[str, WorkerSetup] = {}

    def setup() -> WorkerSetup:
        current = schema()
        if current.version not in made:
            made.clear()
            files = tuple((file.path.name, file.content) for file in current.files)
            names = [name for name in Settings.model_fields if name.startswith("model_")]
            model = Settings(**{name: getattr(settings, name) for name in names})
            extraction = intake().pipeline.settings
            key = f"{current.version} {model.model_dump_json()} {extraction}"
            made[current.version] = WorkerSetup(
                key=hashlib.sha256(key.encode()).hexdigest(),
                ontology=files,
                extraction=extraction,
                model=model,
            )
        return made[current.version]

    return setup
