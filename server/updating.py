"""SPARQL updates on their way to the writer: captured and committed under one lock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from server.refusals import refusal
from server.statements import rejection_json
from sparql.change import Change, Verdict
from sparql.insert_data import inserted
from sparql.nesting import parses_safely
from sparql.readers.capturer import Capturer
from sparql.requests import ProtocolRequest
from sparql.triple_store import Readable
from sparql.updates import QuadDelta, capture, change_of, needs_reader, read_update


class UpdateWriter(Protocol):
    """What is needed of the writer."""

    def commit_built(self, build: Callable[[], Change]) -> Verdict:
        """Commit the change that ``build`` makes, called with the writer's lock held."""
        ...


class Updates:
    """Runs updates one after another.

    Those that evaluate patterns are captured in a process, where their deadline ends them; the others here,
    on ``graph``. Nobody else writes between a capture and its commit, so no update is lost.
    """

    def __init__(self, writer: UpdateWriter, capturer: Capturer, graph: Callable[[], Readable]) -> None:
        self._writer = writer
        self._capturer = capturer
        self._graph = graph
        # Threads of its own: one holds the writer's lock while the event loop's threads may wait for it.
        # Several, so that updates which are committed and wait for the disk can share a sync.
        self._thread = ThreadPoolExecutor(8, "updates")

    async def answer(self, request: Request, found: ProtocolRequest, timeout_s: float, base: str) -> Response:
        """The response to an update: its revision, or 422 and the report, as `Accept` likes it.

        With `partial`, what was refused is told beside the revision.
        """
        verdict = await self.run(found, timeout_s, base)
        if verdict.rejected and not found.partial:
            return refusal(request, verdict)
        told: dict[str, Any] = {"revision": verdict.revision}
        told["warnings"] = [rejection_json(one, None) for one in verdict.warnings]
        if found.partial:
            told["accepted"] = len(verdict.accepted)
            told["rejected"] = [rejection_json(one, None) for one in verdict.rejected]
        return JSONResponse(told)

    async def run(self, request: ProtocolRequest, timeout_s: float, base: str | None = None) -> Verdict:
        """Capture, judge and commit an update. Raises RequestError, ReadError and WriteError."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._run, request, timeout_s, base)

    def close(self) -> None:
        """Wait for the update under way, and take no more."""
        self._thread.shutdown()
        self._capturer.close()

    def _run(self, request: ProtocolRequest, timeout_s: float, base: str | None) -> Verdict:
        plain = inserted(request.text, base)
        if plain is not None:
            return self._writer.commit_built(lambda: change_of(plain, partial=request.partial))
        # A parser that overflows its stack ends the process: that may only be a reader.
        operations = read_update(request.text, base) if parses_safely(request.text) else None

        def captured_here() -> QuadDelta:
            assert operations is not None
            return capture(
                self._graph(),
                operations,
                using=request.default_graphs,
                using_named=request.named_graphs,
            )

        def captured_apart() -> QuadDelta:
            return self._capturer.capture(
                request.text, request.default_graphs, request.named_graphs, timeout_s, base
            )

        apart = operations is None or needs_reader(operations)
        captured = captured_apart if apart else captured_here
        return self._writer.commit_built(lambda: change_of(captured(), partial=request.partial))
