"""The report on a store on the disk, portion by portion, says what one judgment of everything says."""

from pathlib import Path
from random import Random

import pytest
from pyoxigraph import Literal, NamedNode, Quad, Triple

from shapes.gate import full_validation as full_report
from shapes.gate.gate import ShapesGate
from shapes.loading import load_shapes
from shapes.results import in_order
from sparql.model.change import Violation
from sparql.model.source import Term
from sparql.model.vocabulary import RDF, RDFS, XSD, Namespace
from sparql.storage.embedded_store import EmbeddedStore

EX = Namespace("http://example.org/")
SHAPES = """
@prefix ex: <http://example.org/> . @prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
ex:ByClass a sh:NodeShape ; sh:targetClass ex:Place ; sh:property [ sh:path ex:name ; sh:minCount 1 ] .
ex:BySubject a sh:NodeShape ; sh:targetSubjectsOf ex:size ;
    sh:property [ sh:path ex:size ; sh:datatype xsd:integer ; sh:maxCount 1 ] .
ex:ByValue a sh:NodeShape ; sh:targetObjectsOf ex:near , ex:in ; sh:class ex:Place ; sh:severity sh:Warning .
ex:ByName a sh:NodeShape ; sh:targetNode ex:n1 , ex:absent ; sh:property [ sh:path ex:name ; sh:minCount 1 ] .
ex:Several a sh:NodeShape ; sh:targetClass ex:Park ; sh:targetSubjectsOf ex:in ;
    sh:targetObjectsOf ex:near , ex:in ; sh:targetNode ex:n2 ;
    sh:property [ sh:path [ sh:inversePath ex:near ] ; sh:maxCount 2 ] .
ex:Ahead a sh:NodeShape ; sh:targetSubjectsOf ex:near ;
    sh:property [ sh:path ( ex:near ex:size ) ; sh:minCount 1 ] .
"""


def random_graph(seed: int) -> list[Quad]:
    random = Random(seed)
    nodes = [EX.term(f"n{number}") for number in range(40)]
    values: list[NamedNode | Literal] = [*nodes, Literal("x")]
    classes = [EX.Place, EX.Park, EX.Garden, EX.Person]
    quads = [Quad(EX.Garden, RDFS.subClassOf, EX.Park), Quad(EX.Park, RDFS.subClassOf, EX.Place)]
    for node in nodes:
        for class_ in random.sample(classes, random.randrange(3)):
            quads.append(Quad(node, RDF.type, class_))
        if random.random() < 0.5:
            quads.append(Quad(node, EX.name, Literal(str(node))))
        for _ in range(random.randrange(3)):
            size = Literal(str(random.randrange(9)), datatype=random.choice([XSD.integer, XSD.string]))
            quads.append(Quad(node, EX.size, size))
        for predicate in (EX.near, EX.term("in")):
            quads += [Quad(node, predicate, random.choice(values)) for _ in range(random.randrange(3))]
    return quads


def reported(found: list[Violation]) -> list[str]:
    return sorted(map(str, found))


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> ShapesGate:
    folder = tmp_path_factory.mktemp("shapes")
    (folder / "shapes.ttl").write_text(SHAPES)
    return ShapesGate(load_shapes(folder))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("nodes", [1, 7, 4096])
def test_portions_of_any_size_say_the_same_as_everything_at_once(
    gate: ShapesGate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, nodes: int
) -> None:
    monkeypatch.setattr(full_report, "_NODES", nodes)
    store = EmbeddedStore(tmp_path)
    in_memory = EmbeddedStore()
    for one in (store, in_memory):
        one.graph.extend(random_graph(seed))
    expected = reported(gate.report(in_memory))
    assert expected
    assert reported(list(gate.results(store))) == expected
    assert gate.report(store) == in_order([gate.report(store)])
    store.close()


def test_lookups_at_the_nodes_of_a_portion_need_no_store() -> None:
    class Unread:
        def match(self, subject: object, predicate: object, object_: object) -> object:
            raise AssertionError("the store is not asked")

    portion = full_report.Portion(Unread())  # type: ignore[arg-type]
    triples = [quad.triple for quad in random_graph(0) if quad.subject == EX.n3]
    about: dict[NamedNode, list[Term]] = {}
    for triple in triples:
        about.setdefault(triple.predicate, []).append(triple.object)
    portion.take(EX.n3, about)
    assert set(portion.match(EX.n3, None, None)) == set(triples)
    one = triples[0]
    assert list(portion.match(EX.n3, one.predicate, one.object)) == [one]
    assert list(portion.match(EX.n3, EX.never, None)) == []


def test_a_triple_term_is_found_among_statements_and_is_no_value_for_shapes() -> None:
    portion = full_report.Portion(EmbeddedStore())
    quoted = Triple(EX.n1, EX.near, EX.n2)
    portion.take(EX.n3, {EX.says: [quoted, EX.n1]}, quotes=True)
    assert [triple.object for triple in portion.match(EX.n3, EX.says, None)] == [quoted, EX.n1]
    assert portion.stated_of(EX.n3) == {EX.says: [EX.n1]}
