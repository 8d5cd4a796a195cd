"""Letters of scripts whose vowels are marks."""

from __future__ import annotations

import re

import pytest

from extractors.english.units import capitalized_runs
from extractors.grounding.linking import normalize
from extractors.readers.form import answer_grammar
from extractors.text.chunking import Span
from extractors.text.cleaning import LETTER, detect_language
from ontology.schema import Schema
from tests.support.scripted import ScriptedModel, reply, small_pipeline

WORDS = ["พิพิธภัณฑสถาน", "น้ำ", "संग्रहालय", "मलय", "N\u0303uble", "القَاهِرَة", "יְרוּשָׁלַיִם", "Łódź", "東京"]


@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_one_run_of_letters(word: str) -> None:
    assert re.fullmatch(f"{LETTER}+", word)


@pytest.mark.parametrize(("one", "other"), [("วัดสี", "วัดสู"), ("किला", "काला"), ("बाग", "बेग")])
def test_names_that_differ_by_a_vowel_are_two_names(one: str, other: str) -> None:
    assert normalize(one) != normalize(other)


def test_diacritics_of_latin_names_do_not_count() -> None:
    assert normalize("Łódź") == normalize("Lodz")


def test_a_model_cannot_end_a_name_inside_a_word() -> None:
    units = re.findall(r'::= "([^"]+)"', answer_grammar("The วัดสี is in मलय."))

    assert units == [" ", "The", "วัดสี", "is", "in", "मलय", "."]


def test_a_name_in_a_script_without_capitals_is_one_run() -> None:
    text = "The พิพิธภัณฑสถาน lies in संग्रहालय by the sea."

    found = [text[one.start : one.end] for one in capitalized_runs(text, Span(0, len(text)))]

    assert found == ["พิพิธภัณฑสถาน", "संग्रहालय"]


@pytest.mark.parametrize("name", ["المتحف المصري", "พิพิธภัณฑสถานแห่งชาติ", "Третьяковская галерея", "Ακρόπολη"])
def test_an_english_sentence_with_a_foreign_name_is_english(name: str) -> None:
    assert (
        detect_language(
            f"The {name} is a museum by the sea and was opened to the public in 1902.", expected=("en",)
        )
        == "en"
    )


def test_a_foreign_text_with_an_english_name_is_not_english() -> None:
    text = "Музей был открыт в тысяча девятьсот втором и стоит у моря в старом городе. Museum of the Sea."

    assert detect_language(text, expected=("en",)) != "en"


FOREIGN = [
    ("The מוזיאון ישראל is a museum in ירושלים and opened in 1965.", "מוזיאון", "מוזיאון ישראל"),
    ("The Μουσείο Ακρόπολης is a museum and opened in 2009.", "Μουσείο", "Μουσείο Ακρόπολης"),
    ("The राष्ट्रीय संग्रहालय is a museum and opened in 1949.", "राष्ट्रीय", "राष्ट्रीय संग्रहालय"),
]


@pytest.mark.parametrize(("text", "cut", "whole"), FOREIGN)
async def test_words_in_another_script_side_by_side_are_one_name(
    schema: Schema, text: str, cut: str, whole: str
) -> None:
    extraction = await small_pipeline(schema, ScriptedModel(reply([(cut, "is a", "museum")]))).extract(text)

    assert [entity.label for entity in extraction.entities] == [whole]
