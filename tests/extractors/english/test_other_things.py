"""What is said of another thing that stands near: numbered ones, objects, places of founding; and guesses."""

from __future__ import annotations

import pytest

from extractors.candidates import HEDGED, RDF_TYPE, UNWORDED
from extractors.english.kinds import kind_of_name, suggested_kind
from extractors.english.look import Wording
from extractors.english.units import capitalized_runs
from extractors.grounding.entities import without_possessor
from extractors.grounding.linking import Linker
from extractors.grounding.mentions import GroundedText
from extractors.text.chunking import Span
from ontology.schema import Schema
from tests.extractors.english.test_proposing import _read
from tests.support.scripted import ScriptedModel, city_labels, reply, small_pipeline, urban

Row = tuple[str, str, str]

NOT_SAID: list[tuple[str, Row]] = [
    # one of several that bear a name
    (
        "The Ash Bridge is in Norton. The fourth Ash Bridge, built in 1912, burned down.",
        ("Ash Bridge", "completed", "1912"),
    ),
    ("Norton Market is a street. The first shop opened in 1310.", ("Norton Market", "opened", "1310")),
    # who does something to a thing is not that thing
    (
        "Elm Hotel is old. Stone & Reed built it between 1911 and 1912.",
        ("Stone & Reed", "completed", "1912"),
    ),
    # the object of a verb is not the subject of the next one
    (
        "The Ash Bridge is old. The bridge carries the Norton Line and is owned by Oak Rail.",
        ("Norton Line", "owned by", "Oak Rail"),
    ),
    # what "its" opens between commas is an aside
    (
        "Elm Gardens is a park. The Ash Gallery, on its edge, was designed by Ada Stone, its first director, "
        "and opened on 16 July 1957.",
        ("Elm Gardens", "opened", "16 July 1957"),
    ),
    # a thing may have moved since
    (
        "Elm Museum is a museum. It was founded in Weston in 1798 and moved to Norton in 1808.",
        ("Elm Museum", "located in", "Weston"),
    ),
    # a new clause behind "and" has its own subject
    (
        "The Ash Bridge is old. Work began on 28 July 1923, and Ada Stone opened it in 1932.",
        ("Ada Stone", "construction started", "28 July 1923"),
    ),
    # a measure behind a comma is that of the name before it
    (
        "The Elm Line links Ash Street with Norton Park, 727 m above sea level.",
        ("Ash Street", "elevation", "727 m"),
    ),
    # whose owner it is says the sentence, not the one before
    (
        "Elm Club has its pool at Ash Beach. Nearby Elm Pavilion was renovated by Jo Reed for the Oak "
        "Council, its owner.",
        ("Elm Club", "owned by", "Oak Council"),
    ),
    # a time that is over
    (
        "Elm Clinic is a hospital. From 1978 to 2020, it was affiliated with Ash Hospital.",
        ("Elm Clinic", "affiliated with", "Ash Hospital"),
    ),
    # a person succeeds a person
    (
        "Elm College opened in 2000. Its first dean left; Jo Reed, the current dean, succeeded him.",
        ("Elm College", "succeeded by", "Jo Reed"),
    ),
    # what a part of it holds
    ("Elm Tower is a tower. Its revolving restaurant seats 48.", ("Elm Tower", "capacity", "48")),
    # "above it" is no subject
    (
        "Ash Station is old. The Elm Towers above it, 245 m and 226 m high, were completed in 1999.",
        ("Ash Station", "height", "226 m"),
    ),
    # "the tunnel" is no bridge
    (
        "The Ash Bridge is old. The tunnel under Elm Hill, at its western end, is 350 m long.",
        ("Ash Bridge", "length", "350 m"),
    ),
    # who acts on a thing in a relative clause is not that thing
    (
        "Ada Stone designed the 300-meter, 60-floor tower, which Oakco built in 2014.",
        ("Oakco", "completed", "2014"),
    ),
    (
        "Ada Stone designed the 300-meter, 60-floor tower, which Oakco built in 2014.",
        ("Oakco", "designed by", "Ada Stone"),
    ),
    # what describes the name behind it is no name
    (
        "Elm Garden is a garden. It was created by the French artist Ada Stone over forty years.",
        ("Elm Garden", "founded by", "French artist"),
    ),
    # what opens again was open before
    ("Elm Bridge is old. It was reopened on 20 November 1949.", ("Elm Bridge", "opened", "20 November 1949")),
    # a number that comes on top of another
    ("Elm Line is a tram line. It had 100,000 more riders in 2019.", ("Elm Line", "ridership", "100,000")),
]

