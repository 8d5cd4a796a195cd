"""From the words of a relation to a property, and to none rather than to a wrong one."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import NamedNode

from extractors.candidates import RDF_TYPE, UNKNOWN_TERM
from extractors.grounding.linking import Linker
from extractors.grounding.relation_words import Canonical, Ends, RelationWords
from ontology.schema import Schema
from sparql.names.labels import LabelIndex
from tests.support.scripted import ScriptedModel, known, reply, small_pipeline, urban

SMALL = """
@prefix : <https://example.org/small#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
<https://example.org/small> a owl:Ontology .
:Place a owl:Class ; rdfs:label "place"@en ; owl:disjointWith :Person .
:Person a owl:Class ; rdfs:label "person"@en .
:in a owl:ObjectProperty ; rdfs:label "located in"@en ; rdfs:domain :Place ; rdfs:range :Place .
:designedBy a owl:ObjectProperty ; rdfs:label "designed by"@en ; rdfs:domain :Place ; rdfs:range :Person .
:from a owl:ObjectProperty ; rdfs:label "starts at"@en ; skos:altLabel "from"@en ; rdfs:range :Place .
:since a owl:DatatypeProperty ; rdfs:label "start date"@en ; skos:altLabel "from"@en ; rdfs:range xsd:gYear .
:opened a owl:DatatypeProperty ; rdfs:label "opening date"@en ; rdfs:range xsd:gYear .
:capital a owl:ObjectProperty ; rdfs:label "capital of"@en ; rdfs:domain :Place ; rdfs:range :Place .
"""


def term(name: str) -> NamedNode:
    return NamedNode("https://example.org/small#" + name)


PLACE, PERSON = frozenset({term("Place")}), frozenset({term("Person")})


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Schema:
    folder: Path = tmp_path_factory.mktemp("small")
    (folder / "small.ttl").write_text(SMALL)
    return Schema.load(folder)


def read(schema: Schema, words: str, ends: Ends | None = None) -> Canonical | None:
    return RelationWords(schema).read(words, ends or Ends(), Linker(LabelIndex(), schema).fit)


@pytest.mark.parametrize(
    ("words", "name", "swapped"),
    [
        ("located in", "in", False),
        ("Located In", "in", False),
        ("is located in", "in", False),
        ("has been located inside", "in", False),
        ("located within", "in", False),
        ("locatd in", "in", False),
        ("contains", "in", True),
        ("includes", "in", True),
        ("designer of", "designedBy", True),
        ("designed", "designedBy", True),
        ("designs", "designedBy", True),
        ("was designed by", "designedBy", False),
        ("has capital", "capital", True),
        ("date of opening", "opened", False),
        ("has an opening date", None, False),
        ("assigned by", None, False),
        ("designed for", None, False),
        ("located on", None, False),
        ("in memory of", None, False),
        ("rivals", None, False),
        ("", None, False),
    ],
)
def test_other_forms_of_a_label_name_its_property(
    small: Schema, words: str, name: str | None, swapped: bool
) -> None:
    found = read(small, words)
    assert (found and (found.property.iri, found.swapped)) == (name and (term(name), swapped))


@pytest.mark.parametrize(
    ("words", "ends"),
    [
        ("was located inside", Ends(PERSON, PLACE)),
        ("was located inside", Ends(PLACE, PERSON)),
        ("was located inside", Ends(PLACE, is_value=True)),
        ("contains", Ends(PLACE, PERSON)),
        ("locatd in", Ends(PERSON, PLACE)),
        ("designer of", Ends(PLACE, PLACE)),
    ],
)
def test_a_property_whose_ends_do_not_fit_is_not_taken(small: Schema, words: str, ends: Ends) -> None:
    assert read(small, words, ends) is None


def test_of_two_properties_with_one_label_the_ends_decide(small: Schema) -> None:
    place, value = read(small, "from", Ends(object=PLACE)), read(small, "from", Ends(is_value=True))
    assert place is not None
    assert value is not None
    assert (place.property.iri, value.property.iri) == (term("from"), term("since"))


def test_ends_that_fit_only_the_other_way_round_change_places(small: Schema) -> None:
    found = read(small, "designed by", Ends(PERSON, PLACE))
    assert found is not None
    assert (found.swapped, found.score < 1) == (True, True)
    kept = read(small, "designed by", Ends(PERSON, PERSON))
    assert kept is not None
    assert not kept.swapped


@given(st.text("abdeilnorsty ", max_size=24))
def test_any_words_name_one_property_or_none(small: Schema, words: str) -> None:
    found = read(small, words)
    assert found is None or (found.property.iri in small.properties and 0 < found.score <= 1)


async def test_a_relation_said_from_its_other_end_is_stated_in_the_ontologys_direction(
    schema: Schema,
) -> None:
    text = "Ada Stone, a person, is the owner of the Elm Hall, a building in Manhattan."
    rows = [
        ("Ada Stone", "is a", "person"),
        ("Elm Hall", "is a", "building"),
        ("Ada Stone", "owner of", "Elm Hall"),
    ]
    found = await small_pipeline(schema, ScriptedModel(reply(rows))).extract(text)
    (owned,) = (c for c in found.candidates if c.predicate == urban("ownedBy"))
    labels = {entity.iri: entity.label for entity in found.entities}
    assert (labels[owned.subject], labels[owned.object]) == ("Elm Hall", "Ada Stone")
    assert owned.problems == ()


async def test_what_the_ontology_has_no_word_for_is_proposed_with_its_ends(schema: Schema) -> None:
    text = "Manhattan rivals Brooklyn, and the Elm Hall is a glimmerfax of Manhattan. It cost 2.5 million."
    rows = [
        ("Manhattan", "rivals", "Brooklyn"),
        ("Elm Hall", "is a", "glimmerfax"),
        ("Elm Hall", "cost", "2.5 million"),
    ]
    found = await small_pipeline(schema, ScriptedModel(reply(rows), reply([]))).extract(text)
    proposals = [c.proposal for c in found.candidates if c.proposal is not None]
    rival, kind, cost = proposals
    assert (rival.kind, rival.words, rival.subject_classes, rival.object_classes) == (
        "property", "rivals", (urban("Borough"),), (urban("Borough"),),
    )  # fmt: skip
    assert (kind.kind, kind.words, kind.subject_name) == ("class", "glimmerfax", "Elm Hall")
    assert cost.datatype is not None
    assert cost.datatype.value.endswith("#decimal")
    for candidate in found.candidates:
        assert (candidate.proposal is not None) == (UNKNOWN_TERM in [p.rule for p in candidate.problems])
    assert known("manhattan") in {c.subject for c in found.candidates}
    assert RDF_TYPE in {c.predicate for c in found.candidates}
