"""Queries for a whole graph are recognized by their text, and answered as the engine would."""

import pyoxigraph
import pytest
from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, QueryTriples, Triple

from sparql.workers.whole_graph import whole_graph

EX = NamedNode("http://e/g")
WHOLE = {
    "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }": DefaultGraph(),
    "construct{$a ?b ?c.}{$a ?b ?c .}": DefaultGraph(),
    "CONSTRUCT WHERE { ?s ?p ?o }": DefaultGraph(),
    "PREFIX e: <http://e/>\nprefix : <x:y>\nCONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o . }\n": DefaultGraph(),
    "CONSTRUCT { ?s ?p ?o } WHERE { GRAPH <http://e/g> { ?s ?p ?o } }": EX,
    "CONSTRUCT { ?s ?p ?o } WHERE { graph<http://e/none>{ ?s ?p ?o } }": NamedNode("http://e/none"),
}
OTHERS = [
    "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?O }",
    "CONSTRUCT { ?o ?p ?s } WHERE { ?s ?p ?o }",
    "CONSTRUCT { ?s ?p ?s } WHERE { ?s ?p ?s }",
    "CONSTRUCT { ?s ?p $s } WHERE { ?s ?p $s }",
    "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o } LIMIT 1",
    "CONSTRUCT { ?s ?p ?o } FROM <http://e/g> WHERE { ?s ?p ?o }",
    "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o FILTER(?o) }",
    "CONSTRUCT { ?s a ?o } WHERE { ?s a ?o }",
    "CONSTRUCT { ?s ?p ?o } WHERE { GRAPH ?g { ?s ?p ?o } }",
    "CONSTRUCT { ?s ?p ?o } WHERE { GRAPH <relative> { ?s ?p ?o } }",
    "CONSTRUCT { ?s ?p ?o } WHERE { GRAPH <http://e/a/../g> { ?s ?p ?o } }",
    "PREFIX e: <http://e/%%%>CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }",
    "PREFIX e: <relative>CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }",
    "PREFIX e <http://e/>CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }",
    "SELECT ?s ?p ?o { ?s ?p ?o }",
    "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o",
]


@pytest.mark.parametrize(("text", "graph"), WHOLE.items())
def test_it_is_what_the_engine_would_answer(text: str, graph: DefaultGraph | NamedNode) -> None:
    store = pyoxigraph.Store()
    node = BlankNode("b")
    for number, name in enumerate((DefaultGraph(), EX, NamedNode("http://e/other"))):
        store.add(Quad(NamedNode("http://e/s"), NamedNode("http://e/p"), Literal(number), name))
        store.add(Quad(node, NamedNode("http://e/p"), Triple(EX, EX, Literal("é")), name))
    assert whole_graph(text) == graph
    answer = store.query(text, base_iri="http://e/sparql")
    assert isinstance(answer, QueryTriples)
    assert set(answer) == {quad.triple for quad in store.quads_for_pattern(None, None, None, graph)}


@pytest.mark.parametrize("text", OTHERS)
def test_all_others_are_left_to_the_engine(text: str) -> None:
    assert whole_graph(text) is None
