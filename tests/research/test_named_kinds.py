"""The rule by which a name says a kind."""

import pytest

from research.urban.gold import says_kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Golden Gate Bridge", "bridge"),
        ("Museum of Fine Arts", "museum"),
        ("City of Portland", "city"),
        ("Walt Disney Concert Hall", "concert hall"),
        ("Botanic Gardens", "garden"),
    ],
)
def test_the_head_of_a_name_says_its_kind(name: str, kind: str):
    assert says_kind(name, kind)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Bridge Street", "bridge"),
        ("Central Park West", "park"),
        ("Museum of the City", "city"),
        ("Golden Gate Bridge", "suspension bridge"),
        ("Bridge", "bridge"),
        ("Rialto", "bridge"),
        ("Rialto Bridge", ""),
    ],
)
def test_other_words_of_a_name_say_none(name: str, kind: str):
    assert not says_kind(name, kind)
