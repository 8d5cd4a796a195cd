"""Executes SPARQL updates; those that arrive together are committed together."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from server.http.reporting.problems import warning_of
from sparql.model.change import Change, Verdict
from sparql.model.errors import SparqlError, StoreClosing, StoreUnwritable
from sparql.model.request_mark import current_mark, marking
from sparql.model.triple_store import Readable
from sparql.protocol.requests import ProtocolRequest
from sparql.syntax.nesting import parses_safely
from sparql.workers.query import Capturer
from sparql.writing.group import Outcome
from sparql.writing.update_account import QuadDelta, change_of, inserted

if TYPE_CHECKING:
    from sparql.rewriting.steps import Report
    from sparql.syntax.updates import Operation

_LONGEST = 16_384
"""The longest update that is examined, in characters."""
_CALL = re.compile(r"(?:>|:[\w.\-]*)\s*\(")
"""Matches every call of a function by its IRI, and some other text."""


def warnings_of(text: str, base: str | None, *, own_functions: bool) -> Sequence[str]:
    """Warnings about unreadable geometry literals, unknown functions and unfitting arguments.

    `text` is an update that was executed; with `own_functions` it called those of this server.
    """
    if len(text) > _LONGEST or "WHERE" not in text.upper():
        return ()
    calls = own_functions and _CALL.search(text) is not None
    if not calls and "opengis.net" not in text:
        return ()
    from sparql.rewriting.query_warnings import geometry_literals, warn_of_unreadable
    from sparql.rewriting.steps import Report
    from sparql.syntax.tokens import read_prologue

    report = Report()
    warn_of_unreadable(geometry_literals(text, read_prologue(text)), report)
    if calls and parses_safely(text):
        _warn_of_calls(text, base, report)
    return report.warnings


def _warn_of_calls(text: str, base: str | None, report: Report) -> None:
    from sparql.rewriting.query_warnings import warn_of_misuse, warn_of_unknown
    from sparql.syntax.parser import parse_query
    from sparql.syntax.tokens import NotUnderstood
    from sparql.syntax.updates import Modify
    from sparql.writing.updates import read_update

    for operation in read_update(text, base):
        if isinstance(operation, Modify) and operation.where is not None:
            text_of_where = f"{operation.prologue.as_text()} SELECT * WHERE {operation.where}"
            try:
                query = parse_query(text_of_where, base).query
            except NotUnderstood:
                continue
            warn_of_misuse(query, report)
            warn_of_unknown(query, report)


_MOST = 64
"""How many updates are committed together at most."""
_TURNS = 4
"""Of eight clients, half are in a batch without these turns: then an update takes 143 us of CPU, not 119."""
OUTCOME = "update_outcome"
"""Key in the state of a request for the outcome of its update, if that was executed already."""
_LONG = 16_384
"""Updates of more characters are parsed on a separate thread, so that others do not wait."""


class UpdateWriter(Protocol):
    """The methods of the writer that are needed here."""

    def commit_built(self, build: Callable[[], Change], *, settle: bool = True) -> Verdict:
        """Commit the change that ``build`` makes, called with the writer's lock held."""
        ...

    def commit_group(self, changes: Sequence[Change], outcomes: list[Outcome]) -> None:
        """Commit changes one after another, and append each result to ``outcomes``."""
        ...

    def settle(self, revision: int) -> None:
        """Return when a revision may be acknowledged that was committed without that."""
        ...


