"""The words of a question, and their forms."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparql.ask.linking.words import idle_words, inflection, tokens_of


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Which museums aren't in Queens?", ["which", "museums", "are", "not", "in", "queens"]),
        ("the artist's 1,000.5 m", ["the", "artist", "1,000.5", "m"]),
        ("Sensor M558-2275045", ["sensor", "M558-2275045"]),
        ("US suppliers, for us", ["US", "suppliers", ",", "for", "us"]),
    ],
)
def test_a_question_is_split_into_words(question: str, words: list[str]) -> None:
    assert [token.text for token in tokens_of(question)] == words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("opened", "opening"),
        ("design", "designed"),
        ("cities", "city"),
        ("built", "build"),
        ("crossing", "crosses"),
    ],
)
def test_inflections_of_a_word_are_alike(one: str, other: str) -> None:
    assert inflection(one) == inflection(other)


@pytest.mark.parametrize(("one", "other"), [("former", "form"), ("wooden", "wood"), ("founder", "found")])
def test_no_word_becomes_another(one: str, other: str) -> None:
    assert inflection(one) != inflection(other)


@pytest.mark.parametrize(
    "word",
    ["not", "only", "all", "never", "still", "other", "former", "both", "each", "third", "except", "more"],
)
def test_words_that_change_a_question_are_never_idle(word: str) -> None:
    assert word not in idle_words()


def test_users_add_idle_words_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "idle-words.txt"
    file.write_text("# ours\nLovely  # always\n\n", encoding="utf-8")
    assert idle_words(file) - idle_words() == {"lovely"}
    assert idle_words(tmp_path / "none.txt") == idle_words()


def test_a_number_is_parted_from_the_unit_that_is_written_onto_it() -> None:
    words = [token.text for token in tokens_of("within 10km of the 42nd, 1,200m from 1930s")]
    assert words == ["within", "10", "km", "of", "the", "42nd", ",", "1,200", "m", "from", "1930s"]
