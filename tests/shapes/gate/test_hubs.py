"""Statements on which very much depends: judged in full up to a bound, or by background validation."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from pyoxigraph import Literal, Quad, Triple

from shapes.gate.background_validation import validate_in_background
from shapes.gate.gate import ShapesGate
from shapes.loading import load_shapes
from sparql.model.change import BackgroundValidation, Delta, Reach, Selection, Statement
from sparql.model.errors import TooMuchDepends
from sparql.model.vocabulary import RDF, Namespace
from sparql.storage.embedded_store import EmbeddedStore
from tests.support.counting_source import CountingSource

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
UNMATCHED = str(EX.Unmatched.value)


@pytest.fixture
def store() -> EmbeddedStore:
    store = EmbeddedStore()
    places = [Quad(EX.term(f"place{number}"), EX.term("in"), EX.city) for number in range(30)]
    codes = [Quad(EX.term(f"place{number}"), EX.code, Literal(f"c{number}")) for number in range(30)]
    store.commit([Quad(*CITY), *places, *codes])
    return store


def opened(folder: Path, fan_in: int, most: int = 100) -> ShapesGate:
    (folder / "shapes.ttl").write_text(SHAPES)
    return ShapesGate(load_shapes(folder), fan_in=fan_in, fan_in_full=most)


def select(
    gate: ShapesGate,
    source,
    added: Iterable[Triple] = (),
    removed: Iterable[Triple] = (),
    *,
    partial: bool = False,
    reach: Reach = Reach.FULL,
    validated: BackgroundValidation | None = None,
) -> Selection:
    return gate.select(
        source,
        tuple(map(Statement, added)),
        frozenset(removed),
        lambda a, r: Delta(),
        partial=partial,
        reach=reach,
        validated=validated,
    )


@pytest.mark.parametrize("fan_in", [10, 30])
def test_all_that_depends_on_a_hub_is_judged(store, tmp_path, fan_in: int):
    selection = select(opened(tmp_path, fan_in), store, removed=[CITY])
    assert {r.statement.triple for r in selection.rejected} == {CITY}
    assert len(selection.rejected[0].violations) == 30


def test_the_verdict_names_the_hubs_that_were_judged_in_full(store, tmp_path):
    assert select(opened(tmp_path, 10), store, [HARMLESS]).hubs == {HARMLESS}
    assert select(opened(tmp_path, 30), store, [HARMLESS]).hubs == frozenset()


def test_beyond_the_bound_the_error_names_shape_and_statement_and_little_is_read(store, tmp_path):
    source = CountingSource(store)
    with pytest.raises(TooMuchDepends, match="InCity") as caught:
        select(opened(tmp_path, 10, most=20), source, removed=[CITY])
    assert caught.value.triple == CITY
    assert source.read < 50


def test_a_gate_that_may_hold_says_so_at_its_fan_in(store, tmp_path):
    gate = opened(tmp_path, 10)
    with pytest.raises(TooMuchDepends) as caught:
        select(gate, store, [BARRED], partial=True, reach=Reach.BOUNDED)
    assert caught.value.shapes == {UNMATCHED}
    assert caught.value.additions == {BARRED}
    assert select(gate, store, [BARRED], reach=Reach.UNLIMITED).rejected


def test_background_validation_finds_what_fails_and_only_that_is_judged_again(store, tmp_path):
    gate = opened(tmp_path, 10)
    found = validate_in_background(gate, store, [BARRED], {UNMATCHED})
    assert found is not None
    assert found.suspects == {UNMATCHED: {EX.place3}}
    source = CountingSource(store)
    selection = select(gate, source, [BARRED], partial=True, reach=Reach.BOUNDED, validated=found)
    assert [r.statement.triple for r in selection.rejected] == [BARRED]
    assert source.read < 60
    found = validate_in_background(gate, store, [HARMLESS], {UNMATCHED})
    selection = select(gate, store, [HARMLESS], partial=True, reach=Reach.BOUNDED, validated=found)
    assert (len(selection.accepted), selection.hubs) == (1, {HARMLESS})


def test_background_validation_of_other_statements_does_not_count(store, tmp_path):
    gate = opened(tmp_path, 10)
    wrong = Triple(EX.new, EX.term("in"), EX.village)
    both = [HARMLESS, wrong]
    found = validate_in_background(gate, store, both, {UNMATCHED})
    with pytest.raises(TooMuchDepends) as caught:
        select(gate, store, both, partial=True, reach=Reach.BOUNDED, validated=found)
    assert caught.value.additions == {HARMLESS}
    found = validate_in_background(gate, store, [HARMLESS], {UNMATCHED})
    selection = select(gate, store, both, partial=True, reach=Reach.BOUNDED, validated=found)
    assert [s.triple for s in selection.accepted] == [HARMLESS]


def test_what_comes_with_the_change_is_judged_whatever_the_hub(store, tmp_path):
    added = [Triple(EX.new, EX.term("in"), EX.village)]
    selection = select(opened(tmp_path, 10), store, added, [Triple(EX.list, EX.barred, Literal("x"))])
    assert [v.focus for r in selection.rejected for v in r.violations] == [EX.new]


def test_background_validation_stops_on_request(store, tmp_path):
    assert (
        validate_in_background(opened(tmp_path, 10), store, [BARRED], {UNMATCHED}, stopped=lambda: True)
        is None
    )
