"""Every operation once: the request, and how its answer is read. `client` sends them, waiting or not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, Literal, NotRequired, TypedDict, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel

from urbankg_client.models import (
    AskAnswer,
    AskTrace,
    DecisionAnswer,
    ExtractionAnswer,
    GraphWritten,
    Health,
    Job,
    JobDocument,
    JobDocumentPage,
    JobPage,
    Quote,
    ReadReviewItem,
    ReviewItems,
    ShownReviewItem,
    SparqlResults,
    Statement,
    SuggestedCorrections,
    Suggestion,
    SuggestionsAnswer,
    Term,
    UpdateAnswer,
)
from urbankg_client.rows import Rows

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
Method = Literal["fast", "thorough", "open", "zero_shot", "one_shot", "three_shot"]
Status = Literal["open", "accepted", "rejected", "superseded", "any"]
_RESULTS: Final = {"accept": "application/sparql-results+json", "content-type": "application/sparql-query"}


class JobRecord(TypedDict):
    """A text of a job, and what you know it by."""

    text: str
    name: NotRequired[str]
    source: NotRequired[str]


@dataclass(frozen=True)
class NewStatement:
    """A statement of your own; `iri` and `literal` make its object."""

    subject: str
    predicate: str
    object: Term
    evidence: Quote | None = None
    confidence: float | None = None


@dataclass(frozen=True)
class Call(Generic[T]):
    """One request, and how its answer is read. A write has the same `Idempotency-Key` in every attempt."""

    method: str
    path: str
    read: Callable[[httpx.Response], T]
    params: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    content: str | bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    writes: bool = False


@dataclass(frozen=True)
class Pages(Generic[T]):
    """A list that comes in pages, each of which names the next (RFC 8288)."""

    first: Call[list[T]]


@dataclass(frozen=True)
class StepByStep(Generic[M]):
    """A request whose work is sent as it goes on: steps, and the answer last."""

    call: Call[None]
    step: type[M]
    answer: type[M]


class ExtractionStep(BaseModel):
    """`read`: a part of the text was read, `done` of `of`; `link`: names were linked."""

    action: Literal["read", "link"]
    done: int | None = None
    of: int | None = None
    start: int | None = None
    end: int | None = None
    triples: int | None = None
    candidates: int | None = None
    entities: int | None = None


def health() -> Call[Health]:
    """Whether the server lives, its versions and the graph's revision."""
    return Call("GET", "/healthz", _model(Health))


def extract(
    text: str,
    *,
    source: str | None = None,
    commit: bool = True,
    method: Method | None = None,
) -> Call[ExtractionAnswer]:
    """Read a text: what it says enters the graph or waits in review. `commit=False` only tries."""
    body = _given(text=text, source=source, commit=commit, method=method)
    return Call("POST", "/extractions", _model(ExtractionAnswer), body=body, writes=True)


def commit_dry_run(dry_run: str) -> Call[ExtractionAnswer]:
    """Commit what `extract` with `commit=False` showed, by its `id`; no model is asked."""
    body = {"dry_run": dry_run}
    return Call("POST", "/extractions", _model(ExtractionAnswer), body=body, writes=True)


def candidates(
    statements: Iterable[NewStatement | Statement],
    *,
    text: str | None = None,
    source: str | None = None,
    commit: bool = True,
) -> Call[ExtractionAnswer]:
    """Send statements of your own through the gate; with `text`, their evidence is checked."""
    body = _given(statements=[_statement(one) for one in statements], text=text, source=source, commit=commit)
    return Call("POST", "/candidates", _model(ExtractionAnswer), body=body, writes=True)


def ask(question: str, *, context: str = "", history: Sequence[str] = ()) -> Call[AskAnswer]:
    """Ask in words; `history` holds the questions before."""
    body = {"question": question, "context": context, "history": list(history)}
    return Call("POST", "/ask", _model(AskAnswer), body=body)


