"""A dry run is sent only what an edit changes, and finds what it would find with everything."""

import pickle
import random
import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from pyoxigraph import Quad

from ontology import Schema
from shapes.authoring.impact import comparison, measure_impact
from shapes.authoring.impact_results import ComparedRules, Impact
from shapes.gate.gate import ShapesGate
from shapes.loading import load_shapes
from shapes.results import in_order
from sparql.model.change import Violation
from sparql.provenance.term_rewrites import Rewriting
from sparql.storage.embedded_store import EmbeddedStore
from tests.shapes.engine.compiled.test_compiled_engine import EX, random_triple

EVERY = Path(__file__).parents[2] / "data" / "every_constraint.ttl"
EDITS = [
    ("ex:most 3", "ex:most 1"),
    ("ex:Unique a sh:NodeShape", "ex:Other a sh:NodeShape"),
    ("ex:Itself a sh:NodeShape", "ex:Itself sh:deactivated true ; a sh:NodeShape"),
    ("sh:qualifiedValueShapesDisjoint true", "sh:qualifiedValueShapesDisjoint false"),
]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> ShapesGate:
    folder = tmp_path_factory.mktemp("shapes")
    shutil.copy(EVERY, folder)
    return ShapesGate(load_shapes(folder))


def random_store(seed: int) -> EmbeddedStore:
    rng = random.Random(seed)
    store = EmbeddedStore()
    store.commit([Quad(*random_triple(rng)) for _ in range(40)])
    return store


def reported(violations: Iterable[Violation]) -> list[Violation]:
    """Without the messages, in which the engine describes a blank node by what it read of it before."""
    return in_order([[replace(one, message="") for one in violations]])


def shapes_reported(impact: Impact) -> list[tuple[str, str, int, list[Violation], list[Violation]]]:
    return [(s.name, s.change, s.targets, reported(s.failing), reported(s.fixed)) for s in impact.shapes]


def test_a_part_of_a_gate_judges_as_the_whole_does(whole: ShapesGate) -> None:
    stores = [random_store(seed) for seed in range(3)]
    reports = [whole.report(store) for store in stores]
    for name in whole.pairs.shapes:
        part = pickle.loads(pickle.dumps(whole.part([name])))
        assert list(part.pairs.shapes) == [name]
        assert len(part.files.graph) < len(whole.files.graph)
        for store, report in zip(stores, reports, strict=True):
            wanted = [one for one in report if one.shape is not None and str(one.shape).strip("<>") == name]
            assert reported(part.report(store)) == reported(wanted)


@pytest.mark.parametrize(("text", "instead"), EDITS)
def test_an_edit_has_the_impact_that_it_has_among_all_shapes(
    whole: ShapesGate, tmp_path: Path, text: str, instead: str
) -> None:
    (tmp_path / EVERY.name).write_text(EVERY.read_text().replace(text, instead))
    schema = Schema.empty()
    edited = ShapesGate(load_shapes(tmp_path))
    before = ComparedRules(schema, whole.files, whole)
    after = ComparedRules(schema, edited.files, edited)
    parts = comparison(before, after)
    store = random_store(7)
    expected = measure_impact(store, before, after)
    assert expected.shapes
    assert shapes_reported(measure_impact(store, parts.before, parts.after)) == shapes_reported(expected)
    assert parts.waiting == 0


def test_where_the_ontology_changes_everything_is_compared(whole: ShapesGate, tmp_path: Path) -> None:
    before = ComparedRules(Schema.empty(), whole.files, whole)
    after = ComparedRules(Schema.empty(), whole.files, whole)
    parts = comparison(before, after)
    assert (parts.before, parts.after) == (before, after)


def test_where_statements_are_rewritten_everything_is_compared(whole: ShapesGate) -> None:
    schema = Schema.empty()
    before, after = ComparedRules(schema, whole.files, whole), ComparedRules(schema, whole.files, whole)
    assert len(comparison(before, after).before.gate.pairs.shapes) == 0
    parts = comparison(before, after, (), Rewriting(wanted=True, given={EX.p: EX.q}))
    assert (parts.before, parts.after) == (before, after)
