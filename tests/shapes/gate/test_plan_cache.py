"""What is kept of the shapes makes the same gate; anything that does not fit is read anew."""

import json
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from ontology import Schema
from shapes.gate.opening import PlanCache, gate_of, with_generated
from shapes.loading import ShapesFiles, load_shapes
from shapes.model import targeted_shapes
from sparql.model.vocabulary import RDF
from sparql.storage.embedded_store import EmbeddedStore

SHAPES = Path(__file__).parents[3] / "shapes"
ONTOLOGY = Path(__file__).parents[3] / "ontology"


@pytest.fixture(scope="module")
def files() -> ShapesFiles:
    return with_generated(load_shapes(SHAPES), Schema.load(ONTOLOGY), "closed")


def test_what_was_found_out_is_read_back_as_it_was(files: ShapesFiles, tmp_path: Path):
    found = targeted_shapes(files.graph)
    plan = PlanCache(tmp_path / "rules" / "plan.json")
    plan.write(files.version, found)
    assert plan.read(files.version) == found


def test_a_gate_from_what_is_kept_refuses_what_any_other_refuses(tmp_path: Path):
    (tmp_path / "one.ttl").write_text(
        "@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix e: <http://e/> . "
        "e:S a sh:NodeShape ; sh:targetClass e:C ; "
        "sh:property [ sh:path ( e:p [ sh:inversePath e:q ] ) ; sh:maxCount 0 ] ; "
        'sh:sparql [ sh:select "SELECT $this WHERE { $this <http://e/bad> ?x }" ] .'
    )
    plan = PlanCache(tmp_path / "plan.json")
    first, second = (gate_of(load_shapes(tmp_path), plan) for _ in range(2))
    store = EmbeddedStore()
    bad = [
        Triple(NamedNode("http://e/s"), RDF.type, NamedNode("http://e/C")),
        Triple(NamedNode("http://e/s"), NamedNode("http://e/bad"), Literal(1)),
    ]
    reported = [[one.message for one in gate.judge(store, bad)] for gate in (first, second)]
    assert reported[0]
    assert reported[0] == reported[1]


def test_other_shapes_another_program_and_a_broken_file_are_read_anew(files: ShapesFiles, tmp_path: Path):
    path = tmp_path / "plan.json"
    plan = PlanCache(path)
    assert plan.read(files.version) is None
    plan.write(files.version, targeted_shapes(files.graph))
    assert plan.read("another") is None
    reported = json.loads(path.read_text())
    path.write_text(json.dumps({**reported, "key": reported["key"] + "x"}))
    assert plan.read(files.version) is None
    path.write_text(json.dumps(reported)[:-100])
    assert plan.read(files.version) is None


def test_shapes_without_a_name_are_not_kept(tmp_path: Path):
    (tmp_path / "one.ttl").write_text(
        "@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix e: <http://e/> . "
        "[] a sh:NodeShape ; sh:targetClass e:C ; sh:property [ sh:path e:p ; sh:minCount 1 ] ."
    )
    plan = PlanCache(tmp_path / "plan.json")
    gate = gate_of(load_shapes(tmp_path), plan)
    assert not (tmp_path / "plan.json").exists()
    assert gate.judge(EmbeddedStore(), [Triple(NamedNode("http://e/s"), RDF.type, NamedNode("http://e/C"))])