def ask_in_steps(
    question: str, *, context: str = "", history: Sequence[str] = ()
) -> StepByStep[AskTrace | AskAnswer]:
    """As `ask`: each step as it is taken, then the answer."""
    return StepByStep(_unread(ask(question, context=context, history=history)), AskTrace, AskAnswer)


def extract_in_steps(
    text: str, *, source: str | None = None, commit: bool = True, method: Method | None = None
) -> StepByStep[ExtractionStep | ExtractionAnswer]:
    """As `extract`: what was done as it is done, then the answer."""
    call = extract(text, source=source, commit=commit, method=method)
    return StepByStep(_unread(call), ExtractionStep, ExtractionAnswer)


def suggest(
    text: str, *, kind: Literal["entity", "class", "property"] | None = None, limit: int = 10
) -> Call[list[Suggestion]]:
    """Entities, classes and properties whose names begin so."""
    read = _model(SuggestionsAnswer)
    params = _given(text=text, kind=kind, limit=limit)
    return Call("GET", "/suggest", lambda answer: read(answer).suggestions, params=params)


def query(sparql: str, *, timeout: float | None = None) -> Call[Rows]:
    """The rows of a SELECT."""
    read = _model(SparqlResults)
    return _query(sparql, lambda answer: Rows(read(answer)), timeout, _RESULTS)


def query_boolean(sparql: str, *, timeout: float | None = None) -> Call[bool]:
    """The answer of an ASK."""
    read = _model(SparqlResults)
    return _query(sparql, lambda answer: bool(read(answer).boolean), timeout, _RESULTS)


def query_graph(sparql: str, *, media_type: str = "text/turtle", timeout: float | None = None) -> Call[str]:
    """The graph of a CONSTRUCT or DESCRIBE, as text."""
    return _query(sparql, lambda answer: answer.text, timeout, {**_RESULTS, "accept": media_type})


def update(sparql: str) -> Call[UpdateAnswer]:
    """Carry out a SPARQL update; what does not conform raises `Refused`."""
    headers = {"content-type": "application/sparql-update"}
    return Call("POST", "/update", _model(UpdateAnswer), content=sparql, headers=headers, writes=True)


def load(
    data: str | bytes, *, graph: str | None = None, media_type: str = "text/turtle", partial: bool = False
) -> Call[GraphWritten | None]:
    """Add RDF to the default graph or to one of your own; None where there is nothing to say of it."""
    params = {"default": ""} if graph is None else {"graph": graph}
    read = _model(GraphWritten)
    return Call(
        "POST",
        "/store",
        lambda answer: read(answer) if answer.content else None,
        params={**params, **({"partial": "true"} if partial else {})},
        content=data,
        headers={"content-type": media_type},
        writes=True,
    )


def start_job(
    texts: Iterable[str | JobRecord],
    *,
    name: str | None = None,
    source: str | None = None,
    method: Method | None = None,
    again: bool = False,
) -> Call[Job]:
    """Hand over many texts; answered when all of them are on the server's disk."""
    records = ({"text": one} if isinstance(one, str) else one for one in texts)
    params = _given(name=name, source=source, method=method, again="true" if again else None)
    lines = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records)
    headers = {"content-type": "application/x-ndjson"}
    return Call("POST", "/jobs", _model(Job), params, content=lines, headers=headers, writes=True)


def job(identifier: str) -> Call[Job]:
    """The progress of a job."""
    return Call("GET", f"/jobs/{_part(identifier)}", _model(Job))


def change_job(identifier: str, action: Literal["pause", "resume", "cancel", "retry"]) -> Call[Job]:
    """Pause a job, let it go on, end it, or take up again what failed."""
    return Call("POST", f"/jobs/{_part(identifier)}/{action}", _model(Job), writes=True)


def jobs(*, limit: int = 50) -> Pages[Job]:
    """All jobs, the newest first; `limit` is the size of a page."""
    read = _model(JobPage)
    return Pages(Call("GET", "/jobs", lambda answer: read(answer).jobs, {"limit": limit}))


