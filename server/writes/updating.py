"""SPARQL updates on their way to the writer: those that come together are committed together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from server.http.reporting.warning_header import warning_of
from server.writes.update_warnings import warnings_of
from sparql.model.change import Change, Verdict
from sparql.model.errors import SparqlError, StoreClosing, StoreUnwritable
from sparql.model.triple_store import Readable
from sparql.protocol.requests import ProtocolRequest
from sparql.syntax.nesting import parses_safely
from sparql.workers.capture.capturer import Capturer
from sparql.writing.group import Outcome
from sparql.writing.insert_data import inserted
from sparql.writing.update_account import QuadDelta, change_of

if TYPE_CHECKING:
    from sparql.syntax.operations import Operation

_MOST = 64
"""How many updates are committed together."""
OUTCOME = "update_outcome"
"""Where in the state of a request the outcome of its update stands, if it has been carried out already."""
_LONG = 16_384
"""Characters of an update beyond which others do not wait for it to be read."""


class UpdateWriter(Protocol):
    """What is needed of the writer."""

    def commit_built(self, build: Callable[[], Change], *, settle: bool = True) -> Verdict:
        """Commit the change that ``build`` makes, called with the writer's lock held."""
        ...

    def commit_group(self, changes: Sequence[Change], outcomes: list[Outcome]) -> None:
        """Commit changes one after another; what came of each goes to ``outcomes``."""
        ...

    def settle(self, revision: int) -> None:
        """Return when a revision may be acknowledged that was committed without that."""
        ...


class Update:
    """One update on its way; `told` is called once, on the event loop, with what came of it."""

    def __init__(
        self,
        request: ProtocolRequest,
        timeout_s: float,
        base: str | None,
        told: Callable[[Outcome | BaseException], None],
    ) -> None:
        self.request = request
        self.timeout_s = timeout_s
        self.base = base
        self.is_over = False
        self.change: Change | None = None
        """The change, where it follows from the text alone."""
        self.operations: tuple[Operation, ...] | None = None
        """None where the text needs not be read, or only by a process whose end hurts nobody."""
        self._told = told
        self._is_read = False

    def read(self, *, removals: bool) -> None:
        """Read the text, once; `removals` may be taken from it unasked. Raises RequestError."""
        if self._is_read:
            return
        self._is_read = True
        request = self.request
        delta = inserted(request.text, self.base)
        # A parser that overflows its stack ends the process: that may only be a reader.
        if delta is None and parses_safely(request.text):
            # Imported with the first that is no plain INSERT DATA, which a start need not wait for.
            from sparql.writing.updates import read_update, stated

            self.operations = read_update(request.text, self.base)
            delta = stated(self.operations) if removals else None
        if delta is not None:
            self.change = change_of(delta, partial=request.partial)

    def tell(self, outcome: Outcome | BaseException) -> None:
        """Tell what came of it, unless that was told already."""
        if not self.is_over:
            self.is_over = True
            self._told(outcome)


