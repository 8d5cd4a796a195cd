"""Reads a benchmark's sentences with one reader, writes answers as the benchmark does, and reports scores."""

from __future__ import annotations

import asyncio
import calendar
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pyoxigraph import NamedNode

from extractors.english.quantities import Unreadable
from extractors.english.values import read_date
from extractors.errors import EvaluationError, ModelTimeout
from extractors.models.accounting import Prices
from extractors.prompting.prompt import IS_A
from extractors.readers.reading import Cost, Reader, Reading, costs, total
from ontology.vocabulary import XSD
from research.estimates import Estimate
from research.run_folder import Answer, RunFolder
from research.text2kgbench.fitting import read_long_text
from research.text2kgbench.reading import Fact, Identifier, Sentence, TestSet, relations_of
from research.text2kgbench.scoring import Counts, count, estimate

_LEAST_YEAR: Final = 1000
_DATES: Final = frozenset(NamedNode(XSD + name) for name in ("date", "gYear"))
_NUMBERS: Final = frozenset(NamedNode(XSD + name) for name in ("decimal", "integer"))
_NUMBER: Final = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d,])|[+-]?\d+(?:\.\d+)?(?![\d,])")


def writing_of(test: TestSet) -> Callable[[str, str], str]:
    """How a test set writes the object of a relation: both in words in, the object's words out."""
    if test.wikidata:
        return lambda relation, words: as_wikidata_writes(words)
    ranges: dict[str, frozenset[NamedNode]] = {}
    for term in test.schema.properties.values():
        ranges.setdefault(term.label, term.ranges)
    return lambda relation, words: as_datatype_writes(words, ranges.get(relation, frozenset()))


def as_wikidata_writes(words: str) -> str:
    """Write a date as the gold does: `04 May 1959`, and the first of January where only the year is known.

    Other words, and numbers that are hardly years, stay as they are.
    """
    found = read_date(words)
    if isinstance(found, Unreadable) or found.value.startswith("-"):
        return words
    year, month, day = (*(int(part) for part in found.value.split("-")), 1, 1)[:3]
    if year < _LEAST_YEAR:
        return words
    return f"{day:02} {calendar.month_name[month]} {year}"


def as_datatype_writes(words: str, ranges: frozenset[NamedNode]) -> str:
    """Write what a relation's datatype asks for: a date by ISO 8601, a number by its digits alone.

    Other words, and those of relations that lead to no date or number, stay as they are.
    """
    if ranges & _DATES:
        found = read_date(words)
        return words if isinstance(found, Unreadable) else found.value
    if ranges & _NUMBERS and (number := _NUMBER.match(words.strip())):
        return number.group().replace(",", "")
    return words


_SLOW_IN_A_ROW: Final = 3


@dataclass(frozen=True)
class SetScores:
    """The scores of one ontology or of all; `relation_types` counts the distinct relations predicted."""

    name: str
    sentences: int
    relation_types: int
    estimates: Mapping[str, Estimate]


@dataclass(frozen=True)
class Result:
    """What a run came to; costs are of all samples and sentences together, by stage."""

    whole: SetScores
    ontologies: tuple[SetScores, ...]
    samples: int
    failed: int
    stages: Mapping[str, Cost]

    @property
    def texts(self) -> int:
        """Readings: sentences times samples."""
        return self.whole.sentences * self.samples


