"""The linker: exact names first, classes decide, and no guess between equals."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from extractors.grounding.linking import Linker, LinkReason, normalize, words_of
from ontology import Schema
from sparql.names.labels import LabelIndex

EX = "https://example.org/"
LABEL = NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
ALIAS = NamedNode("http://www.w3.org/2004/02/skos/core#altLabel")
TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")

ONTOLOGY = """
@prefix : <https://example.org/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<https://example.org/town> a owl:Ontology .
:Place a owl:Class ; rdfs:label "place" .
:Church a owl:Class ; rdfs:subClassOf :Place ; rdfs:label "church" .
:Organization a owl:Class ; rdfs:label "organization" .
:Person a owl:Class ; rdfs:label "person" ; owl:disjointWith :Place , :Organization .
"""

PLACE, CHURCH, ORGANIZATION, PERSON = (
    NamedNode(EX + name) for name in ("Place", "Church", "Organization", "Person")
)


def entity(name: str, label: str, class_: NamedNode, *aliases: str) -> list[Quad]:
    iri = NamedNode(EX + name)
    quads = [Quad(iri, TYPE, class_), Quad(iri, LABEL, Literal(label))]
    return [*quads, *(Quad(iri, ALIAS, Literal(alias)) for alias in aliases)]


@pytest.fixture
def linker(tmp_path: Path) -> Linker:
    (tmp_path / "town.ttl").write_text(ONTOLOGY, encoding="utf-8")
    labels = LabelIndex()
    labels.rebuild(
        [
            *entity("trinity", "Trinity Church", CHURCH, "Trinity"),
            *entity("trinity-school", "Trinity", ORGANIZATION),
            *entity("washington-george", "Washington", PERSON),
            *entity("washington-place", "Washington", PLACE),
            *entity("mill-a", "Mill", PLACE),
            *entity("mill-b", "Mill", PLACE),
            *entity("manhattan", "Manhattan", PLACE),
            *entity("east-41", "East 41st Street", PLACE),
            *entity("quill", "Ada Quillson", PERSON),
        ]
    )
    return Linker(labels, Schema.load(tmp_path))


def ending(iri: NamedNode | None) -> str | None:
    return None if iri is None else iri.value.removeprefix(EX)


def test_an_exact_label_is_linked_with_full_score(linker: Linker) -> None:
    link = linker.link("the trinity church")
    assert (ending(link.iri), link.score, link.reason) == ("trinity", 1.0, LinkReason.LABEL)


def test_the_expected_class_decides_between_namesakes(linker: Linker) -> None:
    assert ending(linker.link("Washington", expected=frozenset({PERSON})).iri) == "washington-george"
    assert ending(linker.link("Washington", expected=frozenset({PLACE})).iri) == "washington-place"


def test_without_an_expected_class_equal_namesakes_stay_ambiguous(linker: Linker) -> None:
    link = linker.link("Washington")
    assert link.iri is None
    assert link.reason is LinkReason.AMBIGUOUS
    assert {ending(entry.iri) for entry in link.alternatives} == {"washington-george", "washington-place"}
    assert "Washington" in link.message


def test_a_main_label_beats_an_alias_of_the_same_rank(linker: Linker) -> None:
    link = linker.link("Trinity")
    assert (ending(link.iri), link.reason) == ("trinity-school", LinkReason.LABEL)
    assert [ending(entry.iri) for entry in link.alternatives] == ["trinity"]


def test_an_alias_of_the_expected_class_beats_a_main_label_of_another(linker: Linker) -> None:
    link = linker.link("Trinity", expected=frozenset({PLACE}))
    assert (ending(link.iri), link.reason) == ("trinity", LinkReason.ALIAS)


def test_an_entity_already_found_in_the_text_wins_over_its_namesake(linker: Linker) -> None:
    link = linker.link("Mill", context=[NamedNode(EX + "mill-b")])
    assert ending(link.iri) == "mill-b"


def test_a_name_is_never_linked_across_disjoint_classes(linker: Linker) -> None:
    link = linker.link("Manhattan", expected=frozenset({PERSON}))
    assert (link.iri, link.reason) == (None, LinkReason.WRONG_CLASS)
    assert [ending(entry.iri) for entry in link.alternatives] == ["manhattan"]


def test_one_of_several_allowed_classes_is_enough(linker: Linker) -> None:
    assert ending(linker.link("Manhattan", expected=frozenset({PERSON, PLACE})).iri) == "manhattan"


def test_a_misspelled_name_is_linked_when_nothing_else_is_near(linker: Linker) -> None:
    link = linker.link("Manhatan", expected=frozenset({PLACE}))
    assert (ending(link.iri), link.reason) == ("manhattan", LinkReason.NEAR)
    assert 0.7 <= link.score < 1


@pytest.mark.parametrize("name", ["West 41st Street", "East 42nd Street", "Manhattan Beach", "Zorblax"])
def test_another_name_is_not_taken_for_a_misspelling(linker: Linker, name: str) -> None:
    link = linker.link(name)
    assert (link.iri, link.reason) == (None, LinkReason.UNKNOWN)


def test_near_matches_respect_classes_and_can_be_switched_off(linker: Linker) -> None:
    assert linker.link("Manhatan", expected=frozenset({PERSON})).iri is None
    strict = Linker(linker.labels, linker.schema, near_threshold=1.1)
    assert strict.link("Manhatan").iri is None
    assert strict.link("Manhattan").iri is not None


def test_normal_forms_ignore_case_accents_punctuation_and_a_leading_article() -> None:
    assert normalize("The  Søren-Łódź Café & Bar") == "soren lodz cafe and bar"
    assert normalize("the") == "the"
    assert normalize("…") == ""


def test_words_keep_their_code_point_spans() -> None:
    text = "🏙 Café’s"
    assert [(word.text, text[word.start : word.end]) for word in words_of(text)] == [("cafes", "Café’s")]
