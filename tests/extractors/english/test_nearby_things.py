"""What is said of a thing that is only near, a part, or named by a word; owners before names; initials."""

from __future__ import annotations

import pytest

from extractors.candidates import NOT_A_NAME, RDF_TYPE, UNWORDED
from extractors.english.wording.kinds import kind_of_name
from extractors.grounding.entities import without_possessor
from ontology.schema import Schema
from tests.extractors.english.test_other_things import Row, _problems
from tests.extractors.english.test_proposing import _read
from tests.support.scripted import ScriptedModel, pipeline, reply

NOT_SAID: list[tuple[str, Row]] = [
    # another verb begins behind "and"
    (
        "The Elm Bridge links Norton with Weston and carries the Ash Line.",
        ("Elm Bridge", "connects", "Ash Line"),
    ),
    # a part with a number
    (
        "Elm Airport is run by Oak Trust. Terminal 4 opened in 2017.",
        ("Elm Airport", "opened", "2017"),
    ),
    # "there"
    (
        "Elm Field in Norton covers 355 hectares; the airport there shut on 30 October 2008.",
        ("Elm Field", "closed", "30 October 2008"),
    ),
    # the date of another verb
    (
        "Elm Garden was founded by Ada Stone over forty years and bought by Jo Reed in 1980.",
        ("Elm Garden", "established", "1980"),
    ),
    # a participle behind several things
    (
        "Elm Bridge is old. It replaced seven ferries operated by Ada Stone.",
        ("Elm Bridge", "operated by", "Ada Stone"),
    ),
    # where it was made
    (
        "Elm Bridge was cast at Ash Works in Weston and opened in 1816.",
        ("Elm Bridge", "located in", "Weston"),
    ),
    ("Elm Bridge was cast in Weston.", ("Elm Bridge", "located in", "Weston")),
    # until when it was the tallest
    (
        "Elm Tower, 296 m, was the tallest building until Weston's Ash Tower opened in 2014.",
        ("Elm Tower", "opened", "2014"),
    ),
    # a name that goes on with a number
    (
        "Elm Tower was designed by Jo Reed and stands in Ash Quarter 21 near the sea.",
        ("Elm Tower", "located in", "Ash Quarter"),
    ),
    # "which" speaks of what it is near
    (
        "Elm Tower is tall. It stands near Ash Station, which is served by the Blue Line.",
        ("Elm Tower", "served by", "Blue Line"),
    ),
    # what is named only later
    (
        "The underpass opened to the public on April 10, 1951. It was ready soon after the Ash Tunnel.",
        ("Ash Tunnel", "opened", "April 10, 1951"),
    ),
    # what leads along it
    (
        "The underpass runs underneath the Elm Line, connecting the Ash Highway to the Oak Viaduct.",
        ("Elm Line", "connects", "Ash Highway"),
    ),
    # "the highway" is none of what the sentence names behind
    (
        "The current highway was complete by 2001, but needed repairs when the fall of the Elm Center "
        "damaged it.",
        ("Elm Center", "completed", "2001"),
    ),
    # what somebody became
    (
        "Elm Street was named after Ada Stone, who became a Lieutenant Governor of Norton.",
        ("Ada Stone", "succeeded by", "Lieutenant Governor of Norton"),
    ),
    # a part of a longer description
    (
        "Elm House is in Norton. It became a Norton designated landmark in 1993.",
        ("Norton", "established", "1993"),
    ),
    # the first year of several
    ("Elm House is old. It was built in 1914–16.", ("Elm House", "completed", "1914")),
    # several things that are no thing of that name
    (
        "The Elm Inn brand began in 1989. Of four hotels, three are still open. They are located in Norton.",
        ("Elm Inn", "located in", "Norton"),
    ),
    # what others are counted
    (
        "Elm School is old. It draws students from eighty-five parochial and public schools.",
        ("Elm School", "student count", "eighty-five"),
    ),
    # a name that it has now
    (
        "Elm Avenue is wide. The avenue is called Ash Square East between 14th and 17th Streets.",
        ("Elm Avenue", "former name", "Ash Square East"),
    ),
    # where ways meet
    (
        "Route 9 leaves the Elm Way at the Ash Interchange and goes on.",
        ("Elm Way", "located in", "Ash Interchange"),
    ),
    # where a factory was opened
    (
        "Elm & Sons is a company. Its growth led to the opening of a factory in Norton.",
        ("Elm & Sons", "located in", "Norton"),
    ),
    # a part of a town is no street
    (
        "Elm Museum is a museum on the Upper East Side of Norton.",
        ("Elm Museum", "located on", "Upper East Side"),
    ),
]

