"""After any edit the inferred graph equals the conclusions computed from scratch."""

from __future__ import annotations

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

from sparql.inference.materialized import Inferences
from sparql.model.change import Change, Origin, Statement
from sparql.model.errors import InferenceTooLarge, ProtectedTriple
from sparql.model.vocabulary import (
    ASSERTED,
    DEFAULT,
    DERIVED,
    EXTRACTED,
    GEO,
    INFERRED,
    ONTOLOGY,
    OWL,
    RDF,
    RDFS,
    Namespace,
)
from sparql.spatial.relations import SpatialRelations
from sparql.storage.embedded_store import EmbeddedStore
from sparql.writing.writer import Writer
from tests.support.counting_source import CountingSource
from tests.support.naive_fixpoint import closure

EX = Namespace("http://example.org/")
A, SUB, SUBP = RDF.type, RDFS.subClassOf, RDFS.subPropertyOf
CLASSES = [EX.term(name) for name in ("C", "D", "E", "F")]
PROPERTIES = [EX.term(name) for name in ("p", "q", "r")]
THINGS = [EX.a, EX.b, EX.c, BlankNode("n")]

axioms = st.one_of(
    st.builds(
        Triple,
        st.sampled_from(CLASSES),
        st.sampled_from([SUB, OWL.equivalentClass]),
        st.sampled_from(CLASSES),
    ),
    st.builds(
        Triple,
        st.sampled_from(PROPERTIES),
        st.sampled_from([SUBP, OWL.equivalentProperty, OWL.inverseOf]),
        st.sampled_from(PROPERTIES),
    ),
    st.builds(
        Triple,
        st.sampled_from(PROPERTIES),
        st.just(A),
        st.sampled_from([OWL.SymmetricProperty, OWL.TransitiveProperty]),
    ),
    # Axioms about the vocabulary itself.
    st.builds(Triple, st.sampled_from(PROPERTIES), st.just(SUBP), st.sampled_from([A, SUB, OWL.inverseOf])),
)
RESTRICTIONS = [BlankNode("r"), BlankNode("s"), EX.R]
CELLS = [BlankNode("l1"), BlankNode("l2")]
expressions = st.one_of(
    st.builds(Triple, st.sampled_from(RESTRICTIONS), st.just(OWL.onProperty), st.sampled_from(PROPERTIES)),
    st.builds(
        Triple,
        st.sampled_from(RESTRICTIONS),
        st.just(OWL.someValuesFrom),
        st.sampled_from([*CLASSES[:2], *RESTRICTIONS, OWL.Thing]),
    ),
    st.builds(
        Triple,
        st.sampled_from(RESTRICTIONS),
        st.just(OWL.hasValue),
        st.sampled_from([EX.a, EX.C, Literal("x")]),
    ),
    st.builds(
        Triple,
        st.sampled_from([*RESTRICTIONS, *CLASSES[:2]]),
        st.sampled_from([SUB, OWL.equivalentClass]),
        st.sampled_from([*RESTRICTIONS, *CLASSES[:2]]),
    ),
    st.builds(Triple, st.sampled_from(PROPERTIES), st.just(OWL.propertyChainAxiom), st.sampled_from(CELLS)),
    st.builds(Triple, st.sampled_from(CELLS), st.just(RDF.first), st.sampled_from(PROPERTIES)),
    st.builds(Triple, st.sampled_from(CELLS), st.just(RDF.rest), st.sampled_from([RDF.nil, CELLS[1]])),
)
facts = st.one_of(
    st.builds(Triple, st.sampled_from(THINGS), st.just(A), st.sampled_from(CLASSES)),
    st.builds(
        Triple,
        st.sampled_from(THINGS),
        st.sampled_from(PROPERTIES),
        st.one_of(st.sampled_from(THINGS), st.sampled_from(CLASSES), st.just(Literal("x"))),
    ),
)
triples = st.one_of(facts, facts, axioms)
with_expressions = st.one_of(facts, facts, axioms, expressions, expressions, expressions)
equalities = st.one_of(
    st.builds(
        Triple,
        st.sampled_from([*THINGS, EX.C, EX.p]),
        st.just(OWL.sameAs),
        st.sampled_from([*THINGS, EX.C, EX.D, EX.q]),
    ),
    st.builds(Triple, st.sampled_from(PROPERTIES), st.just(A), st.just(OWL.InverseFunctionalProperty)),
    st.builds(Triple, st.sampled_from(PROPERTIES), st.just(SUBP), st.just(OWL.sameAs)),
)
with_equality = st.one_of(facts, facts, facts, axioms, expressions, equalities)


