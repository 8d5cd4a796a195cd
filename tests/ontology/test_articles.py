"""The indefinite article goes by the sound of a word."""

import pytest

from ontology.labels import with_article


@pytest.mark.parametrize(
    "words",
    ["an organization", "a university", "an urban function", "a museum", "an island", "a one-way street",
     "an hour", "an event", "a unit", "an Architect"],
)  # fmt: skip
def test_the_article_fits_the_sound(words: str) -> None:
    assert with_article(words.partition(" ")[2]) == words
