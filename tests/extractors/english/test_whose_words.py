"""Of which of several things a clause says a relation, through to the candidates."""

from __future__ import annotations

import pytest
from pyoxigraph import NamedNode

from extractors.candidates import UNWORDED
from ontology.schema import Schema
from tests.support.scripted import ScriptedModel, reply, small_pipeline

Said = tuple[str, str, str]

SAID = [
    (
        "Ada Stone designed Elm Hall, which opened in 1830 and faces Ash Park.",
        ("Elm Hall", "adjacent to", "Ash Park"),
    ),
    (
        "Elm Park was laid out by Ada Stone, who also designed the Ash Palace.",
        ("Ash Palace", "designed by", "Ada Stone"),
    ),
    (
        "Ada Stone, a brewer's daughter, founded the Ash Works in 1871.",
        ("Ash Works", "founded by", "Ada Stone"),
    ),
    ("Ada Stone founded the Ash Works in 1871.", ("Ash Works", "established", "1871")),
    ("Elm Line is old. Service began in May 1976.", ("Elm Line", "opened", "May 1976")),
    ("Elm Hall is a hall with room for 8,000 visitors.", ("Elm Hall", "capacity", "8,000")),
    (
        "Weston, a town founded in 1952 and home to 214,000 people, is old.",
        ("Weston", "population", "214,000"),
    ),
    ("Elm Forest borders the suburb of Weston.", ("Elm Forest", "adjacent to", "Weston")),
    ("Weston is an inner suburb of Norton.", ("Weston", "located in", "Norton")),
    ("Elm Market lies in Norton's Ash Quarter.", ("Elm Market", "located in", "Ash Quarter")),
    ("Elm Market lies in Norton's Ash Quarter.", ("Ash Quarter", "located in", "Norton")),
    (
        "The Elm Days are a festival, held every March in the Ash Hall.",
        ("Elm Days", "held at", "Ash Hall"),
    ),
    ("Ada Stone was born on Elm Street in Norton.", ("Ada Stone", "born in", "Norton")),
    ("Elm Bridge carries the trains over the Wye.", ("Elm Bridge", "crosses", "Wye")),
    (
        "The architect of Elm Hall, Ada Stone, was born in Norton.",
        ("Elm Hall", "designed by", "Ada Stone"),
    ),
    (
        "Elm Hall is a museum. Ada Stone was its architect.",
        ("Elm Hall", "designed by", "Ada Stone"),
    ),
    (
        "Elm Station is in Norton. Oak Trust owns and operates the station.",
        ("Elm Station", "operated by", "Oak Trust"),
    ),
    (
        "Elm Station was designed in a mix of Gothic and Baroque styles.",
        ("Elm Station", "architectural style", "Gothic"),
    ),
    ("The Elm Museum (architect: Ada Stone) is large.", ("Elm Museum", "designed by", "Ada Stone")),
    ("The Elm Works make cranes.\n\nOwner: Oak Trust\n", ("Elm Works", "owned by", "Oak Trust")),
    ("Elm Hall, at 41 Ash Row, is a theater.", ("Elm Hall", "address", "41 Ash Row")),
    ("Elm River is long. Ash Bridge crosses it.", ("Ash Bridge", "crosses", "Elm River")),
    (
        "The Elm Hall and the Ash Tower were designed by Ada Stone.",
        ("Elm Hall", "designed by", "Ada Stone"),
    ),
    (
        "Elm Girls' Grammar School stands on Ash Street.",
        ("Elm Girls' Grammar School", "located on", "Ash Street"),
    ),
    (
        "Unlike the Elm Tower, which is 92 meters tall, the Ash Tower has 14 floors.",
        ("Elm Tower", "height", "92 meters"),
    ),
    ("Elm Arena hosted the 1958 Ash Cup.", ("Elm Arena", "hosts", "1958 Ash Cup")),
    ("Elm Cinema, which Ada Stone founded in 1921, is old.", ("Elm Cinema", "founded by", "Ada Stone")),
    ("Elm Pier, a stone pier 246 meters long, is old.", ("Elm Pier", "length", "246 meters")),
]
SAID += [
    (
        "In 2019 some people lived in Weston, the capital of Norton Province.",
        ("Weston", "capital of", "Norton Province"),
    ),
    (
        "Elm Library replaced Ash Library, a concrete block by Ada Stone which stood on Oak Square.",
        ("Ash Library", "located on", "Oak Square"),
    ),
]
NOT_SAID = [
    (
        "Elm Library replaced Ash Library, a concrete block by Ada Stone which stood on Oak Square.",
        ("Elm Library", "located on", "Oak Square"),
    ),
    (
        "Ada Stone designed Elm Hall, which opened in 1830 and faces Ash Park.",
        ("Ada Stone", "adjacent to", "Ash Park"),
    ),
    ("Ada Stone founded the Ash Works in 1871.", ("Ada Stone", "established", "1871")),
    ("Elm Museum closed for renovation in 2019.", ("Elm Museum", "renovated", "2019")),
    (
        "Elm Castle, formerly called Ash Castle, was restored in 2016.",
        ("Ash Castle", "renovated", "2016"),
    ),
    (
        "Line 3 of the Elm Metro, which opened in 1985, is long.",
        ("Elm Metro", "opened", "1985"),
    ),
    ("Built for the 1967 Ash Fair, Elm Hall is old.", ("Elm Hall", "completed", "1967")),
    (
        "Elm Tunnel was proposed in 1889, but a ferry still connects Norton with Weston.",
        ("Elm Tunnel", "connects", "Norton"),
    ),
    ("Norton's funicular is 66 meters long.", ("Norton's funicular", "length", "66 meters")),
    ("Elm Market counts 65,000 visitors a day.", ("Elm Market", "annual visitors", "65,000")),
    (
        "Elm Gallery, a branch of the museum in Norton until 2022, is large.",
        ("Elm Gallery", "located in", "Norton"),
    ),
    (
        "Elm School's campus at Weston was built between 1983 and 1990.",
        ("Elm School", "construction started", "1983"),
    ),
    (
        "The old school at Ash Place, with its clock, was designed by Ada Stone.",
        ("Ash Place", "designed by", "Ada Stone"),
    ),
    ("The canteen, on Ash Street, was refurbished in 2008.", ("Ash Street", "renovated", "2008")),
    (
        "Elm Park is old. It began as a garden; in 1821 the walls were pulled down.",
        ("Elm Park", "demolished", "1821"),
    ),
    (
        "Elm Church is old. Its bell tower, which is 48 meters high, was added later.",
        ("Elm Church", "height", "48 meters"),
    ),
    ("Elm Park began as the kitchen garden.", ("Elm Park", "former name", "kitchen garden")),
    ("Ada Stone founded the firm in 1868. It closed in 1979.", ("Ada Stone", "closed", "1979")),
    (
        "Elm Library was designed by Ada Stone, and the Ash Cemetery by Jo Reed.",
        ("Elm Library", "designed by", "Ash Cemetery"),
    ),
    (
        "The Elm Society runs the garden on Ash Lane, which was laid out by Jo Reed.",
        ("Elm Society", "designed by", "Jo Reed"),
    ),
    (
        "The Elm Museum occupies the former Ash Church, built by Ada Stone.",
        ("Elm Museum", "built by", "Ada Stone"),
    ),
    (
        "Elm Fort was built by Jo Reed, and Ash Fort, the older of the two, took its name from Ada Stone.",
        ("Elm Fort", "built by", "Ash Fort"),
    ),
    ("Elm Hall was designed by Stone, Reed and White.", ("Elm Hall", "designed by", "Stone")),
    (
        "Across the road is St. Ada–St. Mary, built in 1873 and designed by Jo Reed.",
        ("Jo Reed", "built by", "St. Ada–St. Mary"),
    ),
]


