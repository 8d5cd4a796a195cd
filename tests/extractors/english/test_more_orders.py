"""Roles, lists, firms and several subjects: what the labels read in less plain orders of words."""

from __future__ import annotations

from pathlib import Path

import pytest

from extractors.english.units import capitalized_runs
from extractors.text.chunking import Span
from ontology.labels import local_name
from ontology.schema import Schema
from tests.extractors.english.test_proposing import _builder, _read

Fact = tuple[str, str, str]

SAID: list[tuple[str, Fact]] = [
    # a role and the name that has it
    ("Elm Hall is a theater. Its architect was Ada Stone.", ("Elm Hall", "designedBy", "Ada Stone")),
    ("Elm Hall is a theater. Its owner is the Oak Trust.", ("Elm Hall", "ownedBy", "Oak Trust")),
    (
        "Elm Hall is a theater in Norton; the architect was Ada Stone.",
        ("Elm Hall", "designedBy", "Ada Stone"),
    ),
    ("Elm Hall, whose architect was Ada Stone, is old.", ("Elm Hall", "designedBy", "Ada Stone")),
    (
        "Elm Hall is old. Its architect was Ada Stone of Weston.",
        ("Elm Hall", "designedBy", "Ada Stone"),
    ),
    # several names can have the words, one of them opens its clause
    (
        "Elm Pool: Norton's largest, 330 feet long, in Ash Park, opened in 1936.",
        ("Elm Pool", "opened", "1936"),
    ),
    ("Elm Stadium in Norton, capacity 30,000, is old.", ("Elm Stadium", "capacity", "30000")),
    ("Elm Bridge crosses the Ash River; it was opened in 1903.", ("Elm Bridge", "opened", "1903")),
    (
        "Ferries leave from the Elm Building, a terminal of 1909 that Ada Stone designed.",
        ("Elm Building", "designedBy", "Ada Stone"),
    ),
    # firms
    (
        "Elm Hall, designed by Reed, Ash and Stone, is old.",
        ("Elm Hall", "designedBy", "Reed, Ash and Stone"),
    ),
    # a thing with a plural name
    ("The Elm Baths are old. They were designed by Ada Stone.", ("Elm Baths", "designedBy", "Ada Stone")),
    # a town and what it has
    ("Elm House is the art museum of Norton.", ("Elm House", "locatedIn", "Norton")),
    # lists
    (
        "Elm Park in a nutshell\nLength: 2.5 km; area: 20 hectares\nOpen daily.",
        ("Elm Park", "length", "2.5"),
    ),
    ("Elm Works is old.\n\nOwner: Oak Trust\nFloor area: 2 hectares\n", ("Elm Works", "area", "0.02")),
    (
        "Elm Hall is old.\n\nAddress: 41 Elm Row, Norton\nTel.: 555 0100",
        ("Elm Hall", "address", "41 Elm Row"),
    ),
    ("Elm Hall is old.\n\nAddress: 41 Elm Row\nTel.: 555 0100", ("Elm Hall", "telephone", "555 0100")),
    (
        "Ash Island is near Norton.\n\nElm Museum\n41 Elm Row\nRun by: Oak Trust.",
        ("Elm Museum", "operatedBy", "Oak Trust"),
    ),
]

NOT_SAID: list[tuple[str, str, str]] = [
    ("Elm Hall was the tallest building until the Ash Tower was completed in 2021.", "Elm Hall", "completed"),
    ("Elm Road is lined by houses; one of them dates from 1881.", "Elm Road", "established"),
    ("Elm Hall and Ash Hall both opened before 1920.", "Ash Hall", "opened"),
    ("Elm Park takes its name from a villa that Ada Stone built in 1833.", "Ada Stone", "completed"),
    ("It was built by the firm of Stone and Reed, which had started in 1930.", "Reed", "startDate"),
    ("Elm Hall was founded by the mill owner Ada Stone in 1828.", "Elm Hall", "ownedBy"),
    ("The tallest building in Norton, Elm Tower, has 40 stories.", "Norton", "locatedIn"),
    ("Elm Hall is old. Its owner is the Oak Trust.", "Elm Hall", "owns"),
    ("The Norton tram network opened in 1906.", "Norton", "opened"),
    ("Transport for Norton operates the Elm Ferry.", "Elm Ferry", "operatedBy"),
    (
        'The company gave "Elm Dream in Ash Park" at the hall, which holds 900 people.',
        "Elm Dream",
        "locatedIn",
    ),
    ("Whose architect was Ada Stone in Norton", "Norton", "designedBy"),
    ("Elm Tower is by Ada Stone of Ash Architects, who are based in Norton.", "Elm Tower", "locatedIn"),
]


@pytest.mark.parametrize(("text", "fact"), SAID)
def test_what_one_name_can_be_meant_by_is_said(schema: Schema, text: str, fact: Fact) -> None:
    assert fact in _read(schema, text)


@pytest.mark.parametrize(("text", "subject", "relation"), NOT_SAID)
def test_what_is_said_of_another_thing_is_not_said(
    schema: Schema, text: str, subject: str, relation: str
) -> None:
    assert not [one for one in _read(schema, text) if one[:2] == (subject, relation)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("It was designed by Stone and Reed in Norton.", ["Stone and Reed", "Norton"]),
        ("It is a terminal that Stone and Reed designed.", ["Stone and Reed"]),
        ("It is bordered by Norton and Weston.", ["Norton", "Weston"]),
        ("The Stadio delle Elmi and the Haus der Esche closed.", ["Stadio delle Elmi", "Haus der Esche"]),
        ("It is by Ada Stone of Norton.", ["Ada Stone", "Norton"]),
        ("The Duke of Norton opened it.", ["Duke of Norton"]),
        ("We list\nClosed on Mondays", ["Mondays"]),
    ],
)
def test_names_end_where_they_end(text: str, names: list[str]) -> None:
    assert [text[run.start : run.end] for run in capitalized_runs(text, Span(0, len(text)))] == names


def test_a_place_has_no_kind_of_what_is_in_it(schema: Schema) -> None:
    _, entities = _builder(schema, "Elm Tower in Norton was the tallest building.").build([])
    kinds = {entity.label: [local_name(kind.value) for kind in entity.classes] for entity in entities}
    assert "Building" not in kinds.get("Norton", [])


FILMS = """
@prefix : <https://example.org/films#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Film a owl:Class ; rdfs:label "film"@en .
:Person a owl:Class ; rdfs:label "person"@en .
:director a owl:ObjectProperty ; rdfs:label "director"@en ; rdfs:domain :Film ; rdfs:range :Person .
:writer a owl:ObjectProperty ; rdfs:label "screenwriter"@en ; rdfs:domain :Film ; rdfs:range :Person .
:river a owl:ObjectProperty ; rdfs:label "river"@en ; rdfs:domain :Film ; rdfs:range :Film .
"""


def test_a_role_is_said_by_its_verb_in_any_ontology(tmp_path: Path) -> None:
    (tmp_path / "films.ttl").write_text(FILMS, encoding="utf-8")
    said = _read(Schema.load(tmp_path), "The film Ash Lane was written by Ada Stone and directed by Jo Reed.")
    assert said == {("Ash Lane", "writer", "Ada Stone"), ("Ash Lane", "director", "Jo Reed")}
