"""The second look: whether a sentence says a relation, in this direction, of these two."""

from __future__ import annotations

import pytest
from pyoxigraph import NamedNode

from extractors.candidates import RDF_TYPE, UNWORDED
from extractors.english.kinds import kind_of_name, suggested_kind
from ontology.schema import Schema
from tests.support.scripted import ScriptedModel, reply, small_pipeline, urban

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
    ("Construction of Elm Hall started in 1850.", ("Elm Hall", "construction started", "1850")),
    (
        "The construction of the Elm Hall began on 3 May 1901.",
        ("Elm Hall", "construction started", "3 May 1901"),
    ),
    ("Construction on Elm Hall began in 1850.", ("Elm Hall", "construction started", "1850")),
    ("In 1901, Elm Hall opened in Norton.", ("Elm Hall", "opened", "1901")),
    ("Elm Hall rises 63 metres above Norton.", ("Elm Hall", "height", "63 metres")),
    ("Ash Bridge crosses the Wye; its main span is 457 metres long.", ("Ash Bridge", "length", "457 metres")),
    ("Elm Tower has a height of about 90 metres.", ("Elm Tower", "height", "90 metres")),
    ("Elm Hall, a Gothic church in Norton, is old.", ("Elm Hall", "located in", "Norton")),
    ("Located in Norton, Elm Hall was designed by Ada Stone.", ("Elm Hall", "designed by", "Ada Stone")),
    ("In Norton, Elm Hall is a museum named after Ada Stone.", ("Elm Hall", "named after", "Ada Stone")),
    ("Elm Hall: Architect Ada Stone. Closed on Mondays.", ("Elm Hall", "designed by", "Ada Stone")),
    (
        "The Ash Bridge (680 m; also called Nye Bridge) connects Ost with Wye.",
        ("Ash Bridge", "connects", "Wye"),
    ),
    ("Elm Market is Norton's oldest covered market.", ("Elm Market", "located in", "Norton")),
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
    ("A room in Weston, Norton is owned by Oak Trust.", ("Norton", "owned by", "Oak Trust")),
    ("A room in Weston, Norton, owned by Oak Trust, is old.", ("Norton", "owned by", "Oak Trust")),
    ("Construction of Elm Hall was completed in 1850.", ("Elm Hall", "construction started", "1850")),
    ("Construction of Elm Hall began in 1850 in Norton.", ("Norton", "construction started", "1850")),
    ("Elm Hall stands on West 54th Street.", ("Elm Hall", "located on", "54th Street")),
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