def job_documents(identifier: str, *, state: str | None = None, limit: int = 200) -> Pages[JobDocument]:
    """What became of each text of a job, in the order of posting."""
    read = _model(JobDocumentPage)
    path, params = f"/jobs/{_part(identifier)}/documents", _given(state=state, limit=limit)
    return Pages(Call("GET", path, lambda answer: read(answer).documents, params))


def review(
    *,
    status: Status = "open",
    text: str | None = None,
    document: str | None = None,
    source: str | None = None,
    shape: str | None = None,
    assignee: str | None = None,
    limit: int = 50,
) -> Pages[ReadReviewItem]:
    """What waits for a person, the newest first."""
    read = _model(ReviewItems)
    params = _given(
        status=status,
        text=text,
        document=document,
        source=source,
        shape=shape,
        assignee=assignee,
        limit=limit,
    )
    return Pages(Call("GET", "/review", lambda answer: read(answer).items, params))


def review_item(item: str) -> Call[ShownReviewItem]:
    """One item, with entities that its names may mean."""
    return Call("GET", f"/review/{_part(item)}", _model(ShownReviewItem))


def corrections(item: str) -> Call[SuggestedCorrections]:
    """Corrections of an item that the gate would accept."""
    return Call("GET", f"/review/{_part(item)}/suggestions", _model(SuggestedCorrections))


def accept(
    item: str,
    *,
    statements: Iterable[NewStatement | Statement] | None = None,
    entities: Mapping[str, str | None] | None = None,
    reason: str | None = None,
    by: str | None = None,
    dry_run: bool = False,
) -> Call[DecisionAnswer]:
    """Accept an item, or `statements` in its place.

    `entities` answers the item's `choices`: for each entity the IRI that is meant, or None for a new one.
    """
    instead = None if statements is None else [_statement(one) for one in statements]
    meant = None if entities is None else dict(entities)
    return _decide(item, "accept", statements=instead, entities=meant, reason=reason, by=by, dry_run=dry_run)


def reject(item: str, *, reason: str, by: str | None = None, dry_run: bool = False) -> Call[DecisionAnswer]:
    """Reject an item; the same statement is refused from then on."""
    return _decide(item, "reject", reason=reason, by=by, dry_run=dry_run)


def reopen(
    item: str, *, reason: str | None = None, by: str | None = None, dry_run: bool = False
) -> Call[DecisionAnswer]:
    """Take a decision back."""
    return _decide(item, "reopen", reason=reason, by=by, dry_run=dry_run)


def undo(decision: str, *, reason: str | None = None, by: str | None = None) -> Call[DecisionAnswer]:
    """Undo a decision on all of its items."""
    path, body = f"/review/decisions/{_part(decision)}/undo", _given(reason=reason, by=by)
    return Call("POST", path, _model(DecisionAnswer), body=body, writes=True)


def _decide(item: str, decision: str, **members: Any) -> Call[DecisionAnswer]:
    path = f"/review/{_part(item)}/{decision}"
    return Call("POST", path, _model(DecisionAnswer), body=_given(**members), writes=True)


def _query(
    sparql: str, read: Callable[[httpx.Response], T], timeout: float | None, headers: Mapping[str, str]
) -> Call[T]:
    return Call("POST", "/query", read, _given(timeout=timeout), content=sparql, headers=headers)


def _unread(call: Call[Any]) -> Call[None]:
    """The call, with an answer that comes in events."""
    return replace(call, read=lambda response: None)


def _model(kind: type[M]) -> Callable[[httpx.Response], M]:
    return lambda answer: kind.model_validate_json(answer.content)


def _given(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def _part(identifier: str) -> str:
    """An identifier as one part of a path."""
    return quote(identifier, safe="")


def _statement(one: NewStatement | Statement) -> dict[str, Any]:
    return _given(
        subject=one.subject,
        predicate=one.predicate,
        object=one.object.model_dump(by_alias=True, exclude_defaults=True),
        evidence=one.evidence and one.evidence.model_dump(),
        confidence=one.confidence,
    )
