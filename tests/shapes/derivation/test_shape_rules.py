"""Rules of shapes conclude what they say, after every change, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, RdfFormat, Triple, parse

from shapes.loading import shapes_of
from shapes.shape_rules import ShapeRules, shape_rules
from sparql.inference.materialized import Inferences, mark
from sparql.model.change import Change, Statement
from sparql.model.errors import RuleUnsettled, RuleWithoutEnd
from sparql.model.vocabulary import DEFAULT, INFERRED, RDF, RDFS, Namespace
from sparql.storage.embedded_store import EmbeddedStore
from sparql.writing.writer import Writer
from tests.support.naive_fixpoint import closure

EX = Namespace("http://example.org/")
HEAD = """@prefix : <http://example.org/> . @prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
"""


def triples(turtle: str) -> list[Triple]:
    return [quad.triple for quad in parse(HEAD + turtle, RdfFormat.TURTLE)]


def rules_of(turtle: str) -> ShapeRules:
    found = shape_rules(shapes_of([(Path("rules.ttl"), (HEAD + turtle).encode())]).graph)
    assert found is not None
    return found


def open_writer(rules: ShapeRules | None, most: int = 10_000) -> tuple[EmbeddedStore, Writer]:
    store = EmbeddedStore()
    writer = Writer(store, inferences=Inferences(store, most, rules))
    writer.start()
    return store, writer


def held(store: EmbeddedStore, graph: Any = INFERRED) -> set[Triple]:
    return {quad.triple for quad in store.match_quads(None, None, None, graph)}


def write(writer: Writer, added: str | list[Triple] = "", removed: str | list[Triple] = "") -> None:
    new, old = (triples(one) if isinstance(one, str) else one for one in (added, removed))
    writer.commit(Change(additions=tuple(map(Statement, new)), removals=frozenset(old)))


PARENT = """:Person a rdfs:Class , sh:NodeShape ; sh:rule [ a sh:TripleRule ;
    sh:subject [ sh:path :parent ] ; sh:predicate :child ; sh:object sh:this ] ."""
SQUARE = """:Rectangle a rdfs:Class , sh:NodeShape ; sh:property [ sh:path :width ; sh:maxCount 1 ;
        sh:minCount 1 ; sh:datatype xsd:integer ] ; sh:rule [ a sh:TripleRule ; sh:condition :Rectangle ,
        [ sh:property [ sh:path :width ; sh:equals :height ] ] ;
        sh:subject sh:this ; sh:predicate rdf:type ; sh:object :Square ] ."""
AREA = """:Rectangle a rdfs:Class , sh:NodeShape ; sh:rule [ a sh:SPARQLRule ; sh:construct '''
    PREFIX : <http://example.org/> CONSTRUCT { $this :area ?a } WHERE {
    $this :width ?w ; :height ?h . BIND (?w * ?h AS ?a) }''' ] ."""
FREE = """:Table a rdfs:Class , sh:NodeShape ; sh:rule [ a sh:SPARQLRule ; sh:construct '''
    PREFIX : <http://example.org/> CONSTRUCT { $this a :Free } WHERE { FILTER NOT EXISTS { ?x :uses $this } }
    ''' ] ."""


def test_a_rule_concludes_and_takes_back_with_each_premise() -> None:
    store, writer = open_writer(rules_of(PARENT))
    write(writer, ":a a :Person ; :parent :b .")
    assert held(store) == set(triples(":b :child :a ."))
    write(writer, "", ":a a :Person .")
    assert held(store) == set()
    write(writer, ":a a :Student . :Student rdfs:subClassOf :Person .")
    assert set(triples(":b :child :a .")) <= held(store)
    write(writer, ":b :child :a .", ":a :parent :b .")
    assert not held(store) & set(triples(":b :child :a ."))
    assert set(triples(":b :child :a .")) <= held(store, DEFAULT)
    write(writer, ":a :parent :b .", ":b :child :a .")
    assert set(triples(":b :child :a .")) <= held(store)


def test_a_condition_that_asks_for_no_more_is_followed_both_ways() -> None:
    store, writer = open_writer(rules_of(SQUARE))
    write(writer, ":r a :Rectangle ; :width 2 ; :height 2 .")
    assert held(store) == set(triples(":r a :Square ."))
    write(writer, ":r :width 3 .")
    assert held(store) == set()
    write(writer, "", ":r :width 3 .")
    assert held(store) == set(triples(":r a :Square ."))
    write(writer, ":r :height 2.5 .", ":r :height 2 .")
    assert held(store) == set()


def test_a_query_concludes_values_and_those_of_others_go() -> None:
    store, writer = open_writer(rules_of(AREA))
    write(writer, ":r a :Rectangle ; :width 2 ; :height 5 .")
    assert held(store) == set(triples(":r :area 10 ."))
    write(writer, ":r :height 6 .", ":r :height 5 .")
    assert held(store) == set(triples(":r :area 12 ."))


def test_what_follows_from_an_absence_goes_when_it_is_there() -> None:
    rules = rules_of(FREE)
    store, writer = open_writer(rules)
    write(writer, ":d a :Table . :e a :Table . :Free rdfs:subClassOf :Useful .")
    assert set(triples(":d a :Free , :Useful . :e a :Free , :Useful .")) <= held(store)
    write(writer, ":a :uses :d .")
    assert held(store) == set(triples(":e a :Free , :Useful ."))
    write(writer, "", ":a :uses :d .")
    assert set(triples(":d a :Free , :Useful .")) <= held(store)
    assert not rules.all_grow


def test_rules_wait_for_those_before_them_in_order() -> None:
    rules = rules_of(
        FREE.replace("a sh:SPARQLRule", "a sh:SPARQLRule ; sh:order 2")
        + """:Chair sh:targetSubjectsOf :near ; sh:rule [ a sh:TripleRule ; sh:order 1 ; sh:subject sh:this ;
        sh:predicate :uses ; sh:object [ sh:path :near ] ] . :Chair a sh:NodeShape ."""
    )
    store, writer = open_writer(rules)
    write(writer, ":d a :Table . :c :near :d .")
    assert held(store) == set(triples(":c :uses :d ."))
    write(writer, "", ":c :near :d .")
    assert held(store) == set(triples(":d a :Free ."))
    write(writer, ":c :near :d .")
    assert held(store) == set(triples(":c :uses :d ."))


def test_rules_that_undo_each_other_are_an_error_that_names_one() -> None:
    rules = rules_of(
        """:Lamp a rdfs:Class , sh:NodeShape ; sh:rule :toggle . :toggle a sh:SPARQLRule ; sh:construct '''
        PREFIX : <http://example.org/>
        CONSTRUCT { $this :is :on } WHERE { FILTER NOT EXISTS { $this :is :on } }''' ."""
    )
    store, writer = open_writer(rules)
    with pytest.raises(RuleUnsettled, match=r"example\.org/toggle"):
        write(writer, ":l a :Lamp .")
    assert not held(store, DEFAULT)


@pytest.mark.parametrize(
    "template",
    [
        "{ $this :next [ a :Number ] }",
        "{ $this :n ?m } WHERE { $this :n ?n . BIND (?n + 1 AS ?m) }",
        "{ ?x a :Number . $this :next ?x } WHERE { BIND (IRI(CONCAT(STR($this), 'x')) AS ?x) }",
    ],
)
def test_a_rule_that_makes_new_values_without_end_is_an_error_that_names_it(template: str) -> None:
    where = "" if "WHERE" in template else "WHERE {}"
    rules = rules_of(
        f""":Number a rdfs:Class , sh:NodeShape ; sh:rule :successor . :successor a sh:SPARQLRule ;
        sh:construct '''PREFIX : <http://example.org/> CONSTRUCT {template} {where}''' ."""
    )
    store, writer = open_writer(rules)
    with pytest.raises(RuleWithoutEnd, match=r"example\.org/successor"):
        write(writer, ":one a :Number ; :n 1 .")
    assert not held(store, DEFAULT)
    # Where the graph is there already, it stays, and so does what follows from axioms.
    plain = Writer(store, inferences=Inferences(store, 1000))
    plain.start()
    write(plain, ":one a :Number ; :n 1 . :Number rdfs:subClassOf :Thing .")
    late = Writer(store, inferences=Inferences(store, 1000, rules))
    late.start()
    assert held(store) == set(triples(":one a :Thing ."))
    assert "successor" in late.rules_problem
    write(late, ":two a :Number .")
    assert set(triples(":two a :Thing .")) <= held(store)


def test_a_new_node_is_the_same_each_time_and_goes_with_what_it_follows_from() -> None:
    rules = rules_of(
        """:City a rdfs:Class , sh:NodeShape ; sh:rule [ a sh:SPARQLRule ; sh:construct '''
        PREFIX : <http://example.org/>
        CONSTRUCT { $this :center [ :name ?n ] } WHERE { $this :name ?n }''' ] ."""
    )
    store, writer = open_writer(rules)
    write(writer, ":c a :City ; :name 'Ulm' .")
    first = held(store)
    assert len(first) == 2
    write(writer, ":c :name 'Neu-Ulm' .")
    assert len(held(store)) == 4
    assert first < held(store)
    write(writer, "", ":c :name 'Neu-Ulm' .")
    assert held(store) == first


def test_other_rules_infer_all_anew() -> None:
    store, writer = open_writer(rules_of(PARENT))
    write(writer, ":a a :Person ; :parent :b .")
    writer.replace_ontology(triples(":x :y :z ."), then=lambda: writer.use_rules(rules_of(AREA)))
    assert writer.inferring == "stale"
    writer.infer_anew()
    assert held(store) == set()
    writer.replace_ontology([], then=lambda: writer.use_rules(rules_of(PARENT)))
    writer.infer_anew()
    assert held(store) == set(triples(":b :child :a ."))
    again = Writer(store, inferences=Inferences(store, 1000, rules_of(PARENT)))
    before = mark(store)
    again.start()
    assert mark(store) == before
    assert again.inferring == "complete"


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("a sh:JSRule", "neither"),
        ("a sh:TripleRule ; sh:subject sh:this ; sh:object 1", "sh:predicate 0 times"),
        ("a sh:TripleRule ; sh:subject sh:this ; sh:predicate :p ; sh:object [ :f ( 1 ) ]", "unsupported"),
        ("a sh:SPARQLRule ; sh:construct 'CONSTRUCT { $this :p }'", "does not parse"),
        ("a sh:SPARQLRule ; sh:construct 'SELECT * {}'", "no CONSTRUCT"),
        ("a sh:SPARQLRule ; sh:construct 'CONSTRUCT { $this a ?u } { BIND (UUID() AS ?u) }'", "calls UUID"),
        ("a sh:TripleRule ; sh:order 'x'", "sh:subject"),
    ],
)
def test_a_rule_that_is_not_run_says_why(rule: str, reason: str) -> None:
    graph = shapes_of(
        [(Path("rules.ttl"), (HEAD + f":C a rdfs:Class , sh:NodeShape ; sh:rule [ {rule} ] .").encode())]
    ).graph
    assert shape_rules(graph) is None
    (found,) = ShapeRules(graph).not_run
    assert reason in found.reason


# Random histories against all rules applied to all things, round after round.

RULES = rules_of(
    PARENT.replace(":Person", ":C").replace(":parent", ":p").replace(":child", ":q")
    + """
