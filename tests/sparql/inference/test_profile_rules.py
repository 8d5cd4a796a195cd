"""Each rule that inference draws, by its name in the tables of OWL 2 Profiles, 4.3."""

from __future__ import annotations

import pytest
from pyoxigraph import NamedNode, Quad, RdfFormat, Triple, parse

from sparql.inference.materialized import Inferences
from sparql.model.vocabulary import DEFAULT, INFERRED, RDF
from sparql.storage.embedded_store import EmbeddedStore
from sparql.writing.writer import Writer
from tests.support.naive_fixpoint import closure

RULES = {
    # Table 4: equality. eq-ref says of each thing that it is itself: not drawn.
    "eq-sym": (":a owl:sameAs :b .", ":b owl:sameAs :a ."),
    "eq-trans": (":a owl:sameAs :b . :b owl:sameAs :c .", ":a owl:sameAs :c ."),
    "eq-rep-s": (":a owl:sameAs :b . :a :p :x .", ":b :p :x ."),
    "eq-rep-p": (":p owl:sameAs :q . :a :p :x .", ":a :q :x ."),
    "eq-rep-o": (":a owl:sameAs :b . :x :p :a .", ":x :p :b ."),
    # Table 5: properties.
    "prp-ifp": (':p a owl:InverseFunctionalProperty . :a :p "1" . :b :p "1" .', ":a owl:sameAs :b ."),
    "prp-symp": (":p a owl:SymmetricProperty . :a :p :b .", ":b :p :a ."),
    "prp-trp": (":p a owl:TransitiveProperty . :a :p :b . :b :p :c .", ":a :p :c ."),
    "prp-spo1": (":p rdfs:subPropertyOf :q . :a :p :b .", ":a :q :b ."),
    "prp-spo2": (":p owl:propertyChainAxiom (:q :r :s) . :a :q :b . :b :r :c . :c :s :d .", ":a :p :d ."),
    "prp-eqp1": (":p owl:equivalentProperty :q . :a :p :b .", ":a :q :b ."),
    "prp-eqp2": (":p owl:equivalentProperty :q . :a :q :b .", ":a :p :b ."),
    "prp-inv1": (":p owl:inverseOf :q . :a :p :b .", ":b :q :a ."),
    "prp-inv2": (":p owl:inverseOf :q . :a :q :b .", ":b :p :a ."),
    # Table 6: classes. Restrictions lead to a class with a name, and it leads to them.
    "cls-svf1": (
        ":C owl:equivalentClass [ owl:onProperty :p ; owl:someValuesFrom :D ] . :a :p :b . :b a :D .",
        ":a a :C .",
    ),
    "cls-svf2": (
        ":C owl:equivalentClass [ owl:onProperty :p ; owl:someValuesFrom owl:Thing ] . :a :p :b .",
        ":a a :C .",
    ),
    "cls-hv1": (":C rdfs:subClassOf [ owl:onProperty :p ; owl:hasValue :v ] . :a a :C .", ":a :p :v ."),
    "cls-hv2": (":C owl:equivalentClass [ owl:onProperty :p ; owl:hasValue :v ] . :a :p :v .", ":a a :C ."),
    # Table 7: class axioms.
    "cax-sco": (":C rdfs:subClassOf :D . :a a :C .", ":a a :D ."),
    "cax-eqc1": (":C owl:equivalentClass :D . :a a :C .", ":a a :D ."),
    "cax-eqc2": (":C owl:equivalentClass :D . :a a :D .", ":a a :C ."),
    # Table 9: the schema.
    "scm-sco": (":C rdfs:subClassOf :D . :D rdfs:subClassOf :E .", ":C rdfs:subClassOf :E ."),
    "scm-eqc1": (":C owl:equivalentClass :D .", ":D rdfs:subClassOf :C ."),
    "scm-spo": (":p rdfs:subPropertyOf :q . :q rdfs:subPropertyOf :r .", ":p rdfs:subPropertyOf :r ."),
    "scm-eqp1": (":p owl:equivalentProperty :q .", ":q rdfs:subPropertyOf :p ."),
}


def parse_turtle(text: str) -> list[Triple]:
    prefixes = """@prefix : <http://example.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . """
    return [quad.triple for quad in parse(prefixes + text, RdfFormat.TURTLE)]


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_of_the_profile_draws_its_conclusion_and_takes_it_back_with_any_premise(rule: str) -> None:
    premises, conclusion = (parse_turtle(text) for text in RULES[rule])
    store = EmbeddedStore()
    writer = Writer(store, inferences=Inferences(store, 1000))
    writer.start()
    writer.replace_ontology(premises)
    inferred = {quad.triple for quad in store.match_quads(None, None, None, INFERRED)}
    assert set(conclusion) <= inferred
    assert inferred == closure(set(premises)) - set(premises)
    for number in range(len(premises)):
        writer.replace_ontology([*premises[:number], *premises[number + 1 :]])
        assert not store.contains(Quad(*conclusion[0], DEFAULT)), f"without premise {number}"


def test_a_value_that_no_restriction_asks_for_makes_no_member() -> None:
    some_d = ":C owl:equivalentClass [ owl:onProperty :p ; owl:someValuesFrom :D ] ."
    premises = parse_turtle(f"{some_d} :a :p :b . :b a :E .")
    store = EmbeddedStore()
    writer = Writer(store, inferences=Inferences(store, 1000))
    writer.start()
    writer.replace_ontology(premises)
    assert not any(store.match(None, RDF.type, NamedNode("http://example.org/C")))
