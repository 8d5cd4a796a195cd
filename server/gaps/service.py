"""The loop from questions that miss to statements that answer them (CogMG, sections 2.2 and 2.3).

Gaps as their administrators see them: lists, what the model believes, what passages state, and decisions. A
gap's triple is in words; its known parts are read as terms of the graph. Passages are read by the one
extraction, so that what they state is linked, checked and comes with the words that say it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from pyoxigraph import NamedNode, Triple

from curation.documents import PREFIX as DOCUMENT_PREFIX
from curation.documents import Documents
from curation.review.review_item import Reviewer
from extractors.candidates import Candidate, Extraction
from extractors.errors import ModelError
from extractors.models.chat import ChatModel
from extractors.prompting.prompt import load_prompt
from ontology.labels import normalize, with_article
from ontology.terms import OntologyProperty, PropertyKind
from server.curation.proposing import entity_named, object_of
from server.errors import InvalidBody, SelectionChanged, ServerError
from server.gaps import GapDecided, GapIncomplete, GapRefused, PassagesTooSlow
from server.gaps.storage import GapFilter, GapStatus, GraphDocuments, Passage, StoredGap
from server.http.pages import page
from server.http.reporting.statements import (
    StatementJson,
    rejection_json,
    statement_json,
    statement_of,
    term_json,
)
from shapes.errors import DocumentRemoved, DocumentUnknown
from sparql.ask.answer import GapKind
from sparql.ask.linking.words import english
from sparql.ask.plan.nodes import UNKNOWN
from sparql.ask.service import AskResult
from sparql.model.change import Statement
from sparql.model.vocabulary import RDF, RDFS, UKG
from sparql.provenance.records import Support

if TYPE_CHECKING:
    from server.services import Services

_TOKENS: Final = 60
_NAMES_SHOWN: Final = 5
_DATES: Final = ("date", "gYear")
_NUMBERS: Final = frozenset(("integer", "decimal", "double", "float", "nonNegativeInteger"))
_VALUE: Final = {
    "type": "object",
    "properties": {"value": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
    "required": ["value"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class ReadGap:
    """The known parts of a gap's triple as terms of the graph; None for those that are not."""

    subject: NamedNode | None
    relation: OntologyProperty | None
    object: NamedNode | None

    def json(self) -> dict[str, str | None]:
        """The IRIs."""
        ends = {
            "subject": self.subject,
            "property": None if self.relation is None else self.relation.iri,
            "object": self.object,
        }
        return {name: None if iri is None else iri.value for name, iri in ends.items()}

    @property
    def open_end(self) -> str | None:
        """Which end of the triple is missing, if the rest is known."""
        if self.relation is None or (self.subject is None) == (self.object is None):
            return None
        return "subject" if self.subject is None else "object"


def read_gap(services: Services, gap: StoredGap) -> ReadGap:
    """Read the parts of a gap; blocks."""
    return _read(services, gap.subject, gap.relation, gap.object)


def _read(services: Services, subject: str, relation: str, object_: str) -> ReadGap:
    declared = None if relation == UNKNOWN else services.schema.find_property(relation)
    nothing: frozenset[NamedNode] = frozenset()
    ends = [
        None if words == UNKNOWN else entity_named(services, words, nothing) for words in (subject, object_)
    ]
    return ReadGap(ends[0], declared, ends[1])


def is_completable(services: Services, gap: Mapping[str, Any]) -> bool:
    """Whether somebody can fill a gap of an answer; blocks.

    In the data: a property of one thing that the graph has. A name: always. In the ontology: a word that may
    be a term, and not how a question is put.
    """
    kind, relation = GapKind(gap["kind"]), gap["property"]
    if kind is GapKind.DATA:
        return _read(services, gap["subject"], relation, gap["object"]).open_end is not None
    if kind is GapKind.SCHEMA:
        words = relation.casefold().split()
        wordings = frozenset(english()["wordings"].split())
        return relation != UNKNOWN and not any(word in wordings or word.endswith("ly") for word in words)
    return kind is GapKind.ENTITY