NOT_SAID += [
    (
        "Elm Baths are old. The building is owned by Oak Council and run by Ash Leisure.",
        ("Oak Council", "operated by", "Ash Leisure"),
    ),
    ("Elm Hall is now a hotel; its roof garden opened in 2024.", ("Elm Hall", "opened", "2024")),
    (
        "Elm Museum is old. In 2010 a fire damaged the building, and it was closed for two years.",
        ("Elm Museum", "closed", "2010"),
    ),
    ("Elm Gallery (at 86th Street) is a museum.", ("Elm Gallery", "address", "86th Street")),
    (
        "Elm Market is old. In 1934 she also built the Ash Ballroom. It burned down in 1958.",
        ("Elm Market", "demolished", "1958"),
    ),
    (
        "Elm Green is a park. Opposite stands the Ash Factory. Ada Stone was its architect.",
        ("Elm Green", "designed by", "Ada Stone"),
    ),
    (
        "It is a lawn in Elm's Kitchen, Norton in Weston, being built as part of the Ash Project.",
        ("Norton", "part of", "Ash Project"),
    ),
    ("He rented a room in Weston, Norton, owned by the Oak Trust.", ("Norton", "owned by", "Oak Trust")),
    (
        "The Elm Building, the Lofts at Ash Center, the Euclid and the Oak Building are old.",
        ("Lofts", "located in", "Euclid"),
    ),
    ("Elm Parkway runs through the northern parts of Norton.", ("Elm Parkway", "part of", "Norton")),
    ("Elm Street ends at the former site of the Ash Fair.", ("Elm Street", "hosts", "Ash Fair")),
    ("North of Norton, it is known as Elm Avenue.", ("North of Norton", "nickname", "Elm Avenue")),
]


async def _rules(schema: Schema, text: str, said: Said) -> list[list[NamedNode]]:
    extraction = await small_pipeline(schema, ScriptedModel(reply([said]))).extract(text)
    term = schema.find_property(said[1])
    assert term is not None
    return [
        [p.rule for p in c.problems]
        for c in extraction.candidates
        if c.predicate == term.iri and f'"{said[0]}"' in (c.reply or "") and f'"{said[2]}"' in (c.reply or "")
    ]


@pytest.mark.parametrize(("text", "said"), SAID)
async def test_a_clause_says_it_of_this_thing(schema: Schema, text: str, said: Said) -> None:
    assert await _rules(schema, text, said) == [[]]


@pytest.mark.parametrize(("text", "said"), NOT_SAID)
async def test_a_clause_says_it_of_another_thing(schema: Schema, text: str, said: Said) -> None:
    assert await _rules(schema, text, said) == [[UNWORDED]]