class Update:
    """One update; `on_outcome` is called once, on the event loop, with its outcome."""

    def __init__(
        self,
        request: ProtocolRequest,
        timeout_s: float,
        base: str | None,
        on_outcome: Callable[[Outcome | BaseException], None],
    ) -> None:
        self.request = request
        self.timeout_s = timeout_s
        self.base = base
        self.is_over = False
        self.mark = current_mark()
        """Of a request that may be repeated; its commit is its own."""
        self.change: Change | None = None
        """The change, where it follows from the text alone."""
        self.operations: tuple[Operation, ...] | None = None
        """None where the text is not parsed, or only in a separate process, since parsing might crash."""
        self._on_outcome = on_outcome
        self._is_read = False

    def read(self, *, removals: bool) -> None:
        """Read the text, once; with `removals`, DELETE DATA becomes a change too. Raises RequestError."""
        if self._is_read:
            return
        self._is_read = True
        request = self.request
        delta = inserted(request.text, self.base)
        # A parser that overflows its stack ends the process: only a reader may run it.
        if delta is None and parses_safely(request.text):
            # Imported with the first update that is no plain INSERT DATA.
            from sparql.writing.updates import read_update, stated

            self.operations = read_update(request.text, self.base)
            delta = stated(self.operations) if removals else None
        if delta is not None:
            self.change = change_of(delta, partial=request.partial)

    def report(self, outcome: Outcome | BaseException) -> None:
        """Report the outcome, unless that was done already."""
        if not self.is_over:
            self.is_over = True
            self._on_outcome(outcome)