def triple_of(services: Services, gap: StoredGap, value: str) -> Triple:
    """The gap's triple with words in place of "?". Raises `GapIncomplete` where they cannot be read."""
    read = read_gap(services, gap)
    if read.open_end is None or read.relation is None:
        raise GapIncomplete(
            f'"{gap.subject} | {gap.relation} | {gap.object}" has more than one unknown part, or its words '
            "are no terms of the graph: send the statements with their IRIs as 'statements'."
        )
    if read.open_end == "object":
        assert read.subject is not None
        found = object_of(services, read.relation, value)
        if found is not None:
            return Triple(read.subject, read.relation.iri, found)
    else:
        subject = entity_named(services, value, read.relation.domains)
        if subject is not None and read.object is not None:
            return Triple(subject, read.relation.iri, read.object)
    raise GapIncomplete(
        f'"{value}" is no value of "{read.relation.label}", and nothing in the graph has this name: write it '
        "otherwise, or send 'statements' that add it."
    )


async def believed(services: Services, gap: StoredGap, model: ChatModel) -> dict[str, Any]:
    """What the model believes, marked as its own. Raises `ModelError` and `GapIncomplete`."""
    if model.prompt_profile != "full":
        raise GapIncomplete(
            "The embedded model knows nothing beyond a text. Set `model_url` to a model server, or verify "
            "the gap by passages."
        )
    prompt = load_prompt("gap-completion", services.settings.prompts)
    words = {"subject": gap.subject, "property": gap.relation, "object": gap.object}
    expected = await asyncio.to_thread(_expected, services, gap)
    messages = prompt.messages({"question": gap.latest.question, **words, **expected})
    reply = await model.complete(messages, schema=_VALUE, max_tokens=_TOKENS)
    try:
        value = str(json.loads(reply.text)["value"] or "").strip()
    except (ValueError, KeyError, TypeError):
        value = ""
    if not value:
        raise GapIncomplete("The model does not know it. Verify the gap by passages, or send the value.")
    return {"by": "model", "model": reply.model, "value": value, "verdict": "unverified", "statements": []}


def _expected(services: Services, gap: StoredGap) -> dict[str, str]:
    """What the unknown part of a gap is, and how the graph writes names of that class; blocks."""
    read, schema = read_gap(services, gap), services.schema
    if read.open_end is None or read.relation is None:
        return {"range": "a name or a value", "names": ""}
    terms = read.relation.domains if read.open_end == "subject" else read.relation.ranges
    classes = sorted(
        (schema.classes[iri] for iri in terms if iri in schema.classes), key=lambda one: one.label
    )
    if not classes:
        return {"range": _datatype(read), "names": ""}
    wanted = {below: None for one in classes for below in sorted(schema.subclasses(one.iri), key=str)}
    labels = (
        entries[0].label
        for kind in wanted
        for triple in services.store.match(None, RDF.type, kind)
        if isinstance(triple.subject, NamedNode) and (entries := services.labels.entries_of(triple.subject))
    )
    names = list(islice(dict.fromkeys(islice(labels, 20 * _NAMES_SHOWN)), _NAMES_SHOWN))
    return {
        "range": with_article(" or ".join(one.label for one in classes)),
        "names": f" Names of such things are written so: {'; '.join(names)}." if names else "",
    }


def _datatype(read: ReadGap) -> str:
    assert read.relation is not None
    if read.relation.kind is PropertyKind.OBJECT or read.open_end == "subject":
        return "a name"
    kinds = {iri.value.rpartition("#")[2] for iri in read.relation.ranges}
    if any(kind.startswith(_DATES) for kind in kinds):
        return "a date"
    return "a number" if kinds & _NUMBERS else "text"


