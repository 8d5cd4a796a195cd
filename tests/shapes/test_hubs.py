"""A statement on which more depends than can be judged with a change is let in openly, with a warning."""

from pathlib import Path

import pytest
from pyoxigraph import Literal, Quad, Triple

from shapes.gate import ShapesGate
from shapes.loading import load_shapes
from sparql.change import Delta, Statement
from sparql.source import CountingSource
from sparql.store import EmbeddedStore
from sparql.vocabulary import RDF, SH, UKG, Namespace

EX = Namespace("http://example.org/")
SHAPES = '''@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix ex: <http://example.org/> .
ex:InCity a sh:PropertyShape ; sh:targetSubjectsOf ex:in ; sh:path ex:in ; sh:class ex:City .
ex:Unmatched a sh:NodeShape ; sh:targetSubjectsOf ex:code ; sh:sparql [
  sh:select """PREFIX e: <http://example.org/>
    SELECT $this WHERE { $this e:code ?a . ?x e:barred ?b FILTER (STR(?a) = STR(?b)) }""" ] .
'''
CITY = Triple(EX.city, RDF.type, EX.City)


@pytest.fixture
def store() -> EmbeddedStore:
    store = EmbeddedStore()
    places = [Quad(EX.term(f"place{number}"), EX.term("in"), EX.city) for number in range(30)]
    codes = [Quad(EX.term(f"place{number}"), EX.code, Literal(f"c{number}")) for number in range(30)]
    store.commit([Quad(*CITY), *places, *codes])
    return store


def select(store, folder: Path, fan_in: int, added=(), removed=()):
    (folder / "shapes.ttl").write_text(SHAPES)
    gate = ShapesGate(load_shapes(folder), fan_in=fan_in)
    source = CountingSource(store)
    statements = tuple(Statement(triple) for triple in added)
    selection = gate.select(source, statements, frozenset(removed), lambda a, r: Delta(), partial=False)
    return selection, source.read


def test_below_the_cap_all_that_depends_on_a_hub_is_judged(store, tmp_path):
    (_, rejected, _), _ = select(store, tmp_path, 30, removed=[CITY])
    assert {r.statement.triple for r in rejected} == {CITY}
    assert len(rejected[0].violations) == 30


def test_above_the_cap_a_warning_names_the_shape_and_little_is_read(store, tmp_path):
    (_, rejected, warnings), read = select(store, tmp_path, 10, removed=[CITY])
    assert rejected == ()
    ((statement, (violation,)),) = [(w.statement, w.violations) for w in warnings]
    assert statement.triple == CITY
    assert (violation.component, violation.shape, violation.severity) == (
        UKG.NotJudged,
        EX.InCity,
        SH.Warning,
    )
    assert "hub" in violation.message
    assert read < 25


def test_a_query_that_looks_anywhere_runs_on_all_targets_or_says_that_it_did_not(store, tmp_path):
    barred = Triple(EX.list, EX.barred, Literal("c3"))
    (_, rejected, _), _ = select(store, tmp_path, 30, added=[barred])
    assert [v.focus for r in rejected for v in r.violations] == [EX.place3]
    (accepted, rejected, warnings), _ = select(store, tmp_path, 10, added=[barred])
    assert (len(accepted), rejected) == (1, ())
    assert [v.shape for w in warnings for v in w.violations] == [EX.Unmatched]
    assert "anywhere" in warnings[0].violations[0].message


def test_what_comes_with_the_change_is_judged_whatever_the_hub(store, tmp_path):
    added = [Triple(EX.new, EX.term("in"), EX.village)]
    (_, rejected, _), _ = select(store, tmp_path, 1, added=added, removed=[CITY])
    assert [v.focus for r in rejected for v in r.violations] == [EX.new]
