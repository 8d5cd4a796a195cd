"""Words that mean the same label are made the same."""

from __future__ import annotations

import pytest

from ontology.labels import local_name, normalize, readable, split_camel_case, stem


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Subway Stations", "subway station"),
        ("art-deco", "Art Deco"),
        ("Café", "cafe"),
        ("the Libraries", "library"),
        ("churches", "church"),
        ("houses", "house"),
        ("bus", "buses"),
        ("children’s museum", "children's museums"),
    ],
)
def test_spellings_of_one_label_are_equal(one: str, other: str) -> None:
    assert normalize(one) == normalize(other)


@pytest.mark.parametrize(("one", "other"), [("class", "clas"), ("campus", "camp"), ("park", "parking")])
def test_different_words_stay_different(one: str, other: str) -> None:
    assert normalize(one) != normalize(other)


@pytest.mark.parametrize("word", ["designed", "designs", "designer", "designing", "design"])
def test_inflections_share_a_stem(word: str) -> None:
    assert stem(word) == "design"


def test_names_are_split_at_capitals() -> None:
    assert split_camel_case("SubwayStation") == "subway station"
    assert split_camel_case("hasPOIType") == "has poi type"
    assert split_camel_case("former_name") == "former name"


@pytest.mark.parametrize(
    "iri", ["http://a.example/b#Park", "http://a.example/b/Park", "urn:x:Park", "http://a/Park/"]
)
def test_the_local_name_is_the_last_part(iri: str) -> None:
    assert local_name(iri) == "Park"


@pytest.mark.parametrize(
    ("label", "shown"),
    [
        ("birthPlace", "birth place"),
        ("birth_place", "birth place"),
        ("ICAOLocationIdentifier", "ICAO location identifier"),
        ("place of birth", "place of birth"),
        ("City", "City"),
        ("P17", "P17"),
        ("", ""),
    ],
)
def test_a_label_in_camel_case_is_shown_as_words(label: str, shown: str) -> None:
    assert readable(label) == shown
