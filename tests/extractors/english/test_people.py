"""Persons and organizations by their names alone."""

import pytest

from extractors.english.people import looks_like_organization, may_be_person


@pytest.mark.parametrize(
    "name",
    ["Wesov Properties", "Kelberg Industries", "Harland Construction", "Foster Architects", "Oak Trust"],
)
def test_a_name_that_ends_in_a_word_of_business_is_no_person(name: str) -> None:
    assert looks_like_organization(name)
    assert not may_be_person(name)


@pytest.mark.parametrize("name", ["Ada Stone", "Properties", "Central Market"])
def test_other_names_are_left_open(name: str) -> None:
    assert not looks_like_organization(name)
