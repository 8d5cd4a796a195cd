"""The forms of a question: courtesies, statements to be confirmed, and the order of words."""

from __future__ import annotations

import pytest

from sparql.ask.linking.words import forms_of
from tests.sparql.ask.conftest import City

FIRST = {
    "Could you tell me which parks are in X?": "which parks are in x",
    "Do you know when X opened?": "when x opened",
    "Which one is the older one?": "which is the older",
    "Parks within a 3 km radius of X, please": "parks within a 3 km of x",
    "The park is in X, right?": "is the park in x",
    "Is it true that X borders Y?": "does x borders y",
    "Does X have parks, and which?": "does x have parks",
}
REORDERED = {
    "The park is in which borough?": "in which borough the park is",
    "From X, which parks are less than 2 km away?": "which parks are less than 2 km away from x",
}


@pytest.mark.parametrize(("question", "words"), FIRST.items())
def test_courtesies_are_left_out_and_a_statement_becomes_a_question(question: str, words: str) -> None:
    first = next(forms_of(question))
    assert " ".join(token.text for token in first.tokens).lower() == words


@pytest.mark.parametrize(("question", "words"), REORDERED.items())
def test_the_asking_word_is_tried_first(question: str, words: str) -> None:
    _, second, *_ = forms_of(question)
    assert " ".join(token.text for token in second.tokens).lower() == words


def test_a_preposition_in_front_is_tried_at_the_end() -> None:
    *_, last = forms_of("Through which parks does X run?")
    assert [token.text for token in last.tokens][-2:] == ["run", "through"]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("The Rail Museum is in Northside, right?", "Yes: "),
        ("Is it true that the Rail Museum is in Southside?", "No: "),
        ("The Rail Museum is in which borough?", "1 borough containing Rail Museum: Northside."),
        ("Does Northside have museums, and which ones?", "2 museums in Northside"),
        ("From Green Park, which museums are less than 2 kilometers away?", "1 museum within 2 km"),
        ("How far is the Glass Museum from Green Park in miles?", "Glass Museum: distance to Green Park 1.3"),
        ("Are all museums in Northside?", "No: museums are not all in Northside."),
        ("Are all parks in Northside?", "No: "),
        ("How many times larger is Northside than Southside?", "The measured area of Northside is 1 times"),
    ],
)
async def test_a_question_in_another_form_has_the_same_answer(city: City, question: str, answer: str) -> None:
    result = await city.asker().ask(question)
    assert result.answer is not None
    assert result.answer.startswith(answer)
