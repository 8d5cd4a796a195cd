"""SPARQL updates on their way to the writer: captured and committed under one lock, answered with the verdict."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import pyoxigraph

from sparql.change import Change, Verdict
from sparql.readers import ReaderPool
from sparql.requests import ProtocolRequest
from sparql.updates import QuadDelta, capture, change_of, needs_reader


class UpdateWriter(Protocol):
    """What is needed of the writer."""

    def commit_built(self, build: Callable[[], Change]) -> Verdict:
        """Commit the change that ``build`` makes, called with the writer's lock held."""
        ...


class Updates:
    """Runs updates one after another.

    Those that evaluate patterns are captured in a reader process, where their deadline ends them; the others
    here. Nobody else writes between a capture and its commit, so no update is lost.
    """

    def __init__(self, writer: UpdateWriter, readers: ReaderPool, graph: Callable[[], pyoxigraph.Store]) -> None:
        self._writer = writer
        self._readers = readers
        self._graph = graph
        # A thread of its own: it holds the writer's lock while the event loop's threads may wait for it.
        self._thread = ThreadPoolExecutor(1, "updates")

    async def run(self, request: ProtocolRequest, timeout_s: float) -> Verdict:
        """Capture, judge and commit an update. Raises RequestError, ReadError and WriteError."""
        loop = asyncio.get_running_loop()

        def capture_in_reader() -> QuadDelta:
            captured = self._readers.capture(
                request.text, request.default_graphs, request.named_graphs, timeout_s
            )
            return asyncio.run_coroutine_threadsafe(captured, loop).result()[0]

        def build() -> Change:
            if needs_reader(request.text):
                return change_of(capture_in_reader())
            delta = capture(
                self._graph(),
                request.text,
                using=request.default_graphs,
                using_named=request.named_graphs,
            )
            return change_of(delta)

        return await loop.run_in_executor(self._thread, self._writer.commit_built, build)

    def close(self) -> None:
        """Wait for the update under way, and take no more."""
        self._thread.shutdown()