SAID: list[tuple[str, Row]] = [
    (
        "Elm Tower, 296 m, was the tallest building until Weston's Ash Tower opened in 2014.",
        ("Ash Tower", "opened", "2014"),
    ),
    (
        "Elm Tower is tall. It stands near Ash Station, which is served by the Blue Line.",
        ("Ash Station", "served by", "Blue Line"),
    ),
    (
        "The Elm Bridge links Norton with Weston and carries the Ash Line.",
        ("Elm Bridge", "connects", "Weston"),
    ),
    ("The park was designed by Ada Stone. Elm Park is old.", ("Elm Park", "designed by", "Ada Stone")),
    (
        "Elm Museum is a museum on the Upper East Side of Norton.",
        ("Elm Museum", "located in", "Upper East Side"),
    ),
    ("Elm & Sons is a company with a factory in Norton.", ("Elm & Sons", "located in", "Norton")),
    (
        "Elm Hall and Ash Hall are old. They were designed by Ada Stone.",
        ("Elm Hall", "designed by", "Ada Stone"),
    ),
    ("Elm Garden was founded and endowed by Ada Stone in 1450.", ("Elm Garden", "established", "1450")),
]

NOT_READ: list[tuple[str, str]] = [
    (
        "Elm Station reopened in July 2014 as a hotel, the Ash, after a renovation led by Oak Design.",
        "renovated",
    ),
    ("Elm masks have been adopted in Norton, Weston, and elsewhere.", "locatedIn"),
    ("The Norton campus, overlooking the Ash River, is old.", "locatedOn"),
    ("Elm Street was named after Norton-born Ada Stone.", "namedAfter"),
    ("Neptune's Fountain has stood there since 1633.", "locatedIn"),
]


@pytest.mark.parametrize(("text", "said"), NOT_SAID)
async def test_what_is_said_of_a_nearby_thing_waits(schema: Schema, text: str, said: Row) -> None:
    assert await _problems(schema, text, said) == [[UNWORDED]]


@pytest.mark.parametrize(("text", "said"), SAID)
async def test_what_is_said_of_the_thing_itself_has_no_problem(schema: Schema, text: str, said: Row) -> None:
    assert await _problems(schema, text, said) == [[]]


@pytest.mark.parametrize(("text", "relation"), NOT_READ)
def test_labels_do_not_say_it_of_a_nearby_thing(schema: Schema, text: str, relation: str) -> None:
    assert relation not in {one[1] for one in _read(schema, text)}


@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("Cape Town's Mount Elm Hotel", "Mount Elm Hotel"),
        ("Kansas City's Elm Memorial", "Elm Memorial"),
        ("Milan's Elm Tower", "Elm Tower"),
        ("St. Louis's Elm Bridge", "Elm Bridge"),
        ("Milan Stone's House", "Milan Stone's House"),
        ("St. Paul's Elm Church", "St. Paul's Elm Church"),
        ("Neptune's Fountain", "Neptune's Fountain"),
    ],
)
def test_a_town_before_a_name_is_no_part_of_it(schema: Schema, name: str, left: str) -> None:
    assert without_possessor(name, lambda word: schema.find_class(word) is not None) == left


def test_a_house_with_its_number_says_no_kind(schema: Schema) -> None:
    assert kind_of_name("375 Elm Avenue", schema) is None
    street = kind_of_name("34th Street", schema)
    assert street is not None
    assert street.label == "street"


def test_a_distance_is_no_kind(schema: Schema) -> None:
    text = "Elm Church stands on Ash Way, a block from the Oak Square."
    assert "building" not in {one[2] for one in _read(schema, text) if one[0] == "Ash Way"}


async def test_an_address_is_no_name(schema: Schema) -> None:
    text = "Address: Elm Square 1, Norton. Opened: 1932."
    assert NOT_A_NAME in (await _problems(schema, text, ("Elm Square 1, Norton", "opened", "1932")))[0]


async def test_a_style_before_a_noun_is_no_name(schema: Schema) -> None:
    text = "Elm House is tall. The International Style building, completed in 1958, is black."
    said = ("International Style building", "completed", "1958")
    assert await _problems(schema, text, said) == [[UNWORDED]]


async def test_initials_in_brackets_are_the_name_before_them(schema: Schema) -> None:
    text = "The Norton Elm Museum (NEM) is a museum. NEM opened in 1902."
    rows = [("Norton Elm Museum", "is a", "museum"), ("NEM", "opened", "1902")]
    found = await pipeline(schema, ScriptedModel(reply(rows))).extract(text)
    assert [entity.label for entity in found.entities] == ["Norton Elm Museum"]
    assert not [c for c in found.candidates if c.problems and c.predicate != RDF_TYPE]
