"""What may fill a gap: what the model believes, and what passages state.

A gap's triple is in words; its known parts are read as terms of the graph. Passages are read by the one
extraction, so that what they state is linked, checked and comes with the words that say it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from pyoxigraph import NamedNode, Triple

from extractors.candidates import Candidate, Extraction
from extractors.errors import ModelError
from extractors.models.chat import ChatModel
from extractors.prompting.templates import load_prompt
from ontology.articles import with_article
from ontology.labels import normalize
from ontology.terms import OntologyProperty, PropertyKind
from server.curation.proposing import entity_named, object_of
from server.gaps.gap_errors import GapIncomplete
from server.gaps.passages import Passage
from server.gaps.queue import StoredGap
from server.http.reporting.statements import statement_json, term_json
from sparql.ask.answer import GapKind
from sparql.ask.linking.words import english
from sparql.ask.plan.nodes import UNKNOWN
from sparql.model.vocabulary import RDF, RDFS
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
