"""Constructions that lie between a relation's words, or say it without words, through to the candidates."""

from __future__ import annotations

import pytest
from pyoxigraph import NamedNode

from extractors.candidates import UNWORDED
from extractors.english.kinds import kind_of_name
from ontology.labels import stem
from ontology.schema import Schema
from tests.support.scripted import ScriptedModel, reply, small_pipeline

Said = tuple[str, str, str]

SAID = [
    ("Elm Hall was founded in 1838 by Ada Stone.", ("Elm Hall", "founded by", "Ada Stone")),
    ("Elm Hall was built in 1890 as a warehouse by Oak Trust.", ("Elm Hall", "built by", "Oak Trust")),
    ("Elm Lane was renamed in 2021 in honor of Ada Stone.", ("Elm Lane", "named after", "Ada Stone")),
    ("The Ash Line runs from Elm Street in Norton to Oak Square.", ("Ash Line", "starts at", "Elm Street")),
    ("The Ash Line runs from Elm Street in Norton to Oak Square.", ("Ash Line", "ends at", "Oak Square")),
    ("The Ash Line runs from the foot of Elm Hill up to Wye.", ("Ash Line", "ends at", "Wye")),
    ("Elm Church was built between 1897 and 1902.", ("Elm Church", "construction started", "1897")),
    ("Elm Church was built between 1897 and 1902.", ("Elm Church", "completed", "1902")),
    ("Elm Church was built between 3 May 1897 and June 1902.", ("Elm Church", "completed", "June 1902")),
    ("Elm Hall was built for Oak Trust by Ash Company.", ("Elm Hall", "built by", "Ash Company")),
    ("The Elm Works were modernised in 2019.", ("Elm Works", "renovated", "2019")),
    ("Elm Hall is a museum in Ash Village, Norton.", ("Ash Village", "located in", "Norton")),
    ("Elm Hall lies on the Upper East Side of Norton.", ("Elm Hall", "located in", "Upper East Side")),
    ("Elm Line, the bus system of Norton, opened in 1905.", ("Elm Line", "opened", "1905")),
    ("Elm Hall is on the east.[4] The Ash Hotel, built in 1852, is old.", ("Ash Hotel", "completed", "1852")),
    ("Elm Hall is a building in Norton that was completed in 1793.", ("Elm Hall", "completed", "1793")),
    ("Next door is the Elm Arena. It opened in 1905.", ("Elm Arena", "opened", "1905")),
]
NOT_SAID = [
    ("Elm Hall was built for a fair organized by Oak Trust.", ("Elm Hall", "built by", "Oak Trust")),
    (
        "Elm Hall was built in the Gothic style to plans by Ada Stone.",
        ("Elm Hall", "built by", "Ada Stone"),
    ),
    ("The Ash Line runs from Elm Street to Oak Square.", ("Ash Line", "starts at", "Oak Square")),
    ("The Ash Line runs from Norton to Oak Square.", ("Ash Line", "runs through", "Norton")),
    ("Elm Church was built between 1897 and 1902.", ("Elm Church", "completed", "1897")),
    ("Elm Church was built between 1897 and 1902.", ("Elm Church", "construction started", "1902")),
    (
        "Elm Park was founded in 1838 by Jo Reed, and Ada Stone laid it out.",
        ("Elm Park", "founded by", "Ada Stone"),
    ),
    ("The fair took place in Ash Village, Norton and Weston.", ("Ash Village", "located in", "Norton")),
    (
        "Jo Reed gave the land to the city in 1873, and Elm Park opened in 1876.",
        ("Elm Park", "opened", "1873"),
    ),
    (
        "Elm Hall is a hall housed in the former Ash Works, which Ada Stone designed.",
        ("Elm Hall", "designed by", "Ada Stone"),
    ),
    (
        "Ash Zoo is old. The gate was designed by Ada Stone. Oak Street has one too.",
        ("Oak Street", "designed by", "Ada Stone"),
    ),
    (
        "Ash Museum is in Norton. The museum is run by Oak Trust. It reopened in 2006.",
        ("Oak Trust", "opened", "2006"),
    ),
    (
        "The Ash Line is long.[4] It is named for the Elm Hotel, built in 1852.",
        ("Ash Line", "completed", "1852"),
    ),
    ("Elm Hotels competes in Norton, alongside Oak Hotels.", ("Elm Hotels", "adjacent to", "Oak Hotels")),
    ("Elm Tower has either 23 or 26 floors.", ("Elm Tower", "floor count", "26")),
    (
        "Elm Tower was completed in 2019, as it is the second hall after Ash Tower.",
        ("Ash Tower", "completed", "2019"),
    ),
    ("It was completed in 2019 and is larger than Ash Tower.", ("Ash Tower", "completed", "2019")),
    ("Elm Lane runs through the Norton suburbs.", ("Elm Lane", "runs through", "Norton suburbs")),
    ("Elm Hall stands on Oak and Ash Streets.", ("Elm Hall", "located on", "Ash Streets")),
    (
        "Elm Lane is named Oak Row, after the nearby Ash Church at Salt Avenue.",
        ("Oak Row", "located in", "Salt Avenue"),
    ),
    ("Elm Hall holds the shield that was found by Ada Stone.", ("Elm Hall", "founded by", "Ada Stone")),
    (
        "Elm Lake lies within the park, and Ash Hall, which Jo Reed built, is old.",
        ("Elm Lake", "located in", "Ash Hall"),
    ),
    ("Elm Hall was designed by Norton's Ada Stone.", ("Elm Hall", "designed by", "Norton")),
    (
        "Elm Hall was built for Ada Stone, a wealthy merchant and former Mayor of Norton.",
        ("Elm Hall", "built by", "Mayor of Norton"),
    ),
    (
        "Elm School began with its teachers at Oak School in Norton.",
        ("Elm School", "located in", "Norton"),
    ),
    ("Elm Hall is a building in Norton that was completed in 1793.", ("Norton", "completed", "1793")),
    ("Elm Hall turned to gold. This came to be called the Ash Touch.", ("Elm Hall", "nickname", "Ash Touch")),
    (
        "Elm School was founded by Jo Reed and teachers that helped merge the Ash Institute with it.",
        ("Elm School", "founded by", "Ash Institute"),
    ),
    ("Norton has a hall. Ground was broken in 2006.", ("Ground", "construction started", "2006")),
    ("Stone, Reed & Oak built halls in the Gothic style.", ("Stone", "architectural style", "Gothic")),
    (
        "Ash Bridge links Elm Quay on the bank of the Wye with Oak Quay.",
        ("Elm Quay", "located on", "Oak Quay"),
    ),
]