SAID: list[tuple[str, Row]] = [
    # a name that describes a noun is no subject
    (
        "Elm House, an Art Nouveau apartment building in Norton, was put up by the developer Ada Stone.",
        ("Elm House", "built by", "Ada Stone"),
    ),
    # a name behind its description
    ("The tallest building in Norton, Elm Tower, has 40 stories.", ("Elm Tower", "located in", "Norton")),
    ("Built in 1904 to a design by Ada Stone, Elm Hall seats 650.", ("Elm Hall", "designed by", "Ada Stone")),
    ("Standing on the quay at Norton, Elmax is a library that opened in 2015.", ("Elmax", "opened", "2015")),
    (
        "Elm Hotel is old. Stone & Reed built it in 1912.",
        ("Elm Hotel", "completed", "1912"),
    ),
    (
        "The Ash Bridge is old. The bridge carries the Norton Line and is owned by Oak Rail.",
        ("Ash Bridge", "owned by", "Oak Rail"),
    ),
    (
        "Elm Hotel is in Norton. Ada Stone drew the plans. It faces Elm Square.",
        ("Elm Hotel", "adjacent to", "Elm Square"),
    ),
    (
        "The Ash Bridge is old. Work began on 28 July 1923, and Ada Stone opened it in 1932.",
        ("Ash Bridge", "construction started", "28 July 1923"),
    ),
    (
        "The Elm Line links Ash Street with Norton Park, 727 m above sea level.",
        ("Norton Park", "elevation", "727 m"),
    ),
    (
        "Elm Club has its pool at Ash Beach. Nearby Elm Pavilion was renovated by Jo Reed for the Oak "
        "Council, its owner.",
        ("Elm Pavilion", "owned by", "Oak Council"),
    ),
    ("Elm Line is a tram line. It had 100,000 riders in 2019.", ("Elm Line", "ridership", "100,000")),
]

NOT_READ: list[tuple[str, str]] = [
    ("Ash Street starts at Gray's Inn Road in the east.", "locatedIn"),
    ("Elm Hospital, also known as Ash Health + Hospitals, is old.", "nickname"),
    ("The Elm Center for Research in Black Culture is a library.", "locatedIn"),
    ("East of Elmia and west of Norton, the province includes the island of Bali.", "contains"),
    ("Along its length, Elm Street crosses Ash, Oak, Broad, and New Streets.", "crosses"),
    ("The Elm District is small. It has one building constructed in 1909.", "constructionStarted"),
    ("It has houses in the Queen Anne, Romanesque and Neo-Renaissance styles.", "architecturalStyle"),
    ("Built by Ada Stone, the hotel was designed in 1901 and opened in 1906.", "completed"),
    ("Oak Agency, which owns the Elm trademarks and copyrights, is large.", "owns"),
    ("The Elm War (also called the War of 1870) was long.", "nickname"),
    ("Ash station opened in 2012; it lies 50 metres below ground.", "elevation"),
    ("Elm Fort is old. Rebuilt twice, it was captured by Ash troops on 3 July 1814.", "renovated"),
    ("Elm East, across Ash Road, was opened in 1869. It faces the Elm Palace across the Ash.", "crosses"),
    ("In 1993 the Iraqi architect Ada Stone won the competition for the Elm Mosque.", "designedBy"),
    ("The Elm Festival has been held in the park every April since 1999.", "heldAt"),
    ("Elm Street was dug up by residents on 6 April 2024.", "population"),
]


async def _problems(schema: Schema, text: str, said: Row) -> list[list[object]]:
    extraction = await small_pipeline(schema, ScriptedModel(reply([said]))).extract(text)
    term = schema.find_property(said[1])
    assert term is not None
    return [[p.rule for p in c.problems] for c in extraction.candidates if c.predicate == term.iri]


@pytest.mark.parametrize(("text", "said"), NOT_SAID)
async def test_what_is_said_of_another_thing_waits(schema: Schema, text: str, said: Row) -> None:
    assert await _problems(schema, text, said) == [[UNWORDED]]


@pytest.mark.parametrize(("text", "said"), SAID)
async def test_what_is_said_of_the_thing_has_no_problem(schema: Schema, text: str, said: Row) -> None:
    assert await _problems(schema, text, said) == [[]]


@pytest.mark.parametrize(("text", "relation"), NOT_READ)
def test_labels_do_not_say_it(schema: Schema, text: str, relation: str) -> None:
    assert relation not in {one[1] for one in _read(schema, text)}


def test_which_behind_a_place_speaks_of_what_lies_there(schema: Schema) -> None:
    said = _read(schema, "She designed the Elm Center in Norton, which was completed in 2012.")
    assert {one for one in said if one[1] == "completed"} <= {("Elm Center", "completed", "2012")}


async def test_what_is_expected_is_no_fact(schema: Schema) -> None:
    text = "Elm Museum is a museum. Norton expects 100,000 visitors a year at the Elm Museum."
    assert HEDGED in (await _problems(schema, text, ("Elm Museum", "annual visitors", "100,000")))[0]