def steps_of(some: st.SearchStrategy[Triple], size: int) -> st.SearchStrategy[list[tuple[str, list[Triple]]]]:
    kinds = st.sampled_from(["assert", "extract", "withdraw", "remove", "ontology", "bulk"])
    return st.lists(st.tuples(kinds, st.lists(some, min_size=1, max_size=size)), max_size=12)


def open_writer(most: int = 10_000) -> tuple[EmbeddedStore, Writer]:
    store = EmbeddedStore()
    writer = Writer(store, deriver=SpatialRelations(), inferences=Inferences(store, most))
    writer.start()
    return store, writer


def held(store: EmbeddedStore, graph) -> set[Triple]:
    return {quad.triple for quad in store.match_quads(None, None, None, graph)}


def statements(triples) -> tuple[Statement, ...]:
    return tuple(Statement(triple) for triple in triples)


def check(store: EmbeddedStore, stated: set[Triple]) -> None:
    everything = closure(stated)
    assert held(store, INFERRED) == everything - stated
    assert held(store, DEFAULT) == everything


def write(writer: Writer, added=(), removed=()) -> None:
    writer.commit(Change(additions=statements(added), removals=frozenset(removed)))


@seed(20_261_122)
@settings(max_examples=200, deadline=None)
@given(steps=st.one_of(steps_of(triples, 4), steps_of(with_expressions, 12), steps_of(with_equality, 5)))
def test_after_every_edit_the_inferred_graph_is_what_follows_from_what_is_stated(steps):
    """Each origin holds its own triples; a triple is stated as long as one of them does."""
    store, writer = open_writer()
    asserted: set[Triple] = set()
    extracted: set[Triple] = set()
    ontology: set[Triple] = set()
    for kind, some in steps:
        if kind == "assert":
            write(writer, some)
            asserted |= set(some)
        elif kind == "extract":
            writer.commit(Change(additions=statements(some), origin=Origin.EXTRACTED))
            extracted |= set(some)
        elif kind == "withdraw":
            writer.commit(Change(withdrawals=frozenset(some), origin=Origin.EXTRACTED, judged=True))
            extracted -= set(some)
        elif kind == "remove":
            # What only follows or is of the ontology is kept by the system: the client leaves it out.
            mine = {triple for triple in some if triple in asserted | extracted and triple not in ontology}
            write(writer, [], mine)
            asserted -= mine
            extracted -= mine
        elif kind == "ontology":
            writer.replace_ontology(some)
            ontology = set(some)
        else:
            inferred = held(store, INFERRED)
            quads = [Quad(*triple, DEFAULT) for triple in some]
            # The bulk load's own way of finding what was known from elsewhere.
            known = extracted | ontology | inferred
            writer.bulk([*quads, *(Quad(*triple, ASSERTED) for triple in some if triple in known)])
            asserted |= set(some)
        check(store, asserted | extracted | ontology)


@seed(20_261_123)
@settings(max_examples=40, deadline=None)
@given(first=st.lists(triples, max_size=12), later=st.lists(triples, max_size=4))
def test_turned_on_for_a_graph_all_that_follows_is_inferred_and_turned_off_it_is_gone(first, later):
    store = EmbeddedStore()
    plain = Writer(store)
    plain.start()
    write(plain, first)
    origins = {graph: held(store, graph) for graph in (DEFAULT, ASSERTED, EXTRACTED, ONTOLOGY)}
    on = Writer(store, inferences=Inferences(store, 10_000))
    on.start()
    check(store, set(first))
    write(on, later)
    check(store, {*first, *later})
    write(on, [], set(later) - set(first))
    off = Writer(store)
    off.start()
    assert {graph: held(store, graph) for graph in origins} == origins
    assert not held(store, INFERRED)