:p2 a sh:NodeShape ; sh:targetSubjectsOf :r ; sh:rule [ a sh:TripleRule ; sh:subject sh:this ;
    sh:predicate :p ; sh:object [ sh:path ( :r :q ) ] ] .
:p3 a sh:NodeShape ; sh:targetObjectsOf :q ; sh:rule [ a sh:TripleRule ; sh:condition [ sh:class :D ] ;
    sh:subject sh:this ; sh:predicate rdf:type ; sh:object :C ] .
:p4 a sh:NodeShape ; sh:targetClass :E ; sh:rule [ a sh:SPARQLRule ; sh:construct '''
    PREFIX : <http://example.org/>
    CONSTRUCT { ?y :r $this } WHERE { $this :q/:p ?y . FILTER (?y != $this) }''' ] .
:p5 a sh:NodeShape ; sh:targetClass :D ; sh:rule [ a sh:SPARQLRule ; sh:order 5 ; sh:construct '''
    PREFIX : <http://example.org/> CONSTRUCT { $this :lone true } WHERE { FILTER NOT EXISTS { $this :p ?y } }
    ''' ] .
:p6 a sh:NodeShape ; sh:targetSubjectsOf :lone ; sh:rule [ a sh:TripleRule ; sh:order 6 ; sh:subject sh:this ;
    sh:condition [ sh:property [ sh:path :q ; sh:maxCount 1 ] ] ; sh:predicate :odd ; sh:object :yes ] .
