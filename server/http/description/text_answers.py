"""Models of the answers about texts and questions: extraction, jobs, sources, asking, gaps."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from server.http.description.parts import (
    Answer,
    FeatureCollection,
    JsonObject,
    Page,
    Quote,
    Rejection,
    Statement,
    Term,
    Usage,
)


class Entity(Answer):
    """An entity that a text names."""

    iri: str
    label: str
    classes: list[str]
    new: bool
    mentions: list[Quote]


class ChatMessage(Answer):
    """A message to the model."""

    role: str
    content: str


class Turn(Answer):
    """One request to the model and its reply."""

    stage: str
    prompt: str
    messages: list[ChatMessage]
    reply: str | None
    finish_reason: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float | None
    error: str | None


class WindowTurn(Turn):
    """A turn, with the part of the text that it is about."""

    start: int
    end: int


class StageCost(Answer):
    """What one stage of an extraction needed."""

    stage: str
    turns: int
    seconds: float
    prompt_tokens: int
    completion_tokens: int


class Trace(Answer):
    """Every prompt and every reply of an extraction."""

    model: str
    adapter: str | None
    prompt_version: str
    method: str
    seconds: float
    stages: list[StageCost]
    windows: list[WindowTurn]


class KeptTrace(Trace):
    """A trace that is kept with its run."""

    usage: Usage | None = None


class Incomplete(Answer):
    """Why a text was not read to its end, and the code point of it where that stopped.

    The time for an extraction was over: the setting `extraction_timeout`.
    """

    reason: str
    at: int


class ExtractionAnswer(Answer):
    """What became of a text, or of a client's statements."""

    id: str
    accepted: list[Statement]
    rejected: list[Rejection]
    warnings: list[Rejection]
    derived: int = Field(description="How many spatial relations were derived.")
    revision: int | None = Field(description="Of the graph; null where nothing was written.")
    replaced: list[Statement] = Field(description="What a more exact date took the place of.")
    entities: list[Entity]
    usage: Usage | None
    incomplete: Incomplete | None = Field(description="Null where all of the text was read.")
    trace: Trace | None


class ExtractionRun(Answer):
    """An extraction whose statements are in the graph."""

    id: str
    started: str | None
    ended: str | None
    document: str | None
    source: str | None
    model: str | None
    adapter: str | None
    prompt_version: str | None
    ontology_version: str | None
    shapes_version: str | None


class ExtractionRuns(Page):
    """A page of extractions, the last first."""

    extractions: list[ExtractionRun]


class ExtractionTrace(ExtractionRun):
    """An extraction with its trace, as it was kept."""

    trace: KeptTrace | None


class Job(Answer):
    """Many documents that are extracted in the background, and their progress."""

    id: str
    name: str | None
    state: str
    created: str | None
    ended: str | None
    by: str | None
    source: str | None
    concurrency: int | None
    again: bool
    method: str | None
    problem: str | None
    total: int
    finished: int
    documents: dict[str, int] = Field(description="How many documents are in each state.")


class JobPage(Page):
    """A page of jobs, the newest first."""

    jobs: list[Job]


class JobDocument(Answer):
    """What became of one document of a job.

    The state is `committed` where at least one statement is in the graph, `nothing found` where the text gave
    none, and `waits for review` where all of its statements wait for a person. `rejected`: the text is
    unusable. `failed`: the model gave no usable reply. `duplicate`: the job or the graph has the text.
    """

    position: int
    name: str | None
    source: str | None
    state: Literal[
        "pending",
        "extracting",
        "extracted",
        "committed",
        "nothing found",
        "waits for review",
        "rejected",
        "failed",
        "duplicate",
        "cancelled",
    ]
    characters: int
    document: str
    run: str | None
    attempts: int
    error: str | None
    same_as: int | None
    revision: int | None
    accepted: int | None
    refused: int | None
    warned: int | None
    incomplete: Incomplete | None = Field(description="Null where all of the text was read.")


class JobDocumentPage(Page):
    """A page of a job's documents in the order of posting."""

    documents: list[JobDocument]


class SourceFeature(Answer):
    """The place of a record."""

    iri: str
    known: bool
    accepted: int
    rejected: list[Rejection]
    derived: int


class SourceRecord(Answer):
    """What became of one record."""

    record: str
    name: str | None
    kind: str
    feature: SourceFeature | None
    extraction: ExtractionAnswer | None
    failure: str | None


class CleaningExample(Answer):
    """A text that a cleaning rule dropped or changed."""

    place: str
    excerpt: str


class BrokenRecord(Answer):
    """A record that could not be read."""

    place: str
    reason: str


class Cleaning(Answer):
    """What the cleaning rules did, by the names of the rules."""

    records: int
    texts: int
    places: int
    repeated: int
    dropped: dict[str, int]
    stripped: dict[str, int]
    not_readable: int
    examples: dict[str, list[CleaningExample]]
    broken: list[BrokenRecord]


class SourcesAnswer(Answer):
    """What became of records of places."""

    records: list[SourceRecord]
    cleaning: Cleaning | None


class AskEntity(Answer):
    """What a name of the question was linked to."""

    name: str
    iri: str
    label: str
    classes: list[str]
    start: int
    end: int
    score: float
    reason: Literal["label", "near"]


class PlanStep(Answer):
    """A step of the plan in words; the last has the `tree` of the whole plan."""

    op: str
    sentence: str
    iris: dict[str, str] = {}
    km: float | None = None
    tree: JsonObject | None = None


class ResultsHead(Answer):
    """The variables of a result."""

    vars: list[str] = []
    link: list[str] = []


class ResultsBindings(Answer):
    """The rows of a result."""

    bindings: list[dict[str, Term]]


class SparqlResults(Answer):
    """SPARQL 1.1 Query Results JSON: `results` of a SELECT, `boolean` of an ASK."""

    head: ResultsHead
    results: ResultsBindings | None = None
    boolean: bool | None = None


class Gap(Answer):
    """One thing that is missing, as a sentence and as a triple; `step` is a plan's step, 0 for none."""

    kind: Literal["entity", "schema", "data", "ambiguous"]
    message: str
    step: int
    subject: str
    property: str
    object: str


class AskTrace(Answer):
    """One step of how the answer was found."""

    thought: str
    action: str
    observation: str


class AskAnswer(Answer):
    """The answer to a question; `answer` is null where there is none, and `gaps` then says why."""

    answer: str | None
    sparql: str | None
    plan: list[PlanStep] | None
    entities: list[AskEntity]
    results: SparqlResults | None
    map: FeatureCollection | None
    gaps: list[Gap]
    trace: list[AskTrace]
    usage: Usage


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
