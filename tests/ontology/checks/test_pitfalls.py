"""Rules on axioms and on what people read: each finds a small failing example, and not its repair."""

from __future__ import annotations

from pathlib import Path

import pytest

from ontology import Schema
from ontology.checks.linting import lint_ontology

HEAD = """@prefix : <http://example.org/o#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix schema: <https://schema.org/> .
@prefix qudt: <http://qudt.org/schema/qudt/> .
:Park a owl:Class ; rdfs:label "park"@en ; skos:definition "Green." .
:Road a owl:Class ; rdfs:label "road"@en ; skos:definition "A way." ; owl:disjointWith :Park .
:Style a owl:Class ; rdfs:subClassOf skos:Concept ; rdfs:label "style"@en ; skos:definition "A manner." .
schema:Park a owl:Class ; rdfs:isDefinedBy schema: . schema:Place a owl:Class ; rdfs:isDefinedBy schema: .
"""
ONTOLOGY = "<http://example.org/o> a owl:Ontology ; owl:versionIRI <http://example.org/o/{}> {} ."
COMPLETE = '; dct:license <http://example.org/l> ; dct:creator "A" '
ENDS = "rdfs:domain :Park ; rdfs:range {}"
USED = " ".join(f":p{n} a owl:ObjectProperty ; rdfs:domain :Park ; rdfs:range :Park ." for n in range(2))


def rules(folder: Path, turtle: str) -> set[str]:
    (folder / "o.ttl").write_text(HEAD + turtle, encoding="utf-8")
    found = lint_ontology(Schema.load(folder))
    assert all(one.fix and one.line for one in found)
    return {one.rule.name for one in found}


@pytest.mark.parametrize(
    ("rule", "wrong", "right"),
    [
        (
            "self_inverse_ends",
            f":p a owl:ObjectProperty ; owl:inverseOf :p ; {ENDS.format(':Road')} .",
            f":p a owl:ObjectProperty ; owl:inverseOf :p ; {ENDS.format(':Park')} .",
        ),
        (
            "inverse_ends",
            f":p a owl:ObjectProperty ; owl:inverseOf :q . :p {ENDS.format(':Road')} . "
            f":q a owl:ObjectProperty ; {ENDS.format(':Road')} .",
            f":p a owl:ObjectProperty ; owl:inverseOf :q . :p {ENDS.format(':Road')} . "
            ":q a owl:ObjectProperty ; rdfs:domain :Road ; rdfs:range :Park .",
        ),
        (
            "symmetric_ends",
            f":p a owl:ObjectProperty , owl:SymmetricProperty ; {ENDS.format(':Road')} .",
            f":p a owl:ObjectProperty , owl:SymmetricProperty ; {ENDS.format(':Park')} .",
        ),
        (
            "self_equivalence",
            ":Park owl:equivalentClass :Park .",
            ":Park owl:equivalentClass schema:Park .",
        ),
        (
            "self_equivalence",
            ":p a owl:ObjectProperty ; owl:equivalentProperty :p .",
            ":p a owl:ObjectProperty ; owl:equivalentProperty :q . :q a owl:ObjectProperty .",
        ),
        (
            "transitive_functional",
            ":p a owl:ObjectProperty , owl:TransitiveProperty , owl:FunctionalProperty .",
            ":p a owl:ObjectProperty , owl:TransitiveProperty .",
        ),
        (
            "merged_concepts",
            ':X a owl:Class ; rdfs:label "zoo or aquarium"@en .',
            ':X a owl:Class ; rdfs:label "sandorf"@en .',
        ),
        (
            "restriction_without_filler",
            ":Park rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ] .",
            ":Park rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ; owl:someValuesFrom :Road ] .",
        ),
        (
            "restriction_without_filler",
            ":Park rdfs:subClassOf [ a owl:Restriction ; owl:someValuesFrom :Road ] .",
            ":Park rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ; owl:minCardinality 1 ] .",
        ),
        (
            "functional_value",
            ":p a owl:DatatypeProperty , owl:FunctionalProperty ; rdfs:range xsd:decimal ; qudt:hasUnit :M .",
            ":p a owl:DatatypeProperty , owl:FunctionalProperty ; rdfs:range xsd:string .",
        ),
        (
            "functional_value",
            ":p a owl:DatatypeProperty , owl:FunctionalProperty ; schema:rangeIncludes xsd:gYear .",
            ":p a owl:DatatypeProperty ; schema:rangeIncludes xsd:gYear .",
        ),
        ("missing_license", ONTOLOGY.format(1, '; dct:creator "A"'), ONTOLOGY.format(1, COMPLETE)),
        ("missing_creator", ONTOLOGY.format(1, "; dct:license :l"), ONTOLOGY.format(1, COMPLETE)),
        ("missing_prior_version", ONTOLOGY.format("1.1", COMPLETE), ONTOLOGY.format("0.1.0", COMPLETE)),
        (
            "missing_prior_version",
            ONTOLOGY.format("2", COMPLETE),
            ONTOLOGY.format("2", COMPLETE + "; owl:priorVersion <http://example.org/o/1>"),
        ),
        (
            "prior_version_is_current",
            ONTOLOGY.format("2", "; owl:priorVersion <http://example.org/o/2>"),
            ONTOLOGY.format("2", "; owl:priorVersion <http://example.org/o/1>"),
        ),
        (
            "undefined_individual",
            ":deco a owl:NamedIndividual , :Style .",
            ':deco a owl:NamedIndividual , :Style ; skos:definition "Of the 1920s." .',
        ),
        ("concept_without_scheme", ":deco a :Style .", ":deco a :Style ; skos:inScheme :Styles ."),
        ("concept_without_scheme", ":deco a :Style .", ":deco a :Style . :Styles skos:hasTopConcept :deco ."),
        ("synonym_repeats_label", ':Park skos:altLabel "Park"@en .', ':Park skos:altLabel "Park"@de .'),
        (
            "shared_synonym",
            ':Park skos:altLabel "way"@en . :Road skos:altLabel "way"@en .',
            ':Park skos:hiddenLabel "way"@en . :Road skos:altLabel "way"@en .',
        ),
        ("shared_synonym", ':Park skos:altLabel "road"@en .', ':Park skos:hiddenLabel "road"@en .'),
        (
            "missing_example",
            f'{USED} :Park skos:example "Central Park." .',
            f'{USED} :Park skos:example "Central Park." ; skos:scopeNote "No garden." .',
        ),
        (
            "shared_equivalence",
            ":Park owl:equivalentClass schema:Park . :Road owl:equivalentClass schema:Park .",
            ":Park owl:equivalentClass schema:Park . :Road rdfs:subClassOf schema:Park .",
        ),
        (
            "several_equivalents",
            ":Park owl:equivalentClass schema:Park , schema:Place .",
            ":Park owl:equivalentClass schema:Park ; rdfs:subClassOf schema:Place .",
        ),
        (
            "aligned_twice",
            ":Park owl:equivalentClass schema:Park ; skos:closeMatch schema:Park .",
            ":Park owl:equivalentClass schema:Park ; skos:closeMatch schema:Place .",
        ),
    ],
)
def test_a_rule_finds_its_example_and_not_the_repair(
    tmp_path: Path, rule: str, wrong: str, right: str
) -> None:
    assert rule in rules(tmp_path, wrong)
    assert rule not in rules(tmp_path, right)
