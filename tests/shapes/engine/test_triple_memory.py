"""The store of shapes answers as rdflib's own does."""

import pickle
import random
from itertools import product

import rdflib

from shapes.graph import add_all, graph_in_memory

EX = rdflib.Namespace("http://example.org/")
TERMS = [
    EX.a,
    EX.b,
    EX.c,
    rdflib.BNode("n"),
    rdflib.Literal("1"),
    rdflib.Literal(1),
    rdflib.Literal("x", "en"),
]


def test_every_pattern_finds_what_rdflib_finds() -> None:
    rng = random.Random(19)
    graph, expected = graph_in_memory(), rdflib.Graph()
    for _ in range(60):
        triple = rng.choice(TERMS[:4]), rng.choice(TERMS[:3]), rng.choice(TERMS)
        graph.add(triple)
        expected.add(triple)
    assert len(graph) == len(expected) > 20
    for pattern in product((None, *TERMS[:4]), (None, *TERMS[:3]), (None, *TERMS)):
        found = list(graph.triples(pattern))
        assert len(found) == len(set(found)), pattern
        assert set(found) == set(expected.triples(pattern)), pattern
        assert (pattern in graph) == (pattern in expected), pattern


def test_triples_are_added_at_once_and_each_once() -> None:
    graph = graph_in_memory()
    add_all(graph, [(EX.a, EX.b, EX.c), (EX.a, EX.b, EX.c), (EX.a, EX.b, EX.a)])
    assert len(graph) == 2
    assert list(graph.objects(EX.a, EX.b)) == [EX.c, EX.a]


def test_a_graph_can_be_changed_while_it_is_read_and_goes_to_another_process() -> None:
    graph = graph_in_memory()
    graph.bind("ex", EX)
    graph.add((EX.a, EX.b, EX.c))
    for _, _, value in graph.triples((EX.a, None, None)):
        graph.add((value, EX.b, EX.a))
    copy = pickle.loads(pickle.dumps(graph))
    assert set(copy) == {(EX.a, EX.b, EX.c), (EX.c, EX.b, EX.a)}
    assert dict(copy.namespaces())["ex"] == rdflib.URIRef(str(EX))


def test_a_prefix_names_one_namespace() -> None:
    graph = graph_in_memory()
    graph.bind("one", EX)
    graph.bind("two", EX, replace=True)
    assert [prefix for prefix, namespace in graph.namespaces() if str(namespace) == str(EX)] == ["two"]


def test_a_path_is_followed() -> None:
    graph = graph_in_memory()
    add_all(graph, [(EX.a, EX.b, EX.c), (EX.c, EX.b, EX.d)])
    assert set(graph.objects(EX.a, EX.b * "+")) == {EX.c, EX.d}
    assert set(graph.transitive_objects(EX.a, EX.b)) == {EX.a, EX.c, EX.d}
