"""Rewrites a query into plain SPARQL before it goes to a reader.

`preparation` says from the text and the options, cheaply, whether there is anything to do; None means that
the query runs as it is. Otherwise the reader pool calls `apply` when it knows the checkpoint, so that
candidates come from an index that is complete for exactly that revision.
"""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyoxigraph import Literal, NamedNode

from sparql.model.errors import MalformedRequest, QueryTimeout
from sparql.model.options import Options
from sparql.protocol.formats import Format
from sparql.rewriting.index import GeometryIndex, IndexUnavailable
from sparql.rewriting.notes import QuadSource
from sparql.rewriting.steps import UNLIMITED, Probe, Report, Row, Steps, Stop, Stopped
from sparql.storage.gil_yield import short_switch_interval

# What reads and writes queries is imported with the first query that has something for it.
if TYPE_CHECKING:
    from sparql.rewriting.text_match import Labels
    from sparql.syntax import nodes as n
    from sparql.syntax.parser import ParsedQuery

Ask = Callable[[Probe], Awaitable[list[Row]]]

_INTERESTING = re.compile(r"opengis\.net|urbankg/system#", re.IGNORECASE)
# A literal with a datatype, which may be a geometry that cannot be read, and relations that are never kept.
_WARNED = re.compile(r"\^\^|rcc[58]", re.IGNORECASE)
_MATCH = "textMatch"
_NEVER_KEPT = ("rcc8dc", "rcc5dc", "rcc5ec", "rcc5po", "rcc5eq", "rcc5in", "rcc5ini")
_FUNCTIONS = "opengis.net/def/function"
_LOOKED_BACK_S = 60.0


