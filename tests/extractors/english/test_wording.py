"""The second look: whether a sentence says a relation, in this direction, of these two."""

from __future__ import annotations

import pytest
from pyoxigraph import NamedNode

from extractors.candidates import RDF_TYPE, UNWORDED
from extractors.english.wording.kinds import kind_of_name, suggested_kind
from ontology.schema import Schema
from tests.support.scripted import ScriptedModel, pipeline, reply, urban

SAID = [
    ("The Elm Tower was designed by Ada Stone.", ("Elm Tower", "designed by", "Ada Stone")),
    ("Designed by Ada Stone, the Elm Tower opened in 1950.", ("Elm Tower", "designed by", "Ada Stone")),
    ("Ada Stone designed the Elm Tower in 1950.", ("Elm Tower", "designed by", "Ada Stone")),
    ("The Elm Tower, which Ada Stone and Jo Reed designed, is old.", ("Elm Tower", "designed by", "Jo Reed")),
    ("Ada Stone was the architect of the Elm Tower.", ("Elm Tower", "designed by", "Ada Stone")),
    ("The Ash Bridge connects Norton, Weston and Easton.", ("Ash Bridge", "connects", "Easton")),
    ("The Ash Bridge connects Norton with Weston.", ("Ash Bridge", "connects", "Weston")),
    ("Elm Hall is owned and operated by Oak Trust.", ("Elm Hall", "owned by", "Oak Trust")),
    ("Elm Hall is owned and operated by Oak Trust.", ("Elm Hall", "operated by", "Oak Trust")),
    ("Oak Trust operates Elm Hall today.", ("Elm Hall", "operated by", "Oak Trust")),
    ("Norton's Elm Hall is a museum.", ("Elm Hall", "located in", "Norton")),
    ("Elm Hall is a museum in the north of Norton.", ("Elm Hall", "located in", "Norton")),
    ("The fair was held at Ash Park in Norton.", ("Ash Park", "located in", "Norton")),
    ("Elm Lane was known as Salt Lane until 1961.", ("Elm Lane", "former name", "Salt Lane")),
    ("Elm Hall was established in 1754 as Salt House.", ("Elm Hall", "former name", "Salt House")),
    ("Elm Hall opened to the public on 3 May 1901.", ("Elm Hall", "opened", "3 May 1901")),
    ("In 1901, Elm Hall opened in Norton.", ("Elm Hall", "opened", "1901")),
    ("Elm Hall rises 63 metres above Norton.", ("Elm Hall", "height", "63 metres")),
    ("Ash Bridge crosses the Wye; its main span is 457 metres long.", ("Ash Bridge", "length", "457 metres")),
    ("Elm Tower has a height of about 90 metres.", ("Elm Tower", "height", "90 metres")),
    ("Elm Hall, a Gothic church in Norton, is old.", ("Elm Hall", "located in", "Norton")),
    ("Elm Hall: Architect Ada Stone. Closed on Mondays.", ("Elm Hall", "designed by", "Ada Stone")),
    (
        "The Ash Bridge (680 m; also called Nye Bridge) connects Ost with Wye.",
        ("Ash Bridge", "connects", "Wye"),
    ),
]
NOT_SAID = [
    (
        "The Ash Line starts at Elm Lane, runs through Norton and ends at Oak Street.",
        ("Ash Line", "starts at", "Oak Street"),
    ),
    (
        "Elm Hall is a hall in Norton and the home of the Norton Owls.",
        ("Elm Hall", "replaced by", "Norton Owls"),
    ),
    (
        "Elm Hall lies in Norton. It became Salt House on the grounds of Ash Church in Weston.",
        ("Norton", "former name", "Weston"),
    ),
    ("Deutsche Oak owns Elm Station, which opened in 1906.", ("Deutsche Oak", "opened", "1906")),
    ("Ash Bridge opened in 1928 and the Elm Bridge in 2001.", ("Ash Bridge", "opened", "2001")),
    (
        "Weston is the capital of Ashland, and Norton is the capital of Elmland.",
        ("Weston", "capital of", "Elmland"),
    ),
    ("Ash Bridge crosses the Wye; its towers are 85 metres high.", ("Ash Bridge", "height", "85 metres")),
    ("Elm Ferry has been free since 1997.", ("Elm Ferry", "established", "1997")),
    (
        "Elm Ferry serves 22 million riders, and its route passes close to Ash Rock.",
        ("Elm Ferry", "serves", "Ash Rock"),
    ),
    (
        "Elm Hall lies in Norton. Unlike its namesake in Weston, it has no garden.",
        ("Elm Hall", "located in", "Weston"),
    ),
    ("Elm Hall stands on West 54th Street.", ("Elm Hall", "located on", "54th Street")),
    ("Elm Hall was designed by Reed and Stem.", ("Elm Hall", "designed by", "Reed")),
    (
        "Oak Trust operates Elm Hall, and its lifts are run by Ash Company.",
        ("Elm Hall", "operated by", "Ash Company"),
    ),
    ("Ash Line ends in Wye, where a hall was built in 1925.", ("Ash Line", "completed", "1925")),
    (
        "Ash Bay was mud, and since the dam was completed in 1999 it is a lake.",
        ("Ash Bay", "completed", "1999"),
    ),
    ("The Ash Bay Dam is 1.1 km long.", ("Ash Bay", "length", "1.1 km")),
    ("Elm Market occupies five former Zeppelin hangars.", ("Elm Market", "housed in", "Zeppelin hangars")),
    ("Next to Elm Hall lies Ash Park. Wye is far.", ("Wye", "adjacent to", "Ash Park")),
    ("The Ash Ferry calls at Elm Pier and Wye.", ("Ash Ferry", "former name", "Elm Pier")),
    (
        "Elm Museum is in Norton, at 44 Elm Street, next to Ash Hall.",
        ("Elm Street", "adjacent to", "Ash Hall"),
    ),
    (
        "The Brooklyn Tramway crosses the Wye. Brooklyn was formerly known as Breuckelen.",
        ("Brooklyn Tramway", "former name", "Breuckelen"),
    ),
    ("Elm Hall closed in 1987 and was put up again in 1992.", ("Elm Hall", "closed", "1992")),
    ("Ash Zoo (opened in 1899) and Elm Hall are near.", ("Elm Hall", "opened", "1899")),
]