NOT_SAID += [
    ("Oak Bank is old. In 1940, the bank opened its first branch in Norton.", ("Oak Bank", "opened", "1940")),
    ("By 1903, Elm School was nearly completed.", ("Elm School", "completed", "1903")),
    ("Elm Row consists of houses built in 1902.", ("Elm Row", "completed", "1902")),
    ("Elm Hall, 5 miles (8 km) south-east of Norton, is a house.", ("Elm Hall", "length", "5 miles")),
    ("Norton is a city which has 538 miles of waterfront.", ("Norton", "length", "538 miles")),
    ("Elm Bridge connects Ash City in Norton to Weston.", ("Elm Bridge", "located in", "Norton")),
    ("Elm Hall consists of woods south of Ash Road.", ("Elm Hall", "has part", "Ash Road")),
    ("Elm Road runs to Weston and surrounding Norton.", ("Elm Road", "contains", "Norton")),
    (
        "Oak Bank and Ash Bank were founded in 1855 and 1869, respectively.",
        ("Oak Bank", "established", "1855"),
    ),
    ("The Ash Subway stops at Elm Hall–42nd Street station.", ("Ash Subway", "located in", "Elm Hall")),
    ("41 Elm Road is owned by Oak Trust.", ("Elm Road", "owned by", "Oak Trust")),
    ("The Elm Street building was later home to the Ash Club.", ("Elm Street", "contains", "Ash Club")),
    (
        "Oak Inns opened in Weston. It expanded to Norton, Easton, and Elm Land in 1976.",
        ("Elm Land", "renovated", "1976"),
    ),
    (
        "Ash Hall opened in stages, with a dedication on May 2, 1942, and completion of the work in 1943.",
        ("Ash Hall", "completed", "May 2, 1942"),
    ),
    ("Elm Row was renamed in 1880 by the developer Ada Stone.", ("Elm Row", "built by", "Ada Stone")),
    ("Elm Hall seats 41,168, including 5,197 club seats.", ("Elm Hall", "capacity", "5,197")),
    ("Elm School serves students in grades 9 through 12.", ("Elm School", "student count", "9")),
    ("Elm College has students of more than 170 countries.", ("Elm College", "student count", "170")),
    (
        "Elm Tower was the tallest from its completion until the topping out of Ash Tower in 2019.",
        ("Elm Tower", "completed", "2019"),
    ),
    (
        "Prior to the September 11, 2001 attacks, Elm Road ended at Ash Road.",
        ("Elm Road", "end date", "September 11, 2001"),
    ),
    ("As of 30 July 2023, Oak Bank was founded anew.", ("Oak Bank", "established", "30 July 2023")),
    (
        "Elm Chapel was completed in 1754 and designated a landmark in 1960.",
        ("Elm Chapel", "established", "1960"),
    ),
    ("Elm Road is home to the OBC's headquarters Oak House.", ("Elm Road", "headquartered in", "Oak House")),
    ("Elm Road is used by traffic leaving the Ash Tunnel.", ("Elm Road", "serves", "Ash Tunnel")),
    ("Elm Lane crosses Oak Row, Ash Row, and ends at Fir Row.", ("Ash Row", "ends at", "Fir Row")),
    ("Elm Grill serves American food.", ("Elm Grill", "serves", "American")),
    (
        "Elm Park lies within the area once known as South Weston. Norton is near.",
        ("Elm Park", "former name", "South Weston"),
    ),
    (
        "Elm Hall is in Weston, and Ash County, Norton, that connects Oak Row with Fir Row.",
        ("Norton", "connects", "Oak Row"),
    ),
    (
        "The road provides the name for the Ash Avenue station. Elm Road is old.",
        ("Elm Road", "named after", "Ash Avenue"),
    ),
    ("Located east of Ash Field, Elm Fair is known for shops.", ("Elm Fair", "held at", "Ash Field")),
    ("Elm Hall is at 145 and 146 Ash Row, and seats many.", ("Elm Hall", "capacity", "145")),
    ("Headquartered in Weston, Norton, it serves builders.", ("Norton", "headquartered in", "Weston")),
]
SAID += [
    ("Elm Hall, a 36-story tower, was completed in 1990.", ("Elm Hall", "completed", "1990")),
    ("Elm Hall is a house built in 1902.", ("Elm Hall", "completed", "1902")),
    ("Elm Hall opened its doors in early 1888.", ("Elm Hall", "opened", "1888")),
    ("Elm Canal is a canal in Norton, 1.8 miles long and wide.", ("Elm Canal", "length", "1.8 miles")),
    ("Elm Bridge crosses the Wye in Norton.", ("Elm Bridge", "located in", "Norton")),
    ("Elm House is one of the oldest houses built in 1902.", ("Elm House", "completed", "1902")),
    ("Elm Hall seats 50,000 spectators.", ("Elm Hall", "capacity", "50,000")),
    ("Elm Road is home to Oak Club.", ("Elm Road", "contains", "Oak Club")),
    (
        "The park was designed by the architect Ada Stone. Elm Park is old.",
        ("Elm Park", "designed by", "Ada Stone"),
    ),
]

