"""Extraction against gold triples: what the model says, what the pipeline lets through, what the gate does.

Strict: a triple counts when subject, relation and object equal the gold's in words. A kind that a name says
itself ("Golden Gate Bridge" is a bridge) is judged beside the strict score, by the rule of `urban_gold.md`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from pyoxigraph import Literal, NamedNode, Triple

from extractors.candidates import RDF_TYPE, RDFS_LABEL, UNKNOWN_TERM, Candidate, Extraction
from extractors.errors import EvaluationError, ModelError, ModelTimeout, ModelUnavailable
from extractors.grounding.linking import normalize
from extractors.prompting.prompt import IS_A
from extractors.readers.reading import Cost, costs, total
from extractors.text.cleaning import TextError
from ontology.labels import normalize as singular_words
from ontology.schema import Schema

_AFTER_HEAD: Final = frozenset("of for in at on de du der la to".split())


def says_kind(name: str, kind: str) -> bool:
    """Whether a kind's words are the head of a name: its last words, or the last before "of" and the like.

    The name needs a word more than the kind; case and plurals do not count.
    """
    words, wanted = singular_words(name), singular_words(kind)
    end = next((place for place, word in enumerate(words) if place and word in _AFTER_HEAD), len(words))
    head = words[:end]
    return bool(wanted) and len(words) > len(wanted) and head[-len(wanted) :] == wanted


Words = tuple[str, str, str]
_POSSESSIVE = re.compile(r"['’]s(?!\w)")


@dataclass(frozen=True)
class GoldText:
    """A text and every triple that it states. `misleading` are kinds that a name says and that are wrong.

    `also` are right as well, but not asked for: other ways to say the same.
    """

    identifier: str
    text: str
    triples: frozenset[Words]
    misleading: frozenset[Words] = frozenset()
    also: frozenset[Words] = frozenset()


@dataclass(frozen=True)
class Gated:
    """An extraction, and what the gate accepted of it; None where no gate was asked."""

    extraction: Extraction
    accepted: Collection[Triple] | None = None


Extract = Callable[[str], Awaitable[Gated]]
"""Extracts from a text, and asks the gate if there is one. Raises `ExtractionError`."""


@dataclass(frozen=True)
class ScoredTriple:
    """One statement in words; `right` tells whether the gold has it.

    `named`: it is supported all the same, by a name that says the kind or as one that the gold also allows.
    `conforms`: the relation is one of the ontology's. `words` are as they are compared, `told` as a
    person reads them; `quote` is what the statement rests on.
    """

    words: Words
    told: Words
    right: bool
    named: bool
    conforms: bool
    sound: bool
    accepted: bool | None
    quote: str
    confidence: float | None


@dataclass(frozen=True)
class TextResult:
    """What one text yielded. `made_up` are names of accepted entities that do not occur in the text.

    `unsaid` counts the accepted kinds that the text does not say; `gated`: a gate was asked.
    """

    gold: GoldText
    said: tuple[ScoredTriple, ...] = ()
    entities: int = 0
    made_up: tuple[str, ...] = ()
    unsaid: int = 0
    gated: bool = False
    cost: Cost = field(default_factory=Cost)
    seconds: float = 0.0
    error: str | None = None


def read_gold(file: Path) -> list[GoldText]:
    """Gold texts, `{"id", "text", "triples": [{"subject", "relation", "object"}]}` a line.

    `misleading` and `also` may hold triples, too: kinds that a name says and that are wrong, and what is
    right as well.

    Raises EvaluationError with the line that is not so.
    """
    found = []
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise EvaluationError(f"{file} cannot be read: {error}. Give a file of gold texts.") from error
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                row = json.loads(line)
                triples = frozenset(normal(one) for one in row["triples"])
                misleading = frozenset(normal(one) for one in row.get("misleading", ()))
                also = frozenset(normal(one) for one in row.get("also", ()))
                found.append(GoldText(str(row["id"]), row["text"], triples, misleading, also))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise EvaluationError(
                    f'{file}, line {number}: not {{"id", "text", "triples"}} ({error!r}). Fix it there.'
                ) from error
    return found


async def measure(
    gold: Sequence[GoldText],
    extract: Extract,
    schema: Schema,
    *,
    tell: Callable[[int, int], None] = lambda done, of: None,
    known: Mapping[str, TextResult] = MappingProxyType({}),
    keep: Callable[[TextResult], None] = lambda result: None,
) -> list[TextResult]:
    """Extract from every text; one that cannot be worked on yields nothing, and says why.

    `known` are results of an earlier run by the names of the texts; `keep` gets each new one. A model that
    was too slow for a text has failed there, which is not kept: another run asks again. Raises
    `ModelUnavailable`.
    """
    results = []
    for number, one in enumerate(gold):
        tell(number, len(gold))
        if one.identifier in known:
            results.append(known[one.identifier])
            continue
        slow = False
        try:
            result = _result(one, await extract(one.text), schema)
        except ModelUnavailable:
            raise
        except (ModelError, TextError) as error:
            result = TextResult(one, error=str(error))
            slow = isinstance(error, ModelTimeout)
        results.append(result)
        if not slow:
            keep(result)
    tell(len(gold), len(gold))
    return results


def result_json(result: TextResult) -> dict[str, Any]:
    """A text, what was said of it, and what became of that."""
    return {
        "id": result.gold.identifier,
        "text": result.gold.text,
        "error": result.error,
        "seconds": round(result.seconds, 3),
        "made_up": list(result.made_up),
        "missed": sorted(" | ".join(t) for t in result.gold.triples - {one.words for one in result.said}),
        "said": [
            {
                "triple": " | ".join(one.told),
                "right": one.right,
                "supported": one.named,
                "pipeline": one.sound,
                "gate": one.accepted,
                "confidence": one.confidence,
            }
            for one in result.said
        ],
    }


def normal(triple: Mapping[str, str]) -> Words:
    """A triple as it is compared."""
    return (_bare(triple["subject"]), _plain(triple["relation"]), _bare(triple["object"]))


def _result(gold: GoldText, gated: Gated, schema: Schema) -> TextResult:
    extraction = gated.extraction
    names = {entity.iri: entity.label for entity in extraction.entities}
    text = gold.text.casefold()
    said: list[ScoredTriple] = []
    unsaid = 0
    for candidate in extraction.candidates:
        triple = Triple(candidate.subject, candidate.predicate, candidate.object)
        accepted = None if gated.accepted is None else triple in gated.accepted
        if candidate.predicate == RDFS_LABEL:
            continue
        if candidate.reply is None:
            unsaid += accepted is True
            continue
        told = _in_words(candidate, names, schema)
        own, resolved = normal(json.loads(candidate.reply)), normal(told)
        allowed = (one for part in (gold.triples, gold.also) for one in (own, resolved) if one in part)
        words = next(allowed, own)
        if words[1] == IS_A and words[2] not in text:
            unsaid += accepted is True
            continue
        kind_in_name = words[1] == IS_A and says_kind(words[0], words[2]) and words not in gold.misleading
        named = kind_in_name or words in gold.also
        quote = candidate.evidence.quote if candidate.evidence else ""
        said.append(
            ScoredTriple(
                words,
                (told["subject"], told["relation"], told["object"]),
                words in gold.triples,
                named,
                all(problem.rule != UNKNOWN_TERM for problem in candidate.problems),
                not candidate.problems,
                accepted,
                quote,
                candidate.confidence,
            )
        )
    labels = _accepted_labels(gated.accepted or ())
    return TextResult(
        gold,
        tuple(said),
        entities=len(labels),
        made_up=tuple(label for label in labels if not _occurs(label, gold.text)),
        unsaid=unsaid,
        gated=gated.accepted is not None,
        cost=total(costs(extraction.windows).values()),
        seconds=extraction.seconds,
    )


def _in_words(candidate: Candidate, names: Mapping[NamedNode, str], schema: Schema) -> dict[str, str]:
    """A statement in the words of the entities and terms that it is made of."""
    own = json.loads(candidate.reply or "{}")
    value = candidate.object
    property_ = schema.properties.get(candidate.predicate)
    relation = IS_A if candidate.predicate == RDF_TYPE else property_.label if property_ else own["relation"]
    return {
        "subject": names.get(candidate.subject, own["subject"]),
        "relation": relation,
        "object": names.get(value, own["object"]) if isinstance(value, NamedNode) else own["object"],
    }


def _accepted_labels(accepted: Iterable[Triple]) -> list[str]:
    return [
        one.object.value
        for one in accepted
        if one.predicate == RDFS_LABEL and isinstance(one.object, Literal)
    ]


def _occurs(label: str, text: str) -> bool:
    """Whether a name is in a text, word for word; "'s" behind it does not count."""
    texts = (text, _POSSESSIVE.sub("", text))
    return any(f" {normalize(label)} " in f" {normalize(one)} " for one in texts)


def _plain(words: str) -> str:
    return " ".join(words.casefold().split())


def _bare(words: str) -> str:
    plain = _plain(words)
    for article in ("the ", "a ", "an "):
        plain = plain.removeprefix(article)
    return plain