def test_a_noun_means_what_the_text_calls_so_before_a_name_that_has_it(schema: Schema) -> None:
    text = (
        "The Elmhaus is a national museum in Norton, close to the Ash Museum. The museum was founded in 1798."
    )
    found = {one for one in _read(schema, text) if one[1] == "established"}
    assert found == {("Elmhaus", "established", "1798")}


@pytest.mark.parametrize(("name", "kind"), [("Elm Hall", "theater"), ("Kigamboni", "city")])
async def test_a_guess_of_a_kind_waits(schema: Schema, name: str, kind: str) -> None:
    text = f"{name} is large. People like to go to {name}."
    found = await small_pipeline(schema, ScriptedModel(reply([(name, "is a", kind)]))).extract(text)
    (said,) = (c for c in found.candidates if c.predicate == RDF_TYPE)
    if (own := kind_of_name(name, schema)) is not None:
        assert (said.object, said.problems) == (own.iri, ())  # what the name says is taken instead
    else:
        assert [problem.rule for problem in said.problems] == [UNWORDED]


async def test_a_guess_decides_between_the_kinds_that_a_relation_leaves(schema: Schema) -> None:
    rows = [("Elm Hall", "is a", "building"), ("Elm Hall", "operated by", "Kigamboni")]
    rows.append(("Kigamboni", "is a", "transport operator"))
    text = "Elm Hall is a building. Elm Hall is operated by Kigamboni."
    found = await small_pipeline(schema, ScriptedModel(reply(rows))).extract(text)
    labels = {entity.iri: entity.label for entity in found.entities}
    kinds = [
        c.object
        for c in found.candidates
        if c.predicate == RDF_TYPE and labels[c.subject] == "Kigamboni" and not c.problems
    ]
    assert kinds == [urban("Organization")]


@pytest.mark.parametrize(
    ("name", "guess", "kind"),
    [
        ("James Elm Field Operations", "company", None),
        ("James Elm Field Operations", "person", "person"),
        ("James Elm", "company", "person"),
        ("Hotel Elmira", None, "hotel"),
        ("Elm Point", None, None),
    ],
)
def test_a_name_and_a_guess(schema: Schema, name: str, guess: str | None, kind: str | None) -> None:
    class_ = schema.find_class(guess) if guess else None
    found = suggested_kind(name, schema, class_.iri if class_ else None)
    assert (found.label if found else None) == kind


async def test_a_doubtful_other_name_makes_no_two_things_one(schema: Schema) -> None:
    text = "Elm Square, which is wide, contains a statue of Ada Stone and has been called by five names."
    rows = [("Elm Square", "nickname", "Ada Stone"), ("Ada Stone", "is a", "person")]
    found = await small_pipeline(schema, ScriptedModel(reply(rows))).extract(text)
    person = schema.find_class("person")
    assert person is not None
    assert [e.label for e in found.entities if person.iri in e.classes] == ["Ada Stone"]


@pytest.mark.parametrize(
    ("opening", "name"),
    [
        ("Visit the Elm Museum", "Elm Museum"),
        ("Discover Elm Museum", "Elm Museum"),
        ("See the Elm Museum", "Elm Museum"),
        ("Nearby Elm Museum", "Elm Museum"),
        ("Elm Hotels & Resorts, Inc.", "Elm Hotels & Resorts, Inc."),
        ("Architects Ada Stone", "Ada Stone"),
    ],
)
def test_what_opens_a_sentence_is_no_part_of_a_name(opening: str, name: str) -> None:
    (run,) = capitalized_runs(f"{opening}!", Span(0, len(opening) + 1))
    assert opening[run.start : run.end] == name


def test_a_name_of_the_model_that_opens_with_such_words_is_none(schema: Schema) -> None:
    text = GroundedText("Visit the Elm Museum! The museum opened in 1986.")
    wording = Wording(text, Linker(city_labels(), schema), {"Visit the Elm Museum"})
    assert [text.text[name.start : name.end] for name in wording.names] == ["Elm Museum"]


def test_a_common_noun_is_no_name_without_its_owner() -> None:
    assert without_possessor("Sigismund's Column") == "Sigismund's Column"
    assert without_possessor("Wetzel's Pretzels") == "Wetzel's Pretzels"
    assert without_possessor("Norton's Atomium") == "Atomium"


def test_what_is_a_leads_to_is_no_name(schema: Schema) -> None:
    said = _read(schema, "The Elm Road is an auxiliary Interstate Highway in Norton.")
    assert "Interstate Highway" not in {one[0] for one in said}


def test_a_house_with_its_number_lies_nowhere(schema: Schema) -> None:
    said = _read(schema, "Elm Club has its pool at 1 Ash Avenue, Norton.")
    assert "1 Ash Avenue" not in {one[0] for one in said}