async def _rules(schema: Schema, text: str, said: Said) -> list[list[NamedNode]]:
    extraction = await small_pipeline(schema, ScriptedModel(reply([said]))).extract(text)
    term = schema.find_property(said[1])
    assert term is not None
    return [[p.rule for p in c.problems] for c in extraction.candidates if c.predicate == term.iri]


@pytest.mark.parametrize(("text", "said"), SAID)
async def test_a_construction_says_a_relation(schema: Schema, text: str, said: Said) -> None:
    assert await _rules(schema, text, said) == [[]]


@pytest.mark.parametrize(("text", "said"), NOT_SAID)
async def test_words_nearby_do_not_say_a_relation(schema: Schema, text: str, said: Said) -> None:
    assert await _rules(schema, text, said) == [[UNWORDED]]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Rue Elm", "street"),
        ("Museo Elm", "museum"),
        ("Elmer Brücke", "bridge"),
        ("Elmplatz", "square"),
        ("Elmstraße", "street"),
        ("Elmburg", None),
        ("Rio de Elm", None),
        ("Place", None),
    ],
)
def test_a_name_says_its_kind_in_another_language(schema: Schema, name: str, kind: str | None) -> None:
    found = kind_of_name(name, schema)
    assert (found.label if found else None) == kind


def test_words_of_names_in_other_languages_are_no_cues_in_english(schema: Schema) -> None:
    place = schema.find_class("place")
    assert place is not None
    assert place.label == "place"
    assert schema.find_class("rue") is None


def test_both_spellings_of_a_verb_have_one_stem() -> None:
    assert stem("modernised") == stem("modernized")
    assert stem("raised") == stem("raise")
    assert all(stem(stem(word)) == stem(word) for word in ("founded", "modernised", "organising"))
