"""What a model's answers would score if the right ones among them were chosen.

Run `python -m research.text2kgbench.ceiling --ontology F --sentences F --gold F [...]`.

The form is asked with a presence of at least `LEAST_PRESENCE` and every pair of an answer counts, however
improbable. Of these facts only those of the gold are kept: no rule of reading answers, and no threshold, can
score more with the same model.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from extractors.models.opening import open_model
from extractors.readers.form import FormReader
from extractors.readers.reading import Reader
from extractors.settings import FormSettings
from research.text2kgbench.fitting import Fitting, read_long_text
from research.text2kgbench.reading import Fact, Sentence, TestSet, read_test_set, relations_of
from research.text2kgbench.run import writing_of
from research.text2kgbench.scoring import Counts, count, same_fact

LEAST_PRESENCE: Final = 0.03
_MOST_RELATIONS: Final = 60


async def best_counts(reader: Reader, test: TestSet, sentences: Sequence[Sentence]) -> list[Counts]:
    """The counts of each sentence when only the facts that its gold has are kept."""
    write, relations = writing_of(test), relations_of(test.schema)
    found: list[Counts] = []
    for sentence in sentences:
        reading = await read_long_text(reader, sentence.text, test.schema)
        said = [Fact(one.subject, one.relation, write(one.relation, one.object)) for one in reading.triples]
        gold = test.gold.get(sentence.identifier, frozenset())
        kept = [fact for fact in dict.fromkeys(said) if any(same_fact(fact, one) for one in gold)]
        found.append(count(kept, gold, sentence=sentence.text, relations=relations, concepts=test.concepts))
    return found


async def _measure(tests: Sequence[TestSet], limit: int | None) -> int:
    model = open_model(None)
    settings = replace(
        FormSettings(),
        least_presence=LEAST_PRESENCE,
        least_score=0.0,
        maximum_properties=_MOST_RELATIONS,
        kinds=False,
    )
    reader = Fitting(FormReader(model, settings))
    scores: list[float] = []
    right = wanted = 0
    try:
        for test in tests:
            counts = await best_counts(reader, test, test.sentences[:limit])
            scores.append(sum(one.official_f1 for one in counts) / len(counts))
            right, wanted = right + sum(one.right for one in counts), wanted + sum(one.gold for one in counts)
            print(f"{test.name:<24} {len(counts):>4} sentences  official F1 {scores[-1]:.3f}")
    finally:
        await model.close()
    print(f"all: official macro F1 {sum(scores) / len(scores):.3f}, {right} of {wanted} triples of the gold")
    return 0


def main() -> int:
    """Measure the given ontologies, in the order of their files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("ontology", "sentences", "gold"):
        parser.add_argument(f"--{name}", type=Path, action="append", required=True)
    parser.add_argument("--limit", type=int, help="only the first sentences of each ontology")
    given = parser.parse_args()
    files = zip(given.ontology, given.sentences, given.gold, strict=True)
    return asyncio.run(_measure([read_test_set(*one) for one in files], given.limit))


if __name__ == "__main__":
    raise SystemExit(main())
