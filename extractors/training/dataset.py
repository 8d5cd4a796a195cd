"""Builds the training and the validation examples, the same ones for the same seed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

from extractors.training.compose import KINDS, Composer, Passage
from extractors.training.questions import QuestionMaker
from extractors.training.relations import RENAMED, RelationOffer, labels_of

__all__ = ["EXTRACT", "PLAN", "Example", "build", "fingerprint", "write"]

EXTRACT = "Extract facts from the text."
PLAN = "Plan the query."


@dataclass(frozen=True)
class Example:
    """One dialog of the training set; `answer` is the JSON in exactly the form that is served."""

    task: str
    system: str
    user: str
    answer: str


def _extraction(passage: Passage, offer: RelationOffer, topics: dict[str, list[str]]) -> Example:
    topic = None if passage.topic is None else topics[passage.topic]
    shown, absent, names = offer.draw((fact[1] for fact in passage.facts), topic)
    triples = [
        {"subject": subject, "relation": names[relation], "object": value}
        for subject, relation, value in passage.facts
        if relation not in absent
    ]
    for triple in triples:
        classified = triple["object"] in KINDS.values()
        if triple["subject"] not in passage.text or not (classified or triple["object"] in passage.text):
            raise ValueError(f"not verbatim in its text: {triple} / {passage.text}: mend the frame")
    answer = json.dumps({"triples": triples}, ensure_ascii=False, separators=(",", ":"))
    return Example("extract", EXTRACT, f"Relations: {'; '.join(shown)}\nText: {passage.text}", answer)


def build(count: int, *, seed: int, validation: bool) -> list[Example]:
    """Make `count` distinct examples, a quarter of them ask plans."""
    random = Random(f"{seed}-{validation}")
    relations, classes = labels_of("property"), labels_of("Class")
    composer = Composer(random, validation=validation)
    offer = RelationOffer(random, [label for label in relations if label in RENAMED] + list(relations))
    asker = QuestionMaker(random, classes, relations, validation=validation)
    made: dict[str, Example] = {}
    while len(made) < count:
        if random.random() < 0.24:
            user, answer = asker.example()
            example = Example("plan", PLAN, user, answer)
        else:
            example = _extraction(composer.passage(), offer, composer.topics)
        made.setdefault(example.user, example)
    return list(made.values())


def fingerprint(examples: list[Example]) -> str:
    """Hash the examples, for the model card."""
    digest = hashlib.sha256()
    for example in examples:
        digest.update(json.dumps(asdict(example), ensure_ascii=False).encode())
    return digest.hexdigest()


def write(examples: list[Example], path: Path) -> None:
    """Write one JSON object a line."""
    with path.open("w", encoding="utf-8") as file:
        for example in examples:
            file.write(json.dumps(asdict(example), ensure_ascii=False) + "\n")
