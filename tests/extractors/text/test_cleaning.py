"""Which texts are worked on, and what the senders of the others receive."""

import pytest

from extractors.text.cleaning import (
    TextError,
    TextTooLong,
    UnsupportedLanguage,
    check_text,
    detect_language,
    readable,
)
from tests.support.scripted import COLUMBIA

GERMAN = (
    "Die Brücke verbindet seit vielen Jahren die beiden Stadtteile und ist bei den Besuchern sehr beliebt."
)


@pytest.mark.parametrize("text", ["", "   \n\t ", "\x00\x01", "\u200b\ufeff"])
def test_a_text_without_words_is_refused(text: str) -> None:
    with pytest.raises(TextError, match="send at least one sentence"):
        check_text(text)


def test_a_text_over_the_limit_is_refused_with_both_numbers() -> None:
    with pytest.raises(TextTooLong, match=r"1,001 characters and the limit is 1,000"):
        check_text("a" * 1001, maximum_characters=1000)


def test_a_lone_surrogate_is_refused_with_its_place() -> None:
    with pytest.raises(TextError, match=r"Character 4 .*U\+D83D"):
        check_text("Park\ud83d opened.")


def test_another_language_is_refused_with_the_language_and_the_setting() -> None:
    with pytest.raises(UnsupportedLanguage, match=r"'de'.*'en'.*\"languages\""):
        check_text(GERMAN)


def test_no_configured_language_allows_any() -> None:
    check_text(GERMAN, languages=())


def test_a_second_configured_language_is_allowed() -> None:
    check_text(GERMAN, languages=("en", "de"))


@pytest.mark.parametrize(
    "text",
    [
        COLUMBIA,
        "Ferdinand Gottlieb designed Riverdale Synagogue.",
        "Architects Carrère and Hastings designed Grand Army Plaza.",
        "El Museo del Barrio opened in 1969. Barretto Point Park opened in 2006.",
        "La Marqueta opened under Park Avenue, East Harlem, in 1936.",
        "Brooklyn Bridge opened 24 May 1883. Queensboro Bridge opened 30 March 1909.",
        "Van Cortlandt Park, Spuyten Duyvil, Tottenville, Gansevoort, Schermerhorn Street, Verrazzano.",
        "Kolkata Chai, Jeju Noodle Bar and Nom Wah Tea Parlor opened in Chinatown.",
        "Parc",
    ],
)
def test_english_full_of_foreign_names_passes(text: str) -> None:
    check_text(text)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Le pont de Brooklyn relie Manhattan à Brooklyn et fut inauguré en 1883.", "fr"),
        ("El puente de Brooklyn une los distritos de Manhattan y de Brooklyn.", "es"),
        ("Il ponte di Brooklyn collega Manhattan con Brooklyn a New York.", "it"),
        ("De Brooklyn Bridge is een brug in New York die twee stadsdelen verbindt.", "nl"),
        ("Бруклинский мост — один из старейших висячих мостов в США.", "ru"),
    ],
)
def test_other_languages_are_recognized_among_english_names(text: str, language: str) -> None:
    assert detect_language(text, expected=("en",)) == language


def test_the_model_is_shown_spaces_for_control_characters_at_the_same_length() -> None:
    text = "Bryant\x00Park\u200b is\tgreen.\n"
    assert readable(text) == "Bryant Park  is\tgreen.\n"