def test_statements_of_a_cycle_do_not_support_each_other():
    store, writer = open_writer()
    write(writer, [Triple(EX.p, A, OWL.SymmetricProperty), Triple(EX.p, A, OWL.TransitiveProperty)])
    edge = Triple(EX.a, EX.p, EX.b)
    write(writer, [edge])
    assert held(store, INFERRED) == {
        Triple(EX.b, EX.p, EX.a), Triple(EX.a, EX.p, EX.a), Triple(EX.b, EX.p, EX.b)
    }  # fmt: skip
    write(writer, [], [edge])
    assert not held(store, INFERRED)
    assert not any(store.match(None, EX.p, None))


def test_what_is_no_longer_stated_stays_where_it_follows():
    store, writer = open_writer()
    write(writer, [Triple(EX.q, OWL.inverseOf, EX.p), Triple(EX.a, EX.p, EX.b), Triple(EX.b, EX.q, EX.a)])
    assert not held(store, INFERRED)
    write(writer, [], [Triple(EX.b, EX.q, EX.a)])
    assert held(store, INFERRED) == {Triple(EX.b, EX.q, EX.a)}
    write(writer, [], [Triple(EX.a, EX.p, EX.b)])
    assert held(store, DEFAULT) == {Triple(EX.q, OWL.inverseOf, EX.p)}


def test_an_inference_is_removed_with_its_premises_or_not_at_all():
    store, writer = open_writer()
    reason, follows = Triple(EX.a, EX.p, EX.b), Triple(EX.b, EX.p, EX.a)
    write(writer, [Triple(EX.p, A, OWL.SymmetricProperty), reason])
    with pytest.raises(ProtectedTriple, match="follows from"):
        write(writer, [], [follows])
    # A refusal is no matter to what comes after it.
    write(writer, [Triple(EX.c, EX.p, EX.d)])
    write(writer, [], [reason, follows, Triple(EX.c, EX.p, EX.d)])
    assert not any(store.match(None, EX.p, None))


def test_relations_follow_inferred_geometries_and_axioms_about_relations_follow_them():
    store, writer = open_writer()
    write(writer, [
        Triple(EX.footprint, SUBP, GEO.hasGeometry),
        Triple(GEO.rcc8ec, SUBP, EX.beside),
    ])  # fmt: skip
    geometries = {
        "a": "POLYGON((0 0, 2 0, 2 2, 0 2, 0 0))",
        "b": "POLYGON((2 0, 4 0, 4 2, 2 2, 2 0))",
    }
    for name, wkt in geometries.items():
        node = EX.term(f"{name}-g")
        write(writer, [
            Triple(EX.term(name), EX.footprint, node),
            Triple(node, GEO.asWKT, Literal(wkt, datatype=GEO.wktLiteral)),
        ])  # fmt: skip
    assert held(store, DERIVED) == {Triple(EX.a, GEO.rcc8ec, EX.b), Triple(EX.b, GEO.rcc8ec, EX.a)}
    assert Triple(EX.a, EX.beside, EX.b) in held(store, INFERRED)
    off = Writer(store, deriver=SpatialRelations())
    off.start()
    assert not held(store, DERIVED)
    on = Writer(store, deriver=SpatialRelations(), inferences=Inferences(store, 1000))
    on.start()
    assert Triple(EX.a, EX.beside, EX.b) in held(store, INFERRED)
    write(on, [], [Triple(EX.a, EX.footprint, EX.term("a-g"))])
    assert not held(store, DERIVED)
    assert not any(store.match(None, EX.beside, None))


def test_a_change_from_which_too_much_follows_is_refused_as_a_whole():
    store, writer = open_writer(most=50)
    write(writer, [Triple(EX.term(f"x{number}"), A, EX.C) for number in range(100)])
    before = held(store, DEFAULT)
    with pytest.raises(InferenceTooLarge, match="inference_max"):
        write(writer, [Triple(EX.C, SUB, EX.D)])
    assert held(store, DEFAULT) == before
    write(writer, [Triple(EX.a, A, EX.C)])
    assert Triple(EX.a, A, EX.C) in held(store, DEFAULT)


