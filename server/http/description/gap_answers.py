"""Models of the answers about gaps of questions."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from server.http.description.parts import Answer, Page, Quote, Statement, Term, Usage
from server.http.description.text_answers import Gap


class AskedQuestion(Answer):
    """A question that missed, as it was asked."""

    question: str
    context: str
    history: list[str]
    last: str
    times: int


class ProposedStatement(Answer):
    """A statement that would fill a gap."""

    subject: str
    predicate: str
    object: Term
    evidence: Quote | None
    confidence: float | None


class GapCompletion(Answer):
    """What is proposed for a gap. Nothing of it is in the graph."""

    by: Literal["model", "passages"]
    model: str
    value: str
    verdict: Literal["unverified", "found", "confirmed", "corrected"]
    statements: list[ProposedStatement]
    document: str | None = None
    source: str | None = None
    text: str | None = None


class FoundPassage(Answer):
    """A passage that was looked at; `match` are the words that state what is missing."""

    text: str
    title: str
    source: str
    document: str | None
    start: int
    score: float
    match: Quote | None


class GapDecisionMade(Answer):
    """What a person decided."""

    outcome: str
    at: str
    by: str
    reason: str | None
    statements: list[Statement] = []
    revision: int | None = None


class QueuedGap(Answer):
    """What questions missed, as a triple with "?" for what is unknown."""

    id: str
    kind: Literal["entity", "schema", "data"]
    status: Literal["open", "accepted", "rejected"]
    subject: str
    property: str
    object: str
    message: str
    attempt: str | None = Field(description="The query that was tried.")
    askers: int
    asked: int
    first_asked: str
    last_asked: str
    questions: list[AskedQuestion]
    completion: GapCompletion | None
    passages: list[FoundPassage]
    decisions: list[GapDecisionMade]


class GapTerms(Answer):
    """The IRIs that the words of a gap stand for."""

    subject: str | None
    property: str | None
    object: str | None


class ShownGap(QueuedGap):
    """A gap with the terms of the graph."""

    terms: GapTerms


class GapPage(Page):
    """A page of gaps, those that most have asked for first."""

    gaps: list[QueuedGap]


class GapWorkAnswer(Answer):
    """A gap after the model or passages were asked."""

    gap: QueuedGap
    usage: Usage


class GapAccepted(Answer):
    """A gap after what fills it was committed, and the answer to its question now."""

    gap: QueuedGap
    accepted: list[Statement]
    revision: int | None
    answer: str | None
    missing: list[Gap]


class DecidedGap(Answer):
    """The status of a gap after a bulk decision."""

    id: str
    status: str


class UndecidedGap(Answer):
    """Why a gap could not be decided so."""

    id: str
    reason: str


class GapDecisionsAnswer(Answer):
    """What a bulk decision did."""

    gaps: list[DecidedGap]
    failed: list[UndecidedGap]
    left: int
