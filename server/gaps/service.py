"""Gaps as their administrators see them: lists, completion, verification, decisions."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from pyoxigraph import NamedNode

from curation.documents import PREFIX as DOCUMENT_PREFIX
from curation.documents import Documents
from curation.review.review_item import Reviewer
from server.errors import InvalidBody, SelectionChanged, ServerError
from server.gaps.completion import believed, read_gap, triple_of, verified
from server.gaps.gap_errors import GapDecided, GapIncomplete, GapRefused, PassagesTooSlow
from server.gaps.passages import GraphDocuments
from server.gaps.queue import GapFilter, GapStatus, StoredGap
from server.http.pages import page
from server.http.reporting.statements import StatementJson, rejection_json, statement_json, statement_of
from shapes.errors import DocumentRemoved, DocumentUnknown
from sparql.ask.answer import GapKind
from sparql.ask.plan.nodes import UNKNOWN
from sparql.ask.service import AskResult
from sparql.model.change import Statement
from sparql.model.vocabulary import UKG
from sparql.provenance.records import Support

if TYPE_CHECKING:
    from server.services import Services

PASSAGES: Final = 10
VERIFYING_S: Final = 10.0
"""How long passages are searched for, and after which no further one is read."""
MOST_AT_ONCE: Final = 1_000
_MOST_UNCOUNTED: Final = 20
_NOTHING: Final = (
    "Nothing is proposed for this gap, and its question has no answer yet. Verify it by passages, or send "
    "'value' or 'statements'."
)
_NO_WORD: Final = (
    "The ontology still lacks the word: add it there as a term or a label (see `/ontologies`), or reject "
    "the gap."
)
Chosen = Sequence[tuple[Statement, Support]]


class GapService:
    """Reads and decides for the routes and the command line."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def page(self, wanted: GapFilter, offset: int, limit: int) -> dict[str, Any]:
        """One page of gaps, the most asked first, with the total."""
        found = self._services.gaps.find(wanted)
        return page("gaps", found, offset, limit, lambda one: gap_json(self._services.gaps.get(one)))

    def show(self, identifier: str) -> dict[str, Any]:
        """One gap, with the terms that its words stand for. Raises `GapUnknown`."""
        gap = self._services.gaps.get(identifier)
        return {**gap_json(gap), "terms": read_gap(self._services, gap).json()}

    def selected(
        self, items: Sequence[str] | None, wanted: GapFilter | None, expect: int | None
    ) -> tuple[list[str], int]:
        """The gaps of a bulk decision, and how many more there are. Raises as in the review queue."""
        queue = self._services.gaps
        found = queue.find(wanted) if wanted is not None else list(dict.fromkeys(items or ()))
        if expect is None and len(found) > _MOST_UNCOUNTED:
            message = (
                f"{len(found)} gaps are selected; above {_MOST_UNCOUNTED}, send their number to confirm it"
            )
            raise InvalidBody([("expect", message)])
        if expect is not None and expect != len(found):
            raise SelectionChanged(expect, len(found))
        return found[:MOST_AT_ONCE], max(0, len(found) - MOST_AT_ONCE)

    async def complete(self, identifier: str) -> dict[str, Any]:
        """Keep what the model believes, beside the graph. Raises `ModelError` and `GapIncomplete`."""
        gap = await asyncio.to_thread(self._open, identifier)
        completion = await believed(self._services, gap, self._services.model)
        kept = await asyncio.to_thread(self._services.gaps.complete, gap, completion, gap.passages)
        return gap_json(kept)

    async def verify(self, identifier: str) -> dict[str, Any]:
        """Look the gap up in passages that name its thing, and keep what they state.

        Raises `ModelError`, and `PassagesTooSlow` where the search itself takes too long.
        """
        gap = await asyncio.to_thread(self._open, identifier)
        deadline = asyncio.get_running_loop().time() + VERIFYING_S
        name = gap.object if gap.subject == UNKNOWN else gap.subject
        search = partial(
            self._services.passages.search, name, f"{gap.relation} {gap.latest.question}", PASSAGES
        )
        try:
            async with asyncio.timeout_at(deadline):
                passages = await asyncio.to_thread(search)
        except TimeoutError:
            raise PassagesTooSlow(VERIFYING_S) from None
        completion, shown = await verified(self._services, gap, passages, deadline)
        kept = await asyncio.to_thread(self._services.gaps.complete, gap, completion or gap.completion, shown)
        return gap_json(kept)

    async def accept(
        self,
        identifier: str,
        by: Reviewer,
        *,
        reason: str | None = None,
        statements: Sequence[StatementJson] | None = None,
        value: str | None = None,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Commit what fills a gap, through the gate, and ask the question again.

        `statements` or a `value` take the place of the completion. Without any of them, and for a word of the
        ontology, it is enough that the question is answered meanwhile.
        Raises `GapDecided`, `GapIncomplete` and `GapRefused`.
        """
        gap = await asyncio.to_thread(self._open, identifier)
        done: dict[str, Any] = {"accepted": [], "revision": None}
        filled = not (statements or value) and (gap.kind is GapKind.SCHEMA or gap.completion is None)
        if filled:
            result = await self._asked_again(gap)
            if result.answer is None:
                raise GapIncomplete(_NO_WORD if gap.kind is GapKind.SCHEMA else _NOTHING)
        else:
            done = await asyncio.to_thread(self._commit, gap, by, statements, value, dry_run)
        if not dry_run:
            # Without the words of a document: it may be removed later.
            plain = [{**one, "evidence": None} for one in done["accepted"]]
            made = {"by": by.name, "reason": reason, "statements": plain, "revision": done["revision"]}
            gap = await asyncio.to_thread(self._services.gaps.decide, gap, GapStatus.ACCEPTED, made)
        if not filled:
            result = await self._asked_again(gap)
        return {"gap": gap_json(gap), **done, "answer": result.answer, "missing": result.gaps}

    async def _asked_again(self, gap: StoredGap) -> AskResult:
        asked = gap.latest
        return await self._services.asker.ask(asked.question, context=asked.context, history=asked.history)

    def reject(self, identifier: str, by: Reviewer, reason: str | None) -> dict[str, Any]:
        """Decide that a gap is not to be filled. Raises `GapDecided`."""
        return self._decide(self._open(identifier), GapStatus.REJECTED, by, reason)

    def reopen(self, identifier: str, by: Reviewer, reason: str | None) -> dict[str, Any]:
        """Take a rejection back. Raises `GapDecided`: what was accepted is taken back in the review queue."""
        gap = self._services.gaps.get(identifier)
        if gap.status is not GapStatus.REJECTED:
            raise GapDecided(identifier, gap.status.value, "reopened")
        return self._decide(gap, GapStatus.OPEN, by, reason)

    async def decide(
        self, decision: str, gaps: Sequence[str], by: Reviewer, reason: str | None
    ) -> dict[str, Any]:
        """Decide many gaps, each by itself; those that cannot be decided so are listed with why."""
        done, failed = [], []
        for identifier in gaps:
            try:
                if decision == "accept":
                    decided = (await self.accept(identifier, by, reason=reason))["gap"]
                else:
                    act = self.reject if decision == "reject" else self.reopen
                    decided = await asyncio.to_thread(act, identifier, by, reason)
            except ServerError as error:
                failed.append({"id": identifier, "reason": str(error)})
            else:
                done.append({"id": identifier, "status": decided["status"]})
        return {"gaps": done, "failed": failed}

    def _open(self, identifier: str) -> StoredGap:
        gap = self._services.gaps.get(identifier)
        if gap.status is not GapStatus.OPEN:
            raise GapDecided(identifier, gap.status.value, "decided again")
        return gap

    def _decide(self, gap: StoredGap, status: GapStatus, by: Reviewer, reason: str | None) -> dict[str, Any]:
        return gap_json(self._services.gaps.decide(gap, status, {"by": by.name, "reason": reason}))

    def _commit(
        self,
        gap: StoredGap,
        by: Reviewer,
        statements: Sequence[StatementJson] | None,
        value: str | None,
        dry_run: bool,
    ) -> dict[str, Any]:
        facts = {UKG.acceptedBy: by.name, UKG.question: gap.latest.question}
        source, text = f"gap {gap.id}", None
        completion = gap.completion
        chosen: Chosen
        if statements:
            chosen = [statement_of(one) for one in statements]
        elif value:
            chosen = [(Statement(triple_of(self._services, gap, value)), Support())]
        elif completion is None:
            raise GapIncomplete(_NOTHING)
        elif completion["statements"]:
            chosen = [statement_of(StatementJson.model_validate(one)) for one in completion["statements"]]
            facts[UKG.model] = completion["model"]
            source, text = completion["source"], self._text(completion)
        else:
            chosen = [(Statement(triple_of(self._services, gap, completion["value"])), Support())]
            facts[UKG.model] = completion["model"]
        for only_tried in (True, False):
            outcome = self._services.intake.take(
                chosen, source=source, text=text, commit=not only_tried, facts=facts
            )
            if outcome.verdict.rejected:
                refused = [rejection_json(one, None) for one in outcome.verdict.rejected]
                raise GapRefused(refused)
            if dry_run:
                break
        accepted = [
            statement_json(one.triple, outcome.supports.get(one.triple)) for one in outcome.verdict.accepted
        ]
        return {"accepted": accepted, "revision": outcome.verdict.revision}

    def _text(self, completion: dict[str, Any]) -> str | None:
        if completion["document"] is None:
            return str(completion["text"])
        return self._services.documents.get(NamedNode(completion["document"])).text


def graph_documents(documents: Documents) -> GraphDocuments:
    """The documents of the graph, for the index of passages."""

    def read(iri: str) -> tuple[str, str] | None:
        try:
            found = documents.get(NamedNode(iri))
        except (DocumentUnknown, DocumentRemoved):
            return None
        if found.text is None:
            return None
        return found.text, found.source or iri.removeprefix(DOCUMENT_PREFIX)

    return GraphDocuments(lambda: (iri.value for iri in documents.find()), read)


def gap_json(gap: StoredGap) -> dict[str, Any]:
    """A gap with its questions, what is proposed for it, and decisions."""
    return {
        "id": gap.id,
        "kind": gap.kind.value,
        "status": gap.status.value,
        "subject": gap.subject,
        "property": gap.relation,
        "object": gap.object,
        "message": gap.message,
        "attempt": gap.attempt,
        "askers": gap.askers,
        "asked": gap.asked,
        "first_asked": gap.first,
        "last_asked": gap.last,
        "questions": list(gap.questions),
        "completion": gap.completion,
        "passages": list(gap.passages),
        "decisions": list(gap.decisions),
    }
