"""Extraction against gold triples: what the model says, what the pipeline lets through, what the gate does.

Strict: a triple counts when subject, relation and object equal the gold's in words (but for case, articles
and blanks). A statement is compared in the model's own words, and with "it" and other forms of a relation
as they were resolved. Kinds that the model chose for a name because the text does not say them are not in the
gold, nor counted.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyoxigraph import Literal, NamedNode, Triple

from extractors.candidates import RDF_TYPE, RDFS_LABEL, Candidate, Extraction
from extractors.cleaning import TextError
from extractors.errors import EvaluationError, ModelError, ModelUnavailable
from extractors.evaluation.estimates import Estimate, estimate_json, f1, ratio
from extractors.linking import normalise
from extractors.prompting import IS_A
from extractors.readers.costs import Cost, costs, total
from ontology.schema import Schema

__all__ = [
    "Extract",
    "Gated",
    "GoldText",
    "Said",
    "Scores",
    "Stage",
    "TextResult",
    "measure",
    "read_gold",
    "result_json",
    "score",
]

Words = tuple[str, str, str]


@dataclass(frozen=True)
class GoldText:
    """A text and every triple that it states."""

    identifier: str
    text: str
    triples: frozenset[Words]


@dataclass(frozen=True)
class Gated:
    """An extraction, and what the gate let in of it; None where no gate was asked."""

    extraction: Extraction
    accepted: Collection[Triple] | None = None


Extract = Callable[[str], Awaitable[Gated]]
"""Extracts from a text, and asks the gate if there is one. Raises `ExtractionError`."""


@dataclass(frozen=True)
class Said:
    """One statement in words; `right` tells whether the gold has it.

    `words` are as they are compared, `told` as a person reads them; `quote` is what the statement rests on.
    """

    words: Words
    told: Words
    right: bool
    sound: bool
    accepted: bool | None
    quote: str
    confidence: float | None


@dataclass(frozen=True)
class TextResult:
    """What one text yielded. `made_up` are names of accepted entities that do not occur in the text."""

    gold: GoldText
    said: tuple[Said, ...] = ()
    entities: int = 0
    made_up: tuple[str, ...] = ()
    cost: Cost = field(default_factory=Cost)
    seconds: float = 0.0
    error: str | None = None


@dataclass(frozen=True)
class Stage:
    """Precision, recall and F1 over all texts, with the counts they come from."""

    right: int
    told: int
    gold: int
    precision: Estimate | None
    recall: Estimate | None
    f1: Estimate | None

    def json(self) -> dict[str, Any]:
        """The stage as JSON."""
        return {
            "right": self.right,
            "told": self.told,
            "gold": self.gold,
            "precision": estimate_json(self.precision),
            "recall": estimate_json(self.recall),
            "f1": estimate_json(self.f1),
        }


@dataclass(frozen=True)
class Scores:
    """`model`: all that was said; `pipeline`: without what the pipeline finds wrong; `gate`: what came in."""

    texts: int
    failed: int
    model: Stage
    pipeline: Stage
    gate: Stage | None
    entities: int
    made_up: tuple[str, ...]
    cost: Cost
    seconds: float

    def json(self) -> dict[str, Any]:
        """The scores as JSON."""
        return {
            "texts": self.texts,
            "failed": self.failed,
            "model": self.model.json(),
            "pipeline": self.pipeline.json(),
            "gate": self.gate.json() if self.gate else None,
            "entities_accepted": self.entities,
            "entities_made_up": list(self.made_up),
            "seconds_per_text": round(self.seconds / self.texts, 3) if self.texts else None,
        }


def read_gold(file: Path) -> list[GoldText]:
    """Gold texts, `{"id", "text", "triples": [{"subject", "relation", "object"}]}` a line.

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
                found.append(GoldText(str(row["id"]), row["text"], triples))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise EvaluationError(
                    f'{file}, line {number}: not {{"id", "text", "triples"}} ({error!r}). Mend it there.'
                ) from error
    return found


async def measure(
    gold: Sequence[GoldText],
    extract: Extract,
    schema: Schema,
    *,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> list[TextResult]:
    """Extract from every text; one that cannot be worked on yields nothing, and says why.

    A model that was too slow for a text has failed there. Raises `ModelUnavailable`.
    """
    results = []
    for number, one in enumerate(gold):
        tell(number, len(gold))
        try:
            results.append(_result(one, await extract(one.text), schema))
        except ModelUnavailable:
            raise
        except (ModelError, TextError) as error:
            results.append(TextResult(one, error=str(error)))
    tell(len(gold), len(gold))
    return results


def score(results: Sequence[TextResult], *, seed: int = 0) -> Scores:
    """The scores over all texts."""
    gated = any(one.accepted is not None for result in results for one in result.said)
    return Scores(
        texts=len(results),
        failed=sum(result.error is not None for result in results),
        model=_stage(results, lambda one: True, seed),
        pipeline=_stage(results, lambda one: one.sound, seed),
        gate=_stage(results, lambda one: one.accepted is True, seed) if gated else None,
        entities=sum(result.entities for result in results),
        made_up=tuple(f"{r.gold.identifier}: {name}" for r in results for name in r.made_up),
        cost=sum((result.cost for result in results), Cost()),
        seconds=sum(result.seconds for result in results),
    )


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


def _stage(results: Sequence[TextResult], counts: Callable[[Said], bool], seed: int) -> Stage:
    told = [{one.words for one in result.said if counts(one)} for result in results]
    right = [len(words & result.gold.triples) for words, result in zip(told, results, strict=True)]
    said, gold = [len(words) for words in told], [len(result.gold.triples) for result in results]
    return Stage(
        sum(right),
        sum(said),
        sum(gold),
        ratio(right, said, seed=seed) if results else None,
        ratio(right, gold, seed=seed) if results else None,
        f1(right, said, gold, seed=seed) if results else None,
    )


def _result(gold: GoldText, gated: Gated, schema: Schema) -> TextResult:
    extraction = gated.extraction
    names = {entity.iri: entity.label for entity in extraction.entities}
    text = gold.text.casefold()
    said = []
    for candidate in extraction.candidates:
        if candidate.predicate == RDFS_LABEL or candidate.reply is None:
            continue
        told = _in_words(candidate, names, schema)
        own, resolved = normal(json.loads(candidate.reply)), normal(told)
        words = own if own in gold.triples else resolved if resolved in gold.triples else own
        if words[1] == IS_A and words[2] not in text:
            continue
        triple = Triple(candidate.subject, candidate.predicate, candidate.object)
        accepted = None if gated.accepted is None else triple in gated.accepted
        quote = candidate.evidence.quote if candidate.evidence else ""
        said.append(
            Said(
                words,
                (told["subject"], told["relation"], told["object"]),
                words in gold.triples,
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
    """Whether a name stands in a text, word for word."""
    return f" {normalise(label)} " in f" {normalise(text)} "


def _plain(words: str) -> str:
    return " ".join(words.casefold().split())


def _bare(words: str) -> str:
    plain = _plain(words)
    for article in ("the ", "a ", "an "):
        plain = plain.removeprefix(article)
    return plain
