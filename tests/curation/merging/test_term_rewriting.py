"""Rewriting statements to other terms keeps what follows from them, and is taken back exactly."""

from collections.abc import Iterable

import pytest
from pyoxigraph import Literal, NamedNode, Quad, Triple

from curation.merging.term_rewriting import TermRewriting
from sparql.inference.materialized import Inferences
from sparql.model.change import Change, Origin, Statement
from sparql.model.geometry import Tolerances
from sparql.model.vocabulary import (
    DEFAULT,
    EXTRACTED,
    GEO,
    INFERRED,
    OWL,
    RDF,
    RDFS,
    REVIEW,
    SH,
    UKG,
    Namespace,
)
from sparql.provenance.term_rewrites import RewriteRecords, TermPair
from sparql.spatial.relations import SpatialRelations
from sparql.storage.embedded_store import EmbeddedStore
from sparql.writing.writer import Writer
from tests.support.naive_fixpoint import closure

EX = Namespace("http://example.org/")
PAIRS = (TermPair(EX.old, EX.new, is_class=False), TermPair(EX.Old, EX.New, is_class=True))
BEFORE = [Triple(EX.old, RDFS.subPropertyOf, EX.up), Triple(EX.Old, RDFS.subClassOf, EX.Up)]
AFTER = [
    Triple(EX.new, RDFS.subPropertyOf, EX.up),
    Triple(EX.old, OWL.equivalentProperty, EX.new),
    Triple(EX.New, RDFS.subClassOf, EX.Up),
]
STATED = [Triple(EX.a, EX.old, EX.b), Triple(EX.a, RDF.type, EX.Old), Triple(EX.b, EX.new, EX.a)]
TEXT = Triple(EX.b, EX.old, EX.a)
"""A statement of a text that is stated with the new term too."""


def held(store: EmbeddedStore, graph: object = DEFAULT) -> set[Triple]:
    return {quad.triple for quad in store.match_quads(None, None, None, graph)}  # type: ignore[arg-type]


def statements(triples: Iterable[Triple]) -> tuple[Statement, ...]:
    return tuple(map(Statement, triples))


@pytest.mark.parametrize("most", [10_000, 1])
@pytest.mark.parametrize("inferring", [True, False])
def test_what_follows_is_as_if_the_statements_had_always_used_the_new_terms(
    inferring: bool, most: int
) -> None:
    """Also where too much follows to wait for it: then it is inferred afterwards."""
    store = EmbeddedStore()
    inferences = Inferences(store, most) if inferring else None
    writer = Writer(store, deriver=SpatialRelations(), inferences=inferences)
    writer.start()
    for triple in STATED:
        writer.commit(Change(statements([triple])))
    writer.commit(Change(statements([TEXT]), origin=Origin.EXTRACTED))
    writer.replace_ontology(BEFORE)
    writer.infer_anew()
    first = set(store.match_quads(None, None, None, None))

    rewriting = TermRewriting(store)
    writer.replace_ontology(AFTER, substitute=lambda: rewriting.substitution(PAIRS, (), "1", "2"))
    writer.infer_anew()
    renamed = {Triple(EX.a, EX.new, EX.b), Triple(EX.a, RDF.type, EX.New), Triple(EX.b, EX.new, EX.a)}
    stated = renamed | set(AFTER)
    follows = closure(stated) if inferring else stated
    assert held(store) == follows
    assert held(store, INFERRED) == follows - stated
    assert held(store, EXTRACTED) == {Triple(EX.b, EX.new, EX.a)}

    back = RewriteRecords(store).returning("1")
    assert [(past.before, past.after) for past in back] == [("1", "2")]
    undoing = TermRewriting(store)
    writer.replace_ontology(BEFORE, substitute=lambda: undoing.substitution((), back, "2", "1"))
    writer.infer_anew()
    assert {quad for quad in store.match_quads(None, None, None, None) if _of_clients(quad)} == {
        quad for quad in first if _of_clients(quad)
    }
    assert RewriteRecords(store).returning("1") == ()


@pytest.mark.parametrize("triple", [Triple(EX.a, EX.old, EX.b), Triple(EX.a, RDF.type, EX.Old)])
def test_an_exception_made_after_a_rewrite_is_about_the_old_term_when_that_is_taken_back(
    triple: Triple,
) -> None:
    store = EmbeddedStore()
    writer = Writer(store)
    writer.start()
    writer.commit(Change(statements([triple])))
    writer.replace_ontology(BEFORE)
    rewriting = TermRewriting(store)
    writer.replace_ontology(AFTER, substitute=lambda: rewriting.substitution(PAIRS, (), "1", "2"))
    writer.write_system(item(triple, EX.new, EX.New))
    assert not item(triple, EX.old, EX.Old) <= held_quads(store)
    back = RewriteRecords(store).returning("1")
    undoing = TermRewriting(store)
    writer.replace_ontology(BEFORE, substitute=lambda: undoing.substitution((), back, "2", "1"))
    assert item(triple, EX.old, EX.Old) <= held_quads(store)
    assert not (item(triple, EX.new, EX.New) - item(triple, EX.old, EX.Old)) & held_quads(store)


def held_quads(store: EmbeddedStore) -> set[Quad]:
    return set(store.match_quads(None, None, None, REVIEW))


def item(triple: Triple, property_: NamedNode, class_: NamedNode) -> set[Quad]:
    """An exception to a rule about a statement with one of these terms instead."""
    is_class = triple.predicate == RDF.type
    about = Triple(triple.subject, triple.predicate, class_) if is_class else None
    about = about or Triple(triple.subject, property_, triple.object)
    facts = [
        (EX.item, RDF.reifies, about),
        (EX.item, UKG.subject, about.subject),
        (EX.item, UKG.predicate, about.predicate),
        (EX.item, UKG.object, about.object),
        (EX.item, UKG.violation, EX.result),
        (EX.result, SH.resultPath, Literal(about.predicate.value)),
        (EX.result, SH.value, about.object),
    ]
    return {Quad(*fact, REVIEW) for fact in facts}


def test_relations_of_geometries_follow_a_renamed_class() -> None:
    """The tolerance of a layer is that of a class."""
    store = EmbeddedStore()
    deriver = SpatialRelations(Tolerances(layers={EX.New: 2000.0}))
    writer = Writer(store, deriver=deriver)
    writer.start()
    square = "POLYGON(({0} 0, {1} 0, {1} 1, {0} 1, {0} 0))"
    for name, west in ((EX.a, 0.0), (EX.b, 1.001)):
        wkt = Literal(square.format(west, west + 1), datatype=GEO.wktLiteral)
        shape = EX.term(f"shape-{west}")
        rows = [
            Triple(name, GEO.hasGeometry, shape),
            Triple(shape, GEO.asWKT, wkt),
            Triple(name, RDF.type, EX.Old),
        ]
        writer.commit(Change(statements(rows)))
    touching = Triple(EX.a, GEO.rcc8ec, EX.b)
    assert touching not in held(store)
    rewriting = TermRewriting(store)
    writer.replace_ontology([], substitute=lambda: rewriting.substitution(PAIRS, (), "1", "2"))
    assert touching in held(store)


def _of_clients(quad: Quad) -> bool:
    return quad.graph_name in (DEFAULT, EXTRACTED, INFERRED) or "asserted" in str(quad.graph_name)