NOT_SAID += [
    (
        "Elm University is old. Founded in 1754 as Salt College on the grounds of Ash Church, it is large.",
        ("Elm University", "located in", "Ash Church"),
    ),
    (
        "Elm University is old. Founded in 1754 as Salt College on the grounds of Ash Church, it is large.",
        ("Salt College", "located in", "Ash Church"),
    ),
    ("The tramway spans the Wye and connects Elm Island with Norton.", ("Elm Island", "crosses", "Wye")),
    ("The Elm plant was built as a Great War factory.", ("Elm plant", "former name", "Great War")),
    (
        "The Elm plant was built as a factory run by the Oak Company.",
        ("Elm plant", "built by", "Oak Company"),
    ),
    (
        "Elm School is old. It is located in the Ash section of the borough of Norton.",
        ("Norton", "located in", "Ash"),
    ),
    (
        "Elm Road is old. It was in 1655 that the first settlers paid for it.",
        ("Elm Road", "established", "1655"),
    ),
    ("Elm Library, commonly called Elm House, is old.", ("Elm Library", "former name", "Elm House")),
    ("Ash Hall stands in the Oak Park neighborhood of Norton.", ("Ash Hall", "part of", "Norton")),
    ("Elm Wheel is a wheel in Weston, Norton, built in 1922.", ("Norton", "completed", "1922")),
    (
        "Elm Park includes the Ash House, formerly known as Oak House.",
        ("Elm Park", "former name", "Oak House"),
    ),
    ("Elm Church stands in Weston, capital of Norton.", ("Elm Church", "capital of", "Norton")),
    ("Elm Bank served the German community.", ("Elm Bank", "serves", "German")),
    (
        "Elm School, built for 2,000 students, by 1964 had become too small.",
        ("Elm School", "completed", "1964"),
    ),
    ("Elm Hospital is new. The original hospital was opened in 1903.", ("Elm Hospital", "opened", "1903")),
    ("Elm Road ends at the Ash County line.", ("Elm Road", "ends at", "Ash County")),
    (
        "Oak Office is a tower in Midtown Norton which was completed in 1969.",
        ("Midtown Norton", "completed", "1969"),
    ),
    ("Terminal is old. Terminal was built by Ada Stone.", ("Terminal", "built by", "Ada Stone")),
]


async def _rules(schema: Schema, text: str, said: tuple[str, str, str]) -> list[list[NamedNode]]:
    extraction = await small_pipeline(schema, ScriptedModel(reply([said]))).extract(text)
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
    found = await small_pipeline(schema, ScriptedModel(reply(rows))).extract(text)
    labels = {entity.iri: entity.label for entity in found.entities}
    (designed,) = (c for c in found.candidates if c.predicate == urban("designedBy"))
    assert (labels[designed.subject], designed.problems) == ("Elm Hall", ())
    assert labels[designed.object] == "Ada Stone"  # type: ignore[index]


@pytest.mark.parametrize(
    "text",
    ["In Norton, Elm Church is a landmark.", "Located in Norton, Elm Church was designed by Ada Stone."],
)
async def test_a_place_that_opens_a_sentence_lies_not_in_what_follows(schema: Schema, text: str) -> None:
    found = await small_pipeline(
        schema, ScriptedModel(reply([("Norton", "located in", "Elm Church")]))
    ).extract(text)
    labels = {entity.iri: entity.label for entity in found.entities}
    assert [
        (labels[one.subject], one.predicate, labels[one.object])  # type: ignore[index]
        for one in found.candidates
        if one.object in labels
    ] == [("Norton", urban("contains"), "Elm Church")]


async def test_a_text_in_another_language_is_not_looked_at(schema: Schema) -> None:
    text = "La tour Elm a été conçue par Ada Stone et se trouve dans la ville de Norton depuis longtemps."
    found = await small_pipeline(
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
    found = await small_pipeline(schema, ScriptedModel(reply(rows))).extract(f"{said} opened in 1905.")
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
    found = await small_pipeline(schema, ScriptedModel(reply(rows))).extract(text)
    labels = {entity.iri: entity.label for entity in found.entities}
    kinds = {labels[c.subject]: (c.object, c.problems) for c in found.candidates if c.predicate == RDF_TYPE}
    assert kinds["Elm Street"] == (urban("Street"), ())
    assert kinds["Norton Park"] == (urban("Park"), ())
    assert [problem.rule for problem in kinds["Salt Villa"][1]] == [UNWORDED]


@pytest.mark.parametrize("aside", [", known as the Elm,", " (Ash Hall)", ", once a church,"])
async def test_a_kind_behind_an_aside_is_said_of_the_name_before_it(schema: Schema, aside: str) -> None:
    text = f"Elm House{aside} is a temple in Norton."
    rows = [("Elm House", "is a", "temple"), ("Elm House", "located in", "Norton")]

    extraction = await small_pipeline(schema, ScriptedModel(reply(rows))).extract(text)

    (kind,) = (one for one in extraction.candidates if one.predicate == RDF_TYPE and one.reply)
    assert not kind.problems
