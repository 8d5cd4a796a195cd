"""What the labels of relations say of a text, read without a model."""

from __future__ import annotations

import pytest

from extractors.candidates import RDF_TYPE, RDFS_LABEL
from extractors.grounding.entities import IriMinter
from extractors.grounding.linking import Linker
from extractors.grounding.mentions import GroundedText
from extractors.statements import StatementBuilder
from ontology.labels import local_name
from ontology.schema import Schema
from tests.support.scripted import city_labels

SAID = [
    ("The Elm Tower was designed by Ada Stone", {("Elm Tower", "designedBy", "Ada Stone")}),
    ("The Elm Tower was designed by Ada Stone.", {("Elm Tower", "designedBy", "Ada Stone")}),
    (
        "The Ash Bridge connects Norton with Weston. It opened in May 1921.",
        {
            ("Ash Bridge", "connects", "Norton"),
            ("Ash Bridge", "connects", "Weston"),
            ("Ash Bridge", "opened", "1921-05"),
        },
    ),
    (
        "Deutsche Oak owns Elm Station, which opened in 1906.",
        {("Deutsche Oak", "owns", "Elm Station"), ("Elm Station", "opened", "1906")},
    ),
    (
        "Elm Museum is run by Oak Trust. It opened in 1901.",
        {("Elm Museum", "operatedBy", "Oak Trust"), ("Elm Museum", "opened", "1901")},
    ),
    (
        "Elm Bridge (opened in 1903) is 300 feet long.",
        {("Elm Bridge", "opened", "1903"), ("Elm Bridge", "length", "0.09144")},
    ),
]
SAID += [
    (
        "Ash Hall lies in Norton. Opened in May 1921.",
        {("Ash Hall", "locatedIn", "Norton"), ("Ash Hall", "opened", "1921-05")},
    ),
    (
        "Elm Library is old. The library opened in 1895 and was designed by Stone, Reed & Moss.",
        {
            ("Elm Library", "opened", "1895"),
            ("Elm Library", "designedBy", "Stone, Reed & Moss"),
        },
    ),
    (
        "Ash Hall, on Elm Street, a Gothic house, opened on 11 February 1819.",
        {("Ash Hall", "locatedOn", "Elm Street"), ("Ash Hall", "opened", "1819-02-11")},
    ),
    (
        "Elm Hall is a museum in Ash Village, Norton.",
        {("Ash Village", "locatedIn", "Norton")},
    ),
    (
        "The Ash Line runs from Elm Street to Oak Square.",
        {("Ash Line", "startsAt", "Elm Street"), ("Ash Line", "endsAt", "Oak Square")},
    ),
    ("News:\n>> Ash Hall: a church.\nIt was built in 1868.", {("Ash Hall", "completed", "1868")}),
]
NOTHING = [
    "Work at Elm Street and Ash Road began in April 1966.",
    "It is the best hall in Norton on Ash Guide.",
    "It was added to the Elm List in 2011 and the Ash Register in 2014.",
    "The Elm Tower was never planned for Norton.",
    "The spire, finished by his son Bo Stone, is 85 metres high.",
    "Ada Stone taught in Norton, Bo Lane in Weston.",
    "The hall was the work of an architect (Ada Stone) and opened in 1902.",
    "The old hall was known as the Elm and Ash Hall.",
    "Elm Hall (also known as 100 Elm Street) is old.",
    "St. Ada's Church in-the-Fields on Elm Street is old.",
    "The Ash Tower has either 23 or 26 floors.",
    "Jo Reed gave the land to the city in 1873, as the park had opened in 1876.",
    "Elm Hall, which was established as St. Ada's College, is old.",
    "Oak Trust sold the hall, and its garden opened in 1902.",
    "Born in Norton in 1916, she wrote Elm and Ash.",
    "La tour Elm a été conçue par Ada Stone et se trouve dans la ville de Norton depuis longtemps.",
]


def _builder(schema: Schema, text: str) -> StatementBuilder:
    return StatementBuilder(
        GroundedText(text),
        schema,
        Linker(city_labels(), schema),
        IriMinter("https://example.org/id/", lambda _: False),
        language="en",
        minimum_confidence=0.0,
        by_labels=True,
    )


def _read(schema: Schema, text: str) -> set[tuple[str, str, str]]:
    candidates, entities = _builder(schema, text).build([])
    names = {entity.iri: entity.label for entity in entities}
    return {
        (names[one.subject], local_name(one.predicate.value), names.get(one.object) or one.object.value)  # type: ignore[arg-type,union-attr]
        for one in candidates
        if one.predicate not in (RDF_TYPE, RDFS_LABEL) and not one.problems
    }


@pytest.mark.parametrize(("text", "facts"), SAID)
def test_labels_say_relations(schema: Schema, text: str, facts: set[tuple[str, str, str]]) -> None:
    assert _read(schema, text) == facts


@pytest.mark.parametrize("text", NOTHING)
def test_where_the_subject_or_the_value_is_open_nothing_is_said(schema: Schema, text: str) -> None:
    assert _read(schema, text) == set()


@pytest.mark.parametrize(
    "text", ["", "Elm", "Elm's", "by Elm", "It", "located in Elm", "opened 1901", "1901", "(Elm)"]
)
def test_fragments_are_read_without_error(schema: Schema, text: str) -> None:
    for tail in ("", ".", "\n", " is", " 66", "\n\nIt opened in 1901", "\n• Ada Stone designed it"):
        assert {subject for subject, _, _ in _read(schema, text + tail)} <= {"Elm"}


def test_the_kind_of_a_foreign_name_is_read_where_a_model_is_silent(schema: Schema) -> None:
    text = (
        "The Μουσείο Ακρόπολης is a museum in Αθήνα, and the สะพานพุทธ is a bridge. The Elm Hall is a museum."
    )

    _, entities = _builder(schema, text).build([])

    kinds = {entity.label: [local_name(kind.value) for kind in entity.classes] for entity in entities}
    assert kinds == {"Μουσείο Ακρόπολης": ["Museum"], "สะพานพุทธ": ["Bridge"]}
