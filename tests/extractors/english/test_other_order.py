"""What is read where words stand in another order than a label's: owners, appositions, coordinated verbs."""

from __future__ import annotations

import pytest

from extractors.candidates import RDF_TYPE
from extractors.grounding.entities import without_possessor
from ontology.labels import local_name
from ontology.schema import Schema
from tests.extractors.english.test_proposing import _builder, _read

SAID = [
    ("Weston's Elm Hall opened in 1901.", ("Elm Hall", "locatedIn", "Weston")),
    ("Weston's Elm Hall opened in 1901.", ("Elm Hall", "opened", "1901")),
    (
        "The Elm Bridge crosses the Ash River, which is wide, and connects Norton with Weston.",
        ("Elm Bridge", "connects", "Norton"),
    ),
    (
        "The new bell hangs in Elm Church, a chapel 89 meters high.",
        ("Elm Church", "height", "89"),
    ),
    (
        "Elm Hospital, a 60-bed hospital on Ash Street, opened in 1901.",
        ("Elm Hospital", "capacity", "60"),
    ),
    ("The hall stood empty until the 42-story Elm Tower was built.", ("Elm Tower", "floorCount", "42")),
    ("Elm Hall gave way in 2012 to the Ash Tower.", ("Elm Hall", "replacedBy", "Ash Tower")),
    ("The Elm Temple holds 900 worshippers.", ("Elm Temple", "capacity", "900")),
    ("The Old Norton is a city of 1,600,000 people.", ("Old Norton", "population", "1600000")),
    (
        "Every June the Elm Fair is organized by Oak Trust.",
        ("Elm Fair", "organizedBy", "Oak Trust"),
    ),
    ("The hall was designed by the Italian Francesco Stone.", None),
    (
        "Elm Tower was designed by the Italian Francesco Stone.",
        ("Elm Tower", "designedBy", "Francesco Stone"),
    ),
    ("The Elm School is a member of Oak League.", ("Elm School", "memberOf", "Oak League")),
]

NOT_SAID = [
    ("The bridge spans the Ash River and is 753 meters long.", "length"),
    ("Elm Fair is held at the Ash Theater (900 seats).", "capacity"),
    ("The council declared the Elm Canal a site in 2010 and dredging began in 2020.", "established"),
    ("Work at Elm Street and Ash Road began in April 1966.", "startDate"),
    ("Elm Hall was built by the Oak Trust between 1593 and 1596.", "completed"),
    ("Elm Church, whose towers are 60 meters high, is in Norton.", "height"),
    ("Gehry's Elm Hall opened in 1901.", "locatedIn"),
    ("Elm Bridge, which spans a gully 43 meters deep, is old.", "elevation"),
    ("Elm Hall shares a house with the Ash Academy, which Ada Stone founded in 1757.", "established"),
    ("A member of Oak League, Norton Town plays in Weston.", "memberOf"),
    ("Ada Stone designed a store for the Oak Company.", "designedBy"),
    ("The school on Elm Street, a plain pile designed by Ada Stone, is old.", "designedBy"),
]


@pytest.mark.parametrize(("text", "fact"), SAID)
def test_other_orders_are_read(schema: Schema, text: str, fact: tuple[str, str, str] | None) -> None:
    found = _read(schema, text)
    assert fact in found if fact is not None else not found


@pytest.mark.parametrize(("text", "relation"), NOT_SAID)
def test_words_of_another_thing_are_not_read(schema: Schema, text: str, relation: str) -> None:
    assert relation not in {predicate for _, predicate, value in _read(schema, text) if value != "1596"}


def test_a_name_has_the_kind_that_a_phrase_behind_it_says(schema: Schema) -> None:
    text = "The Kauno, Norton's busiest tram line, starts at Elm Station and ends at Ash Park."

    _, entities = _builder(schema, text).build([])

    kinds = {entity.label: [local_name(kind.value) for kind in entity.classes] for entity in entities}
    assert kinds["Kauno"] == [local_name(kind.iri.value) for kind in [schema.find_class("tram line")] if kind]


def test_a_relation_that_leaves_kinds_open_does_not_take_the_one_that_another_says(schema: Schema) -> None:
    """A length makes a thing a place; that it starts somewhere leaves open what kind of place."""
    text = "The Kaunas is 142 meters long. It starts at Elm Street."

    candidates, _ = _builder(schema, text).build([])

    kinds = [local_name(c.object.value) for c in candidates if c.predicate == RDF_TYPE and not c.problems]
    assert "Place" in kinds


@pytest.mark.parametrize(
    ("name", "bare"),
    [
        ("Norton's Central Station", "Central Station"),
        ("Norton's Ashsee", "Ashsee"),
        ("Norton's Ashbrook bus station", "Ashbrook bus station"),
        ("Norton's Ashbrook stadium", "Ashbrook stadium"),
        ("Magellan's Cross", "Magellan's Cross"),
        ("King's Cross", "King's Cross"),
        ("St Paul's School", "St Paul's School"),
        ("Norton's oldest bridge", "Norton's oldest bridge"),
    ],
)
def test_a_place_that_owns_a_thing_is_no_part_of_its_name(schema: Schema, name: str, bare: str) -> None:
    assert without_possessor(name, lambda word: schema.find_class(word) is not None) == bare
