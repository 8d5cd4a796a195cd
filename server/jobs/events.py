"""The progress of a job as server-sent events (HTML, 9.2): changed documents, and the job's counts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor

from server.errors import TooManyListeners
from server.http.bodies.event_stream import RETRY, STILL_HERE, event, waiting
from server.http.request_logging import Draining
from server.jobs.job import FINISHED, Job, JobDocument, JobUnknown
from server.jobs.store import JobStore

_MOST_LISTENERS = 64
_DOCUMENTS_A_PIECE = 200


class JobEvents:
    """Streams of events. A slow client costs no memory, since each reads the database at its own pace.

    A document that changed several times since the last event is sent once, as it is now. A client that
    reconnects with the identifier of its last event misses no final state.
    """

    def __init__(self, store: JobStore, draining: Draining) -> None:
        self._store = store
        self._draining = draining
        self._listeners = 0
        # Its own thread: those of the loop may all be waiting for the writer.
        self._thread = ThreadPoolExecutor(1, "job-events")

    async def open(self, identifier: str, known: int | None) -> AsyncIterator[bytes] | None:
        """The events after the one with that number, or from now on; None when none will come.

        Raises `JobUnknown` and `TooManyListeners`.
        """
        job = await self._job(identifier)
        if job.state in FINISHED and known is not None and known >= job.sequence:
            return None
        if self._listeners >= _MOST_LISTENERS:
            raise TooManyListeners(_MOST_LISTENERS, f"/jobs/{identifier}")
        return self._events(job, job.sequence if known is None else known, fresh=known is None)

    async def _events(self, job: Job, known: int, *, fresh: bool) -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        self._listeners += 1
        try:
            async with waiting(self._store.listen, self._draining) as waits:
                yield RETRY
                if fresh:
                    yield _job_event(job)
                while not waits.over:
                    waits.look_now()
                    try:
                        documents, job = await loop.run_in_executor(self._thread, self._next, job, known)
                    except JobUnknown:
                        # A client deleted it.
                        return
                    whole = len(documents) < _DOCUMENTS_A_PIECE
                    if documents or job.sequence > known:
                        yield b"".join(_document_event(one) for one in documents)
                        # The job's counts include documents not sent yet; the number says how far this goes.
                        known = job.sequence if whole else documents[-1].changed
                        yield _job_event(job, known)
                    elif job.state in FINISHED:
                        return
                    elif not await waits.news():
                        yield STILL_HERE
        finally:
            self._listeners -= 1

    def _next(self, job: Job, known: int) -> tuple[list[JobDocument], Job]:
        # In this order: what changes in between is sent the next time.
        now = self._store.job(job.identifier)
        changed = self._store.changes(now, known, _DOCUMENTS_A_PIECE)
        return [one for one in changed if one.changed <= now.sequence], now

    async def _job(self, identifier: str) -> Job:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._store.job, identifier)


def _job_event(job: Job, number: int | None = None) -> bytes:
    return _event("job", job.sequence if number is None else number, job.json())


def _document_event(document: JobDocument) -> bytes:
    return _event("document", document.changed, document.json())


def _event(name: str, number: int, data: object) -> bytes:
    return event(name, json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode(), number)
