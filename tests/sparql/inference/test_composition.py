"""All is inferred in portions, and beside relations that are computed in bulk."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pyoxigraph import Literal, Quad, Triple

from sparql.inference import chase
from sparql.inference.chase import SpillingStack
from sparql.inference.materialized import COMPLETE, Inferences
from sparql.model.change import Change, Statement
from sparql.model.vocabulary import DEFAULT, DERIVED, GEO, INFERRED, OWL, RDF, RDFS, Namespace
from sparql.spatial.relations import SpatialRelations
from sparql.spatial.tiled_run import commit_run, open_run
from sparql.storage.embedded_store import EmbeddedStore
from sparql.writing.writer import Writer
from tests.support.naive_fixpoint import closure

EX = Namespace("http://example.org/")


def test_what_follows_in_portions_with_the_rest_in_a_file_is_what_follows_at_once(monkeypatch) -> None:
    monkeypatch.setattr(chase, "PORTION", 3)
    stated = {
        Triple(EX.p, RDF.type, OWL.TransitiveProperty),
        Triple(EX.q, OWL.inverseOf, EX.p),
        Triple(EX.q, RDFS.subPropertyOf, EX.r),
        Triple(EX.a, OWL.sameAs, EX.n3),
        Triple(EX.D, RDFS.subClassOf, EX.E),
        *(Triple(EX.term(f"n{n}"), EX.p, EX.term(f"n{n + 1}")) for n in range(6)),
        *(Triple(EX.term(f"n{n}"), RDF.type, EX.D) for n in range(6)),
    }
    store = EmbeddedStore()
    store.bulk_add(Quad(*triple, DEFAULT) for triple in stated)
    written = Inferences(store, 1).infer_all()
    inferred = {quad.triple for quad in store.match_quads(None, None, None, INFERRED)}
    assert inferred == closure(stated) - stated
    assert written == len(inferred)


def test_a_stack_gives_back_the_last_first_also_from_its_file() -> None:
    triples = [Triple(EX.a, EX.p, Literal(number)) for number in range(20)]
    with SpillingStack(3) as stack:
        for triple in triples:
            stack.append(triple)
        assert [stack.pop() for _ in range(12)] == triples[:7:-1]
        for triple in triples[8:]:
            stack.append(triple)
        assert [stack.pop() for _ in range(20)] == triples[::-1]
        assert not stack
        with pytest.raises(IndexError):
            stack.pop()


def test_relations_in_bulk_use_inferred_geometries_and_are_followed_by_axioms(tmp_path: Path) -> None:
    """The geometry is a value of a property below geo:hasGeometry, and adjacency a property above ec."""
    triples = [
        Triple(EX.footprint, RDFS.subPropertyOf, GEO.hasDefaultGeometry),
        Triple(GEO.rcc8ec, RDFS.subPropertyOf, EX.beside),
        Triple(EX.alias, OWL.sameAs, EX.square0),
    ]
    for number in range(3):
        wkt = f"POLYGON(({number} 0, {number + 1} 0, {number + 1} 1, {number} 1, {number} 0))"
        node = EX.term(f"outline{number}")
        triples.append(Triple(EX.term(f"square{number}"), EX.footprint, node))
        triples.append(Triple(node, GEO.asWKT, Literal(wkt, datatype=GEO.wktLiteral)))
    statements = tuple(map(Statement, triples))
    live = EmbeddedStore(tmp_path / "live")
    writer = Writer(live, deriver=SpatialRelations(), inferences=Inferences(live, 1000))
    writer.start()
    writer.commit(Change(additions=statements))
    expected = (
        set(live.match_quads(None, None, None, DERIVED)),
        set(live.match_quads(None, None, None, INFERRED)),
    )
    assert Triple(EX.alias, EX.beside, EX.square1) in {quad.triple for quad in expected[1]}
    live.close()

    bulk = EmbeddedStore(tmp_path / "bulk")
    writer = Writer(bulk, inferences=Inferences(bulk, 1000))
    writer.start()
    writer.commit(Change(additions=statements))
    run = open_run(bulk, tmp_path / "run")
    with ThreadPoolExecutor(1) as executor:
        run.run(executor, at_once=1, on_tile=lambda done, total, pairs: None)
    commit_run(Writer(bulk), bulk, run)
    assert not bulk.contains(COMPLETE)
    Writer(bulk, deriver=SpatialRelations(), inferences=Inferences(bulk, 1000)).start()
    found = (
        set(bulk.match_quads(None, None, None, DERIVED)),
        set(bulk.match_quads(None, None, None, INFERRED)),
    )
    bulk.close()
    assert found == expected
