"""Statements on which very much depends are judged in full, within the time limit of a judgment."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from pyoxigraph import Literal, Quad, Triple

from shapes.gate.gate import ShapesGate
from shapes.loading import load_shapes
from shapes.time_limit import TimeLimit
from sparql.model.change import Delta, Selection, Statement
from sparql.model.errors import JudgingTimeout
from sparql.model.vocabulary import RDF, Namespace
from sparql.storage.embedded_store import EmbeddedStore

EX = Namespace("http://example.org/")
SHAPES = '''@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix ex: <http://example.org/> .
ex:InCity a sh:PropertyShape ; sh:targetSubjectsOf ex:in ; sh:path ex:in ; sh:class ex:City .
ex:Unmatched a sh:NodeShape ; sh:targetSubjectsOf ex:code ; sh:sparql [
  sh:select """PREFIX e: <http://example.org/>
    SELECT $this WHERE { $this e:code ?a . ?x e:barred ?b FILTER (STR(?a) = STR(?b)) }""" ] .
'''
CITY = Triple(EX.city, RDF.type, EX.City)
BARRED = Triple(EX.list, EX.barred, Literal("c3"))
HARMLESS = Triple(EX.list, EX.barred, Literal("nobody"))


@pytest.fixture
def store() -> EmbeddedStore:
    store = EmbeddedStore()
    places = [Quad(EX.term(f"place{number}"), EX.term("in"), EX.city) for number in range(30)]
    codes = [Quad(EX.term(f"place{number}"), EX.code, Literal(f"c{number}")) for number in range(30)]
    store.commit([Quad(*CITY), *places, *codes])
    return store


@pytest.fixture
def gate(tmp_path: Path) -> ShapesGate:
    (tmp_path / "shapes.ttl").write_text(SHAPES)
    return ShapesGate(load_shapes(tmp_path))


def select(
    gate: ShapesGate, source, added: Iterable[Triple] = (), removed: Iterable[Triple] = ()
) -> Selection:
    statements = tuple(map(Statement, added))
    return gate.select(source, statements, frozenset(removed), lambda a, r: Delta(), partial=True)


def test_every_node_that_depends_on_a_removed_statement_is_judged(store, gate):
    selection = select(gate, store, removed=[CITY])
    assert {r.statement.triple for r in selection.rejected} == {CITY}
    assert len(selection.rejected[0].violations) == 30


def test_a_statement_that_may_concern_any_node_is_judged_with_all_of_them(store, gate):
    assert [r.statement.triple for r in select(gate, store, [BARRED]).rejected] == [BARRED]
    assert [s.triple for s in select(gate, store, [BARRED, HARMLESS]).accepted] == [HARMLESS]


def test_what_comes_with_the_change_is_judged_too(store, gate):
    added = [Triple(EX.new, EX.term("in"), EX.village)]
    selection = select(gate, store, added, [Triple(EX.list, EX.barred, Literal("x"))])
    assert [v.focus for r in selection.rejected for v in r.violations] == [EX.new]


def test_more_than_can_be_judged_in_time_is_an_error_that_names_the_way_out(store, gate):
    gate.use("compiled", limit=TimeLimit(0.0))
    with pytest.raises(JudgingTimeout, match="load --bulk"):
        select(gate, store, removed=[CITY])