class Updates:
    """Executes updates in the order in which they arrive.

    Those whose change follows from their text alone (INSERT DATA, DELETE DATA) and that wait together are
    committed together; one that fails or is refused does not affect the others. Those that evaluate patterns
    are captured in a process, where their deadline ends them, all others here, on ``graph``. No write happens
    between a capture and its commit, so no update is lost. Without `together`, as for a store at another host
    that looks up quads one by one, DELETE DATA is captured as well.
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
        # Separate threads: one holds the writer's lock while the event loop's threads may wait for it.
        self._thread = ThreadPoolExecutor(1, "updates")
        self._batches: SimpleQueue[tuple[list[Update], asyncio.AbstractEventLoop] | None] = SimpleQueue()
        self._under_way: list[Update] = []
        self._working: Future[None] | None = None
        self._reading = ThreadPoolExecutor(2, "long-updates")
        # Where several share a sync, commits wait for the disk while the next updates are executed.
        self._settling = ThreadPoolExecutor(1, "settling") if shares_sync else None
        self._waiting: list[Update] = []
        self._busy = self._called = self._closed = False

    async def answer(self, request: Request, found: ProtocolRequest, timeout_s: float, base: str) -> Response:
        """The response to an update: its revision, or 422 and the report, in the format that `Accept` names.

        With `partial`, what was refused is listed beside the revision.
        """
        # The update lane has executed it, and leaves the answer to this method.
        outcome = request.scope.get("state", {}).get(OUTCOME)
        if isinstance(outcome, BaseException):
            raise outcome
        verdict = outcome if isinstance(outcome, Verdict) else await self.run(found, timeout_s, base)
        if verdict.rejected and not found.partial:
            from server.http.reporting.statements import refusal

            return refusal(request, verdict)
        more = warnings_of(found.text, base, own_functions=self._together)
        warning = warning_of((*found.warnings, *more))
        headers = None if warning is None else {"Warning": warning}
        return JSONResponse(update_json(verdict, partial=found.partial), headers=headers)

    async def run(self, request: ProtocolRequest, timeout_s: float, base: str | None = None) -> Verdict:
        """Capture, judge and commit an update. Raises RequestError, ReadError and WriteError."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Verdict] = loop.create_future()

        def finish(outcome: Outcome | BaseException) -> None:
            if future.done():
                # The client has left; what was committed stays.
                return
            if isinstance(outcome, Verdict):
                future.set_result(outcome)
            else:
                future.set_exception(outcome)

        update = Update(request, timeout_s, base, finish)
        if len(request.text) > _LONG:
            await loop.run_in_executor(self._reading, lambda: update.read(removals=self._together))
        self.enqueue(update)
        return await future

    def enqueue(self, update: Update) -> None:
        """Execute an update when its turn comes; call this on the event loop."""
        self._waiting.append(update)
        if not self._called:
            # Updates that arrive in the same turn of the loop are committed together.
            self._called = True
            asyncio.get_running_loop().call_soon(self._begin)

    def close(self) -> None:
        """Wait for the updates under way, and accept no more."""
        self._closed = True
        self._batches.put(None)
        for executor in (self._reading, self._thread, self._settling):
            if executor is not None:
                executor.shutdown()
        self._refuse_waiting()

    def _refuse_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        for update in waiting:
            update.report(StoreClosing())

    def _begin(self) -> None:
        """Give the waiting updates to the thread, unless it is busy."""
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
        """Execute one batch after the other, until `close` or an unexpected error."""
        while (batch := self._batches.get()) is not None:
            self._under_way, loop = batch
            self._execute(*batch)
            loop.call_soon_threadsafe(self._end)

    def _end(self) -> None:
        """The thread is free again."""
        self._begin_after(_TURNS)

    def _begin_after(self, turns: int) -> None:
        """Begin the next batch after so many turns of the event loop, at once if it is full.

        In these turns the last answers are sent, and their clients send the next updates: larger batches
        take less time for each.
        """
        if turns and len(self._waiting) < _MOST and not self._closed:
            asyncio.get_running_loop().call_soon(self._begin_after, turns - 1)
            return
        self._busy = False
        self._begin()

    def _fail(self, done: Future[None]) -> None:
        """Report an unexpected failure to the first unfinished update, and execute the others."""
        self._working = None
        failure = done.exception()
        if failure is None:
            return
        left = [update for update in self._under_way if not update.is_over]
        if left:
            left[0].report(failure)
        self._waiting[:0] = left[1:]
        self._end()

    def _execute(self, batch: list[Update], loop: asyncio.AbstractEventLoop) -> None:
        """Execute updates in their order."""
        together: list[Update] = []
        for update in batch:
            try:
                update.read(removals=self._together)
            except SparqlError as error:
                self._report([update], [error], loop)
                continue
            if update.change is not None and update.mark is None:
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
            self._report(updates, outcomes, loop)

    def _commit_alone(self, update: Update, loop: asyncio.AbstractEventLoop) -> None:
        request, operations = update.request, update.operations

        from sparql.writing.updates import capture, needs_worker

        def built() -> Change:
            return update.change or change_of(captured(), partial=request.partial)

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
            with marking(update.mark):
                outcome: Outcome = self._writer.commit_built(built, settle=self._settling is None)
        except SparqlError as error:
            outcome = error
        self._report([update], [outcome], loop)

    def _report(
        self, updates: Sequence[Update], outcomes: list[Outcome], loop: asyncio.AbstractEventLoop
    ) -> None:
        """Report the outcomes of the first of these updates, once they are as durable as configured."""
        revisions = [one.revision or 0 for one in outcomes if isinstance(one, Verdict)]
        if self._settling is not None and any(revisions):
            self._settling.submit(self._settle, max(revisions), updates, outcomes, loop)
        elif outcomes:
            loop.call_soon_threadsafe(_report_each, updates, outcomes)

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
        loop.call_soon_threadsafe(_report_each, updates, outcomes)


def update_json(verdict: Verdict, *, partial: bool) -> dict[str, Any]:
    """The answer to an update that was executed."""
    answer: dict[str, Any] = {"revision": verdict.revision, "warnings": []}
    if not (partial or verdict.warnings):
        return answer
    from server.http.reporting.statements import rejection_json

    answer["warnings"] = [rejection_json(one, None) for one in verdict.warnings]
    if partial:
        answer["accepted"] = len(verdict.accepted)
        answer["rejected"] = [rejection_json(one, None) for one in verdict.rejected]
    return answer


def _report_each(updates: Sequence[Update], outcomes: Sequence[Outcome]) -> None:
    for update, outcome in zip(updates, outcomes, strict=False):
        update.report(outcome)
