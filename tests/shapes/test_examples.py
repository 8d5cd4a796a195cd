"""Every shape lets its passing examples pass and is the only one that its failing examples break."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from pyshacl.graph_abstraction import DataGraph
from pyshacl.pytypes import SHACLExecutor
from pyshacl.shape import Shape
from pyshacl.shapes_graph import ShapesGraph
from rdflib import RDF, RDFS, SH, Graph, URIRef
from rdflib.term import Node

ROOT = Path(__file__).parents[2]
SHAPE_FILES = sorted((ROOT / "shapes").glob("*.ttl"))
EXAMPLES = ROOT / "shapes" / "examples"


@cache
def shapes() -> Graph:
    graph = Graph()
    for file in SHAPE_FILES:
        graph.parse(file)
    return graph


@cache
def ontology() -> Graph:
    graph = Graph()
    for file in sorted((ROOT / "ontology").glob("*.ttl")):
        graph.parse(file)
    return graph


def with_ontology(example: Graph) -> Graph:
    """An example with the order of the classes, and with what the ontology says of the terms it names."""
    whole = Graph()
    for triple in ontology().triples((None, RDFS.subClassOf, None)):
        whole.add(triple)
    for term in set(example.objects()):
        for triple in ontology().triples((term, None, None)):
            whole.add(triple)
    return whole + example


@cache
def shape_names() -> dict[str, URIRef]:
    named = {
        shape
        for kind in (SH.NodeShape, SH.PropertyShape)
        for shape in shapes().subjects(RDF.type, kind)
        if isinstance(shape, URIRef)
    }
    return {shape.rsplit("#")[-1]: shape for shape in sorted(named)}


@cache
def shapes_with_targets() -> list[tuple[Shape, bool, set[Node]]]:
    """Each targeted shape, whether it is aimed at a class, and the predicates that it is aimed at."""
    found = []
    for shape in ShapesGraph(shapes()).shapes:
        _, classes, _, objects_of, subjects_of = (set(target) for target in shape.target())
        if classes or objects_of or subjects_of:
            found.append((shape, bool(classes), objects_of | subjects_of))
    return found


def shapes_aimed_at(example: Graph) -> list[Shape]:
    """The shapes that can have a focus node here: those for a class, or for a predicate that occurs."""
    present = set(example.predicates())
    return [shape for shape, by_class, aims in shapes_with_targets() if by_class or aims & present]


def broken_shapes(file: Path) -> dict[Node, set[Node]]:
    """The shapes that an example breaks, with the messages of their results."""
    example = Graph().parse(file)
    data = DataGraph.from_rdflib_graph(with_ontology(example))
    executor = SHACLExecutor()
    broken: dict[Node, set[Node]] = {}
    for shape in shapes_aimed_at(example):
        _, results = shape.validate(executor, data)
        for _, _, triples in results:
            messages = {value for _, predicate, value in triples if predicate == SH.resultMessage}
            broken.setdefault(shape.node, set()).update(messages)
    return broken


@pytest.mark.parametrize("name", shape_names())
def test_every_shape_says_what_it_is_for_and_what_is_wrong(name: str) -> None:
    shape = shape_names()[name]
    for predicate in (SH.name, SH.message, SH.severity, RDFS.comment):
        assert shapes().value(shape, predicate) is not None, f"{name} has no {predicate}"


@pytest.mark.parametrize("name", shape_names())
def test_every_shape_has_an_example_that_passes_and_one_that_fails(name: str) -> None:
    assert (EXAMPLES / name / "pass.ttl").is_file()
    assert (EXAMPLES / name / "fail.ttl").is_file()


def test_every_example_belongs_to_a_shape() -> None:
    assert {folder.name for folder in EXAMPLES.iterdir()} == set(shape_names())


@pytest.mark.parametrize(
    "example", sorted(EXAMPLES.glob("*/pass*.ttl")), ids=lambda p: f"{p.parent.name}-{p.stem}"
)
def test_a_passing_example_breaks_no_shape(example: Path) -> None:
    assert broken_shapes(example) == {}


@pytest.mark.parametrize(
    "example", sorted(EXAMPLES.glob("*/fail*.ttl")), ids=lambda p: f"{p.parent.name}-{p.stem}"
)
def test_a_failing_example_breaks_its_shape_and_no_other(example: Path) -> None:
    shape = shape_names()[example.parent.name]
    broken = broken_shapes(example)
    assert set(broken) == {shape}
    assert str(shapes().value(shape, SH.message)) in {str(message) for message in broken[shape]}