async def _rules(schema: Schema, text: str, said: tuple[str, str, str]) -> list[list[NamedNode]]:
    extraction = await pipeline(schema, ScriptedModel(reply([said]))).extract(text)
    term = schema.find_property(said[1])
    assert term is not None
    return [[p.rule for p in c.problems] for c in extraction.candidates if c.predicate == term.iri]


@pytest.mark.parametrize(("text", "said"), SAID)
async def test_what_the_words_say_has_no_problem(
    schema: Schema, text: str, said: tuple[str, str, str]
) -> None:
    assert await _rules(schema, text, said) == [[]]


@pytest.mark.parametrize(("text", "said"), NOT_SAID)
async def test_what_the_words_do_not_say_waits(schema: Schema, text: str, said: tuple[str, str, str]) -> None:
    assert await _rules(schema, text, said) == [[UNWORDED]]


async def test_ends_in_the_wrong_order_are_exchanged(schema: Schema) -> None:
    text = "Elm Hall, a museum, was designed by Ada Stone, a person."
    rows = [
        ("Elm Hall", "is a", "museum"),
        ("Ada Stone", "is a", "person"),
        ("Ada Stone", "designed by", "Elm Hall"),
    ]
    found = await pipeline(schema, ScriptedModel(reply(rows))).extract(text)
    labels = {entity.iri: entity.label for entity in found.entities}
    (designed,) = (c for c in found.candidates if c.predicate == urban("designedBy"))
    assert (labels[designed.subject], designed.problems) == ("Elm Hall", ())
    assert labels[designed.object] == "Ada Stone"  # type: ignore[index]


async def test_a_text_in_another_language_is_not_looked_at(schema: Schema) -> None:
    text = "La tour Elm a été conçue par Ada Stone et se trouve dans la ville de Norton depuis longtemps."
    found = await pipeline(
        schema, ScriptedModel(reply([("Elm", "designed by", "Ada Stone")])), languages=()
    ).extract(text)
    assert UNWORDED not in {p.rule for c in found.candidates for p in c.problems}


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("Norton's Central Station", "Central Station"),
        ("King's Cross Station", "King's Cross Station"),
        ("Upper East Side of Norton", "Upper East Side"),
        ("Norton borough of Elm Weston", "Elm Weston"),
        ("Young Women's Elm Station", "Young Women's Elm Station"),
        ("Mary's Pancake House", "Mary's Pancake House"),
        ("Bus: Ash Line", "Ash Line"),
    ],
)
async def test_a_name_is_whole_and_without_whose_it_is(schema: Schema, said: str, name: str) -> None:
    rows = [(said, "opened", "1905"), (said, "is a", "station")]
    found = await pipeline(schema, ScriptedModel(reply(rows))).extract(f"{said} opened in 1905.")
    assert [entity.label for entity in found.entities] == [name]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Rafael Larco Hoyle", "person"),
        ("King George II", "person"),
        ("Stone & Co.", "organization"),
        ("Mary Stone Street", "street"),
        ("Kigamboni", None),
        ("Duke of Kent", None),
    ],
)
def test_a_name_suggests_a_person_an_organization_or_a_kind(
    schema: Schema, name: str, kind: str | None
) -> None:
    found = suggested_kind(name, schema)
    assert (found.label if found else None) == kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Gansevoort Street", "street"),
        ("Prospect Park Zoo", "zoo"),
        ("Museum of Fine Arts", "museum"),
        ("Ash Hill", None),
        ("Street", None),
    ],
)
def test_a_name_says_its_kind(schema: Schema, name: str, kind: str | None) -> None:
    found = kind_of_name(name, schema)
    assert (found.label if found else None) == kind


async def test_the_kind_that_a_name_says_wins_over_a_guess(schema: Schema) -> None:
    text = "The Ash Line starts at Elm Street. Norton Park is a park, and it contains Salt Villa."
    rows = [("Elm Street", "is a", "bridge"), ("Salt Villa", "is a", "park"), ("Norton Park", "is a", "park")]
    found = await pipeline(schema, ScriptedModel(reply(rows))).extract(text)
    labels = {entity.iri: entity.label for entity in found.entities}
    kinds = {labels[c.subject]: (c.object, c.problems) for c in found.candidates if c.predicate == RDF_TYPE}
    assert kinds["Elm Street"] == (urban("Street"), ())
    assert kinds["Norton Park"] == (urban("Park"), ())
    assert [problem.rule for problem in kinds["Salt Villa"][1]] == [UNWORDED]
