"""The examples that the adapter is trained on."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from extractors.models.chat import NONE
from extractors.readers.form import Field, read_answer
from research.training.dataset import Example, Mixture, build, fingerprint
from research.training.frames.fields import UNLABELED, TopicFields, read_names
from research.training.labeled import LabeledSentence, Topic

FILM = Topic(
    "film",
    (Field("director", "film", "human"), Field("publication date", "film"), Field("genre", "film")),
    tuple(
        LabeledSentence(
            f"Night Train {number} was directed by Jerzy Kawa.",
            {"director": ((f"Night Train {number}", "Jerzy Kawa"),)},
            frozenset({"genre"}),
        )
        for number in range(60)
    ),
)


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    return build(Mixture(city=60, plans=10), [FILM], seed=1, validation=False)


def test_the_same_seed_makes_the_same_examples(examples: list[Example]) -> None:
    assert fingerprint(build(Mixture(city=60, plans=10), [FILM], seed=1, validation=False)) == fingerprint(
        examples
    )


def test_validation_shares_no_text_with_training(examples: list[Example]) -> None:
    held_out = build(Mixture(city=20, plans=5), [FILM], seed=1, validation=True)
    assert not {e.text for e in examples if e.source != "plan"} & {e.text for e in held_out}


def test_every_answer_about_a_city_stands_in_its_text(examples: list[Example]) -> None:
    city = [example for example in examples if example.source == "city"]
    assert len(city) == 60
    for example in city:
        for asked in example.fields:
            for subject, _ in read_answer(asked.answer):
                assert subject in example.text


def test_some_fields_are_answered_with_none(examples: list[Example]) -> None:
    fields = [asked for example in examples for asked in example.fields]
    assert 0.3 < sum(asked.answer == NONE for asked in fields) / len(fields) < 0.9


def test_a_relation_that_is_unknown_for_a_sentence_is_not_asked() -> None:
    fields = TopicFields(Random(1), [FILM], rename=0.0)
    for _ in range(20):
        headings = {
            asked.heading.split(" (")[0].rstrip(":") for asked in fields.draw(FILM, FILM.sentences[0])
        }
        assert "genre" not in headings


def test_a_name_for_the_other_direction_swaps_the_ends() -> None:
    fields = TopicFields(Random(3), [FILM], rename=1.0)
    drawn = [asked for _ in range(60) for asked in fields.draw(FILM, FILM.sentences[0])]
    swapped = [asked for asked in drawn if asked.answer == " Jerzy Kawa | Night Train 0"]
    inverse = tuple(name[1:] for name in read_names()["director"] if name.startswith("^"))
    assert swapped
    assert all(asked.heading.startswith(inverse) for asked in swapped)


def test_a_field_without_a_triple_counts_in_full_where_the_labels_are_complete() -> None:
    for complete, weight in ((False, UNLABELED), (True, 1.0)):
        topic = replace(FILM, complete=complete)
        drawn = TopicFields(Random(1), [topic], rename=0.0).draw(topic, topic.sentences[0])
        assert {asked.weight for asked in drawn if asked.answer == NONE} == {weight}
