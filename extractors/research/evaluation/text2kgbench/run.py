"""Reading a benchmark's sentences with one reader, and scoring what came out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from extractors.errors import EvaluationError, ModelTimeout
from extractors.prompting.prompt import IS_A
from extractors.readers.costs import Cost, costs
from extractors.readers.long_texts import read_long_text
from extractors.readers.reading import Reader, Reading
from extractors.research.evaluation.text2kgbench.bootstrap import Estimate, estimate
from extractors.research.evaluation.text2kgbench.folder import Answer, RunFolder
from extractors.research.evaluation.text2kgbench.ontologies import relations_of
from extractors.research.evaluation.text2kgbench.reading import Fact, Identifier, Sentence, TestSet
from extractors.research.evaluation.text2kgbench.scoring import Counts, count
from extractors.research.evaluation.text2kgbench.writing import writing_of

__all__ = ["Result", "SetScores", "read_all", "score"]


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
