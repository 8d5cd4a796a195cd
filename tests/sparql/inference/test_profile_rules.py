"""Each rule that inference draws, by its name in the tables of OWL 2 Profiles, 4.3."""

from __future__ import annotations

import random

import pytest
from pyoxigraph import NamedNode, Quad, RdfFormat, Triple, parse

from sparql.inference.materialized import Inferences
from sparql.model.change import Change, Statement
from sparql.model.vocabulary import DEFAULT, INFERRED, RDF
from sparql.storage.embedded_store import EmbeddedStore
from sparql.writing.writer import Writer
from tests.support.naive_fixpoint import closure
from tests.support.profile_tables import by_predicate, closure_by_tables, profile_rules

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


GRAPHS = 40
"""The number of generated graphs for each rule."""


@pytest.mark.parametrize("name", profile_rules())
def test_on_generated_graphs_a_rule_concludes_what_the_tables_do(name: str) -> None:
    """Each graph has premises of the rule, of another rule, and statements that may join with either."""
    source = random.Random(f"20261127 {name}")
    others = [rule for several in profile_rules().values() for rule in several]
    fired = 0
    for _ in range(GRAPHS):
        rule = source.choice(profile_rules()[name])
        graph = [*rule.instance(source.choice), *source.choice(others).instance(source.choice)]
        graph += source.choice(others).instance(source.choice)[-1:]
        stated = set(graph)
        fired += any(t not in stated for t in rule.draw(by_predicate(stated), stated))
        _compare_along_changes(source, sorted(stated, key=str))
    assert fired > GRAPHS // 8


def _compare_along_changes(source: random.Random, triples: list[Triple]) -> None:
    """All at once, then without some, then with these again, by another way in."""
    store = EmbeddedStore()
    writer = Writer(store, inferences=Inferences(store, 10_000))
    writer.start()
    some = set(source.sample(triples, len(triples) // 2))
    _write(writer, triples, [])
    _assert_closed(store, set(triples))
    _write(writer, [], some)
    _assert_closed(store, set(triples) - some)
    writer.replace_ontology(sorted(some, key=str))
    _assert_closed(store, set(triples))


def _write(writer: Writer, added: list[Triple], removed: set[Triple] | list[Triple]) -> None:
    writer.commit(Change(additions=tuple(map(Statement, added)), removals=frozenset(removed)))


def _assert_closed(store: EmbeddedStore, stated: set[Triple]) -> None:
    expected = closure_by_tables(stated)
    found = {quad.triple for quad in store.match_quads(None, None, None, DEFAULT)}
    assert found == expected, f"from {sorted(map(str, stated))}"
    assert closure(stated) == expected