def test_the_limit_counts_conclusions_and_not_the_ways_in_which_they_follow():
    chain = [Triple(EX.term(f"n{n}"), EX.within, EX.term(f"n{n + 1}")) for n in range(100)]
    transitive = Triple(EX.within, A, OWL.TransitiveProperty)
    conclusions = 101 * 100 // 2 - 100
    store, writer = open_writer(most=conclusions)
    write(writer, [transitive])
    write(writer, chain)
    assert len(held(store, INFERRED)) == conclusions
    store, writer = open_writer(most=conclusions - 1)
    write(writer, [transitive])
    with pytest.raises(InferenceTooLarge):
        write(writer, chain)
    assert not held(store, INFERRED)


def test_an_ontology_from_which_too_much_follows_is_in_force_at_once_and_inferred_afterwards():
    store, writer = open_writer(most=50)
    things = [Triple(EX.term(f"x{number}"), A, EX.C) for number in range(100)]
    write(writer, things)
    axiom = Triple(EX.C, SUB, EX.D)
    writer.replace_ontology([axiom])
    assert writer.inferring == "stale"
    assert not held(store, INFERRED)
    # What is written meanwhile is inferred with the rest.
    late = Triple(EX.late, A, EX.C)
    write(writer, [late])
    assert writer.infer_anew() is not None
    assert writer.inferring == "complete"
    check(store, {*things, late, axiom})
    assert writer.infer_anew() is None


def test_without_inference_a_write_never_asks_about_inferences():
    class Watched(EmbeddedStore):
        asked: list[object] = []  # noqa: RUF012

        def contains(self, quad: Quad) -> bool:
            self.asked.append(quad.graph_name)
            return super().contains(quad)

        def match_quads(self, subject, predicate, object_, graph=None):
            self.asked.append((predicate, graph))
            return super().match_quads(subject, predicate, object_, graph)

    store = Watched()
    writer = Writer(store, deriver=SpatialRelations())
    writer.start()
    store.asked.clear()
    write(writer, [Triple(EX.C, SUB, EX.D), Triple(EX.a, A, EX.C)])
    write(writer, [Triple(EX.a, A, EX.C), Triple(EX.b, A, EX.C)], [Triple(EX.C, SUB, EX.D)])
    writer.commit(Change(additions=statements([Triple(EX.a, A, EX.C)]), origin=Origin.EXTRACTED))
    assert store.asked
    assert not any(INFERRED in (asked if isinstance(asked, tuple) else (asked,)) for asked in store.asked)
    assert not any(isinstance(asked, tuple) and asked[0] in (SUB, SUBP) for asked in store.asked)


def test_what_a_small_change_reads_does_not_grow_with_the_graph():
    reads = {}
    for size in (100, 1000):
        store, writer = open_writer()
        write(writer, [Triple(EX.C, SUB, EX.D), Triple(EX.p, A, OWL.TransitiveProperty)])
        write(writer, [Triple(EX.term(f"x{n}"), A, EX.C) for n in range(size)])
        write(writer, [Triple(EX.term(f"x{n}"), EX.p, EX.term(f"y{n}")) for n in range(size)])
        counting = CountingSource(store)
        counting.contains = store.contains  # type: ignore[attr-defined]
        counting.named = store.named  # type: ignore[attr-defined]
        change = [Triple(EX.new, A, EX.C), Triple(EX.new, EX.p, EX.x1)]
        found = Inferences(counting, 1000).plan(change, [Triple(EX.x2, A, EX.C)])  # type: ignore[arg-type]
        assert Triple(EX.new, EX.p, EX.y1) in found.additions
        assert Triple(EX.x2, A, EX.D) in found.removals
        reads[size] = counting.read
    assert reads[100] == reads[1000]


def test_an_iri_that_is_used_as_class_property_and_thing_is_inferred_about_as_each():
    store, writer = open_writer()
    stated = {
        Triple(EX.p, SUBP, SUB),
        Triple(EX.C, EX.p, EX.D),
        Triple(EX.x, A, EX.C),
        Triple(NamedNode(EX.p.value), A, EX.C),
    }
    write(writer, stated)
    check(store, stated)
    assert Triple(EX.x, A, EX.D) in held(store, INFERRED)