class Updates:
    """Carries updates out in the order in which they come.

    Those whose change follows from their text alone (INSERT DATA, DELETE DATA) and that wait together are
    committed together; one that fails or is refused is no matter to the others. Those that evaluate patterns
    are captured in a process, where their deadline ends them, all others here, on ``graph``; nobody writes
    between a capture and its commit, so no update is lost. Without `together`, as for a store at another host
    that is asked about quads one by one, DELETE DATA is captured as well.
    """

    def __init__(
        self,
        writer: UpdateWriter,
        capturer: Capturer,
        graph: Callable[[], Readable],
        *,
        together: bool = True,
        shares_sync: bool = False,
    ) -> None:
        self._writer = writer
        self._capturer = capturer
        self._graph = graph
        self._together = together
        # Threads of their own: one holds the writer's lock while the event loop's threads may wait for it.
        self._thread = ThreadPoolExecutor(1, "updates")
        self._batches: SimpleQueue[tuple[list[Update], asyncio.AbstractEventLoop] | None] = SimpleQueue()
        self._under_way: list[Update] = []
        self._working: Future[None] | None = None
        self._reading = ThreadPoolExecutor(2, "long-updates")
        # What is committed waits for the disk while the next is carried out, where several share a sync.
        self._settling = ThreadPoolExecutor(1, "settling") if shares_sync else None
        self._waiting: list[Update] = []
        self._busy = self._called = self._closed = False

    async def answer(self, request: Request, found: ProtocolRequest, timeout_s: float, base: str) -> Response:
        """The response to an update: its revision, or 422 and the report, as `Accept` likes it.

        With `partial`, what was refused is told beside the revision.
        """
        # The short way has carried it out, and leaves the answer to this one.
        outcome = request.scope.get("state", {}).get(OUTCOME)
        if isinstance(outcome, BaseException):
            raise outcome
        verdict = outcome if isinstance(outcome, Verdict) else await self.run(found, timeout_s, base)
        if verdict.rejected and not found.partial:
            from server.http.reporting.refusals import refusal

            return refusal(request, verdict)
        told = warnings_of(found.text, base, own_functions=self._together)
        warning = warning_of((*found.warnings, *told))
        headers = None if warning is None else {"Warning": warning}
        return JSONResponse(told_of(verdict, partial=found.partial), headers=headers)

    async def run(self, request: ProtocolRequest, timeout_s: float, base: str | None = None) -> Verdict:
        """Capture, judge and commit an update. Raises RequestError, ReadError and WriteError."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Verdict] = loop.create_future()

        def tell(outcome: Outcome | BaseException) -> None:
            if future.done():
                # Whoever asked has left; what was committed stays.
                return
            if isinstance(outcome, Verdict):
                future.set_result(outcome)
            else:
                future.set_exception(outcome)

        update = Update(request, timeout_s, base, tell)
        if len(request.text) > _LONG:
            await loop.run_in_executor(self._reading, lambda: update.read(removals=self._together))
        self.enqueue(update)
        return await future

    def enqueue(self, update: Update) -> None:
        """Carry an update out when its turn comes; on the event loop."""
        self._waiting.append(update)
        if not self._called:
            # What else comes in this turn of the loop goes along.
            self._called = True
            asyncio.get_running_loop().call_soon(self._begin)

    def close(self) -> None:
        """Wait for the updates under way, and take no more."""
        self._closed = True
        self._batches.put(None)
        for executor in (self._reading, self._thread, self._settling):
            if executor is not None:
                executor.shutdown()
        self._capturer.close()
        self._refuse_waiting()

    def _refuse_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        for update in waiting:
            update.tell(StoreClosing())

    def _begin(self) -> None:
        """Hand what waits to the thread, unless it is busy."""
        self._called = False
        if self._closed:
            self._refuse_waiting()
        elif self._waiting and not self._busy:
            self._busy = True
            batch, self._waiting = self._waiting[:_MOST], self._waiting[_MOST:]
            loop = asyncio.get_running_loop()
            self._batches.put((batch, loop))
            if self._working is None:
                self._working = self._thread.submit(self._work)
                self._working.add_done_callback(lambda done: loop.call_soon_threadsafe(self._fail, done))

    def _work(self) -> None:
        """Carry out one batch after the other, until `close` or an error that nobody expected."""
        while (given := self._batches.get()) is not None:
            self._under_way, loop = given
            self._carry_out(*given)
            loop.call_soon_threadsafe(self._end)

    def _end(self) -> None:
        """The thread is free again."""
        self._busy = False
        self._begin()

    def _fail(self, done: Future[None]) -> None:
        """A failure that nobody expected is that of the first update it was not past."""
        self._working = None
        failure = done.exception()
        if failure is None:
            return
        left = [update for update in self._under_way if not update.is_over]
        if left:
            left[0].tell(failure)
        self._waiting[:0] = left[1:]
        self._end()

    def _carry_out(self, batch: list[Update], loop: asyncio.AbstractEventLoop) -> None:
        """Carry updates out, in their order."""
        together: list[Update] = []
        for update in batch:
            try:
                update.read(removals=self._together)
            except SparqlError as error:
                self._tell([update], [error], loop)
                continue
            if update.change is not None:
                together.append(update)
                continue
            self._commit_together(together, loop)
            together = []
            self._commit_alone(update, loop)
        self._commit_together(together, loop)

    def _commit_together(self, updates: list[Update], loop: asyncio.AbstractEventLoop) -> None:
        if not updates:
            return
        outcomes: list[Outcome] = []
        try:
            changes = [update.change for update in updates if update.change is not None]
            self._writer.commit_group(changes, outcomes)
        except StoreClosing as error:
            outcomes += [error] * (len(updates) - len(outcomes))
        finally:
            self._tell(updates, outcomes, loop)

    def _commit_alone(self, update: Update, loop: asyncio.AbstractEventLoop) -> None:
        request, operations = update.request, update.operations

        from sparql.writing.updates import capture, needs_worker

        def captured() -> QuadDelta:
            if operations is None or needs_worker(operations):
                return self._capturer.capture(
                    request.text, request.default_graphs, request.named_graphs, update.timeout_s, update.base
                )
            return capture(
                self._graph(),
                operations,
                using=request.default_graphs,
                using_named=request.named_graphs,
            )

        try:
            outcome: Outcome = self._writer.commit_built(
                lambda: change_of(captured(), partial=request.partial), settle=self._settling is None
            )
        except SparqlError as error:
            outcome = error
        self._tell([update], [outcome], loop)

    def _tell(
        self, updates: Sequence[Update], outcomes: list[Outcome], loop: asyncio.AbstractEventLoop
    ) -> None:
        """Tell what came of the first of these updates, when that is on the disk as it should be."""
        revisions = [one.revision or 0 for one in outcomes if isinstance(one, Verdict)]
        if self._settling is not None and any(revisions):
            self._settling.submit(self._settle, max(revisions), updates, outcomes, loop)
        elif outcomes:
            loop.call_soon_threadsafe(_tell_each, updates, outcomes)

    def _settle(
        self,
        revision: int,
        updates: Sequence[Update],
        outcomes: list[Outcome],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        try:
            self._writer.settle(revision)
        except StoreUnwritable as error:
            outcomes = [error] * len(outcomes)
        loop.call_soon_threadsafe(_tell_each, updates, outcomes)


def told_of(verdict: Verdict, *, partial: bool) -> dict[str, Any]:
    """What a client is told of an update that was carried out."""
    told: dict[str, Any] = {"revision": verdict.revision, "warnings": []}
    if not (partial or verdict.warnings or verdict.hubs):
        return told
    from server.http.reporting.statements import judged_in_full, rejection_json

    told["warnings"] = [rejection_json(one, None) for one in verdict.warnings]
    told |= judged_in_full(verdict)
    if partial:
        told["accepted"] = len(verdict.accepted)
        told["rejected"] = [rejection_json(one, None) for one in verdict.rejected]
    return told


def _tell_each(updates: Sequence[Update], outcomes: Sequence[Outcome]) -> None:
    for update, outcome in zip(updates, outcomes, strict=False):
        update.tell(outcome)
