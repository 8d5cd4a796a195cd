"""rdflib's own stores for SPARQL endpoints work against ours, unmodified."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import rdflib
from rdflib import RDFS, Dataset, Graph, Literal, URIRef
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID
from rdflib.plugins.stores.sparqlstore import SPARQLStore, SPARQLUpdateStore

from tests.support.running_server import RunningServer

E = rdflib.Namespace("http://e.org/")
ONE = (E.a, RDFS.label, Literal("one", lang="en"))
TWO = (E.b, E.size, Literal(2))


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    empty = tmp_path_factory.mktemp("empty")
    data: Path = tmp_path_factory.mktemp("server") / "data"
    with RunningServer(data, "--ontology", str(empty), "--shapes", str(empty)) as server:
        yield server.url


@pytest.fixture
def store(url: str) -> Iterator[SPARQLUpdateStore]:
    store = SPARQLUpdateStore(url + "/sparql", url + "/update")
    yield store
    store.update("CLEAR ALL")
    store.close()


def default_graph(store: SPARQLStore) -> Graph:
    """What rdflib takes for the default graph; a graph without a name it would name by a blank node."""
    return Graph(store, identifier=DATASET_DEFAULT_GRAPH_ID)


def test_add_and_remove_of_one_triple_in_the_default_graph(store: SPARQLUpdateStore):
    graph = default_graph(store)
    graph.add(ONE)
    graph.add(TWO)
    assert set(graph) == {ONE, TWO}
    assert len(graph) == 2
    graph.remove((E.a, None, None))
    assert set(graph) == {TWO}


def test_triples_are_found_by_every_pattern(store: SPARQLUpdateStore):
    graph = default_graph(store)
    for triple in (ONE, TWO):
        graph.add(triple)
    for pattern in ((E.a, None, None), (None, RDFS.label, None), (None, None, ONE[2]), ONE):
        assert list(graph.triples(pattern)) == [ONE]
    assert list(graph.triples((E.nobody, None, None))) == []
    assert graph.value(E.b, E.size) == Literal(2)


def test_an_update_is_carried_out(store: SPARQLUpdateStore):
    graph = default_graph(store)
    graph.add(TWO)
    # The graph's own update would put the operation into a graph that rdflib names, here as anywhere.
    store.update("DELETE { ?s ?p ?n } INSERT { ?s ?p ?more } WHERE { ?s ?p ?n BIND(?n + 1 AS ?more) }")
    assert set(graph) == {(E.b, E.size, Literal(3))}


def test_a_named_graph_is_kept_apart_from_the_default_graph_and_from_others(store: SPARQLUpdateStore):
    dataset = Dataset(store)
    mine, yours = dataset.graph(E.mine), dataset.graph(E.yours)
    mine.add(ONE)
    yours.add(TWO)
    assert set(mine) == {ONE}
    assert set(yours) == {TWO}
    assert set(default_graph(store)) == set()
    mine.remove((None, None, None))
    assert set(mine) == set()
    assert set(yours) == {TWO}


def test_contexts_lists_the_named_graphs_of_a_triple_and_all_of_them(store: SPARQLUpdateStore):
    for name in (E.mine, E.yours):
        Graph(store, identifier=name).add(ONE)
    Graph(store, identifier=E.yours).add(TWO)
    assert set(store.contexts()) == {E.mine, E.yours}
    assert set(store.contexts(TWO)) == {E.yours}


def test_many_quads_are_added_at_once_to_their_graphs(store: SPARQLUpdateStore):
    mine, yours = Graph(store, identifier=E.mine), Graph(store, identifier=E.yours)
    store.addN([(*ONE, mine), (*TWO, yours), (*TWO, mine)])
    assert set(mine) == {ONE, TWO}
    assert set(yours) == {TWO}


def test_an_update_on_a_named_graph_stays_in_it(store: SPARQLUpdateStore):
    mine = Graph(store, identifier=E.mine)
    default_graph(store).add(TWO)
    mine.update("INSERT DATA { <http://e.org/c> <http://e.org/size> 7 }")
    assert set(mine) == {(E.c, E.size, Literal(7))}
    assert set(default_graph(store)) == {TWO}


def test_updates_that_wait_are_sent_as_one_and_a_rollback_forgets_them(url: str, store: SPARQLUpdateStore):
    waiting = SPARQLUpdateStore(url + "/sparql", url + "/update", autocommit=False, dirty_reads=True)
    graph = default_graph(waiting)
    graph.add(ONE)
    waiting.rollback()
    graph.add(TWO)
    assert set(default_graph(store)) == set()
    waiting.commit()
    assert set(default_graph(store)) == {TWO}


def test_the_reading_store_refuses_writes_and_reads_what_the_other_wrote(url: str, store: SPARQLUpdateStore):
    default_graph(store).add(ONE)
    reading = default_graph(SPARQLStore(url + "/sparql"))
    assert list(reading) == [ONE]
    with pytest.raises(TypeError, match="read only"):
        reading.add(TWO)


def test_blank_nodes_are_read_as_the_endpoint_names_them(store: SPARQLUpdateStore):
    store.update("INSERT DATA { <http://e.org/a> <http://e.org/knows> [ <http://e.org/size> 1 ] }")
    found = list(default_graph(store).triples((URIRef("http://e.org/a"), None, None)))
    assert len(found) == 1
    assert isinstance(found[0][2], rdflib.BNode)
