"""What is said of a thing that is only near, a part, or named by a word; owners before names; initials."""

from __future__ import annotations

import pytest

from extractors.candidates import NOT_A_NAME, RDF_TYPE, UNWORDED
from extractors.english.kinds import kind_of_name
from extractors.english.units import capitalized_runs
from extractors.grounding.entities import without_possessor
from extractors.text.chunking import Span
from ontology.schema import Schema
from tests.extractors.english.test_other_things import Row, _problems
from tests.extractors.english.test_proposing import _read
from tests.support.scripted import ScriptedModel, reply, small_pipeline, urban

NOT_SAID: list[tuple[str, Row]] = [
    # another one of its kind, and one part of several
    (
        "The Elm Tunnel connects Norton with Weston. A second tunnel, dug by Oak Works, opened in 2011.",
        ("Elm Tunnel", "opened", "2011"),
    ),
    (
        "Elm Bridge was widened by Jo Reed. The oldest of its three parts was designed by Ada Stone.",
        ("Elm Bridge", "designed by", "Ada Stone"),
    ),
    # one of several things, by its place
    (
        "The Elm Tramway is operated by Oak Trust. The depot at Ash Hill opened in 1914.",
        ("Elm Tramway", "opened", "1914"),
    ),
    (
        "The depot at Ash Hill opened in 1914 and that at Oak Hill in 1901.",
        ("Ash Hill", "located in", "Oak Hill"),
    ),
    # what the thing replaced
    (
        "The station was opened on 12 May 1969 and replaced Elm Lane halt, which was small.",
        ("Elm Lane", "opened", "12 May 1969"),
    ),
    # the building that it moved to
    (
        "Norton's Elm Theater moved in 2006 to a building by Jo Reed that overlooks the Ash.",
        ("Elm Theater", "designed by", "Jo Reed"),
    ),
    # "whose", and a part as the object
    (
        "Elm Mosque, whose minaret was finished in 1233, is in Norton.",
        ("Elm Mosque", "completed", "1233"),
    ),
    (
        "Norton's Teatro Elm opened in 1801, and Gian Antonio Stone designed the interior.",
        ("Teatro Elm", "designed by", "Gian Antonio Stone"),
    ),
    # a town is served by what opened
    ("Norton is served by Ash Airport. It opened in 1941.", ("Norton", "opened", "1941")),
    # where it only begins
    (
        "The Ash Line begins at the corner of Elm Street and Oak Avenue.",
        ("Ash Line", "located on", "Elm Street"),
    ),
    # "which" behind a measure
    (
        "Sculptor Ada Stone made the Monolith, 14.12 metres tall, which stands in Ash Park.",
        ("Ada Stone", "located in", "Ash Park"),
    ),
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
    # borders are no verb
    (
        "There is a dispute over the borders of the Elm Quarter, Ash City, and Oak Village.",
        ("Elm Quarter", "adjacent to", "Ash City"),
    ),
    # "the neighborhood of Ash Beach" is Ash Beach
    (
        "Elm Park is a neighborhood. The neighborhood of Ash Beach lies on its eastern border.",
        ("Elm Park", "part of", "Ash Beach"),
    ),
    # what something was made
    (
        "In 1883, the Elm Rail opened its Ash Branch, making Norton a suburb of Weston.",
        ("Elm Rail", "part of", "Weston"),
    ),
    # a shape
    ('The church is "L" shaped and fills its 53 feet wide lot.', ("L", "width", "53 feet")),
    # who opened it
    (
        "This station opened on February 22, 1915 by the Elm Transit Company.",
        ("Elm Transit Company", "opened", "February 22, 1915"),
    ),
    # after what it was named
    (
        "Elm Avenue was renamed in 1880 by Ada Stone after Ash station on the Main Line.",
        ("Elm Avenue", "located on", "Main Line"),
    ),
    # where its branches are
    (
        "Elmbank was founded in 1812. The bank has 723 branches in Norton.",
        ("Elmbank", "located in", "Norton"),
    ),
    # an address
    (
        "Elm Tavern is a museum, situated at 54 Ash Street at the corner of Oak Street.",
        ("54 Ash Street", "located on", "Oak Street"),
    ),
    # no name
    ("Gaelic worship in Norton began in 1769.", ("Gaelic worship", "located in", "Norton")),
    # two parts of one name
    (
        "The church was old. In 1984, it became the Elm Gallery and Tea Room.",
        ("Elm Gallery", "succeeded by", "Tea Room"),
    ),
    # "which" behind what it is in
    (
        "Elm House is in the Ash Historic District which has been established by the Oak Commission.",
        ("Elm House", "founded by", "Oak Commission"),
    ),
    # a part of it
    (
        "Elm Building is tall. Its south tower was finished in April 1921.",
        ("Elm Building", "completed", "April 1921"),
    ),
    # for what it was built
    (
        "The Elm Needle was built for the Ash Fair, which drew 2.3 million visitors to Norton.",
        ("Elm Needle", "annual visitors", "2.3 million"),
    ),
    # what is in it
    (
        "Elm Garden was the home of Ada Stone. In it stands the oldest house, built by Jo Reed.",
        ("Elm Garden", "built by", "Jo Reed"),
    ),
    # who turned it into something
    (
        "Elm House, founded in 1621 and turned into a hotel by Ash Hotels in 1995, is old.",
        ("Elm House", "designed by", "Ash Hotels"),
    ),
    # who made a work
    (
        "Elm Dome is old. It was created by the French sculptor Ada Stone.",
        ("Elm Dome", "founded by", "Ada Stone"),
    ),
    # what it was made
    (
        "Elm Hall is old. The attached Ash Hall was designated a landmark in 1966, and both were designated "
        "landmarks by Norton.",
        ("Ash Hall", "established", "1966"),
    ),
    (
        "Elm Hall and its towers were designated landmarks by Norton in 1966.",
        ("Elm Hall", "established", "1966"),
    ),
    # where or with what something else is said
    (
        "Research completed circa 2012 at the Elm Archives in Norton shows the house.",
        ("Elm Archives", "completed", "2012"),
    ),
    (
        "At an elevation of 50 feet, it is one of the highest points in Norton, together with Elm Heights.",
        ("Elm Heights", "elevation", "50 feet"),
    ),
    (
        "The Elm Hall, opened in June 1928, for which Ash & Reed won a medal, is old.",
        ("Ash & Reed", "opened", "June 1928"),
    ),
    ("Elm Row is in Norton, bordering the Ash Quarter.", ("Ash Quarter", "located in", "Norton")),
    # what overlooks a river is not the street
    (
        "Elm Row is wide. The street runs from a small park overlooking the Ash River to the quay.",
        ("Elm Row", "located on", "Ash River"),
    ),
    # only the expansion
    (
        "Elm House is old. It is a manor, with an expansion designed by architect Ada Stone.",
        ("Elm House", "designed by", "Ada Stone"),
    ),
    # a name that describes who did it
    (
        "Elm Grove is lined with busts, largely put up by Ash Guild participants and others.",
        ("Elm Grove", "built by", "Ash Guild"),
    ),
    # a floor's number
    ("Sky Elm, on floors 61 and 62, is open.", ("Sky Elm", "floor count", "61")),
    # whose it is
    (
        "Elm House is old. It now belongs to the developer Ash Hills.",
        ("Elm House", "built by", "Ash Hills"),
    ),
    # the last of what it has
    (
        "The Elm Halls consist of the Ash Hall and the Oak Hall, opened in June 1928.",
        ("Elm Halls", "opened", "June 1928"),
    ),
]