class Rewriter:
    """Rewrites queries over one store; to be closed.

    `inferring` means that inferences are kept in the graph.
    """

    def __init__(
        self, source: QuadSource, labels: Callable[[], Labels] | None = None, *, inferring: bool = False
    ) -> None:
        self._inferring = inferring
        self._labels = labels
        self.geometries = GeometryIndex(source)
        self._source = source
        self._thread = ThreadPoolExecutor(1, "rewriting")
        # Held while that thread uses the index.
        self._turn = threading.Lock()
        # Revisions: one that was the newest this long ago, and one since then.
        self._oldest = self._younger = 0
        self._marked_at = time.monotonic()

    def preparation(
        self, text: str, options: Options, *, base: str | None = None, own_dataset: bool = False
    ) -> Preparation | None:
        """What has to be done to a query before it runs; None for nothing.

        `own_dataset` means that the request names the graphs to query.
        """
        if not (options.changes_answers or options.explain or _INTERESTING.search(text)):
            return None
        return Preparation(self, text, options, base, own_dataset=own_dataset)

    def may_warn(self, text: str) -> bool:
        """Whether a query without functions may get a warning from `steps`, as far as its text shows."""
        return _WARNED.search(text) is not None and _INTERESTING.search(text) is not None

    def warm(self) -> None:
        """Build the index of geometries in the background, so that no query waits for it."""
        with suppress(RuntimeError):
            # Closed already: the server ends before it was open.
            self._thread.submit(self._in_turn, self._build)

    def close(self) -> None:
        """Stop the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def wait_until_idle(self, timeout_s: float) -> None:
        """Return when nothing uses the index any more, or after the timeout. To be called after `close`."""
        if self._turn.acquire(timeout=timeout_s):
            self._turn.release()

    def _build(self) -> None:
        try:
            with short_switch_interval():
                self.geometries.at(self._source.revision())
        except IndexUnavailable:
            # The first query that needs it will try again.
            return

    def index_answer(
        self, preparation: Preparation, format_: Format, stop: Stop | None = None
    ) -> IndexAnswer | None:
        """The answer as the index alone knows it at the newest revision; None where a reader must answer.

        In the rewriter's own thread, as `steps`. Raises `Stopped`.
        """
        if not preparation.may_be_index_answer:
            return None
        from sparql.rewriting.index_answers import question_of

        stop = stop or UNLIMITED
        stop.check()
        question = question_of(preparation.text, preparation.base)
        if question is None:
            return None
        try:
            revision = self._source.revision()
            state = self.geometries.at(revision, self._looked_back(revision))
            table = question.answer(state, revision, stop)
        except IndexUnavailable:
            return None
        return None if table is None else IndexAnswer(table.written(format_), revision)

    def _looked_back(self, revision: int) -> int:
        """A revision that no reader is older than: the newest a minute ago."""
        if (now := time.monotonic()) - self._marked_at > _LOOKED_BACK_S:
            self._oldest, self._younger, self._marked_at = self._younger, revision, now
        return min(self._oldest, revision)

    def steps(self, preparation: Preparation, revision: int) -> Steps[str]:
        """The work on one query, at the revision that it reads."""
        from sparql.syntax.parser import parse_query
        from sparql.syntax.tokens import NotUnderstood

        text, options, report = preparation.text, preparation.options, preparation.report
        try:
            parsed = parse_query(text, preparation.base)
            if parsed.triple_terms:
                raise NotUnderstood("what is new in RDF 1.2 is not read here")
        except NotUnderstood as error:
            if options.changes_answers:
                raise MalformedRequest(
                    f"The options of this query cannot be kept: {error.reason}. Write it in SPARQL 1.1, or "
                    "leave derived and rewrite out."
                ) from error
            self._refuse_unanswered_match(text, preparation.base, error.reason)
            report.leave("parse", text, error.reason)
            return text
        if "opengis.net" in text:
            # Imported here, in the rewriter's thread, as all that needs geometry: the server starts without.
            from sparql.rewriting.query_warnings import (
                refuse_misused_aggregates,
                warn_of_misuse,
                warn_of_unreadable,
            )
            from sparql.syntax.nodes import literals_in

            refuse_misused_aggregates(parsed.query)
            warn_of_unreadable(literals_in(parsed.query), report)
            warn_of_misuse(parsed.query, report)
        if options.explain:
            from sparql.rewriting.query_warnings import warn_of_unknown

            warn_of_unknown(parsed.query, report)
        parsed = parsed.with_query(self._meant(parsed, preparation))
        if not options.optimize:
            report.leave("optimize", text, "the request says optimize=false")
        else:
            own_dataset = preparation.own_dataset or parsed.query.dataset_clause
            parsed = yield from self._accelerated(
                parsed, revision, report, preparation.stop, own_dataset=own_dataset
            )
        return parsed.written()

    def _refuse_unanswered_match(self, text: str, base: str | None, reason: str) -> None:
        """A text match in a query that is not rewritten would silently find nothing."""
        if _MATCH not in text or self._labels is None:
            return
        from sparql.rewriting.text_match import TEXT_MATCH
        from sparql.syntax.tokens import names_iri

        if names_iri(text, TEXT_MATCH.value, base):
            raise MalformedRequest(
                f"urbankg:textMatch cannot be answered in this query: {reason}. Write it in SPARQL 1.1."
            )

    def _meant(self, parsed: ParsedQuery, preparation: Preparation) -> n.Query:
        """The query with its options and our own properties written out."""
        from sparql.rewriting.patterns import hide_derived, with_template
        from sparql.rewriting.text_match import match_labels
        from sparql.rewriting.topology import DERIVED_PROPERTIES, answer_topology, unanswered_property

        options, report, query = preparation.options, preparation.report, parsed.query
        own_dataset = preparation.own_dataset or query.dataset_clause
        labels = self._labels if _MATCH in parsed.text else None
        if options.changes_answers or labels is not None:
            query = with_template(query)
        if labels is not None:
            query = match_labels(parsed.with_query(query), labels, report)
        if options.rewrite:
            if own_dataset:
                raise MalformedRequest(
                    "rewrite=true answers of the default graph; leave FROM and default-graph-uri out."
                )
            query = answer_topology(query, report, derived=options.derived)
        elif (topology := unanswered_property(query)) is not None:
            why = "without rewrite=true it is just looked up"
            report.leave("topology", str(topology), why)
            if topology not in DERIVED_PROPERTIES and topology.value.endswith(_NEVER_KEPT):
                report.warn(f"{topology} is kept of nothing: {why}.")
        if options.derived:
            return query
        if own_dataset:
            report.leave("derived=false", parsed.text, "the request names the graphs that it asks")
            return query
        return hide_derived(query, DERIVED_PROPERTIES, report, inferring=self._inferring)

    def _accelerated(
        self, parsed: ParsedQuery, revision: int, report: Report, stop: Stop, *, own_dataset: bool
    ) -> Steps[ParsedQuery]:
        from sparql.rewriting.acceleration import AccelerationContext, accelerated, is_spatial

        if not is_spatial(parsed.query):
            return parsed
        try:
            state = self.geometries.at(revision)
        except IndexUnavailable as error:
            report.leave("optimize", parsed.text, error.reason)
            return parsed
        around = AccelerationContext(
            state,
            revision,
            self._count,
            plain_dataset=not own_dataset,
            stop=stop,
        )
        return (yield from accelerated(parsed, around, report))

    def _count(self, triple: n.TriplePattern, limit: int) -> int:
        subject, value = (
            one if isinstance(one, NamedNode | Literal) else None for one in (triple.subject, triple.object)
        )
        found = self._source.match_quads(subject, triple.predicate, value)
        return sum(1 for _, _ in zip(range(limit), found, strict=False))

    async def run(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Run something in the rewriter's own thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._in_turn, work, *arguments)

    def _in_turn(self, work: Callable[..., Any], *arguments: Any) -> Any:
        with self._turn:
            return work(*arguments)


@dataclass(frozen=True)
class IndexAnswer:
    """An answer from the index, and its revision."""

    body: bytes
    revision: int


class Preparation:
    """One query with its options, and after `apply` the report of what was done to it."""

    def __init__(
        self, rewriter: Rewriter, text: str, options: Options, base: str | None, *, own_dataset: bool
    ) -> None:
        self._rewriter = rewriter
        self.text = text
        self.options = options
        self.base = base
        self.own_dataset = own_dataset
        self.stop = UNLIMITED
        self.report = Report()

    @property
    def optional(self) -> bool:
        """Whether the answer would be the same without it."""
        return not self.options.changes_answers and _MATCH not in self.text

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings for the client; after `apply`."""
        return tuple(self.report.warnings)

    def explanation(self, rewritten: str, revision: int) -> dict[str, Any]:
        """What was done to the query, as JSON members; after `apply`."""
        return {
            "query": self.text,
            "rewritten": rewritten,
            "revision": revision,
            **self.report.members(),
        }

    @property
    def may_be_index_answer(self) -> bool:
        """Whether the index may know the answer without a reader, as far as the text and the options show."""
        options = self.options
        if options.changes_answers or options.explain or not options.optimize or self.own_dataset:
            return False
        return _FUNCTIONS in self.text and _MATCH not in self.text

    async def index_answer(self, format_: Format, timeout_s: float) -> IndexAnswer | None:
        """The answer where the index knows it without a reader; None where the query must run.

        Raises `QueryTimeout`. The work ends soon after this is cancelled.
        """
        if not self.may_be_index_answer:
            return None
        stop = Stop(timeout_s)
        try:
            found: IndexAnswer | None = await self._rewriter.run(
                self._rewriter.index_answer, self, format_, stop
            )
        except Stopped:
            raise QueryTimeout(timeout_s) from None
        finally:
            stop.now()
        return found

    async def apply(self, revision: int, ask: Ask, *, timeout_s: float, left_s: float) -> str:
        """The text to run at this revision, within what is left of the query's time.

        Raises RequestError for what the options cannot be kept for, and `QueryTimeout`. The work ends soon
        after this is cancelled.
        """
        self.report = Report()
        self.stop = Stop(left_s)
        steps = self._rewriter.steps(self, revision)
        rows: list[Row] | None = None
        try:
            while True:
                done, value = await self._rewriter.run(_advance, steps, rows)
                if done:
                    assert isinstance(value, str)
                    return value
                rows = await ask(value)
        except Stopped:
            raise QueryTimeout(timeout_s) from None
        finally:
            self.stop.now()


def _advance(steps: Steps[str], rows: list[Row] | None) -> tuple[bool, Probe | str]:
    try:
        return False, next(steps) if rows is None else steps.send(rows)
    except StopIteration as stop:
        return True, stop.value
