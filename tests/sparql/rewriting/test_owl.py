"""`inference=owl`: queries answer what follows from inverse, symmetric and transitive properties."""

from __future__ import annotations

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from pyoxigraph import Quad, QuerySolutions, Triple

from sparql.model.errors import MalformedRequest
from sparql.model.options import Inference, Options
from sparql.model.vocabulary import DEFAULT, OWL, RDF, RDFS, Namespace
from sparql.rewriting.rewriter import Rewriter
from sparql.rewriting.steps import Probe, Row
from sparql.storage.embedded_store import EmbeddedStore
from tests.support.naive_fixpoint import closure
from tests.support.rewriting import drive

EX = Namespace("http://example.org/")
PREFIXES = f"PREFIX ex: <{EX.iri}> PREFIX rdfs: <{RDFS.iri}> "
A, SUB, SUBP = RDF.type, RDFS.subClassOf, RDFS.subPropertyOf
CLASSES = [EX.term(name) for name in ("C", "D", "E")]
PROPERTIES = [EX.term(name) for name in ("p", "q", "r")]
THINGS = [EX.a, EX.b, EX.c]


def triples(subjects, predicates, objects):
    return st.builds(Triple, st.sampled_from(subjects), st.sampled_from(predicates), st.sampled_from(objects))


axioms = st.one_of(
    triples(CLASSES, [SUB, OWL.equivalentClass], CLASSES),
    triples(PROPERTIES, [SUBP, OWL.equivalentProperty, OWL.inverseOf], PROPERTIES),
    triples(PROPERTIES, [A], [OWL.SymmetricProperty, OWL.TransitiveProperty]),
)
facts = st.one_of(triples(THINGS, [A], CLASSES), triples(THINGS, PROPERTIES, THINGS))


class Graph:
    """A store with triples, and queries with an entailment regime over it."""

    def __init__(self, stated: set[Triple]) -> None:
        self.store = EmbeddedStore()
        self.store.commit([Quad(*triple, DEFAULT) for triple in stated])
        self.rewriter = Rewriter(self.store)

    def ask(self, query: str, regime: Inference = Inference.OWL) -> set[tuple[str, ...]]:
        text = PREFIXES + query
        preparation = self.rewriter.preparation(text, Options(inference=regime))
        if preparation is not None:
            text = drive(self.rewriter.steps(preparation, self.store.revision()), self._probe)
        return {tuple(term.value for term in row) for row in self._rows(text)}

    def _rows(self, text: str) -> QuerySolutions:
        rows = self.store.graph.query(text)
        assert isinstance(rows, QuerySolutions)
        return rows

    def _probe(self, probe: Probe) -> list[Row]:
        rows = self._rows(probe.text)
        names = [variable.value for variable in rows.variables]
        return [{name: row[name] for name in names if row[name] is not None} for row in rows]


@seed(20_261_124)
@settings(max_examples=150, deadline=None)
@given(laws=st.lists(axioms, max_size=6), said=st.lists(facts, max_size=6), property_=st.sampled_from("pqr"))
def test_answers_are_those_of_the_closure(laws: list[Triple], said: list[Triple], property_: str):
    stated = {*laws, *said}
    graph, whole = Graph(stated), Graph(closure(stated))
    for query in (
        f"SELECT ?x ?y {{ ?x ex:{property_} ?y }}",
        f"SELECT ?y {{ ex:a ex:{property_} ?y }}",
        f"SELECT ?x {{ ?x ex:{property_}/a ex:C }}",
        "SELECT ?x ?y { ?x a ?y FILTER(?x IN (ex:a, ex:b, ex:c)) }",
        "SELECT ?x { ?x a ex:D }",
        "SELECT ?x ?y { ?x rdfs:subClassOf ?y FILTER(?x != ?y) }",
        "SELECT ?x ?p ?y { ?x ?p ?y FILTER(?x != ?y || !STRSTARTS(STR(?p), STR(rdfs:sub))) "
        "FILTER(?p NOT IN (rdfs:subPropertyOf)) }",
    ):
        assert graph.ask(query) == whole.ask(query, Inference.NONE), query


def test_domains_and_ranges_count_the_other_way_round_for_an_inverse():
    graph = Graph({
        Triple(EX.keeps, RDFS.domain, EX.Keeper),
        Triple(EX.keeps, RDFS.range, EX.Place),
        Triple(EX.keptBy, OWL.inverseOf, EX.keeps),
        Triple(EX.park, EX.keptBy, EX.ada),
    })  # fmt: skip
    assert graph.ask("SELECT ?x { ?x a ex:Keeper }") == {(EX.ada.value,)}
    assert graph.ask("SELECT ?x { ?x a ex:Place }") == {(EX.park.value,)}
    assert graph.ask("SELECT ?c { ex:ada a ?c }") == {(EX.Keeper.value,)}
    assert graph.ask("SELECT ?x { ?x a ex:Keeper }", Inference.RDFS) == set()


def test_a_variable_for_very_many_properties_that_follow_is_refused_with_the_reason():
    graph = Graph({Triple(EX.term(f"p{number}"), SUBP, EX.term(f"q{number}")) for number in range(301)})
    with pytest.raises(MalformedRequest, match="Write the property"):
        graph.ask("SELECT * { ?x ?p ?y }")
    assert graph.ask("SELECT ?x { ?x ex:q1 ?y }") == set()


def test_rdfs_knows_nothing_of_owl():
    graph = Graph({Triple(EX.p, A, OWL.SymmetricProperty), Triple(EX.a, EX.p, EX.b)})
    both = {(EX.a.value,), (EX.b.value,)}
    assert graph.ask("SELECT ?x { ?x ex:p ?y }") == both
    assert graph.ask("SELECT ?x { ?x ex:p ?y }", Inference.RDFS) == {(EX.a.value,)}
    assert graph.ask("SELECT ?x { ?x ex:p* ex:b }") == both