SAID: list[tuple[str, Row]] = [
    (
        "Elm Market, whose five halls were once sheds, was opened in 1901 and is managed by Oak Trust.",
        ("Elm Market", "operated by", "Oak Trust"),
    ),
    (
        "Elm Mosque is in Norton, and Jo Reed designed the building.",
        ("Elm Mosque", "designed by", "Jo Reed"),
    ),
    ("Elm Mosque, whose construction ended in 1233, is large.", ("Elm Mosque", "completed", "1233")),
    (
        "Jo Reed, whose Ash Tower was finished in 1901, built Elm Hall in 1905.",
        ("Elm Hall", "completed", "1905"),
    ),
    ("Elm Hall is run by Oak Trust. It opened in 1941.", ("Elm Hall", "opened", "1941")),
    ("Elm Station is served by the Ash Line. It opened in 1941.", ("Elm Station", "opened", "1941")),
    (
        "Elm Hall stands at the corner of Elm Street and Oak Avenue.",
        ("Elm Hall", "located on", "Elm Street"),
    ),
    (
        "Sculptor Ada Stone made the Monolith, 14.12 metres tall, which stands in Ash Park.",
        ("Monolith", "located in", "Ash Park"),
    ),
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
    (
        "Elm House is in the Ash Historic District which has been established by the Oak Commission.",
        ("Ash Historic District", "founded by", "Oak Commission"),
    ),
    (
        "Elm House, a hall in Norton that was completed in 1902, is old.",
        ("Elm House", "completed", "1902"),
    ),
    (
        "Elm Tower is old. Its construction began in 1882.",
        ("Elm Tower", "construction started", "1882"),
    ),
    # who made it, behind its kind or behind what else is said
    ("Elm Hall, a 64-metre tower by Ada Stone, is old.", ("Elm Hall", "designed by", "Ada Stone")),
    (
        "Elm Wheel is in Norton. It was put up there in 1897 by the English engineer Ada Stone.",
        ("Elm Wheel", "built by", "Ada Stone"),
    ),
    # of each of several
    (
        "Elm Hall and the Ash Tower are both served by the Blue Line.",
        ("Elm Hall", "served by", "Blue Line"),
    ),
    ("Elm Hall is old. Since it opened in 1902, many people have come.", ("Elm Hall", "opened", "1902")),
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
    ("It was a center for Norton's German, Polish, and other families.", "locatedIn"),
    ("St. Petersburg's Elm Theatre, built in 1860, is old.", "locatedIn"),
    ("The World's Fair drew many people.", "locatedIn"),
    ("The G train stops at the Ash Road station located at Ash Road.", "locatedIn"),
    ('It was named one of "Norton\'s Tastiest Streets".', "locatedIn"),
    (
        "The inn was opened by Ada Stone in Weston, Norton, across the street from the site of Elm Fair.",
        "hosts",
    ),
    ("The building has the Elm Gallery, and an 18-floor high-rise known as Ash Tower.", "floorCount"),
    ("Elm Row is in Weston, Norton, bordering the Ash Quarter.", "adjacentTo"),
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


def test_several_names_that_open_a_sentence_are_all_meant(schema: Schema) -> None:
    said = _read(schema, "Elm Hall and the Ash Tower were designed by Ada Stone.")
    assert said == {("Elm Hall", "designedBy", "Ada Stone"), ("Ash Tower", "designedBy", "Ada Stone")}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("In Norton the Elmit, a funicular, is old.", ["Norton", "Elmit"]),
        ("In Norton, Elm Hall is old.", ["Norton", "Elm Hall"]),
        ("Christ the Redeemer is old.", ["Christ the Redeemer"]),
    ],
)
def test_a_place_that_opens_a_sentence_is_no_part_of_a_name(text: str, names: list[str]) -> None:
    assert [text[run.start : run.end] for run in capitalized_runs(text, Span(0, len(text)))] == names