async def verified(
    services: Services, gap: StoredGap, passages: Sequence[Passage], deadline: float
) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    """What the best passage states about the gap, and the passages with the words that match.

    Passages are read in their order until one states it; after the deadline (of the loop's clock) no further
    one is begun. One that the model fails at is passed over.
    """
    read = await asyncio.to_thread(read_gap, services, gap)
    shown = [{**asdict(passage), "match": None} for passage in passages]
    failure: ModelError | None = None
    for passage, one in zip(passages, shown, strict=True):
        if read.open_end is None and gap.kind is not GapKind.ENTITY:
            break
        if passage is not passages[0] and asyncio.get_running_loop().time() > deadline:
            break
        try:
            extraction = await services.intake.pipeline.extract(passage.text)
        except ModelError as error:
            failure = error
            continue
        matches = _matching(extraction, gap, read)
        if matches:
            evidence = matches[0].evidence
            one["match"] = None if evidence is None else asdict(evidence)
            return _found(gap, passage, extraction, matches), shown
    if failure is not None:
        raise failure
    return None, shown


def _matching(extraction: Extraction, gap: StoredGap, read: ReadGap) -> list[Candidate]:
    """The statements of a text that fill a gap, without those that the extraction itself doubts."""
    sound = [one for one in extraction.candidates if not one.problems]
    if gap.kind is GapKind.ENTITY:
        wanted = normalize(gap.subject)
        named = {entity.iri for entity in extraction.entities if normalize(entity.label) == wanted}
        return [one for one in sound if one.subject in named or one.object in named]
    assert read.relation is not None
    same = [one for one in sound if one.predicate == read.relation.iri]
    if read.open_end == "object":
        return [one for one in same if one.subject == read.subject]
    return [one for one in same if one.object == read.object]


def _found(
    gap: StoredGap, passage: Passage, extraction: Extraction, matches: Sequence[Candidate]
) -> dict[str, Any]:
    ends = {end for one in matches for end in (one.subject, one.object)}
    new = {entity.iri for entity in extraction.entities if entity.new and entity.iri in ends}
    naming = [
        one
        for one in extraction.candidates
        if one.subject in new and one.predicate in (RDF.type, RDFS.label) and not one.problems
    ]
    chosen = list(dict.fromkeys((*matches, *naming)))
    value = term_json(matches[0].object)["value"]
    earlier = gap.completion if gap.completion and gap.completion["by"] == "model" else None
    return {
        "by": "passages",
        "model": extraction.model,
        "value": value,
        "verdict": _verdict(earlier, matches),
        "statements": [_statement(one, passage) for one in chosen],
        "document": passage.document,
        "source": passage.source,
        "text": None if passage.document else passage.text,
    }


def _verdict(earlier: Mapping[str, Any] | None, matches: Collection[Candidate]) -> str:
    """Whether the text says what the model believed."""
    if earlier is None:
        return "found"
    believed_words = normalize(earlier["value"])
    values = {normalize(one.object.value) for one in matches}
    quotes = {normalize(one.evidence.quote) for one in matches if one.evidence is not None}
    said = believed_words in values or any(_within(believed_words, quote) for quote in quotes)
    return "confirmed" if said else "corrected"


def _within(words: Sequence[str], quote: Sequence[str]) -> bool:
    places = range(len(quote) - len(words) + 1)
    return bool(words) and any(quote[at : at + len(words)] == words for at in places)


def _statement(one: Candidate, passage: Passage) -> dict[str, Any]:
    shift = passage.start if passage.document else 0
    support = Support(confidence=one.confidence, inferred=one.inferred)
    if one.evidence is not None:
        start, end = one.evidence.start + shift, one.evidence.end + shift
        support = Support(start, end, one.evidence.quote, one.confidence, inferred=one.inferred)
    made = statement_json(Triple(one.subject, one.predicate, one.object), support)
    return {name: made[name] for name in ("subject", "predicate", "object", "evidence", "confidence")}


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
