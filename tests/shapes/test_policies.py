"""How severe a result is: refused, accepted and queued, or only logged, per shape and per way."""

import logging
from pathlib import Path

import pytest
from pyoxigraph import Literal, Triple

from shapes.errors import ShapeMalformed
from shapes.gate.gate import ShapesGate
from shapes.loading import load_shapes
from sparql.model.change import Delta, Statement
from sparql.model.vocabulary import Namespace
from sparql.storage.embedded_store import EmbeddedStore

EX = Namespace("http://example.org/")
PREFIXES = """@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix ex: <http://example.org/> .
@prefix ukg: <https://w3id.org/urbankg/system#> .
"""
NAMED = "ex:Named a sh:PropertyShape ; sh:targetSubjectsOf ex:age ; sh:path ex:name ; sh:minCount 1 "
STATEMENT = Statement(Triple(EX.ann, EX.age, Literal("9")))


def gate(folder: Path, shapes: str, engine="compiled") -> ShapesGate:
    (folder / "shapes.ttl").write_text(PREFIXES + shapes)
    return ShapesGate(load_shapes(folder), engine)


def judged(gate: ShapesGate, source: str = "") -> tuple[int, int, int]:
    """How many statements are accepted, rejected, warned of; the same whole or in part."""
    parts = []
    for partial in (False, True):
        selection = gate.select(
            EmbeddedStore(), (STATEMENT,), frozenset(), lambda a, r: Delta(), partial=partial, source=source
        )
        parts.append(tuple(len(part) for part in selection[:3]))
    assert parts[0] == parts[1]
    return parts[0]


@pytest.mark.parametrize("engine", ["compiled", "pyshacl"])
def test_a_violation_rejects_a_warning_accepts_and_queues(tmp_path: Path, engine):
    assert judged(gate(tmp_path, NAMED + ".", engine)) == (0, 1, 0)
    assert judged(gate(tmp_path, NAMED + "; sh:severity sh:Warning .", engine)) == (1, 0, 1)


def test_an_information_is_only_logged(tmp_path: Path, caplog):
    with caplog.at_level(logging.INFO, "shapes.gate.gate"):
        assert judged(gate(tmp_path, NAMED + '; sh:severity sh:Info ; sh:message "No name." .')) == (1, 0, 0)
    assert "No name." in caplog.text


@pytest.mark.parametrize("engine", ["compiled", "pyshacl"])
def test_a_shape_may_be_milder_or_stricter_for_a_way(tmp_path: Path, engine):
    policies = (
        '; ukg:severityFor [ ukg:source "load" , "update" ; sh:severity sh:Warning ] ,'
        ' [ ukg:source "graph store" ; sh:severity sh:Info ] .'
    )
    judge = gate(tmp_path, NAMED + policies, engine)
    assert judged(judge) == judged(judge, "extracted") == (0, 1, 0)
    assert judged(judge, "load") == judged(judge, "update") == (1, 0, 1)
    assert judged(judge, "graph store") == (1, 0, 0)
    stricter = (
        '; sh:severity sh:Info ; ukg:severityFor [ ukg:source "extracted" ; sh:severity sh:Violation ] .'
    )
    judge = gate(tmp_path, NAMED + stricter, engine)
    assert (judged(judge, "extracted"), judged(judge, "load")) == ((0, 1, 0), (1, 0, 0))


@pytest.mark.parametrize(
    "policy",
    ['[ ukg:source "mail" ; sh:severity sh:Warning ]', '[ ukg:source "load" ; sh:severity ex:Bad ]', "[]"],
)
def test_a_policy_that_cannot_be_meant_is_reported_with_its_shape(tmp_path: Path, policy):
    with pytest.raises(ShapeMalformed, match=r"example.org/Named.*severityFor"):
        gate(tmp_path, f"{NAMED}; ukg:severityFor {policy} .")