def test_a_name_in_closed_brackets_is_no_subject(schema: Schema) -> None:
    said = _read(schema, "The Elm Synagogue (lit. 'The Association of Ash') is located in Norton.")
    assert {one for one in said if one[1] == "locatedIn"} <= {("Elm Synagogue", "locatedIn", "Norton")}


def test_who_acts_in_an_aside_is_no_subject(schema: Schema) -> None:
    text = "Elm Tower, which Ada Stone designed and Ash Construction built, was completed in August 1997."
    assert "Ash Construction" not in {one[0] for one in _read(schema, text)}


def test_a_road_that_goes_from_one_place_to_another_starts_at_the_first(schema: Schema) -> None:
    said = _read(schema, "Elm Avenue is long, running from Ash Key, Norton, to Fort Oak, Weston.")
    assert {one[2] for one in said if one[1] == "startsAt"} == {"Ash Key"}


async def test_things_that_a_third_has_say_nothing_of_each_other(schema: Schema) -> None:
    text = "Elm Street runs through Norton, where landmarks include the Elm Street House and the Oak Park."
    said = ("Elm Street House", "contains", "Oak Park")
    found = await small_pipeline(schema, ScriptedModel(reply([said]))).extract(text)
    labels = {entity.label for entity in found.entities}
    ends = [c for c in found.candidates if not c.problems and c.reply and "contains" in c.reply]
    assert {"Elm Street House", "Oak Park"} <= labels
    assert not [c for c in ends if c.predicate in (urban("contains"), urban("locatedIn"))]


def test_a_borough_of_a_town_is_no_name(schema: Schema) -> None:
    said = _read(schema, "The Norton borough of Weston contains 214 streets.")
    assert "Norton borough" not in {end for one in said for end in one}


def test_a_home_ground_is_no_campus(schema: Schema) -> None:
    kind = schema.find_class("home ground")
    assert kind is not None
    assert kind.label == "stadium"


async def test_a_thing_and_its_part_are_no_one_name(schema: Schema) -> None:
    text = "Elm Road and its southern section is a road connecting Norton and Weston."
    said = ("Elm Road and its southern section", "connects", "Weston")
    assert NOT_A_NAME in (await _problems(schema, text, said))[0]


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
    found = await small_pipeline(schema, ScriptedModel(reply(rows))).extract(text)
    assert [entity.label for entity in found.entities] == ["Norton Elm Museum"]
    assert not [c for c in found.candidates if c.problems and c.predicate != RDF_TYPE]


async def test_the_region_behind_a_place_is_no_part_of_its_name(schema: Schema) -> None:
    said = ("Elm Hall", "located in", "Weston, Norton")
    found = await small_pipeline(schema, ScriptedModel(reply([said]))).extract(
        "Elm Hall is in Weston, Norton."
    )
    assert "Weston" in {entity.label for entity in found.entities}
    assert "Weston, Norton" not in {entity.label for entity in found.entities}
    said = ("Ash & Reed, Inc.", "located in", "Weston")
    found = await small_pipeline(schema, ScriptedModel(reply([said]))).extract(
        "Ash & Reed, Inc. is in Weston."
    )
    assert "Ash & Reed, Inc." in {entity.label for entity in found.entities}


async def test_numbers_are_no_name(schema: Schema) -> None:
    said = ("9429–9441", "located on", "Elm Boulevard")
    text = "The building is located at 9429–9441 on Elm Boulevard."
    assert NOT_A_NAME in (await _problems(schema, text, said))[0]