async def read_all(
    tests: Sequence[TestSet],
    reader: Reader,
    folder: RunFolder,
    *,
    sample: int = 1,
    concurrency: int = 4,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> dict[Identifier, Answer]:
    """Read every sentence that the folder has no answer for; `tell` hears how many are done, of how many.

    A sentence whose replies cannot be used, or take too long, counts as read, with nothing found. Raises
    `ModelUnavailable`, and `ModelTimeout` at the third sentence in a row that takes too long: run again, and
    it goes on from there.
    """
    wanted = {sentence.identifier: (sentence, test) for test in tests for sentence in test.sentences}
    if len(wanted) < sum(len(test.sentences) for test in tests):
        raise EvaluationError("Two of the ontologies have sentences of the same id. Give each file once.")
    answers = {name: one for name, one in folder.answers(sample).items() if name in wanted}
    waiting = iter([pair for name, pair in wanted.items() if name not in answers])

    slow = 0

    async def work() -> None:
        nonlocal slow
        for sentence, test in waiting:
            try:
                reading = await read_long_text(reader, sentence.text, test.schema)
                slow = 0
            except ModelTimeout as error:
                slow += 1
                if slow == _SLOW_IN_A_ROW:
                    raise
                reading = Reading((), (), error)
            answers[sentence.identifier] = _answer(reading, sentence, test, folder, sample)
            tell(len(answers), len(wanted))

    tell(len(answers), len(wanted))
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(concurrency):
                group.create_task(work())
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return answers


def _answer(reading: Reading, sentence: Sentence, test: TestSet, folder: RunFolder, sample: int) -> Answer:
    offered = relations_of(test.schema)
    write = writing_of(test)
    # What kind of thing something is, the benchmark states only where its ontology has a relation for it.
    facts = [
        Fact(triple.subject, triple.relation, write(triple.relation, triple.object))
        for triple in reading.triples
        if triple.relation != IS_A or IS_A in offered
    ]
    error = str(reading.failure) if reading.failure is not None else None
    answer = Answer(sentence.identifier, tuple(dict.fromkeys(facts)), costs(reading.turns), error)
    folder.add(sample, answer, reading.turns)
    return answer


def score(
    tests: Sequence[TestSet],
    samples: Sequence[Mapping[Identifier, Answer]],
    *,
    seed: int,
    resamples: int = 1000,
) -> Result:
    """Score the answers of one or more samples to the same sentences."""
    tests = [test for test in tests if test.sentences]
    counted = [[_counts(test, answers) for test in tests] for answers in samples]

    def scores(name: str, places: Sequence[int]) -> SetScores:
        chosen = [[sample[place] for place in places] for sample in counted]
        told = [
            {
                fact.relation
                for place in places
                for one in tests[place].sentences
                for fact in _facts(answers, one)
            }
            for answers in samples
        ]
        return SetScores(
            name,
            sum(len(tests[place].sentences) for place in places),
            round(sum(map(len, told)) / len(told)),
            estimate(chosen, seed=seed, resamples=resamples),
        )

    read = [answers[one.identifier] for answers in samples for test in tests for one in test.sentences]
    stages: dict[str, Cost] = {}
    for answer in read:
        for stage, cost in answer.stages.items():
            stages[stage] = stages.get(stage, Cost()) + cost
    return Result(
        whole=scores("all", range(len(tests))),
        ontologies=tuple(scores(test.name, [place]) for place, test in enumerate(tests)),
        samples=len(samples),
        failed=sum(answer.error is not None for answer in read),
        stages=stages,
    )


def _counts(test: TestSet, answers: Mapping[Identifier, Answer]) -> list[Counts]:
    relations = relations_of(test.schema)
    return [
        count(
            _facts(answers, sentence),
            test.gold.get(sentence.identifier),
            sentence=sentence.text,
            relations=relations,
            concepts=test.concepts,
        )
        for sentence in test.sentences
    ]


def _facts(answers: Mapping[Identifier, Answer], sentence: Sentence) -> tuple[Fact, ...]:
    return answers[sentence.identifier].facts


COLUMNS: Final = (
    ("strict P", "strict_precision"),
    ("R", "strict_recall"),
    ("F1", "strict_f1"),
    ("official P", "official_precision"),
    ("R", "official_recall"),
    ("F1", "official_f1"),
    ("OC", "ontology_conformance"),
    ("made-up S", "made_up_subjects"),
    ("O", "made_up_objects"),
    ("R", "made_up_relations"),
)
_WITH_INTERVAL: Final = ("strict_f1", "official_f1")


def row(name: str, scores: SetScores) -> tuple[str, ...]:
    """Name, sentences, the scores of `COLUMNS` (the F1 with their intervals), relation types."""
    cells = [_cell(scores.estimates, key) for _, key in COLUMNS]
    return (name, str(scores.sentences), *cells, str(scores.relation_types))


def _cell(estimates: Mapping[str, Estimate], key: str) -> str:
    found = estimates.get(key)
    if found is None:
        return "-"
    interval = f" ({found.low:.3f}-{found.high:.3f})" if key in _WITH_INTERVAL else ""
    return f"{found.value:.3f}{interval}"


def cost_rows(result: Result) -> Iterable[tuple[str, ...]]:
    """Stage, turns, seconds and tokens in and out, each per text; the last row is all stages together."""
    for stage, cost in (*result.stages.items(), ("together", total(result.stages.values()))):
        yield (stage, *_per_text(cost, result.texts))


def _per_text(cost: Cost, texts: int) -> Sequence[str]:
    share = max(texts, 1)
    numbers = (cost.turns, cost.seconds, cost.prompt_tokens, cost.completion_tokens)
    return [
        f"{number / share:.2f}" if place < 2 else f"{number / share:.0f}"
        for place, number in enumerate(numbers)
    ]


def thousand(result: Result, prices: Prices) -> dict[str, Any]:
    """What a thousand texts take: seconds of the model, tokens, and their cost where prices are set."""
    whole, share = total(result.stages.values()), 1000 / max(result.texts, 1)
    tokens_in, tokens_out = round(whole.prompt_tokens * share), round(whole.completion_tokens * share)
    told: dict[str, Any] = {
        "seconds": round(whole.seconds * share, 1),
        "prompt_tokens": tokens_in,
        "completion_tokens": tokens_out,
    }
    cost = prices.cost(tokens_in, tokens_out)
    return told if cost is None else {**told, "cost": round(cost, 4), "currency": prices.currency}


def result_json(result: Result, prices: Prices) -> dict[str, Any]:
    """Every score with its interval, and what the run cost."""
    whole = total(result.stages.values())
    texts = max(result.texts, 1)
    return {
        "samples": result.samples,
        "failed": result.failed,
        **_scores_json(result.whole),
        "seconds_per_text": round(whole.seconds / texts, 3),
        "tokens_per_text": round((whole.prompt_tokens + whole.completion_tokens) / texts, 1),
        "thousand_texts": thousand(result, prices),
        "stages": {stage: cost.json() for stage, cost in result.stages.items()},
        "ontologies": {scores.name: _scores_json(scores) for scores in result.ontologies},
    }


def _scores_json(scores: SetScores) -> dict[str, Any]:
    return {
        "sentences": scores.sentences,
        "relation_types": scores.relation_types,
        "scores": {
            name: {"value": round(e.value, 4), "low": round(e.low, 4), "high": round(e.high, 4)}
            for name, e in scores.estimates.items()
        },
    }
