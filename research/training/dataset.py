"""Builds the training and the validation examples, the same ones for the same seed.

Three kinds are mixed: forms over composed passages about cities, whose facts are all known; forms over
labeled sentences, those of Text2KGBench's training rows and of FewRel, where their files are given; and plans
of questions.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from random import Random

from ontology.schema import Schema
from research.training.frames.compose import KINDS, Composer, Passage
from research.training.frames.fields import Asked, CityFields, TopicFields, labels_of
from research.training.frames.questions import QuestionMaker
from research.training.labeled import Topic, held_back
from research.training.trajectories import Instruction
from server.settings_loading import SHIPPED_ONTOLOGY

PLAN = "Plan the query."
_HELD_BACK = 0.03
_PART = 1000


@dataclass(frozen=True)
class Example:
    """One row of the training set: a text with the fields of its form, or a dialog with one answer.

    `source` is "city", "plan", "instruction" or the name of a topic of labeled sentences. `dialog` holds role
    and words of each turn before the answer, `turn` what the answer of an instruction is for ("RTE triples").
    """

    source: str
    text: str
    fields: tuple[Asked, ...] = ()
    answer: str = ""
    dialog: tuple[tuple[str, str], ...] = ()
    turn: str = ""

    @property
    def kind(self) -> str:
        """What a model that learned from it can answer: a form, a plan, or a turn of a dialog."""
        return self.turn or ("plan" if self.dialog else "form")


@dataclass(frozen=True)
class Mixture:
    """How many examples of each kind to make; the sentences of a topic come as often as `repeats` says.

    Each time with other fields and other names of them. `long` is the share of passages that are several
    after one another.
    """

    city: int = 4000
    plans: int = 900
    repeats: int = 1
    long: float = 0.0


def _passage(passage: Passage, fields: CityFields) -> Example:
    for subject, _, value in passage.facts:
        if subject not in passage.text or not (value in KINDS.values() or value in passage.text):
            raise ValueError(f"not verbatim in its text: {subject} | {value} / {passage.text}: fix the frame")
    return Example("city", passage.text, fields.draw(passage.text, passage.facts, passage.topic))


@dataclass(frozen=True)
class _Part:
    """Some of the passages about cities, with a seed of their own: parts are made side by side."""

    number: int
    count: int
    seed: int
    validation: bool
    long: float


def _part(part: _Part) -> list[Example]:
    random = Random(f"{part.seed}-{part.validation}-{part.number}")
    composer = Composer(random, validation=part.validation, long=part.long)
    fields = CityFields(random, Schema.load(SHIPPED_ONTOLOGY), composer.topics)
    made: dict[str, Example] = {}
    while len(made) < part.count:
        example = _passage(composer.passage(), fields)
        made.setdefault(example.text, example)
    return list(made.values())


def _city(mixture: Mixture, seed: int, *, validation: bool, processes: int) -> list[Example]:
    """The same passages with any number of processes; a text that two parts made counts once."""
    starts = range(0, mixture.city, _PART)
    parts = [
        _Part(start, min(_PART, mixture.city - start), seed, validation, mixture.long) for start in starts
    ]
    if processes > 1 and len(parts) > 1:
        with ProcessPoolExecutor(min(processes, len(parts)), get_context("spawn")) as pool:
            found = list(pool.map(_part, parts))
    else:
        found = [_part(part) for part in parts]
    return list({example.text: example for examples in found for example in examples}.values())


def _plans(count: int, random: Random, *, validation: bool) -> list[Example]:
    asker = QuestionMaker(random, labels_of("Class"), labels_of("property"), validation=validation)
    made: dict[str, Example] = {}
    while len(made) < count:
        user, answer = asker.example()
        dialog = (("system", PLAN), ("user", user))
        made.setdefault(user, Example("plan", user, answer=answer, dialog=dialog))
    return list(made.values())


def _topics(
    topics: Sequence[Topic], mixture: Mixture, random: Random, *, validation: bool, rename: float
) -> list[Example]:
    fields = TopicFields(random, topics, rename=rename)
    return [
        Example(topic.name, sentence.text, fields.draw(topic, sentence))
        for _ in range(mixture.repeats)
        for topic in topics
        for sentence in topic.sentences
        if held_back(sentence.text, _HELD_BACK) == validation and (sentence.pairs or random.random() < 0.3)
    ]


def examples_of(instructions: Iterable[Instruction]) -> list[Example]:
    """The dialogs of a teacher as examples."""
    made = []
    for one in instructions:
        *dialog, answer = ((message.role, message.content) for message in one.messages)
        made.append(
            Example("instruction", dialog[-1][1], answer=answer[1], dialog=tuple(dialog), turn=one.turn)
        )
    return made


def build(
    mixture: Mixture,
    topics: Sequence[Topic] = (),
    instructions: Sequence[Instruction] = (),
    *,
    seed: int,
    validation: bool,
    rename: float = 0.4,
    processes: int = 1,
) -> list[Example]:
    """Make the examples in the order of training.

    They do not depend on the number of `processes` that make them.
    """
    random = Random(f"{seed}-{validation}")
    made = _city(mixture, seed, validation=validation, processes=processes)
    made += _plans(mixture.plans, random, validation=validation)
    made += _topics(topics, mixture, random, validation=validation, rename=rename)
    made += examples_of(instructions)
    random.shuffle(made)
    return made


def fingerprint(examples: Sequence[Example]) -> str:
    """Hash the examples, for the model card."""
    digest = hashlib.sha256()
    for example in examples:
        digest.update(json.dumps(asdict(example), ensure_ascii=False).encode())
    return digest.hexdigest()


def write(examples: Sequence[Example], path: Path) -> None:
    """Write one JSON object a line."""
    with path.open("w", encoding="utf-8") as file:
        for example in examples:
            file.write(json.dumps(asdict(example), ensure_ascii=False) + "\n")