"""
)
CLASSES = [EX.term(name) for name in ("C", "D", "E")]
PROPERTIES = [EX.term(name) for name in ("p", "q", "r")]
THINGS = [EX.a, EX.b, EX.c, BlankNode("n")]
facts = st.one_of(
    st.builds(Triple, st.sampled_from(THINGS), st.just(RDF.type), st.sampled_from(CLASSES)),
    st.builds(Triple, st.sampled_from(THINGS), st.sampled_from(PROPERTIES), st.sampled_from(THINGS)),
    st.builds(Triple, st.sampled_from(CLASSES), st.just(RDFS.subClassOf), st.sampled_from(CLASSES)),
    st.builds(Triple, st.sampled_from(PROPERTIES), st.just(RDFS.subPropertyOf), st.sampled_from(PROPERTIES)),
)


def expected(stated: set[Triple]) -> set[Triple]:
    """The rules above once more, as sets."""
    known = closure(stated)
    while True:
        things = {t.subject for t in known} | {t.object for t in known if not isinstance(t.object, Literal)}

        def values(thing: Any, name: str, known: set[Triple] = known) -> set[Any]:
            return {t.object for t in known if t.subject == thing and t.predicate == EX.term(name)}

        def is_a(thing: Any, name: str, known: set[Triple] = known) -> bool:
            return Triple(thing, RDF.type, EX.term(name)) in known

        new: set[Triple] = set()
        for x in things:
            if is_a(x, "C"):
                new |= {Triple(y, EX.q, x) for y in values(x, "p")}
            new |= {Triple(x, EX.p, z) for y in values(x, "r") for z in values(y, "q")}
            if is_a(x, "D") and any(t.object == x and t.predicate == EX.q for t in known):
                new.add(Triple(x, RDF.type, EX.C))
            if is_a(x, "E"):
                new |= {Triple(z, EX.r, x) for y in values(x, "q") for z in values(y, "p") if z != x}
        if new <= known:
            break
        known = closure(known | new)
    true = Literal("true", datatype=NamedNode("http://www.w3.org/2001/XMLSchema#boolean"))
    for x in {t.subject for t in known}:
        if is_a(x, "D") and not values(x, "p"):
            known.add(Triple(x, EX.lone, true))
            if len(values(x, "q")) <= 1:
                known.add(Triple(x, EX.odd, EX.yes))
    return known


@seed(20_261_127)
@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.lists(facts, max_size=4), st.lists(facts, max_size=4), st.booleans()),
        min_size=1,
        max_size=6,
    )
)
def test_after_every_edit_the_graph_is_what_the_rules_conclude_from_what_is_stated(steps: Any) -> None:
    store, writer = open_writer(RULES)
    stated: set[Triple] = set()
    for added, removed, in_bulk in steps:
        if in_bulk:
            quads = [Quad(*triple, DEFAULT) for triple in added]
            known = [
                Quad(*t, NamedNode("https://w3id.org/urbankg/graph/asserted"))
                for t in added
                if t in held(store)
            ]
            writer.bulk([*quads, *known])
            stated |= set(added)
        else:
            gone = {triple for triple in removed if triple in stated} - set(added)
            write(writer, added, list(gone))
            stated = (stated - gone) | set(added)
        everything = expected(stated)
        assert held(store, DEFAULT) == everything
        assert held(store) == everything - stated
